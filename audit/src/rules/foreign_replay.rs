//! A resume brings what belongs to another stream.
//!
//! # What happens
//! A stream is resumed, and the server replays events that it had delivered on another stream, or the response to another
//! stream's request.
//!
//! # Why it matters
//! MCP, transports, resumability: a server must not replay messages that would have been delivered on a different stream. A
//! client that acts on every event acts twice; one that trusts its cursor now holds another stream's.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 0.5-1.5 POST S1 list #1 -> 200 sse id a1 progress a2 answers #1 ends
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse id e1 cut
//! 2.5-3.0 GET S1 after e1 -> 200 sse progress a2 answers #2 ends
//! ```
//!
//! # Accepted
//! A new message may come on any stream.
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 0.5-1.5 POST S1 list #1 -> 200 sse id a1 progress a2 answers #1 ends
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse id e1 cut
//! 2.5-3.0 GET S1 after e1 -> 200 sse progress e2 answers #2 ends
//! ```
//!
//! # Instead
//! Keep the stream with every stored event, and replay only those of the cursor's own stream.
//!
//! # Limits
//! Needs the events of streams. Where a server uses one event id on several streams (`event-id-reused`), a cursor names no
//! stream, and nothing is said.

use crate::quick::{HashMap, HashSet};
use super::Case;
use crate::event::{Message, RpcId, SseEvent};
use crate::finding::{Certainty, Role};
use crate::proof::{Court, Draft, foreign, plain, request};
use crate::timeline::close::same_id;
use crate::timeline::{Opening, Stream, Timeline};
use unbroken_contract::breach::Breach;

pub(super) const BREACH: Breach = Breach::ForeignReplay;
const HELP: &str = "replay only the events of the stream that the cursor belongs to";

/// Who delivered an event with data first: its stream and its contact.
type Delivered<'a> = HashMap<(Option<usize>, &'a str, u64), (usize, usize)>;

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    let delivered = delivered(timeline);
    let shared = shared_ids(timeline);
    for (index, stream) in timeline.streams.iter().enumerate() {
        for opening in &stream.openings {
            let Some(cursor) = opening.presented.as_deref() else { continue };
            // A cursor that no stream issued, or several did, names no stream.
            let own = stream.ids.iter().any(|(id, at)| &**id == cursor && *at < opening.contact);
            if !own || shared.contains(&(stream.session, cursor)) {
                continue;
            }
            let found = seen_elsewhere(timeline, (index, stream), opening, &delivered, &shared)
                .or_else(|| others_response(timeline, (index, stream), opening));
            if let Some((id, before)) = found
                && court.resumes.insert(opening.contact)
            {
                report(timeline, opening, id, before, court);
            }
        }
    }
}

fn delivered(timeline: &Timeline) -> Delivered<'_> {
    let mut delivered = Delivered::default();
    for (index, stream) in timeline.streams.iter().enumerate() {
        for opening in &stream.openings {
            let events = timeline.contacts[opening.contact].events().iter().filter(|event| event.has_data);
            for (id, hash) in events.filter_map(|event| Some((event.id.as_deref()?, event.data_hash))) {
                let slot = delivered.entry((stream.session, id, hash)).or_insert((index, opening.contact));
                if opening.contact < slot.1 {
                    *slot = (index, opening.contact);
                }
            }
        }
    }
    delivered
}

/// Ids that stand for different data on two streams of one session: such ids support no finding (contract, section 4).
fn shared_ids(timeline: &Timeline) -> HashSet<(Option<usize>, &str)> {
    let mut issued: HashMap<(Option<usize>, &str), (usize, u64)> = HashMap::default();
    let mut shared = HashSet::default();
    for (index, stream) in timeline.streams.iter().enumerate() {
        for opening in &stream.openings {
            for event in timeline.contacts[opening.contact].events() {
                let Some(id) = event.id.as_deref() else { continue };
                let first = issued.entry((stream.session, id)).or_insert((index, event.data_hash));
                if first.0 != index && first.1 != event.data_hash {
                    shared.insert((stream.session, id));
                }
            }
        }
    }
    shared
}

fn seen_elsewhere<'a>(
    timeline: &'a Timeline,
    (index, stream): (usize, &Stream),
    opening: &Opening,
    delivered: &Delivered<'_>,
    shared: &HashSet<(Option<usize>, &str)>,
) -> Option<(&'a str, usize)> {
    let contact = &timeline.contacts[opening.contact];
    contact.events().iter().filter(|event| event.has_data).find_map(|event: &SseEvent| {
        let id = event.id.as_deref()?;
        let (other, at) = *delivered.get(&(stream.session, id, event.data_hash))?;
        let elsewhere = other != index && at < opening.contact && !shared.contains(&(stream.session, id));
        elsewhere.then_some((id, at))
    })
}

/// The response to a request of another POST that had been delivered there, under whatever event id.
fn others_response<'a>(
    timeline: &'a Timeline,
    (index, stream): (usize, &Stream),
    opening: &Opening,
) -> Option<(&'a str, usize)> {
    let responses = |at: usize| {
        timeline.contacts[at].events().iter().filter_map(|event| match &event.message {
            Some(Message::Response(response)) => {
                Some((response.id.as_ref()?, event.data_hash, event.id.as_deref()))
            }
            _ => None,
        })
    };
    let before = |id: &RpcId, hash: u64| {
        timeline
            .streams
            .iter()
            .enumerate()
            .filter(|(other, s)| *other != index && s.session == stream.session)
            .find_map(|(_, other)| {
                let mut earlier = other.openings.iter().map(|o| o.contact).filter(|at| *at < opening.contact);
                earlier.find(|at| responses(*at).any(|(i, h, _)| same_id(i, id) && h == hash))
            })
    };
    // A request of this very stream was answered here, whoever else carried an equal response.
    let asked = &timeline.contacts[stream.openings[0].contact];
    let foreign = |id: &RpcId| !asked.requests().any(|r| r.id.as_ref().is_some_and(|own| same_id(own, id)));
    responses(opening.contact)
        .filter(|(id, ..)| foreign(id))
        .find_map(|(id, hash, event)| Some((event.unwrap_or("without an id"), before(id, hash)?)))
}

fn report(timeline: &Timeline, opening: &Opening, id: &str, before: usize, court: &mut Court<'_>) {
    let contact = &timeline.contacts[opening.contact];
    let message = vec![plain("event "), foreign(id), plain(" of another stream was replayed by a resume")];
    let mut draft = Draft::new(BREACH, Certainty::Proved, message, HELP);
    draft.session = contact.session().map(Into::into);
    let first = &timeline.contacts[before];
    let mut words = request(first);
    words.extend([plain(" delivered event "), foreign(id)]);
    draft.proof.push(court.step(first, Role::Deliver, words));
    draft.proof.push(court.step(contact, Role::Resume, request(contact)));
    let again = vec![plain("event "), foreign(id), plain(" came again on this stream")];
    draft.proof.push(court.step(contact, Role::Deliver, again));
    draft.print.text(id).contact(timeline, opening.contact, None);
    court.report(draft);
}
