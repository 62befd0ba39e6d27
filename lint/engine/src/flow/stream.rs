//! Which values are the next item of a stream, and which waits have a deadline.
//! Knows the usual names of reading; judges nothing.

use crate::facts::ir::Kind;
use crate::scope::{At, Binding, Scope};

/// Whether the value is the next item of a stream of events, chunks or messages.
#[must_use]
pub fn reads_stream(scope: &Scope, at: At) -> bool {
    let body = scope.body(at.fx);
    let id = body.peel(at.id);
    match body.kind(id) {
        Kind::Method(receiver, name, args) => match &**name {
            "next" | "try_next" | "chunk" | "next_event" | "next_line" | "poll_next" | "receive"
            | "try_poll_next" | "next_message" | "frame" => true,
            "transpose" | "map_err" | "ok" | "flatten" | "context" | "now_or_never" => {
                reads_stream(scope, At { id: *receiver, ..at })
            }
            _ => args.iter().any(|arg| reads_stream(scope, At { id: *arg, ..at })) && args.len() == 1,
        },
        Kind::Call(callee, args) => {
            body.last_segment(*callee).is_some_and(|name| &**name == "timeout" || &**name == "timeout_at")
                && args.last().is_some_and(|arg| reads_stream(scope, At { id: *arg, ..at }))
        }
        Kind::Macro(name, args) => {
            &**name == "ready" && args.first().is_some_and(|arg| reads_stream(scope, At { id: *arg, ..at }))
        }
        Kind::Path(path) if path.len() == 1 => match scope.binding(at.fx, &path[0], id) {
            Some(Binding::Let { init: Some(init), .. }) => reads_stream(scope, At { id: init, ..at }),
            Some(Binding::Match { value, .. }) => reads_stream(scope, At { id: value, ..at }),
            _ => false,
        },
        Kind::Select(arms) => arms
            .iter()
            .any(|arm| arm.future.is_some_and(|future| reads_stream(scope, At { id: future, ..at }))),
        Kind::Match(value, _) => reads_stream(scope, At { id: *value, ..at }),
        Kind::Block(stmts, true) => {
            stmts.last().is_some_and(|last| reads_stream(scope, At { id: *last, ..at }))
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
