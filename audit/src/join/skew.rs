//! Clocks that differ: how far each log's clock is off, told by exchanges that several logs name by the same key.
//! Knows keys and times; moves times, and nothing else of what a log says.
//!
//! A key is what two records of one exchange can share and two exchanges cannot: the request id, the trace with its span, or the
//! session with the JSON-RPC id, each only where it stands once in a log. The median of the differences is the offset. It is
//! taken for one where it is larger than what hops and queues explain, and where most matches agree on it.

use super::{Contact, Told};
use crate::event::{Lifecycle, LifecycleStep, LoggedMessage, Message, Nanos, RpcId, Text, Vantage};
use crate::quick::HashMap;
use crate::timeline::close::id_text;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Offsets below this are the way between the hops, the same as what the join of vantages allows for: half of it.
const LEAST: Nanos = 500_000_000;
/// Matches that agree on an offset, and at least that many of all, in quarters.
const MATCHES: usize = 3;
const QUARTERS: usize = 3;
/// How far a match may be from the offset and still agree with it: queueing, and clocks that tick in whole seconds.
const AGREES: Nanos = 1_000_000_000;

/// Offsets are rounded to this, so that every part of a log tells the same; hops and queues hide as much.
const GRAIN: Nanos = 10_000_000;

/// A clock: that of the program instance that wrote a log. A log that was cut has one clock in all its pieces.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Clock {
    rank: u8,
    instance: Option<Text>,
    file: u32,
}

/// How far a clock is off, to be known to the next export; its files have other names there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Known {
    rank: u8,
    instance: Option<Text>,
    by: Nanos,
    matches: u64,
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
    /// By clock; one that is even stands here too, if anything tells that it is.
    known: BTreeMap<Clock, Ahead>,
    /// Those of earlier exports, for clocks of which this one tells nothing.
    before: Vec<Known>,
}

/// What an input shows of its clocks.
#[derive(Default)]
struct Shown {
    clocks: BTreeSet<Clock>,
    seen: Seen,
}

impl Shown {
    fn note(&mut self, key: Key, clock: &Clock, at: Nanos) {
        let slot = self.seen.entry(key).or_default().entry(clock.clone());
        slot.and_modify(|known| *known = None).or_insert(Some(at));
    }

    /// The same with the pieces of every program's log put together, under the first of them.
    fn together(&self) -> Option<Shown> {
        let mut firsts: BTreeMap<(u8, Option<&Text>), (u32, usize)> = BTreeMap::new();
        for clock in &self.clocks {
            firsts.entry((clock.rank, clock.instance.as_ref())).or_insert((clock.file, 0)).1 += 1;
        }
        firsts.values().any(|(_, files)| *files > 1).then(|| {
            let whole = |clock: &Clock| {
                let file = firsts[&(clock.rank, clock.instance.as_ref())].0;
                Clock { file, ..clock.clone() }
            };
            let mut all = Shown { clocks: self.clocks.iter().map(whole).collect(), ..Shown::default() };
            for (key, at) in &self.seen {
                let into = all.seen.entry(key.clone()).or_default();
                for (clock, at) in at {
                    let slot = into.entry(whole(clock));
                    slot.and_modify(|known| *known = None).or_insert(*at);
                }
            }
            all
        })
    }
}

/// What names one exchange in every log of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Request(Text),
    Span(Text, Text),
    Call(Text, Text),
}

/// Where one clock has a key: once at a time, or more than once and so nowhere.
type Seen = HashMap<Key, BTreeMap<Clock, Option<Nanos>>>;

