//! The end of a stream is taken for the end of a call.
//!
//! # What happens
//!
//! The client reads the event stream of a request and, when it ends, goes on as if the answer had come: the loop ends with
//! success, the task's end is only logged, a body that breaks off is read as an empty one, or the first line of data is
//! taken for the answer whatever it is.
//!
//! # Why it matters
//!
//! Servers, proxies and load balancers end streams for reasons of their own, since 2025-11-25 on purpose (polling). The call
//! goes on (contract 1, 2); its waiter is never told, or is given a notification for an answer.
//!
//! # Flagged
//!
//! ```flagged
//! async fn pump(http: &reqwest::Client, session: &str, body: String, out: Sender<Message>) -> Result<(), Error> {
//!     let request = http.post("/mcp").header("Mcp-Session-Id", session).header("Accept", "application/json, text/event-stream");
//!     let mut events = request.body(body).send().await?.bytes_stream().eventsource();
//!     while let Some(event) = events.next().await {
//!         out.send(serde_json::from_str(&event?.data)?).await?;
//!     }
//!     Ok(())
//! }
//! ```
//!
//! ```flagged
//! async fn ask(http: &reqwest::Client, body: String) -> Result<Value, Error> {
//!     let request = http.post("/mcp").header("Accept", "application/json, text/event-stream").body(body);
//!     let text = request.send().await?.text().await?;
//!     for line in text.lines() {
//!         if let Some(data) = line.strip_prefix("data:") {
//!             return Ok(serde_json::from_str(data)?);
//!         }
//!     }
//!     Err(Error::NoAnswer)
//! }
//! ```
//!
//! ```flagged
//! async fn ask(http: &reqwest::Client, session: &str, body: String) -> Result<Value, Error> {
//!     let request = http.post("/mcp").header("Mcp-Session-Id", session).header("Accept", "application/json, text/event-stream");
//!     let mut events = request.body(body).send().await?.bytes_stream().eventsource();
//!     let mut answer = Value::Null;
//!     while let Some(event) = events.next().await {
//!         answer = serde_json::from_str(&event?.data)?;
//!     }
//!     Ok(answer)
//! }
//! ```
//!
//! # Accepted
//!
//! ```accepted
//! async fn ask(http: &reqwest::Client, session: &str, body: String, id: u64) -> Result<Message, Error> {
//!     let request = http.post("/mcp").header("Mcp-Session-Id", session).header("Accept", "application/json, text/event-stream");
//!     let mut events = request.body(body).send().await?.bytes_stream().eventsource();
//!     while let Some(event) = events.next().await {
//!         let message: Message = serde_json::from_str(&event?.data)?;
//!         if message.id == Some(id) {
//!             return Ok(message);
//!         }
//!     }
//!     Err(Error::EndedBeforeAnswer)
//! }
//! ```
//!
//! ```accepted
//! enum Read { Answer(Value), Ended }
//! struct Client { http: reqwest::Client, session: String, cursor: Option<String> }
//! impl Client {
//!     async fn call(&mut self, body: String, id: u64) -> Result<Value, Error> {
//!         let request = self.http.post("/mcp").header("Mcp-Session-Id", &self.session).header("Accept", "application/json, text/event-stream");
//!         let mut read = self.read(request.body(body).send().await?, id).await?;
//!         loop {
//!             match read {
//!                 Read::Answer(value) => return Ok(value),
//!                 Read::Ended => {
//!                     let Some(cursor) = self.cursor.clone() else { return Err(Error::OutcomeUnknown) };
//!                     let again = self.http.get("/mcp").header("Mcp-Session-Id", &self.session).header("Last-Event-ID", cursor);
//!                     read = self.read(again.send().await?, id).await?;
//!                 }
//!             }
//!         }
//!     }
//!     async fn read(&mut self, response: Response, id: u64) -> Result<Read, Error> {
//!         let mut events = response.bytes_stream().eventsource();
//!         while let Some(event) = events.next().await {
//!             let message: Message = serde_json::from_str(&event?.data)?;
//!             if message.id == Some(id) {
//!                 return Ok(Read::Answer(message.result));
//!             }
//!         }
//!         Ok(Read::Ended)
//!     }
//! }
//! ```
//!
//! # Instead
//!
//! Keep the ids of the requests that are owed an answer; when a stream ends with one of them open, resume with the cursor, or
//! fail that request and say that its outcome is unknown.
//!
//! # Limits
//!
//! Where the loop hands what it read to its caller, the caller decides. Of a caller that is told of the end by a variant of
//! its own, it is asked only whether it looks at that variant and can fail or resume.

mod broken_off;
mod first_line;
mod inert;
mod yielded;

use super::{Claim, Report, in_log};
use crate::client::{Client, Deeds};
use crate::facts::ir::{Body, Head, Id, Kind, Name, PatId, PatKind, Sort};
use crate::finding::Certainty;
use crate::flow::{frame, innermost_loop, reads_stream};
use crate::scope::{At, Fx};
use std::collections::BTreeSet;
use unbroken_contract::Breach;

