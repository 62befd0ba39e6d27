//! Records that were here before: copies of one moment, and digests of those that went by.
//! Knows hashes, places and what a shipper says; not when a record may go.

use crate::event::Nanos;
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
    pub(super) delivery: u64,
    pub(super) instance: Option<u64>,
}

impl Twin {
    fn is_copy_of(&self, other: &Twin) -> bool {
        let fits = |one: u64, other: u64| one == 0 || other == 0 || one == other;
        self.place != other.place && fits(self.delivery, other.delivery) && self.instance == other.instance
    }
}

/// The records of one moment, by the hash of their bytes: mostly there is one.
#[derive(Debug, Default)]
pub(super) struct Twins {
    moment: Option<(Nanos, Nanos)>,
    first: Option<(u64, Twin)>,
    others: HashMap<u64, Vec<Twin>>,
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
        // A record of which nothing is known but its times may be another.
        let firsts = self.first.iter().filter(|(other, _)| *other == seal).map(|(_, twin)| twin);
        let mut known = firsts.chain(self.others.get(&seal).into_iter().flatten());
        if seal != 0 && known.any(|other| other.is_copy_of(&twin)) {
            return false;
        }
        self.others.entry(seal).or_default().push(twin);
        true
    }
}

/// Digests of the latest records, in the order in which they went.
#[derive(Debug)]
pub(super) struct Recent {
    most: usize,
    digests: VecDeque<u64>,
    /// The same to be looked up; made when something is.
    index: Option<HashSet<u64>>,
}

impl Recent {
    /// `carries`: exports follow each other.
    pub(super) fn new(carries: bool) -> Recent {
        let most = if carries { REMEMBERED_BETWEEN } else { REMEMBERED };
        Recent { most, digests: VecDeque::new(), index: None }
    }

    /// Goes on with what another export left.
    pub(super) fn restore(&mut self, digests: Vec<u64>) {
        self.digests = digests.into();
    }

    /// What the next export goes on with.
    pub(super) fn take(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.digests).into()
    }

    pub(super) fn add(&mut self, digest: u64) {
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

    pub(super) fn holds(&mut self, digest: u64) -> bool {
        self.index.get_or_insert_with(|| self.digests.iter().copied().collect()).contains(&digest)
    }
}
