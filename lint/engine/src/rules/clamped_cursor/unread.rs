//! Cursors that cannot be read and then count as none.
//! Knows conversions; what a stream without a cursor replays is not asked.

use crate::client::{Client, called};
use crate::facts::ir::{Body, Id, Kind};
use crate::scope::At;

/// `header.and_then(|text| text.parse().ok())`, `cursor.parse().unwrap_or(0)`, `if let Ok(cursor) = cursor.parse() { … }` without an answer to the rest.
pub(super) fn dropped(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let to = |id: Id| At { id, ..at };
    match body.kind(at.id) {
        Kind::Method(receiver, name, args) => match (&**name, args.as_slice()) {
            ("and_then" | "filter_map", [closure]) => {
                gives_none(client, to(*closure)) && client.asked_cursor(to(*receiver)) && !checked_later(client, at)
            }
            ("map", [closure]) => {
                let falls = body.inside(*closure).into_iter().any(|id| falls_to_zero(body, id));
                falls && client.asked_cursor(to(*receiver))
            }
            ("unwrap_or" | "unwrap_or_default", _) => falls_to_zero(body, at.id) && client.asked_cursor(to(*receiver)),
            ("ok", []) => parses(body, *receiver) && client.about_cursor(to(*receiver)) && !in_closure(body, at.id) && !checked_later(client, at),
            _ => false,
        },
        Kind::If(cond, _, other) => {
            let Kind::LetCond(pat, value) = body.kind(*cond) else { return false };
            let refused = other.is_some_and(|other| client.refuses(to(other)));
            body.mentions(*pat, "Ok") && parses(body, *value) && client.about_cursor(to(*value)) && !refused
        }
        _ => false,
    }
}

/// A closure, or a parser of the crate, that turns what cannot be read into `None`.
fn gives_none(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    match body.kind(at.id) {
        Kind::Closure(..) => {
            let inside = body.inside(at.id);
            let ends = inside.iter().any(|id| called(body, *id).is_some_and(|name| &**name == "ok"));
            ends && inside.into_iter().any(|id| parses_here(body, id))
        }
        Kind::Path(path) => path.last().is_some_and(|last| last.contains("parse")),
        _ => false,
    }
}

/// `ok_or(…)?` or a comparison with the raw header further on: the failure is answered after all.
fn checked_later(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let mut child = at.id;
    for (parent, _) in body.ancestors(at.id) {
        match body.kind(parent) {
            Kind::Method(receiver, name, _) if *receiver == child => {
                if name.starts_with("ok_or") {
                    return true;
                }
            }
            Kind::Let(_, _, Some(other)) => return client.refuses(At { id: *other, ..at }),
            Kind::Try(_) | Kind::Await(_) | Kind::Ref(_) => {}
            _ => return false,
        }
        child = parent;
    }
    false
}

fn falls_to_zero(body: &Body, id: Id) -> bool {
    match body.kind(id) {
        Kind::Method(receiver, name, args) => match (&**name, args.as_slice()) {
            ("unwrap_or", [zero]) => matches!(body.kind(*zero), Kind::Int(0)) && parses(body, *receiver),
            ("unwrap_or_default", []) => parses(body, *receiver),
            _ => false,
        },
        _ => false,
    }
}

fn parses(body: &Body, id: Id) -> bool {
    body.inside(id).into_iter().any(|id| parses_here(body, id))
}

fn parses_here(body: &Body, id: Id) -> bool {
    called(body, id).is_some_and(|name| name.starts_with("parse") || matches!(&**name, "from_str" | "from_str_radix" | "decode_cursor"))
}

fn in_closure(body: &Body, id: Id) -> bool {
    body.ancestors(id).any(|(parent, _)| matches!(body.kind(parent), Kind::Closure(..)))
}
