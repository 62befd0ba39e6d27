//! Pairs: sends of one client that are the same call, each sent while the outcome of the one before was unknown.
//! Knows sameness and order; what such a chain is called is for the rules.

mod open;

use crate::event::{Arguments, Cause, Digest, Nanos, RpcId, Text, Vantage};
use crate::join::Contact;
use crate::timeline::{Answered, Reached, Send, Timeline};
use open::Opens;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use unbroken_contract::resend::{Answer, Key, Permission, may_resend};

/// The same call, sent again and again: indexes into the timeline's sends, at least two, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The sends.
    pub sends: Vec<usize>,
}

/// What makes two calls the same (contract 3.6). Without arguments only the tool is known, and such calls are at most
/// alike; arguments that were cut off or redacted are never compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Fingerprint {
    tool: Text,
    arguments: Option<Digest>,
    round: Option<Digest>,
}

impl Fingerprint {
    fn of(send: &Send) -> Option<Fingerprint> {
        let arguments = match &send.call.arguments {
            Arguments::Canonical { digest, .. } => Some(*digest),
            Arguments::Absent if !send.call.tool.is_empty() => None,
            _ => return None,
        };
        Some(Fingerprint { tool: send.call.tool.clone(), arguments, round: send.call.round })
    }
}

/// Calls alike by their tool alone are held to be one only if the second came this soon after the first was cut, with no
/// other call between: the client did nothing but try again.
const AT_ONCE: Nanos = 10_000_000_000;

/// How long the outcome of a call can be awaited: after an hour an equal call is taken for a new wish. Clients' own
/// deadlines for a call are minutes (field.md, timings).
pub const HORIZON: Nanos = 3_600 * 1_000_000_000;

/// How soon a client sends a call again that it wants still: retries wait seconds (field.md, timings), a model or a person
/// that was told of a failure tries again within two minutes. Later it takes more than an address and a program to hold
/// two sessions for one story.
const SOON: Nanos = 120 * 1_000_000_000;

/// How long one wish lasts where nothing names the client but its address and program: minutes, as clients' deadlines for
/// a call. After that an equal call of another session is a job that runs again, or somebody else.
pub(crate) const PATIENCE: Nanos = 300 * 1_000_000_000;

/// How near a send comes after another, measured by what holds the two to be of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Closeness {
    /// As near as a retry, or on the same session.
    Near,
    /// So late that it may be a new wish.
    Far,
    /// Later than a client known by address and program alone is taken to wait.
    Apart,
}

/// How near `later` comes after `earlier`.
pub(crate) fn closeness(timeline: &Timeline, earlier: &Send, later: &Send) -> Closeness {
    let same = earlier.session.is_some() && earlier.session == later.session;
    closeness_of(timeline, same, &timeline.contacts[earlier.contact], later.start)
}

/// The same for what came at `moment`, after `contact`; `same`: both on one session. A stream of which no end is told may
/// have lasted as long as the usual idle limit of a minute.
pub(crate) fn closeness_of(timeline: &Timeline, same: bool, contact: &Contact, moment: Nanos) -> Closeness {
    let told = contact.end.filter(|_| contact.exchange.end.cause != Cause::Unknown);
    let gap = moment - told.unwrap_or_else(|| contact.known_until().saturating_add(SOON));
    if same || gap <= SOON {
        Closeness::Near
    } else if timeline.client.subject.is_some() || gap <= PATIENCE {
        Closeness::Far
    } else {
        Closeness::Apart
    }
}

/// Two equal calls nearer than this, the first with no recorded end, are taken for parallel ones: no client notices a
/// cut and sends again that fast, while calls of one turn leave within milliseconds.
pub(crate) const PARALLEL: Nanos = 50_000_000;

/// Finds every chain of a timeline, in the order of their first sends.
#[must_use]
pub fn chains(timeline: &Timeline) -> Vec<Chain> {
    let mut by_call: BTreeMap<Fingerprint, Vec<usize>> = BTreeMap::new();
    for (at, send) in timeline.sends.iter().enumerate() {
        if (send.era.is_some() || is_record_of_calls(timeline, send))
            && let Some(print) = Fingerprint::of(send)
        {
            by_call.entry(print).or_default().push(at);
        }
    }
    let mut chains: Vec<Chain> = by_call.into_values().flat_map(|sends| of_call(timeline, &sends)).collect();
    chains.sort_by_key(|chain| chain.sends[0]);
    chains
}

