//! Files read side by side, ahead of who takes their records in.
//! Knows records' times, as far as files are merged by them; not what a record says.

use crate::adapter::intake::{Intake, Taken};
use crate::event::Nanos;
use crate::ledger::{Emit, Entry, Ledger};
use std::collections::VecDeque;
use std::iter::Peekable;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::vec::IntoIter;

/// Files that are read side by side.
pub(crate) const MOST_OPEN: usize = 256;

/// Opens the file of a number.
pub(crate) type Opener<'o, 'f> = dyn Fn(usize) -> Intake<'f> + Sync + 'o;

/// Reads `count` files and hands their records to the ledger, merged by time: of the records that come next the one goes first
/// whose file has reached the earlier time. What one batch holds never shows.
///
/// Reading and taking in go on side by side. Now and then the ledger judges for as long as it takes to read a few dozen
/// batches: meanwhile about `room` bytes of records are read ahead.
pub(crate) fn read_all<'f>(
    count: usize,
    open: &Opener<'_, 'f>,
    room: usize,
    ledger: &mut Ledger<'_>,
    emit: &mut Emit<'_>,
) -> Vec<Taken> {
    let mut files = Files::new(count, open);
    let mut ahead: VecDeque<Batch> = VecDeque::new();
    while files.more || !ahead.is_empty() {
        let mut now = std::mem::take(&mut ahead);
        let waits: usize = now.iter().map(|batch| batch.weight).sum();
        // Each side goes on until the other one has done a batch.
        let (is_taken, is_read) = (AtomicBool::new(now.is_empty()), AtomicBool::new(!files.more));
        let take = || {
            while let Some(batch) = now.pop_front() {
                ledger.enter_all(batch.entries, emit);
                is_taken.store(true, Relaxed);
                if is_read.load(Relaxed) {
                    break;
                }
            }
        };
        let read = || {
            let (mut more, mut weight) = (Vec::new(), waits);
            while files.more {
                let batch = Batch::of(files.batch());
                weight += batch.weight;
                more.push(batch);
                is_read.store(true, Relaxed);
                if is_taken.load(Relaxed) || weight > room {
                    break;
                }
            }
            more
        };
        // Where there is but one thread, it takes in before it reads.
        let ((), more) = rayon::join(take, read);
        ahead = now;
        ahead.extend(more);
    }
    files.taken.into_iter().flatten().collect()
}

/// Records that were read and not taken in.
struct Batch {
    entries: Vec<Entry>,
    /// About how many bytes they take.
    weight: usize,
}

impl Batch {
    fn of(entries: Vec<Entry>) -> Batch {
        let weight = entries.iter().map(|entry| entry.weight() as usize).sum();
        Batch { entries, weight }
    }
}

/// The files of a run.
struct Files<'o, 'f> {
    open: &'o Opener<'o, 'f>,
    count: usize,
    /// The file that is opened next.
    next: usize,
    reading: Vec<Open<'f>>,
    taken: Vec<Option<Taken>>,
    /// There may be more records.
    more: bool,
}

impl<'o, 'f> Files<'o, 'f> {
    fn new(count: usize, open: &'o Opener<'o, 'f>) -> Self {
        let taken = (0..count).map(|_| None).collect();
        Files { open, count, next: 0, reading: Vec::new(), taken, more: true }
    }

    /// The records that come next, in order; none is no end.
    fn batch(&mut self) -> Vec<Entry> {
        while self.reading.len() < MOST_OPEN && self.next < self.count {
            self.reading.push(Open::new(self.next, (self.open)(self.next)));
            self.next += 1;
        }
        // One file has no order to keep but its own.
        if let ([only], true) = (&mut self.reading[..], self.next == self.count) {
            let rest: Vec<Entry> = only.waiting.by_ref().collect();
            let batch = if rest.is_empty() { only.batch() } else { rest };
            if !only.more {
                self.close();
            }
            return batch;
        }
        self.reading.iter_mut().for_each(Open::fill);
        self.close();
        let mut batch = Vec::new();
        if self.reading.len() < MOST_OPEN && self.next < self.count {
            return batch;
        }
        while let Some(first) = self.reading.iter_mut().min_by_key(|file| (file.reached, file.number)) {
            batch.extend(first.waiting.next());
            if !first.reach() {
                break;
            }
        }
        batch
    }

    /// Closes the files that are done.
    fn close(&mut self) {
        let taken = &mut self.taken;
        self.reading.retain_mut(|file| {
            let done = !file.more && file.waiting.len() == 0;
            if done {
                taken[file.number] = file.intake.take().map(|intake| intake.finish(&mut |_| {}));
            }
            !done
        });
        self.more = !self.reading.is_empty() || self.next < self.count;
    }
}

/// A file that is being read, with the records that were read and not handed on.
struct Open<'f> {
    number: usize,
    intake: Option<Intake<'f>>,
    waiting: Peekable<IntoIter<Entry>>,
    /// The latest moment up to the record that comes next.
    reached: Nanos,
    more: bool,
    /// Records of the batch before.
    usual: usize,
}

impl<'f> Open<'f> {
    fn new(number: usize, intake: Intake<'f>) -> Self {
        Open {
            number,
            intake: Some(intake),
            waiting: Vec::new().into_iter().peekable(),
            reached: Nanos::MIN,
            more: true,
            usual: 0,
        }
    }

    /// Reads on until there is a record or the end.
    fn fill(&mut self) {
        while self.waiting.peek().is_none() && self.more {
            let batch = self.batch();
            self.waiting = batch.into_iter().peekable();
        }
        self.reach();
    }

    /// Takes note of the record that comes next; false: none is here.
    fn reach(&mut self) -> bool {
        let moment = self.waiting.peek().map(Entry::moment);
        self.reached = moment.map_or(self.reached, |moment| moment.max(self.reached));
        moment.is_some()
    }

    fn batch(&mut self) -> Vec<Entry> {
        // One batch is about as long as the one before.
        let mut batch = Vec::with_capacity(self.usual);
        if let Some(intake) = &mut self.intake {
            self.more = intake.step(&mut |entry| batch.push(entry));
        }
        self.usual = batch.len();
        batch
    }
}
