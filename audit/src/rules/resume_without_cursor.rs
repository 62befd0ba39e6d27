//! A stream that delivered event ids is reopened without `Last-Event-ID`.
//!
//! # What happens
//! A stream ends before its response. Its events had ids, so the server can replay what was missed. The client opens a
//! GET without `Last-Event-ID`: it gets what comes next, never what it missed.
//!
//! # Why it matters
//! MCP, transports, resumability: a client that wants to resume should send `Last-Event-ID`. Without it the response to
//! the call is lost although the server may hold it.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse id e1 cut
//! 2.5-3.5 GET S1 -> 200 sse cut
//! also response-undelivered
//! ```
//!
//! # Accepted
//! A listening stream whose server never issued an id has no cursor to send.
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 0.2-1.2 GET S1 -> 200 sse cut
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse id e1 cut
//! 2.2-3.2 GET S1 -> 200 sse cut
//! 2.5-3.0 GET S1 after e1 -> 200 sse answers #2 ends
//! ```
//!
//! # Instead
//! Keep the last event id of every stream beside its session id and send it as `Last-Event-ID` on every reopening.
//!
//! # Limits
//! A GET without a cursor does not say which stream it is meant to carry on. Where a listening stream has ended that
//! never had an id, the GET is taken for its reopening. Needs the events of streams: access logs cannot show it.

use super::Case;
use crate::finding::{Certainty, Role};
use crate::proof::{Court, Draft, allowed, cut, foreign, plain, request};
use crate::timeline::{Opening, Stream, Timeline};
use unbroken_contract::breach::Breach;

pub(super) const BREACH: Breach = Breach::ResumeWithoutCursor;
const HELP: &str = "send the last event id as Last-Event-ID whenever a stream is reopened";

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    for stream in &case.timeline.streams {
        for opening in &stream.openings {
            if let (Some(cursor), None) = (&opening.cursor, &opening.presented) {
                let draft = draft(case.timeline, stream, opening, cursor, court);
                court.report(draft);
            }
        }
    }
}

fn draft(timeline: &Timeline, stream: &Stream, opening: &Opening, cursor: &str, court: &Court<'_>) -> Draft {
    let contact = &timeline.contacts[opening.contact];
    let message = vec![
        plain("a stream was reopened without Last-Event-ID although event "),
        foreign(cursor),
        plain(" was delivered"),
    ];
    let issuer = timeline
        .streams
        .iter()
        .flat_map(|other| &other.ids)
        .rfind(|(id, at)| &**id == cursor && *at < opening.contact);
    let certainty =
        if stream.openings.len() > 1 && stream.listens { Certainty::Proved } else { Certainty::Likely };
    let mut draft = Draft::new(BREACH, certainty, message, HELP);
    draft.session = contact.session().map(Into::into);
    if let Some((_, at)) = issuer {
        let before = &timeline.contacts[*at];
        draft.proof.push(court.step(before, Role::Send, request(before)));
        draft.proof.push(court.step(
            before,
            Role::Deliver,
            vec![plain("event "), foreign(cursor), plain(" was delivered")],
        ));
        let mut step = court.step(before, Role::Cut, vec![plain(format!("the stream was {}", cut(before)))]);
        step.at = Some(before.known_until());
        draft.proof.push(step);
    }
    draft.proof.push(court.step(contact, Role::Resume, request(contact)));
    draft.proof.extend(allowed(timeline, opening.contact));
    if certainty != Certainty::Proved {
        draft.missing = Some("the client's own log would show which stream the GET was meant to carry on");
    }
    draft.print.text(cursor).contact(timeline, opening.contact, None);
    draft
}
