//! Code after which the session that failed is not used again: it is forgotten, or a new one is made.
//! Knows on which ways that happens; what failed before is not asked.

use super::super::session_discarded::{Act, act};
use crate::client::{Client, Deeds};
use crate::facts::ir::{Body, Head, Id, Kind, PatId, Sort};
use crate::flow::innermost_loop;
use crate::scope::{At, Fx};

/// How many calls are followed to where the session is forgotten or made.
const DEPTH: u8 = 3;

/// Whether the node forgets the session or makes a new one: itself, or by a helper that does so on all of its ways but those
/// that fail.
pub(super) fn drops(client: &Client<'_>, at: At) -> bool {
    done(client, at, &mut Vec::new(), DEPTH)
}

/// Whether each round of the loop around `exchange` (a `match` or `if let` on an outcome) in which it fails drops the session:
/// what comes in a next round comes in another session.
pub(super) fn each_round(client: &Client<'_>, exchange: At, value: Id) -> bool {
    let body = client.scope.body(exchange.fx);
    let Some(around) = innermost_loop(body, exchange.id) else { return false };
    let always = |id: Id| !body.within(id, value) && passed(body, id, Until::Round { around, exchange: exchange.id });
    let inside = |id: &Id| body.within(*id, around);
    let acts = body.of(Sort::Assign).iter().chain(body.of(Sort::Call)).copied();
    acts.filter(inside).any(|id| always(id) && drops(client, At { id, ..exchange }))
}

/// Whether each round of the loop around a call begins a session before it: whatever the call meets, the next round has another.
pub(super) fn new_each_round(client: &Client<'_>, call: At) -> bool {
    let body = client.scope.body(call.fx);
    let Some(around) = innermost_loop(body, call.id) else { return false };
    let from = body.range(call.id);
    let before = |id: Id| {
        let here = body.range(id);
        body.within(id, around) && (here.end_line, here.end_column) <= (from.line, from.column)
    };
    let always = |id: Id| passed(body, id, Until::Round { around, exchange: call.id });
    client.ids(call.fx).any(|id| before(id) && always(id) && client.makes_session(At { id, ..call }) && drops(client, At { id, ..call }))
}

fn done(client: &Client<'_>, at: At, seen: &mut Vec<Fx>, depth: u8) -> bool {
    let callees = client.scope.callees(at);
    match act(client, at) {
        Some(Act::Cleared) => return true,
        Some(Act::Rebuilt) if callees.is_empty() => return true,
        _ => {}
    }
    let Some(depth) = depth.checked_sub(1) else { return false };
    let deeds = client.deeds_of(at);
    if deeds.has(Deeds::CALLS) {
        return false;
    }
    callees.iter().any(|fx| {
        if seen.contains(fx) {
            return false;
        }
        seen.push(*fx);
        let body = client.scope.body(*fx);
        let hello = |id: Id| matches!(body.kind(id), Kind::Str(text) if &**text == "initialize" || text.contains("\"initialize\""));
        let mut acts = body.of(Sort::Assign).iter().chain(body.of(Sort::Call)).copied();
        deeds.has(Deeds::STARTS) && client.ids(*fx).any(|id| hello(id) && passed(body, id, Until::End))
            || acts.any(|id| passed(body, id, Until::End) && done(client, At { fx: *fx, id }, seen, depth))
    })
}

/// Where the ways end that must pass a node.
#[derive(Clone, Copy)]
enum Until {
    /// The function's end, but for a failure of it.
    End,
    /// The next round of a loop, once the outcome there was an error.
    Round { around: Id, exchange: Id },
}

/// Whether control passes the node on every way to the end.
fn passed(body: &Body, id: Id, until: Until) -> bool {
    for (parent, child) in body.ancestors(id) {
        let always = match body.kind(parent) {
            Kind::Loop(..) if matches!(until, Until::Round { around, .. } if around == parent) => return true,
            Kind::If(cond, then, _) if matches!(body.kind(*cond), Kind::LetCond(..)) => {
                let Kind::LetCond(pat, _) = body.kind(*cond) else { return false };
                child == *cond || child == *then && taken(body, *pat, parent, until)
            }
            Kind::If(cond, ..) => child == *cond,
            Kind::And(left, _) | Kind::Or(left, _) => child == *left,
            Kind::Match(value, arms) => {
                child == *value || arms.iter().any(|arm| arm.body == child && arm.guard.is_none() && taken(body, arm.pat, parent, until))
            }
            Kind::Let(_, _, Some(other)) => child != *other,
            Kind::Loop(Head::While(_), ..) | Kind::Closure(..) | Kind::Select(_) => false,
            Kind::Block(stmts, _) => !stmts.iter().take_while(|stmt| **stmt != child).any(|stmt| escapes(body, *stmt, until)),
            _ => true,
        };
        if !always {
            return false;
        }
    }
    matches!(until, Until::End)
}

/// Whether the branch under the pattern is the one to look at: the error of the exchange, or a value that is there.
fn taken(body: &Body, pat: PatId, parent: Id, until: Until) -> bool {
    let only = |names: &[&str]| {
        let variants = body.variants(pat);
        !variants.is_empty() && variants.iter().all(|path| path.last().is_some_and(|last| names.contains(&&**last)))
    };
    match until {
        Until::Round { exchange, .. } if exchange == parent => only(&["Err"]),
        Until::Round { .. } | Until::End => only(&["Ok", "Some"]),
    }
}

/// Whether a statement may end the way before the node: a return that is no failure, or the start of the next round.
fn escapes(body: &Body, stmt: Id, until: Until) -> bool {
    body.inside(stmt).into_iter().any(|id| match (body.kind(id), until) {
        (Kind::Return(value), Until::End) => value.is_none_or(|value| body.call_of(value, "Err").is_none()),
        (Kind::Continue(_), Until::Round { around, exchange }) => innermost_loop(body, id) == Some(around) && !succeeded(body, id, exchange),
        _ => false,
    })
}

/// Whether a node stands in an arm of the exchange that is not its error's.
fn succeeded(body: &Body, id: Id, exchange: Id) -> bool {
    let Kind::Match(_, arms) = body.kind(exchange) else { return false };
    arms.iter().any(|arm| body.within(id, arm.body) && !body.mentions(arm.pat, "Err"))
}
