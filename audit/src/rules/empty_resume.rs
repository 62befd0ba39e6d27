//! A resume is answered 200 and ends without an event although the stream had not ended.
//!
//! # What happens
//! The client resumes a stream whose response is still due. The server accepts, sends nothing, and ends the stream.
//!
//! # Why it matters
//! Contract 3.3: a server that cannot replay must say so, never answer with a clean empty stream. The client cannot tell
//! "nothing new yet" from "lost for ever".
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse id e1 cut
//! 2.5-2.6 GET S1 after e1 -> 200 sse ends
//! also response-undelivered
//! ```
//!
//! # Accepted
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse id e1 cut
//! 2.5-3.0 GET S1 after e1 -> 200 sse answers #2 ends
//! ```
//!
//! # Instead
//! Keep the resumed stream open until the response is there, or reject the resume with 400 or 404 and a reason.
//!
//! # Limits
//! A proxy that ends an idle stream in order looks the same from the client's side: *likely* at most, and silent where the
//! proxy's log tells of a cut.

use super::Case;
use crate::event::Cause;
use crate::finding::{Certainty, Role};
use crate::proof::{Court, Draft, plain, request};
use unbroken_contract::breach::Breach;

pub(super) const BREACH: Breach = Breach::EmptyResume;
const HELP: &str = "keep a resumed stream open until its response, or reject the resume with a reason";

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    for stream in timeline.streams.iter().filter(|stream| !stream.listens) {
        let answered = stream
            .openings
            .iter()
            .find(|opening| timeline.contacts[opening.contact].answers().next().is_some());
        for opening in stream.openings.iter().filter(|opening| opening.presented.is_some()) {
            let contact = &timeline.contacts[opening.contact];
            let ended = contact.exchange.end.cause == Cause::Complete && contact.end.is_some();
            let empty = contact.accepted() && contact.tells_bodies() && contact.events().is_empty();
            let due = answered.is_none_or(|answered| answered.contact > opening.contact);
            if !ended || !empty || !due || !court.resumes.insert(opening.contact) {
                continue;
            }
            let message =
                vec![plain("a resume was accepted and ended without an event although a response was due")];
            let mut draft = Draft::new(BREACH, Certainty::Likely, message, HELP);
            draft.session = contact.session().map(Into::into);
            let first = &timeline.contacts[stream.openings[0].contact];
            draft.proof.push(court.step(first, Role::Send, request(first)));
            draft.proof.push(court.step(contact, Role::Resume, request(contact)));
            draft.proof.push(court.step(
                contact,
                Role::Cut,
                vec![plain("the resumed stream ended in order, without an event")],
            ));
            draft.missing = Some("a proxy's log would show whether the server or the proxy ended it");
            draft.print.contact(timeline, opening.contact, None);
            court.report(draft);
        }
    }
}
