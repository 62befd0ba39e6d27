//! A resumed response is believed without comparing its session or placing its first event.
//!
//! # What happens
//!
//! The session id of any response replaces the stored one, or the id of any event replaces the cursor, without a comparison
//! with what is held.
//!
//! # Why it matters
//!
//! A 200 with a replayed stream is no proof of resumption (contract 3.4): behind a balancer another instance may have started
//! a new session, and its event ids mean other events. Adopting both hides the loss: the client goes on as if nothing was
//! missed, and its next cursor points into another history.
//!
//! # Flagged
//!
//! ```flagged
//! struct Client { http: reqwest::Client, session: Option<String> }
//! impl Client {
//!     async fn post(&mut self, body: String) -> Result<(), Error> {
//!         let response = self.http.post("/mcp").header("Mcp-Session-Id", self.session.clone()).body(body).send().await?;
//!         if let Some(id) = response.headers().get("Mcp-Session-Id").and_then(|value| value.to_str().ok()) {
//!             self.session = Some(id.to_owned());
//!         }
//!         Ok(())
//!     }
//! }
//! ```
//!
//! # Accepted
//!
//! ```accepted
//! struct Client { http: reqwest::Client, session: Option<String> }
//! impl Client {
//!     async fn post(&mut self, body: String) -> Result<(), Error> {
//!         let response = self.http.post("/mcp").header("Mcp-Session-Id", self.session.clone()).body(body).send().await?;
//!         if let Some(id) = response.headers().get("Mcp-Session-Id").and_then(|value| value.to_str().ok()) {
//!             if self.session.is_none() {
//!                 self.session = Some(id.to_owned());
//!             } else if self.session.as_deref() != Some(id) {
//!                 return Err(Error::SessionChanged);
//!             }
//!         }
//!         Ok(())
//!     }
//! }
//! ```
//!
//! # Instead
//!
//! Store the session id once, from the response to `initialize`, and compare that of every resumed response with it. Check that
//! the first event after a resume comes strictly after the cursor that was presented, before anything of the stream is acted on:
//! event ids are opaque and differ always, so at least no id that was seen already, the cursor's own among them, may come again.
//!
//! # Limits
//!
//! One finding per client type or per cursor. Whether event ids can be ordered at all is the server's affair: where they
//! cannot, the resumption stays unproved, and that is worth saying.

use super::{Claim, Report};
use crate::client::{Client, Deeds, Header};
use crate::facts::ir::{Id, Kind, Name, Op, Sort};
use crate::finding::Certainty;
use crate::flow::{Known, known};
use crate::scope::{At, Fx};
use std::collections::BTreeSet;
use unbroken_contract::Breach;

pub(super) fn check(client: &Client<'_>, report: &mut Report) {
    let mut sessions: BTreeSet<String> = BTreeSet::new();
    let mut cursors: BTreeSet<String> = BTreeSet::new();
    for fx in client.functions() {
        for id in client.scope.body(fx).of(Sort::Assign) {
            let at = At { fx, id: *id };
            if adopts_session(client, at) && sessions.insert(owner(client, at)) {
                let message = "any response's session id replaces the stored one, unchecked";
                state(client, at, message, "the header replaces what is held", SESSION, report);
            }
        }
    }
    for fx in client.functions() {
        for id in client.scope.body(fx).of(Sort::Assign) {
            let at = At { fx, id: *id };
            if adopts_cursor(client, at) && cursors.insert(cursor(client, at)) {
                let message = "a resume's first event becomes the cursor, though it may have been seen before";
                state(client, at, message, "no event is placed after the cursor that was presented", CURSOR, report);
            }
        }
    }
}

const SESSION: &str = "compare the id with the one held before it is stored, and treat a difference as a failed resume";

/// Ids of events are opaque and differ always: what can be told is whether one was seen before.
const CURSOR: &str =
    "after a resume compare the response's session id with the one held, and refuse a first event that was already seen";

fn state(client: &Client<'_>, at: At, message: &str, here: &str, help: &'static str, report: &mut Report) {
    report.claim(Claim {
        breach: Breach::UncheckedResume,
        certainty: Certainty::Likely,
        at,
        message: message.into(),
        help,
        here: here.into(),
        story: Vec::new(),
        client,
    });
}

/// The type, or the function and file, that one finding stands for.
fn owner(client: &Client<'_>, at: At) -> String {
    let function = client.scope.function(at.fx);
    format!("{} {}", client.scope.file(at.fx).path.display(), function.owner.as_ref().unwrap_or(&function.name))
}

