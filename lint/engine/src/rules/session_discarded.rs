//! A session is dropped although the server never ended it.
//!
//! # What happens
//!
//! The client forgets its session id (or drops, cancels or rebuilds the handle that holds it) because a connection broke,
//! a stream ended, a request timed out or some status other than 404 came back. Or it overwrites the stored id with the
//! header of a response that has none.
//!
//! # Why it matters
//!
//! A dropped connection says nothing about the session (contract 1). The server still holds it, with the calls that run in
//! it; the new session knows nothing of them, so their outcome is lost and the caller asks again. Only a 404 to a request
//! that carried the id, a rejected resume, or the client's own DELETE ends a session (contract 3.1, 3.2).
//!
//! # Flagged
//!
//! ```flagged
//! struct Client { http: reqwest::Client, session_id: Mutex<Option<String>> }
//! impl Client {
//!     async fn post(&self, body: String) -> Result<Response, Error> {
//!         let mut request = self.http.post("/mcp").body(body);
//!         if let Some(id) = self.session_id.lock().clone() {
//!             request = request.header("Mcp-Session-Id", id);
//!         }
//!         match request.send().await {
//!             Ok(response) => Ok(response),
//!             Err(error) => {
//!                 *self.session_id.lock() = None;
//!                 Err(error)
//!             }
//!         }
//!     }
//! }
//! ```
//!
//! ```flagged
//! const SESSION: &str = "mcp-session-id";
//! struct Client { http: reqwest::Client, session: Option<String> }
//! impl Client {
//!     async fn post(&mut self, body: String) -> Result<(), Error> {
//!         let response = self.http.post("/mcp").header(SESSION, self.session.clone()).body(body).send().await?;
//!         self.session = response.headers().get(SESSION).and_then(|value| value.to_str().ok()).map(str::to_owned);
//!         Ok(())
//!     }
//! }
//! ```
//!
//! ```flagged
//! use rmcp::service::RunningService;
//! struct Host { client: Mutex<Option<RunningService<RoleClient, ()>>> }
//! impl Host {
//!     async fn call(&self, params: CallToolRequestParam) -> Result<CallToolResult, Error> {
//!         let mut guard = self.client.lock().await;
//!         match guard.as_ref().unwrap().call_tool(params).await {
//!             Ok(result) => Ok(result),
//!             Err(error) => {
//!                 guard.take();
//!                 Err(error.into())
//!             }
//!         }
//!     }
//! }
//! ```
//!
//! # Accepted
//!
//! ```accepted
//! struct Client { http: reqwest::Client, session_id: Mutex<Option<String>> }
//! impl Client {
//!     async fn post(&self, body: String) -> Result<Response, Error> {
//!         let mut request = self.http.post("/mcp").body(body);
//!         if let Some(id) = self.session_id.lock().clone() {
//!             request = request.header("Mcp-Session-Id", id);
//!         }
//!         let response = request.send().await?;
//!         if response.status() == StatusCode::NOT_FOUND {
//!             *self.session_id.lock() = None;
//!             return Err(Error::SessionExpired);
//!         }
//!         Ok(response)
//!     }
//!     async fn close(&self) {
//!         if let Some(id) = self.session_id.lock().take() {
//!             let _ = self.http.delete("/mcp").header("Mcp-Session-Id", id).send().await;
//!         }
//!     }
//! }
//! ```
//!
//! ```accepted
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
//! # Instead
//!
//! Keep the id and resume with `Last-Event-ID`; forget it, together with the cursor, only where the status is known to be 404
//! and the request carried the id.
//!
//! # Limits
//!
//! Conditions are followed through helpers, predicates, stored states, messages that one function sends and another matches, and up
//! to five callers by name; a decision taken in another workspace is not seen. A method whose name says close, shutdown, stop and
//! the like is trusted.

mod act;
mod purpose;
mod way;

use super::{Claim, Report, short};
use crate::client::{Client, Deeds};
use crate::facts::ir::{Body, Id, Kind, Sort};
use crate::finding::Certainty;
use crate::flow::cause::Why;
use crate::flow::{Known, known};
use crate::scope::{At, Fx};
pub(super) use act::{Act, act, clears};
pub(super) use purpose::{Purpose, purpose};
use std::collections::BTreeSet;
use unbroken_contract::Breach;
pub(super) use way::ways;
use way::{Way, Ways};

const HELP: &str = "forget the session id and its cursor only when a request that carried the id was answered 404";

pub(super) fn check(client: &Client<'_>, report: &mut Report) {
    let mut stories = Vec::new();
    for fx in client.functions() {
        let body = client.scope.body(fx);
        for id in body.of(Sort::Assign).iter().chain(body.of(Sort::Call)) {
            let at = At { fx, id: *id };
            match act(client, at) {
                Some(Act::Absence) => absence(client, at, report),
                Some(act) => stories.push(Story { client, act, place: at, ways: ways(client, act, at) }),
                None => {}
            }
        }
    }
    // Forgetting the id and making a new session in one arm is one story: the forgetting tells it.
    stories.sort_by_key(|story| (story.act, story.place));
    let mut told = BTreeSet::new();
    for story in &stories {
        story.tell(&mut told, report);
    }
}

/// Overwriting by absence is wrong after any response but that to `initialize`, whose id replaces the old one.
fn absence(client: &Client<'_>, at: At, report: &mut Report) {
    let deeds = client.own(at.fx);
    let name = client.scope.function(at.fx).name.to_lowercase();
    if client.greets(at.fx) && !deeds.has(Deeds::CALLS) || name.contains("initial") || name.contains("handshake") {
        return;
    }
    if empty_before(client, at) {
        return;
    }
    report.claim(Claim {
        breach: Breach::SessionDiscarded,
        certainty: Certainty::Proved,
        at,
        message: "the stored session id is erased by a response without the header".into(),
        help: "store the header only when it is present; an absent one says nothing about the session",
        here: "an absent header becomes an absent session".into(),
        story: Vec::new(),
        client,
    });
}

