//! A `tools/call` was sent again although its first outcome is unknown.
//!
//! # What happens
//! The first send ended with 502, 504 or a lost connection. Whether it reached a server is not shown, and the client
//! sends the same call again as if it had not.
//!
//! # Why it matters
//! Contract 3.6: such an end leaves the outcome unknown, so only a declared idempotency key or a hint of the tool makes
//! a second send safe. If the first one ran, the effect is there twice.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 504
//! 2.5-3.0 POST S1 call pay #3 {"amount":40} -> 200 answers #3
//! ```
//!
//! # Accepted
//! 503, 429 and failed connects come before any server has the request.
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-1.1 POST S1 call pay #2 {"amount":40} -> 503
//! 2.5-3.0 POST S1 call pay #3 {"amount":40} -> 200 answers #3
//! ```
//!
//! # Instead
//! Ask what became of the call (`tasks/get`, a read-only tool, a person), or declare an idempotency key.
//!
//! # Limits
//! When a log shows that the first send reached a server, the finding is `duplicate-invocation` instead. A 503 counts
//! only where the proxy's log shows an upstream attempt. An equal call on another session counts as a repeat within 300 s
//! of the failure; on the same session, or where an authenticated subject names the client, within an hour. The limits of
//! `duplicate-invocation` on time hold here too.

use super::Case;
use super::duplicate_invocation::{self, is_duplicate};
use crate::event::Delivered;
use crate::finding::Certainty;
use crate::pair::Chain;
use crate::proof::{Court, Draft, foreign, plain};
use crate::timeline::{Reached, Timeline};
use unbroken_contract::breach::Breach;

pub(super) const BREACH: Breach = Breach::BlindRetry;
const HELP: &str = "ask for the outcome before sending a call again, or declare an idempotency key";

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    for chain in
        case.chains.iter().filter(|chain| !is_duplicate(timeline, chain) && is_blind(timeline, chain))
    {
        let sends: Vec<_> = chain.sends.iter().map(|at| &timeline.sends[*at]).collect();
        let message =
            vec![foreign(&sends[0].call.tool), plain(" was sent again although its outcome is unknown")];
        let mut draft = Draft::new(BREACH, Certainty::Likely, message, HELP);
        draft.session = sends[0].session.map(|at| timeline.sessions[at].id.clone());
        draft.tool = Some(sends[0].call.tool.clone());
        draft.proof =
            sends.iter().flat_map(|send| duplicate_invocation::story(timeline, send, court)).collect();
        draft.sends = sends.iter().map(|send| court.sent(timeline, send)).collect();
        draft.missing =
            Some("the proxy's or the server's log would show whether the first send reached a server");
        duplicate_invocation::print(timeline, chain, &mut draft.print);
        court.report(draft);
    }
}

/// Whether an earlier send may have reached a server by one of the ends that contract 3.6 calls unknown.
fn is_blind(timeline: &Timeline, chain: &Chain) -> bool {
    let (_, earlier) = chain.sends.split_last().unwrap_or((&0, &[]));
    earlier.iter().any(|at| {
        let send = &timeline.sends[*at];
        let exchange = &timeline.contacts[send.contact].exchange;
        let tried = exchange.attempts.iter().any(|attempt| attempt.delivered != Delivered::No);
        send.reached == Reached::Unknown && (exchange.status != Some(503) || tried)
    })
}
