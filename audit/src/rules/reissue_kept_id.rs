//! A stateless request is sent again with the id of one still unanswered.
//!
//! # What happens
//! In the stateless era a stream breaks, and the client sends the request again under the same JSON-RPC id.
//!
//! # Why it matters
//! MCP 2026-07-28, transports: a request that is sent again must have a new id. The server may still work on the first one,
//! and cannot tell the two apart.
//!
//! # Flagged
//! ```flagged
//! 1.0-2.0 POST call pay #2 {"amount":40} version 2026-07-28 -> 200 sse cut
//! 2.5-3.0 POST call pay #2 {"amount":40} version 2026-07-28 -> 200 answers #2
//! also duplicate-invocation, response-undelivered
//! ```
//!
//! # Accepted
//! ```accepted
//! 1.0-1.1 POST call pay #2 {"amount":40} version 2026-07-28 -> 503
//! 2.5-3.0 POST call pay #2 {"amount":40} version 2026-07-28 -> 200 answers #2
//! ```
//!
//! # Instead
//! Count ids up, also for what is sent again.
//!
//! # Limits
//! Ids start anew with every process, so a restarted client looks the same: *likely* where nothing else ties the two.

use super::Case;
use crate::event::RpcId;
use crate::finding::{Certainty, Role};
use crate::proof::{Court, Draft, foreign, plain, request};
use crate::timeline::Reached;
use crate::timeline::close::id_text;
use unbroken_contract::breach::Breach;
use unbroken_contract::era::Era;

pub(super) const BREACH: Breach = Breach::ReissueKeptId;
const HELP: &str = "send a request again under a new JSON-RPC id";

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    for chain in case.chains {
        let sends: Vec<_> = chain.sends.iter().map(|at| &timeline.sends[*at]).collect();
        let kept = sends.windows(2).find(|pair| {
            let typed = |id: &Option<RpcId>| id.as_ref().is_some_and(|id| !matches!(id, RpcId::Untyped(_)));
            pair[0].era == Some(Era::Stateless)
                && pair[0].reached == Reached::Yes
                && typed(&pair[0].id)
                && pair[0].id == pair[1].id
        });
        let Some(pair) = kept else { continue };
        let id = pair[0].id.as_ref().map(id_text).unwrap_or_default();
        let message = vec![
            foreign(&pair[0].call.tool),
            plain(" was sent again under JSON-RPC id "),
            foreign(id),
            plain(", still unanswered"),
        ];
        let mut draft = Draft::new(BREACH, Certainty::Likely, message, HELP);
        draft.tool = Some(pair[0].call.tool.clone());
        for send in pair {
            let contact = &timeline.contacts[send.contact];
            draft.proof.push(court.step(contact, Role::Send, request(contact)));
        }
        draft.same_by = Some(timeline.client.same_by());
        draft.missing = Some("the client's own log would show that one process sent both");
        draft.print.text(id).contact(timeline, pair[0].contact, None).contact(
            timeline,
            pair[1].contact,
            None,
        );
        court.report(draft);
    }
}
