//! Reconnects have no limit and no growing delay.
//!
//! # What happens
//!
//! A stream is opened again at once after an error, or after a constant pause, as often as it breaks.
//!
//! # Why it matters
//!
//! A server that accepts and resets is hammered by every client it has, and a dead session is asked for until somebody
//! notices. Attempts are bounded and their delays grow (contract 3.2).
//!
//! # Flagged
//!
//! ```flagged
//! async fn listen(http: &reqwest::Client, session: &str, cursor: &str) {
//!     loop {
//!         let request = http.get("/mcp").header("Mcp-Session-Id", session).header("Last-Event-ID", cursor);
//!         if let Ok(response) = request.send().await {
//!             let mut events = response.bytes_stream().eventsource();
//!             while let Some(Ok(event)) = events.next().await {
//!                 handle(event.data);
//!             }
//!         }
//!         tokio::time::sleep(Duration::from_secs(1)).await;
//!     }
//! }
//! ```
//!
//! # Accepted
//!
//! ```accepted
//! async fn listen(http: &reqwest::Client, session: &str, cursor: &str) {
//!     let mut delay = Duration::from_secs(1);
//!     loop {
//!         let request = http.get("/mcp").header("Mcp-Session-Id", session).header("Last-Event-ID", cursor);
//!         if let Ok(response) = request.send().await {
//!             let mut events = response.bytes_stream().eventsource();
//!             while let Some(Ok(event)) = events.next().await {
//!                 handle(event.data);
//!             }
//!         }
//!         tokio::time::sleep(delay).await;
//!         delay = (delay * 2).min(LONGEST);
//!     }
//! }
//! ```
//!
//! # Instead
//!
//! Count attempts, let the delay grow to a cap, and start anew only when an event with a new id has arrived.
//!
//! # Limits
//!
//! A limit or delay that a configured policy brings is trusted, except where the SDK's table says that it has none.

use super::{Claim, Report};
use crate::client::{Client, Deeds};
use crate::facts::ir::{Body, Head, Id, Kind, Op};
use crate::finding::Certainty;
use crate::flow::reads_stream;
use crate::scope::{At, Fx};
use crate::sdk::Fact;
use unbroken_contract::Breach;

pub(super) fn check(client: &Client<'_>, report: &mut Report) {
    for fx in client.functions() {
        polled(client, fx, report);
        let body = client.scope.body(fx);
        for id in body.ids() {
            let at = At { fx, id };
            if unlimited_policy(client, at) {
                state(client, at, "this policy reconnects for ever after a constant delay", report);
            } else if let Some(sleep) = flat_loop(client, at) {
                state(client, At { fx, id: sleep }, "the stream is reopened for ever after a constant delay", report);
            }
        }
    }
}

fn state(client: &Client<'_>, at: At, message: &str, report: &mut Report) {
    report.claim(Claim {
        breach: Breach::UnboundedReconnect,
        certainty: Certainty::Likely,
        at,
        message: message.into(),
        help: "Limit the attempts or let the delay grow to a cap, and never reconnect without one.",
        here: "no limit, and no delay that grows".into(),
        story: Vec::new(),
        client,
    });
}

/// `poll_next` whose error arm reconnects at once.
fn polled(client: &Client<'_>, fx: Fx, report: &mut Report) {
    let function = client.scope.function(fx);
    if &*function.name != "poll_next" {
        return;
    }
    let body = &function.body;
    for id in body.ids() {
        let Kind::Match(value, arms) = body.kind(id) else { continue };
        if !reads_stream(client.scope, At { fx, id: *value }) {
            continue;
        }
        for arm in arms.iter().filter(|arm| body.mentions(arm.pat, "Err")) {
            let inside = body.inside(arm.body);
            let again = inside.iter().find(|id| matches!(body.kind(**id), Kind::Method(_, name, _) if name.contains("retry_connection") || name.contains("reconnect")));
            if let Some(again) = again.filter(|_| !inside.iter().any(|id| waits(body, *id))) {
                state(client, At { fx, id: *again }, "an error reconnects at once, without a delay or a limit", report);
            }
        }
    }
}

/// A pause, or a policy that is asked for one.
fn waits(body: &Body, id: Id) -> bool {
    let name = match body.kind(id) {
        Kind::Method(_, name, _) | Kind::Field(_, name) => Some(name),
        Kind::Path(path) => path.last(),
        _ => None,
    };
    name.is_some_and(|name| {
        let name = name.to_lowercase();
        ["sleep", "delay", "backoff", "policy", "interval", "waiting"].iter().any(|word| name.contains(word))
    })
}

/// `FixedInterval::default()` of an SDK whose table says that it never ends.
fn unlimited_policy(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let Kind::Call(callee, args) = body.kind(at.id) else { return false };
    let Kind::Path(path) = body.kind(*callee) else { return false };
    let [.., ty, make] = path.as_slice() else { return false };
    if &**make != "default" || !args.is_empty() || client.scope.defs(ty).next().is_some() {
        return false;
    }
    let settings = client.scope.sdks.iter().flat_map(|sdk| sdk.settings);
    settings.into_iter().any(|setting| setting.on == &**ty && setting.default && setting.fact == Fact::UnlimitedFlat)
}

/// An endless loop that opens a stream of the session and sleeps a constant time; the sleep.
fn flat_loop(client: &Client<'_>, at: At) -> Option<Id> {
    let body = client.scope.body(at.fx);
    let Kind::Loop(Head::Forever, inside, _) = body.kind(at.id) else { return None };
    let nodes = body.inside(*inside);
    let to = |id: Id| At { id, ..at };
    let own = client.own(at.fx).has(Deeds::GET.with(Deeds::SESSION));
    let opens = own || nodes.iter().any(|id| client.deeds_of(to(*id)).has(Deeds::GET.with(Deeds::SESSION)));
    let reads = nodes.iter().any(|id| matches!(body.kind(*id), Kind::Method(..)) && reads_stream(client.scope, to(*id)));
    let counted = nodes.iter().any(|id| matches!(body.kind(*id), Kind::Update(Op::Add | Op::Grow, ..) | Kind::Binary(Op::Grow, ..)));
    if !opens || !reads || counted {
        return None;
    }
    nodes.into_iter().find(|id| match body.kind(*id) {
        Kind::Call(callee, args) => body.last_segment(*callee).is_some_and(|name| &**name == "sleep") && args.first().is_some_and(|arg| constant(client, to(*arg))),
        _ => false,
    })
}

/// `Duration::from_secs(1)`, `DELAY`.
fn constant(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    match body.kind(at.id) {
        Kind::Path(path) => path.last().is_some_and(|last| last.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit())),
        Kind::Call(callee, args) => {
            body.last_segment(*callee).is_some_and(|name| name.starts_with("from_"))
                && args.iter().all(|arg| matches!(body.kind(*arg), Kind::Int(_) | Kind::Other(_)) || constant(client, At { id: *arg, ..at }))
        }
        _ => false,
    }
}
