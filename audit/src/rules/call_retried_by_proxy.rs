//! A proxy delivered one `tools/call` more than once.
//!
//! # What happens
//! A proxy waits for the response to a POST, loses patience or the connection, and sends the same POST to another
//! upstream. The client sent it once and sees one response at most.
//!
//! # Why it matters
//! RFC 9110, 9.2.2: a proxy must not repeat a request with a method that is not idempotent. Both upstreams may have run
//! the tool, and nobody who looks at the client can see it.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-3.0 POST S1 call pay #2 {"amount":40} -> 504 by b tried a,b
//! ```
//!
//! # Accepted
//! A try that never connected delivered nothing.
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 answers #2 by b refused a
//! ```
//!
//! # Instead
//! nginx: leave `non_idempotent` out of `proxy_next_upstream`. HAProxy: keep `retry-on` to `conn-failure` for POST.
//! Envoy, Traefik, Caddy: retry on connect failures only.
//!
//! # Limits
//! HAProxy counts retries without saying whether the request had been delivered; what it logs is *likely* at most, and
//! only where the last try ended by a timeout, which a connect failure cannot. A log nearer to the client than the proxy
//! cannot show this at all.

use super::Case;
use crate::event::{Cause, Delivered};
use crate::finding::{Certainty, Role};
use crate::join::Contact;
use crate::proof::{Court, Draft, answer, foreign, plain, request};
use unbroken_contract::breach::Breach;

pub(super) const BREACH: Breach = Breach::CallRetriedByProxy;
const HELP: &str = "restrict the proxy's retries of POST to failed connects";

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    for send in &timeline.sends {
        let contact = &timeline.contacts[send.contact];
        let hints = timeline.tools.hints(contact.exchange.path.as_deref(), &send.call.tool);
        if !hints.contradict() && (hints.read_only == Some(true) || hints.idempotent == Some(true)) {
            continue;
        }
        let Some((certainty, tries)) = deliveries(contact) else { continue };
        let message = vec![
            plain(format!("a proxy delivered one tools/call {tries} times: ")),
            foreign(&send.call.tool),
        ];
        let mut draft = Draft::new(BREACH, certainty, message, HELP);
        draft.session = contact.session().map(Into::into);
        draft.tool = Some(send.call.tool.clone());
        draft.print.contact(timeline, send.contact, send.id.as_ref());
        draft.proof.push(court.step(contact, Role::Send, request(contact)));
        for attempt in &contact.exchange.attempts {
            let mut words = vec![plain("the proxy sent it to ")];
            words.push(
                attempt
                    .upstream
                    .as_deref()
                    .map_or_else(|| plain("an upstream that is not recorded"), foreign),
            );
            if let Some(status) = attempt.status {
                words.push(plain(format!(", which ended with {status}")));
            }
            draft.proof.push(court.step(contact, Role::Send, words));
        }
        draft.proof.push(court.step(
            contact,
            Role::Deliver,
            vec![plain(format!("the client was {}", answer(contact)))],
        ));
        if certainty != Certainty::Proved {
            draft.missing =
                Some("whether the earlier tries were delivered: the proxy's retry-on, or the servers' logs");
        }
        court.report(draft);
    }
}

/// How often the request was delivered, if more than once.
pub(super) fn deliveries(contact: &Contact) -> Option<(Certainty, usize)> {
    let attempts = &contact.exchange.attempts;
    let sure = attempts.iter().filter(|attempt| attempt.delivered == Delivered::Yes).count();
    let open = attempts.iter().filter(|attempt| attempt.delivered == Delivered::Unknown).count();
    if sure > 1 {
        return Some((Certainty::Proved, sure));
    }
    let by_timeout = !contact.accepted() && contact.exchange.end.cause == Cause::UpstreamIdleTimeout;
    (sure == 1 && open > 0 && by_timeout).then_some((Certainty::Likely, sure + open))
}
