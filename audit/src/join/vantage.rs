//! One exchange seen from several places becomes one contact, so that no finding is multiplied.
//! Knows what makes two records speak of the same request; within one file they never do.

use super::Contact;
use crate::event::{Arguments, Body, Message, Method, Nanos, SessionScope, Text, ToolCall, Vantage};
use crate::quick::{HashMap, HashSet};
use crate::timeline::close::same_id;
use std::collections::VecDeque;

/// How far apart two vantages may place the start of one request: network and queueing between the hops, the capture's
/// own delay (measured: up to 20 ms), a second's resolution of some clocks. Among several candidates the nearest wins,
/// so the width only bounds what is compared.
const APART: Nanos = 1_000_000_000;

/// Contacts of one request id that are kept in mind: an id that a program gives to all its requests tells nothing.
const MOST_NAMED: usize = 32;

/// Merges contacts that speak of the same exchange. Expects and keeps the order of start times.
pub(super) fn merge(contacts: Vec<Contact>) -> Vec<Contact> {
    if !several_logs(&contacts) {
        return contacts;
    }
    let mut merged: Vec<Contact> = Vec::with_capacity(contacts.len());
    let hops = Hops::of(&contacts);
    let same = |a: &Contact, b: &Contact| same(a, b, &hops);
    // Indexes into `merged`, oldest first, by what vantages that log the session tell alike; others stand under `None`.
    let mut recent: HashMap<(Method, Option<u64>), VecDeque<usize>> = HashMap::default();
    // The newest contacts with each request id, oldest first: a gateway that maps sessions shows others on the hop behind, and
    // logs that have nothing to do with each other may number their requests alike.
    let mut by_request: HashMap<Text, VecDeque<usize>> = HashMap::default();
    for contact in contacts {
        let own = group(&contact);
        let mut twin: Option<(Nanos, usize)> = None;
        for key in [Some(own), own.1.is_some().then_some((own.0, None))].into_iter().flatten() {
            let Some(group) = recent.get_mut(&key) else { continue };
            while group.front().is_some_and(|at| contact.start - merged[*at].start > APART) {
                group.pop_front();
            }
            let fitting = group.iter().filter(|at| same(&merged[**at], &contact));
            let nearest = fitting.map(|at| ((contact.start - merged[*at].start).abs(), *at)).min();
            twin = [twin, nearest].into_iter().flatten().min();
        }
        if twin.is_none() {
            let named = contact.keys.request.as_ref().and_then(|id| by_request.get_mut(id));
            twin = named.and_then(|named| {
                while named.front().is_some_and(|at| contact.start - merged[*at].start > APART) {
                    named.pop_front();
                }
                named.iter().rev().find(|at| same(&merged[**at], &contact)).map(|at| (0, *at))
            });
        }
        if twin.is_none() && own.1.is_none() {
            twin = nearest_of_any(&recent, &merged, &contact, &hops);
        }
        match twin {
            Some((_, at)) => merged[at].absorb(contact),
            None => {
                if let Some(id) = &contact.keys.request {
                    let named = by_request.entry(id.clone()).or_default();
                    if named.len() == MOST_NAMED {
                        named.pop_front();
                    }
                    named.push_back(merged.len());
                }
                recent.entry(own).or_default().push_back(merged.len());
                merged.push(contact);
            }
        }
    }
    merged.sort_by_key(|contact| contact.start);
    merged
}

/// A record of a log without session ids may be of any session.
fn nearest_of_any(
    recent: &HashMap<(Method, Option<u64>), VecDeque<usize>>,
    merged: &[Contact],
    contact: &Contact,
    hops: &Hops,
) -> Option<(Nanos, usize)> {
    let groups = recent.iter().filter(|((method, _), _)| *method == contact.exchange.method);
    let near = groups.flat_map(|(_, group)| group).filter(|at| contact.start - merged[**at].start <= APART);
    near.filter(|at| same(&merged[**at], contact, hops))
        .map(|at| ((contact.start - merged[*at].start).abs(), *at))
        .min()
}

fn group(contact: &Contact) -> (Method, Option<u64>) {
    let logged = contact.exchange.logged.session_in && contact.scope != SessionScope::HeaderBackend;
    let session =
        logged.then(|| rapidhash::v3::rapidhash_v3(contact.session_in().unwrap_or_default().as_bytes()));
    (contact.exchange.method, session)
}

fn several_logs(contacts: &[Contact]) -> bool {
    let log = |contact: &Contact| (contact.seen[0].origin.file, contact.seen[0].vantage);
    contacts.windows(2).any(|pair| log(&pair[0]) != log(&pair[1]))
}

/// The next hops that each log names.
struct Hops(HashMap<(u32, Vantage), HashSet<Text>>);

