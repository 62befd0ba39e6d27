//! A tools/call is sent again although its first outcome is unknown.
//!
//! # What happens
//!
//! A retry loop, or a retry combinator, encloses a tool call (or a request whose method it does not look at) and sends it again
//! after an error that says nothing of what the server did.
//!
//! # Why it matters
//!
//! The first call may have run, or may still run: the second repeats its effect, a payment or a mail, without anybody
//! noticing (contract 3.6).
//!
//! # Flagged
//!
//! ```flagged
//! use rmcp::service::RunningService;
//! struct Host { client: RunningService<RoleClient, ()> }
//! impl Host {
//!     async fn call(&self, params: CallToolRequestParam) -> Result<CallToolResult, Error> {
//!         for attempt in 1..=3 {
//!             match self.client.call_tool(params.clone()).await {
//!                 Ok(result) => return Ok(result),
//!                 Err(error) => log::warn!("attempt {attempt}: {error}"),
//!             }
//!         }
//!         Err(Error::GaveUp)
//!     }
//! }
//! ```
//!
//! ```flagged
//! use rmcp::service::RunningService;
//! struct Host { client: RunningService<RoleClient, ()> }
//! impl Host {
//!     async fn call(&self, params: CallToolRequestParam) -> Result<CallToolResult, Error> {
//!         (|| async { self.client.call_tool(params.clone()).await }).retry(ExponentialBuilder::default()).await
//!     }
//! }
//! ```
//!
//! # Accepted
//!
//! ```accepted
//! use rmcp::service::RunningService;
//! struct Host { client: RunningService<RoleClient, ()> }
//! impl Host {
//!     async fn call(&self, tool: &Tool, params: CallToolRequestParam) -> Result<CallToolResult, Error> {
//!         for _ in 1..=3 {
//!             match self.client.call_tool(params.clone()).await {
//!                 Ok(result) => return Ok(result),
//!                 Err(error) if !tool.annotations.read_only_hint => return Err(error),
//!                 Err(_) => {}
//!             }
//!         }
//!         Err(Error::GaveUp)
//!     }
//!     async fn tools(&self) -> Result<Vec<Tool>, Error> {
//!         (|| async { self.client.list_all_tools().await }).retry(ExponentialBuilder::default()).await
//!     }
//! }
//! ```
//!
//! # Instead
//!
//! Send it again only where the first send is known not to have left, where the tool is declared read-only or idempotent, or
//! with the same idempotency key; else say that the outcome is unknown.
//!
//! # Limits
//!
//! A loop over several different calls is told from a retry by the returned success. A buffer that is sent again after a
//! reconnect is not seen.

use super::{Claim, Report};
use crate::client::{Client, Deeds};
use crate::facts::ir::{Body, Head, Id, Kind};
use crate::finding::Certainty;
use crate::flow::loops;
use crate::scope::{At, Fx};
use unbroken_contract::Breach;

pub(super) fn check(client: &Client<'_>, report: &mut Report) {
    for fx in client.functions() {
        if guarded(client, fx) {
            continue;
        }
        for id in client.ids(fx) {
            let at = At { fx, id };
            if let Some(certainty) = in_combinator(client, at) {
                state(client, at, certainty, "a tool call is retried whatever became of the first send", report);
            } else if in_loop(client, at) {
                state(client, at, Certainty::Likely, "a tool call in a retry loop is sent again after any error", report);
            }
        }
    }
}

fn state(client: &Client<'_>, at: At, certainty: Certainty, message: &str, report: &mut Report) {
    report.claim(Claim {
        breach: Breach::BlindRetry,
        certainty,
        at,
        message: message.into(),
        help: "Retry only a call that is known not to have left, is declared safe, or carries an idempotency key.",
        here: "sent again with the first outcome unknown".into(),
        story: Vec::new(),
        client,
    });
}

/// Whether the function looks at what makes a repeat safe: a hint, a key, or the method.
fn guarded(client: &Client<'_>, fx: Fx) -> bool {
    let body = client.scope.body(fx);
    body.ids().any(|id| {
        let name = match body.kind(id) {
            Kind::Method(_, name, _) | Kind::Field(_, name) => name.clone(),
            Kind::Path(path) => match path.last() {
                Some(last) => last.clone(),
                None => return false,
            },
            Kind::Str(text) => return &**text == "tools/list",
            _ => return false,
        };
        let name = name.to_lowercase();
        ["read_only", "readonly", "idempoten", "retry_safe", "is_safe", "resend", "replay_safe"].iter().any(|word| name.contains(word))
    })
}

