//! A session answered with 404 is used again and nothing re-initializes.
//!
//! # What happens
//!
//! A request carries the session id, and its 404 is not told from other failures: it becomes one error among many, is
//! swallowed by `error_for_status`, is read as "no stream offered", or the status is never looked at. The id stays.
//!
//! # Why it matters
//!
//! A 404 to a request that carried the id is the server's only way to say that the session is over, and the client MUST then
//! start a new one without the id (contract 3.1, 3.2). A client that does not notice stays broken until it is restarted:
//! this is the most reported fault of MCP clients.
//!
//! # Flagged
//!
//! ```flagged
//! struct Client { http: reqwest::Client, session: Option<String> }
//! impl Client {
//!     async fn post(&self, body: String) -> Result<Value, Error> {
//!         let mut request = self.http.post("/mcp").body(body);
//!         if let Some(id) = &self.session {
//!             request = request.header("Mcp-Session-Id", id);
//!         }
//!         let response = request.send().await?;
//!         if !response.status().is_success() {
//!             return Err(Error::Http(response.status().to_string()));
//!         }
//!         response.json().await
//!     }
//! }
//! ```
//!
//! ```flagged
//! async fn listen(http: &reqwest::Client, session: &str) -> Result<Response, reqwest::Error> {
//!     http.get("/mcp").header("mcp-session-id", session).send().await?.error_for_status()
//! }
//! ```
//!
//! # Accepted
//!
//! ```accepted
//! struct Client { http: reqwest::Client, session: Option<String> }
//! impl Client {
//!     async fn post(&self, body: String) -> Result<Value, Error> {
//!         let response = self.http.post("/mcp").header("Mcp-Session-Id", self.session.clone()).body(body).send().await?;
//!         if response.status() == StatusCode::NOT_FOUND {
//!             return Err(Error::SessionExpired);
//!         }
//!         if !response.status().is_success() {
//!             return Err(Error::Http(response.status().to_string()));
//!         }
//!         response.json().await
//!     }
//!     async fn close(&self) -> Result<(), Error> {
//!         self.http.delete("/mcp").header("Mcp-Session-Id", self.session.clone()).send().await?.error_for_status()?;
//!         Ok(())
//!     }
//! }
//! ```
//!
//! ```accepted
//! struct Client { http: reqwest::Client, session: Option<String> }
//! impl Client {
//!     async fn initialize(&mut self) -> Result<(), Error> {
//!         let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize" });
//!         let response = self.http.post("/mcp").headers(Self::headers(None)).json(&body).send().await?;
//!         if !response.status().is_success() {
//!             return Err(Error::Http(response.status().to_string()));
//!         }
//!         self.session = response.headers().get("Mcp-Session-Id").and_then(|id| id.to_str().ok()).map(str::to_owned);
//!         Ok(())
//!     }
//!     async fn post(&self, body: String) -> Result<Response, Error> {
//!         let response = self.http.post("/mcp").headers(Self::headers(self.session.as_deref())).body(body).send().await?;
//!         if response.status() == StatusCode::NOT_FOUND {
//!             return Err(Error::SessionExpired);
//!         }
//!         Ok(response)
//!     }
//!     fn headers(session: Option<&str>) -> HeaderMap {
//!         let mut headers = HeaderMap::new();
//!         if let Some(session) = session {
//!             headers.insert("Mcp-Session-Id", HeaderValue::from_str(session).expect("the server sent it"));
//!         }
//!         headers
//!     }
//! }
//! ```
//!
//! ```accepted
//! struct Client { http: reqwest::Client, session: Option<String> }
//! impl Client {
//!     async fn call(&mut self, body: String) -> Result<Value, Error> {
//!         match self.post(body).await {
//!             Ok(value) => Ok(value),
//!             Err(_) => {
//!                 self.session = None;
//!                 self.initialize().await?;
//!                 Err(Error::OutcomeUnknown)
//!             }
//!         }
//!     }
//!     async fn post(&self, body: String) -> Result<Value, Error> {
//!         let response = self.http.post("/mcp").header("Mcp-Session-Id", self.session.clone()).body(body).send().await?;
//!         if !response.status().is_success() {
//!             return Err(Error::Http(response.status().to_string()));
//!         }
//!         response.json().await
//!     }
//! }
//! ```
//!
//! # Instead
//!
//! Test the status for 404 before anything else, where the request carried the id; give it an error of its own, and let the
//! owner of the session drop the id and its cursor and initialize again, once.
//!
//! # Limits
//!
//! A 404 that a caller recognises, up to three calls away, counts as recognised, also by text. Where every caller begins a new
//! session after any error at all, none is kept: that is `session-discarded`. A status that another crate
//! tests is not seen: mark the error type there.

