//! Sessions that are made under an id that a client brought.
//! Knows maps; a session that is restored from a store, or made under a fresh id, is no adoption.

use crate::client::{Client, called};
use crate::facts::ir::{Body, Id, Kind};
use crate::flow::{Known, known};
use crate::scope::{At, Fx};
use std::collections::BTreeSet;

/// `sessions.entry(id).or_insert_with(…)`, `sessions.insert(id, Session::new())` with the id of a request.
pub(super) fn adopts(client: &Client<'_>, at: At) -> bool {
    makes(client, at) && !initialising(client, at)
}

/// Whether only an `initialize` leads here: then the session is a new one, whatever its id.
fn initialising(client: &Client<'_>, at: At) -> bool {
    let says = |at: At| {
        let body = client.scope.body(at.fx);
        known(body, at.id).into_iter().any(|fact| {
            let (Known::True(id) | Known::Is(_, id)) = fact else { return false };
            body.inside(id).into_iter().any(|id| match body.kind(id) {
                Kind::Path(path) => path.last().is_some_and(|last| last.to_lowercase().contains("init")),
                Kind::Method(_, name, _) => name.contains("init"),
                Kind::Str(text) => &**text == "initialize",
                _ => false,
            })
        })
    };
    let mut callers = client.scope.callers(at.fx).iter().filter(|caller| !client.scope.function(caller.at.fx).test).peekable();
    says(at) || callers.peek().is_some() && callers.all(|caller| says(caller.at))
}

fn makes(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let to = |id: Id| At { id, ..at };
    let Kind::Method(receiver, name, args) = body.kind(at.id) else { return false };
    match &**name {
        "or_insert_with" | "or_insert" | "or_default" | "or_insert_with_key" => {
            let Kind::Method(map, entry, keys) = body.kind(body.peel(*receiver)) else { return false };
            &**entry == "entry"
                && keys.first().is_some_and(|key| client.asked_session(to(*key)))
                && keeps_sessions(client, to(*map))
        }
        "insert" if args.len() == 2 => {
            client.asked_session(to(args[0]))
                && keeps_sessions(client, to(*receiver))
                && fresh(client, to(args[1]))
                && !known_session(client, at)
                && looked_up_first(client, at, *receiver)
        }
        _ => false,
    }
}

/// A map of sessions, not of what is counted or cached per session.
fn keeps_sessions(client: &Client<'_>, at: At) -> bool {
    let says = |at: At| {
        let body = client.scope.body(at.fx);
        body.inside(at.id).into_iter().any(|id| match body.kind(id) {
            Kind::Field(_, name) => name.to_lowercase().contains("session"),
            Kind::Path(path) => path.last().is_some_and(|last| last.to_lowercase().contains("session")),
            _ => false,
        })
    };
    says(at) || client.scope.origins(at).into_iter().any(says)
}

/// A value that is made here: `Session { … }`, `Session::new(…)`, `Arc::new(…)` of one.
fn fresh(client: &Client<'_>, at: At) -> bool {
    client.scope.origins(at).into_iter().any(|origin| {
        let body = client.scope.body(origin.fx);
        match body.kind(origin.id) {
            Kind::Struct(..) => true,
            Kind::Call(callee, _) => match body.kind(*callee) {
                Kind::Path(path) => path.len() > 1 && path.last().is_some_and(|last| last.starts_with("new") || &**last == "default"),
                _ => false,
            },
            _ => false,
        }
    })
}

/// Whether the way to the place says that the session is there, or was loaded.
fn known_session(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    known(body, at.id).into_iter().any(|fact| match fact {
        Known::True(id) => finds(body, id),
        Known::Is(pat, id) => body.mentions(pat, "Some") && (finds(body, id) || loads(body, id)) || body.mentions(pat, "Ok") && loads(body, id),
        _ => false,
    }) || client.scope.function(at.fx).name.contains("restore")
}

fn finds(body: &Body, id: Id) -> bool {
    body.inside(id).into_iter().any(|id| called(body, id).is_some_and(|name| matches!(&**name, "contains_key" | "get" | "get_mut" | "contains")))
}

fn loads(body: &Body, id: Id) -> bool {
    body.inside(id).into_iter().any(|id| called(body, id).is_some_and(|name| ["load", "restore", "fetch", "find"].iter().any(|word| name.contains(word))))
}

/// Whether the same map was asked for the id before, in vain: else the insertion is the making of a session whose id is its own.
fn looked_up_first(client: &Client<'_>, at: At, map: Id) -> bool {
    let body = client.scope.body(at.fx);
    let name = map_name(client, At { id: map, ..at });
    body.ids().take_while(|id| *id != at.id).any(|id| match body.kind(id) {
        Kind::Method(receiver, name_, args) => {
            matches!(&**name_, "get" | "get_mut" | "contains_key")
                && args.first().is_some_and(|arg| client.asked_session(At { id: *arg, ..at }))
                && map_name(client, At { id: *receiver, ..at }) == name
        }
        _ => false,
    })
}

fn map_name(client: &Client<'_>, at: At) -> Option<String> {
    let body = client.scope.body(at.fx);
    body.inside(at.id).into_iter().rev().find_map(|id| match body.kind(id) {
        Kind::Path(path) => path.last().map(ToString::to_string).filter(|last| last != "self"),
        Kind::Field(_, name) => Some(name.to_string()),
        _ => None,
    })
}

/// A call, in a function that answers a resume, of one that adopts the id it is given.
pub(super) fn answers(client: &Client<'_>, at: At, adopting: &BTreeSet<Fx>) -> bool {
    let body = client.scope.body(at.fx);
    let args = match body.kind(at.id) {
        Kind::Method(_, _, args) | Kind::Call(_, args) => args,
        _ => return false,
    };
    client.scope.callees(at).iter().any(|fx| adopting.contains(fx))
        && args.iter().any(|arg| client.asked_session(At { id: *arg, ..at }))
}
