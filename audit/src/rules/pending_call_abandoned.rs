//! A client starts anew and leaves a waiting call without an answer.
//!
//! # What happens
//! The stream of a call is lost. The client reconnects or initializes again, goes on working, and never tells the
//! application what became of the call: neither a result nor a failure.
//!
//! # Why it matters
//! Contract 3.2: what was in flight when a session or stream was given up is reconciled or failed. A call that waits for
//! ever holds its caller, and nobody learns that its outcome is unknown.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0 app call pay {"amount":40}
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse cut
//! 2.5-2.6 POST initialize #0 -> 200 opens S2
//! 3.0 app call list {}
//! 3.0-3.5 POST S2 call list #3 {} -> 200 answers #3
//! 3.6 app returned
//! 90.0 app call list {}
//! 90.0-90.5 POST S2 call list #4 {} -> 200 answers #4
//! 90.6 app returned
//! also session-discarded, response-undelivered
//! ```
//!
//! # Accepted
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0 app call pay {"amount":40}
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse cut
//! 2.1 app failed
//! 2.5-2.6 POST initialize #0 -> 200 opens S2
//! 3.0 app call list {}
//! 3.0-3.5 POST S2 call list #3 {} -> 200 answers #3
//! 3.6 app returned
//! 90.0 app call list {}
//! 90.0-90.5 POST S2 call list #4 {} -> 200 answers #4
//! 90.6 app returned
//! also session-discarded, response-undelivered
//! ```
//!
//! # Instead
//! When a session or stream is given up, fail every call that waits on it with "outcome unknown".
//!
//! # Limits
//! Needs the client's own log. A process that ended looks the same, so the same process must still be logging half a minute
//! later: *likely* at most.

use super::Case;
use crate::event::Nanos;
use crate::finding::{Certainty, Role, Step};
use crate::proof::{Court, Draft, foreign, plain, request};
use crate::timeline::wish::Wish;
use crate::timeline::{Answered, Send, Timeline};
use unbroken_contract::breach::Breach;

pub(super) const BREACH: Breach = Breach::PendingCallAbandoned;
const HELP: &str = "fail every call that waits on a session or stream that is given up";

/// How long the same process must have gone on logging after it started anew.
const PATIENCE: Nanos = 30_000_000_000;

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    // Some wish of the process was never told an outcome; it is this one if no other send lacks its response.
    let lacking = |send: &&Send| send.wish.as_ref().is_some_and(waits) && send.answered == Answered::Never;
    let lacking: Vec<&Send> = timeline.sends.iter().filter(lacking).collect();
    if let [send] = lacking[..] {
        let Some(wish) = send.wish.as_ref().filter(|wish| waits(wish)) else { return };
        let Some(anew) = started_anew(timeline, send) else { return };
        let begun = &timeline.contacts[anew];
        if wish.alive_until < begun.start.saturating_add(PATIENCE) {
            return;
        }
        let contact = &timeline.contacts[send.contact];
        let message =
            vec![plain("the client started anew and never told what became of "), foreign(&send.call.tool)];
        let mut draft = Draft::new(BREACH, Certainty::Likely, message, HELP);
        draft.session = send.session.map(|at| timeline.sessions[at].id.clone());
        draft.tool = Some(send.call.tool.clone());
        draft.proof.push(court.step(contact, Role::Send, request(contact)));
        draft.proof.push(court.step(begun, Role::Initialize, request(begun)));
        let words = vec![plain(
            "the client's own log: it asked for the call, and neither result nor failure follows",
        )];
        draft.proof.push(Step {
            exhibit: Some(court.exhibit(wish.origin)),
            at: Some(wish.at),
            role: Role::Conclude,
            words,
        });
        draft.missing =
            Some("a log of the client to its end would show that the call stays without an answer");
        draft.print.contact(timeline, send.contact, send.id.as_ref());
        court.report(draft);
    }
}

fn waits(wish: &Wish) -> bool {
    wish.returned.is_none() && wish.failed.is_none() && wish.untold > 0
}

/// The `initialize` with which the client went on after the call's own stream had ended.
fn started_anew(timeline: &Timeline, send: &Send) -> Option<usize> {
    let over = send.closed?;
    let after =
        |at: &&usize| timeline.contacts[**at].start >= over && timeline.of_session[**at] != send.session;
    timeline.initializes.iter().find(after).copied()
}
