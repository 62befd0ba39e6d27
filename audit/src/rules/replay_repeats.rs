//! An event at or before the cursor is delivered again.
//!
//! # What happens
//! The client resumes after an event, and the server replays that event or earlier ones once more.
//!
//! # Why it matters
//! MCP, transports, resumability: the server replays what came *after* the last event id. A client that acts on every event
//! acts twice.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse id e1 progress e2 cut
//! 2.5-3.0 GET S1 after e2 -> 200 sse progress e2 answers #2 ends
//! ```
//!
//! # Accepted
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse id e1 progress e2 cut
//! 2.5-3.0 GET S1 after e2 -> 200 sse progress e3 answers #2 ends
//! ```
//!
//! # Instead
//! Start the replay strictly after the cursor.
//!
//! # Limits
//! Needs the events of streams. An id that stands for other data the second time is `event-id-reused`, not a repeat.

use super::Case;
use crate::finding::{Certainty, Role};
use crate::proof::{Court, Draft, foreign, plain, request};
use unbroken_contract::breach::Breach;

pub(super) const BREACH: Breach = Breach::ReplayRepeats;
const HELP: &str = "replay strictly after the cursor";

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    for stream in &timeline.streams {
        let mut had: Vec<(&str, u64)> = Vec::new();
        for opening in &stream.openings {
            let contact = &timeline.contacts[opening.contact];
            let cursor = opening
                .presented
                .as_deref()
                .and_then(|presented| had.iter().rposition(|(id, _)| *id == presented));
            let again = cursor.and_then(|cursor| {
                let data = contact.events().iter().filter(|event| event.has_data);
                data.filter_map(|event| event.id.as_deref().map(|id| (id, event.data_hash)))
                    .find(|event| had[..=cursor].contains(event))
            });
            if let Some((id, _)) = again
                && court.resumes.insert(opening.contact)
            {
                let message =
                    vec![plain("event "), foreign(id), plain(" was delivered again by a resume after it")];
                let mut draft = Draft::new(BREACH, Certainty::Proved, message, HELP);
                draft.session = contact.session().map(Into::into);
                draft.proof.push(court.step(contact, Role::Resume, request(contact)));
                draft.proof.push(court.step(
                    contact,
                    Role::Deliver,
                    vec![plain("event "), foreign(id), plain(" came again")],
                ));
                draft.print.text(id).contact(timeline, opening.contact, None);
                court.report(draft);
            }
            had.extend(
                contact
                    .events()
                    .iter()
                    .filter_map(|event| event.id.as_deref().map(|id| (id, event.data_hash))),
            );
        }
    }
}
