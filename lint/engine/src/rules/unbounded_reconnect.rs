//! Reconnects have no limit and no growing delay.
//!
//! # What happens
//!
//! A stream is opened again at once after an error, or after a constant pause, as often as it breaks; or the count and the
//! delay begin anew with every connect, so that a server that accepts and resets is asked for ever.
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
//! ```flagged
//! async fn listen(http: &reqwest::Client, session: &str, cursor: &str) {
//!     let mut attempts = 0;
//!     while attempts < 5 {
//!         let request = http.get("/mcp").header("Mcp-Session-Id", session).header("Last-Event-ID", cursor);
//!         match request.send().await {
//!             Ok(response) => {
//!                 attempts = 0;
//!                 let mut events = response.bytes_stream().eventsource();
//!                 while let Some(Ok(event)) = events.next().await {
//!                     handle(event.data);
//!                 }
//!             }
//!             Err(_) => attempts += 1,
//!         }
//!         tokio::time::sleep(DELAY).await;
//!     }
//! }
//! ```
//!
//! ```flagged
//! async fn post(http: &reqwest::Client, session: &str) { http.post("/mcp").header("Mcp-Session-Id", session).send().await; }
//! struct EveryFewSeconds { limit: Option<usize>, pause: Duration }
//! impl Default for EveryFewSeconds {
//!     fn default() -> Self { Self { limit: None, pause: Duration::from_secs(3) } }
//! }
//! impl RetryPolicy for EveryFewSeconds {
//!     fn retry(&self, times: usize) -> Option<Duration> {
//!         if self.limit.is_some_and(|limit| times >= limit) { return None; }
//!         Some(self.pause)
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
//! A limit or delay that a configured policy brings is trusted, except where the SDK's table or the policy's own default says
//! that it has none.

mod flat;
mod policy;
mod reset;

use super::{Claim, Report};
use crate::client::{Client, Deeds};
use crate::facts::ir::{Body, Id, Kind, Sort};
use crate::finding::Certainty;
use crate::flow::{Known, loops, reads_inside, reads_stream};
use crate::scope::{At, Fx};
use unbroken_contract::Breach;

pub(super) fn check(client: &Client<'_>, report: &mut Report) {
    for fx in client.functions() {
        polled(client, fx, report);
        let body = client.scope.body(fx);
        let each = |sort: Sort| body.of(sort).iter().map(move |id| At { fx, id: *id });
        for at in each(Sort::Call).chain(each(Sort::Struct)) {
            if policy::unlimited(client, at) {
                state(client, at, Certainty::Likely, "this policy reconnects for ever after a constant delay", report);
            } else if policy::overflows(client, at) {
                // Gaps that grow are no storm (contract 4); that their cap is missing shows in the end.
                let (message, here) = ("this delay doubles without a cap, and the attempts have no limit", "no cap on the delay");
                claim(client, at, Certainty::Possible, message, here, report);
            }
        }
        for at in each(Sort::Assign).filter(|at| reset::by_connect(client, *at)) {
            state(client, at, Certainty::Likely, "a mere connect resets the count of attempts", report);
        }
        for at in each(Sort::Continue).filter(|at| at_once(client, *at)) {
            state(client, at, Certainty::Likely, "an error reconnects at once, past the delay that an end waits for", report);
        }
        for at in each(Sort::Loop) {
            if let Some((sleep, certainty)) = flat::endless(client, at) {
                state(client, At { fx, id: sleep }, certainty, "the stream is reopened for ever after a constant delay", report);
            }
        }
    }
}

fn state(client: &Client<'_>, at: At, certainty: Certainty, message: &str, report: &mut Report) {
    claim(client, at, certainty, message, "no limit, and no delay that grows", report);
}

