//! What a run costs as it goes on: bytes, records and time, by stage and by rule.
//! Knows clocks and counts; no result depends on them. Whoever shows progress reads them while the run goes on.

use crate::rules;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;
use unbroken_contract::breach::Breach;

/// The stages of a run whose time is told apart. Stages run side by side, so times add up over threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Bytes from files, decompressed and cut into records.
    Read,
    /// Records to events and glances.
    Parse,
    /// Records to their clients, encoded, put aside and fetched back; waiting for judgements included.
    Store,
    /// Clients judged, rules included.
    Judge,
}

/// Every stage with its name.
pub const STAGES: [(Stage, &str); 4] =
    [(Stage::Read, "read"), (Stage::Parse, "parse"), (Stage::Store, "store"), (Stage::Judge, "judge")];

/// Counters that a run adds to.
#[derive(Debug)]
pub struct Costs {
    bytes: AtomicU64,
    records: AtomicU64,
    parsed: AtomicU64,
    spills: AtomicU64,
    stages: [AtomicU64; STAGES.len()],
    rules: Vec<AtomicU64>,
}

impl Default for Costs {
    fn default() -> Self {
        Costs {
            bytes: AtomicU64::new(0),
            records: AtomicU64::new(0),
            parsed: AtomicU64::new(0),
            spills: AtomicU64::new(0),
            stages: std::array::from_fn(|_| AtomicU64::new(0)),
            rules: rules::ALL.iter().map(|_| AtomicU64::new(0)).collect(),
        }
    }
}

impl Costs {
    /// Bytes that were cut into records so far, decompressed.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Records seen so far.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records.load(Relaxed)
    }

    /// How often a record was read in full; the others were told at a glance, and what a judgement wanted was read again.
    #[must_use]
    pub fn parsed(&self) -> u64 {
        self.parsed.load(Relaxed)
    }

    /// How often memory was full and records were put aside.
    #[must_use]
    pub fn spills(&self) -> u64 {
        self.spills.load(Relaxed)
    }

    /// Nanoseconds of a stage, over all threads.
    #[must_use]
    pub fn stage(&self, stage: Stage) -> u64 {
        self.stages[stage as usize].load(Relaxed)
    }

    /// Nanoseconds of each rule, over all threads, most first.
    #[must_use]
    pub fn rules(&self) -> Vec<(Breach, u64)> {
        let mut all: Vec<(Breach, u64)> = rules::ALL
            .iter()
            .zip(&self.rules)
            .map(|(rule, spent)| (rule.breach, spent.load(Relaxed)))
            .collect();
        all.sort_by_key(|(_, spent)| std::cmp::Reverse(*spent));
        all
    }

    pub(crate) fn add_batch(&self, bytes: u64, records: u64) {
        self.bytes.fetch_add(bytes, Relaxed);
        self.records.fetch_add(records, Relaxed);
    }

    pub(crate) fn add_parsed(&self, count: u64) {
        self.parsed.fetch_add(count, Relaxed);
    }

    pub(crate) fn add_spill(&self) {
        self.spills.fetch_add(1, Relaxed);
    }

    /// Does the work and notes the time that it took.
    pub(crate) fn time<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = work();
        self.stages[stage as usize].fetch_add(nanos(begun), Relaxed);
        done
    }

    pub(crate) fn add_rule(&self, rule: usize, begun: Instant) {
        self.rules[rule].fetch_add(nanos(begun), Relaxed);
    }
}

fn nanos(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
