//! A resume is answered by a server that does not own the session.
//!
//! # What happens
//! A GET with `Last-Event-ID` is accepted although its session was ended, or is answered with the events of another session:
//! the server looked the event id up and never asked whose it is.
//!
//! # Why it matters
//! Contract 3.3: before the first replayed event a server shows that it owns the session, the cursor and the log. One that
//! does not hands one client's messages to another, or lets a dead session go on as a ghost.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 list #1 -> 200 sse progress e1 answers #1 ends
//! 2.1-2.2 DELETE S1 -> 200
//! 5.0-5.5 GET S1 after e1 -> 200 sse progress e2 ends
//! ```
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 list #1 -> 200 sse id e1 progress e2 answers #1 ends
//! 2.1-2.2 DELETE S1 -> 200
//! 3.0-3.1 POST initialize #0 -> 200 opens S2
//! 3.5-4.0 GET S2 after e1 -> 200 sse progress e2 ends
//! also cursor-outlives-session
//! ```
//!
//! # Accepted
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 list #1 -> 200 sse progress e1 answers #1 ends
//! 2.1-2.2 DELETE S1 -> 200
//! 5.0-5.1 GET S1 after e1 -> 404
//! ```
//!
//! # Instead
//! Look the session up first, then the cursor within its log; reject with 404 or 400 and a reason.
//!
//! # Limits
//! Whether an instance holds a session's log is not in any log; only a resume of a session that is over, or one that brings
//! another session's events, proves that it does not.

use crate::quick::HashMap;
use super::Case;
use crate::event::Nanos;
use crate::finding::{Certainty, Role};
use crate::proof::{Court, Draft, plain, request, session};
use crate::timeline::Timeline;
use unbroken_contract::breach::Breach;
use unbroken_contract::era::Era;

pub(super) const BREACH: Breach = Breach::UnownedResume;
const HELP: &str = "check the session before the cursor, and reject a resume of a session that is not held";

/// Requests that were on their way when the session was ended (contract section 5: use within seconds of a DELETE).
const RACE: Nanos = 2_000_000_000;

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    let delivered = delivered(timeline);
    for (at, contact) in timeline.contacts.iter().enumerate() {
        let Some(own) = timeline.of_session[at].filter(|_| timeline.eras[at] == Some(Era::Sessioned)) else {
            continue;
        };
        if contact.exchange.request.last_event_id.is_none()
            || !contact.accepted()
            || contact.exchange.status == Some(204)
        {
            continue;
        }
        let shown = over(timeline, own, at).or_else(|| others_events(timeline, own, at, &delivered));
        if let Some((before, what)) = shown
            && court.resumes.insert(at)
        {
            report(timeline, at, before, what, court);
        }
    }
}

/// The accepted DELETE after which the session was resumed.
fn over(timeline: &Timeline, own: usize, at: usize) -> Option<(usize, &'static str)> {
    let deleted = timeline.sessions[own].deleted.filter(|deleted| timeline.contacts[*deleted].accepted())?;
    let ended = timeline.contacts[deleted].known_until() + RACE;
    (timeline.contacts[at].start > ended).then_some((deleted, "had been ended by a DELETE"))
}

/// Who delivered an event with data first: session and contact.
type Delivered<'a> = HashMap<(&'a str, u64), Vec<(usize, usize)>>;

fn delivered(timeline: &Timeline) -> Delivered<'_> {
    let mut delivered = Delivered::default();
    let resumes = timeline.contacts.iter().any(|contact| contact.exchange.request.last_event_id.is_some());
    for (at, contact) in timeline.contacts.iter().enumerate().filter(|_| resumes) {
        let Some(own) = timeline.of_session[at] else { continue };
        for event in contact.events().iter().filter(|event| event.has_data) {
            if let Some(id) = event.id.as_deref() {
                delivered.entry((id, event.data_hash)).or_default().push((own, at));
            }
        }
    }
    delivered
}

/// A contact of another session that had delivered what this resume brings, which its own session had not.
fn others_events(
    timeline: &Timeline,
    own: usize,
    at: usize,
    delivered: &Delivered<'_>,
) -> Option<(usize, &'static str)> {
    let events = timeline.contacts[at].events().iter().filter(|event| event.has_data);
    let mut ids = events.filter_map(|event| Some((event.id.as_deref()?, event.data_hash)));
    ids.find_map(|key| {
        let by = delivered.get(&key)?;
        let earlier = || by.iter().filter(|(_, contact)| *contact < at);
        let foreign = earlier().find(|(session, _)| *session != own)?.1;
        earlier()
            .all(|(session, _)| *session != own)
            .then_some((foreign, "never had these events: another session had"))
    })
}

fn report(timeline: &Timeline, at: usize, before: usize, what: &'static str, court: &mut Court<'_>) {
    let contact = &timeline.contacts[at];
    let id = contact.session_in().unwrap_or_default();
    let message =
        vec![plain("a resume of session "), session(id), plain(" was answered although it "), plain(what)];
    let mut draft = Draft::new(BREACH, Certainty::Proved, message, HELP);
    draft.session = Some(id.into());
    let first = &timeline.contacts[before];
    draft.proof.push(court.step(first, Role::Send, request(first)));
    draft.proof.push(court.step(contact, Role::Resume, request(contact)));
    draft.proof.push(court.step(contact, Role::Deliver, vec![plain("the resume was accepted")]));
    draft.print.text(id).contact(timeline, at, None);
    court.report(draft);
}