impl Hops {
    fn of(contacts: &[Contact]) -> Hops {
        let mut hops: HashMap<(u32, Vantage), HashSet<Text>> = HashMap::default();
        for contact in contacts {
            let named = hops.entry((contact.seen[0].origin.file, contact.seen[0].vantage)).or_default();
            if let Some(upstream) = contact.upstream()
                && !named.contains(upstream)
            {
                named.insert(upstream.into());
            }
        }
        Hops(hops)
    }

    /// Whether a log that tells of `contact` names `upstream` as its next hop.
    fn leads_to(&self, contact: &Contact, upstream: &str) -> bool {
        let logs = contact.seen.iter().filter_map(|seen| self.0.get(&(seen.origin.file, seen.vantage)));
        logs.into_iter().any(|named| named.contains(upstream))
    }
}

fn same(a: &Contact, b: &Contact, hops: &Hops) -> bool {
    let pairs = || a.seen.iter().flat_map(|one| b.seen.iter().map(move |other| (one, other)));
    // One log tells of an exchange once; a file of traces holds the spans of several layers.
    if pairs().any(|(one, other)| one.origin.file == other.origin.file && one.vantage == other.vantage) {
        return false;
    }
    if pairs().any(|(one, other)| one.vantage == other.vantage) && !next_hops(a, b, hops) && !twice_told(a, b)
    {
        return false;
    }
    if contradict(a, b) {
        return false;
    }
    if same_request(a, b) {
        return true;
    }
    let (x, y) = (&a.exchange, &b.exchange);
    sessions(a, b)
        && agree(
            &x.request.last_event_id,
            &y.request.last_event_id,
            x.logged.last_event_id && y.logged.last_event_id,
        )
        && agree(&a.identity.user_agent, &b.identity.user_agent, false)
        && statuses(x.status, y.status)
        && bodies(&x.request.body, &y.request.body)
}

/// Whether proxies gave both the same request id. Ids of programs that know nothing of each other may be equal too, and some
/// programs count from one.
fn same_request(a: &Contact, b: &Contact) -> bool {
    a.keys.request.is_some() && a.keys.request == b.keys.request
}

/// Whether what both state of the request cannot be said of one: no shared id stands against that. A gateway that speaks MCP
/// itself sends a request of its own behind it, whose session, id, version and tool name are its own; what is asked for, and
/// with which arguments, stays.
fn contradict(a: &Contact, b: &Contact) -> bool {
    let (x, y) = (&a.exchange, &b.exchange);
    if x.method != y.method || !arguments(a, b) {
        return true;
    }
    if mapped(a, b) {
        let asked = |contact: &Contact| contact.requests().next().map(|request| request.method.clone());
        return !agree(&asked(a), &asked(b), false);
    }
    other_session(a, b)
        || !bodies(&x.request.body, &y.request.body)
        || !agree(&version(a), &version(b), false)
}

/// Whether the two are of two sessions. A hop between two places may rewrite the id (`session-rewritten` tells of it), and
/// neither adds nor drops it; one place sees one id.
fn other_session(a: &Contact, b: &Contact) -> bool {
    let (x, y) = (&a.exchange, &b.exchange);
    let one_place = a.seen.iter().any(|one| b.seen.iter().any(|other| one.vantage == other.vantage));
    let behind =
        |one: &Contact, other: &Contact| one.behind.as_deref().is_some_and(|id| other.session() == Some(id));
    if sessions(a, b) || behind(a, b) || behind(b, a) {
        return false;
    }
    let both = x.logged.session_in && y.logged.session_in;
    one_place || both && x.request.session.is_some() != y.request.session.is_some()
}

/// Whether a gateway that speaks MCP itself may stand between the two.
fn mapped(a: &Contact, b: &Contact) -> bool {
    let gateway = |contact: &Contact| contact.seen.iter().any(|seen| seen.vantage == Vantage::Gateway);
    !comparable(a, b) || gateway(a) != gateway(b)
}

/// The protocol version that a request states, by its header or in its message.
fn version(contact: &Contact) -> Option<&str> {
    let stated = || contact.requests().find_map(|request| request.protocol_version.as_deref());
    contact.exchange.request.protocol_version.as_deref().or_else(stated)
}

/// Whether both can be of one session, by the ids sent and received.
fn sessions(a: &Contact, b: &Contact) -> bool {
    let (x, y) = (&a.exchange, &b.exchange);
    !comparable(a, b)
        || agree(&x.request.session, &y.request.session, x.logged.session_in && y.logged.session_in)
            && agree(&x.response.session, &y.response.session, false)
}

