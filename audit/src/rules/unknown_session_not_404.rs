//! A session known to be dead is answered with something else than 404.
//!
//! # What happens
//! After an accepted DELETE, a request with the session id is answered 400, 410 or even with a success.
//!
//! # Why it matters
//! MCP, transports, session management: a terminated session must be answered with 404. A client waits for that word to start
//! a new session; with any other it keeps the dead one or gives up.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-1.1 DELETE S1 -> 200
//! 5.0-5.1 POST S1 list #1 -> 400
//! ```
//!
//! # Accepted
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-1.1 DELETE S1 -> 200
//! 5.0-5.1 POST S1 list #1 -> 404
//! ```
//!
//! # Instead
//! Answer every request with an unknown or ended session id with 404.
//!
//! # Limits
//! Use within two seconds of the DELETE is a race, not a breach. 401, 403, 429 and 5xx say nothing about the session.

use super::Case;
use crate::event::{Method, Nanos};
use crate::finding::{Certainty, Role};
use crate::proof::{Court, Draft, answer, plain, request, session};
use unbroken_contract::breach::Breach;
use unbroken_contract::era::Era;

pub(super) const BREACH: Breach = Breach::UnknownSessionNot404;
const HELP: &str = "answer a request with an ended session id with 404";

/// Requests that were on their way when the session was ended (contract section 5: use within seconds of a DELETE).
const RACE: Nanos = 2_000_000_000;

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    for held in &timeline.sessions {
        let Some(deleted) = held.deleted.filter(|at| timeline.contacts[*at].accepted()) else { continue };
        let over = &timeline.contacts[deleted];
        let wrong = held.contacts.iter().copied().find(|at| {
            let contact = &timeline.contacts[*at];
            let told = matches!(contact.exchange.status, Some(200..=299 | 400 | 406..=408 | 410 | 422));
            timeline.eras[*at] == Some(Era::Sessioned)
                && contact.exchange.method == Method::Post
                && contact.session_in().is_some()
                && contact.requests().next().is_some()
                && contact.start > over.known_until() + RACE
                && told
        });
        let Some(wrong) = wrong else { continue };
        let contact = &timeline.contacts[wrong];
        let message = vec![
            plain("session "),
            session(&held.id),
            plain(format!(" was {} after its DELETE, not 404", answer(contact))),
        ];
        let mut draft = Draft::new(BREACH, Certainty::Proved, message, HELP);
        draft.session = Some(held.id.clone());
        draft.proof.push(court.step(over, Role::Delete, request(over)));
        draft.proof.push(court.step(contact, Role::Send, request(contact)));
        draft.proof.push(court.step(contact, Role::Refuse, vec![plain(answer(contact))]));
        draft.print.text(&held.id);
        court.report(draft);
    }
}
