//! The ledger: what clients did and is not judged yet, in bounded memory, whatever the length of the log.
//! Knows clients roughly and time; not what a breach is.
//!
//! A small input is judged as a whole. A larger one is kept client by client as few bytes each. A client is judged when it
//! has been silent for the horizon of log time, or at the end; of one that is never silent, the sessions that are; of a
//! session that is never silent, its past in stretches. When that is depends on the records and their order alone: what
//! does not fit into memory waits in a temporary file.

mod carry;
mod codec;
mod docket;
mod judging;
mod queue;
pub(crate) mod route;
mod spill;
mod thin;
mod told;
mod waiting;

use crate::adapter::formats::Formats;
use crate::adapter::rpc::Keep;
use crate::carry::Carried;
use crate::cost::{Costs, Stage};
use crate::event::{Event, Nanos};
use crate::finding::Finding;
use crate::join::{self, Clocks};
use crate::long;
use crate::mapping::CallMark;
use crate::order::{moment, until};
use crate::skim::Skimmed;
use crate::source::Recall;
use crate::table::Tables;
use crate::verdict::{Counts, Tally, Whole};
use docket::Cut;
use judging::Why;
pub(crate) use queue::Passed;
use queue::{Queue, Recent, Slot};
use route::Routes;
pub(crate) use route::Ways;
use serde::{Deserialize, Serialize};
use spill::Spill;
use told::Told;
use waiting::Waiting;

/// Where findings go.
pub(crate) type Emit<'e> = dyn FnMut(Finding) + Send + 'e;

/// A record on its way to a judgement.
#[derive(Debug)]
pub(crate) enum Entry {
    /// One that was read in full.
    Event(Box<Event>, CallMark),
    /// An ordinary one.
    Skim(Box<Skimmed>),
}

impl Entry {
    /// One that was read in full just now. Its texts are shortened as long as they are at hand.
    pub(crate) fn read(mut event: Event, mark: CallMark) -> Entry {
        long::shorten(&mut event);
        Entry::Event(Box::new(event), mark)
    }

    /// The moment by which records are ordered.
    pub(crate) fn moment(&self) -> Nanos {
        match self {
            Entry::Event(event, _) => moment(event),
            Entry::Skim(one) => one.skim.start,
        }
    }
}

/// What a ledger is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// Bytes that waiting records may take in memory: those that are put in order, and again those that are filed.
    pub(crate) room: usize,
    /// Silence in log time after which a client or session is over, in nanoseconds.
    pub(crate) horizon: Nanos,
    /// How far behind the others a record may come, in nanoseconds.
    pub(crate) disorder: Nanos,
    /// Rows are wanted too.
    pub(crate) rows: bool,
    /// Look at every record, also where few would do.
    pub(crate) all: bool,
    /// Records that are judged as a whole, exactly as they are.
    pub(crate) small: usize,
    /// What is not over is carried to the next export.
    pub(crate) carries: Option<Carries>,
}

/// What an export does with what is not over at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carries {
    /// It waits for the next one.
    Open,
    /// It is judged: there is no next one.
    All,
}

/// What ordinary records are read again with.
pub(crate) struct Again<'p> {
    pub(crate) recall: Recall<'p>,
    pub(crate) formats: &'p Formats,
    pub(crate) keep: Keep,
    pub(crate) costs: &'p Costs,
}

/// What was given up or put aside to stay within memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Given {
    /// Sessions judged before the log's end, as they had been silent for the horizon.
    pub(crate) early: u64,
    /// Sessions judged before their time, as there was no room for what waits.
    pub(crate) forced: u64,
    /// Sessions judged with the past of their client, as that had too many records.
    pub(crate) parted: u64,
    /// How often the past of such a client was judged.
    pub(crate) parts: u64,
    /// Records that came later than the horizon behind the others.
    pub(crate) late: u64,
    /// Records that came later than the disorder behind the others, so that their place in the order was gone.
    pub(crate) unordered: u64,
    /// Records that had been there long before, in this input or in an earlier export.
    pub(crate) again: u64,
    /// Bytes that went through the temporary file.
    pub(crate) spilled: u64,
}

impl Given {
    /// Sessions judged before the log's end, for whatever reason.
    pub(crate) fn all_early(&self) -> u64 {
        self.early + self.forced + self.parted
    }
}