/// Whether nothing is stored yet where the header is: `if session.is_none() { session = header }`.
fn empty_before(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let Kind::Assign(left, _) = body.kind(at.id) else { return false };
    let Some(slot) = client.slot(At { id: *left, ..at }) else { return false };
    known(body, at.id).into_iter().any(|fact| {
        let (Known::True(test) | Known::False(test)) = fact else { return false };
        let empty = matches!(fact, Known::True(_));
        let asked = if empty { "is_none" } else { "is_some" };
        matches!(body.kind(test), Kind::Method(receiver, name, _)
            if &**name == asked && client.slot(At { id: *receiver, ..at }).as_ref() == Some(&slot))
    })
}

/// What is done to the session, and how control comes there.
struct Story<'a> {
    client: &'a Client<'a>,
    act: Act,
    place: At,
    ways: Ways,
}

impl Story<'_> {
    fn tell(&self, told: &mut BTreeSet<(Fx, Id)>, report: &mut Report) {
        for way in &self.ways.wrong {
            self.decision(way, told, report);
        }
        if self.ways.right || self.ways.wrong.is_empty() {
            return;
        }
        // The new session in the place of one that is forgotten in the same branch.
        let body = self.client.scope.body(self.place.fx);
        if self.act == Act::Rebuilt && told.contains(&(self.place.fx, arm(body, self.place.id))) {
            return;
        }
        let wrong = &self.ways.wrong;
        let far = wrong.len() > 1 || wrong.iter().all(|way| way.links.len() > 3);
        let apart = wrong.iter().all(|way| way.trigger().fx != self.place.fx);
        let by_state = wrong.iter().any(|way| way.by_state);
        if by_state && !self.client.written(self.place).is_empty() {
            self.whatever(self.place, "on a state that any failure sets", told, report);
        } else if self.act != Act::Rebuilt && far && apart {
            self.whatever(self.place, "whatever went wrong", told, report);
        }
        if let Some(link) = self.meeting() {
            self.whatever(link, "whatever went wrong", told, report);
        }
    }

    /// The call through which all ways come, where it stands between the deed and the decisions.
    fn meeting(&self) -> Option<At> {
        let [first, others @ ..] = self.ways.wrong.as_slice() else { return None };
        if others.is_empty() {
            return None;
        }
        let shared = |at: usize| others.iter().all(|way| way.links.get(at) == first.links.get(at));
        let shared = (1..first.links.len()).take_while(|at| shared(*at)).map(|at| first.links[at]);
        let between: Vec<At> = shared.filter(|link| link.fx != self.place.fx).collect();
        // Where a new session is made too, the story is told; else as near to the decisions as all ways still are one.
        let renews = |link: &&At| self.client.all(link.fx).has(Deeds::INITIALISES);
        let by_state = self.ways.wrong.iter().any(|way| way.by_state);
        let link = *between.iter().find(|link| !by_state && renews(link)).or(between.last())?;
        self.ways.wrong.iter().all(|way| way.trigger() != link).then_some(link)
    }

    /// A helper that no caller uses rightly: it cannot know whether the session is gone.
    fn whatever(&self, at: At, when: &str, told: &mut BTreeSet<(Fx, Id)>, report: &mut Report) {
        if !told.insert((at.fx, arm(self.client.scope.body(at.fx), at.id))) {
            return;
        }
        let words = self.act.words();
        let story = self.ways.wrong.iter().take(4);
        report.claim(Claim {
            breach: Breach::SessionDiscarded,
            certainty: Certainty::Likely,
            at,
            message: short(format!("the {words} {when}")),
            help: HELP,
            here: format!("the {words}"),
            story: story.map(|way| (way.trigger(), format!("called after {}", way.why.words()))).collect(),
            client: self.client,
        });
    }

    fn decision(&self, way: &Way, told: &mut BTreeSet<(Fx, Id)>, report: &mut Report) {
        let at = way.trigger();
        if !told.insert((at.fx, arm(self.client.scope.body(at.fx), at.id))) {
            return;
        }
        let certainty = match (way.sure, way.why) {
            (_, Why::Kind) => Certainty::Possible,
            (true, Why::Status | Why::Error | Why::End | Why::Timeout) => Certainty::Proved,
            _ => Certainty::Likely,
        };
        let mut story = vec![(way.cause, format!("reached after {}", way.why.words()))];
        let between = way.links.get(1..way.links.len() - 1).unwrap_or_default();
        story.extend(between.iter().rev().map(|link| (*link, "on the way there".to_owned())));
        if self.place != at {
            story.push((self.place, format!("here the {}", self.act.words())));
        }
        report.claim(Claim {
            breach: Breach::SessionDiscarded,
            certainty,
            at,
            message: short(format!("the {} after {}", self.act.words(), way.why.words())),
            help: HELP,
            here: format!("the {}", self.act.words()),
            story,
            client: self.client,
        });
    }
}

/// The branch that a node stands in: an arm, one side of a condition, a closure; else the whole body.
fn arm(body: &Body, id: Id) -> Id {
    let mut last = id;
    for (parent, child) in body.ancestors(id) {
        let branch = match body.kind(parent) {
            Kind::Match(_, arms) | Kind::Select(arms) => arms.iter().any(|arm| arm.body == child),
            Kind::If(cond, ..) => *cond != child,
            Kind::Let(_, _, Some(other)) => *other == child,
            Kind::Closure(..) | Kind::Loop(..) => true,
            _ => false,
        };
        if branch {
            return child;
        }
        last = parent;
    }
    last
}