/// Whether the log records calls alone, without the HTTP and the sessions that the revision could be told by.
fn is_record_of_calls(timeline: &Timeline, send: &Send) -> bool {
    let exchange = &timeline.contacts[send.contact].exchange;
    exchange.status.is_none() && !exchange.logged.session_in
}

#[cfg(test)]
thread_local! {
    /// Chains and sends that were looked at, to tell how much work that was.
    static LOOKS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

fn of_call(timeline: &Timeline, sends: &[usize]) -> Vec<Chain> {
    let mut opens = Opens::default();
    let mut settling = Settling::default();
    for at in sends {
        let send = &timeline.sends[*at];
        let settled = settling.until(send.start);
        opens.add(timeline, *at, settled);
        settling.note(timeline, send);
    }
    kept(timeline, opens.into_chains())
}

/// The chains of which more than one send may have reached a server.
fn kept(timeline: &Timeline, chains: impl Iterator<Item = Vec<usize>>) -> Vec<Chain> {
    let reached = |mut sends: Vec<usize>| {
        sends.retain(|at| timeline.sends[*at].reached != Reached::No);
        (sends.len() > 1).then_some(Chain { sends })
    };
    chains.filter_map(reached).collect()
}

/// Answers still to come, by their moment. After one the client has its outcome: what was sent before it was settled by it, and
/// an equal call is a new wish (contract 3.6), also where an equal one ran beside it.
#[derive(Debug, Default)]
struct Settling {
    answers: BinaryHeap<Reverse<(Nanos, Nanos)>>,
    settled: Option<Nanos>,
}

impl Settling {
    /// The start of the latest send that was settled by `now`.
    fn until(&mut self, now: Nanos) -> Nanos {
        while let Some(Reverse((when, start))) = self.answers.peek().copied()
            && when <= now
        {
            self.answers.pop();
            self.settled = self.settled.max(Some(start));
        }
        self.settled.unwrap_or(Nanos::MIN)
    }

    fn note(&mut self, timeline: &Timeline, send: &Send) {
        self.answers.extend(answered_at(timeline, send).map(|when| Reverse((when, send.start))));
    }
}

/// When the client had the outcome of a send, or may have had it: what follows a delivered result is a new wish, and an
/// exchange that ended in order without a word of what it carried is taken for answered.
fn answered_at(timeline: &Timeline, send: &Send) -> Option<Nanos> {
    let told = |answer| matches!(answer, Answer::Result | Answer::HandlerFailed);
    match send.answered {
        Answered::Own(answer) if told(answer) => Some(timeline.contacts[send.contact].known_until()),
        Answered::Unrecorded => send.closed,
        Answered::Later { at, answer, .. } if told(answer) => Some(at),
        _ => None,
    }
}

/// Whether `later` repeats the send `earlier`: sent after the earlier one's exchange had ended, its outcome unknown to
/// the client, and the contract forbids a repeat (3.6).
fn repeats(timeline: &Timeline, earlier: usize, later: &Send) -> bool {
    let earlier = &timeline.sends[earlier];
    if later.contact == earlier.contact
        || later.start - earlier.start > HORIZON
        || earlier.reached == Reached::No
    {
        return false;
    }
    if earlier.era != later.era
        || beside(timeline, earlier, later)
        || (later.call.arguments == Arguments::Absent && !at_once(timeline, earlier, later))
    {
        return false;
    }
    ended_before(timeline, earlier, later) && !permitted(timeline, earlier, later).is_allowed()
}

/// Whether the later one comes from a session that was open beside the earlier one's: another window of the client, which
/// knows nothing of what the first one waits for. A client that gave a session up goes on in one opened after it.
fn beside(timeline: &Timeline, earlier: &Send, later: &Send) -> bool {
    match (earlier.session, later.session) {
        (Some(one), Some(other)) => one != other && timeline.sessions[other].first < earlier.start,
        _ => false,
    }
}

fn at_once(timeline: &Timeline, earlier: &Send, later: &Send) -> bool {
    let next = timeline.sends.partition_point(|send| send.contact <= earlier.contact);
    // Where the end of the earlier one is not told, the client had noticed it when it opened the next session.
    let opened = || later.session.map_or(earlier.start, |session| timeline.sessions[session].first);
    let closed = earlier.closed.unwrap_or_else(|| opened().max(earlier.start));
    // Calls on a session that was there before, beside the earlier one's, are another worker's.
    let own = |send: &&Send| {
        let first = send.session.map(|session| timeline.sessions[session].first);
        send.session == earlier.session || first.is_none_or(|first| first > earlier.start)
    };
    timeline.sends[next..].iter().find(own).is_some_and(|send| send.contact == later.contact)
        && later.start - closed <= AT_ONCE
}

fn ended_before(timeline: &Timeline, earlier: &Send, later: &Send) -> bool {
    if moved_on(timeline, earlier, later) {
        return true;
    }
    let moment = later.start;
    match earlier.closed {
        // A proxy writes the end of a response some milliseconds after its client may have left.
        Some(closed) => closed <= moment.saturating_add(timeline.contacts[earlier.contact].precision),
        None => moment - earlier.start >= PARALLEL,
    }
}

/// Whether the client had left the earlier exchange, though its record ends later: a proxy or gateway notices a client that
/// is gone when it next writes, or at its own deadline (formats.md, fact 6). The sign is a session opened meanwhile.
fn moved_on(timeline: &Timeline, earlier: &Send, later: &Send) -> bool {
    if !moved_on_by(timeline, earlier) || later.start - earlier.start < PARALLEL {
        return false;
    }
    let opened = || later.session.is_some_and(|session| timeline.sessions[session].first > earlier.start);
    // A log that names no sessions has another sign: the record itself says that the client left, and one authenticated
    // client sends the same call with the same arguments.
    let again = earlier.aborted
        && earlier.session.is_none()
        && later.session.is_none()
        && timeline.client.subject.is_some()
        && later.call.arguments != Arguments::Absent;
    (earlier.session != later.session && opened()) || again
}

/// Whether a client may have left an exchange before the end that its record tells.
fn moved_on_by(timeline: &Timeline, earlier: &Send) -> bool {
    // A capture beside the client sees it leave.
    let near =
        matches!(timeline.contacts[earlier.contact].seen[0].vantage, Vantage::Client | Vantage::Capture);
    // The span of a server's handler ends with the handler, whoever waits for it; so does a gateway's record of a call that
    // is none of an HTTP exchange. Where that one tells of a result, the client may have waited for it.
    let contact = &timeline.contacts[earlier.contact];
    let all = |vantage| contact.seen.iter().all(|seen| seen.vantage == vantage);
    let calls = all(Vantage::Gateway) && contact.exchange.status.is_none() && earlier.unanswered();
    (earlier.aborted || all(Vantage::ServerApp) || calls) && !near
}

/// Whether no send from `now` on can repeat this one, whatever key it has: the outcome is known, or the tool is safe.
fn cannot_repeat(timeline: &Timeline, send: &Send, now: Nanos) -> bool {
    let path = timeline.contacts[send.contact].exchange.path.as_deref();
    let hints = timeline.tools.hints(path, &send.call.tool);
    Verdict(may_resend(send.known(now), Key::None, &hints)).is_allowed()
}

/// What the contract says of sending `later` after `earlier`.
fn permitted(timeline: &Timeline, earlier: &Send, later: &Send) -> Verdict {
    let key = match (&earlier.key, &later.key) {
        (Some(a), Some(b)) if a == b => Key::Same,
        (Some(_), Some(_)) => Key::Different,
        _ => Key::None,
    };
    let path = timeline.contacts[earlier.contact].exchange.path.as_deref();
    let hints = timeline.tools.hints(path, &earlier.call.tool);
    Verdict(may_resend(earlier.known(later.start), key, &hints))
}

/// Whether the contract lets the client repeat, or the log lets it be a new wish.
struct Verdict(Permission);

impl Verdict {
    fn is_allowed(&self) -> bool {
        !matches!(self.0, Permission::Forbidden(_))
    }
}

/// A send's id as text, for words and fingerprints.
#[must_use]
pub fn id_text(id: Option<&RpcId>) -> Option<String> {
    id.map(|id| crate::timeline::close::id_text(id).to_owned())
}

#[cfg(test)]
mod tests;
