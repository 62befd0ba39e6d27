//! Chains of one call that may still grow, so arranged that a send meets only those it can repeat.
//! Knows when a send can first be repeated and when never more; whether one is repeated is for [`super`].

use super::{Closeness, Reached};
use super::{HORIZON, PARALLEL, cannot_repeat, closeness, moved_on_by, repeats};
use crate::event::Nanos;
use crate::quick::HashMap;
use crate::timeline::{Send, Timeline};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// A chain with those of its sends that a later one may repeat.
#[derive(Debug, Default)]
struct Open {
    sends: Vec<usize>,
    ready: Vec<usize>,
}

/// The chains of one call, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Opens {
    all: Vec<Open>,
    /// Sends that cannot be repeated before a moment, with their chains.
    pending: BinaryHeap<Reverse<(Nanos, usize, usize)>>,
    /// Chains that have a send to repeat.
    ready: BTreeSet<usize>,
    /// The same by the session of such a send, with how many it has.
    by_session: HashMap<Option<usize>, BTreeMap<usize, usize>>,
}

impl Opens {
    /// Puts a send to the latest chain that it repeats, else to a new one. What began at `settled` or before has its outcome.
    pub(super) fn add(&mut self, timeline: &Timeline, at: usize, settled: Nanos) {
        let send = &timeline.sends[at];
        self.wake(timeline, send.start);
        let chain = self.repeated(timeline, send, settled).unwrap_or_else(|| {
            self.all.push(Open::default());
            self.all.len() - 1
        });
        self.all[chain].sends.push(at);
        if send.reached != Reached::No {
            self.pending.push(Reverse((can_be_repeated(timeline, send), at, chain)));
        }
    }

    /// Every chain, as its sends.
    pub(super) fn into_chains(self) -> impl Iterator<Item = Vec<usize>> {
        self.all.into_iter().map(|open| open.sends)
    }

    fn wake(&mut self, timeline: &Timeline, now: Nanos) {
        while let Some(Reverse((_, at, chain))) = self.pending.pop_if_due(now) {
            self.all[chain].ready.push(at);
            self.ready.insert(chain);
            let chains = self.by_session.entry(timeline.sends[at].session).or_default();
            *chains.entry(chain).or_default() += 1;
        }
    }

    /// The latest chain with a send that `later` repeats.
    fn repeated(&mut self, timeline: &Timeline, later: &Send, settled: Nanos) -> Option<usize> {
        let mut below = usize::MAX;
        while let Some(chain) = self.candidate(timeline, later, below) {
            below = chain;
            // The whole story is one wish: it is no longer than a client waits, however many steps it takes.
            let first = &timeline.sends[self.all[chain].sends[0]];
            let near = closeness(timeline, first, later) != Closeness::Apart;
            if near && self.is_repeated(timeline, chain, later, settled) {
                return Some(chain);
            }
        }
        None
    }

    /// The latest chain before `below` that may hold a send to be repeated: of the same session or of none, or begun before the
    /// session was first used ([`super::beside`]).
    fn candidate(&self, timeline: &Timeline, later: &Send, below: usize) -> Option<usize> {
        let latest = |end: usize| self.ready.range(..end).next_back().copied();
        let Some(session) = later.session else { return latest(below) };
        let of = |session| {
            let chains = self.by_session.get(&session)?;
            chains.range(..below).next_back().map(|(chain, _)| *chain)
        };
        let first = timeline.sessions[session].first;
        let began = self.all.partition_point(|open| timeline.sends[open.sends[0]].start <= first);
        [of(Some(session)), of(None), latest(below.min(began))].into_iter().flatten().max()
    }

    /// Whether `later` repeats a send of the chain. What no send from `later` on can repeat is taken out on the way.
    fn is_repeated(&mut self, timeline: &Timeline, chain: usize, later: &Send, settled: Nanos) -> bool {
        for at in (0..self.all[chain].ready.len()).rev() {
            #[cfg(test)]
            super::LOOKS.set(super::LOOKS.get() + 1);
            let earlier = self.all[chain].ready[at];
            let send = &timeline.sends[earlier];
            let past = later.start - send.start > HORIZON || send.start <= settled;
            if past || cannot_repeat(timeline, send, later.start) {
                self.all[chain].ready.remove(at);
                self.forget(chain, send.session);
            } else if repeats(timeline, earlier, later) {
                return true;
            }
        }
        false
    }

    /// Takes note that a chain has one send of a session less that may be repeated.
    fn forget(&mut self, chain: usize, session: Option<usize>) {
        if let Some(chains) = self.by_session.get_mut(&session)
            && let Some(count) = chains.get_mut(&chain)
        {
            *count -= 1;
            if *count == 0 {
                chains.remove(&chain);
            }
        }
        if self.all[chain].ready.is_empty() {
            self.ready.remove(&chain);
        }
    }
}

/// The first moment at which a send can be repeated: when its own exchange had ended, or may have been left.
fn can_be_repeated(timeline: &Timeline, send: &Send) -> Nanos {
    let contact = &timeline.contacts[send.contact];
    let parallel = send.start.saturating_add(PARALLEL);
    let ended = send.closed.map_or(parallel, |closed| closed.saturating_sub(contact.precision));
    if moved_on_by(timeline, send) { ended.min(parallel) } else { ended }
}

trait PopIfDue {
    fn pop_if_due(&mut self, now: Nanos) -> Option<Reverse<(Nanos, usize, usize)>>;
}

impl PopIfDue for BinaryHeap<Reverse<(Nanos, usize, usize)>> {
    fn pop_if_due(&mut self, now: Nanos) -> Option<Reverse<(Nanos, usize, usize)>> {
        if self.peek().is_some_and(|Reverse((at, ..))| *at <= now) { self.pop() } else { None }
    }
}
