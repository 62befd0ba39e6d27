//! A send in a loop that its error does not leave, and a second send on the way of the first one's error.
//! Knows the ways of an error; what the error says of the session is asked of `flow::cause`.

use super::send::{request_word, sends};
use crate::client::{Client, Deeds, called};
use crate::facts::ir::{Body, Head, Id, Kind, Name, Op, Sort};
use crate::finding::Certainty;
use crate::flow::cause::{Cause, cause};
use crate::flow::{Known, frame, innermost_loop, known, leaves};
use crate::scope::{At, Binding};
use std::collections::BTreeSet;

/// A tool call in a loop that is left by its success and not by its error.
pub(super) fn in_loop(client: &Client<'_>, at: At, certainty: Certainty) -> bool {
    let body = client.scope.body(at.fx);
    let handle = client.own(at.fx).has(Deeds::USES_HANDLE);
    if certainty != Certainty::Possible && !client.scope.callees(at).is_empty() && !handle && !client.in_scope(at.fx) {
        return false;
    }
    let Some(outer) = innermost_loop(body, at.id) else { return false };
    let again = match body.kind(outer) {
        Kind::Loop(Head::Forever, ..) => true,
        Kind::Loop(Head::For(pat, iter), ..) => counts(body, *iter) || body.bound(*pat).iter().any(|name| name.contains("attempt") || name.contains("retry")),
        Kind::Loop(Head::While(cond), ..) => body.any_of(Sort::Binary, *cond, |_| true),
        _ => false,
    };
    again && succeeds(body, outer) && !renewed(client, at, outer) && comes_back(client, at, outer)
}

/// `1..=3`, `0..MAX`.
fn counts(body: &Body, iter: Id) -> bool {
    matches!(body.kind(iter), Kind::Other(parts) if parts.len() == 2)
}

fn succeeds(body: &Body, outer: Id) -> bool {
    let returns = |id| match body.kind(id) {
        Kind::Return(Some(value)) => body.call_of(*value, "Ok").is_some() || matches!(body.kind(*value), Kind::Path(_)),
        _ => false,
    };
    body.any_of(Sort::Return, outer, returns) || body.any_of(Sort::Break, outer, |id| matches!(body.kind(id), Kind::Break(_, Some(_))))
}

/// Whether an error of the call leads to the next round, other than by an answer that says the session is gone.
fn comes_back(client: &Client<'_>, at: At, outer: Id) -> bool {
    let body = client.scope.body(at.fx);
    // `call().await?`: the error leaves.
    let mut child = at.id;
    for (parent, _) in body.ancestors(at.id) {
        match body.kind(parent) {
            Kind::Try(_) | Kind::Return(_) => return false,
            Kind::Await(_) | Kind::Ref(_) => {}
            Kind::Method(receiver, name, _) if *receiver == child && (name.starts_with("map_err") || name.contains("context")) => {}
            Kind::Match(value, arms) if *value == child => {
                let failing: Vec<_> = arms.iter().filter(|arm| body.mentions(arm.pat, "Err") || body.variants(arm.pat).is_empty()).collect();
                return failing.is_empty() || failing.iter().any(|arm| goes_round(client, At { id: arm.body, ..at }, outer));
            }
            Kind::Let(..) => return comes_round(client, at, outer),
            _ => return true,
        }
        child = parent;
    }
    true
}

/// Whether a round whose outcome is kept in a local leads to the next one: by its end, or by a `continue` for a failure.
fn comes_round(client: &Client<'_>, at: At, outer: Id) -> bool {
    let body = client.scope.body(at.fx);
    let Kind::Loop(_, inside, _) = body.kind(outer) else { return true };
    if !leaves(body, *inside) {
        return true;
    }
    let here = body.range(at.id);
    body.any_of(Sort::Continue, *inside, |id| {
        let at = At { id, ..at };
        body.range(id) > here
            && innermost_loop(body, id) == Some(outer)
            && matches!(cause(client.scope, at), Cause::Other(..) | Cause::Mixed(..))
            && !refused(client, at)
    })
}

