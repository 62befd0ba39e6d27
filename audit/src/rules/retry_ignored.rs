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
use unbroken_contract::breach::Breach;

pub(super) const BREACH: Breach = Breach::RetryIgnored;
const HELP: &str = "wait for the larger of retry, Retry-After and the backoff before reopening";

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    for stream in &timeline.streams {
        let mut retry: Option<Nanos> = None;
        for pair in stream.openings.windows(2) {
            let (before, after) = (&timeline.contacts[pair[0].contact], &timeline.contacts[pair[1].contact]);
            retry = before.events().iter().filter_map(|event| event.retry).next_back().or(retry);
            let asked = retry.max(before.exchange.response.retry_after);
            let (Some(asked), Some(end)) = (asked, before.end) else { continue };
            let waited = after.start - end;
            // A start may be placed early by a clock's resolution; overlap means that the client did not wait for the end.
            let slack = before.precision.max(after.precision);
            if waited < 0 || (waited + slack).saturating_mul(10) >= asked.saturating_mul(9) {
                continue;
            }
            let message = vec![plain(format!(
                "a stream was reopened after {} although {} were asked for",
                seconds(waited),
                seconds(asked)
            ))];
            let mut draft = Draft::new(BREACH, Certainty::Proved, message, HELP);
            draft.session = after.session().map(Into::into);
            let mut step = court.step(
                before,
                Role::Cut,
                vec![plain(format!("the stream ended; the server had asked to wait {}", seconds(asked)))],
            );
            step.at = Some(end);
            draft.proof.push(step);
            draft.proof.push(court.step(after, Role::Resume, request(after)));
            draft.print.contact(timeline, pair[1].contact, None);
            court.report(draft);
        }
    }
}
