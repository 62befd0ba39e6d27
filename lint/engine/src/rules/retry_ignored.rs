//! A reconnect comes earlier than the server's `retry` asks for.
//!
//! # What happens
//!
//! A client reads the events of a stream, takes their ids and data, leaves their `retry` field alone, and reconnects after a
//! delay of its own.
//!
//! # Why it matters
//!
//! The `retry` field is the server's word on when it may be asked again (contract 1): a server that closes a connection on
//! purpose says with it when the answer will be there, and a client that comes earlier is turned away or piles up with all
//! others (contract 3.2).
//!
//! # Flagged
//!
//! ```flagged
//! async fn listen(http: &reqwest::Client, session: &str, mut cursor: String) {
//!     let mut pause = Duration::from_millis(100);
//!     loop {
//!         let request = http.get("/mcp").header("Mcp-Session-Id", session).header("Last-Event-ID", &cursor);
//!         if let Ok(response) = request.send().await {
//!             let mut events = response.bytes_stream().eventsource();
//!             while let Some(Ok(event)) = events.next().await {
//!                 cursor = event.id;
//!                 handle(event.data);
//!             }
//!         }
//!         tokio::time::sleep(pause).await;
//!         pause = (pause * 2).min(LONGEST);
//!     }
//! }
//! ```
//!
//! # Accepted
//!
//! ```accepted
//! async fn listen(http: &reqwest::Client, session: &str, mut cursor: String) {
//!     let mut pause = Duration::from_millis(100);
//!     let mut asked = Duration::ZERO;
//!     loop {
//!         let request = http.get("/mcp").header("Mcp-Session-Id", session).header("Last-Event-ID", &cursor);
//!         if let Ok(response) = request.send().await {
//!             let mut events = response.bytes_stream().eventsource();
//!             while let Some(Ok(event)) = events.next().await {
//!                 cursor = event.id;
//!                 if let Some(retry) = event.retry { asked = retry; }
//!                 handle(event.data);
//!             }
//!         }
//!         tokio::time::sleep(pause.max(asked)).await;
//!         pause = (pause * 2).min(LONGEST);
//!     }
//! }
//! ```
//!
//! # Instead
//!
//! Keep the last `retry` of the stream, and wait for the larger of it, `Retry-After` and the delay of your own.
//!
//! # Limits
//!
//! Only loops that take event ids are judged: a stream whose ids are thrown away is `resume-without-cursor`'s matter. One
//! finding per function. An event source that reconnects by itself is trusted to keep to the field.

use super::unchecked_resume::is_cursor;
use super::{Claim, Report, in_log};
use crate::client::{Client, Deeds, Slot};
use crate::facts::ir::{Head, Id, Kind};
use crate::finding::Certainty;
use crate::flow::{loops, reads_stream};
use crate::scope::{At, Fx};
use std::collections::BTreeSet;
use unbroken_contract::Breach;

pub(super) fn check(client: &Client<'_>, report: &mut Report) {
    for fx in client.functions() {
        if let Some((pause, at)) = early(client, fx) {
            report.claim(Claim {
                breach: Breach::RetryIgnored,
                certainty: Certainty::Likely,
                at,
                message: "the stream is reopened without regard to the server's retry".into(),
                help: "keep the last retry of the stream and wait at least that long before reconnecting",
                here: "the id of an event is taken here, its retry is not".into(),
                story: vec![(pause, "this delay knows nothing of it".to_owned())],
                client,
            });
        }
    }
}

/// The pause of a loop that resumes a stream, and the place that takes the id of its events, where nothing around has ever
/// heard of `retry`.
fn early(client: &Client<'_>, fx: Fx) -> Option<(At, At)> {
    let resumes = client.own(fx).has(Deeds::CURSOR) && client.all(fx).has(Deeds::GET.with(Deeds::SESSION));
    if !resumes {
        return None;
    }
    let body = client.scope.body(fx);
    let pause = body.ids().find(|id| sleeps(client, fx, *id) && loops(body, *id).iter().any(|outer| reads(client, fx, *outer)))?;
    let near = neighbours(client, fx);
    let taken = |fx: &Fx| client.ids(*fx).map(|id| At { fx: *fx, id }).find(|at| takes_id(client, *at));
    let heard = |fx: &Fx| client.ids(*fx).any(|id| hears(client, At { fx: *fx, id }));
    let taken = near.iter().find_map(taken)?;
    (!near.iter().any(heard)).then_some((At { fx, id: pause }, taken))
}

fn sleeps(client: &Client<'_>, fx: Fx, id: Id) -> bool {
    match client.scope.kind(At { fx, id }) {
        Kind::Call(callee, args) => {
            args.len() == 1 && client.scope.body(fx).last_segment(*callee).is_some_and(|name| &**name == "sleep")
        }
        _ => false,
    }
}

fn reads(client: &Client<'_>, fx: Fx, outer: Id) -> bool {
    let body = client.scope.body(fx);
    let Kind::Loop(head, inside, _) = body.kind(outer) else { return false };
    let head = match head {
        Head::While(cond) => Some(*cond),
        _ => None,
    };
    let nodes = body.inside(*inside).into_iter().chain(head.into_iter().flat_map(|head| body.inside(head)));
    nodes.into_iter().any(|id| matches!(body.kind(id), Kind::Method(..)) && reads_stream(client.scope, At { fx, id }))
}

/// The function and what it calls, two levels deep.
fn neighbours(client: &Client<'_>, fx: Fx) -> BTreeSet<Fx> {
    let mut near = BTreeSet::from([fx]);
    for _ in 0..2 {
        let next: Vec<Fx> = near
            .iter()
            .flat_map(|fx| client.ids(*fx).flat_map(|id| client.scope.callees(At { fx: *fx, id })))
            .copied()
            .collect();
        near.extend(next);
    }
    near
}

/// `cursor = event.id`, `self.set_last_event_id(id)`, or a parser of the crate that knows the field.
fn takes_id(client: &Client<'_>, at: At) -> bool {
    match client.scope.kind(at) {
        Kind::Assign(left, _) => {
            let left = At { id: *left, ..at };
            let given = |slot| match slot {
                Slot::Param(fx, index) => client.scope.arguments(fx, index).into_iter().any(|arg| is_cursor(client, arg)),
                _ => false,
            };
            is_cursor(client, left) || client.slot(left).is_some_and(given)
        }
        Kind::Str(text) => matches!(&**text, "id:" | "id: "),
        _ => false,
    }
}

/// A mention of the field that does more than tell.
fn hears(client: &Client<'_>, at: At) -> bool {
    let says = |name: &str| {
        let lower = name.to_lowercase();
        matches!(&*lower, "retry" | "retry:" | "retry_ms" | "retry_after" | "retry-after" | "reconnection_time")
            || lower.contains("server_retry")
            || lower.contains("sse_retry")
    };
    let told = match client.scope.kind(at) {
        Kind::Field(_, name) | Kind::Method(_, name, _) => says(name),
        Kind::Str(text) => says(text.trim()),
        Kind::Path(path) => path.last().is_some_and(|last| says(last)),
        _ => false,
    };
    told && !in_log(client.scope.body(at.fx), at.id)
}
