//! Reconnects have no limit and no growing delay.
//!
//! # What happens
//! A stream that brings nothing is opened again and again, at a steady beat, ten times and more.
//!
//! # Why it matters
//! Contract 3.2: attempts are bounded and delays grow; an accepted connect without a new event does not reset the count.
//! A fleet of such clients keeps a server that comes up from ever getting up.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-1.1 GET S1 -> 503
//! 2.0-2.1 GET S1 -> 503
//! 3.0-3.1 GET S1 -> 503
//! 4.0-4.1 GET S1 -> 503
//! 5.0-5.1 GET S1 -> 503
//! 6.0-6.1 GET S1 -> 503
//! 7.0-7.1 GET S1 -> 503
//! 8.0-8.1 GET S1 -> 503
//! 9.0-9.1 GET S1 -> 503
//! 10.0-10.1 GET S1 -> 503
//! 11.0-11.1 GET S1 -> 503
//! ```
//!
//! # Accepted
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-1.1 GET S1 -> 503
//! 2.0-2.1 GET S1 -> 503
//! 4.0-4.1 GET S1 -> 503
//! 8.0-8.1 GET S1 -> 503
//! 16.0-16.1 GET S1 -> 503
//! ```
//!
//! # Instead
//! Bound the attempts, let the delay grow to a cap, and reset the count only at an event with a new id.
//!
//! # Limits
//! A stream that lived for half a minute and more before it ended is daily business and does not count.

use super::Case;
use crate::event::Nanos;
use crate::finding::{Certainty, Role};
use crate::proof::{Court, Draft, answer, plain, request};
use unbroken_contract::breach::Breach;

pub(super) const BREACH: Breach = Breach::UnboundedReconnect;
const HELP: &str = "bound the attempts and let the delay between them grow";

/// Connects without a new event from which a beat is one (contract section 4).
const MANY: usize = 10;
/// A connection that lived this long was worth opening.
const LIVED: Nanos = 30_000_000_000;

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    for stream in &timeline.streams {
        let mut beat: Vec<usize> = Vec::new();
        for opening in &stream.openings {
            let contact = &timeline.contacts[opening.contact];
            let worth = contact.events().iter().any(|event| event.id.is_some() || event.has_data);
            let lived = contact.end.is_some_and(|end| end - contact.start >= LIVED);
            if worth || lived || (contact.accepted() && !contact.tells_bodies()) {
                beat.clear();
            } else {
                beat.push(opening.contact);
            }
            if beat.len() > MANY && steady(timeline, &beat) {
                let message = vec![plain(format!(
                    "a stream was opened {} times and more without a new event or a growing delay",
                    beat.len()
                ))];
                let mut draft = Draft::new(BREACH, Certainty::Proved, message, HELP);
                draft.session = contact.session().map(Into::into);
                for at in [beat[0], beat[1], beat[beat.len() - 1]] {
                    let contact = &timeline.contacts[at];
                    let mut words = request(contact);
                    words.push(plain(format!(": {}", answer(contact))));
                    draft.proof.push(court.step(contact, Role::Resume, words));
                }
                draft.print.contact(timeline, beat[0], None);
                court.report(draft);
                break;
            }
        }
    }
}

/// Whether the gaps do not grow: the later half is at most a quarter longer than the earlier one.
fn steady(timeline: &crate::timeline::Timeline, beat: &[usize]) -> bool {
    let start = |at: usize| timeline.contacts[beat[at]].start;
    let middle = beat.len() / 2;
    let early = (start(middle) - start(0)) / i64::try_from(middle).unwrap_or(1);
    let late = (start(beat.len() - 1) - start(middle)) / i64::try_from(beat.len() - 1 - middle).unwrap_or(1);
    late <= early + early / 4
}
