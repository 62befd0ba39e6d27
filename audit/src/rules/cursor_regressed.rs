//! `Last-Event-ID` is older than the last event the client had.
//!
//! # What happens
//! A stream is resumed with an event id from before the last event that this stream delivered.
//!
//! # Why it matters
//! Contract section 1: the cursor moves with every event. An old one makes the server deliver again what the client has
//! already acted on, or costs it the events of the stream that it resumed in between.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse id e1 progress e2 cut
//! 2.5-3.0 GET S1 after e1 -> 200 sse answers #2 ends
//! ```
//!
//! # Accepted
//! An event without data carries nothing: the cursor before it is as good.
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse id e1 id e2 cut
//! 2.5-3.0 GET S1 after e1 -> 200 sse answers #2 ends
//! ```
//!
//! # Instead
//! Move the cursor at every event that has an id, on resumed streams too, and store it before acting on the event.
//!
//! # Limits
//! Needs the events of streams. An event counts as had only if its connection had ended before the resume was sent.

use super::Case;
use crate::finding::{Certainty, Role};
use crate::proof::{Court, Draft, foreign, plain, request};
use crate::timeline::Timeline;
use unbroken_contract::breach::Breach;

pub(super) const BREACH: Breach = Breach::CursorRegressed;
const HELP: &str = "move the cursor at every event with an id, on resumed streams too";

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    for stream in &timeline.streams {
        // Every id so far, with the contact that delivered it and whether it carried data.
        let mut had: Vec<(&str, usize, bool)> = Vec::new();
        for opening in &stream.openings {
            let contact = &timeline.contacts[opening.contact];
            if let Some(presented) = opening.presented.as_deref()
                && let Some(at) = had.iter().rposition(|(id, ..)| *id == presented)
                && let Some((newer, by, _)) = had[at + 1..]
                    .iter()
                    .rev()
                    .find(|(_, by, data)| *data && was_over(timeline, *by, contact.start))
            {
                let message = vec![
                    plain("a stream was resumed after event "),
                    foreign(presented),
                    plain(" although event "),
                    foreign(newer),
                    plain(" had come"),
                ];
                let mut draft = Draft::new(BREACH, Certainty::Proved, message, HELP);
                draft.session = contact.session().map(Into::into);
                let before = &timeline.contacts[*by];
                draft.proof.push(court.step(
                    before,
                    Role::Deliver,
                    vec![plain("event "), foreign(newer), plain(" was delivered")],
                ));
                draft.proof.push(court.step(contact, Role::Resume, request(contact)));
                draft.print.text(presented).contact(timeline, opening.contact, None);
                court.report(draft);
            }
            let events = contact.events().iter();
            had.extend(
                events
                    .filter_map(|event| event.id.as_deref().map(|id| (id, opening.contact, event.has_data))),
            );
        }
    }
}

fn was_over(timeline: &Timeline, contact: usize, moment: i64) -> bool {
    timeline.contacts[contact].end.is_none_or(|end| end <= moment)
}
