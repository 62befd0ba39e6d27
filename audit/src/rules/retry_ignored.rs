//! A reconnect comes earlier than the server's `retry` or `Retry-After`.
//!
//! # What happens
//! The server says how long to wait before the stream is opened again, and the client comes back sooner.
//!
//! # Why it matters
//! MCP, transports: a client must respect `retry`. A server that closes streams on purpose counts on it; a herd that does not
//! wait keeps it from recovering.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse id e1 retry 3000 ends
//! 2.2-3.0 GET S1 after e1 -> 200 sse answers #2 ends
//! ```
//!
//! # Accepted
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse id e1 retry 400 ends
//! 2.5-3.0 GET S1 after e1 -> 200 sse answers #2 ends
//! ```
//!
//! # Instead
//! Wait for the larger of `retry`, `Retry-After` and your own backoff.
//!
//! # Limits
//! Needs the end of the stream: where it is not recorded, nothing is said. A tenth is granted to clocks and timers.

use super::Case;
use crate::event::Nanos;
use crate::finding::{Certainty, Role};
use crate::proof::{Court, Draft, plain, request, seconds};
use crate::timeline::{Stream, Timeline};
use unbroken_contract::breach::Breach;

pub(super) const BREACH: Breach = Breach::RetryIgnored;
const HELP: &str = "wait for the larger of retry, Retry-After and the backoff before reopening";

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    for stream in &timeline.streams {
        let early = early(timeline, stream);
        let Some(first) = early.first() else { continue };
        let times = match early.len() {
            1 => String::new(),
            times => format!("{times} times, first "),
        };
        let message = format!(
            "a stream was reopened {times}after {} although {} were asked for",
            seconds(first.waited),
            seconds(first.asked)
        );
        let mut draft = Draft::new(BREACH, Certainty::Proved, vec![plain(message)], HELP);
        draft.session = timeline.contacts[first.after].session().map(Into::into);
        // The first and the last tell the story; the count is in the message.
        for haste in [first, &early[early.len() - 1]].into_iter().take(early.len()) {
            let (before, after) = (&timeline.contacts[haste.before], &timeline.contacts[haste.after]);
            let words = format!("the stream ended; the server had asked to wait {}", seconds(haste.asked));
            let mut step = court.step(before, Role::Cut, vec![plain(words)]);
            step.at = before.end;
            draft.proof.push(step);
            draft.proof.push(court.step(after, Role::Resume, request(after)));
        }
        draft.print.contact(timeline, first.after, None);
        court.report(draft);
    }
}

/// A reopening that came too soon.
struct Haste {
    before: usize,
    after: usize,
    waited: Nanos,
    asked: Nanos,
}

fn early(timeline: &Timeline, stream: &Stream) -> Vec<Haste> {
    let mut retry: Option<Nanos> = None;
    let mut early = Vec::new();
    for pair in stream.openings.windows(2) {
        let (before, after) = (&timeline.contacts[pair[0].contact], &timeline.contacts[pair[1].contact]);
        retry = before.events().iter().filter_map(|event| event.retry).next_back().or(retry);
        let asked = retry.max(before.exchange.response.retry_after);
        let (Some(asked), Some(end)) = (asked, before.end) else { continue };
        let waited = after.start - end;
        // A start may be placed early by a clock's resolution; overlap means that the client did not wait for the end.
        let slack = before.precision.max(after.precision);
        if waited >= 0 && (waited + slack).saturating_mul(10) < asked.saturating_mul(9) {
            early.push(Haste { before: pair[0].contact, after: pair[1].contact, waited, asked });
        }
    }
    early
}