mod dropped;
mod recognised;
mod restarted;
mod spared;
mod swallowed;

use super::{Claim, Report};
use crate::client::{Client, Deeds};
use crate::facts::ir::{Arm, Body, Id, Kind, Op, PatKind};
use crate::finding::Certainty;
use crate::flow::leaves;
use crate::scope::{At, Fx};
use unbroken_contract::Breach;

const HELP: &str = "tell a 404 to a request with the session id from other failures, then drop the id and initialize again";

pub(super) fn check(client: &Client<'_>, report: &mut Report) {
    for fx in client.functions() {
        swallowed::check(client, fx, report);
        if !carries(client, fx) {
            continue;
        }
        if client.own(fx).has(Deeds::TELLS_404) {
            shared_arms(client, fx, report);
            continue;
        }
        if !exchanges(client, fx) || spared::spared(client, fx) || recognised::recognised(client, fx) || restarted::restarted(client, fx, 3) {
            continue;
        }
        if let Some((id, what)) = merges(client, fx) {
            state(client, At { fx, id }, what, report);
        }
    }
}

fn state(client: &Client<'_>, at: At, what: &str, report: &mut Report) {
    report.claim(Claim {
        breach: Breach::ExpiredSessionKept,
        certainty: Certainty::Likely,
        at,
        message: format!("a 404 to the session {what}"),
        help: HELP,
        here: format!("a 404 {what}"),
        story: client.headers(at.fx).iter().filter(|used| used.value.is_some()).take(1).map(|used| (used.at, "the request carries the session".into())).collect(),
        client,
    });
}

/// Whether requests of the function carry the session: it sets the header, or builds the request by a helper that does.
fn carries(client: &Client<'_>, fx: Fx) -> bool {
    if client.own(fx).has(Deeds::SESSION) {
        return true;
    }
    let helper = |callee: &Fx, deep: bool| {
        let own = client.own(*callee);
        own.has(Deeds::SESSION) && (deep || !own.has(Deeds::SENDS) || returns_request(client, *callee) || returns_response(client, *callee))
    };
    client.ids(fx).flat_map(|id| given_session(client, At { fx, id })).any(|callee| {
        helper(callee, false) || client.own(*callee).has(Deeds::TELLS_404) && client.all(*callee).has(Deeds::SESSION) && returns_response(client, *callee)
            || !client.own(*callee).has(Deeds::SENDS)
                && client.ids(*callee).flat_map(|id| client.scope.callees(At { fx: *callee, id })).any(|inner| helper(inner, false) && !client.own(*inner).has(Deeds::SENDS))
    })
}

/// The callees at a call that does not withhold the session from them: `headers(None)`.
fn given_session<'a>(client: &'a Client<'_>, at: At) -> impl Iterator<Item = &'a Fx> {
    client.scope.callees(at).iter().filter(move |callee| !swallowed::sessionless(client, at, **callee))
}

fn returns_response(client: &Client<'_>, fx: Fx) -> bool {
    client.scope.function(fx).ret.has("Response")
}

/// A helper that only builds the request.
fn returns_request(client: &Client<'_>, fx: Fx) -> bool {
    let ret = &client.scope.function(fx).ret;
    ["RequestBuilder", "Request", "Builder", "HeaderMap"].iter().any(|name| ret.has(name))
}

/// Whether the function sends itself, or gets a response from a helper that sends.
fn exchanges(client: &Client<'_>, fx: Fx) -> bool {
    let helper = |callee: &Fx| client.own(*callee).has(Deeds::SENDS) && returns_response(client, *callee) && merges(client, *callee).is_none();
    client.own(fx).has(Deeds::SENDS) || client.ids(fx).flat_map(|id| client.scope.callees(At { fx, id })).any(helper)
}