/// The ledger.
pub(crate) struct Ledger<'p> {
    paths: &'p [String],
    terms: Terms,
    again: Again<'p>,
    queue: Queue,
    /// The first records, in order: all of a small input; of a large one those by which its clocks are known.
    first: Vec<Slot>,
    is_large: bool,
    /// The clocks are known, and records are filed by client.
    is_filing: bool,
    clients: Vec<Option<Waiting>>,
    free: Vec<u32>,
    routes: Routes,
    held: usize,
    now: Nanos,
    swept: Nanos,
    whole: Whole,
    spill: Spill,
    tally: Tally,
    tables: Tables,
    given: Given,
    /// What is out, so that a story told in parts is told once.
    told: Told,
    /// Sessions that were counted: one that goes on after it was judged is no other.
    counted: Recent,
    before: carry::Before,
    /// An earlier export told of more clients than one.
    others: bool,
    /// Files of this export; those behind them are of earlier ones.
    own: usize,
    /// All records are in one place.
    common: Option<Common>,
}

/// Between exports so few records wait that they are judged as a whole, and no client has to be told from another: there are as
/// few of them as in an input that is small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Common {
    /// How many wait.
    records: usize,
    /// The key of the first client.
    first: Option<u64>,
    /// There was another.
    several: bool,
}

impl Common {
    fn note(&mut self, entry: &Entry) {
        let key = match entry {
            Entry::Event(event, _) => route::client(event),
            Entry::Skim(one) => one.skim.client,
        };
        self.several |= key.is_some() && self.first.is_some() && key != self.first;
        self.first = self.first.or(key);
    }
}

/// What a ledger leaves behind.
pub(crate) struct Closed {
    pub(crate) counts: Counts,
    pub(crate) tables: Tables,
    pub(crate) given: Given,
    /// Why the temporary file could not be used, if it was needed and could not.
    pub(crate) broken: Option<std::io::Error>,
    /// Records that were not found again where they had been, as (file, how many).
    pub(crate) lost: Vec<(u32, u64)>,
    /// What waits for the next export, if there is to be one.
    pub(crate) carried: Option<Carried>,
}

impl Ledger<'_> {
    /// Records of one client before its past is judged: some twenty megabytes, if all are read in full. Every record counts
    /// alike, however it was read, so that the cut depends on the records alone.
    pub(crate) const MOST: u32 = 16_384;
}

impl<'p> Ledger<'p> {
    pub(crate) fn new(paths: &'p [String], terms: Terms, again: Again<'p>) -> Self {
        // What is only put in order takes as much again: an order that is given up is worse than a file that is written.
        let queue = Queue::new(terms.disorder, terms.room, terms.carries.is_some());
        Ledger {
            paths,
            terms,
            again,
            queue,
            first: Vec::new(),
            is_large: false,
            is_filing: false,
            clients: Vec::new(),
            free: Vec::new(),
            routes: Routes::default(),
            held: 0,
            now: Nanos::MIN,
            swept: Nanos::MIN,
            whole: Whole::default(),
            spill: Spill::default(),
            tally: Tally::default(),
            tables: Tables::default(),
            given: Given::default(),
            told: Told::default(),
            counted: Recent::new(false),
            before: carry::Before::default(),
            others: false,
            own: paths.len(),
            common: terms.carries.map(|_| Common::default()),
        }
    }

    /// Takes records in, one after the other.
    pub(crate) fn enter_all(&mut self, entries: Vec<Entry>, emit: &mut Emit<'_>) {
        let costs = self.again.costs;
        costs.time(Stage::Store, || entries.into_iter().for_each(|entry| self.enter(entry, emit)));
    }

    /// Takes a record in, and judges what is over by then.
    pub(crate) fn enter(&mut self, entry: Entry, emit: &mut Emit<'_>) {
        self.queue.push(entry);
        if self.queue.few().is_some_and(|few| few > self.terms.small) {
            self.queue.open();
            self.is_large = true;
        }
        if self.queue.is_due() {
            let slots = self.queue.take();
            self.follow(slots, emit);
        }
    }

    /// Takes the records that come next in the order of all.
    fn follow(&mut self, slots: Vec<Slot>, emit: &mut Emit<'_>) {
        if self.is_filing {
            return slots.into_iter().for_each(|slot| self.put(slot.entry, emit));
        }
        self.first.extend(slots);
        if self.first.len() > self.terms.small {
            self.begin_filing(emit);
        }
    }

    /// Goes on client by client.
    fn begin_filing(&mut self, emit: &mut Emit<'_>) {
        self.is_filing = true;
        self.whole.clocks = Some(self.clocks());
        self.whole.others = true;
        for slot in std::mem::take(&mut self.first) {
            self.put(slot.entry, emit);
        }
    }

    /// Takes what still waits in the queue: no more comes.
    fn flush(&mut self, emit: &mut Emit<'_>) {
        let slots = self.queue.take_all();
        self.given.unordered = self.queue.late;
        self.given.again = self.queue.again;
        if !self.is_large {
            return self.first.extend(slots);
        }
        self.follow(slots, emit);
        if !self.is_filing {
            self.begin_filing(emit);
        }
    }

