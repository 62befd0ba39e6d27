//! Clocks that differ: how far each log's clock is off, told by exchanges that several logs name by the same key.
//! Knows keys and times; moves times, and nothing else of what a log says.
//!
//! A key is what two records of one exchange can share and two exchanges cannot: the request id, the trace with its span, or the
//! session with the JSON-RPC id, each only where it stands once in a log. The median of the differences is the offset. It is
//! taken for one where it is larger than what hops and queues explain, and where most matches agree on it.

use super::{Contact, Told};
use crate::event::{Lifecycle, LifecycleStep, LoggedMessage, Message, Nanos, RpcId, Text, Vantage};
use crate::timeline::close::id_text;
use crate::verdict::BuildRapid;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Offsets below this are the way between the hops, the same as what the join of vantages allows for: half of it.
const LEAST: Nanos = 500_000_000;
/// Matches that agree on an offset, and at least that many of all, in quarters.
const MATCHES: usize = 3;
const QUARTERS: usize = 3;
/// How far a match may be from the offset and still agree with it: queueing, and clocks that tick in whole seconds.
const AGREES: Nanos = 1_000_000_000;

/// A clock: that of the program instance that wrote a log.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Clock {
    rank: u8,
    file: u32,
    instance: Option<Text>,
}

/// How far a clock is ahead of the one that is taken for right.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ahead {
    /// Index of the file.
    pub file: u32,
    /// By how much; negative: it is behind. Nanoseconds.
    pub by: Nanos,
    /// The file whose clock is taken for right.
    pub of: u32,
    /// Exchanges that told it.
    pub matches: u64,
}

/// What is known of the clocks of an input.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clocks {
    known: BTreeMap<Clock, Ahead>,
}

/// What names one exchange in every log of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Request(Text),
    Span(Text, Text),
    Call(Text, Text),
}

/// Where one clock has a key: once at a time, or more than once and so nowhere.
type Seen = HashMap<Key, BTreeMap<Clock, Option<Nanos>>, BuildRapid>;

impl Clocks {
    /// Whether no clock is known to be off.
    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Learns from the records of an input, or of its beginning.
    pub(crate) fn learn(
        contacts: &[Contact],
        steps: &[Told<Lifecycle>],
        messages: &[Told<LoggedMessage>],
    ) -> Clocks {
        let mut clocks: BTreeSet<Clock> = BTreeSet::new();
        let mut seen = Seen::default();
        let mut note = |key: Key, clock: &Clock, at: Nanos| {
            let slot = seen.entry(key).or_default().entry(clock.clone());
            slot.and_modify(|known| *known = None).or_insert(Some(at));
        };
        for contact in contacts {
            let clock = of_contact(contact);
            if contact.dated {
                keys(contact).for_each(|key| note(key, &clock, contact.start));
            }
            clocks.insert(clock);
        }
        for told in steps {
            let clock = of_told(told);
            let call = told.what.session.as_ref().zip(told.what.rpc_id.as_ref());
            if let Some((session, id)) = call.filter(|_| told.what.step == LifecycleStep::HandlerStarted) {
                note(Key::Call(session.clone(), id_text(id).into()), &clock, told.at);
            }
            clocks.insert(clock);
        }
        for told in messages {
            let clock = of_told(told);
            if let (Some(session), Message::Request(asked)) = (&told.what.session, &told.what.message)
                && let Some(id) = &asked.id
            {
                note(Key::Call(session.clone(), id_text(id).into()), &clock, told.at);
            }
            clocks.insert(clock);
        }
        if clocks.len() < 2 {
            return Clocks::default();
        }
        settle(&clocks, &differences(&seen))
    }

    /// Whether any clock is off.
    pub(crate) fn is_even(&self) -> bool {
        self.known.is_empty()
    }

    /// The clocks that are off, by file.
    pub(crate) fn ahead(&self) -> Vec<Ahead> {
        let mut all: Vec<Ahead> = self.known.values().cloned().collect();
        all.sort_by_key(|ahead| (ahead.file, ahead.by, ahead.of));
        all.dedup_by_key(|ahead| (ahead.file, ahead.by));
        all
    }

    /// Moves the times of an exchange to the clock that is taken for right.
    pub(crate) fn correct(&self, contact: &mut Contact) {
        if let Some(ahead) = self.known.get(&of_contact(contact)) {
            contact.shift(-ahead.by);
        }
    }

