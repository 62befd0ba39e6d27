//! Remarks of a proxy's second log go to the exchange they speak of: nginx's error log says why a stream ended.
//! Knows connections, methods and times; a remark that fits no exchange is left alone.

use super::Contact;
use crate::event::{Cause, Delivered, Identity, Known, Nanos, Phase, Remark};
use std::collections::HashMap;

/// A remark with when and of which connection it was made.
#[derive(Clone, Debug)]
pub(super) struct Noted {
    pub(super) at: Nanos,
    pub(super) precision: Nanos,
    pub(super) identity: Identity,
    pub(super) remark: Remark,
}

/// How long after its remark an access line may be written: both are written in the same turn of the proxy's loop, so
/// what is left is the clock's resolution and a busy disk.
const LATE: Nanos = 500_000_000;

/// Gives every remark to the exchange of the same connection and method that ended when it was made.
///
/// Connection numbers start anew with the program, so the time decides among several. When remarks are part of the
/// input at all, an exchange that its proxy finished and nobody remarked on ended properly: the second log would have
/// told.
///
/// `covered` is the time that the second logs cover, where the remarks are a part of them.
pub(super) fn apply(contacts: &mut [Contact], remarks: &[Noted], covered: Option<(Nanos, Nanos)>) {
    if remarks.is_empty() && covered.is_none() {
        return;
    }
    let mut by_connection: HashMap<&str, Vec<usize>> = HashMap::new();
    let held: Vec<Option<Box<str>>> =
        contacts.iter().map(|contact| contact.identity.connection.clone()).collect();
    for (at, connection) in held.iter().enumerate() {
        if let Some(connection) = connection {
            by_connection.entry(connection).or_default().push(at);
        }
    }
    for noted in remarks {
        let Some(connection) = noted.identity.connection.as_deref() else { continue };
        let Some(candidates) = by_connection.get(connection) else { continue };
        let fitting = candidates
            .iter()
            .copied()
            .filter(|at| fits(&contacts[*at], noted))
            .min_by_key(|at| (distance(&contacts[*at], noted), *at));
        if let Some(at) = fitting {
            give(&mut contacts[at], &noted.remark);
        }
    }
    let told = covered.unwrap_or((Nanos::MAX, Nanos::MIN));
    let (first, last) = remarks.iter().fold(told, |(a, b), n| (a.min(n.at), b.max(n.at)));
    for contact in contacts.iter_mut().filter(|contact| contact.identity.connection.is_some()) {
        let covered = contact.end.is_some_and(|end| (first..=last.saturating_add(LATE)).contains(&end));
        let end = &mut contact.exchange.end;
        if covered && end.cause == Cause::Unknown && matches!(contact.exchange.status, Some(200..=299)) {
            end.cause = Cause::Complete;
            end.known = Known::Derived;
        }
    }
}

fn fits(contact: &Contact, noted: &Noted) -> bool {
    contact.exchange.method == noted.remark.method
        && (noted.remark.path.is_none()
            || contact.exchange.path.is_none()
            || contact.exchange.path == noted.remark.path)
        && contact.start <= noted.at.saturating_add(noted.precision)
        && distance(contact, noted) <= noted.precision + LATE
}

/// How far the remark is from the exchange's end, or from its span for an attempt in its middle. A remark's time is cut
/// to its resolution, so it stands for a span.
fn distance(contact: &Contact, noted: &Noted) -> Nanos {
    let end = contact.known_until();
    let (from, to) = (noted.at, noted.at.saturating_add(noted.precision));
    if end >= from && contact.start <= to {
        if end > to && noted.remark.end.phase == Phase::InBody { end - to } else { 0 }
    } else if end < from {
        from - end
    } else {
        contact.start - to
    }
}

fn give(contact: &mut Contact, remark: &Remark) {
    if let Some(upstream) = &remark.upstream {
        for attempt in contact.exchange.attempts.iter_mut().filter(|a| a.upstream.as_ref() == Some(upstream))
        {
            // A list may name one upstream twice; only a stated fact replaces a derived one.
            if remark.delivered != Delivered::Unknown {
                attempt.delivered = remark.delivered;
            }
        }
    }
    // The client's own close is stated in the access line too; the remark on it adds the phase at most.
    let end = &mut contact.exchange.end;
    let better = matches!(end.cause, Cause::Unknown | Cause::Complete | Cause::UnknownCut)
        || end.known == Known::Derived;
    if better || (end.cause == remark.end.cause && end.phase == Phase::Unknown) {
        *end = remark.end.clone();
    }
    contact.exchange.logged.end = true;
}
