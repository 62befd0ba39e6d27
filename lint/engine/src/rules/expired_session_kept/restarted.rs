//! Callers that begin a new session after any error: there a 404 is answered rightly, and everything else wrongly.
//! Knows the ways of an error up to its arm; judges none of them.

use super::super::session_discarded::{Act, act};
use super::dropped;
use crate::client::{Client, Deeds};
use crate::facts::ir::{Body, Id, Kind};
use crate::flow::{Known, frame, known};
use crate::scope::{At, Fx};

/// Whether every caller of the function, up to `depth` calls away, drops or replaces the session after any error of it.
pub(super) fn restarted(client: &Client<'_>, fx: Fx, depth: u8) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let judged = |at: &At| {
        at.fx != fx && !client.scope.function(at.fx).test && !starts(client, at.fx) && !second(client, *at, fx)
    };
    let mut callers = client.scope.callers(fx).iter().map(|caller| caller.at).filter(judged).peekable();
    let anew = |at: At| begins_anew(client, at) || dropped::new_each_round(client, at) || passes_up(client.scope.body(at.fx), at.id) && restarted(client, at.fx, depth);
    callers.peek().is_some() && callers.all(anew)
}

/// The handshake has no session to lose.
fn starts(client: &Client<'_>, fx: Fx) -> bool {
    client.own(fx).has(Deeds::INITIALISES) && !client.own(fx).has(Deeds::CALLS)
}

/// A call where another of the same function has failed: it is the new session's first.
fn second(client: &Client<'_>, at: At, fx: Fx) -> bool {
    let body = client.scope.body(at.fx);
    failures(body, at.id).into_iter().any(|value| {
        let of_same = |id: Id| client.scope.callees(At { id, ..at }).contains(&fx);
        body.inside(value).into_iter().any(|id| of_same(id) && begins_anew(client, At { id, ..at }))
    })
}

/// Whether the session is dropped or replaced where the call has failed, whatever the error.
fn begins_anew(client: &Client<'_>, call: At) -> bool {
    let body = client.scope.body(call.fx);
    client.ids(call.fx).map(|id| At { id, ..call }).any(|at| {
        (matches!(act(client, at), Some(Act::Cleared | Act::Rebuilt)) || dropped::drops(client, at))
            && failures(body, at.id).into_iter().any(|value| {
                let value = At { id: value, ..call };
                body.within(call.id, value.id) || client.scope.origins(value).contains(&call)
            })
    })
}

/// The values whose failure alone leads to a place: no guard after it, no look at the error. What holds already where the
/// value is computed, as the condition of a loop around both does, is no guard.
fn failures(body: &Body, id: Id) -> Vec<Id> {
    let plain = |pat| body.variants(pat).len() == 1;
    let facts = known(body, id);
    let failed = facts.iter().filter_map(|fact| match *fact {
        Known::Is(pat, value) if plain(pat) && body.mentions(pat, "Err") => Some(value),
        Known::Not(pat, value) if plain(pat) && body.mentions(pat, "Ok") => Some(value),
        Known::Failed(value) => Some(value),
        _ => None,
    });
    let guards: Vec<Known> = facts.iter().filter(|fact| matches!(fact, Known::True(_) | Known::False(_))).copied().collect();
    let unguarded = |value: &Id| {
        let before = if guards.is_empty() { Vec::new() } else { known(body, *value) };
        guards.iter().all(|guard| before.contains(guard))
    };
    failed.filter(unguarded).collect()
}

/// `call().await?`, `return call().await`, or the call as the function's value: whoever calls the function has the error.
pub(super) fn passes_up(body: &Body, id: Id) -> bool {
    for (parent, child) in body.ancestors(id) {
        match body.kind(parent) {
            Kind::Await(_) | Kind::Ref(_) => {}
            Kind::Method(receiver, name, args) if *receiver == child && (name.starts_with("map") || name.contains("context")) => {
                if args.iter().any(|arg| body.inside(*arg).iter().any(|id| matches!(body.kind(*id), Kind::If(..) | Kind::Match(..)))) {
                    return false;
                }
            }
            Kind::Try(_) | Kind::Return(_) => return matches!(body.kind(frame(body, parent)), Kind::Block(..)),
            Kind::Block(stmts, true) => return stmts.last() == Some(&child) && matches!(body.kind(frame(body, parent)), Kind::Block(..)),
            _ => return false,
        }
    }
    true
}
