//! Streams that are the first of their session: a cursor would be wrong there, since it belongs to another session.
//! Knows rounds of a loop; of flags only that they are set where a session is made, and cleared where they are used.

use crate::client::{Client, Deeds, session_word};
use crate::facts::ir::{Body, Head, Id, Kind, Name};
use crate::flow::{Known, known, loops};
use crate::scope::At;

/// Whether the round of the loop that leads to `at` made the session before, or set a flag that leads here once.
pub(super) fn of_session(client: &Client<'_>, at: At) -> bool {
    renewed(client, at) || once(client, at)
}

/// Whether a session is made, or its id replaced, on every way of the round to the place.
fn renewed(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let Some(outer) = loops(body, at.id).last().copied() else { return false };
    let made = |id: Id| body.inside(id).into_iter().any(|id| makes(client, At { id, ..at }));
    for (parent, child) in body.ancestors(at.id) {
        if parent == outer {
            break;
        }
        let Kind::Block(stmts, _) = body.kind(parent) else { continue };
        let before = stmts.iter().take_while(|stmt| **stmt != child);
        let done = |stmt: &Id| match body.kind(*stmt) {
            Kind::Assign(left, right) => {
                keeps_session(client, At { id: *left, ..at }) && !body.is_none(*right)
            }
            Kind::Let(_, Some(init), _) => straight(body, *init) && made(*init),
            _ => straight(body, *stmt) && made(*stmt),
        };
        if before.into_iter().any(done) {
            return true;
        }
    }
    known(body, at.id).into_iter().any(|fact| match fact {
        Known::Is(pat, value) => {
            body.mentions(pat, "Ok") && body.within(value, outer) && straight(body, value) && made(value)
        }
        _ => false,
    })
}

/// Whether the node is run whole: no branch of it may be passed over.
fn straight(body: &Body, id: Id) -> bool {
    body.inside(id).into_iter().all(|id| {
        !matches!(
            body.kind(id),
            Kind::If(..)
                | Kind::Match(..)
                | Kind::Select(_)
                | Kind::Loop(Head::For(..) | Head::While(_), ..)
                | Kind::Closure(..)
        )
    })
}

fn makes(client: &Client<'_>, at: At) -> bool {
    let deeds = client.deeds_of(at);
    deeds.has(Deeds::INITIALISES) && !deeds.has(Deeds::CALLS)
}

fn keeps_session(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    client.slot(at).is_some_and(|slot| client.keeps_session(&slot))
        || body.local(at.id).is_some_and(|name| session_word(name))
}

/// Whether a flag leads here that is cleared here, and set, within the loop, only where a session was made.
fn once(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let Some(outer) = loops(body, at.id).last().copied() else { return false };
    let sets = |id: Id, flag: &Name, to: bool| matches!(body.kind(id), Kind::Assign(left, right) if name(body, *left) == Some(flag) && matches!(body.kind(*right), Kind::Bool(value) if *value == to));
    known(body, at.id).into_iter().any(|fact| {
        let Known::True(test) = fact else { return false };
        let Some(flag) = name(body, test) else { return false };
        let cleared = body.ids().any(|id| {
            let here = known(body, id).into_iter().any(|own| own == fact);
            here && sets(id, flag, false)
        });
        cleared
            && body
                .inside(outer)
                .into_iter()
                .filter(|id| sets(*id, flag, true))
                .all(|id| renewed(client, At { id, ..at }))
    })
}

/// The name of a local or a field.
fn name(body: &Body, id: Id) -> Option<&Name> {
    match body.kind(id) {
        Kind::Field(_, name) => Some(name),
        _ => body.local(id),
    }
}
