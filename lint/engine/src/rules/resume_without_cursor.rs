//! A stream that delivered event ids is reopened without Last-Event-ID.
//!
//! # What happens
//!
//! The client opens the GET stream again after it ended, with the session but without the id of the last event it had.
//!
//! # Why it matters
//!
//! The server cannot know what was received, so it replays nothing: the events sent between the cut and the reconnect, the
//! responses of running calls among them, are lost (contract 3.2: `Resume` carries the cursor).
//!
//! # Flagged
//!
//! ```flagged
//! async fn listen(http: &reqwest::Client, session: &str) {
//!     loop {
//!         let request = http.get("/mcp").header("Accept", "text/event-stream").header("Mcp-Session-Id", session);
//!         if let Ok(response) = request.send().await {
//!             let mut events = response.bytes_stream().eventsource();
//!             while let Some(Ok(event)) = events.next().await {
//!                 handle(event.data);
//!             }
//!         }
//!         tokio::time::sleep(DELAY).await;
//!     }
//! }
//! ```
//!
//! # Accepted
//!
//! ```accepted
//! async fn listen(http: &reqwest::Client, session: &str) {
//!     let mut cursor: Option<String> = None;
//!     loop {
//!         let mut request = http.get("/mcp").header("Accept", "text/event-stream").header("Mcp-Session-Id", session);
//!         if let Some(id) = &cursor {
//!             request = request.header("Last-Event-ID", id);
//!         }
//!         if let Ok(response) = request.send().await {
//!             let mut events = response.bytes_stream().eventsource();
//!             while let Some(Ok(event)) = events.next().await {
//!                 cursor = Some(event.id);
//!                 handle(event.data);
//!             }
//!         }
//!         tokio::time::sleep(DELAY).await;
//!     }
//! }
//! ```
//!
//! ```accepted
//! async fn listen_once(http: &reqwest::Client, session: &str) -> Result<Response, reqwest::Error> {
//!     http.get("/mcp").header("Accept", "text/event-stream").header("Mcp-Session-Id", session).send().await
//! }
//! ```
//!
//! ```accepted
//! struct Worker { http: reqwest::Client, session: Option<String> }
//! impl Worker {
//!     async fn run(&mut self, mut inbox: Receiver<Event>) {
//!         let mut first = false;
//!         loop {
//!             match inbox.recv().await {
//!                 Some(Event::Expired(request)) => {
//!                     let Ok(session) = self.initialize(request).await else { break };
//!                     self.session = Some(session);
//!                     self.open(self.session.clone()).await;
//!                 }
//!                 Some(Event::Initialize(request)) => {
//!                     let Ok(session) = self.initialize(request).await else { break };
//!                     self.session = Some(session);
//!                     first = true;
//!                 }
//!                 Some(Event::Initialized) => {
//!                     if first {
//!                         self.open(self.session.clone()).await;
//!                         first = false;
//!                     }
//!                 }
//!                 None => break,
//!             }
//!         }
//!     }
//!     async fn initialize(&self, request: InitializeRequest) -> Result<String, Error> {
//!         let response = self.http.post("/mcp").json(&json!({ "method": "initialize", "params": request })).send().await?;
//!         response.headers().get("Mcp-Session-Id").and_then(|id| id.to_str().ok()).map(str::to_owned).ok_or(Error::NoSession)
//!     }
//!     async fn open(&self, session: Option<String>) {
//!         let request = self.http.get("/mcp").header("Accept", "text/event-stream").header("Mcp-Session-Id", session);
//!         if let Ok(response) = request.send().await {
//!             tokio::spawn(pump(response.bytes_stream().eventsource()));
//!         }
//!     }
//! }
//! ```
//!
//! # Instead
//!
//! Keep the id of the last event of each stream and send it as `Last-Event-ID` on every GET but the first.
//!
//! # Limits
//!
//! Whether the server ever sends ids is not in the code. A loop in a caller more than four calls away is not seen.

mod first;

use super::{Claim, Report};
use crate::client::{Client, Deeds, Slot};
use crate::facts::ir::{Id, Kind, Sort};
use crate::finding::Certainty;
use crate::flow::cause::{Cause, cause};
use crate::flow::loops;
use crate::scope::{At, Fx};
use unbroken_contract::Breach;

const HELP: &str = "send the id of the stream's last event as Last-Event-ID when the stream is opened again";

pub(super) fn check(client: &Client<'_>, report: &mut Report) {
    for fx in client.functions() {
        let body = client.scope.body(fx);
        for id in body.of(Sort::Struct) {
            switched_off(client, At { fx, id: *id }, report);
        }
        for id in body.of(Sort::Call) {
            let at = At { fx, id: *id };
            // What few calls do is asked first: whether it is a reconnect takes a look at the whole loop.
            let (message, story) = if bare_get(client, at) {
                ("a stream is opened in a loop without Last-Event-ID", Vec::new())
            } else if let Some(none) = fresh_cursor(client, at, 3) {
                let story = vec![(none, "the cursor is always absent here".to_owned())];
                ("a stream is opened again by a call that passes no cursor", story)
            } else {
                continue;
            };
            if reopens(client, at) && !first::of_session(client, at) {
                state(client, at, message, story, report);
            }
        }
    }
}

