//! A cursor too old or unknown is answered from the start of the buffer.
//!
//! # What happens
//!
//! A server looks a `Last-Event-ID` up in the events it retains, and where it is not found falls back to the oldest one kept:
//! by `saturating_sub`, by `unwrap_or(0)`, by `map_or(0, …)`, or because a cursor that cannot be read counts as none.
//!
//! # Why it matters
//!
//! The client believes that it has missed nothing. A cursor below what is retained must be refused, never clamped to the
//! floor: that is silent loss (contract 3.5).
//!
//! # Flagged
//!
//! ```flagged
//! const CURSOR: &str = "Last-Event-ID";
//! struct Log { events: VecDeque<Event> }
//! impl Log {
//!     fn replay_after(&self, last_event_id: u64) -> Vec<Event> {
//!         let front = self.events.front().map_or(0, |event| event.id);
//!         let skip = last_event_id.saturating_sub(front) as usize;
//!         self.events.iter().skip(skip).cloned().collect()
//!     }
//! }
//! ```
//!
//! ```flagged
//! const CURSOR: &str = "Last-Event-ID";
//! fn events_after(events: &[Event], last_event_id: &str) -> Vec<Event> {
//!     let start = events.iter().position(|event| event.id == last_event_id).map_or(0, |found| found + 1);
//!     events[start..].to_vec()
//! }
//! ```
//!
//! # Accepted
//!
//! ```accepted
//! const CURSOR: &str = "Last-Event-ID";
//! fn events_after(events: &[Event], last_event_id: &str) -> Result<Vec<Event>, Gone> {
//!     let found = events.iter().position(|event| event.id == last_event_id).ok_or(Gone)?;
//!     Ok(events[found + 1..].to_vec())
//! }
//! ```
//!
//! # Instead
//!
//! Refuse a cursor that is not among the retained events with an error that says so, and replay strictly after it otherwise.
//!
//! # Limits
//!
//! Functions are told by a parameter or variable that names the last event; a lookup in a database is not seen.

use super::{Claim, Report};
use crate::client::{Client, Header};
use crate::facts::ir::{Body, Id, Kind};
use crate::finding::Certainty;
use crate::scope::{At, Fx};
use unbroken_contract::Breach;

pub(super) fn check(client: &Client<'_>, report: &mut Report) {
    for fx in client.scope.all() {
        if client.scope.function(fx).test || !about_replay(client, fx) {
            continue;
        }
        let body = client.scope.body(fx);
        for id in body.ids() {
            let at = At { fx, id };
            let here = if clamps(body, id) {
                "a cursor that is not found becomes the oldest event"
            } else if unreadable(client, at) {
                "a cursor that cannot be read becomes none"
            } else if everything(body, id) {
                "a cursor that is not found is answered with everything"
            } else {
                continue;
            };
            report.claim(Claim {
                breach: Breach::ClampedCursor,
                certainty: Certainty::Likely,
                at,
                message: here.into(),
                help: "Refuse a cursor that is not among the retained events; never start at the oldest instead.",
                here: here.into(),
                story: Vec::new(),
                client,
            });
        }
    }
}

/// Whether the function is given, or reads, the id of the last event to replay from.
fn about_replay(client: &Client<'_>, fx: Fx) -> bool {
    if client.headers(fx).iter().any(|used| used.header == Header::Cursor && used.value.is_none()) {
        return true;
    }
    let function = client.scope.function(fx);
    let given = function.params.iter().flat_map(|param| param.names.iter().chain(&param.ty.0)).any(|name| cursor_word(name));
    let name = function.name.to_lowercase();
    let replays = ["replay", "resume", "sync", "events_after", "since", "after"].iter().any(|word| name.contains(word));
    given || replays && client.ids(fx).any(|id| match client.scope.body(fx).kind(id) {
        Kind::Path(path) => path.last().is_some_and(|last| cursor_word(last)),
        Kind::Field(_, name) => cursor_word(name),
        _ => false,
    })
}

fn cursor_word(name: &str) -> bool {
    let lower = name.to_lowercase();
    lower.contains("last_event_id") || lower.contains("lasteventid") || lower == "event_id" || lower == "eventid" || lower == "last_id"
}

/// `saturating_sub(front)`, `position(…).map_or(0, …)`, `position(…).unwrap_or(0)`.
fn clamps(body: &Body, id: Id) -> bool {
    let Kind::Method(receiver, name, args) = body.kind(id) else { return false };
    let looks_up = || {
        body.inside(*receiver).iter().any(|id| matches!(body.kind(*id), Kind::Method(_, name, _) if matches!(&**name, "position" | "rposition" | "find_position" | "binary_search" | "binary_search_by_key")))
    };
    match (&**name, args.as_slice()) {
        ("saturating_sub", [floor]) => !matches!(body.kind(*floor), Kind::Int(_)),
        ("map_or" | "unwrap_or", [zero, ..]) => matches!(body.kind(*zero), Kind::Int(0)) && looks_up(),
        ("unwrap_or_default", []) => looks_up(),
        _ => false,
    }
}

/// `headers.get("Last-Event-ID")….and_then(|text| text.parse().ok())`: an error becomes "no cursor".
fn unreadable(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let Kind::Method(receiver, name, args) = body.kind(at.id) else { return false };
    if &**name != "and_then" || args.len() != 1 || !matches!(body.kind(args[0]), Kind::Closure(..)) {
        return false;
    }
    let parses = body.inside(args[0]).iter().any(|id| matches!(body.kind(*id), Kind::Method(_, name, _) if &**name == "parse" || &**name == "parse_event_id"));
    let drops = body.inside(args[0]).iter().any(|id| matches!(body.kind(*id), Kind::Method(_, name, _) if &**name == "ok"));
    let cursor = client.scope.origins(At { id: *receiver, ..at }).iter().any(|origin| {
        client.headers(origin.fx).iter().any(|used| used.at == *origin && used.header == Header::Cursor)
    });
    parses && drops && cursor
}

/// `match position(…) { Some(found) => …, None => all }`, or `if let Some(found) = position … else all`.
fn everything(body: &Body, id: Id) -> bool {
    let (value, none) = match body.kind(id) {
        Kind::Match(value, arms) => match arms.iter().find(|arm| body.mentions(arm.pat, "None")) {
            Some(arm) => (*value, arm.body),
            None => return false,
        },
        Kind::If(cond, _, Some(other)) => match body.kind(*cond) {
            Kind::LetCond(_, value) => (*value, *other),
            _ => return false,
        },
        _ => return false,
    };
    let looks_up = body.inside(value).iter().any(|id| matches!(body.kind(*id), Kind::Method(_, name, _) if matches!(&**name, "position" | "rposition" | "find_position")));
    looks_up && body.inside(none).iter().any(|id| matches!(body.kind(*id), Kind::Method(_, name, _) if matches!(&**name, "collect" | "to_vec" | "clone" | "cloned")))
}
