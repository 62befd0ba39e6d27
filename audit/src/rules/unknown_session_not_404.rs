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
//! The server itself says that it does not know the session, in other words than 404.
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 5.0-5.1 POST S1 call pay #2 {"amount":40} -> 400 unknown #2
//! 5.2-5.3 POST initialize #0 -> 200 opens S2
//! 5.4-5.5 POST S2 call pay #3 {"amount":40} -> 200 answers #3
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
//! What an error text is about is read from its words: *likely*. A client is told of once, however many sessions it had.
//! Use within two seconds of the DELETE is a race, not a breach. 401, 403, 429 and 5xx say nothing about the session.

use super::Case;
use crate::event::{Method, Nanos};
use crate::finding::{Certainty, Role};
use crate::proof::{Court, Draft, answer, plain, request, session};
use crate::timeline::Timeline;
use crate::timeline::close::classify;
use unbroken_contract::breach::Breach;
use unbroken_contract::close::Close;
use unbroken_contract::era::Era;

pub(super) const BREACH: Breach = Breach::UnknownSessionNot404;
const HELP: &str = "answer a request with an ended session id with 404";

/// Requests that were on their way when the session was ended (contract section 5: use within seconds of a DELETE).
const RACE: Nanos = 2_000_000_000;

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    let mut told: Vec<usize> = Vec::new();
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
        told.push(wrong);
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
    if let Some(at) =
        (0..timeline.contacts.len()).find(|at| in_other_words(timeline, *at) && !told.contains(at))
    {
        court.report(of_words(timeline, at, court));
    }
}

/// Whether the server says in words, and not with 404, that it does not know the session.
fn in_other_words(timeline: &Timeline, at: usize) -> bool {
    let contact = &timeline.contacts[at];
    timeline.eras[at] == Some(Era::Sessioned)
        && contact.session_in().is_some()
        && contact.exchange.method != Method::Delete
        && contact.exchange.status != Some(404)
        && classify(contact, Era::Sessioned, true) == Close::SessionTerminated
}

fn of_words(timeline: &Timeline, at: usize, court: &Court<'_>) -> Draft {
    let contact = &timeline.contacts[at];
    let id = contact.session_in().unwrap_or_default();
    let status = answer(contact);
    let message = vec![
        plain("session "),
        session(id),
        plain(format!(" was {status} with words about the session, not 404")),
    ];
    let mut draft = Draft::new(BREACH, Certainty::Likely, message, HELP);
    draft.session = Some(id.into());
    draft.proof.push(court.step(contact, Role::Send, request(contact)));
    draft.proof.push(court.step(
        contact,
        Role::Refuse,
        vec![plain(format!("{status}: the error speaks of the session"))],
    ));
    draft.missing = Some("the server's log would show whether it held the session");
    draft.print.text(id);
    draft
}
