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
//! Conditions are followed through helpers, predicates and up to four callers by name; a decision that travels through a
//! channel, a stored flag or another crate is not seen. A method whose name says close, shutdown, stop and the like is trusted.

use super::{Claim, Report, short};
use crate::client::{Client, Deeds, Slot};
use crate::facts::ir::{Id, Kind};
use crate::finding::Certainty;
use crate::flow::cause::{Cause, Why, cause};
use crate::flow::{Known, known};
use crate::scope::{At, Binding, Fx};
use std::collections::BTreeSet;
use unbroken_contract::Breach;

/// More ways to one place than this are not followed.
const WAYS: usize = 512;
const HELP: &str = "Forget the session id and its cursor only when a request that carried the id was answered 404.";

pub(super) fn check(client: &Client<'_>, report: &mut Report) {
    for fx in client.functions() {
        for id in client.ids(fx) {
            let at = At { fx, id };
            let Some(act) = act(client, at) else { continue };
            if let Act::Absence = act {
                absence(client, at, report);
                continue;
            }
            let mut judge = Judge { client, act, place: at, seen: BTreeSet::new(), through_state: false, triggers: Vec::new(), report };
            judge.judge(at, 5, true);
            judge.state_rebuild();
        }
    }
}

/// What is done to the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    /// The id or handle is forgotten.
    Cleared,
    /// The id is replaced by a header that may be absent.
    Absence,
    /// The handle is ended.
    Ended,
    /// A new session takes the old one's place.
    Rebuilt,
}

impl Act {
    const fn words(self) -> &'static str {
        match self {
            Act::Cleared => "session is forgotten",
            Act::Absence => "session id is overwritten",
            Act::Ended => "session's handle is ended",
            Act::Rebuilt => "session is replaced by a new one",
        }
    }
}