fn claim(client: &Client<'_>, at: At, certainty: Certainty, message: &str, here: &str, report: &mut Report) {
    report.claim(Claim {
        breach: Breach::UnboundedReconnect,
        certainty,
        at,
        message: message.into(),
        help: "limit the attempts or let the delay grow to a cap, and never reconnect without one",
        here: here.into(),
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
                state(client, At { fx, id: *again }, Certainty::Likely, "an error reconnects at once, without a delay or a limit", report);
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
        ["sleep", "delay", "backoff", "policy", "interval", "waiting", "attempt", "retries", "tries"].iter().any(|word| name.contains(word))
    })
}

/// Whether the loop opens a stream of the session again and again, and reads it.
fn reopens(client: &Client<'_>, fx: Fx, inside: Id) -> bool {
    let body = client.scope.body(fx);
    let stream = Deeds::GET.with(Deeds::SESSION);
    let opens = client.own(fx).has(stream)
        || body.any_of(Sort::Call, inside, |id| client.deeds_of(At { fx, id }).has(stream))
        // An SDK of several crates: the transport that carries the session stands elsewhere.
        || client.scope.function(fx).name.contains("reconnect") && body.any_of(Sort::Path, inside, |id| body.local(id).is_some_and(|name| &**name == "session_id"));
    opens && reads_inside(client.scope, At { fx, id: inside })
}

/// `continue` in an error arm of a loop that waits only at its end.
fn at_once(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let Kind::Continue(label) = body.kind(at.id) else { return false };
    let around = loops(body, at.id);
    let target = match label {
        Some(label) => around.iter().copied().find(|id| matches!(body.kind(*id), Kind::Loop(_, _, Some(own)) if own == label)),
        None => around.first().copied(),
    };
    let Some(target) = target else { return false };
    let Kind::Loop(_, inside, _) = body.kind(target) else { return false };
    let Kind::Block(stmts, _) = body.kind(*inside) else { return false };
    let sleeps = |id: &Id| body.any_of(Sort::Call, *id, |id| pauses(body, id));
    let last = stmts.iter().rposition(sleeps);
    let here = stmts.iter().position(|stmt| body.within(at.id, *stmt));
    // The only pause comes after this statement, and the statement has none.
    let skips = matches!((here, last), (Some(here), Some(last)) if here < last) && !stmts.iter().take(here.map_or(0, |here| here + 1)).any(sleeps);
    if !skips || !failing(client, at) || !reopens(client, at.fx, *inside) {
        return false;
    }
    // A count in the same arm is a limit.
    let arm = body.ancestors(at.id).find(|(parent, _)| matches!(body.kind(*parent), Kind::Match(..) | Kind::If(..)));
    !arm.is_some_and(|(_, child)| body.any_inside(child, |id| matches!(body.kind(id), Kind::Update(..)) || waits(body, id)))
}

/// Whether the place is reached by an error of a request or stream.
fn failing(client: &Client<'_>, at: At) -> bool {
    use crate::flow::cause::{Cause, cause};
    let body = client.scope.body(at.fx);
    // A renewed credential is a reason to ask again at once (contract 3.2).
    let renewed = crate::flow::known(body, at.id).into_iter().any(|fact| {
        let (Known::True(id) | Known::False(id) | Known::Is(_, id) | Known::Not(_, id) | Known::Failed(id)) = fact;
        body.any_inside(id, |id| match body.kind(id) {
            Kind::Path(path) => path.last().is_some_and(|last| last.to_lowercase().contains("auth")),
            Kind::Method(_, name, _) | Kind::Field(_, name) => name.contains("auth"),
            Kind::Int(code) => *code == 401,
            _ => false,
        })
    });
    !renewed && matches!(cause(client.scope, at), Cause::Other(..) | Cause::Mixed(..))
}

fn pauses(body: &Body, id: Id) -> bool {
    match body.kind(id) {
        Kind::Call(callee, _) => body.last_segment(*callee).is_some_and(|name| matches!(&**name, "sleep" | "sleep_until" | "delay_for")),
        Kind::Method(_, name, _) => matches!(&**name, "sleep" | "tick" | "delay"),
        _ => false,
    }
}

fn constant_letter(letter: char) -> bool {
    letter.is_ascii_uppercase() || letter == '_' || letter.is_ascii_digit()
}
