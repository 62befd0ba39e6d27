//! A clean end before the response is taken for an answer.
//!
//! # What happens
//! The stream of a call ends in order before its response. The client tells its application that the call is done, with an
//! empty or invented result.
//!
//! # Why it matters
//! Contract 3.1: the end of a connection says nothing about the call. The application goes on as if it knew the outcome; the
//! call may still run, or never have.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0 app call pay {"amount":40}
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse ends
//! 2.1 app returned
//! also response-undelivered
//! ```
//!
//! # Accepted
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0 app call pay {"amount":40}
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse ends
//! 2.1 app failed
//! also response-undelivered
//! ```
//!
//! # Instead
//! Treat an end without the response as an unknown outcome: resume the stream, or tell the application that nothing is known.
//!
//! # Limits
//! Needs the client's own log, and a log of its traffic that shows responses. Calls that a client has open at the same time
//! are not told apart by most logs; nothing is said of them.

use super::Case;
use crate::event::Cause;
use crate::finding::{Certainty, Role, Step};
use crate::proof::{Court, Draft, cut, foreign, plain, request};
use crate::timeline::Answered;
use unbroken_contract::breach::Breach;

pub(super) const BREACH: Breach = Breach::EofTakenAsCompletion;
const HELP: &str = "treat an end without the response as an unknown outcome, not as an answer";

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    for (index, send) in timeline.sends.iter().enumerate() {
        let contact = &timeline.contacts[send.contact];
        let Some((told, origin)) = send.wish.as_ref().and_then(|wish| wish.returned) else { continue };
        let clean = contact.exchange.end.cause == Cause::Complete && contact.accepted();
        // The application may have been told of a later send of the same call.
        let again = timeline.sends.iter().enumerate().any(|(other, later)| {
            other != index && later.call == send.call && later.start >= send.start && later.start <= told
        });
        if send.answered != Answered::Never || !clean || again || told < contact.known_until() {
            continue;
        }
        let message = vec![
            plain("the client took the end of the stream of "),
            foreign(&send.call.tool),
            plain(" for its answer"),
        ];
        let certainty = if contact.tells_bodies() { Certainty::Proved } else { Certainty::Likely };
        let mut draft = Draft::new(BREACH, certainty, message, HELP);
        draft.session = send.session.map(|at| timeline.sessions[at].id.clone());
        draft.tool = Some(send.call.tool.clone());
        draft.proof.push(court.step(contact, Role::Send, request(contact)));
        let mut step =
            court.step(contact, Role::Cut, vec![plain(format!("the stream was {}", cut(contact)))]);
        step.at = Some(contact.known_until());
        draft.proof.push(step);
        let words = vec![plain("the client's own log: the call returned")];
        draft.proof.push(Step {
            exhibit: Some(court.exhibit(origin)),
            at: Some(told),
            role: Role::Conclude,
            words,
        });
        draft.missing = (certainty != Certainty::Proved)
            .then_some("a log with response bodies would show that no response came");
        draft.print.contact(timeline, send.contact, send.id.as_ref());
        court.report(draft);
    }
}
