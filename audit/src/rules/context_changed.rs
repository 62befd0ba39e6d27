//! A second protocol version or set of capabilities within a live session.
//!
//! # What happens
//! One session is answered with two different `InitializeResult`s, or goes on under another protocol version than the one
//! that was negotiated.
//!
//! # Why it matters
//! Contract 3.3: version and capabilities are agreed once and hold for the session. Whoever resumes after a change reads
//! messages under rules that nobody agreed on.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-1.1 POST S1 list #1 version 2025-11-25 -> 200 answers #1
//! 2.0-2.1 POST S1 list #2 version 2025-06-18 -> 200 answers #2
//! ```
//!
//! # Accepted
//! An absent header is no change.
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-1.1 POST S1 list #1 version 2025-11-25 -> 200 answers #1
//! 2.0-2.1 POST S1 list #2 -> 200 answers #2
//! ```
//!
//! # Instead
//! Send the negotiated version with every request; start a new session for another one.
//!
//! # Limits
//! A refused request changes nothing, so version probing is silent.

use super::Case;
use crate::finding::{Certainty, Role};
use crate::proof::{Court, Draft, foreign, plain, request};
use unbroken_contract::breach::Breach;
use unbroken_contract::era::Era;

pub(super) const BREACH: Breach = Breach::ContextChanged;
const HELP: &str = "send the negotiated protocol version with every request of a session";

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    for held in &timeline.sessions {
        let spoken = held.contacts.iter().copied().filter_map(|at| {
            let contact = &timeline.contacts[at];
            let own = contact.session_in().is_some() && contact.accepted() && contact.initialize().is_none();
            let version = contact.exchange.request.protocol_version.as_deref();
            version.filter(|_| own && timeline.eras[at] == Some(Era::Sessioned)).map(|version| (at, version))
        });
        let mut first: Option<(usize, &str)> = None;
        for (at, version) in spoken {
            let (before, agreed) = *first.get_or_insert((at, version));
            if agreed == version {
                continue;
            }
            let message = vec![
                plain("a session went from protocol version "),
                foreign(agreed),
                plain(" to "),
                foreign(version),
            ];
            let mut draft = Draft::new(BREACH, Certainty::Proved, message, HELP);
            draft.session = Some(held.id.clone());
            for (at, version) in [(before, agreed), (at, version)] {
                let contact = &timeline.contacts[at];
                let mut words = request(contact);
                words.extend([plain(" under version "), foreign(version)]);
                draft.proof.push(court.step(contact, Role::Send, words));
            }
            draft.print.text(&held.id);
            court.report(draft);
            break;
        }
    }
}
