//! A resume that fails is answered 200, with an empty stream or as if nothing were missing.
//!
//! # What happens
//!
//! A server cannot replay the events after a `Last-Event-ID`, and answers with an empty stream, or logs the failure and goes
//! on with live events.
//!
//! # Why it matters
//!
//! The client takes the 200 for a resumption and never learns that events are missing. A failure is an explicit rejection with
//! a JSON-RPC error, never a clean empty stream (contract 3.3).
//!
//! # Flagged
//!
//! ```flagged
//! async fn listen(State(app): State<App>, headers: HeaderMap) -> Response {
//!     let session = headers.get("Mcp-Session-Id");
//!     let cursor = headers.get("Last-Event-ID");
//!     match app.sessions.resume(session, cursor).await {
//!         Ok(events) => sse(events),
//!         Err(error) => {
//!             warn!("resume failed: {error}");
//!             sse(stream::empty())
//!         }
//!     }
//! }
//! ```
//!
//! ```flagged
//! async fn listen(State(app): State<App>, headers: HeaderMap, out: Sink) -> Response {
//!     let session = headers.get("Mcp-Session-Id");
//!     let cursor = headers.get("Last-Event-ID");
//!     if let Err(error) = app.sessions.replay(session, cursor, &out).await {
//!         warn!("replay failed: {error}");
//!     }
//!     sse(app.live(session))
//! }
//! ```
//!
//! # Accepted
//!
//! ```accepted
//! async fn listen(State(app): State<App>, headers: HeaderMap) -> Response {
//!     let session = headers.get("Mcp-Session-Id");
//!     let cursor = headers.get("Last-Event-ID");
//!     match app.sessions.resume(session, cursor).await {
//!         Ok(events) => sse(events),
//!         Err(error) => rejection(StatusCode::BAD_REQUEST, error),
//!     }
//! }
//! ```
//!
//! # Instead
//!
//! Answer 404 for a session that is not held here and 400 for a cursor that cannot be placed, each with a JSON-RPC error that
//! says why.
//!
//! # Limits
//!
//! Only crates that read the session header of a request are judged. An empty answer that is right, because the stream had
//! ended, is told by nothing in the code but the condition that leads to it.

use super::unowned_resume::by_event_alone;
use super::{Claim, Report, is_log};
use crate::client::{Client, called};
use crate::facts::ir::{Body, Id, Kind, PatId};
use crate::finding::Certainty;
use crate::flow::{Known, known, leaves};
use crate::scope::At;
use unbroken_contract::Breach;

pub(super) fn check(client: &Client<'_>, report: &mut Report) {
    for fx in client.scope.all().filter(|fx| client.answers_resume(*fx)) {
        for id in client.ids(fx) {
            let at = At { fx, id };
            let message = if emptied(client, at) || defaulted(client, at) {
                "a resume that fails is answered with an empty stream"
            } else if swallowed(client, at) {
                "a replay that fails is passed over, and the stream goes on without it"
            } else {
                continue;
            };
            // The same resume has its finding: whose events it gives matters more (contract 4).
            if unowned(client, at) {
                continue;
            }
            report.claim(Claim {
                breach: Breach::EmptyResume,
                certainty: Certainty::Likely,
                at,
                message: message.into(),
                help: "reject a resume that cannot be answered, with a status that is no success and a JSON-RPC error",
                here: "the client takes this for a resumption".into(),
                story: Vec::new(),
                client,
            });
        }
    }
}

/// Whether the lookup that fails here asks for no session.
fn unowned(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let facts = known(body, at.id).into_iter().map(|fact| match fact {
        Known::True(id) | Known::False(id) | Known::Is(_, id) | Known::Not(_, id) | Known::Failed(id) => id,
    });
    facts.chain([at.id]).any(|id| body.inside(id).into_iter().any(|id| by_event_alone(client, At { id, ..at })))
}

/// An empty stream or list where the lookup of the cursor failed.
fn emptied(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    if !empty(body, at.id) || refusing(body, at.id) {
        return false;
    }
    known(body, at.id).into_iter().any(|fact| match fact {
        Known::Is(pat, value) => fails(body, pat) && asks(client, At { id: value, ..at }),
        Known::Not(pat, value) => succeeds(body, pat) && asks(client, At { id: value, ..at }),
        Known::Failed(value) => asks(client, At { id: value, ..at }),
        _ => false,
    })
}