    /// The same for something that a program told.
    pub(crate) fn correct_told<T>(&self, told: &mut Told<T>) {
        if let Some(ahead) = self.known.get(&of_told(told)) {
            told.at = told.at.saturating_sub(ahead.by);
        }
    }
}

fn of_contact(contact: &Contact) -> Clock {
    let seen = contact.seen[0];
    // A server's own name tells its hosts apart in a log that gathers several.
    let instance = contact.server.clone();
    Clock { rank: super::contact::rank(seen.vantage), file: seen.origin.file, instance }
}

fn of_told<T>(told: &Told<T>) -> Clock {
    let at_server = matches!(told.vantage, Vantage::ServerHttp | Vantage::ServerApp);
    let instance = told.instance.clone().filter(|_| at_server);
    Clock { rank: super::contact::rank(told.vantage), file: told.origin.file, instance }
}

fn keys(contact: &Contact) -> impl Iterator<Item = Key> {
    let request = contact.keys.request.clone().map(Key::Request);
    let span = contact
        .keys
        .trace
        .clone()
        .zip(contact.keys.parent.clone())
        .map(|(trace, span)| Key::Span(trace, span));
    let session = contact.session_in().map(Text::from);
    let id = contact.requests().find_map(|asked| asked.id.as_ref());
    let call = session.zip(id).map(|(session, id): (Text, &RpcId)| Key::Call(session, id_text(id).into()));
    [request, span, call].into_iter().flatten()
}

/// Differences of the second clock to the first, for every pair of clocks that share keys.
fn differences(seen: &Seen) -> BTreeMap<(Clock, Clock), Vec<Nanos>> {
    let mut found: BTreeMap<(Clock, Clock), Vec<Nanos>> = BTreeMap::new();
    for at in seen.values() {
        let once: Vec<(&Clock, Nanos)> = at.iter().filter_map(|(clock, at)| Some((clock, (*at)?))).collect();
        for (index, (one, start)) in once.iter().enumerate() {
            for (other, later) in &once[index + 1..] {
                found
                    .entry(((*one).clone(), (*other).clone()))
                    .or_default()
                    .push(later.saturating_sub(*start));
            }
        }
    }
    found.values_mut().for_each(|all| all.sort_unstable());
    found
}

/// Walks from the clock nearest to the client over pairs that agree, the one with the most matches first.
fn settle(clocks: &BTreeSet<Clock>, pairs: &BTreeMap<(Clock, Clock), Vec<Nanos>>) -> Clocks {
    let mut known: BTreeMap<Clock, Ahead> = BTreeMap::new();
    let mut edges: Vec<(usize, &Clock, &Clock, Nanos)> = Vec::new();
    for ((one, other), all) in pairs {
        if let Some(by) = offset(all) {
            edges.push((all.len(), one, other, by));
            edges.push((all.len(), other, one, -by));
        }
    }
    edges.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
    for first in clocks {
        if known.contains_key(first) {
            continue;
        }
        known.insert(first.clone(), Ahead { file: first.file, by: 0, of: first.file, matches: 0 });
        while let Some((matches, from, to, by)) = edges.iter().find(|(_, from, to, _)| {
            known.get(*from).is_some_and(|at| at.of == first.file) && !known.contains_key(*to)
        }) {
            let by = known[*from].by.saturating_add(*by);
            // A pair that differs by the way between the hops has one clock.
            let by = if by.abs() < LEAST { 0 } else { by };
            let ahead = Ahead { file: to.file, by, of: first.file, matches: *matches as u64 };
            known.insert((*to).clone(), ahead);
        }
    }
    known.retain(|_, ahead| ahead.by != 0);
    Clocks { known }
}

/// The median of sorted differences, where enough of them agree with it.
fn offset(sorted: &[Nanos]) -> Option<Nanos> {
    let median = *sorted.get(sorted.len() / 2)?;
    let agree = sorted.iter().filter(|one| (**one - median).abs() <= AGREES).count();
    (agree >= MATCHES && agree * 4 >= sorted.len() * QUARTERS).then_some(median)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_needs_matches_that_agree() {
        let s = 1_000_000_000;
        assert_eq!(offset(&[7 * s, 7 * s + 1, 7 * s + 2]), Some(7 * s + 1));
        assert_eq!(offset(&[7 * s, 7 * s]), None, "two may be chance");
        assert_eq!(offset(&[-50 * s, 3 * s, 7 * s, 90 * s]), None, "they tell of no one clock");
        assert_eq!(offset(&[]), None);
    }
}
