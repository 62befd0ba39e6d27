//! A cursor that the server does not hold is answered from the start of its buffer.
//!
//! # What happens
//! The client resumes with an event id that this session never issued. The server does not reject it: it replays what it
//! has, from the oldest event on.
//!
//! # Why it matters
//! Contract 3.5: a cursor below the floor or unknown is rejected, never clamped. What the client misses is lost in silence,
//! and what it had already is done again.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse progress e1 progress e2 cut
//! 2.5-3.0 GET S1 after x9 -> 200 sse progress e1 progress e2 answers #2 ends
//! ```
//!
//! # Accepted
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse progress e1 progress e2 cut
//! 2.5-2.6 GET S1 after x9 -> 400 lost
//! 2.7-3.0 GET S1 after e2 -> 200 sse answers #2 ends
//! ```
//!
//! # Instead
//! Reject a cursor that the log does not hold with 400 and a reason; never replace it by the oldest event.
//!
//! # Limits
//! Needs the session from its start and the events of all its streams: else the id may have been issued unseen.

use crate::quick::{HashMap, HashSet};
use super::Case;
use crate::event::Method;
use crate::finding::{Certainty, Role};
use crate::proof::{Court, Draft, foreign, plain, request};
use crate::timeline::Timeline;
use unbroken_contract::breach::Breach;

pub(super) const BREACH: Breach = Breach::ClampedCursor;
const HELP: &str = "reject a cursor that is not held with 400 instead of replaying from the oldest event";

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    for (index, held) in timeline.sessions.iter().enumerate() {
        let resumes = held
            .contacts
            .iter()
            .copied()
            .filter(|at| timeline.contacts[*at].exchange.request.last_event_id.is_some());
        let resumes: Vec<usize> = resumes.collect();
        if resumes.is_empty() || held.opened.is_none() {
            continue;
        }
        let Some(issued) = all_issued(timeline, index) else { continue };
        for at in resumes {
            let contact = &timeline.contacts[at];
            let cursor = contact.exchange.request.last_event_id.as_deref().unwrap_or_default();
            let unknown = !cursor.is_empty() && !issued.iter().any(|(id, by)| *id == cursor && *by < at);
            let had: HashMap<(&str, u64), usize> = had_before(timeline, index, at);
            let mut events = contact.events().iter().filter(|event| event.has_data);
            let first = events.next().and_then(|event| Some((event.id.as_deref()?, event.data_hash)));
            let (Some(first), true) = (first, unknown && contact.accepted()) else { continue };
            let Some(before) = had.get(&first) else { continue };
            if court.resumes.insert(at) {
                report(timeline, at, cursor, (first.0, *before), court);
            }
        }
    }
}

/// Every event id that a session issued; none if some of its streams were not read.
fn all_issued(timeline: &Timeline, session: usize) -> Option<HashSet<(&str, usize)>> {
    let mut issued = HashSet::default();
    for (at, contact) in timeline.of(session) {
        // A notification's acceptance and a DELETE carry no events.
        let streams = contact.exchange.method == Method::Get || contact.requests().next().is_some();
        if streams && contact.accepted() && !contact.tells_bodies() {
            return None;
        }
        issued.extend(contact.events().iter().filter_map(|event| Some((event.id.as_deref()?, at))));
    }
    Some(issued)
}

fn had_before(timeline: &Timeline, session: usize, until: usize) -> HashMap<(&str, u64), usize> {
    let mut had = HashMap::default();
    for (at, contact) in timeline.of(session).take_while(|(at, _)| *at < until) {
        for event in contact.events().iter().filter(|event| event.has_data) {
            if let Some(id) = event.id.as_deref() {
                had.entry((id, event.data_hash)).or_insert(at);
            }
        }
    }
    had
}

fn report(
    timeline: &Timeline,
    at: usize,
    cursor: &str,
    (again, before): (&str, usize),
    court: &mut Court<'_>,
) {
    let contact = &timeline.contacts[at];
    let message = vec![
        plain("a resume after "),
        foreign(cursor),
        plain(", which was never issued, began with "),
        foreign(again),
    ];
    let mut draft = Draft::new(BREACH, Certainty::Proved, message, HELP);
    draft.session = contact.session().map(Into::into);
    let first = &timeline.contacts[before];
    let mut words = request(first);
    words.extend([plain(" delivered event "), foreign(again)]);
    draft.proof.push(court.step(first, Role::Deliver, words));
    draft.proof.push(court.step(contact, Role::Resume, request(contact)));
    draft.proof.push(court.step(
        contact,
        Role::Deliver,
        vec![plain("event "), foreign(again), plain(" came again, first of all")],
    ));
    draft.print.text(cursor).contact(timeline, at, None);
    court.report(draft);
}

#[cfg(test)]
mod tests {
    use super::super::notation;
    use super::BREACH;

    fn is_flagged(story: &str) -> bool {
        let (findings, _) = crate::verdict::judge(notation::read(story).events, &["log".to_owned()]);
        findings.iter().any(|found| found.breach.0 == BREACH)
    }

    #[test]
    fn an_acceptance_without_a_recorded_body_hides_no_events() {
        let story = |between: &str| {
            format!(
                "0.0-0.1 POST initialize #0 -> 200 opens S1
                 {between}
                 1.0-2.0 POST S1 call pay #2 {{\"amount\":40}} -> 200 sse progress e1 progress e2 cut
                 2.5-3.0 GET S1 after x9 -> 200 sse progress e1 progress e2 answers #2 ends"
            )
        };
        assert!(is_flagged(&story("0.2-0.3 bare POST S1 notify -> 202")));
        // What a request was answered with may have had any event.
        assert!(!is_flagged(&story("0.2-0.3 bare POST S1 list #1 -> 200")));
    }
}