const HELP: &str = "when the stream ends with the request unanswered, resume with the cursor or fail the request";

pub(super) fn check(client: &Client<'_>, report: &mut Report) {
    for fx in client.functions() {
        inert::polled(client, fx, report);
        if !client.in_scope(fx) {
            continue;
        }
        inert::joined(client, fx, report);
        first_line::check(client, fx, report);
        if answers(client, fx) && !awaited_in_set(client, fx) {
            broken_off::check(client, fx, report);
            ends(client, fx, report);
        }
    }
}

fn state(client: &Client<'_>, at: At, message: &str, here: &str, story: Vec<(At, String)>, report: &mut Report) {
    report.claim(Claim {
        breach: Breach::EofTakenAsCompletion,
        certainty: Certainty::Likely,
        at,
        message: message.into(),
        help: HELP,
        here: here.into(),
        story,
        client,
    });
}

/// Whether the function reads the response of a request: it posts, or is given the stream.
fn answers(client: &Client<'_>, fx: Fx) -> bool {
    let own = client.own(fx);
    let given = client.scope.function(fx).params.iter().any(|param| {
        ["Stream", "Response", "Sse", "EventSource"].iter().any(|word| param.ty.0.iter().any(|name| name.contains(word)))
    });
    own.has(Deeds::POST) || (given && !own.has(Deeds::GET))
}

/// Whether the function only runs as a task of a set whose results are joined: there the end is judged at the join.
fn awaited_in_set(client: &Client<'_>, fx: Fx) -> bool {
    let callers = client.scope.callers(fx);
    !callers.is_empty()
        && callers.iter().all(|caller| {
            let body = client.scope.body(caller.at.fx);
            body.ancestors(caller.at.id).any(|(parent, _)| matches!(body.kind(parent), Kind::Method(_, name, _) if &**name == "spawn" || &**name == "push"))
        })
}

/// Loops over a stream that leave at its end as if all was well.
fn ends(client: &Client<'_>, fx: Fx, report: &mut Report) {
    let body = client.scope.body(fx);
    for id in body.of(Sort::Loop).iter().copied() {
        let Kind::Loop(head, inside, _) = body.kind(id) else { continue };
        let Some(place) = end_exit(client, fx, head, *inside) else { continue };
        if innermost_loop(body, id).is_some() || !handles_messages(body, *inside) {
            continue;
        }
        let changed = changed_in(body, id);
        if settles(client, fx, id, &changed) || yielded::handed_over(client, At { fx, id }) {
            continue;
        }
        state(
            client,
            At { fx, id: place },
            "the stream's end passes for success, though the response may be missing",
            "at the end of the stream the loop is left",
            Vec::new(),
            report,
        );
    }
}

/// Where the loop is left when the stream ends: the head of `while let`, or the `None` arm that breaks or returns success.
fn end_exit(client: &Client<'_>, fx: Fx, head: &Head, inside: Id) -> Option<Id> {
    let body = client.scope.body(fx);
    let stream = |id: Id| reads_stream(client.scope, At { fx, id });
    match head {
        Head::While(cond) => {
            let parts = conjuncts(body, *cond);
            parts.into_iter().find(|id| matches!(body.kind(*id), Kind::LetCond(_, value) if stream(*value)))
        }
        Head::Forever => {
            let exit = |id: Id| match body.kind(id) {
                Kind::Let(pat, Some(init), Some(other)) if is_some(body, *pat) && stream(*init) => quiet(body, *other).then_some(id),
                Kind::Match(value, arms) if stream(*value) => {
                    let end = arms.iter().find(|arm| is_end(body, arm.pat))?;
                    quiet(body, end.body).then_some(end.body)
                }
                _ => None,
            };
            let first = |sort: Sort| {
                let exits = body.all_of(sort, inside).into_iter().filter_map(|id| Some((id, exit(id)?)));
                exits.into_iter().find(|(id, _)| loops_back_to(body, *id, inside))
            };
            let exits = [first(Sort::Let), first(Sort::Match)].into_iter().flatten();
            exits.min_by_key(|(id, _)| body.place(*id)).map(|(_, exit)| exit)
        }
        Head::For(..) => None,
    }
}

/// Whether the node belongs to this loop's own round, not to a closure or a loop inside.
fn loops_back_to(body: &Body, id: Id, inside: Id) -> bool {
    for (parent, child) in body.ancestors(id) {
        if child == inside {
            return true;
        }
        if matches!(body.kind(parent), Kind::Closure(..) | Kind::Async(_) | Kind::Loop(..)) && child != inside {
            return matches!(body.kind(parent), Kind::Loop(_, own, _) if *own == inside);
        }
    }
    false
}

fn conjuncts(body: &Body, cond: Id) -> Vec<Id> {
    match body.kind(cond) {
        Kind::And(a, b) => [conjuncts(body, *a), conjuncts(body, *b)].concat(),
        _ => vec![cond],
    }
}

