//! Remarks of a second log go to the exchange they speak of: nginx's error log, a balancer's access log without headers.
//! Knows connections, clients, methods and times; a remark that fits no exchange, or several alike, is left alone.

use super::Contact;
use super::contact::cuts;
use crate::event::{Cause, Delivered, Identity, Known, Nanos, Origin, Phase, Remark, Text};
use crate::quick::HashMap;

/// A remark with when and of which connection it was made.
#[derive(Clone, Debug)]
pub(super) struct Noted {
    pub(super) at: Nanos,
    pub(super) precision: Nanos,
    /// Start and end of the exchange, where the second log tells of whole exchanges.
    pub(super) span: Option<(Nanos, Nanos)>,
    pub(super) identity: Identity,
    /// The request's id, where told.
    pub(super) request: Option<Text>,
    pub(super) remark: Remark,
    /// Where it stands.
    pub(super) origin: Origin,
}

/// How long after its remark an access line may be written: both are written in the same turn of the proxy's loop, so
/// what is left is the clock's resolution and a busy disk.
const LATE: Nanos = 500_000_000;

/// How far apart two hops may see an exchange begin, or end: clocks and the way between them.
const APART: Nanos = 1_000_000_000;

/// Gives every remark to the exchange it speaks of.
///
/// One that names a connection comes from the proxy's own second log, and goes to the exchange of that connection and
/// method that ended when it was made. Connection numbers start anew with the program, so the time decides among several.
/// When such remarks are part of the input at all, an exchange that its proxy finished and nobody remarked on ended
/// properly: the second log would have told. A remark of another hop (a balancer, another proxy) names no connection and
/// says nothing of other exchanges: it goes to the one exchange of the same client, method and path that began and ended
/// with it.
///
/// `covered` is the time that the proxies' own second logs cover, where the remarks are a part of them.
pub(super) fn apply(contacts: &mut [Contact], remarks: &[Noted], covered: Option<(Nanos, Nanos)>) {
    of_other_hops(contacts, remarks);
    let own = || remarks.iter().filter(|noted| noted.identity.connection.is_some());
    if own().next().is_none() && covered.is_none() {
        return;
    }
    let mut by_connection: HashMap<&str, Vec<usize>> = HashMap::default();
    let held: Vec<Option<Box<str>>> =
        contacts.iter().map(|contact| contact.identity.connection.clone()).collect();
    for (at, connection) in held.iter().enumerate() {
        if let Some(connection) = connection {
            by_connection.entry(connection).or_default().push(at);
        }
    }
    for noted in own() {
        let Some(connection) = noted.identity.connection.as_deref() else { continue };
        let Some(candidates) = by_connection.get(connection) else { continue };
        let fitting = candidates
            .iter()
            .copied()
            .filter(|at| fits(&contacts[*at], noted))
            .min_by_key(|at| (distance(&contacts[*at], noted), *at));
        if let Some(at) = fitting {
            give(&mut contacts[at], noted, false);
        }
    }
    let told = covered.unwrap_or((Nanos::MAX, Nanos::MIN));
    let (first, last) = own().fold(told, |(a, b), n| (a.min(n.at), b.max(n.at)));
    for contact in contacts.iter_mut().filter(|contact| contact.identity.connection.is_some()) {
        let covered = contact.end.is_some_and(|end| (first..=last.saturating_add(LATE)).contains(&end));
        let end = &mut contact.exchange.end;
        if covered && end.cause == Cause::Unknown && matches!(contact.exchange.status, Some(200..=299)) {
            end.cause = Cause::Complete;
            end.known = Known::Derived;
        }
    }
}

