//! A resume is answered without owning the session.
//!
//! # What happens
//!
//! A server replays the events after a `Last-Event-ID` without asking whose they are, opens a stream for whatever session id
//! a request brings, makes a new session under an unknown id, or takes a cursor and delivers live events only.
//!
//! # Why it matters
//!
//! Another instance owns the session, or nobody does: the client is told that all is well while its events lie elsewhere, or
//! it is served those of somebody else. Ownership is asked for before the first replayed event, and a session without a
//! record here is a 404 (contract 3.3).
//!
//! # Flagged
//!
//! ```flagged
//! async fn listen(State(app): State<App>, headers: HeaderMap) -> Response {
//!     let session = headers.get("Mcp-Session-Id").and_then(|value| value.to_str().ok());
//!     let Some(cursor) = headers.get("Last-Event-ID").and_then(|value| value.to_str().ok()) else {
//!         return app.open(session).into_response();
//!     };
//!     match app.event_store.events_after(cursor).await {
//!         Ok(events) => sse(events).into_response(),
//!         Err(_) => StatusCode::BAD_REQUEST.into_response(),
//!     }
//! }
//! ```
//!
//! ```flagged
//! async fn listen(State(app): State<App>, headers: HeaderMap) -> Response {
//!     let Some(session) = headers.get("Mcp-Session-Id").and_then(|value| value.to_str().ok()) else {
//!         return StatusCode::BAD_REQUEST.into_response();
//!     };
//!     let (tx, rx) = channel(16);
//!     let guard = app.register(session, tx);
//!     sse_response(rx, guard)
//! }
//! ```
//!
//! ```flagged
//! struct Hub { sessions: RwLock<HashMap<String, Session>> }
//! impl Hub {
//!     fn attach(&self, id: &str) -> Receiver {
//!         self.sessions.write().entry(id.to_owned()).or_insert_with(Session::new).subscribe()
//!     }
//! }
//! async fn post(State(hub): State<Hub>, headers: HeaderMap) -> Response {
//!     let session = headers.get("Mcp-Session-Id").and_then(|value| value.to_str().ok()).unwrap_or("none");
//!     reply(hub.attach(session))
//! }
//! ```
//!
//! # Accepted
//!
//! ```accepted
//! async fn listen(State(app): State<App>, headers: HeaderMap) -> Response {
//!     let Some(session) = headers.get("Mcp-Session-Id").and_then(|value| value.to_str().ok()) else {
//!         return StatusCode::BAD_REQUEST.into_response();
//!     };
//!     if !app.sessions.contains_key(session) {
//!         return StatusCode::NOT_FOUND.into_response();
//!     }
//!     let cursor = headers.get("Last-Event-ID").and_then(|value| value.to_str().ok());
//!     match app.event_store.events_after(session, cursor).await {
//!         Ok(events) => sse(events).into_response(),
//!         Err(_) => StatusCode::BAD_REQUEST.into_response(),
//!     }
//! }
//! ```
//!
//! # Instead
//!
//! Look the session up first and answer 404 where there is none; give the lookup of events both the session and the cursor.
//!
//! # Limits
//!
//! Only crates that read the session header of a request are judged. A check that a middleware or a proxy makes is not seen,
//! nor a comparison inside an event store that another crate brings.

mod adopted;
mod unasked;

use super::{Claim, Report};
use crate::client::Client;
use crate::facts::ir::Sort;
use crate::finding::Certainty;
use crate::scope::{At, Fx};
use std::collections::BTreeSet;
pub(super) use unasked::by_event_alone;
use unbroken_contract::Breach;

pub(super) fn check(client: &Client<'_>, report: &mut Report) {
    let mut adopting: BTreeSet<Fx> = BTreeSet::new();
    for fx in client.scope.all().filter(|fx| !client.scope.function(*fx).test) {
        for id in client.scope.body(fx).of(Sort::Call) {
            let at = At { fx, id: *id };
            if adopted::adopts(client, at) {
                adopting.insert(fx);
                state(client, at, "an unknown session id of a client becomes a new session", Certainty::Likely, report);
            }
        }
    }
    for fx in client.scope.all().filter(|fx| !client.scope.function(*fx).test) {
        let resumes = client.answers_resume(fx);
        if !resumes {
            for used in client.headers(fx) {
                ownerless(client, used.at, report);
            }
            continue;
        }
        for id in client.ids(fx) {
            let at = At { fx, id };
            if by_event_alone(client, at) {
                unbound(client, at, report);
            } else if adopted::answers(client, at, &adopting) {
                state(client, at, "a resume for an unknown session is answered by a new one", Certainty::Likely, report);
            } else if unasked::inert(client, at) {
                unread(client, at, report);
            } else {
                ownerless(client, at, report);
            }
        }
    }
}

/// The session header of a request is read, and no lookup is asked whether the session exists.
fn ownerless(client: &Client<'_>, at: At, report: &mut Report) {
    if unasked::unchecked(client, at) {
        let message = "a stream is opened for any session id, whether it exists or not";
        state(client, at, message, Certainty::Likely, report);
    }
}

/// The session may be asked for, but the cursor is looked up without it.
fn unbound(client: &Client<'_>, at: At, report: &mut Report) {
    let asked = unasked::asks_session(client, at.fx);
    report.claim(Claim {
        breach: Breach::UnownedResume,
        certainty: Certainty::Likely,
        at,
        message: "events are looked up by their id alone, whatever the session".into(),
        help: "look events up by the session and the cursor together, and refuse a cursor of another session",
        here: if asked { "the session is checked, but the cursor is not bound to it" } else { UNASKED }.into(),
        story: Vec::new(),
        client,
    });
}

/// The cursor goes nowhere that could replay by it.
fn unread(client: &Client<'_>, at: At, report: &mut Report) {
    report.claim(Claim {
        breach: Breach::UnownedResume,
        certainty: Certainty::Possible,
        at,
        message: "a cursor is taken and never looked up; only live events follow".into(),
        help: "replay the session's events after the cursor, or refuse a cursor that cannot be resumed",
        here: "nothing replays by it".into(),
        story: Vec::new(),
        client,
    });
}

const UNASKED: &str = "nothing asks who owns the session";

fn state(client: &Client<'_>, at: At, message: &str, certainty: Certainty, report: &mut Report) {
    report.claim(Claim {
        breach: Breach::UnownedResume,
        certainty,
        at,
        message: message.into(),
        help: "ask first whether this instance owns the session, and answer 404 where it does not",
        here: UNASKED.into(),
        story: Vec::new(),
        client,
    });
}