impl Clocks {
    /// Learns from the records of an input, or of its beginning.
    pub(crate) fn learn(
        contacts: &[Contact],
        steps: &[Told<Lifecycle>],
        messages: &[Told<LoggedMessage>],
    ) -> Clocks {
        let mut shown = Shown::default();
        for contact in contacts {
            let clock = of_contact(contact);
            if contact.dated {
                keys(contact).for_each(|key| shown.note(key, &clock, contact.start));
            }
            shown.clocks.insert(clock);
        }
        for told in steps {
            let clock = of_told(told);
            let call = told.what.session.as_ref().zip(told.what.rpc_id.as_ref());
            if let Some((session, id)) = call.filter(|_| told.what.step == LifecycleStep::HandlerStarted) {
                shown.note(Key::Call(session.clone(), id_text(id).into()), &clock, told.at);
            }
            shown.clocks.insert(clock);
        }
        for told in messages {
            let clock = of_told(told);
            if let (Some(session), Message::Request(asked)) = (&told.what.session, &told.what.message)
                && let Some(id) = &asked.id
            {
                shown.note(Key::Call(session.clone(), id_text(id).into()), &clock, told.at);
            }
            shown.clocks.insert(clock);
        }
        Clocks::of(&shown)
    }

    fn of(shown: &Shown) -> Clocks {
        if shown.clocks.len() < 2 {
            return Clocks::default();
        }
        let mut known = settle(&shown.clocks, &differences(&shown.seen));
        if let Some(together) = shown.together() {
            let whole = settle(&together.clocks, &differences(&together.seen));
            for clock in &shown.clocks {
                let of = whole.iter().find(|(w, _)| w.rank == clock.rank && w.instance == clock.instance);
                let Some((_, of)) = of.filter(|(_, of)| of.matches > 0) else { continue };
                let agrees = |own: &Ahead| own.matches == 0 || (own.by - of.by).abs() <= AGREES;
                if known.get(clock).is_none_or(agrees) {
                    known.insert(clock.clone(), Ahead { file: clock.file, ..of.clone() });
                }
            }
        }
        Clocks { known, before: Vec::new() }
    }

    /// Takes over what earlier exports told; where this one agrees, theirs is kept.
    pub(crate) fn adopt(&mut self, before: &[Known]) {
        for (clock, ahead) in &mut self.known {
            let old = before.iter().find(|old| old.rank == clock.rank && old.instance == clock.instance);
            if let Some(old) = old.filter(|old| ahead.matches == 0 || (old.by - ahead.by).abs() <= AGREES) {
                (ahead.by, ahead.matches) = (old.by, old.matches.max(ahead.matches));
            }
        }
        self.before = before.to_vec();
    }

    /// What the next export should know.
    pub(crate) fn handed_on(&self) -> Vec<Known> {
        let told = self.known.iter().filter(|(_, ahead)| ahead.matches > 0).map(|(clock, ahead)| Known {
            rank: clock.rank,
            instance: clock.instance.clone(),
            by: ahead.by,
            matches: ahead.matches,
        });
        let mut all: Vec<Known> = told.collect();
        let of = |known: &Known| (known.rank, known.instance.clone());
        all.sort_by_key(|known| (of(known), std::cmp::Reverse(known.matches), known.by));
        all.dedup_by_key(|known| of(known));
        let old = self.before.iter().filter(|old| !all.iter().any(|known| of(known) == of(old)));
        let old: Vec<Known> = old.cloned().collect();
        all.extend(old);
        all.sort();
        all
    }

    /// Whether no clock is known to be off.
    pub(crate) fn is_even(&self) -> bool {
        self.known.values().all(|ahead| ahead.by == 0) && self.before.iter().all(|old| old.by == 0)
    }

    /// By how much a clock is ahead.
    fn by(&self, clock: &Clock) -> Nanos {
        if let Some(ahead) = self.known.get(clock) {
            return ahead.by;
        }
        let old = self.before.iter().find(|old| old.rank == clock.rank && old.instance == clock.instance);
        old.map_or(0, |old| old.by)
    }

