//! A cursor is kept when the session that issued it is gone, or shared by several streams.
//!
//! # What happens
//! After a new `initialize`, the client presents an event id of the former session to the new one.
//!
//! # Why it matters
//! Contract 3.2: dropping a session drops its cursor. Event ids mean something only within the session that issued them; the
//! new one rejects the id, or takes it for one of its own and skips or repeats events.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 list #1 -> 200 sse id e1 answers #1 ends
//! 3.0-3.1 GET S1 after e1 -> 404
//! 3.2-3.3 POST initialize #0 -> 200 opens S2
//! 3.4-3.5 GET S2 after e1 -> 400
//! ```
//!
//! # Accepted
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 list #1 -> 200 sse id e1 answers #1 ends
//! 3.0-3.1 GET S1 after e1 -> 404
//! 3.2-3.3 POST initialize #0 -> 200 opens S2
//! 3.4-3.5 GET S2 -> 200 sse ends
//! ```
//!
//! # Instead
//! Keep session id and cursor in one value, and replace both at once.
//!
//! # Limits
//! *Possible* unless the session was seen from its start: it may have issued the same id before the log begins.

use crate::quick::HashMap;
use super::Case;
use crate::finding::{Certainty, Role};
use crate::proof::{Court, Draft, foreign, plain, request};
use unbroken_contract::breach::Breach;

pub(super) const BREACH: Breach = Breach::CursorOutlivesSession;
const HELP: &str = "drop the cursor together with the session that issued it";

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    // Who issued each id first, and on which contact.
    let mut issued: HashMap<&str, Vec<(Option<usize>, usize)>> = HashMap::default();
    for stream in &timeline.streams {
        for (id, contact) in &stream.ids {
            issued.entry(id).or_default().push((stream.session, *contact));
        }
    }
    for (at, contact) in timeline.contacts.iter().enumerate() {
        let (Some(presented), Some(session)) =
            (contact.exchange.request.last_event_id.as_deref(), timeline.of_session[at])
        else {
            continue;
        };
        let Some(issuers) = issued.get(presented) else { continue };
        let own = issuers.iter().any(|(issuer, _)| *issuer == Some(session));
        let before = issuers.iter().find(|(issuer, by)| issuer.is_some() && *by < at);
        let Some((_, by)) = before.filter(|_| !own) else { continue };
        let held = &timeline.sessions[session];
        let certainty = if held.opened.is_some() { Certainty::Proved } else { Certainty::Possible };
        let message = vec![
            plain("event id "),
            foreign(presented),
            plain(" was presented to a session that never issued it"),
        ];
        let mut draft = Draft::new(BREACH, certainty, message, HELP);
        draft.session = Some(held.id.clone());
        let before = &timeline.contacts[*by];
        let mut words = request(before);
        words.extend([plain(" delivered event "), foreign(presented)]);
        draft.proof.push(court.step(before, Role::Deliver, words));
        draft.proof.push(court.step(contact, Role::Resume, request(contact)));
        draft.missing =
            held.opened.is_none().then_some("the start of the session would show whether it issued the id");
        draft.same_by = Some(timeline.client.same_by());
        draft.print.text(presented).contact(timeline, at, None);
        court.report(draft);
    }
}
