//! What makes a repeat safe: a hint, a key, a look at the method, an outcome that is told to be unknown.
//! Knows words of one function; whether the guard is right is not asked.

use crate::client::Client;
use crate::facts::ir::{Body, Id, Kind, Op};
use crate::scope::Fx;
use crate::spelling::holds;

/// Whether the function looks at what makes a repeat safe: a hint, a key, or the method.
pub(super) fn guarded(client: &Client<'_>, fx: Fx) -> bool {
    let body = client.scope.body(fx);
    body.ids().any(|id| {
        let name = match body.kind(id) {
            Kind::Method(_, name, _) | Kind::Field(_, name) => name,
            Kind::Path(path) => match path.last() {
                Some(last) => last,
                None => return false,
            },
            Kind::Str(text) => return &**text == "tools/list" || &**text == "tools/call" && tested(body, id),
            _ => return false,
        };
        let safe = ["read_only", "readonly", "idempoten", "retry_safe", "is_safe", "resend", "replay_safe", "safe_to_re", "side_effect", "mutating", "outcomeunknown", "outcome_unknown", "replayable"];
        holds(name, &safe) || holds(name, &["retry"]) && (holds(name, &["tool"]) || holds(name, &["call"]) && !holds(name, &["call_with"]))
    })
}

/// A comparison or a match with the method's name.
fn tested(body: &Body, id: Id) -> bool {
    body.ancestors(id).take(2).any(|(parent, _)| matches!(body.kind(parent), Kind::Binary(Op::Eq | Op::Ne, ..) | Kind::LetCond(..)))
}
