//! Why control came to a place, in the words of the contract: the session is known to be gone, or something else happened.
//! Knows status codes, error variants and phrases; knows no rule.

mod downcast;
mod pattern;
mod test;

use super::stream::deadline;
use super::{Known, known};
use crate::facts::ir::{Body, Id, Kind, Name, PatId};
use crate::index::Index;
use crate::scope::{At, Binding, Fx, Scope};
use crate::sdk;
use std::cell::RefCell;

/// What a condition says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Nothing about the session.
    Unknown,
    /// The server ended the session: a 404, a variant built for nothing else, a phrase that says so (contract 3.1).
    Gone(At),
    /// Something that says nothing of the session: a status, an error, an end, a timeout.
    Other(At, Why),
    /// Both, in one test: the place is the wrong half.
    Mixed(At, Why),
    /// This side stops on purpose.
    Leaving,
}

/// What the other thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// An HTTP status other than 404.
    Status,
    /// An error of a request or stream, whatever it was.
    Error,
    /// The stream ended.
    End,
    /// A deadline passed.
    Timeout,
    /// A JSON-RPC error code.
    Code,
    /// A phrase in an error's text.
    Text,
    /// An error of a type that is built after a 404 and elsewhere too: which it was is not to be told.
    Kind,
}

impl Why {
    /// As words in a message: `an HTTP status`.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Why::Status => "an HTTP status other than 404",
            Why::Error => "an error that is no 404",
            Why::End => "the end of a stream",
            Why::Timeout => "a timeout",
            Why::Code => "a JSON-RPC error",
            Why::Text => "a phrase in an error's text",
            Why::Kind => "an error of a type that is not only for a 404",
        }
    }
}

const DEPTH: u8 = 24;

/// Causes that were found before: of places, of predicates, of variants, of types. A predicate that is being judged says nothing.
#[derive(Default)]
pub(crate) struct Found {
    places: RefCell<Index<At, Cause>>,
    predicates: RefCell<Index<Fx, Cause>>,
    variants: RefCell<Index<(Name, Name), Option<Cause>>>,
    kinds: RefCell<Index<Name, downcast::Builds>>,
}

/// The cause at a place: all that is known on the way to it, taken together.
#[must_use]
pub fn cause(scope: &Scope, at: At) -> Cause {
    if let Some(found) = scope.found.places.borrow().get(&at) {
        return *found;
    }
    let judge = Judge { scope };
    let facts = known(scope.body(at.fx), at.id);
    let out = facts.into_iter().fold(Cause::Unknown, |out, fact| both(out, judge.fact(at, fact, DEPTH)));
    scope.found.places.borrow_mut().insert(at, out);
    out
}

/// What a boolean expression says when it is true.
#[must_use]
pub fn when_true(scope: &Scope, at: At) -> Cause {
    Judge { scope }.holds(at, DEPTH)
}

/// What a match says.
#[must_use]
pub fn when_is(scope: &Scope, at: At, pat: PatId) -> Cause {
    Judge { scope }.is(at, pat, DEPTH)
}

struct Judge<'a> {
    scope: &'a Scope,
}

