//! A session answered with 404 is used again and nothing re-initializes.
//!
//! # What happens
//! The server answers 404 to a request that carries the session id: the session is over. The client goes on with the
//! same id, gets 404 for everything, and never sends `initialize`.
//!
//! # Why it matters
//! MCP, transports, session management: on a 404 to its session id a client must start a new session. One that does not
//! is cut off until somebody restarts it.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 5.0-5.1 POST S1 call pay #2 {"amount":40} -> 404
//! 6.0-6.1 POST S1 list #3 -> 404
//! ```
//!
//! # Accepted
//! A new session; only a DELETE; a GET's 404 while POST still works.
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 5.0-5.1 POST S1 call pay #2 {"amount":40} -> 404
//! 5.2-5.3 POST initialize #0 -> 200 opens S2
//! ```
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 5.0-5.1 POST S1 call pay #2 {"amount":40} -> 404
//! 6.0-6.1 DELETE S1 -> 404
//! ```
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 0.2-0.3 GET S1 -> 404
//! 1.0-1.5 POST S1 call pay #2 {"amount":40} -> 200 answers #2
//! ```
//!
//! # Instead
//! On 404 to a request with the id: drop session id and cursor together, send `initialize` without a session header.
//!
//! # Limits
//! Requests that were on their way when the 404 came do not count. A log that ends soon after the 404 shows nothing.

use super::Case;
use crate::event::{Method, Vantage};
use crate::finding::{Certainty, Role};
use crate::join::Contact;
use crate::proof::{Court, Draft, answer, plain, request, session};
use crate::timeline::{Session, Timeline};
use unbroken_contract::breach::{Breach, Level};

pub(super) const BREACH: Breach = Breach::ExpiredSessionKept;
const HELP: &str = "on a 404 to the session id, drop id and cursor and send initialize";

/// Requests that a client sent together can seem to be in turn: a proxy writes the end of the first response before the
/// client has it (measured: 2 ms), a capture next to the client knows it to its clock's resolution.
fn together(refused: &Contact) -> i64 {
    match refused.seen[0].vantage {
        Vantage::Client | Vantage::Capture => 1_000_000,
        _ => 3_000_000,
    }
}

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    for held in &timeline.sessions {
        let Some(gone) = held.gone else { continue };
        let used = uses_after(timeline, held, gone);
        if used.is_empty()
            || initialized_after(timeline, gone)
            || held.deleted.is_some_and(|at| at < gone)
            || get_only(timeline, held)
        {
            continue;
        }
        let draft = draft(timeline, held, gone, &used, court);
        court.report(draft);
    }
}

/// The requests with the id that the client sent when it knew of the 404; a DELETE is a farewell, not a use.
fn uses_after(timeline: &Timeline, held: &Session, gone: usize) -> Vec<usize> {
    let known = timeline.contacts[gone].known_until() + together(&timeline.contacts[gone]);
    let used = |contact: &Contact| {
        contact.session_in().is_some() && contact.exchange.method != Method::Delete && contact.start >= known
    };
    held.contacts.iter().copied().filter(|at| used(&timeline.contacts[*at])).collect()
}

fn initialized_after(timeline: &Timeline, gone: usize) -> bool {
    let start = timeline.contacts[gone].start;
    timeline.initializes.last().is_some_and(|at| timeline.contacts[*at].start >= start)
}

/// Whether only GETs were refused while POSTs went on: the stream is not offered there, the session is fine.
fn get_only(timeline: &Timeline, held: &Session) -> bool {
    let refused = |at: &usize| timeline.contacts[*at].exchange.status == Some(404);
    let gone = held.gone.unwrap_or(0);
    held.contacts
        .iter()
        .filter(|at| refused(at))
        .all(|at| timeline.contacts[*at].exchange.method == Method::Get)
        && held.contacts.iter().any(|at| {
            let contact = &timeline.contacts[*at];
            *at > gone && contact.exchange.method == Method::Post && contact.accepted()
        })
}

fn draft(timeline: &Timeline, held: &Session, gone: usize, used: &[usize], court: &Court<'_>) -> Draft {
    let refused = &timeline.contacts[gone];
    let more = match used.len() {
        1 => "once more".to_owned(),
        count => format!("{count} more times"),
    };
    let message = vec![
        plain("session "),
        session(&held.id),
        plain(format!(" was used {more} after its 404, and nothing re-initialized")),
    ];
    let accepted = used.iter().any(|at| timeline.contacts[*at].accepted());
    let mut draft = Draft::new(BREACH, Certainty::Proved, message, HELP);
    // The 404 came from an instance that never had the session: the fleet is to blame first (contract section 4).
    if accepted {
        draft.level = Some(Level::Warn);
    }
    draft.session = Some(held.id.clone());
    draft.proof.push(court.step(refused, Role::Send, request(refused)));
    let mut step = court.step(refused, Role::Refuse, vec![plain(answer(refused))]);
    step.at = Some(refused.known_until());
    draft.proof.push(step);
    // Five uses tell the story; the count is in the message.
    for at in used.iter().take(5) {
        let contact = &timeline.contacts[*at];
        let mut words = request(contact);
        words.push(plain(format!(": {}", answer(contact))));
        draft.proof.push(court.step(contact, Role::Send, words));
    }
    draft.print.text(&held.id);
    draft
}