/// One cursor: a field's type and file, or the function of a local.
fn cursor(client: &Client<'_>, at: At) -> String {
    let body = client.scope.body(at.fx);
    let local = matches!(body.kind(at.id), Kind::Assign(left, _) if body.local(body.peel(*left)).is_some());
    if local { format!("{} {}", owner(client, at), client.scope.function(at.fx).name) } else { owner(client, at) }
}

/// `slot = Some(header)`, where nothing asks what the slot holds.
fn adopts_session(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let Kind::Assign(left, right) = body.kind(at.id) else { return false };
    let Some([value]) = body.call_of(*right, "Some") else { return false };
    if !client.slot(At { id: *left, ..at }).is_some_and(|slot| client.keeps_session(&slot)) {
        return false;
    }
    let read = |origin: &At| client.headers(origin.fx).iter().any(|used| used.at == *origin && used.header == Header::Session && used.value.is_none());
    let own = client.own(at.fx);
    let first = own.has(Deeds::INITIALISES) && !own.has(Deeds::CALLS);
    !first && client.scope.origins(At { id: *value, ..at }).iter().any(read) && !asks(client, at)
}

/// Whether a condition on the way compares with what is held, or lets only the first id in. One that lets in what differs
/// only spares a write.
fn asks(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let held = |id: Id| client.holds_session(At { id, ..at });
    known(body, at.id).into_iter().any(|fact| {
        let (Known::True(id) | Known::False(id) | Known::Is(_, id) | Known::Not(_, id) | Known::Failed(id)) = fact;
        let differs = match (fact, body.kind(id)) {
            (Known::True(_), Kind::Binary(Op::Ne, _, value)) | (Known::False(_), Kind::Binary(Op::Eq, _, value)) => body.call_of(*value, "Some").is_some(),
            _ => false,
        };
        !differs && held(id)
    })
}

/// `cursor = event.id`, in code that resumes, where nothing is compared.
fn adopts_cursor(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let Kind::Assign(left, right) = body.kind(at.id) else { return false };
    if !is_cursor(client, At { id: *left, ..at }) {
        return false;
    }
    let from_event = |id: Id| body.any_of(Sort::Field, id, |id| matches!(body.kind(id), Kind::Field(_, name) if &**name == "id"));
    let traced = || client.scope.origins(At { id: *right, ..at }).iter().any(|origin| matches!(client.scope.kind(*origin), Kind::Field(_, name) if &**name == "id"));
    let bare = body.call_of(*right, "Some").map_or(*right, |args| args.first().copied().unwrap_or(*right));
    let traced = || traced() || client.scope.origins(At { id: bare, ..at }).iter().any(|origin| matches!(client.scope.kind(*origin), Kind::Field(_, name) if &**name == "id"));
    if !from_event(*right) && !traced() {
        return false;
    }
    resumes(client, at.fx) && !compares(client, at)
}

/// A slot whose value goes into `Last-Event-ID`, or that says so by its name.
pub(super) fn is_cursor(client: &Client<'_>, at: At) -> bool {
    if client.slot(at).is_some_and(|slot| client.cursors.contains(&slot)) {
        return true;
    }
    let body = client.scope.body(at.fx);
    let name: Option<&Name> = match body.kind(body.peel(at.id)) {
        Kind::Field(_, name) => Some(name),
        Kind::Path(path) => path.last(),
        _ => None,
    };
    name.is_some_and(|name| name.contains("last_event_id"))
}

/// Whether the function, or a sibling of its type, opens a stream with a cursor.
pub(super) fn resumes(client: &Client<'_>, fx: Fx) -> bool {
    let mcp = client.in_scope(fx) || leads_to_session(client, fx, 3);
    if !mcp {
        return false;
    }
    if client.all(fx).has(Deeds::CURSOR) || client.type_deeds(fx).has(Deeds::CURSOR) {
        return true;
    }
    let body = client.scope.body(fx);
    body.of(Sort::Call).iter().any(|id| match body.kind(*id) {
        Kind::Method(_, name, args) => name.contains("reconnect") && !args.is_empty() || name.contains("retry_connection"),
        _ => false,
    })
}

/// Whether a call of the function, by whatever implementation, leads to a request that carries the session.
fn leads_to_session(client: &Client<'_>, fx: Fx, depth: u8) -> bool {
    if client.own(fx).has(Deeds::SESSION) {
        return true;
    }
    let Some(depth) = depth.checked_sub(1) else { return false };
    client.scope.called_by(fx).any(|callee| leads_to_session(client, callee, depth))
}

fn compares(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    body.of(Sort::Binary).iter().any(|id| match body.kind(*id) {
        Kind::Binary(Op::Eq | Op::Ne | Op::Less | Op::Greater, a, b) => [a, b].into_iter().any(|side| is_cursor(client, At { id: *side, ..at })),
        _ => false,
    })
}
