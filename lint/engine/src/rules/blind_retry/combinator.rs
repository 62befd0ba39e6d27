//! Operations that are handed to something that retries them: `backon`, `tokio-retry`, `backoff`, a helper of the crate, a middleware.
//! Knows how such helpers are called; the policy's numbers do not matter, since one repeat is one too many.

use super::send::{method_blind, sends};
use crate::client::{Client, Deeds, called};
use crate::facts::ir::{Body, Id, Kind};
use crate::finding::Certainty;
use crate::flow::cause::{Cause, when_true};
use crate::scope::{At, Binding};
use crate::spelling::holds;

/// `operation.retry(policy)`, `with_retry(policy, || call())`: the operation calls a tool, or a method it does not know.
pub(super) fn retried(client: &Client<'_>, at: At) -> Option<Certainty> {
    let body = client.scope.body(at.fx);
    let operations: Vec<Id> = match body.kind(at.id) {
        Kind::Method(receiver, name, args) if &**name == "retry" && args.len() == 1 => vec![*receiver],
        Kind::Method(_, name, args) if retries(name) => args.clone(),
        Kind::Call(callee, args) if body.last_segment(*callee).is_some_and(|name| retries(name)) => args.clone(),
        Kind::Call(callee, args) if matches!(body.kind(*callee), Kind::Path(path) if path.iter().any(|part| matches!(&**part, "Retry" | "RetryIf"))) => args.clone(),
        Kind::Call(callee, _) if matches!(body.kind(*callee), Kind::Path(path) if path.iter().any(|part| &**part == "RetryTransientMiddleware")) => {
            return client.in_scope(at.fx).then_some(Certainty::Possible);
        }
        _ => return None,
    };
    if harmless(client, at) {
        return None;
    }
    operations.into_iter().find_map(|id| operation(client, At { id, ..at }))
}

fn retries(name: &str) -> bool {
    // Few names come as far as to be written small.
    if !holds(name, &["retr", "backoff"]) {
        return false;
    }
    let name = name.to_lowercase();
    name.contains("with_retry") || name.contains("with_retries") || name.starts_with("retry") || name.contains("_retry_") || name.contains("with_backoff")
}

/// A predicate that lets only what never left, or what a server refused as gone, be sent again.
fn harmless(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let mut child = at.id;
    for (parent, _) in body.ancestors(at.id) {
        match body.kind(parent) {
            Kind::Method(receiver, name, args) if *receiver == child => {
                if matches!(&**name, "when" | "retry_if")
                    && let [predicate] = args.as_slice()
                {
                    let predicate = At { id: *predicate, ..at };
                    return connects(body, predicate.id) || matches!(when_true(client.scope, predicate), Cause::Gone(_));
                }
            }
            Kind::Await(_) | Kind::Try(_) => {}
            _ => return false,
        }
        child = parent;
    }
    false
}

fn connects(body: &Body, id: Id) -> bool {
    let asked: Vec<_> = body.inside(id).into_iter().filter_map(|id| match body.kind(id) {
        Kind::Method(_, name, args) if args.is_empty() && name.starts_with("is_") => Some(name.clone()),
        _ => None,
    }).collect();
    !asked.is_empty() && asked.iter().all(|name| &**name == "is_connect")
}

fn operation(client: &Client<'_>, at: At) -> Option<Certainty> {
    let body = client.scope.body(at.fx);
    if !matches!(body.kind(at.id), Kind::Closure(..) | Kind::Async(_)) {
        return handed_in(client, at);
    }
    let mut out = None;
    for id in body.inside(at.id) {
        match sends(client, At { id, ..at }) {
            Some(Certainty::Possible) => out = Some(Certainty::Possible),
            Some(certainty) => return Some(certainty),
            None => {}
        }
    }
    out
}

/// The operation is a parameter: what callers pass decides.
fn handed_in(client: &Client<'_>, at: At) -> Option<Certainty> {
    let body = client.scope.body(at.fx);
    let name = body.local(at.id)?;
    let Some(Binding::Param(index)) = client.scope.binding(at.fx, name, at.id) else { return None };
    let args = client.scope.arguments(at.fx, index);
    let calls = |arg: &At| {
        let body = client.scope.body(arg.fx);
        body.inside(arg.id).into_iter().any(|id| {
            let at = At { id, ..*arg };
            client.deeds_of(at).has(Deeds::CALLS) || called(body, id).is_some() && method_blind(client, at)
        })
    };
    args.iter().any(calls).then_some(Certainty::Likely)
}
