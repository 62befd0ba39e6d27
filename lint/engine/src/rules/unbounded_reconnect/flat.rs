//! Loops that reopen a stream for ever after the same pause, their own or that of a helper they call.
//! Knows what never changes in a loop; a limit that is an `Option` may not be there.

use crate::client::Client;
use crate::facts::ir::{Head, Id, Kind, Op, Sort};
use crate::finding::Certainty;
use crate::scope::{At, Binding, Fx};

/// An endless loop that opens a stream of the session and sleeps a constant time; the sleep.
pub(super) fn endless(client: &Client<'_>, at: At) -> Option<(Id, Certainty)> {
    let body = client.scope.body(at.fx);
    let Kind::Loop(Head::Forever, inside, _) = body.kind(at.id) else { return None };
    if !super::reopens(client, at.fx, *inside) {
        return None;
    }
    let to = |id: Id| At { id, ..at };
    let nodes = body.inside(*inside);
    let counted = nodes.iter().any(|id| matches!(body.kind(*id), Kind::Update(Op::Add | Op::Grow, ..) | Kind::Binary(Op::Grow, ..)));
    let here = nodes.iter().copied().find(|id| match body.kind(*id) {
        Kind::Call(callee, args) => body.last_segment(*callee).is_some_and(|name| &**name == "sleep") && args.first().is_some_and(|arg| constant(client, to(*arg))),
        _ => false,
    });
    if let Some(sleep) = here {
        return (!counted).then_some((sleep, Certainty::Likely));
    }
    // A helper that sleeps a time it is given, and counts against a limit that may not be there.
    let helper = nodes.into_iter().find(|id| client.scope.callees(to(*id)).iter().any(|fx| sleeps_given(client, *fx, to(*id))));
    helper.filter(|_| !counted).map(|id| (id, Certainty::Possible))
}

/// Whether the callee sleeps a constant time that it is given, and its only limit is an `Option`.
fn sleeps_given(client: &Client<'_>, fx: Fx, call: At) -> bool {
    let body = client.scope.body(fx);
    let function = client.scope.function(fx);
    let given = body.of(Sort::Call).iter().any(|id| match body.kind(*id) {
        Kind::Call(callee, args) if body.last_segment(*callee).is_some_and(|name| &**name == "sleep") => {
            let name = args.first().and_then(|arg| body.local(*arg));
            let param = name.and_then(|name| match client.scope.binding(fx, name, *id) {
                Some(Binding::Param(index)) => Some(index),
                _ => None,
            });
            param.is_some_and(|index| {
                let args = client.scope.arguments(fx, index);
                args.into_iter().filter(|arg| arg.fx == call.fx).all(|arg| constant(client, arg))
            })
        }
        _ => false,
    });
    let limits: Vec<_> = function.params.iter().filter(|param| param.names.iter().any(|name| name.contains("max") || name.contains("limit"))).collect();
    given && limits.iter().all(|param| param.ty.has("Option"))
}

/// `Duration::from_secs(1)`, `DELAY`, a parameter, a field, a local that is never set anew.
fn constant(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    match body.kind(body.peel(at.id)) {
        Kind::Path(path) if path.len() == 1 && !path[0].chars().all(super::constant_letter) => {
            let mut sets = body.of(Sort::Assign).iter().chain(body.of(Sort::Update));
            let set = sets.any(|id| match body.kind(*id) {
                Kind::Assign(left, _) | Kind::Update(_, left, _) => body.local(body.peel(*left)) == path.first(),
                _ => false,
            });
            !set && match client.scope.binding(at.fx, &path[0], at.id) {
                Some(Binding::Param(_)) => true,
                Some(Binding::Let { init: Some(init), .. }) => constant(client, At { id: init, ..at }),
                _ => false,
            }
        }
        Kind::Path(path) => path.last().is_some_and(|last| last.chars().all(super::constant_letter)),
        Kind::Field(_, name) => ["delay", "interval", "pause", "wait"].iter().any(|word| name.contains(word)) && !name.contains("backoff"),
        Kind::Call(callee, args) => {
            body.last_segment(*callee).is_some_and(|name| name.starts_with("from_"))
                && args.iter().all(|arg| matches!(body.kind(*arg), Kind::Int(_) | Kind::Other(_)) || constant(client, At { id: *arg, ..at }))
        }
        _ => false,
    }
}