/// Whether each round sends another request: one that was received, or taken from a queue, within the loop.
fn renewed(client: &Client<'_>, at: At, outer: Id) -> bool {
    let body = client.scope.body(at.fx);
    let args = match body.kind(at.id) {
        Kind::Method(_, _, args) | Kind::Call(_, args) => args,
        _ => return false,
    };
    args.iter().flat_map(|arg| client.scope.origins(At { id: *arg, ..at })).any(|origin| {
        let chosen = matches!(client.scope.kind(origin), Kind::Select(_)) || drawn(client, origin, outer);
        let received = chosen || called(client.scope.body(origin.fx), origin.id).is_some_and(|name| {
            name.starts_with("recv") || name.starts_with("next") || name.starts_with("pop") || name.starts_with("read_")
        });
        received && origin.fx == at.fx && body.within(origin.id, outer)
    })
}

/// An element that is chosen anew in each round: `steps[index]`, where the loop binds `index`.
fn drawn(client: &Client<'_>, at: At, outer: Id) -> bool {
    let body = client.scope.body(at.fx);
    let Kind::Index(_, index) = body.kind(at.id) else { return false };
    let Some(name) = body.local(body.peel(*index)) else { return false };
    match client.scope.binding(at.fx, name, *index) {
        Some(Binding::Let { init: Some(init), .. }) => body.within(init, outer),
        _ => false,
    }
}

/// Whether control comes from the arm back to the loop's head, for a cause that is no refusal.
fn goes_round(client: &Client<'_>, at: At, outer: Id) -> bool {
    let body = client.scope.body(at.fx);
    let goes = |id: Id| !refused(client, At { id, ..at });
    body.any_of(Sort::Continue, at.id, |id| innermost_loop(body, id) == Some(outer) && goes(id))
        || !leaves(body, at.id) && goes(at.id)
}

/// Whether the place is reached only where the server refused the first send, or where it never left (contract 3.6).
fn refused(client: &Client<'_>, at: At) -> bool {
    if matches!(cause(client.scope, at), Cause::Gone(_) | Cause::Leaving) {
        return true;
    }
    let body = client.scope.body(at.fx);
    known(body, at.id).into_iter().any(|fact| {
        let (Known::True(id) | Known::Is(_, id)) = fact else { return false };
        if matches!(fact, Known::Is(..)) && held(body, id) {
            return false;
        }
        let pat = match fact {
            Known::Is(pat, _) => body.variants(pat).into_iter().flatten().any(refusal_word),
            _ => false,
        };
        pat || body.any_inside(id, |id| match body.kind(id) {
            Kind::Path(path) => path.last().is_some_and(refusal_word),
            Kind::Method(_, name, _) | Kind::Field(_, name) => refusal_word(name),
            Kind::Int(code) => matches!(code, 400 | 401 | 403 | 404 | 405 | 406 | 413 | 415 | 421 | 425 | 429),
            _ => false,
        })
    })
}

/// A field that is only looked into, `self.auth.as_ref()`: it says what is held, not what went wrong.
fn held(body: &Body, id: Id) -> bool {
    match body.kind(body.peel(id)) {
        Kind::Field(base, _) => body.local(*base).is_some_and(|name| &**name == "self") || held(body, *base),
        Kind::Method(receiver, name, args) => args.is_empty() && matches!(&**name, "as_ref" | "as_mut" | "as_deref" | "clone" | "lock" | "read") && held(body, *receiver),
        _ => false,
    }
}

fn refusal_word(name: &Name) -> bool {
    let lower = name.to_lowercase();
    &*lower == "is_connect"
        || ["unauthorized", "auth", "not_sent", "notsent", "never_sent", "connectionrefused", "too_many_requests", "ratelimit", "rate_limit", "not_found", "expired", "session_not_found", "sessionnotfound", "not_initialized", "pre_write", "prewrite", "before_write"]
            .iter()
            .any(|word| lower.contains(word))
}