/// Whether two records of one kind of log can be of two hops of one exchange, and not two exchanges of one hop whose log
/// was split: each has its own next hop, to which the other's log never leads, and one lasted within the other.
fn next_hops(a: &Contact, b: &Contact, hops: &Hops) -> bool {
    let (Some(one), Some(other)) = (a.upstream(), b.upstream()) else { return false };
    let (Some(end), Some(other_end)) = (a.end, b.end) else { return false };
    let slack = 2 * a.precision.max(b.precision);
    let within = |start: Nanos, end: Nanos, outer: Nanos, outer_end: Nanos| {
        start + slack >= outer && end <= outer_end + slack
    };
    let apart = one != other && !hops.leads_to(b, one) && !hops.leads_to(a, other);
    apart && (within(a.start, end, b.start, other_end) || within(b.start, other_end, a.start, end))
}

/// How far apart two logs of one place may put the start of one exchange, besides their resolution: a capture's own delay
/// (measured: up to 20 ms) with room. A client that sends again has waited for an answer first.
const BESIDE: Nanos = 50_000_000;

/// Whether two files of one place tell of one exchange: a capture kept in two formats, a proxy that writes two logs. Two
/// programs that share the traffic out among them never see one request of a session, unless it was really sent twice, and
/// then the second comes after the first.
fn twice_told(a: &Contact, b: &Contact) -> bool {
    if same_request(a, b) {
        return true;
    }
    let slack = BESIDE.max(2 * a.precision.max(b.precision)).min(APART);
    let together = (a.start - b.start).abs() <= slack;
    let session = a.session().is_some() && a.session() == b.session();
    // The stateless era uses ids anew in every process, and an `initialize` has the same one everywhere: where no session
    // names the client, its address and port do, unless another place's view of them stands there already.
    let apart = |contact: &Contact| contact.seen.iter().any(|seen| seen.vantage != contact.seen[0].vantage);
    let peers = || {
        apart(a)
            || apart(b)
            || agree(&a.identity.remote_addr, &b.identity.remote_addr, false)
                && agree(&a.identity.remote_port, &b.identity.remote_port, false)
    };
    let ends = || a.end.zip(b.end).is_none_or(|(one, other)| (one - other).abs() <= slack);
    let told = match (&a.exchange.request.body, &b.exchange.request.body) {
        (Body::Messages(_), Body::Messages(_)) => true,
        // Nothing but the times tells two notifications apart from one.
        (Body::Unknown, Body::Unknown) if a.exchange.method == Method::Post => false,
        _ => ends(),
    };
    // One place hands one exchange to one next hop, and writes one set of arguments.
    let alike = agree(&a.upstream(), &b.upstream(), false) && arguments(a, b);
    together && told && alike && (session || peers())
}

/// Whether no call of the one has other arguments than the same of the other, as far as both tell them.
fn arguments(a: &Contact, b: &Contact) -> bool {
    let digest = |call: &ToolCall| match call.arguments {
        Arguments::Canonical { digest, .. } => Some(digest),
        _ => None,
    };
    a.calls().zip(b.calls()).all(|((_, a), (_, b))| agree(&digest(a), &digest(b), false))
}

/// Ids of two scopes never compare (a gateway maps them).
fn comparable(a: &Contact, b: &Contact) -> bool {
    let plain = |scope| matches!(scope, SessionScope::HeaderClient | SessionScope::Unknown);
    plain(a.scope) && plain(b.scope)
}

/// Equal where both tell it; where both log the field, absence is a value too.
fn agree<T: PartialEq>(a: &Option<T>, b: &Option<T>, both_logged: bool) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a == b,
        (None, None) => true,
        _ => !both_logged,
    }
}

/// Statuses agree, or one side saw no response, or its own word for a failure of the next hop (contract 3.6, 502 and 504
/// are a proxy's own words; 499 is never sent).
fn statuses(a: Option<u16>, b: Option<u16>) -> bool {
    let own = |status| matches!(status, None | Some(0 | 499 | 502 | 504));
    a == b || own(a) || own(b)
}

fn bodies(a: &Body, b: &Body) -> bool {
    match (a, b) {
        (Body::Messages(a), Body::Messages(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| message(a, b))
        }
        (Body::Messages(_), Body::Empty) | (Body::Empty, Body::Messages(_)) => false,
        _ => true,
    }
}

fn message(a: &Message, b: &Message) -> bool {
    match (a, b) {
        (Message::Request(a), Message::Request(b)) => {
            let tools = a.call.as_ref().zip(b.call.as_ref()).is_none_or(|(a, b)| a.tool == b.tool);
            let ids = a.id.as_ref().zip(b.id.as_ref()).is_none_or(|(a, b)| same_id(a, b));
            ids && tools && a.method == b.method
        }
        (Message::Notification(a), Message::Notification(b)) => {
            a.method == b.method && agree(&a.cancels, &b.cancels, false)
        }
        (Message::Response(a), Message::Response(b)) => a.id == b.id,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
