//! A session is deleted because of a transient error.
//!
//! # What happens
//! A call is cut; with its response still due the client sends DELETE for the session and initializes a new one at once.
//!
//! # Why it matters
//! Contract 3.2: after a transport failure the session is kept, never ended by DELETE. The DELETE throws away the events that
//! hold the response, and the outcome of the call with them.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse cut
//! 2.5-2.6 DELETE S1 -> 200
//! 2.7-2.8 POST initialize #0 -> 200 opens S2
//! also response-undelivered
//! ```
//!
//! # Accepted
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 answers #2
//! 2.5-2.6 DELETE S1 -> 200
//! 2.7-2.8 POST initialize #0 -> 200 opens S2
//! ```
//!
//! # Instead
//! Resume; give the call up with `notifications/cancelled` if it must be; end a session only on shutdown.
//!
//! # Limits
//! A user who reconnects by hand does the same: *possible*.

use super::Case;
use crate::event::Nanos;
use crate::finding::{Certainty, Role};
use crate::proof::{Court, Draft, plain, request, session};
use unbroken_contract::breach::{Breach, Level};

pub(super) const BREACH: Breach = Breach::SessionEndedOnTransient;
const HELP: &str = "keep the session after a failure and end it only on shutdown";

/// "At once": a person who reconnects takes longer.
pub(crate) const AT_ONCE: Nanos = 5_000_000_000;

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    for held in &timeline.sessions {
        let Some(deleted) = held.deleted else { continue };
        let over = &timeline.contacts[deleted];
        let due = held.contacts.iter().flat_map(|at| timeline.calls_of(*at)).find(|send| {
            send.unanswered()
                && send.start < over.start
                && send.closed.is_none_or(|closed| closed <= over.start)
        });
        let next = timeline.initializes.get(timeline.initializes.partition_point(|at| *at < deleted));
        let soon = next.filter(|at| timeline.contacts[**at].start - over.start <= AT_ONCE);
        let (Some(due), Some(next)) = (due.filter(|_| over.accepted()), soon) else { continue };
        let message = vec![
            plain("session "),
            session(&held.id),
            plain(" was deleted with a call unanswered, and a new one opened at once"),
        ];
        let mut draft = Draft::new(BREACH, Certainty::Possible, message, HELP);
        draft.level = Some(Level::Warn);
        draft.session = Some(held.id.clone());
        for (at, role) in [(due.contact, Role::Send), (deleted, Role::Delete), (*next, Role::Initialize)] {
            let contact = &timeline.contacts[at];
            draft.proof.push(court.step(contact, role, request(contact)));
        }
        draft.same_by = Some(timeline.client.same_by());
        draft.missing = Some("the client's own log would show whether a person asked for it");
        draft.print.text(&held.id);
        court.report(draft);
    }
}