    /// What the first records tell of the clocks; one log has one.
    fn clocks(&self) -> Clocks {
        let before = &self.before.clocks;
        // The pieces of one log have one clock, in whatever runs they come.
        if self.own < 2 && before.is_empty() {
            return Clocks::default();
        }
        let Again { recall, formats, keep, .. } = &self.again;
        let mut events: Vec<Event> = Vec::new();
        // So many that every split of the input tells the same.
        for Slot { entry, .. } in self.first.iter().take(self.terms.small.saturating_add(1)) {
            match entry {
                Entry::Event(event, _) => events.push((**event).clone()),
                Entry::Skim(one) => {
                    let text = one.along.text.as_deref();
                    docket::recall(recall, formats, *keep, &one.skim, text, &mut |event| events.push(event));
                }
            }
        }
        let mut clocks = join::clocks(events);
        clocks.adopt(before);
        clocks
    }

    /// Files a record.
    fn put(&mut self, entry: Entry, emit: &mut Emit<'_>) {
        self.pass(entry.moment(), emit);
        match &entry {
            Entry::Event(event, _) => route::note(event, &mut self.whole),
            Entry::Skim(one) => {
                let plan = self.again.formats.get(usize::from(one.skim.format)).plan();
                plan.into_iter().for_each(|plan| self.whole.given.note_vantage(plan.vantage()));
            }
        }
        self.file(entry, false, emit);
        if self.common.is_some_and(|common| common.records > self.terms.small) {
            self.part_ways(emit);
        }
    }

    /// Puts a record to its client; `counted`: an earlier judgement has counted it.
    fn file(&mut self, entry: Entry, counted: bool, emit: &mut Emit<'_>) {
        let at = entry.moment();
        let (clients, free) = (&mut self.clients, &mut self.free);
        let open = |key| {
            let waiting = Waiting { key, ..Waiting::default() };
            match free.pop() {
                Some(index) => {
                    clients[index as usize] = Some(waiting);
                    index
                }
                None => {
                    clients.push(Some(waiting));
                    clients.len() as u32 - 1
                }
            }
        };
        let index = match (&mut self.common, &entry) {
            (Some(common), entry) => {
                common.note(entry);
                self.routes.common(open)
            }
            (None, Entry::Event(event, _)) => self.routes.find(event, open),
            (None, Entry::Skim(one)) => self.routes.find_skim(&one.skim, open),
        };
        let client = self.clients[index as usize].as_mut().expect("a route leads to a client that waits");
        // A text that makes room for a shorter one can leave a writer smaller than before.
        let (before, after) = match &entry {
            Entry::Event(event, mark) => {
                let before = client.writer.size();
                docket::write(&mut client.writer, event, *mark, counted);
                client.note(at, until(event), counted);
                (before, client.writer.size())
            }
            Entry::Skim(one) => {
                let Skimmed { skim, along } = &**one;
                let before = client.skims.capacity();
                skim.write(&along.ids, along.text.as_deref(), &mut client.skims);
                client.note(at, skim.end, counted);
                (before, client.skims.capacity())
            }
        };
        let records = client.records;
        self.common.iter_mut().for_each(|common| common.records = records as usize);
        self.held = self.held + after - before;
        if records >= Ledger::MOST && self.common.is_none() {
            self.judge(&[(index, Cut::Past)], Why::Size, emit);
        }
        if self.held > self.terms.room {
            self.put_aside(emit);
        }
    }

    /// Lets log time go on to `at`.
    fn pass(&mut self, at: Nanos, emit: &mut Emit<'_>) {
        let behind = self.terms.horizon.saturating_add(self.terms.disorder);
        self.given.late += u64::from(at < self.now.saturating_sub(behind));
        self.now = self.now.max(at);
        if self.swept == Nanos::MIN {
            self.swept = self.now;
        }
        if self.now.saturating_sub(self.swept) > self.terms.horizon / 4 {
            self.sweep(emit);
        }
    }

    /// Judges what is left.
    pub(crate) fn finish(mut self, emit: &mut Emit<'_>) -> Closed {
        let mut carried = None;
        if self.terms.carries.is_some() {
            carried = Some(self.carry_on(emit));
        } else {
            self.flush(emit);
            self.judge_rest(emit);
        }
        self.tables.sort();
        Closed {
            counts: self.tally.finish(),
            tables: self.tables,
            given: self.given,
            broken: self.spill.broken(),
            lost: self.again.recall.lost(),
            carried,
        }
    }
}