impl Judge<'_> {
    fn fact(&self, at: At, fact: Known, depth: u8) -> Cause {
        match fact {
            Known::True(id) => self.holds(At { id, ..at }, depth),
            Known::False(id) => self.fails(At { id, ..at }, depth),
            Known::Is(pat, id) => self.is(At { id, ..at }, pat, depth),
            Known::Not(pat, id) => self.not(At { id, ..at }, pat),
            Known::Failed(id) => self.error(At { id, ..at }),
        }
    }

    /// The cause behind an error of this value: none when the value has nothing to do with the server.
    fn error(&self, at: At) -> Cause {
        if deadline(self.scope, at) {
            return Cause::Other(at, Why::Timeout);
        }
        if self.local_only(at) { Cause::Unknown } else { Cause::Other(at, Why::Error) }
    }

    /// Locks, channels, conversions: errors of this process alone.
    fn local_only(&self, at: At) -> bool {
        let body = self.scope.body(at.fx);
        let id = body.peel(at.id);
        match body.kind(id) {
            Kind::Method(receiver, name, args) => match &**name {
                "lock" | "read" | "write" | "try_lock" | "parse" | "to_str" | "try_into" | "downcast"
                | "recv" | "try_recv" | "downcast_ref" | "elapsed" | "set" | "acquire" | "changed"
                | "wait_for" | "swap" | "try_from" | "get" | "join_next" | "as_object" | "wait" => true,
                // A channel's `send(value)`; an HTTP `send()` takes nothing, and a transport's is told by its type.
                "send" | "try_send" | "blocking_send" => {
                    args.len() == 1 && !self.transport(At { id: *receiver, ..at })
                }
                "map_err" | "context" | "with_context" | "map" | "and_then" | "as_ref" | "ok_or"
                | "ok_or_else" => self.local_only(At { id: *receiver, ..at }),
                _ => false,
            },
            Kind::Call(callee, _) => body.last_segment(*callee).is_some_and(|name| {
                matches!(
                    &**name,
                    "from_str"
                        | "from_value"
                        | "from_slice"
                        | "to_string"
                        | "to_value"
                        | "var"
                        | "try_from"
                        | "from_utf8"
                        | "spawn_blocking"
                        | "to_vec"
                )
            }),
            Kind::Path(path) if path.len() == 1 => match self.scope.binding(at.fx, &path[0], id) {
                Some(Binding::Let { init: Some(init), .. }) => self.local_only(At { id: init, ..at }),
                _ => false,
            },
            Kind::Str(_) | Kind::Int(_) => true,
            _ => false,
        }
    }

    fn transport(&self, at: At) -> bool {
        let Some(ty) = self.scope.type_of(at) else { return false };
        if sdk::role(self.scope.sdks.iter().copied(), &ty).is_some() {
            return true;
        }
        let lower = ty.to_lowercase();
        lower.contains("transport") || (lower.contains("client") && !lower.contains("sender"))
    }
}

/// Both hold.
fn both(a: Cause, b: Cause) -> Cause {
    match (a, b) {
        (Cause::Gone(at), _) | (_, Cause::Gone(at)) => Cause::Gone(at),
        (Cause::Leaving, _) | (_, Cause::Leaving) => Cause::Leaving,
        (Cause::Mixed(at, why), _) | (_, Cause::Mixed(at, why)) => Cause::Mixed(at, why),
        (Cause::Other(at, why), _) | (_, Cause::Other(at, why)) => Cause::Other(at, why),
        (Cause::Unknown, Cause::Unknown) => Cause::Unknown,
    }
}

/// One of them holds.
fn either(a: Cause, b: Cause) -> Cause {
    match (a, b) {
        (Cause::Mixed(at, why), _) | (_, Cause::Mixed(at, why)) => Cause::Mixed(at, why),
        (Cause::Gone(_), Cause::Other(at, why)) | (Cause::Other(at, why), Cause::Gone(_)) => {
            Cause::Mixed(at, why)
        }
        (Cause::Gone(at), _) | (_, Cause::Gone(at)) => Cause::Gone(at),
        (Cause::Other(at, why), _) | (_, Cause::Other(at, why)) => Cause::Other(at, why),
        (Cause::Leaving, Cause::Leaving) => Cause::Leaving,
        _ => Cause::Unknown,
    }
}

/// One of several branches gave `true`; branches that are the literal `false` gave nothing.
fn either_of(body: &Body, all: impl IntoIterator<Item = (Id, Cause)>) -> Cause {
    let live = all.into_iter().filter(|(id, _)| !is_false(body, *id)).map(|(_, cause)| cause);
    live.reduce(either).unwrap_or(Cause::Unknown)
}

fn is_false(body: &Body, id: Id) -> bool {
    match body.kind(id) {
        Kind::Bool(false) => true,
        Kind::Block(stmts, true) if stmts.len() == 1 => is_false(body, stmts[0]),
        Kind::Return(Some(value)) => is_false(body, *value),
        _ => false,
    }
}
