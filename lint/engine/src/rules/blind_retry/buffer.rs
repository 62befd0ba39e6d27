//! Requests that are put aside when their send failed and sent again from there.
//! Knows fields that are filled and drained; a buffer that is filled only before a send is no repeat.

use super::send::{message, sends};
use crate::client::Client;
use crate::facts::ir::{Head, Id, Kind, Name, Sort};
use crate::flow::cause::{Cause, cause};
use crate::flow::innermost_loop;
use crate::scope::{At, Binding, Fx};

/// The sends out of a buffer, each with the place where a failed send went into it.
pub(super) fn sent_again(client: &Client<'_>) -> Vec<(At, At)> {
    let mut out = Vec::new();
    for fx in client.functions() {
        let Some((send, field)) = drained(client, fx) else { continue };
        out.extend(filled(client, &field).map(|fill| (send, fill)));
    }
    out
}

/// The first send, in a loop over what was taken out of a field.
fn drained(client: &Client<'_>, fx: Fx) -> Option<(At, Name)> {
    let body = client.scope.body(fx);
    let over = |id: &Id| matches!(body.kind(*id), Kind::Loop(Head::For(..) | Head::While(_), ..));
    if !body.of(Sort::Loop).iter().any(over) {
        return None;
    }
    body.of(Sort::Call).iter().map(|id| At { fx, id: *id }).find_map(|at| {
        let Kind::Method(_, name, args) = body.kind(at.id) else { return None };
        let outer = innermost_loop(body, at.id)?;
        let Kind::Loop(head, ..) = body.kind(outer) else { return None };
        let source = match head {
            Head::For(_, iter) => *iter,
            Head::While(cond) => *cond,
            Head::Forever => return None,
        };
        let request = || args.iter().any(|arg| message(client, At { id: *arg, ..at }));
        if !(sends(client, at).is_some() || name.starts_with("send") && request()) {
            return None;
        }
        Some((at, taken(client, At { fx, id: source })?))
    })
}

/// `mem::take(&mut self.buffer)`, `self.buffer.drain(..)`, `self.buffer.pop_front()`: the field.
fn taken(client: &Client<'_>, at: At) -> Option<Name> {
    let takes = |at: At| {
        let body = client.scope.body(at.fx);
        body.inside(at.id).into_iter().find_map(|id| {
            let source = match body.kind(id) {
                Kind::Method(receiver, name, _) if matches!(&**name, "drain" | "pop_front" | "pop" | "take" | "split_off") => *receiver,
                Kind::Call(callee, args) if body.last_segment(*callee).is_some_and(|name| matches!(&**name, "take" | "replace")) => *args.first()?,
                _ => return None,
            };
            body.inside(source).into_iter().find_map(|id| match body.kind(id) {
                Kind::Field(_, name) => Some(name.clone()),
                _ => None,
            })
        })
    };
    takes(at).or_else(|| {
        let body = client.scope.body(at.fx);
        let name = body.local(body.peel(at.id))?;
        match client.scope.binding(at.fx, name, at.id)? {
            Binding::Let { init: Some(init), .. } => takes(At { id: init, ..at }),
            _ => None,
        }
    })
}

/// The place, after a failed send, that puts a request into the field, itself or through one callee.
fn filled(client: &Client<'_>, field: &Name) -> Option<At> {
    let puts = |at: At| {
        let body = client.scope.body(at.fx);
        match body.kind(at.id) {
            Kind::Method(receiver, name, _) => {
                matches!(&**name, "push" | "push_back" | "extend" | "push_front")
                    && matches!(body.kind(body.peel(*receiver)), Kind::Field(_, own) if own == field)
            }
            _ => false,
        }
    };
    let nodes = |fx: Fx| client.scope.body(fx).of(Sort::Call).iter().map(move |id| At { fx, id: *id });
    for fx in client.functions() {
        for at in nodes(fx).filter(|at| puts(*at)) {
            if failed(client, at) {
                return Some(at);
            }
            let callers = client.scope.callers(fx).iter().map(|caller| caller.at);
            if let Some(caller) = callers.into_iter().find(|at| !client.scope.function(at.fx).test && failed(client, *at)) {
                return Some(caller);
            }
        }
    }
    None
}

/// Whether the place is reached by the failure of a send, and by nothing that says that it never left.
fn failed(client: &Client<'_>, at: At) -> bool {
    let Cause::Other(why, _) = cause(client.scope, at) else { return false };
    let body = client.scope.body(why.fx);
    let near: Vec<Id> = body.inside(why.id);
    let traced = client.scope.origins(why);
    let sends_here = |at: At| match client.scope.kind(at) {
        Kind::Method(_, name, args) => name.starts_with("send") && !args.is_empty() || sends(client, at).is_some(),
        _ => false,
    };
    near.into_iter().map(|id| At { id, ..why }).chain(traced).any(sends_here)
}