fn state(client: &Client<'_>, at: At, message: &str, story: Vec<(At, String)>, report: &mut Report) {
    report.claim(Claim {
        breach: Breach::ResumeWithoutCursor,
        certainty: Certainty::Likely,
        at,
        message: message.into(),
        help: HELP,
        here: "opened again without the cursor".into(),
        story,
        client,
    });
}

/// Whether the call stands in a loop that also waits or reads a stream, so that it is a reconnect.
fn reopens(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let around = loops(body, at.id);
    let Some(outer) = around.last().copied() else { return false };
    // After a 404 or a fresh handshake the stream is a new one.
    if matches!(cause(client.scope, at), Cause::Gone(_) | Cause::Leaving) {
        return false;
    }
    crate::flow::reads_inside(client.scope, At { id: outer, ..at })
}

/// A GET that carries the session, for an event stream, and no cursor on any way.
fn bare_get(client: &Client<'_>, at: At) -> bool {
    let deeds = client.deeds_of(at);
    let (own, all) = (client.own(at.fx), client.all(at.fx));
    let session = Deeds::GET.with(Deeds::SESSION);
    let direct = own.has(session) && is_get(client, at) && !own.has(Deeds::CURSOR) && !all.has(Deeds::CURSOR);
    let callee =
        deeds.has(session) && !deeds.has(Deeds::CURSOR) && !deeds.has(Deeds::POST) && !all.has(Deeds::CURSOR);
    direct || callee
}

fn is_get(client: &Client<'_>, at: At) -> bool {
    match client.scope.kind(at) {
        Kind::Method(receiver, name, args) => {
            &**name == "get" && args.len() == 1 && client.begins_request(at, *receiver)
        }
        Kind::Call(callee, _) => {
            client.scope.body(at.fx).last_segment(*callee).is_some_and(|name| &**name == "get")
        }
        _ => false,
    }
}

/// A callee that opens a stream with a cursor parameter, and passes `None` for it, whatever it knows.
fn fresh_cursor(client: &Client<'_>, at: At, depth: u8) -> Option<At> {
    let depth = depth.checked_sub(1)?;
    for fx in client.scope.callees(at) {
        if depth < 2
            && let Some(none) = passes_none(client, at, *fx)
        {
            return Some(none);
        }
        let calls = client.scope.body(*fx).of(Sort::Call);
        if let Some(none) = calls.iter().find_map(|id| fresh_cursor_in(client, At { fx: *fx, id: *id })) {
            return Some(none);
        }
    }
    None
}

fn fresh_cursor_in(client: &Client<'_>, at: At) -> Option<At> {
    client.scope.callees(at).iter().find_map(|fx| passes_none(client, at, *fx))
}

fn passes_none(client: &Client<'_>, at: At, fx: Fx) -> Option<At> {
    let function = client.scope.function(fx);
    let args: &[Id] = match client.scope.kind(at) {
        Kind::Method(_, _, args) => args,
        Kind::Call(_, args) => args.get(usize::from(function.takes_self)..)?,
        _ => return None,
    };
    if !client.all(fx).has(Deeds::GET.with(Deeds::SESSION)) {
        return None;
    }
    let body = client.scope.body(at.fx);
    let cursor = |index: usize| client.cursors.contains(&Slot::Param(fx, index));
    let place = (0..args.len()).find(|index| cursor(*index) && body.is_none(args[*index]))?;
    Some(At { id: args[place], ..at })
}

/// An SDK's own resuming, switched off by its configuration.
fn switched_off(client: &Client<'_>, at: At, report: &mut Report) {
    let body = client.scope.body(at.fx);
    let Kind::Struct(path, fields, _) = body.kind(at.id) else { return };
    let streamable = path.last().is_some_and(|last| last.contains("Streamable"));
    if !streamable || !client.scope.sdks.iter().any(|sdk| sdk.speaks_mcp()) {
        return;
    }
    for (_, value) in fields {
        let off = body.inside(*value).into_iter().find(|id| match body.kind(*id) {
            Kind::Path(path) => path.last().is_some_and(|last| &**last == "NeverRetry"),
            Kind::Struct(_, fields, _) => fields.iter().any(|(name, value)| {
                &**name == "max_times"
                    && body
                        .call_of(*value, "Some")
                        .is_some_and(|args| matches!(body.kind(args[0]), Kind::Int(0)))
            }),
            _ => false,
        });
        if let Some(id) = off {
            report.claim(Claim {
                breach: Breach::ResumeWithoutCursor,
                certainty: Certainty::Likely,
                at: At { id, ..at },
                message: "the SDK is told never to resume, so its cursor is lost with every connection".into(),
                help: "leave the SDK a retry policy with a limit, so that it resumes with the cursor it keeps",
                here: "resuming is switched off".into(),
                story: Vec::new(),
                client,
            });
        }
    }
}
