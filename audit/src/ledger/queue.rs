//! The queue before the ledger: records that others may yet overtake, so that what is behind it sees one order.
//! Knows times and hashes of bytes; not what a record says.
//!
//! Logs are written when an exchange ends, or when it begins, and come in pieces. A record is let go when no other can come
//! before it any more: the latest beginning seen is then later than its own end by the disorder that the run was told. What
//! comes later still is told of. A record that comes a second time is dropped here, so that nothing counts it twice.

mod copies;

use super::Entry;
use super::route::hash;
use crate::event::Nanos;
use crate::order::Order;
use crate::quick::HashSet;
pub(super) use copies::Recent;
use copies::{Twin, Twins};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Records that wait before copies are looked for among them.
const MOST: usize = 16_384;

/// A record in the queue.
#[derive(Debug)]
pub(super) struct Slot {
    order: Order,
    pub(super) entry: Entry,
    /// About how many bytes it takes, as it was first read.
    pub(super) weight: u32,
    /// It was first read as an ordinary one.
    pub(super) ordinary: bool,
}

impl Slot {
    fn new(entry: Entry, order: Order) -> Slot {
        let ordinary = matches!(entry, Entry::Skim(..));
        Slot { order, weight: entry.weight(), ordinary, entry }
    }

    /// One that waited in the queue of an earlier export: `weight` and `ordinary` as they were there, so that nothing goes
    /// another way than it would have gone.
    pub(super) fn again(entry: Entry, weight: u32, ordinary: bool) -> Slot {
        let order = order(&entry);
        Slot { order: if ordinary { order.ordinary() } else { order }, weight, ordinary, entry }
    }

    fn twin(&self) -> Twin {
        let instance = match &self.entry {
            Entry::Event(event, _) if !self.ordinary => event.instance.as_deref().map(hash),
            _ => None,
        };
        Twin { place: self.order.place(), delivery: delivery(&self.entry), instance }
    }
}

/// The queue.
#[derive(Debug)]
pub(super) struct Queue {
    /// How far behind the others a record may come.
    disorder: Nanos,
    /// About how many bytes may wait.
    room: usize,
    /// By stretches of time, so that each record is moved and compared but once, with those that ended when it did.
    waiting: BTreeMap<Nanos, Vec<Slot>>,
    /// How many wait.
    count: usize,
    weight: usize,
    /// So many and so heavy ones wait before copies among them are looked for.
    most: (usize, usize),
    /// The latest beginning seen.
    pub(super) newest: Nanos,
    /// When the latest beginning is later than this, some records can go.
    due: Nanos,
    /// What ends before this comes too late.
    shut: (Nanos, Nanos),
    /// What ends before this may have been here before.
    known: Nanos,
    /// Different records so far, while they are few.
    few: Option<HashSet<u64>>,
    recent: Recent,
    /// The place of the record that came too late last, and whether it had been here before: it may tell of several events.
    last_late: Option<((u32, u64), bool)>,
    /// Those of one moment that were let go last.
    twins: Twins,
    /// Records that came too late to be put in their place.
    pub(super) late: u64,
    /// Records that came again long after the first time.
    pub(super) again: u64,
}

/// What a queue leaves for the next export, beside the records in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Passed {
    /// Times as in [`Queue`]; none: there was no record.
    times: Option<Times>,
    /// Digests of the latest records that were let go.
    digests: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Times {
    newest: Nanos,
    due: Nanos,
    shut: (Nanos, Nanos),
    known: Nanos,
}

impl Queue {
    /// `carries`: exports follow each other.
    pub(super) fn new(disorder: Nanos, room: usize, carries: bool) -> Queue {
        Queue {
            disorder,
            room,
            waiting: BTreeMap::new(),
            count: 0,
            weight: 0,
            most: (MOST, room),
            newest: Nanos::MIN,
            due: Nanos::MIN,
            shut: (Nanos::MIN, Nanos::MIN),
            known: Nanos::MIN,
            few: Some(HashSet::default()),
            recent: Recent::new(carries),
            last_late: None,
            twins: Twins::default(),
            late: 0,
            again: 0,
        }
    }

    /// Goes on where another export ended.
    pub(super) fn restore(&mut self, passed: Passed) {
        if let Some(Times { newest, due, shut, known }) = passed.times {
            (self.newest, self.due, self.shut) = (newest, due, shut);
            // One of that very moment may be a copy too.
            self.known = known.saturating_add(1);
        }
        self.recent.restore(passed.digests);
    }

    /// What the next export has to know.
    pub(super) fn passed(&mut self) -> Passed {
        let Queue { newest, due, shut, known, .. } = *self;
        let times = (newest != Nanos::MIN).then_some(Times { newest, due, shut, known });
        Passed { times, digests: self.recent.take() }
    }

    /// Takes out what waits, as it is: the next export goes on with it.
    pub(super) fn leave(&mut self) -> Vec<Slot> {
        std::mem::take(&mut self.waiting).into_values().flatten().collect()
    }

    /// Takes a record in; one that was here before is dropped.
    pub(super) fn push(&mut self, entry: Entry) {
        let order = order(&entry);
        let late = (order.until, order.at) < self.shut;
        if late || order.until < self.known {
            let digest = order.digest(delivery(&entry));
            let again = match self.last_late {
                Some((place, again)) if place == order.place() => again,
                _ => self.recent.holds(digest),
            };
            self.last_late = Some((order.place(), again));
            if again {
                self.again += 1;
                return;
            }
        }
        self.late += u64::from(late);
        self.put(Slot::new(entry, order));
    }

