//! Which values are the next item of a stream, and which waits have a deadline.
//! Knows the usual names of reading; judges nothing.

use crate::facts::ir::{Kind, Sort};
use crate::scope::{At, Binding, Scope};

/// Whether the value is the next item of a stream of events, chunks or messages.
#[must_use]
pub fn reads_stream(scope: &Scope, at: At) -> bool {
    reads(scope, at, 16)
}

/// Whether a method is called inside the node that gives the next item of a stream.
#[must_use]
pub fn reads_inside(scope: &Scope, at: At) -> bool {
    let body = scope.body(at.fx);
    body.any_of(Sort::Call, at.id, |id| {
        matches!(body.kind(id), Kind::Method(..)) && reads_stream(scope, At { id, ..at })
    })
}

fn reads(scope: &Scope, at: At, depth: u8) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let body = scope.body(at.fx);
    let id = body.peel(at.id);
    match body.kind(id) {
        Kind::Method(receiver, name, args) => match &**name {
            "next" | "try_next" | "chunk" | "next_event" | "next_line" | "poll_next" | "receive"
            | "try_poll_next" | "next_message" | "frame" => true,
            "transpose" | "map_err" | "ok" | "flatten" | "context" | "now_or_never" => {
                reads(scope, At { id: *receiver, ..at }, depth)
            }
            _ => args.iter().any(|arg| reads(scope, At { id: *arg, ..at }, depth)) && args.len() == 1,
        },
        Kind::Call(callee, args) => {
            body.last_segment(*callee).is_some_and(|name| &**name == "timeout" || &**name == "timeout_at")
                && args.last().is_some_and(|arg| reads(scope, At { id: *arg, ..at }, depth))
        }
        Kind::Macro(name, args) => {
            &**name == "ready" && args.first().is_some_and(|arg| reads(scope, At { id: *arg, ..at }, depth))
        }
        Kind::Path(path) if path.len() == 1 => match scope.binding(at.fx, &path[0], id) {
            Some(Binding::Let { init: Some(init), .. }) => reads(scope, At { id: init, ..at }, depth),
            Some(Binding::Match { value, .. }) => reads(scope, At { id: value, ..at }, depth),
            // Handed in: what the callers read.
            Some(Binding::Param(index)) => {
                scope.arguments(at.fx, index).into_iter().take(4).any(|at| reads(scope, at, depth.min(6)))
            }
            _ => false,
        },
        Kind::Select(arms) => arms
            .iter()
            .any(|arm| arm.future.is_some_and(|future| reads(scope, At { id: future, ..at }, depth))),
        Kind::Match(value, _) => reads(scope, At { id: *value, ..at }, depth),
        Kind::Block(stmts, true) => {
            stmts.last().is_some_and(|last| reads(scope, At { id: *last, ..at }, depth))
        }
        _ => false,
    }
}

/// Whether an error of the value is (also) a deadline of this side.
pub(super) fn deadline(scope: &Scope, at: At) -> bool {
    let body = scope.body(at.fx);
    let id = body.peel(at.id);
    match body.kind(id) {
        Kind::Call(callee, _) => {
            body.last_segment(*callee).is_some_and(|name| &**name == "timeout" || &**name == "timeout_at")
        }
        Kind::Path(path) if path.len() == 1 => match scope.binding(at.fx, &path[0], id) {
            Some(Binding::Let { init: Some(init), .. }) => deadline(scope, At { id: init, ..at }),
            _ => false,
        },
        _ => false,
    }
}
