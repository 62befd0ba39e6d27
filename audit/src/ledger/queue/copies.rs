//! Records that were here before: copies of one moment, and digests of those that went by.
//! Knows hashes, places and what a shipper says; not when a record may go.

use super::Slot;
use crate::event::Nanos;
use crate::order::Order;
use crate::quick::{HashMap, HashSet};
use std::collections::VecDeque;

/// Digests of records that are kept, the latest: 2 MiB.
const REMEMBERED: usize = 1 << 18;
/// The same where exports follow each other, of which one may be given again: 8 MiB.
const REMEMBERED_BETWEEN: usize = 1 << 20;

/// What tells a copy from another record with the same bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Twin {
    pub(super) place: (u32, u64),
    /// A hash of the id that a shipper gave it; 0: none, which may be any.
    pub(super) delivery: u64,
    pub(super) instance: Option<u64>,
}

/// The records of one moment, by the hash of their bytes: mostly there is one.
#[derive(Debug, Default)]
pub(super) struct Twins {
    moment: Option<(Nanos, Nanos)>,
    first: Option<(u64, Twin)>,
    /// Of each instance.
    others: HashMap<(u64, Option<u64>), Known>,
}

/// Where those of one hash and one instance stand that are no copies.
#[derive(Debug, Default)]
struct Known {
    first: Option<(u32, u64)>,
    /// Not all of them stand there.
    several: bool,
    /// By their deliveries.
    deliveries: HashMap<u64, (u32, u64)>,
}

impl Known {
    fn has_copy_of(&self, twin: &Twin) -> bool {
        let of = |delivery: u64| self.deliveries.get(&delivery).is_some_and(|place| *place != twin.place);
        match twin.delivery {
            0 => self.several || self.first.is_some_and(|place| place != twin.place),
            delivery => of(delivery) || of(0),
        }
    }

    fn add(&mut self, twin: &Twin) {
        let first = *self.first.get_or_insert(twin.place);
        self.several |= first != twin.place;
        self.deliveries.insert(twin.delivery, twin.place);
    }
}

impl Twins {
    /// Whether no copy of the record was here before it.
    pub(super) fn is_news(&mut self, moment: (Nanos, Nanos), seal: u64, twin: Twin) -> bool {
        if self.moment != Some(moment) {
            self.moment = Some(moment);
            self.first = Some((seal, twin));
            self.others.clear();
            return true;
        }
        if let Some((seal, first)) = self.first.take() {
            self.others.entry((seal, first.instance)).or_default().add(&first);
        }
        // A record of which nothing is known but its times may be another.
        if seal == 0 {
            return true;
        }
        let known = self.others.entry((seal, twin.instance)).or_default();
        let news = !known.has_copy_of(&twin);
        if news {
            known.add(&twin);
        }
        news
    }
}

/// Drops of those that wait the copies that would be dropped whatever came between: those that equal an earlier one also in
/// their delivery. `slots` are in order.
pub(super) fn thin_out(slots: &mut Vec<Slot>) {
    let mut alike: Option<(Order, Twin)> = None;
    let mut others: HashMap<(u64, Option<u64>), (u32, u64)> = HashMap::default();
    slots.retain(|slot| {
        let twin = slot.twin();
        match &alike {
            Some((order, first)) if slot.order.seal() != 0 && order.is_alike(&slot.order) => {
                let key = |twin: &Twin| (twin.delivery, twin.instance);
                let same = if key(first) == key(&twin) {
                    first.place
                } else {
                    *others.entry(key(&twin)).or_insert(twin.place)
                };
                same == twin.place
            }
            _ => {
                alike = Some((slot.order, twin));
                if !others.is_empty() {
                    others.clear();
                }
                true
            }
        }
    });
}

/// Digests of the latest records, in the order in which they went.
#[derive(Debug)]
pub(in crate::ledger) struct Recent {
    most: usize,
    digests: VecDeque<u64>,
    /// The same to be looked up; made when something is.
    index: Option<HashSet<u64>>,
}

impl Recent {
    /// `carries`: exports follow each other.
    pub(in crate::ledger) fn new(carries: bool) -> Recent {
        let most = if carries { REMEMBERED_BETWEEN } else { REMEMBERED };
        Recent { most, digests: VecDeque::new(), index: None }
    }

    /// Goes on with what another export left.
    pub(in crate::ledger) fn restore(&mut self, digests: Vec<u64>) {
        self.digests = digests.into();
    }

    /// What the next export goes on with.
    pub(in crate::ledger) fn take(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.digests).into()
    }

    pub(in crate::ledger) fn add(&mut self, digest: u64) {
        if self.digests.len() >= self.most {
            let oldest = self.digests.pop_front();
            if let (Some(index), Some(oldest)) = (&mut self.index, oldest) {
                index.remove(&oldest);
            }
        }
        self.digests.push_back(digest);
        if let Some(index) = &mut self.index {
            index.insert(digest);
        }
    }

    pub(in crate::ledger) fn holds(&mut self, digest: u64) -> bool {
        self.index.get_or_insert_with(|| self.digests.iter().copied().collect()).contains(&digest)
    }
}
