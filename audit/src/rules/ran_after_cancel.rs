//! A handler ran on after its stateless stream was closed.
//!
//! # What happens
//! In the stateless era the response stream is closed before the response. That asks for cancellation, and the handler runs on
//! to its effect all the same.
//!
//! # Why it matters
//! MCP 2026-07-28, transports: a server should stop the work of a request whose stream was closed. The client is told to send
//! the request again; if the first one also takes effect, it happens twice.
//!
//! # Flagged
//! ```flagged
//! 1.0-2.0 POST call pay #2 {"amount":40} version 2026-07-28 -> 200 sse idle
//! 1.1 run pay #2 started
//! 9.0 run pay #2 effect
//! also response-undelivered
//! ```
//!
//! The end of the stream is not told, and the client went on:
//! ```flagged
//! 1.0 POST call pay #2 {"amount":40} version 2026-07-28 -> 200 sse cut
//! 1.1 run pay #2 started
//! 2.0-3.0 POST call pay #3 {"amount":40} version 2026-07-28 -> 200 answers #3
//! 9.0 run pay #2 finished
//! also response-undelivered, duplicate-invocation
//! ```
//!
//! # Accepted
//! ```accepted
//! 1.0-2.0 POST call pay #2 {"amount":40} version 2026-07-28 -> 200 sse closed
//! 1.1 run pay #2 started
//! 2.1 run pay #2 aborted
//! ```
//!
//! # Instead
//! Tie the handler to the stream: stop it when the stream closes, before its effect.
//!
//! # Limits
//! Needs the server's own log and the end of the stream. A HAR does not tell when a stream that broke off ended: there the call
//! that was sent again shows that it had, and the finding is *likely*; without one there is none. Within five seconds of the close it is a note: a handler may be past
//! the point where it can stop.

use super::Case;
use crate::event::{Nanos, Origin};
use crate::finding::{Certainty, Role, Step};
use crate::proof::{Court, Draft, cut, foreign, plain, request, seconds};
use crate::timeline::Send;
use unbroken_contract::breach::{Breach, Level};
use unbroken_contract::era::Era;

pub(super) const BREACH: Breach = Breach::RanAfterCancel;
const HELP: &str = "stop the handler when the response stream is closed";

/// A handler that ends this soon after the close was past stopping (contract section 4).
const PAST_STOPPING: Nanos = 5_000_000_000;

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    let due = |send: &Send| send.era == Some(Era::Stateless) && send.unanswered();
    for (at, send) in timeline.sends.iter().enumerate().filter(|(_, send)| due(send)) {
        // Where the end of the stream is not told, the client had left it when it sent the call again.
        let told = send.closed.is_some();
        let again = || sent_again(case, at);
        let (Some(closed), Some(run)) = (send.closed.or_else(again), &send.run) else { continue };
        let late: Option<(Nanos, Origin)> =
            [run.effect, run.finished].into_iter().flatten().find(|(at, _)| *at > closed);
        let Some((at, origin)) = late else { continue };
        let contact = &timeline.contacts[send.contact];
        let message = vec![
            foreign(&send.call.tool),
            plain(match told {
                true => format!(" ran on for {} after its stream was closed", seconds(at - closed)),
                false => format!(" ran on for {} after it had been sent again", seconds(at - closed)),
            }),
        ];
        let certainty = if told { Certainty::Proved } else { Certainty::Likely };
        let mut draft = Draft::new(BREACH, certainty, message, HELP);
        draft.missing = (!told).then_some("a log that tells when the stream ended would show that it was closed by then");
        draft.level = (at - closed <= PAST_STOPPING).then_some(Level::Note);
        draft.tool = Some(send.call.tool.clone());
        draft.proof.push(court.step(contact, Role::Send, request(contact)));
        let mut step =
            court.step(contact, Role::Cut, vec![plain(format!("the stream was {}", cut(contact)))]);
        step.at = Some(closed);
        draft.proof.push(step);
        draft.proof.extend(court.noted(contact));
        let words = vec![plain(if run.effect.is_some_and(|(effect, _)| effect == at) {
            "the tool took effect"
        } else {
            "the tool finished"
        })];
        draft.proof.push(Step { exhibit: Some(court.exhibit(origin)), at: Some(at), role: Role::Run, words });
        draft.print.contact(timeline, send.contact, send.id.as_ref()).text(&send.start.to_string());
        court.report(draft);
    }
}

/// When a send was repeated.
fn sent_again(case: &Case<'_>, at: usize) -> Option<Nanos> {
    let chain = &case.chains[*case.chain_of.get(&at)?];
    let next = chain.sends.iter().find(|send| **send > at)?;
    Some(case.timeline.sends[*next].start)
}