    /// Puts a record among those that wait.
    pub(super) fn put(&mut self, slot: Slot) {
        if let Some(few) = &mut self.few {
            few.insert(slot.order.digest(delivery(&slot.entry)));
        }
        self.newest = self.newest.max(slot.order.at);
        self.weight += slot.weight as usize;
        self.count += 1;
        let stretch = slot.order.until.div_euclid(self.stretch());
        self.waiting.entry(stretch).or_default().push(slot);
        if self.count > self.most.0 || self.weight > self.most.1 {
            self.thin_out();
        }
    }

    /// Drops copies among those that wait, so that they take no memory until the others may go.
    fn thin_out(&mut self) {
        (self.count, self.weight) = (0, 0);
        for slots in self.waiting.values_mut() {
            in_order(slots);
            copies::thin_out(slots);
            self.count += slots.len();
            self.weight += slots.iter().map(|slot| slot.weight as usize).sum::<usize>();
        }
        // No sooner than there are twice as many again: each is looked at a few times.
        self.most = ((self.count * 2).max(MOST), (self.weight * 2).max(self.room));
    }

    /// Different records, as long as they are counted.
    pub(super) fn few(&self) -> Option<usize> {
        self.few.as_ref().map(HashSet::len)
    }

    /// From now on records are let go, and no longer counted.
    pub(super) fn open(&mut self) {
        self.few = None;
    }

    /// Whether some records can go, or must.
    pub(super) fn is_due(&self) -> bool {
        self.few.is_none() && (self.newest > self.due || self.weight > self.room)
    }

    /// Length of a stretch.
    fn stretch(&self) -> Nanos {
        (self.disorder / 4).max(1)
    }

    /// Gives what can go, in order.
    pub(super) fn take(&mut self) -> Vec<Slot> {
        self.due = self.newest.saturating_add(self.stretch());
        let open = self.newest.saturating_sub(self.disorder).div_euclid(self.stretch());
        if self.weight > self.room {
            self.thin_out();
        }
        let half = self.count / 2;
        let mut gone = Vec::new();
        let later = self.waiting.split_off(&open);
        for mut slots in std::mem::replace(&mut self.waiting, later).into_values() {
            in_order(&mut slots);
            self.let_go(slots, &mut gone);
        }
        let full = self.weight > self.room;
        while full && self.count > half {
            let Some((stretch, mut slots)) = self.waiting.pop_first() else { break };
            in_order(&mut slots);
            let rest = slots.split_off(slots.len().min(self.count - half));
            if !rest.is_empty() {
                self.waiting.insert(stretch, rest);
            }
            self.let_go(slots, &mut gone);
        }
        gone
    }

    /// Gives all that is left, in order.
    pub(super) fn take_all(&mut self) -> Vec<Slot> {
        let mut gone = Vec::new();
        while let Some((_, mut slots)) = self.waiting.pop_first() {
            in_order(&mut slots);
            self.let_go(slots, &mut gone);
        }
        gone
    }

    /// Hands over some that are in order, those left out that were here before.
    fn let_go(&mut self, slots: Vec<Slot>, gone: &mut Vec<Slot>) {
        self.count -= slots.len();
        if let Some(last) = slots.last() {
            self.shut = self.shut.max((last.order.until, last.order.at));
            self.known = self.known.max(last.order.until);
        }
        let Queue { weight: waits, twins, recent, .. } = self;
        let news = |slot: &Slot| {
            *waits -= slot.weight as usize;
            let twin = slot.twin();
            let news = twins.is_news((slot.order.until, slot.order.at), slot.order.seal(), twin);
            if news {
                recent.add(slot.order.digest(twin.delivery));
            }
            news
        };
        gone.reserve(slots.len());
        gone.extend(slots.into_iter().filter(news));
    }
}

/// Puts records in order; events of one record stay in theirs. Logs are nearly in order, which this sort makes use of.
fn in_order(slots: &mut [Slot]) {
    slots.sort_by_key(|slot| (slot.order.until, slot.order));
}

fn order(entry: &Entry) -> Order {
    match entry {
        Entry::Event(event, _) => Order::of(event),
        Entry::Skim(one) => Order::of_skim(&one.skim),
    }
}

/// A hash of the id that a shipper gave the record; 0: none.
fn delivery(entry: &Entry) -> u64 {
    match entry {
        Entry::Event(event, _) => event.keys.shipper.as_deref().map_or(0, hash),
        Entry::Skim(..) => 0,
    }
}

impl Entry {
    /// About how many bytes a record takes.
    pub(crate) fn weight(&self) -> u32 {
        use crate::event::What;
        const SLOT: usize = 300;
        let bytes = match self {
            Entry::Skim(one) => {
                SLOT + one.along.ids.len() * 4 + one.along.text.as_ref().map_or(0, |text| text.len())
            }
            Entry::Event(event, _) => match &event.what {
                What::Exchange(exchange) => {
                    let events = exchange.response.events.as_ref().map_or(0, Vec::len);
                    SLOT + 1200 + events * 250
                }
                _ => SLOT + 700,
            },
        };
        u32::try_from(bytes).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests;
