//! Where the session, cursor and accept headers are set and read.
//! Knows spellings after constants are resolved, compared without case.

use super::Client;
use crate::facts::ir::{Id, Kind, Sort};
use crate::scope::{At, Fx};

/// A header of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Header {
    /// `Mcp-Session-Id`.
    Session,
    /// `Last-Event-ID`.
    Cursor,
}

/// One use of a header.
#[derive(Clone, Copy, Debug)]
pub struct HeaderUse {
    /// Which.
    pub header: Header,
    /// The call that sets or reads it.
    pub at: At,
    /// The value that is set; `None` when the header is read.
    pub value: Option<Id>,
}

impl Client<'_> {
    pub(super) fn find_headers(&mut self) {
        let uses = |fx: Fx| {
            let mut uses = Vec::new();
            if !self.scope.function(fx).test {
                let body = self.scope.body(fx);
                for id in body.of(Sort::Call).iter().chain(body.of(Sort::Tuple)) {
                    uses.extend(self.header_use(At { fx, id: *id }));
                }
                uses.sort_by_key(|used| used.at);
            }
            uses
        };
        self.headers = self.scope.all().map(uses).collect();
    }

    fn header_use(&self, at: At) -> Option<HeaderUse> {
        let body = self.scope.body(at.fx);
        let (args, name, method) = match body.kind(at.id) {
            Kind::Method(_, name, args) => (args, &**name, true),
            Kind::Call(callee, args) => (args, &**body.last_segment(*callee)?, false),
            // `headers.push((name, value))`, `vec![(name, value)]`
            Kind::Tuple(parts) if parts.len() == 2 => (parts, "push", true),
            _ => return None,
        };
        if args.is_empty()
            || args.len() > 5
            || matches!(name, "contains_key" | "contains" | "expect" | "from_static" | "Some")
        {
            return None;
        }
        let named = |arg: &Id| self.named_header(At { id: *arg, ..at });
        let (place, header) = args.iter().enumerate().find_map(|(place, arg)| Some((place, named(arg)?)))?;
        let value = args.get(place + 1).copied();
        let reads = ["get", "read", "extract", "find", "remove", "parse", "take"]
            .iter()
            .any(|word| name.starts_with(word));
        let value = if reads || (method && args.len() == 1) { None } else { value };
        (value.is_some() || args.len() == 1 || reads).then_some(HeaderUse { header, at, value })
    }

    fn named_header(&self, at: At) -> Option<Header> {
        if matches!(self.scope.kind(at), Kind::Tuple(_) | Kind::Closure(..)) {
            return None;
        }
        let text = self.scope.text(at)?;
        if text.eq_ignore_ascii_case("mcp-session-id") {
            Some(Header::Session)
        } else if text.eq_ignore_ascii_case("last-event-id") {
            Some(Header::Cursor)
        } else {
            None
        }
    }
}