/// A send that is reached by the failure of a send of the same before it: the arm of an error, or the way past a success.
pub(super) fn after_failure(client: &Client<'_>, at: At, second: Certainty) -> Option<(At, Certainty)> {
    let body = client.scope.body(at.fx);
    let name = called(body, at.id)?;
    if refused(client, at) {
        return None;
    }
    let again = |value: Id| {
        let first = behind(client, At { id: value, ..at }).into_iter().find(|first| {
            first.id != at.id && !body.within(at.id, first.id) && same(client, *first, at, name)
        })?;
        let certainty = sends(client, first)?.min(second);
        Some((first, certainty))
    };
    let failed = known(body, at.id).into_iter().filter_map(|fact| match fact {
        Known::Is(pat, value) if body.mentions(pat, "Err") => Some(value),
        Known::Not(pat, value) if body.mentions(pat, "Ok") => Some(value),
        Known::Failed(value) => Some(value),
        Known::True(test) => tested(body, test, "is_err").or_else(|| answered(client, At { id: test, ..at }, "is_server_error")),
        Known::False(test) => tested(body, test, "is_ok").or_else(|| answered(client, At { id: test, ..at }, "is_success")),
        _ => None,
    });
    failed.chain(passed_over(body, at.id)).find_map(again)
}

/// What was tried earlier in the same frame, perhaps under a condition, and left the function only by its success.
fn passed_over(body: &Body, id: Id) -> Vec<Id> {
    let own = frame(body, id);
    let mut out = Vec::new();
    for (parent, child) in body.ancestors(id) {
        let Kind::Block(stmts, _) = body.kind(parent) else { continue };
        if !stmts.iter().take_while(|stmt| **stmt != child).any(|stmt| matches!(body.kind(*stmt), Kind::If(..))) {
            continue;
        }
        if frame(body, child) != own {
            break;
        }
        let here = texts(body, &known(body, id));
        let reached = |cond: Id| {
            let there = texts(body, &[Known::True(cond)]);
            !there.iter().any(|(name, text)| here.iter().any(|(other, now)| name == other && text != now))
        };
        let earlier = stmts.iter().take_while(|stmt| **stmt != child);
        let earlier = earlier.filter(|stmt| matches!(body.kind(**stmt), Kind::If(cond, ..) if reached(*cond)));
        for inner in earlier.flat_map(|stmt| body.all_of(Sort::Match, *stmt)) {
            let Kind::Match(value, arms) = body.kind(inner) else { continue };
            if frame(body, inner) != own {
                continue;
            }
            let done = |name| arms.iter().filter(move |arm| body.mentions(arm.pat, name));
            let gone = done("Ok").next().is_some() && done("Ok").all(|arm| leaves(body, arm.body));
            if gone && done("Err").any(|arm| arm.guard.is_none() && !leaves(body, arm.body)) {
                out.push(*value);
            }
        }
    }
    out
}

/// The texts that locals are known to equal: `kind == "sse"`.
fn texts(body: &Body, facts: &[Known]) -> Vec<(Name, Name)> {
    let mut open: Vec<Id> = facts.iter().filter_map(|fact| if let Known::True(id) = fact { Some(*id) } else { None }).collect();
    let mut out = Vec::new();
    while let Some(id) = open.pop() {
        match body.kind(id) {
            Kind::And(a, b) => open.extend([*a, *b]),
            Kind::Binary(Op::Eq, a, b) => {
                for (name, text) in [(*a, *b), (*b, *a)] {
                    if let (Some(name), Kind::Str(text)) = (body.local(body.peel(name)), body.kind(text)) {
                        out.push((name.clone(), text.clone()));
                    }
                }
            }
            _ => {}
        }
    }
    out
}

/// The response whose status a test asks: `response` of `response.status().is_success()`.
fn answered(client: &Client<'_>, test: At, asks: &str) -> Option<Id> {
    let body = client.scope.body(test.fx);
    let mut id = match body.kind(test.id) {
        Kind::Method(receiver, name, args) if &**name == asks && args.is_empty() => *receiver,
        _ => return None,
    };
    if let Some(name) = body.local(id) {
        id = match client.scope.binding(test.fx, name, id)? {
            Binding::Let { init: Some(init), .. } => init,
            _ => return None,
        };
    }
    match body.kind(id) {
        Kind::Method(receiver, name, args) if &**name == "status" && args.is_empty() => Some(*receiver),
        _ => None,
    }
}

