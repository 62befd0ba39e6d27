//! A session is left open while the same client opens another.
//!
//! # What happens
//! The client closes all its streams of a session in the middle of a call, never ends the session, and opens another one.
//!
//! # Why it matters
//! Contract 1: a session lives on until it is deleted or dropped. The server runs the call to its end for nobody. What
//! the call does is done; who wanted it does not learn of it.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse closed
//! 2.5-2.6 POST initialize #0 -> 200 opens S2
//! ```
//!
//! # Accepted
//! A session per call, each with its response; a session that was ended.
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 answers #2
//! 2.5-2.6 POST initialize #0 -> 200 opens S2
//! ```
//!
//! # Instead
//! Cancel what is not wanted any more and end the session with a DELETE.
//!
//! # Limits
//! A client that died looks the same; that is why it is a note. The `initialize` of the other session counts within 300 s
//! of the close, or within an hour of the call where an authenticated subject names the client.

use super::Case;
use crate::event::Method;
use crate::finding::{Certainty, Role};
use crate::pair::{Closeness, HORIZON, closeness_of};
use crate::proof::{Court, Draft, plain, request, session};
use crate::timeline::Send;
use crate::timeline::close::behind_a_limit;
use unbroken_contract::breach::Breach;

pub(super) const BREACH: Breach = Breach::OrphanedSession;
const HELP: &str = "cancel open calls and end the session with a DELETE before opening another";

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    for held in timeline.sessions.iter().filter(|held| held.gone.is_none() && held.deleted.is_none()) {
        let calls = || held.contacts.iter().flat_map(|at| timeline.calls_of(*at));
        let running: Vec<_> =
            calls().filter(|send| send.unanswered() && send.aborted && send.cancelled.is_none()).collect();
        // A call that was cut by somebody else makes it `session-discarded`.
        let cut = |send: &Send| !send.aborted || behind_a_limit(&timeline.contacts[send.contact]);
        let (Some(first), false) = (running.first(), calls().any(|send| send.unanswered() && cut(send)))
        else {
            continue;
        };
        let last =
            held.contacts.iter().rev().find(|at| timeline.contacts[**at].exchange.method == Method::Post);
        let next = last
            .and_then(|last| timeline.initializes.get(timeline.initializes.partition_point(|at| at <= last)));
        let left = &timeline.contacts[first.contact];
        let soon = |at: &&usize| {
            let moment = timeline.contacts[**at].start;
            moment - first.start <= HORIZON
                && closeness_of(timeline, false, left, moment) != Closeness::Apart
        };
        let Some(next) = next.filter(soon) else { continue };
        let calls = match running.len() {
            1 => "a call".to_owned(),
            count => format!("{count} calls"),
        };
        let message = vec![
            plain("session "),
            session(&held.id),
            plain(format!(" was left open with {calls} running while another was opened")),
        ];
        let mut draft = Draft::new(BREACH, Certainty::Likely, message, HELP);
        draft.session = Some(held.id.clone());
        for (at, role) in [(first.contact, Role::Send), (*next, Role::Initialize)] {
            let contact = &timeline.contacts[at];
            draft.proof.push(court.step(contact, role, request(contact)));
        }
        draft.same_by = Some(timeline.client.same_by());
        draft.missing = Some("the client's own log would show whether it went on or was started anew");
        draft.print.text(&held.id);
        court.report(draft);
    }
}