/// `replay(cursor).await.unwrap_or_default()`, `….unwrap_or_else(|error| { …; None })`.
fn defaulted(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let Kind::Method(receiver, name, args) = body.kind(at.id) else { return false };
    let gives_nothing = match (&**name, args.as_slice()) {
        ("unwrap_or_default", []) => true,
        ("unwrap_or_else", [closure]) => {
            let last = last_of(body, *closure);
            last.is_some_and(|last| body.is_none(last) || empty(body, last))
        }
        ("unwrap_or", [value]) => body.is_none(*value) || empty(body, *value),
        _ => false,
    };
    gives_nothing && replaying(client, At { id: *receiver, ..at })
}

/// `if let Err(error) = replay(cursor).await { warn!(…) }`: nothing but a log, if that, and control goes on.
fn swallowed(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let only_logs = |id: Id| {
        !leaves(body, id)
            && match body.kind(id) {
                Kind::Block(stmts, _) => stmts.iter().all(|stmt| logs(body, *stmt)),
                _ => logs(body, id),
            }
    };
    match body.kind(at.id) {
        Kind::If(cond, then, None) => match body.kind(*cond) {
            Kind::LetCond(pat, value) => {
                let logged = body.mentions(*pat, "Err") && only_logs(*then);
                // `if let Ok(events) = replay(cursor)` with no word on the rest.
                (logged || body.mentions(*pat, "Ok")) && replaying(client, At { id: *value, ..at })
            }
            _ => false,
        },
        Kind::Match(value, arms) => {
            let err = arms.iter().find(|arm| body.mentions(arm.pat, "Err"));
            err.is_some_and(|arm| only_logs(arm.body)) && replaying(client, At { id: *value, ..at })
        }
        _ => false,
    }
}

fn logs(body: &Body, id: Id) -> bool {
    match body.kind(id) {
        Kind::Macro(name, _) => is_log(name),
        Kind::Block(stmts, _) => stmts.iter().all(|stmt| logs(body, *stmt)),
        Kind::Tuple(parts) => parts.is_empty(),
        _ => false,
    }
}

/// Whether the value asks for the cursor: a call that is given it, or a search for it.
fn asks(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    body.inside(at.id).into_iter().any(|id| match body.kind(id) {
        Kind::Method(_, name, args) => {
            !converts(name) && args.iter().any(|arg| client.about_cursor(At { id: *arg, ..at }))
        }
        Kind::Call(callee, args) => {
            !body.last_segment(*callee).is_some_and(|name| converts(name))
                && args.iter().any(|arg| client.asked_cursor(At { id: *arg, ..at }))
        }
        _ => false,
    })
}

/// Whether the value is the outcome of a replay or resume that is given the cursor.
fn replaying(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    body.inside(at.id).into_iter().any(|id| {
        let says = called(body, id).is_some_and(|name| {
            let lower = name.to_lowercase();
            ["replay", "resume", "after", "since", "events", "missed"].iter().any(|word| lower.contains(word))
        });
        let args: &[Id] = match body.kind(id) {
            Kind::Method(_, _, args) | Kind::Call(_, args) => args,
            _ => &[],
        };
        says && args.iter().any(|arg| client.about_cursor(At { id: *arg, ..at }))
    })
}

fn converts(name: &str) -> bool {
    name.starts_with("parse") || matches!(name, "Some" | "Ok" | "Err" | "from" | "new" | "from_str" | "get" | "header" | "split_once" | "set" | "insert")
}

fn empty(body: &Body, id: Id) -> bool {
    match body.kind(id) {
        Kind::Call(callee, args) => match body.kind(*callee) {
            Kind::Path(path) => {
                let last = path.last().map_or("", |last| last);
                args.is_empty() && (last == "empty" || last == "new" && path.iter().any(|part| matches!(&**part, "Vec" | "VecDeque")))
            }
            _ => false,
        },
        Kind::Macro(name, parts) => &**name == "vec" && parts.is_empty(),
        _ => false,
    }
}

/// Whether the node is a part of an error.
fn refusing(body: &Body, id: Id) -> bool {
    body.ancestors(id).any(|(parent, _)| body.call_of(parent, "Err").is_some())
}

fn fails(body: &Body, pat: PatId) -> bool {
    body.mentions(pat, "Err") || body.mentions(pat, "None")
}

fn succeeds(body: &Body, pat: PatId) -> bool {
    body.mentions(pat, "Ok") || body.mentions(pat, "Some")
}

/// The value that a closure or block ends with.
fn last_of(body: &Body, id: Id) -> Option<Id> {
    match body.kind(id) {
        Kind::Closure(_, inner) => last_of(body, *inner),
        Kind::Block(stmts, true) => last_of(body, *stmts.last()?),
        Kind::Path(_) | Kind::Call(..) | Kind::Macro(..) => Some(id),
        _ => None,
    }
}