/// `outcome` of `outcome.is_err()`.
fn tested(body: &Body, test: Id, asks: &str) -> Option<Id> {
    match body.kind(test) {
        Kind::Method(receiver, name, args) if &**name == asks && args.is_empty() => Some(*receiver),
        _ => None,
    }
}

/// The calls that a value is the outcome of.
fn behind(client: &Client<'_>, at: At) -> Vec<At> {
    let body = client.scope.body(at.fx);
    let inside = |at: At| body.inside(at.id).into_iter().map(move |id| At { id, ..at });
    let traced = client.scope.origins(at).into_iter().filter(|origin| origin.fx == at.fx).flat_map(inside);
    inside(at).chain(traced).filter(|at| matches!(client.scope.kind(*at), Kind::Method(..) | Kind::Call(..))).collect()
}

/// Whether two sends are of the same: one function with nothing in the second that the first had not, or one request handed to two.
fn same(client: &Client<'_>, first: At, second: At, name: &Name) -> bool {
    let body = client.scope.body(first.fx);
    let args = |at: At| match body.kind(at.id) {
        Kind::Method(receiver, name, args) if args.is_empty() && &**name == "send" => vec![*receiver],
        Kind::Method(_, _, args) | Kind::Call(_, args) => args.clone(),
        _ => Vec::new(),
    };
    let (one, two) = (args(first), args(second));
    if called(body, first.id) == Some(name) && repeats(&ingredients(client, first, &one, 2), &ingredients(client, second, &two, 0)) {
        return true;
    }
    let carried = |args: &[Id]| -> Vec<Name> { args.iter().filter_map(|arg| carried(body, *arg)).cloned().collect() };
    let (one, two) = (carried(&one), carried(&two));
    one.iter().any(|name| two.contains(name) && request_word(name))
}

/// Whether the second is made of what the first is made of, up to clones.
fn repeats(one: &Ingredients, two: &Ingredients) -> bool {
    let shared = two.0.iter().any(|name| one.0.contains(name));
    shared && two.0.is_subset(&one.0) && two.1.is_subset(&one.1)
}

/// The locals and the texts that values are made of.
type Ingredients = (BTreeSet<Name>, BTreeSet<Name>);

/// The ingredients of values, and of the locals among them up to `depth` bindings back.
fn ingredients(client: &Client<'_>, at: At, args: &[Id], depth: u8) -> Ingredients {
    let body = client.scope.body(at.fx);
    let mut out = Ingredients::default();
    let mut open: Vec<(Id, u8)> = args.iter().map(|arg| (*arg, depth)).collect();
    while let Some((id, depth)) = open.pop() {
        for id in body.inside(id) {
            let callee = || body.node(id).parent.is_some_and(|parent| matches!(body.kind(parent), Kind::Call(callee, _) if *callee == id));
            match body.kind(id) {
                Kind::Path(path) if path.len() == 1 && path[0].starts_with(char::is_lowercase) && &*path[0] != "self" && !callee() => {
                    let bound = client.scope.binding(at.fx, &path[0], id).filter(|_| depth > 0 && out.0.insert(path[0].clone()));
                    if let Some(Binding::Let { init: Some(init), .. }) = bound {
                        open.push((init, depth - 1));
                    }
                    out.0.insert(path[0].clone());
                }
                Kind::Str(text) => {
                    out.1.insert(text.clone());
                }
                _ => {}
            }
        }
    }
    out
}

/// The local behind `&x`, `x.clone()`.
fn carried(body: &Body, id: Id) -> Option<&Name> {
    let id = body.peel(id);
    match body.kind(id) {
        Kind::Method(receiver, name, args) if args.is_empty() && matches!(&**name, "clone" | "as_ref" | "as_str" | "to_owned" | "to_string") => carried(body, *receiver),
        _ => body.local(id),
    }
}
