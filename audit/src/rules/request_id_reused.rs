//! One JSON-RPC id is used for two requests in a session.
//!
//! # What happens
//! Two different requests of one session carry the same JSON-RPC id.
//!
//! # Why it matters
//! MCP, base protocol: an id must not have been used before in the session. Responses on resumed streams are told apart by
//! nothing else: the answer to the first may be taken for the answer to the second.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-1.1 POST S1 call pay #1 {"amount":1} -> 200 answers #1
//! 2.0-2.1 POST S1 call pay #1 {"amount":2} -> 200 answers #1
//! ```
//!
//! # Accepted
//! A refused request that is sent again is the same request; ids of two types differ.
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-1.1 POST S1 call pay #1 {"amount":1} -> 503
//! 2.0-2.1 POST S1 call pay #1 {"amount":1} -> 200 answers #1
//! ```
//!
//! # Instead
//! Count ids up for as long as the session lives.
//!
//! # Limits
//! Logs that keep ids as text cannot tell `2` from `"2"`: then nothing is said. One finding per session.

use crate::quick::HashMap;
use super::Case;
use crate::event::{RpcId, RpcRequest};
use crate::finding::{Certainty, Role};
use crate::proof::{Court, Draft, foreign, plain, request};
use crate::timeline::close::id_text;
use unbroken_contract::breach::Breach;
use unbroken_contract::era::Era;

pub(super) const BREACH: Breach = Breach::RequestIdReused;
const HELP: &str = "give every request of a session an id of its own";

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    for held in &timeline.sessions {
        let mut used: HashMap<&RpcId, (usize, &RpcRequest)> = HashMap::default();
        for at in held.contacts.iter().copied() {
            let contact = &timeline.contacts[at];
            if timeline.eras[at] != Some(Era::Sessioned)
                || !contact.accepted()
                || contact.session_in().is_none()
            {
                continue;
            }
            let typed = contact.requests().filter_map(|asked| asked.id.as_ref().map(|id| (id, asked)));
            let reused = typed.filter(|(id, _)| !matches!(id, RpcId::Untyped(_))).find_map(|(id, asked)| {
                let (before, first) = *used.entry(id).or_insert((at, asked));
                let same = first.method == asked.method && first.call == asked.call;
                (before != at && !same).then_some((id, before))
            });
            if let Some((id, before)) = reused {
                let message = vec![
                    plain("JSON-RPC id "),
                    foreign(id_text(id)),
                    plain(" was used for two requests in one session"),
                ];
                let mut draft = Draft::new(BREACH, Certainty::Proved, message, HELP);
                draft.session = Some(held.id.clone());
                for at in [before, at] {
                    let contact = &timeline.contacts[at];
                    draft.proof.push(court.step(contact, Role::Send, request(contact)));
                }
                draft.print.text(&held.id);
                court.report(draft);
                break;
            }
        }
    }
}