fn act(client: &Client<'_>, at: At) -> Option<Act> {
    let body = client.scope.body(at.fx);
    let to = |id| At { id, ..at };
    let keeps = |id: Id| client.slot(to(id)).is_some_and(|slot| client.keeps_session(&slot));
    match body.kind(at.id) {
        Kind::Assign(left, right) if keeps(*left) => {
            if body.is_none(*right) {
                Some(Act::Cleared)
            } else if optional_header(client, to(*right), 8) {
                Some(Act::Absence)
            } else {
                None
            }
        }
        Kind::Method(receiver, name, args) => match (&**name, args.as_slice()) {
            ("take", []) | ("clear", []) | ("drain", _) | ("retain", [_]) | ("remove" | "swap_remove", [_]) if keeps(*receiver) => {
                Some(Act::Cleared)
            }
            ("store" | "swap" | "replace" | "set", [value]) if body.is_none(body.peel(*value)) && keeps(*receiver) => Some(Act::Cleared),
            ("cancel" | "abort", []) if ends_session(client, to(*receiver)) => Some(Act::Ended),
            ("cancel" | "close" | "shutdown", []) if is_handle(client, to(*receiver)) => Some(Act::Ended),
            _ if makes_session(client, at) => Some(Act::Rebuilt),
            _ => None,
        },
        Kind::Call(callee, args) => {
            let name = body.last_segment(*callee)?;
            match (&**name, args.as_slice()) {
                ("take", [slot]) | ("replace", [slot, _]) if keeps(*slot) => Some(Act::Cleared),
                _ if makes_session(client, at) => Some(Act::Rebuilt),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether the value is a session header that may be absent, with nothing to take the absence away.
fn optional_header(client: &Client<'_>, at: At, depth: u8) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let body = client.scope.body(at.fx);
    let inner = |id: Id| optional_header(client, At { id, ..at }, depth);
    match body.kind(at.id) {
        Kind::Await(a) | Kind::Ref(a) | Kind::Deref(a) => inner(*a),
        Kind::Path(path) if path.len() == 1 => match client.scope.binding(at.fx, &path[0], at.id) {
            Some(Binding::Let { init: Some(init), pat }) => {
                matches!(body.pat(pat).kind, crate::facts::ir::PatKind::Bind(_, None)) && inner(init)
            }
            _ => false,
        },
        Kind::Method(receiver, name, _) => {
            let read = client.headers(at.fx).iter().any(|used| used.at == at && used.value.is_none());
            read && used_session(client, at)
                || matches!(
                    &**name,
                    "map" | "and_then" | "ok" | "cloned" | "filter" | "as_ref" | "as_deref" | "to_owned" | "clone" | "flatten" | "into"
                ) && inner(*receiver)
        }
        Kind::Block(stmts, true) => stmts.last().is_some_and(|last| inner(*last)),
        _ => false,
    }
}

fn used_session(client: &Client<'_>, at: At) -> bool {
    client.headers(at.fx).iter().any(|used| used.at == at && used.header == crate::client::Header::Session)
}

/// A token of the type that owns the session: cancelling it ends everything that runs in the session.
fn ends_session(client: &Client<'_>, at: At) -> bool {
    let mut open = vec![(at, 3_u8)];
    while let Some((at, depth)) = open.pop() {
        for origin in client.scope.origins(at) {
            let body = client.scope.body(origin.fx);
            match body.kind(origin.id) {
                Kind::Field(base, name) => {
                    let Some(ty) = client.scope.type_of(At { id: *base, ..origin }) else { continue };
                    let owns = client.sessions.iter().any(|slot| matches!(slot, Slot::Field(owner, _) if *owner == ty));
                    let token = client.scope.field_type(&ty, name).is_some_and(|text| text.has("CancellationToken"));
                    if owns && token {
                        return true;
                    }
                }
                Kind::Method(..) if depth > 0 => {
                    let roots = client.scope.callees(origin).iter().filter_map(|fx| Some(At { fx: *fx, id: client.scope.body(*fx).root()? }));
                    open.extend(roots.map(|root| (root, depth - 1)));
                }
                _ => {}
            }
        }
    }
    false
}

fn is_handle(client: &Client<'_>, at: At) -> bool {
    let telling = |ty: &crate::facts::ir::Name| client.handle_types.contains(ty) && &**ty != "Client";
    client.scope.type_of(at).is_some_and(|ty| telling(&ty)) || client.slot(at).is_some_and(|slot| client.handles.contains(&slot))
}

/// A call that makes a new session and whose result is kept, here or by the callee.
fn makes_session(client: &Client<'_>, at: At) -> bool {
    let deeds = client.deeds_of(at);
    deeds.has(Deeds::INITIALISES) && !deeds.has(Deeds::CALLS)
}

/// Overwriting by absence is wrong after any response but that to `initialize`, whose id replaces the old one.
fn absence(client: &Client<'_>, at: At, report: &mut Report) {
    let deeds = client.own(at.fx);
    let name = client.scope.function(at.fx).name.to_lowercase();
    if deeds.has(Deeds::INITIALISES) && !deeds.has(Deeds::CALLS) || name.contains("initial") || name.contains("handshake") {
        return;
    }
    report.claim(Claim {
        breach: Breach::SessionDiscarded,
        certainty: Certainty::Proved,
        at,
        message: "the stored session id is erased by a response without the header".into(),
        help: "Store the header only when it is present; an absent one says nothing about the session.",
        here: "an absent header becomes an absent session".into(),
        story: Vec::new(),
        client,
    });
}

struct Judge<'a, 'r> {
    client: &'a Client<'a>,
    act: Act,
    place: At,
    seen: BTreeSet<At>,
    /// Whether the decision travelled through a stored state.
    through_state: bool,
    /// The places where it was taken.
    triggers: Vec<At>,
    report: &'r mut Report,
}

impl Judge<'_, '_> {
    /// Judges the way to `at`; where nothing is known there, the ways to the callers.
    fn judge(&mut self, at: At, depth: u8, sure: bool) {
        if self.seen.len() >= WAYS || !self.seen.insert(at) || self.on_purpose(at) {
            return;
        }
        let (place, why) = match cause(self.client.scope, at) {
            Cause::Gone(_) | Cause::Leaving => return,
            Cause::Other(place, why) if self.counts(at, place, why) => (place, why),
            Cause::Mixed(place, why) => (place, why),
            Cause::Other(..) | Cause::Unknown => {
                let Some(depth) = depth.checked_sub(1) else { return };
                for writer in self.client.written(at) {
                    self.through_state = true;
                    self.judge(writer, depth, false);
                }
                for caller in self.client.scope.callers(at.fx).to_vec() {
                    if !self.client.scope.function(caller.at.fx).test {
                        self.judge(caller.at, depth, sure && caller.sure);
                    }
                }
                return;
            }
        };
        self.triggers.push(at);
        self.state(at, place, why, sure);
    }

    /// A rebuild that only asks a stored state: it cannot know whether the session is gone.
    fn state_rebuild(&mut self) {
        if !self.through_state || self.client.written(self.place).is_empty() || self.triggers.is_empty() || self.triggers.contains(&self.place) {
            return;
        }
        let story = self.triggers.iter().take(4).map(|at| (*at, "this puts it into that state".to_owned())).collect();
        self.report.claim(Claim {
            breach: Breach::SessionDiscarded,
            certainty: Certainty::Likely,
            at: self.place,
            message: format!("the {} on a state that any failure sets", self.act.words()),
            help: HELP,
            here: format!("the {}", self.act.words()),
            story,
            client: self.client,
        });
    }

    fn state(&mut self, at: At, place: At, why: Why, sure: bool) {
        let certainty = match (sure, why) {
            (true, Why::Status | Why::Error | Why::End | Why::Timeout) => Certainty::Proved,
            _ => Certainty::Likely,
        };
        let mut story = vec![(place, format!("reached after {}", why.words()))];
        if self.place != at {
            story.push((self.place, format!("here the {}", self.act.words())));
        }
        self.report.claim(Claim {
            breach: Breach::SessionDiscarded,
            certainty,
            at,
            message: short(format!("the {} after {}", self.act.words(), why.words())),
            help: HELP,
            here: format!("the {}", self.act.words()),
            story,
            client: self.client,
        });
    }

    /// Whether an error counts: it must come from the session's traffic, not from making the session.
    fn counts(&self, at: At, place: At, why: Why) -> bool {
        if self.connecting(at, place) {
            return false;
        }
        if matches!(why, Why::Status | Why::End | Why::Code) {
            return self.client.in_scope(place.fx);
        }
        let on_handle = |origin: &At| match self.client.scope.kind(*origin) {
            Kind::Method(receiver, ..) => is_handle(self.client, At { id: *receiver, ..*origin }),
            _ => false,
        };
        let traffic = Deeds::SENDS.with(Deeds::USES_HANDLE).with(Deeds::READS);
        let origins = self.client.scope.origins(place);
        if origins.iter().any(|origin| on_handle(origin) || self.client.deeds_of(*origin).only(traffic) != Deeds::default()) {
            return true;
        }
        // An error that was handed in, or comes from a call that cannot be followed, of code that is about the session.
        let unknown = |origin: &At| match self.client.scope.kind(*origin) {
            Kind::Path(_) => true,
            Kind::Method(..) | Kind::Call(..) => self.client.scope.callees(*origin).is_empty(),
            _ => false,
        };
        self.act != Act::Rebuilt && (self.handles(at.fx) || self.client.in_scope(place.fx)) && origins.iter().any(unknown)
    }

    /// Whether the function uses a handle's slot: there an error that cannot be followed is most likely the handle's.
    fn handles(&self, fx: Fx) -> bool {
        let owner = self.client.scope.function(fx).owner.clone();
        self.client.handles.iter().any(|slot| matches!(slot, Slot::Field(ty, _) if Some(ty) == owner.as_ref()))
    }

    /// Whether the failing thing is the making of the session itself, or a fresh session's first use.
    fn connecting(&self, at: At, place: At) -> bool {
        let scope = self.client.scope;
        let makes = |origin: At| {
            let deeds = self.client.deeds_of(origin);
            deeds.has(Deeds::INITIALISES) && !deeds.has(Deeds::CALLS)
        };
        if scope.origins(place).into_iter().any(makes) {
            return true;
        }
        let body = scope.body(at.fx);
        let before = body.ids().filter(|id| body.range(*id) < body.range(at.id) && *id != at.id);
        before.into_iter().any(|id| makes(At { id, ..at }) && !body.within(at.id, id) && self.unconditional(At { id, ..at }))
    }

    /// Whether a call that makes a session does so whatever is held already.
    fn unconditional(&self, at: At) -> bool {
        let client = self.client;
        let asks = |fx: Fx, id: Id| {
            known(client.scope.body(fx), id).into_iter().any(|fact| {
                let (Known::True(id) | Known::False(id) | Known::Is(_, id) | Known::Not(_, id) | Known::Failed(id)) = fact;
                let inside = client.scope.body(fx).inside(id);
                inside.into_iter().any(|id| client.slot(At { fx, id }).is_some_and(|slot| client.keeps_session(&slot)))
                    || client.scope.origins(At { fx, id }).iter().any(|origin| client.slot(*origin).is_some_and(|slot| client.keeps_session(&slot)))
            })
        };
        if asks(at.fx, at.id) {
            return false;
        }
        !client.scope.callees(at).iter().any(|fx| {
            client.ids(*fx).any(|id| client.deeds_of(At { fx: *fx, id }).has(Deeds::INITIALISES) && asks(*fx, id))
        })
    }

    /// Whether the function ends, replaces or switches the session on purpose.
    fn on_purpose(&self, at: At) -> bool {
        let function = self.client.scope.function(at.fx);
        if function.of_trait.as_deref() == Some("Drop") || self.client.own(at.fx).has(Deeds::DELETE) {
            return true;
        }
        purposeful(&function.name) || (self.act == Act::Rebuilt && starts(&function.name)) || self.sessionless(at)
    }

    /// A revision without sessions: there an absent id is right.
    fn sessionless(&self, at: At) -> bool {
        let body = self.client.scope.body(at.fx);
        known(body, at.id).into_iter().any(|fact| {
            let (Known::True(id) | Known::False(id) | Known::Is(_, id) | Known::Not(_, id) | Known::Failed(id)) = fact;
            body.inside(id).into_iter().any(|id| {
                let name = match body.kind(id) {
                    Kind::Path(path) => path.last().cloned(),
                    Kind::Method(_, name, _) | Kind::Field(_, name) => Some(name.clone()),
                    _ => None,
                };
                name.is_some_and(|name| {
                    let name = name.to_lowercase();
                    ["stateless", "sessionless", "modern", "draft"].iter().any(|word| name.contains(word))
                })
            })
        })
    }
}

/// A name that orders an end or a change: `close`, `stop_server`, not `on_close`, `disconnected`.
fn purposeful(name: &str) -> bool {
    let name = name.to_lowercase();
    let mut words = name.split('_').peekable();
    if matches!(words.peek(), Some(&"on" | &"handle" | &"maybe")) {
        return false;
    }
    words.any(|word| {
        matches!(
            word,
            "close" | "shutdown" | "shut" | "disconnect" | "terminate" | "delete" | "drop" | "cancel" | "stop" | "logout" | "teardown"
                | "cleanup" | "remove" | "unregister" | "quit" | "exit" | "kill" | "reload" | "configure" | "reconcile" | "apply" | "set"
                | "disable" | "uninstall" | "sync" | "refresh" | "abort" | "clear" | "new"
        )
    })
}

/// A name of the first making of a session, where probing and falling back are right.
fn starts(name: &str) -> bool {
    name.to_lowercase().split('_').any(|word| matches!(word, "init" | "initialize" | "connect" | "handshake" | "negotiate" | "discover" | "probe" | "setup" | "open"))
}
