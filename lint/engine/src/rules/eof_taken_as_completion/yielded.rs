//! What a function gives back when its stream has ended: a variant that says so, or a value that nothing filled.
//! Knows what callers can tell apart; of what they then do only that they can fail or resume.

use super::fails;
use crate::client::{Client, Deeds};
use crate::facts::ir::{Body, Id, Kind, Name, PatKind};
use crate::flow::{frame, loops};
use crate::scope::{At, Binding, Fx};
use std::collections::BTreeSet;

/// Behind the loop at `at` a variant is returned that no answer in it is, and the callers look at it: `Ok(Read::Ended)`.
pub(super) fn typed_end(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let returned = |id: &Id| variant(body, *id).filter(|_| handed_back(body, whole(body, *id)));
    let answers: Vec<(&Name, &Name)> = body.inside(at.id).iter().filter_map(returned).collect();
    let after = body.ids().filter(|id| !body.within(*id, at.id) && !body.within(at.id, *id) && body.range(*id) > body.range(at.id));
    let ends: Vec<(&Name, &Name)> = after.filter_map(|id| returned(&id)).collect();
    let [(ty, end)] = ends.as_slice() else { return false };
    answers.iter().any(|(of, name)| of == ty && name != end) && told_apart(client, at.fx, end)
}

/// Whether the loop runs in a task whose channel the function gives back: its caller sees the channel close.
pub(super) fn handed_over(client: &Client<'_>, at: At) -> bool {
    let ret = &client.scope.function(at.fx).ret;
    let in_task = matches!(client.scope.body(at.fx).kind(frame(client.scope.body(at.fx), at.id)), Kind::Async(_) | Kind::Closure(..));
    in_task && ret.0.iter().any(|name| name.ends_with("Receiver"))
}

/// Whether every caller that can be seen looks at the variant and can fail or resume.
fn told_apart(client: &Client<'_>, fx: Fx, end: &Name) -> bool {
    let live = client.scope.callers(fx).iter().map(|caller| caller.at.fx).filter(|fx| !client.scope.function(*fx).test);
    live.into_iter().all(|caller| {
        let body = client.scope.body(caller);
        let looks = body.pats.iter().any(|pat| matches!(&pat.kind, PatKind::Variant(path, ..) if path.last() == Some(end)));
        let acts = body.ids().any(|id| {
            let deeds = client.deeds_of(At { fx: caller, id });
            fails(body, id) || deeds.has(Deeds::CURSOR) || deeds.has(Deeds::GET)
        });
        looks && acts
    })
}

/// `Type::Variant`, alone or with its values.
fn variant(body: &Body, id: Id) -> Option<(&Name, &Name)> {
    let Kind::Path(path) = body.kind(id) else { return None };
    let [.., ty, name] = path.as_slice() else { return None };
    let named = |name: &Name| name.starts_with(char::is_uppercase);
    (named(ty) && named(name)).then_some((ty, name))
}

/// The call around its callee: `Read::Answer(value)` around `Read::Answer`.
fn whole(body: &Body, id: Id) -> Id {
    match body.node(id).parent {
        Some(parent) if matches!(body.kind(parent), Kind::Call(callee, _) if *callee == id) => parent,
        _ => id,
    }
}

/// Whether the value, in `Ok(…)` or bare, is what the function, or the block, gives back.
pub(super) fn handed_back(body: &Body, id: Id) -> bool {
    for (parent, child) in body.ancestors(id) {
        match body.kind(parent) {
            Kind::Call(..) if body.call_of(parent, "Ok").is_some_and(|args| args.contains(&child)) => {}
            Kind::Return(_) | Kind::Async(_) => return true,
            Kind::Block(stmts, true) => return stmts.last() == Some(&child) && loops(body, parent).is_empty(),
            _ => return false,
        }
    }
    true
}

/// Locals that the loop sets to what it read, and that hold an empty value, no absence, until then: `let mut answer = Value::Null`.
pub(super) fn blanks(client: &Client<'_>, at: At) -> BTreeSet<Name> {
    let body = client.scope.body(at.fx);
    let set = body.inside(at.id).into_iter().filter_map(|id| match body.kind(id) {
        Kind::Assign(left, _) => body.local(*left),
        _ => None,
    });
    let blank = |name: &&Name| match client.scope.binding(at.fx, name, at.id) {
        Some(Binding::Let { init: Some(init), .. }) => is_blank(body, init),
        _ => false,
    };
    set.filter(blank).cloned().collect()
}

/// `Value::Null`, `json!(null)`, `String::new()`, `Default::default()`.
fn is_blank(body: &Body, id: Id) -> bool {
    match body.kind(id) {
        Kind::Path(path) => path.last().is_some_and(|last| &**last == "Null"),
        Kind::Macro(name, parts) => &**name == "json" && matches!(parts.as_slice(), [part] if body.local(*part).is_some_and(|name| &**name == "null")),
        Kind::Call(callee, args) if args.is_empty() => match body.kind(*callee) {
            Kind::Path(path) => match path.as_slice() {
                [.., ty, name] => &**name == "default" && !matches!(&**ty, "Vec" | "Option" | "HashMap" | "BTreeMap") || &**ty == "String" && &**name == "new",
                _ => false,
            },
            _ => false,
        },
        _ => false,
    }
}
