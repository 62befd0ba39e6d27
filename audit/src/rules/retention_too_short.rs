//! A cursor is refused while its session is alive.
//!
//! # What happens
//! The client resumes with a cursor that the session issued. The server says that it does not hold the event any more, and goes
//! on serving the session.
//!
//! # Why it matters
//! Contract 3.5: events are kept at least as long as a client may take to come back. What is refused here is lost for ever.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse id e1 cut
//! 2.5-2.6 GET S1 after e1 -> 400 lost
//! 3.0-3.1 POST S1 list #3 -> 200 answers #3
//! also response-undelivered
//! ```
//!
//! # Accepted
//! The session is gone too.
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 list #1 -> 200 sse id e1 answers #1 ends
//! 2.5-2.6 GET S1 after e1 -> 404
//! ```
//!
//! # Instead
//! Keep events at least for the session's idle lifetime less the longest backoff of its clients.
//!
//! # Limits
//! *Possible*: how long the server promises to keep events is in no log.

use crate::quick::HashSet;
use super::Case;
use crate::finding::{Certainty, Role};
use crate::proof::{Court, Draft, answer, foreign, plain, request};
use crate::timeline::close::classify;
use unbroken_contract::breach::Breach;
use unbroken_contract::close::Close;
use unbroken_contract::era::Era;

pub(super) const BREACH: Breach = Breach::RetentionTooShort;
const HELP: &str = "keep events for as long as the session and its clients' longest backoff";

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    let issued: HashSet<(Option<usize>, &str)> =
        timeline.streams.iter().flat_map(|s| s.ids.iter().map(|(id, _)| (s.session, &**id))).collect();
    for (index, held) in timeline.sessions.iter().enumerate() {
        let Some(last) = held.contacts.iter().rev().find(|at| timeline.contacts[**at].accepted()) else {
            continue;
        };
        let refused = held.contacts.iter().copied().take_while(|at| at < last).find_map(|at| {
            let contact = &timeline.contacts[at];
            let cursor = contact.exchange.request.last_event_id.as_deref()?;
            let own = issued.contains(&(Some(index), cursor)) && timeline.eras[at] == Some(Era::Sessioned);
            let lost = own
                && matches!(
                    classify(contact, Era::Sessioned, true),
                    Close::EventsLost { .. } | Close::ResumeRejected { .. }
                );
            lost.then_some((at, cursor))
        });
        let Some((at, cursor)) = refused else { continue };
        let contact = &timeline.contacts[at];
        let message =
            vec![plain("cursor "), foreign(cursor), plain(" was refused while its session went on")];
        let mut draft = Draft::new(BREACH, Certainty::Possible, message, HELP);
        draft.session = Some(held.id.clone());
        draft.proof.push(court.step(contact, Role::Resume, request(contact)));
        draft.proof.push(court.step(contact, Role::Refuse, vec![plain(answer(contact))]));
        let alive = &timeline.contacts[*last];
        draft.proof.push(court.step(alive, Role::Deliver, request(alive)));
        draft.missing = Some("how long the server keeps events, and the session's idle lifetime");
        draft.print.text(&held.id).text(cursor);
        court.report(draft);
    }
}