/// The place where a 404 becomes one failure among others, or where the answer is read whatever the status.
fn merges(client: &Client<'_>, fx: Fx) -> Option<(Id, &'static str)> {
    let body = client.scope.body(fx);
    let mut found: Option<(Id, &'static str)> = None;
    let mut read: Option<(Id, &'static str)> = None;
    let earlier = spared::handshake(client, fx);
    for id in body.ids() {
        if earlier.is_some_and(|first| body.range(id) < body.range(first)) {
            continue;
        }
        let here = match body.kind(id) {
            Kind::Method(_, name, _) if name.starts_with("error_for_status") => (id, "is swallowed by error_for_status"),
            Kind::If(cond, then, other) => {
                let refused = refuses(body, *cond);
                let turns = leaves(body, *then) || other.is_some_and(|other| leaves(body, other));
                let fails = |id: Id| body.inside(id).iter().any(|id| body.call_of(*id, "Err").is_some());
                let yields = other.is_some_and(|other| fails(*then) || fails(other));
                let renewed = || renews(client, fx, *then) || other.is_some_and(|other| renews(client, fx, other));
                if !refused || !(turns || yields) || renewed() {
                    continue;
                }
                (*cond, "is one failure among others")
            }
            Kind::Match(value, arms) if status_value(body, *value) => {
                let Some(rest) = arms.iter().find(|arm| matches!(body.pat(arm.pat).kind, PatKind::Wild | PatKind::Bind(..)) && arm.guard.is_none()) else {
                    continue;
                };
                (rest.body, "is one failure among others")
            }
            Kind::Match(value, arms) => {
                let Some(rest) = other_answers(body, arms).filter(|rest| is_response(client, At { fx, id: *value }) && !renews(client, fx, *rest)) else {
                    continue;
                };
                (rest, "is one failure among others")
            }
            Kind::Method(receiver, name, args) if args.is_empty() && reads_body(name) => {
                if read.is_none() && !hands_status_on(body) && is_response(client, At { fx, id: *receiver }) {
                    read = Some(match tested_by(client, At { fx, id: *receiver }) {
                        Some(test) => (test, "is one failure among others"),
                        None => (id, "is read as if it were an answer"),
                    });
                }
                continue;
            }
            _ => continue,
        };
        if found.is_none_or(|(old, _)| body.range(here.0) < body.range(old)) {
            found = Some(here);
        }
    }
    found.or(read)
}

/// The arm of all other answers beside one for success: `Ok(r) if r.status().is_success() => …, Ok(r) => …`.
fn other_answers(body: &Body, arms: &[Arm]) -> Option<Id> {
    let answered = |arm: &&Arm| body.mentions(arm.pat, "Ok");
    let success = |guard: Id| matches!(body.kind(guard), Kind::Method(_, name, _) if &**name == "is_success");
    let mut answers = arms.iter().filter(answered);
    answers.next()?.guard.filter(|guard| success(*guard))?;
    let rest = answers.next().filter(|arm| arm.guard.is_none())?;
    Some(rest.body)
}

/// Whether the status goes to the caller as a part of what is returned.
fn hands_status_on(body: &Body) -> bool {
    body.ids().any(|id| match body.kind(id) {
        Kind::Struct(_, fields, _) => fields.iter().any(|(_, value)| status_value(body, *value)),
        Kind::Tuple(parts) => {
            let asked = body.node(id).parent.is_some_and(|parent| matches!(body.kind(parent), Kind::Match(value, _) if *value == id));
            !asked && parts.iter().any(|part| status_value(body, *part))
        }
        _ => false,
    })
}

fn reads_body(name: &str) -> bool {
    matches!(name, "json" | "text" | "bytes" | "into_json" | "into_string" | "into_body" | "read_json" | "read_to_string" | "collect")
}

/// Whether the value is an HTTP response: it comes from a send, or its type says so.
fn is_response(client: &Client<'_>, at: At) -> bool {
    if client.scope.type_of(at).is_some_and(|ty| ty.contains("Response")) {
        return true;
    }
    client.scope.origins(at).into_iter().any(|origin| match client.scope.kind(origin) {
        Kind::Method(_, name, args) => (&**name == "send" && args.is_empty()) || name.starts_with("json_body") || client.deeds_of(origin).has(Deeds::SENDS),
        Kind::Call(..) => client.deeds_of(origin).has(Deeds::SENDS),
        _ => false,
    })
}

/// The call that let the response through: a helper of the crate that is handed it and tests its status.
fn tested_by(client: &Client<'_>, at: At) -> Option<Id> {
    let handed = |fx: &Fx| client.scope.function(*fx).params.iter().any(|param| param.ty.has("Response"));
    let tests = |fx: &Fx| client.own(*fx).has(Deeds::STATUS) && returns_response(client, *fx) && handed(fx);
    let through = |origin: &At| origin.fx == at.fx && client.scope.callees(*origin).iter().any(tests);
    client.scope.origins(at).into_iter().find(through).map(|origin| origin.id)
}

/// A condition under which the response is refused, whatever its status: `!status.is_success()`, `status >= 400`.
fn refuses(body: &Body, cond: Id) -> bool {
    let test = |id: Id| match body.kind(id) {
        Kind::Method(_, name, _) => matches!(&**name, "is_success" | "is_client_error"),
        Kind::Binary(Op::Ne, a, b) => [a, b].iter().any(|side| ok_status(body, **side)),
        Kind::Binary(Op::Greater, a, b) => [a, b].iter().any(|side| matches!(body.kind(**side), Kind::Int(300..=400))),
        _ => false,
    };
    match body.kind(cond) {
        Kind::And(a, b) | Kind::Or(a, b) => refuses(body, *a) || refuses(body, *b),
        Kind::Not(a) => refuses(body, *a),
        _ => test(cond),
    }
}

fn ok_status(body: &Body, id: Id) -> bool {
    match body.kind(id) {
        Kind::Int(200) => true,
        Kind::Path(path) => path.last().is_some_and(|last| &**last == "OK"),
        _ => false,
    }
}

fn status_value(body: &Body, id: Id) -> bool {
    match body.kind(body.peel(id)) {
        Kind::Method(_, name, args) => args.is_empty() && matches!(&**name, "status" | "as_u16"),
        Kind::Path(path) => path.last().is_some_and(|last| &**last == "status" || &**last == "status_code"),
        _ => false,
    }
}

/// A 404 that shares its arm with 405: read as "no stream offered", the session stays.
fn shared_arms(client: &Client<'_>, fx: Fx, report: &mut Report) {
    if spared::deletes_only(client, fx) {
        return;
    }
    let body = client.scope.body(fx);
    for id in body.ids() {
        match body.kind(id) {
            Kind::Match(_, arms) => {
                for arm in arms.iter().filter(|arm| arm.guard.is_none()) {
                    let both = body.mentions(arm.pat, "NOT_FOUND") && body.mentions(arm.pat, "METHOD_NOT_ALLOWED");
                    if both && !renews(client, fx, arm.body) {
                        state(client, At { fx, id: arm.body }, "is read as 405, no stream offered", report);
                    }
                }
            }
            Kind::If(cond, then, _) => {
                let both = alternatives(body, *cond);
                if both && !renews(client, fx, *then) {
                    state(client, At { fx, id: *cond }, "is read as 405, no stream offered", report);
                }
            }
            _ => {}
        }
    }
}

/// `status == NOT_FOUND || status == METHOD_NOT_ALLOWED`, each alone.
fn alternatives(body: &Body, cond: Id) -> bool {
    let names = |id: Id, name: &str| {
        matches!(body.kind(id), Kind::Binary(Op::Eq, a, b) if [a, b].iter().any(|side| body.last_segment(**side).is_some_and(|last| &**last == name)))
    };
    let mut parts = vec![cond];
    let (mut gone, mut refused) = (false, false);
    while let Some(id) = parts.pop() {
        match body.kind(id) {
            Kind::Or(a, b) => parts.extend([*a, *b]),
            _ => {
                gone |= names(id, "NOT_FOUND");
                refused |= names(id, "METHOD_NOT_ALLOWED");
            }
        }
    }
    gone && refused
}

/// Whether a branch drops the session, starts a new one, or says by its error that the session is over.
fn renews(client: &Client<'_>, fx: Fx, branch: Id) -> bool {
    let body = client.scope.body(fx);
    body.inside(branch).into_iter().any(|id| {
        let at = At { fx, id };
        let cleared = match body.kind(id) {
            Kind::Assign(left, _) => client.slot(At { fx, id: *left }).is_some_and(|slot| client.keeps_session(&slot)),
            Kind::Method(receiver, name, _) => {
                matches!(&**name, "take" | "remove" | "clear" | "cancel") && client.slot(At { fx, id: *receiver }).is_some_and(|slot| client.keeps_session(&slot))
            }
            Kind::Path(path) => path.last().is_some_and(|last| last.contains("Expired") || last.contains("StaleSession") || last.contains("SessionNotFound")),
            _ => false,
        };
        cleared || client.deeds_of(at).has(Deeds::INITIALISES) || dropped::drops(client, at)
    })
}