fn is_some(body: &Body, pat: PatId) -> bool {
    body.mentions(pat, "Some")
}

fn is_end(body: &Body, pat: PatId) -> bool {
    match &body.pat(pat).kind {
        PatKind::Variant(path, subs, _) => match path.last().map(|last| &**last) {
            Some("None") => true,
            Some("Ok") => subs.iter().any(|sub| is_end(body, *sub)),
            _ => false,
        },
        PatKind::Or(subs) => subs.iter().any(|sub| is_end(body, *sub)),
        _ => false,
    }
}

/// A branch that leaves without an error: `break`, `return Ok(…)`, `return`.
fn quiet(body: &Body, branch: Id) -> bool {
    let leaves = body.any_of(Sort::Break, branch, |_| true) || body.any_of(Sort::Return, branch, |_| true);
    leaves && !body.any_inside(branch, |id| fails(body, id) || matches!(body.kind(id), Kind::If(..) | Kind::Await(_)))
}

fn handles_messages(body: &Body, inside: Id) -> bool {
    body.any_of(Sort::Call, inside, |id| match body.kind(id) {
        Kind::Method(_, name, _) => name.starts_with("send") || &**name == "push_str" || name.contains("process") || name.contains("handle"),
        Kind::Call(callee, _) => body.last_segment(*callee).is_some_and(|name| {
            name.starts_with("from_str") || name.starts_with("from_slice") || name.starts_with("from_value") || name.contains("process") || name.contains("handle") || name.contains("parse")
        }),
        _ => false,
    })
}

/// Locals that the loop assigns or changes.
fn changed_in(body: &Body, id: Id) -> BTreeSet<Name> {
    let mut out = BTreeSet::new();
    for inner in body.inside(id) {
        let target = match body.kind(inner) {
            Kind::Assign(left, _) | Kind::Update(_, left, _) => *left,
            Kind::Method(receiver, name, _) if matches!(&**name, "push" | "insert" | "remove" | "retain" | "replace" | "push_back" | "take") => *receiver,
            Kind::Ref(inner) => *inner,
            _ => continue,
        };
        out.extend(body.local(body.peel(target)).cloned());
    }
    out
}

/// Whether what follows the loop knows that the answer may be missing: it fails, asks a variable of the loop, resumes, or
/// hands such a variable on.
fn settles(client: &Client<'_>, fx: Fx, id: Id, changed: &BTreeSet<Name>) -> bool {
    let body = client.scope.body(fx);
    if tells_apart(body, id) || yielded::typed_end(client, At { fx, id }) {
        return true;
    }
    let blank = yielded::blanks(client, At { fx, id });
    let end = frame(body, id);
    for (parent, child) in body.ancestors(id) {
        if parent == end && matches!(body.kind(parent), Kind::Closure(..) | Kind::Async(_)) {
            break;
        }
        let Kind::Block(stmts, _) = body.kind(parent) else { continue };
        let after = stmts.iter().skip_while(|stmt| **stmt != child).skip(1);
        for stmt in after {
            for inner in body.inside(*stmt) {
                let asks = match body.kind(inner) {
                    Kind::Path(path) => {
                        let given = || blank.contains(&path[0]) && yielded::handed_back(body, inner);
                        path.len() == 1 && changed.contains(&path[0]) && !in_log(body, inner) && !given()
                    }
                    Kind::Method(_, name, _) => matches!(&**name, "clear" | "drain" | "abort_all" | "fail" | "fail_all" | "notify_waiters"),
                    Kind::Call(..) => client.deeds_of(At { fx, id: inner }).has(Deeds::GET),
                    _ => false,
                };
                if asks || fails(body, inner) {
                    return true;
                }
            }
        }
    }
    false
}

/// Inside the loop `Some(answer)` is returned, behind it `None`: the caller can tell.
fn tells_apart(body: &Body, id: Id) -> bool {
    let some = body.any_of(Sort::Return, id, |id| {
        matches!(body.kind(id), Kind::Return(Some(value)) if body.any_of(Sort::Call, *value, |id| body.call_of(id, "Some").is_some()))
    });
    let none = |value: Id| body.is_none(value) || body.call_of(value, "Ok").is_some_and(|args| args.first().is_some_and(|arg| body.is_none(*arg)));
    some && body.ids().any(|other| none(other) && body.range(other) > body.range(id))
}

/// An error is made: `Err(…)`, `bail!`, an error response.
fn fails(body: &Body, id: Id) -> bool {
    match body.kind(id) {
        Kind::Call(callee, _) => body.last_segment(*callee).is_some_and(|name| &**name == "Err" || &**name == "error" || name.starts_with("fail")),
        Kind::Method(_, name, _) => name.starts_with("fail_") || name.contains("error_response") || &**name == "ok_or_else" || &**name == "ok_or",
        Kind::Macro(name, _) => matches!(&**name, "bail" | "anyhow" | "panic" | "ensure"),
        _ => false,
    }
}
