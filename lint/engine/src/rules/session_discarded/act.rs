//! What code can do to a session that it holds: forget its id, end its handle, put a new one in its place.
//! Knows deeds, not whether they are right.

use crate::client::{Client, Header, Slot};
use crate::facts::ir::{Id, Kind, Name, PatKind};
use crate::scope::{At, Binding};

/// What is done to the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::rules) enum Act {
    /// The id or handle is forgotten.
    Cleared,
    /// The id is replaced by a header that may be absent.
    Absence,
    /// The handle is ended.
    Ended,
    /// A new session takes the old one's place.
    Rebuilt,
    /// The session is ended by DELETE.
    Deleted,
}

impl Act {
    pub(super) const fn words(self) -> &'static str {
        match self {
            Act::Cleared => "session is forgotten",
            Act::Absence => "session id is overwritten",
            Act::Ended => "session's handle is ended",
            Act::Rebuilt => "session is replaced by a new one",
            Act::Deleted => "session is ended",
        }
    }
}

/// What a node does to a session, if anything.
pub(in crate::rules) fn act(client: &Client<'_>, at: At) -> Option<Act> {
    if clears(client, at) {
        return Some(Act::Cleared);
    }
    let body = client.scope.body(at.fx);
    let to = |id| At { id, ..at };
    match body.kind(at.id) {
        Kind::Assign(left, right) => {
            let absent = !body.is_none(*right) && optional_header(client, to(*right), 8);
            (absent && keeps(client, to(*left))).then_some(Act::Absence)
        }
        Kind::Method(receiver, name, args) => match (&**name, args.as_slice()) {
            ("cancel" | "abort", []) if ends_session(client, to(*receiver)) => Some(Act::Ended),
            ("cancel" | "close" | "shutdown", []) if is_handle(client, to(*receiver)) => Some(Act::Ended),
            _ if client.makes_session(at) => Some(Act::Rebuilt),
            _ => None,
        },
        Kind::Call(callee, _) if body.last_segment(*callee).is_some() && client.makes_session(at) => Some(Act::Rebuilt),
        _ => None,
    }
}

/// Whether a node forgets the session's id or handle.
pub(in crate::rules) fn clears(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let keeps = |id: Id| keeps(client, At { id, ..at });
    match body.kind(at.id) {
        Kind::Assign(left, right) => body.is_none(*right) && keeps(*left),
        Kind::Method(receiver, name, args) => match (&**name, args.as_slice()) {
            ("take" | "clear", []) | ("drain", _) | ("retain" | "remove" | "swap_remove", [_]) => keeps(*receiver),
            ("store" | "swap" | "replace" | "set", [value]) => body.is_none(body.peel(*value)) && keeps(*receiver),
            _ => false,
        },
        Kind::Call(callee, args) => match (body.last_segment(*callee).map(|name| &**name), args.as_slice()) {
            (Some("take"), [slot]) | (Some("replace"), [slot, _]) => keeps(*slot),
            _ => false,
        },
        _ => false,
    }
}

fn keeps(client: &Client<'_>, at: At) -> bool {
    client.slot(at).is_some_and(|slot| client.keeps_session(&slot))
}

/// Whether the value is a session header that may be absent, with nothing to take the absence away.
fn optional_header(client: &Client<'_>, at: At, depth: u8) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let body = client.scope.body(at.fx);
    let inner = |id: Id| optional_header(client, At { id, ..at }, depth);
    match body.kind(at.id) {
        Kind::Await(a) | Kind::Ref(a) | Kind::Deref(a) => inner(*a),
        Kind::Path(path) if path.len() == 1 => match client.scope.binding(at.fx, &path[0], at.id) {
            Some(Binding::Let { init: Some(init), pat }) => {
                matches!(body.pat(pat).kind, PatKind::Bind(_, None)) && inner(init)
            }
            _ => false,
        },
        Kind::Method(receiver, name, _) => {
            let read = client.headers(at.fx).iter().any(|used| used.at == at && used.value.is_none());
            read && used_session(client, at)
                || matches!(
                    &**name,
                    "map" | "and_then" | "ok" | "cloned" | "filter" | "as_ref" | "as_deref" | "to_owned" | "clone" | "flatten" | "into"
                ) && inner(*receiver)
        }
        Kind::Block(stmts, true) => stmts.last().is_some_and(|last| inner(*last)),
        _ => false,
    }
}

fn used_session(client: &Client<'_>, at: At) -> bool {
    client.headers(at.fx).iter().any(|used| used.at == at && used.header == Header::Session)
}

/// A token of the type that owns the session: cancelling it ends everything that runs in the session.
fn ends_session(client: &Client<'_>, at: At) -> bool {
    let mut open = vec![(at, 3_u8)];
    while let Some((at, depth)) = open.pop() {
        for origin in client.scope.origins(at) {
            let body = client.scope.body(origin.fx);
            match body.kind(origin.id) {
                Kind::Field(base, name) => {
                    let Some(ty) = client.scope.type_of(At { id: *base, ..origin }) else { continue };
                    let owns = client.sessions.iter().any(|slot| matches!(slot, Slot::Field(owner, _) if *owner == ty));
                    let token = client.scope.field_type(&ty, name).is_some_and(|text| text.has("CancellationToken"));
                    if owns && token {
                        return true;
                    }
                }
                Kind::Method(..) if depth > 0 => {
                    let roots = client.scope.callees(origin).iter().filter_map(|fx| Some(At { fx: *fx, id: client.scope.body(*fx).root()? }));
                    open.extend(roots.map(|root| (root, depth - 1)));
                }
                _ => {}
            }
        }
    }
    false
}

pub(super) fn is_handle(client: &Client<'_>, at: At) -> bool {
    let telling = |ty: &Name| client.handle_types.contains(client.scope.original(ty)) && &**ty != "Client";
    client.scope.type_of(at).is_some_and(|ty| telling(&ty)) || client.slot(at).is_some_and(|slot| client.handles.contains(&slot))
}
