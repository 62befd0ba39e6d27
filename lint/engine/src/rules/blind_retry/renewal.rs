//! A new authorization between two sends: the first may have been refused for the lack of it (contract 5).
//! Knows words of authorization and what a send is made of; whether the refusal was asked for is another matter.

use crate::client::{Client, called};
use crate::facts::ir::{Body, Id, Kind, Name, Sort};
use crate::scope::{At, Binding};
use std::collections::BTreeSet;

/// Whether an authorization is obtained between two sends on every way to the second, and the second is made of it.
pub(super) fn between(client: &Client<'_>, first: At, second: At) -> bool {
    let body = client.scope.body(second.fx);
    let (from, to) = (body.range(first.id), body.range(second.id));
    let apart = |id: Id| {
        let here = body.range(id);
        (here.line, here.column) >= (from.end_line, from.end_column) && (here.end_line, here.end_column) <= (to.line, to.column)
    };
    let mut renewals = body.of(Sort::Call).iter().copied().filter(|id| apart(*id) && authorizes(body, *id) && always(body, *id, second.id)).peekable();
    if renewals.peek().is_none() {
        return false;
    }
    let made = made_of(client, second);
    renewals.any(|id| feeds(body, id, &made))
}

/// The locals that a call is made of, `self` among them, through their bindings.
fn made_of(client: &Client<'_>, at: At) -> BTreeSet<Name> {
    let body = client.scope.body(at.fx);
    let mut out = BTreeSet::new();
    let mut open = vec![at.id];
    while let Some(id) = open.pop() {
        for id in body.inside(id) {
            let Some(name) = body.local(id).filter(|name| !out.contains(*name)) else { continue };
            out.insert(name.clone());
            if let Some(Binding::Let { init: Some(init), .. }) = client.scope.binding(at.fx, name, id) {
                open.push(init);
            }
        }
    }
    out
}

/// `state.start_authorization(…)`, `OAuthState::new(…)`, `self.refresh_token()`.
fn authorizes(body: &Body, id: Id) -> bool {
    let says = |name: &Name| {
        let lower = name.to_lowercase();
        ["authoriz", "oauth", "reauth", "refresh_token", "refresh_auth", "access_token"].iter().any(|word| lower.contains(word))
    };
    let path = match body.kind(id) {
        Kind::Call(callee, _) => match body.kind(*callee) {
            Kind::Path(path) => path.as_slice(),
            _ => &[],
        },
        _ => &[],
    };
    called(body, id).is_some_and(says) || path.iter().any(says)
}

/// Whether control passes the node before it comes to the other one: no branch, loop or closure is around the node alone.
fn always(body: &Body, id: Id, other: Id) -> bool {
    for (parent, child) in body.ancestors(id) {
        if body.within(other, parent) {
            return matches!(body.kind(parent), Kind::Block(..));
        }
        match body.kind(parent) {
            Kind::If(cond, ..) if *cond != child => return false,
            Kind::Match(value, _) if *value != child => return false,
            Kind::And(_, right) | Kind::Or(_, right) if *right == child => return false,
            Kind::Let(_, _, Some(other)) if *other == child => return false,
            Kind::Loop(..) | Kind::Closure(..) | Kind::Async(_) | Kind::Select(_) => return false,
            _ => {}
        }
    }
    false
}

/// Whether the call is one of a local, or bound to it.
fn feeds(body: &Body, id: Id, made: &BTreeSet<Name>) -> bool {
    let mut root = id;
    while let Kind::Method(inner, ..) | Kind::Field(inner, _) = body.kind(body.peel(root)) {
        root = *inner;
    }
    body.local(body.peel(root)).is_some_and(|name| made.contains(name))
        || body.ancestors(id).any(|(parent, _)| match body.kind(parent) {
            Kind::Let(pat, ..) => body.bound(*pat).iter().any(|name| made.contains(*name)),
            _ => false,
        })
}
