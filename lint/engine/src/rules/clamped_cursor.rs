//! A cursor too old or unknown is answered from the start of the buffer.
//!
//! # What happens
//!
//! A server looks a `Last-Event-ID` up in the events it retains, and where it is not found falls back to the oldest one kept:
//! by `saturating_sub`, by `unwrap_or(0)`, by `map_or(0, …)`, by a filter over a buffer that evicts, by an arm that answers
//! with everything or with another stream, or because a cursor that cannot be read counts as none.
//!
//! # Why it matters
//!
//! The client believes that it has missed nothing. A cursor below what is retained must be refused, never clamped to the
//! floor: that is silent loss (contract 3.5).
//!
//! # Flagged
//!
//! ```flagged
//! fn session(headers: &HeaderMap) -> Option<&HeaderValue> { headers.get("Mcp-Session-Id") }
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
//! fn session(headers: &HeaderMap) -> Option<&HeaderValue> { headers.get("Mcp-Session-Id") }
//! fn events_after(events: &[Event], last_event_id: &str) -> Vec<Event> {
//!     let start = events.iter().position(|event| event.id == last_event_id).map_or(0, |found| found + 1);
//!     events[start..].to_vec()
//! }
//! ```
//!
//! ```flagged
//! fn session(headers: &HeaderMap) -> Option<&HeaderValue> { headers.get("Mcp-Session-Id") }
//! struct Log { events: VecDeque<Event>, limit: usize }
//! impl Log {
//!     fn push(&mut self, event: Event) {
//!         self.events.push_back(event);
//!         while self.events.len() > self.limit { self.events.pop_front(); }
//!     }
//!     fn replay_after(&self, last_event_id: u64) -> Vec<Event> {
//!         self.events.iter().filter(|event| event.id > last_event_id).cloned().collect()
//!     }
//! }
//! ```
//!
//! ```flagged
//! fn session(headers: &HeaderMap) -> Option<&HeaderValue> { headers.get("Mcp-Session-Id") }
//! async fn listen(State(log): State<Log>, headers: HeaderMap) -> Response {
//!     let cursor: Option<u64> = headers.get("Last-Event-ID").and_then(|value| value.to_str().ok()).and_then(|text| text.parse().ok());
//!     match cursor {
//!         Some(cursor) => log.after(cursor).into_response(),
//!         None => log.everything().into_response(),
//!     }
//! }
//! ```
//!
//! # Accepted
//!
//! ```accepted
//! fn session(headers: &HeaderMap) -> Option<&HeaderValue> { headers.get("Mcp-Session-Id") }
//! fn events_after(events: &[Event], last_event_id: &str) -> Result<Vec<Event>, Gone> {
//!     let found = events.iter().position(|event| event.id == last_event_id).ok_or(Gone)?;
//!     Ok(events[found + 1..].to_vec())
//! }
//! ```
//!
//! ```accepted
//! fn session(headers: &HeaderMap) -> Option<&HeaderValue> { headers.get("Mcp-Session-Id") }
//! struct Log { events: VecDeque<Event>, limit: usize }
//! impl Log {
//!     fn push(&mut self, event: Event) {
//!         self.events.push_back(event);
//!         while self.events.len() > self.limit { self.events.pop_front(); }
//!     }
//!     fn replay_after(&self, last_event_id: u64) -> Result<Vec<Event>, Gone> {
//!         if self.events.front().is_some_and(|oldest| last_event_id + 1 < oldest.id) {
//!             return Err(Gone);
//!         }
//!         Ok(self.events.iter().filter(|event| event.id > last_event_id).cloned().collect())
//!     }
//! }
//! ```
//!
//! # Instead
//!
//! Refuse a cursor that is not among the retained events with an error that says so, and replay strictly after it otherwise.
//!
//! # Limits
//!
//! Only crates that read the session header of a request are judged. The cursor is followed from `Last-Event-ID`, or told by
//! the name of a parameter. A lookup in a database is not seen, nor is a buffer whose eviction stands in another type.

mod floor;
mod unread;

use super::{Claim, Report};
use crate::client::Client;
use crate::finding::Certainty;
use crate::scope::At;
use unbroken_contract::Breach;

pub(super) fn check(client: &Client<'_>, report: &mut Report) {
    for fx in client.scope.all().filter(|fx| client.answers_resume(*fx)) {
        for id in client.ids(fx) {
            let at = At { fx, id };
            let here = if floor::clamps(client, at) {
                "a cursor that is not found becomes the oldest event"
            } else if unread::dropped(client, at) {
                "a cursor that cannot be read becomes none"
            } else if floor::everything(client, at) {
                "a cursor that is not found is answered with everything"
            } else if floor::elsewhere(client, at) {
                "a cursor whose stream is not found is answered from another one"
            } else if floor::filters(client, at) {
                "a cursor that was evicted is answered from the oldest event kept"
            } else {
                continue;
            };
            report.claim(Claim {
                breach: Breach::ClampedCursor,
                certainty: Certainty::Likely,
                at,
                message: here.into(),
                help: "refuse a cursor that is not among the retained events; never start at the oldest instead",
                here: here.into(),
                story: Vec::new(),
                client,
            });
        }
    }
}
