//! A resumed response belongs to another session.
//!
//! # What happens
//! A GET with a session id and `Last-Event-ID` is answered with another session id.
//!
//! # Why it matters
//! Contract 3.4: event ids have meaning only within their session. What follows is another session's stream, and its ids say
//! nothing about what the client missed.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 list #1 -> 200 sse id e1 answers #1 ends
//! 3.0-3.5 GET S1 after e1 -> 200 opens S9 sse ends
//! ```
//!
//! # Accepted
//! Many servers leave the id out of the response: nothing is proved, nothing is wrong.
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 list #1 -> 200 sse id e1 answers #1 ends
//! 3.0-3.5 GET S1 after e1 -> 200 sse ends
//! ```
//!
//! # Instead
//! Server: reject a resume of a session that is not yours with 404. Client: stop reading and initialize.
//!
//! # Limits
//! A gateway that maps session ids is judged hop by hop, never across.

use super::Case;
use crate::finding::{Certainty, Role};
use crate::proof::{Court, Draft, plain, request, session};
use unbroken_contract::breach::Breach;

pub(super) const BREACH: Breach = Breach::ResumeInOtherNamespace;
const HELP: &str = "reject a resume of a session that is not known here with 404";

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    for (at, contact) in timeline.contacts.iter().enumerate() {
        let exchange = &contact.exchange;
        let (Some(asked), Some(given)) = (&exchange.request.session, &exchange.response.session) else {
            continue;
        };
        if exchange.request.last_event_id.is_none()
            || asked == given
            || !contact.accepted()
            || !court.resumes.insert(at)
        {
            continue;
        }
        let message = vec![
            plain("a resume of session "),
            session(asked),
            plain(" was answered by session "),
            session(given),
        ];
        let mut draft = Draft::new(BREACH, Certainty::Proved, message, HELP);
        draft.session = Some(asked.clone());
        draft.proof.push(court.step(contact, Role::Resume, request(contact)));
        draft.proof.push(court.step(
            contact,
            Role::Deliver,
            vec![plain("the response carried session "), session(given)],
        ));
        draft.print.text(asked).contact(timeline, at, None);
        court.report(draft);
    }
}
