//! What is known at a place: the conditions on the way to it, within its function.
//! Knows control flow only; what a condition says about a session is judged in `cause`.

pub mod cause;
mod stream;
mod words;

pub use stream::{reads_inside, reads_stream};

use crate::facts::ir::{Body, Head, Id, Kind, PatId};

/// One thing that holds whenever a place is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Known {
    /// The expression is true.
    True(Id),
    /// The expression is false.
    False(Id),
    /// The value matches the pattern.
    Is(PatId, Id),
    /// The value does not match the pattern.
    Not(PatId, Id),
    /// The value is an error: the place stands in a closure that is given to `map_err`, `or_else`, `when`, …
    Failed(Id),
}

/// Everything that holds at a place, nearest first.
#[must_use]
pub fn known(body: &Body, at: Id) -> Vec<Known> {
    let mut out = Vec::new();
    for (parent, child) in body.ancestors(at) {
        match body.kind(parent) {
            Kind::If(cond, then, other) => {
                if child == *then {
                    holds(body, *cond, &mut out);
                } else if *other == Some(child) {
                    fails(body, *cond, &mut out);
                }
            }
            Kind::Loop(Head::While(cond), inside, _) if child == *inside => holds(body, *cond, &mut out),
            Kind::And(left, right) if child == *right => holds(body, *left, &mut out),
            Kind::Or(left, right) if child == *right => fails(body, *left, &mut out),
            Kind::Match(value, arms) => {
                for arm in arms {
                    if arm.body == child {
                        out.push(Known::Is(arm.pat, *value));
                        if let Some(guard) = arm.guard {
                            holds(body, guard, &mut out);
                        }
                        break;
                    }
                    if arm.guard == Some(child) {
                        out.push(Known::Is(arm.pat, *value));
                        break;
                    }
                    if arm.guard.is_none() {
                        out.push(Known::Not(arm.pat, *value));
                    }
                }
                if child == *value {
                    out.truncate(out.len() - arms.iter().filter(|arm| arm.guard.is_none()).count());
                }
            }
            Kind::Select(arms) => {
                let arm = arms.iter().find(|arm| arm.body == child);
                if let Some((arm, future)) = arm.and_then(|arm| Some((arm, arm.future?))) {
                    out.push(Known::Is(arm.pat, future));
                }
            }
            Kind::Let(pat, Some(init), Some(other)) if child == *other => out.push(Known::Not(*pat, *init)),
            Kind::Block(stmts, _) => {
                for stmt in stmts.iter().take_while(|stmt| **stmt != child) {
                    passed(body, *stmt, &mut out);
                }
            }
            Kind::Method(receiver, name, args) if args.contains(&child) && on_failure(name) => {
                out.push(Known::Failed(*receiver));
            }
            _ => {}
        }
    }
    out
}

/// Whether a place is reached by a failure alone.
#[must_use]
pub fn after_failure(body: &Body, at: Id) -> bool {
    known(body, at).into_iter().any(|fact| match fact {
        Known::Is(pat, _) => body.mentions(pat, "Err"),
        Known::Not(pat, _) => body.mentions(pat, "Ok"),
        Known::Failed(_) => true,
        _ => false,
    })
}

/// What holds after a statement that leaves on some of its ways.
fn passed(body: &Body, stmt: Id, out: &mut Vec<Known>) {
    match body.kind(stmt) {
        Kind::If(cond, then, other) => match other {
            None if leaves(body, *then) => fails(body, *cond, out),
            Some(other) if leaves(body, *then) && !leaves(body, *other) => {
                fails(body, *cond, out);
                passed(body, *other, out);
            }
            Some(other) if leaves(body, *other) && !leaves(body, *then) => holds(body, *cond, out),
            _ => {}
        },
        Kind::Let(pat, Some(init), Some(_)) => out.push(Known::Is(*pat, *init)),
        Kind::Let(_, Some(init), None) => passed(body, *init, out),
        Kind::Match(value, arms) => {
            for arm in arms.iter().filter(|arm| arm.guard.is_none() && leaves(body, arm.body)) {
                out.push(Known::Not(arm.pat, *value));
            }
        }
        _ => {}
    }
}

/// The parts of a condition that is true.
fn holds(body: &Body, cond: Id, out: &mut Vec<Known>) {
    match body.kind(cond) {
        Kind::And(left, right) => {
            holds(body, *left, out);
            holds(body, *right, out);
        }
        Kind::Not(inner) => fails(body, *inner, out),
        Kind::LetCond(pat, value) => out.push(Known::Is(*pat, *value)),
        _ => out.push(Known::True(cond)),
    }
}

/// The parts of a condition that is false.
fn fails(body: &Body, cond: Id, out: &mut Vec<Known>) {
    match body.kind(cond) {
        Kind::Or(left, right) => {
            fails(body, *left, out);
            fails(body, *right, out);
        }
        Kind::Not(inner) => holds(body, *inner, out),
        Kind::LetCond(pat, value) => out.push(Known::Not(*pat, *value)),
        _ => out.push(Known::False(cond)),
    }
}

/// Whether control never comes out behind the node.
#[must_use]
pub fn leaves(body: &Body, id: Id) -> bool {
    match body.kind(id) {
        Kind::Return(_) | Kind::Break(..) | Kind::Continue(_) => true,
        Kind::Block(stmts, _) => stmts.iter().any(|stmt| leaves(body, *stmt)),
        Kind::If(_, then, Some(other)) => leaves(body, *then) && leaves(body, *other),
        Kind::Match(value, arms) => {
            leaves(body, *value) || (!arms.is_empty() && arms.iter().all(|arm| leaves(body, arm.body)))
        }
        Kind::Let(_, Some(init), _) => leaves(body, *init),
        Kind::Try(inner) => {
            matches!(body.kind(*inner), Kind::Call(..)) && body.call_of(*inner, "Err").is_some()
        }
        _ => false,
    }
}

/// Combinators whose closure runs for an error.
fn on_failure(name: &str) -> bool {
    matches!(
        name,
        "map_err"
            | "or_else"
            | "unwrap_or_else"
            | "inspect_err"
            | "when"
            | "retry_if"
            | "retry_when"
            | "on_error"
            | "notify"
    )
}

/// The innermost loop, closure or `async` block around a node, or the root: where control ends that leaves the node.
#[must_use]
pub fn frame(body: &Body, at: Id) -> Id {
    let mut last = at;
    for (parent, _) in body.ancestors(at) {
        if matches!(body.kind(parent), Kind::Closure(..) | Kind::Async(_)) {
            return parent;
        }
        last = parent;
    }
    last
}

/// The innermost loop around a node within its frame.
#[must_use]
pub fn innermost_loop(body: &Body, at: Id) -> Option<Id> {
    for (parent, child) in body.ancestors(at) {
        match body.kind(parent) {
            Kind::Loop(_, inside, _) if *inside == child => return Some(parent),
            Kind::Closure(..) | Kind::Async(_) => break,
            _ => {}
        }
    }
    None
}

/// The loops around a node within its frame, innermost first.
#[must_use]
pub fn loops(body: &Body, at: Id) -> Vec<Id> {
    let mut out = Vec::new();
    for (parent, child) in body.ancestors(at) {
        match body.kind(parent) {
            Kind::Loop(_, inside, _) if *inside == child => out.push(parent),
            Kind::Closure(..) | Kind::Async(_) => break,
            _ => {}
        }
    }
    out
}
