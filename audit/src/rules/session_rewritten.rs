//! Behind a proxy, a resume goes to another session than the one that issued the cursor.
//!
//! # What happens
//! A gateway keeps sessions of its own toward the server. The client's resume carries the right session and cursor, but the
//! gateway sends it on under a backend session that never issued that cursor.
//!
//! # Why it matters
//! Contract 3.4: an event id has meaning only within the session that issued it. The client did everything right and still
//! reads another session's stream, or loses its response.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 as r1 -> 200 opens S1
//! 0.0-0.1 bare POST initialize #0 as r1 -> 200 opens S7
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} as r2 -> 200 sse id e1 cut
//! 1.0-2.0 bare POST S7 call pay #2 {"amount":40} as r2 -> 200 sse cut
//! 2.5-3.0 GET S1 after e1 as r3 -> 200 sse answers #2 ends
//! 2.5-3.0 bare GET S8 after e1 as r3 -> 200 sse ends
//! ```
//!
//! # Accepted
//! Different ids on the two hops are a gateway's right, as long as they stay together.
//! ```accepted
//! 0.0-0.1 POST initialize #0 as r1 -> 200 opens S1
//! 0.0-0.1 bare POST initialize #0 as r1 -> 200 opens S7
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} as r2 -> 200 sse id e1 cut
//! 1.0-2.0 bare POST S7 call pay #2 {"amount":40} as r2 -> 200 sse cut
//! 2.5-3.0 GET S1 after e1 as r3 -> 200 sse answers #2 ends
//! 2.5-3.0 bare GET S7 after e1 as r3 -> 200 sse ends
//! ```
//!
//! # Instead
//! Keep the backend session with the client's for as long as its cursors live; reject a resume whose backend is gone.
//!
//! # Limits
//! Needs the logs of both hops, joined by a request id or a trace.

use super::Case;
use crate::finding::{Certainty, Role};
use crate::proof::{Court, Draft, foreign, plain, request, session};
use unbroken_contract::breach::Breach;

pub(super) const BREACH: Breach = Breach::SessionRewritten;
const HELP: &str = "keep one backend session per client session for as long as its cursors live";

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    for stream in &timeline.streams {
        for opening in &stream.openings {
            let Some(cursor) = opening.presented.as_deref() else { continue };
            let contact = &timeline.contacts[opening.contact];
            let issuer = stream.ids.iter().rev().find(|(id, at)| &**id == cursor && *at < opening.contact);
            let (Some(now), Some((_, issuer))) = (contact.behind.as_deref(), issuer) else { continue };
            let first = &timeline.contacts[*issuer];
            let Some(then) = first.behind.as_deref().filter(|then| *then != now) else { continue };
            if !court.resumes.insert(opening.contact) {
                continue;
            }
            let message = vec![
                plain("a resume reached backend session "),
                session(now),
                plain(" while "),
                session(then),
                plain(" had issued its cursor"),
            ];
            let mut draft = Draft::new(BREACH, Certainty::Proved, message, HELP);
            draft.session = contact.session().map(Into::into);
            let mut words = request(first);
            words.extend([
                plain(" delivered event "),
                foreign(cursor),
                plain(", behind the proxy as "),
                session(then),
            ]);
            draft.proof.push(court.step(first, Role::Deliver, words));
            let mut words = request(contact);
            words.extend([plain(", behind the proxy as "), session(now)]);
            draft.proof.push(court.step(contact, Role::Resume, words));
            draft.print.text(now).contact(timeline, opening.contact, None);
            court.report(draft);
        }
    }
}
