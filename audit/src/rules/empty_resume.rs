//! A resume is answered 200 and ends without an event although the stream had not ended.
//!
//! # What happens
//! The client resumes a stream whose response is still due. The server accepts, sends nothing, and ends the stream.
//!
//! # Why it matters
//! Contract 3.3: a server that cannot replay must say so, never answer with a clean empty stream. The client cannot tell
//! "nothing new yet" from "lost for ever".
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse id e1 cut
//! 2.5-2.6 GET S1 after e1 -> 200 sse ends
//! also response-undelivered
//! ```
//!
//! # Accepted
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse id e1 cut
//! 2.5-3.0 GET S1 after e1 -> 200 sse answers #2 ends
//! ```
//!
//! A proxy that cuts idle streams ends this one like those before it.
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse id e1 idle
//! 2.5-3.5 GET S1 after e1 -> 200 sse ends
//! 4.0-4.5 GET S1 after e1 -> 200 sse answers #2 ends
//! ```
//!
//! # Instead
//! Keep the resumed stream open until the response is there, or reject the resume with 400 or 404 and a reason.
//!
//! # Limits
//! A proxy that ends an idle stream in order looks the same from the client's side: *likely* at most, and silent where the
//! proxy's log tells of a cut.

use super::Case;
use crate::event::{Cause, Nanos};
use crate::finding::{Certainty, Role};
use crate::join::Contact;
use crate::proof::{Court, Draft, plain, request, who_ended};
use crate::timeline::close::at_idle_limit;
use crate::timeline::{Stream, Timeline};
use unbroken_contract::breach::Breach;

pub(super) const BREACH: Breach = Breach::EmptyResume;
/// No proxy is set to a shorter limit on purpose.
const SHORTEST_LIMIT: Nanos = 500_000_000;
const HELP: &str = "keep a resumed stream open until its response, or reject the resume with a reason";

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    for stream in timeline.streams.iter().filter(|stream| !stream.listens) {
        let mut empty = empty(timeline, stream);
        empty.retain(|at| court.resumes.insert(*at));
        let (Some(first), Some(last)) = (empty.first(), empty.last()) else { continue };
        let message = match empty.len() {
            1 => "a resume was accepted and ended without an event although a response was due".to_owned(),
            times => format!(
                "{times} resumes were accepted and ended without an event although a response was due"
            ),
        };
        let mut draft = Draft::new(BREACH, Certainty::Likely, vec![plain(message)], HELP);
        let contact = &timeline.contacts[*first];
        draft.session = contact.session().map(Into::into);
        let asked = &timeline.contacts[stream.openings[0].contact];
        draft.proof.push(court.step(asked, Role::Send, request(asked)));
        // The first and the last tell the story; the count is in the message.
        for at in [*first, *last].into_iter().take(empty.len()) {
            let contact = &timeline.contacts[at];
            draft.proof.push(court.step(contact, Role::Resume, request(contact)));
            let words = vec![plain("the resumed stream ended in order, without an event")];
            let mut step = court.step(contact, Role::Cut, words);
            step.at = contact.end.or(step.at);
            draft.proof.push(step);
        }
        draft.missing = Some(who_ended(contact));
        draft.print.contact(timeline, *first, None);
        court.report(draft);
    }
}

/// The resumes of a stream that ended in order and without an event while its response was due.
fn empty(timeline: &Timeline, stream: &Stream) -> Vec<usize> {
    let at_answer = stream.openings.iter().map(|opening| opening.contact);
    let answered = at_answer.into_iter().find(|at| timeline.contacts[*at].answers().next().is_some());
    let resumes = stream.openings.iter().filter(|opening| opening.presented.is_some());
    let empty = resumes.map(|opening| opening.contact).filter(|at| {
        let contact = &timeline.contacts[*at];
        let ended = contact.exchange.end.cause == Cause::Complete && contact.end.is_some();
        let empty = contact.accepted() && contact.tells_bodies() && contact.events().is_empty();
        ended && empty && answered.is_none_or(|answered| answered > *at) && !at_a_limit(timeline, contact)
    });
    empty.collect()
}

/// Whether a stream lasted as long as a usual idle timeout, or as another of the client's that a proxy cut: then the proxy
/// ended this one too, in order.
fn at_a_limit(timeline: &Timeline, contact: &Contact) -> bool {
    let length = |contact: &Contact| contact.end.map(|end| end - contact.start);
    let Some(own) = length(contact).filter(|length| *length >= SHORTEST_LIMIT) else { return false };
    let cut = |other: &Contact| {
        let limits = [Cause::UpstreamIdleTimeout, Cause::UnknownCut, Cause::ProxyDeadline];
        limits.contains(&other.exchange.end.cause)
            && length(other).is_some_and(|length| (length - own).abs() <= own / 20)
    };
    at_idle_limit(contact) || timeline.contacts.iter().any(cut)
}
