//! A session reached an instance that does not know it while another does.
//!
//! # What happens
//! Several instances keep their sessions for themselves, and the balancer before them sends each request anywhere. One
//! instance answers 404 to a session that another one serves.
//!
//! # Why it matters
//! Contract 3.3: only the instance that owns the session may answer. The client is told that its session is over although
//! it is not, loses its calls in flight, or fails every second request.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1 by a
//! 0.2-0.3 POST S1 list #1 -> 404 by b
//! 0.4-0.5 POST S1 list #2 -> 200 answers #2 by a
//! also expired-session-kept
//! ```
//!
//! # Accepted
//! One instance that restarted and forgot its sessions; a session kept on its instance.
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1 by a
//! 5.2-5.3 POST S1 list #1 -> 404 by a
//! 5.4-5.5 POST initialize #0 -> 200 opens S2 by a
//! ```
//!
//! # Instead
//! Route by `Mcp-Session-Id` (consistent hashing on the header), or keep sessions where all instances see them.
//!
//! # Limits
//! Without the instance in the log, only a session that is accepted again after its 404 shows that two are at work. Where
//! the first instance is not seen again, it may have stopped: then the finding is *likely*.

use crate::quick::HashMap;
use super::Case;
use crate::event::{Delivered, Method};
use crate::finding::{Certainty, Role};
use crate::join::Contact;
use crate::proof::{Court, Draft, foreign, plain, request, session};
use crate::timeline::{Session, Timeline};
use std::collections::BTreeMap;
use unbroken_contract::breach::Breach;

pub(super) const BREACH: Breach = Breach::SessionMisrouted;
const HELP: &str = "route requests by Mcp-Session-Id, or share sessions between the instances";

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    let failures = failures(timeline);
    for held in &timeline.sessions {
        if let Some((refused, served, certainty)) = two_instances(timeline, held, &failures) {
            let draft = draft(timeline, held, refused, served, certainty, court);
            court.report(draft);
        }
    }
}

/// The last moment at which each instance was seen to fail: not reached, or answered for by the proxy.
fn failures(timeline: &Timeline) -> HashMap<&str, i64> {
    let mut failures = HashMap::default();
    for contact in &timeline.contacts {
        for attempt in &contact.exchange.attempts {
            let failed =
                attempt.delivered == Delivered::No || matches!(contact.exchange.status, Some(502 | 503));
            if let Some(upstream) = attempt.upstream.as_deref().filter(|_| failed) {
                failures.insert(upstream, contact.start);
            }
        }
    }
    failures
}

/// An instance in both namings: a proxy's address, the name in the server's own log.
type Instance<'a> = (Option<&'a str>, Option<&'a str>);

/// A refusal and an acceptance of the session that one instance alone cannot have given. Of every instance only its
/// first and last acceptance matter, so the work is linear in the session's contacts.
fn two_instances(
    timeline: &Timeline,
    held: &Session,
    failures: &HashMap<&str, i64>,
) -> Option<(usize, usize, Certainty)> {
    let of = |at: usize| &timeline.contacts[at];
    held.gone?;
    let mut served: BTreeMap<Instance<'_>, (usize, usize)> = BTreeMap::new();
    for at in held.contacts.iter().copied().filter(|at| of(*at).accepted()) {
        served
            .entry((of(at).upstream(), of(at).server.as_deref()))
            .and_modify(|(_, last)| *last = at)
            .or_insert((at, at));
    }
    let ended = |at: usize| held.deleted.is_some_and(|deleted| deleted < at && of(deleted).accepted());
    let refused = held.contacts.iter().copied().filter(|at| {
        let contact = of(*at);
        let refused = contact.session_in().is_some() && contact.exchange.status == Some(404);
        refused && contact.exchange.method != Method::Delete && !ended(*at)
    });
    let mut best: Option<(usize, usize, Certainty)> = None;
    for refusal in refused {
        for at in served.values().flat_map(|(first, last)| [*first, *last]) {
            let certainty = tells(of(refusal), of(at), failures);
            if certainty > best.map(|(_, _, certainty)| certainty) {
                best = certainty.map(|certainty| (refusal, at, certainty));
            }
        }
        if best.is_some_and(|(_, _, certainty)| certainty == Certainty::Proved) {
            break;
        }
    }
    best
}

fn tells(refused: &Contact, served: &Contact, failures: &HashMap<&str, i64>) -> Option<Certainty> {
    let after = served.start >= refused.known_until();
    // A proxy's addresses and the servers' own names are two namings of the same instances.
    let (x, y) = match (refused.upstream(), served.upstream()) {
        (Some(x), Some(y)) => (Some(x), Some(y)),
        _ => (refused.server.as_deref(), served.server.as_deref()),
    };
    match (x, y) {
        (Some(x), Some(y)) if x == y => None,
        (Some(_), Some(_)) if after => Some(Certainty::Proved),
        // The owner may have stopped in between, as in a deploy; seen to fail since, it had.
        (Some(_), Some(owner)) => {
            failures.get(owner).is_none_or(|failed| *failed < served.start).then_some(Certainty::Likely)
        }
        // No instance is told. A GET's 404 beside working POSTs is one instance that offers no stream.
        _ if after && (refused.exchange.method == Method::Post || served.exchange.method == Method::Get) => {
            Some(Certainty::Proved)
        }
        _ => None,
    }
}

fn draft(
    timeline: &Timeline,
    held: &Session,
    refused: usize,
    served: usize,
    certainty: Certainty,
    court: &Court<'_>,
) -> Draft {
    let message = vec![
        plain("session "),
        session(&held.id),
        plain(" reached an instance that does not know it while another does"),
    ];
    let mut draft = Draft::new(BREACH, certainty, message, HELP);
    draft.session = Some(held.id.clone());
    let mut order = [(served, Role::Deliver, "accepted"), (refused, Role::Refuse, "refused with 404")];
    order.sort_by_key(|(at, ..)| *at);
    for (at, role, what) in order {
        let contact = &timeline.contacts[at];
        let mut words = request(contact);
        words.push(plain(format!(" was {what}")));
        if let Some(instance) = contact.instance() {
            words.extend([plain(" by "), foreign(instance)]);
        }
        draft.proof.push(court.step(contact, role, words));
    }
    if certainty != Certainty::Proved {
        draft.missing = Some("a later answer of the first instance would show that it still ran");
    }
    draft.print.text(&held.id);
    draft
}