/// Gives the remarks of other hops, where they say that something ended the exchange.
fn of_other_hops(contacts: &mut [Contact], remarks: &[Noted]) {
    let telling = |noted: &&Noted| {
        noted.identity.connection.is_none()
            && !matches!(noted.remark.end.cause, Cause::Unknown | Cause::Complete)
    };
    let mut by_end: Vec<usize> = Vec::new();
    for noted in remarks.iter().filter(telling) {
        if by_end.is_empty() {
            by_end = (0..contacts.len()).collect();
            by_end.sort_by_key(|at| contacts[*at].known_until());
        }
        let slack = APART + noted.precision;
        let end = noted.span.map_or(noted.at, |(_, end)| end);
        let from = by_end.partition_point(|at| contacts[*at].known_until() < end - slack);
        let near = by_end[from..].iter().take_while(|at| contacts[**at].known_until() <= end + slack);
        let mut best: Option<((bool, bool, Nanos), usize)> = None;
        let mut alike = false;
        for at in near.copied().filter(|at| speaks_of(&contacts[*at], noted, slack)) {
            let rank = closeness(&contacts[at], noted, end);
            match best {
                Some((other, _)) if other < rank => {}
                Some((other, _)) if other == rank => alike = true,
                _ => (best, alike) = (Some((rank, at)), false),
            }
        }
        if let Some((_, at)) = best.filter(|_| !alike) {
            give(&mut contacts[at], noted, true);
        }
    }
}

/// Whether another hop's remark can be about this exchange: one client, one request, one span of time.
fn speaks_of(contact: &Contact, noted: &Noted, slack: Nanos) -> bool {
    let began = noted.span.is_none_or(|(start, _)| (contact.start - start).abs() <= slack);
    began && same_request(contact, noted) && (same_id(contact, noted) || same_client(contact, noted))
}

/// Smaller is nearer: the same request id, the same port of the client, then the time.
fn closeness(contact: &Contact, noted: &Noted, end: Nanos) -> (bool, bool, Nanos) {
    let port = noted.identity.remote_port;
    let start = noted.span.map_or(0, |(start, _)| (contact.start - start).abs());
    (
        !same_id(contact, noted),
        port.is_none() || port != contact.identity.remote_port,
        start + (contact.known_until() - end).abs(),
    )
}

fn same_id(contact: &Contact, noted: &Noted) -> bool {
    noted.request.is_some() && noted.request == contact.keys.request
}

/// Whether both name one client: the peer's address at one hop may be the forwarded one at the next.
fn same_client(contact: &Contact, noted: &Noted) -> bool {
    fn addresses(identity: &Identity) -> impl Iterator<Item = &str> {
        let forwarded = identity.forwarded_for.as_deref().into_iter().flat_map(|list| list.split(','));
        identity.remote_addr.as_deref().into_iter().chain(forwarded).map(str::trim)
    }
    let programs = (&contact.identity.user_agent, &noted.identity.user_agent);
    let same_program = !matches!(programs, (Some(one), Some(other)) if one != other);
    same_program
        && addresses(&noted.identity).any(|one| addresses(&contact.identity).any(|other| one == other))
}

fn same_request(contact: &Contact, noted: &Noted) -> bool {
    contact.exchange.method == noted.remark.method
        && (noted.remark.path.is_none()
            || contact.exchange.path.is_none()
            || contact.exchange.path == noted.remark.path)
}

fn fits(contact: &Contact, noted: &Noted) -> bool {
    same_request(contact, noted)
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

/// `other_hop`: one that cuts both sides looks like a client that left to the hop behind it.
fn give(contact: &mut Contact, noted: &Noted, other_hop: bool) {
    let remark = &noted.remark;
    if let Some(upstream) = &remark.upstream {
        for attempt in contact.exchange.attempts.iter_mut().filter(|a| a.upstream.as_ref() == Some(upstream))
        {
            // A list may name one upstream twice; only a stated fact replaces a derived one.
            if remark.delivered != Delivered::Unknown {
                attempt.delivered = remark.delivered;
            }
        }
    }
    // Who stands at the client knows better whether it left than a hop behind.
    if remark.end.cause == Cause::ClientAbort && contact.client_stayed() {
        return;
    }
    // The client's own close is stated in the access line too; the remark on it adds the phase at most.
    let end = &mut contact.exchange.end;
    let better = matches!(end.cause, Cause::Unknown | Cause::Complete | Cause::UnknownCut)
        || end.known == Known::Derived
        || other_hop && end.cause == Cause::ClientAbort && cuts(remark.end.cause);
    if better || (end.cause == remark.end.cause && end.phase == Phase::Unknown) {
        *end = remark.end.clone();
        contact.noted = Some((noted.at, noted.origin));
    }
    contact.exchange.logged.end = true;
}
