//! One SSE event id is used on two streams of a session.
//!
//! # What happens
//! The server numbers the events of each stream for itself, so that the same id stands for different events on different
//! streams of one session.
//!
//! # Why it matters
//! MCP, transports, resumability: an event id must be unique across all streams of the session. A client that resumes
//! with such an id cannot say which stream it means, and may get another stream's events or none.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-1.1 POST S1 list #1 -> 200 sse id 0 answers #1 ends
//! 2.0-2.1 POST S1 list #2 -> 200 sse id 0 answers #2 ends
//! ```
//!
//! # Accepted
//! A replay is the same stream.
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse id 0 id 1 cut
//! 2.5-3.0 GET S1 after 0 -> 200 sse id 1 answers #2 ends
//! ```
//!
//! # Instead
//! Make the stream a part of the id, or count events over the whole session.
//!
//! # Limits
//! Needs the events of streams. One finding per session, however many ids are reused.

use super::Case;
use crate::event::Text;
use crate::finding::{Certainty, Role};
use crate::proof::{Court, Draft, foreign, plain, request};
use crate::timeline::Timeline;
use std::collections::BTreeMap;
use unbroken_contract::breach::Breach;

pub(super) const BREACH: Breach = Breach::EventIdReused;
const HELP: &str = "make event ids unique across all streams of a session";

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    // Per session: the first stream and contact of each id, and the first reuse.
    let mut first: BTreeMap<(usize, &Text), (usize, usize)> = BTreeMap::new();
    let mut reused: BTreeMap<usize, (&Text, usize, usize)> = BTreeMap::new();
    for (index, stream) in timeline.streams.iter().enumerate() {
        let Some(session) = stream.session else { continue };
        for (id, contact) in stream.ids.iter().filter(|(id, _)| !id.is_empty()) {
            let (before, at) = *first.entry((session, id)).or_insert((index, *contact));
            // The same event again on a resumed stream is a replay, on whichever stream (`foreign-replay`).
            if before != index && !replayed(timeline, id, at, *contact) {
                reused.entry(session).or_insert((id, at, *contact));
            }
        }
    }
    for (session, (id, one, two)) in reused {
        let held = &timeline.sessions[session];
        let message = vec![plain("event id "), foreign(id), plain(" was used on two streams of one session")];
        let mut draft = Draft::new(BREACH, Certainty::Proved, message, HELP);
        draft.session = Some(held.id.clone());
        for at in [one, two] {
            let contact = &timeline.contacts[at];
            let mut words = request(contact);
            words.extend([plain(" delivered event "), foreign(id)]);
            draft.proof.push(court.step(contact, Role::Deliver, words));
        }
        draft.print.text(&held.id);
        court.report(draft);
    }
}

/// Whether a resume brought the very event that an earlier contact had delivered.
fn replayed(timeline: &Timeline, id: &Text, first: usize, again: usize) -> bool {
    let data = |at: usize| {
        let mut events = timeline.contacts[at].events().iter().filter(|event| event.has_data);
        events.find(|event| event.id.as_ref() == Some(id)).map(|event| event.data_hash)
    };
    let resumes = timeline.contacts[again].exchange.request.last_event_id.is_some();
    resumes && data(again).is_some_and(|hash| data(first) == Some(hash))
}