/// `operation.retry(policy)`, `with_retry(policy, || call())`: the operation calls a tool, or a method it does not know.
fn in_combinator(client: &Client<'_>, at: At) -> Option<Certainty> {
    let body = client.scope.body(at.fx);
    let operations: Vec<Id> = match body.kind(at.id) {
        Kind::Method(receiver, name, args) if &**name == "retry" && args.len() == 1 => vec![*receiver],
        Kind::Method(_, name, args) if retries(name) => args.clone(),
        Kind::Call(callee, args) if body.last_segment(*callee).is_some_and(|name| retries(name)) => args.clone(),
        Kind::Call(callee, args) if matches!(body.kind(*callee), Kind::Path(path) if path.iter().any(|part| &**part == "Retry" || &**part == "RetryIf")) => args.clone(),
        _ => return None,
    };
    operations.into_iter().find_map(|id| operation(client, At { id, ..at }))
}

fn retries(name: &str) -> bool {
    let name = name.to_lowercase();
    name.contains("with_retry") || name.contains("with_retries") || name.starts_with("retry") || name.contains("_retry_") || name.contains("with_backoff")
}

fn operation(client: &Client<'_>, at: At) -> Option<Certainty> {
    let body = client.scope.body(at.fx);
    if !matches!(body.kind(at.id), Kind::Closure(..) | Kind::Async(_)) {
        return handed_in(client, at);
    }
    let mut out = None;
    for id in body.inside(at.id) {
        let deeds = client.deeds_of(At { id, ..at });
        if deeds.has(Deeds::CALLS) {
            return Some(Certainty::Likely);
        }
        if method_blind(client, At { id, ..at }) {
            out = Some(Certainty::Possible);
        }
    }
    out
}

/// The operation is a parameter: what callers pass decides.
fn handed_in(client: &Client<'_>, at: At) -> Option<Certainty> {
    let body = client.scope.body(at.fx);
    let name = body.local(at.id)?;
    let Some(crate::scope::Binding::Param(index)) = client.scope.binding(at.fx, name, at.id) else { return None };
    let args = client.scope.arguments(at.fx, index);
    let calls = |arg: &At| {
        let body = client.scope.body(arg.fx);
        body.inside(arg.id).into_iter().any(|id| client.deeds_of(At { id, ..*arg }).has(Deeds::CALLS))
    };
    args.iter().any(calls).then_some(Certainty::Likely)
}

/// A request whose method is a parameter of the function.
fn method_blind(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let (name, args) = match body.kind(at.id) {
        Kind::Method(_, name, args) => (name, args),
        _ => return false,
    };
    let asks = name.contains("request") || name.contains("send_") || &**name == "call";
    let method = |id: &Id| body.local(body.peel(*id)).is_some_and(|name| &**name == "method" || name.ends_with("_method"));
    asks && args.iter().any(method) && (client.in_scope(at.fx) || client.deeds_of(at).has(Deeds::SESSION))
}

/// A tool call in a loop that is left only by its success.
fn in_loop(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    if !matches!(body.kind(at.id), Kind::Method(..) | Kind::Call(..)) || !client.deeds_of(at).has(Deeds::CALLS) || !client.scope.callees(at).is_empty() && !client.own(at.fx).has(Deeds::USES_HANDLE) {
        return false;
    }
    let around = loops(body, at.id);
    let Some(outer) = around.first() else { return false };
    let again = match body.kind(*outer) {
        Kind::Loop(Head::Forever, ..) => true,
        Kind::Loop(Head::For(pat, iter), ..) => counts(body, *iter) || body.bound(*pat).iter().any(|name| name.contains("attempt") || name.contains("retry")),
        Kind::Loop(Head::While(cond), ..) => body.inside(*cond).iter().any(|id| matches!(body.kind(*id), Kind::Binary(..))),
        _ => false,
    };
    again && succeeds(body, *outer)
}

/// `1..=3`, `0..MAX`.
fn counts(body: &Body, iter: Id) -> bool {
    matches!(body.kind(iter), Kind::Other(parts) if parts.len() == 2)
}

fn succeeds(body: &Body, outer: Id) -> bool {
    body.inside(outer).into_iter().any(|id| match body.kind(id) {
        Kind::Return(Some(value)) => body.call_of(*value, "Ok").is_some() || matches!(body.kind(*value), Kind::Path(_)),
        Kind::Break(_, Some(_)) => true,
        _ => false,
    })
}