    /// The clocks that are off, by file.
    pub(crate) fn ahead(&self) -> Vec<Ahead> {
        let mut all: Vec<Ahead> = self.known.values().filter(|ahead| ahead.by != 0).cloned().collect();
        all.sort_by_key(|ahead| (ahead.file, ahead.by, ahead.of));
        all.dedup_by_key(|ahead| (ahead.file, ahead.by));
        all
    }

    /// Moves the times of an exchange to the clock that is taken for right.
    pub(crate) fn correct(&self, contact: &mut Contact) {
        let by = self.by(&of_contact(contact));
        if by != 0 {
            contact.shift(-by);
        }
    }

    /// The same for something that a program told.
    pub(crate) fn correct_told<T>(&self, told: &mut Told<T>) {
        told.at = told.at.saturating_sub(self.by(&of_told(told)));
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
fn settle(clocks: &BTreeSet<Clock>, pairs: &BTreeMap<(Clock, Clock), Vec<Nanos>>) -> BTreeMap<Clock, Ahead> {
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
            let by = if by.abs() < LEAST { 0 } else { (by + GRAIN / 2).div_euclid(GRAIN) * GRAIN };
            let ahead = Ahead { file: to.file, by, of: first.file, matches: *matches as u64 };
            known.insert((*to).clone(), ahead);
        }
    }
    known
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

    const S: Nanos = 1_000_000_000;

    fn clock(rank: u8, file: u32) -> Clock {
        Clock { rank, instance: None, file }
    }

    #[test]
    fn a_log_that_was_cut_has_one_clock_in_all_its_pieces() {
        let mut shown = Shown::default();
        for n in 0..6 {
            let key = Key::Request(n.to_string().into());
            // Each piece alone has too few matches.
            for (clock, ahead) in [(clock(1, 0), 0), (clock(5, 1 + n / 2), 7 * S)] {
                shown.note(key.clone(), &clock, i64::from(n) * S + ahead);
                shown.clocks.insert(clock);
            }
        }
        let clocks = Clocks::of(&shown);
        assert_eq!([1, 2, 3].map(|file| clocks.by(&clock(5, file))), [7 * S; 3]);
        assert_eq!(clocks.by(&clock(1, 0)), 0);
        // A host with a clock of its own that tells enough keeps it.
        for n in 10..14 {
            let key = Key::Request(n.to_string().into());
            for (clock, ahead) in [(clock(1, 0), 0), (clock(5, 9), -50 * S)] {
                shown.note(key.clone(), &clock, i64::from(n) * S + ahead);
                shown.clocks.insert(clock);
            }
        }
        assert_eq!(Clocks::of(&shown).by(&clock(5, 9)), -50 * S);
    }

    #[test]
    fn what_one_export_told_of_a_clock_holds_for_the_next() {
        let of = |by: Nanos, matches: u64| Clocks {
            known: BTreeMap::from([(clock(5, 3), Ahead { file: 3, by, of: 0, matches })]),
            before: Vec::new(),
        };
        let told = of(7 * S, 5).handed_on();
        let mut next = Clocks::default();
        next.adopt(&told);
        assert_eq!(next.by(&clock(5, 8)), 7 * S, "nothing is told there");
        assert!(!next.is_even());
        assert_eq!(next.handed_on(), told);
        for (own, matches, expected) in [(0, 0, 7), (7, 4, 7), (20, 4, 20)] {
            let mut next = of(own * S, matches);
            next.adopt(&told);
            assert_eq!(next.by(&clock(5, 3)), expected * S, "{own} by {matches}");
        }
    }

    #[test]
    fn an_offset_needs_matches_that_agree() {
        let s = 1_000_000_000;
        assert_eq!(offset(&[7 * s, 7 * s + 1, 7 * s + 2]), Some(7 * s + 1));
        assert_eq!(offset(&[7 * s, 7 * s]), None, "two may be chance");
        assert_eq!(offset(&[-50 * s, 3 * s, 7 * s, 90 * s]), None, "they tell of no one clock");
        assert_eq!(offset(&[]), None);
    }
}
