//! The ledger: what clients did and is not judged yet, in bounded memory, whatever the length of the log.
//! Knows clients roughly and time; not what a breach is.
//!
//! A small input is judged as a whole. A larger one is kept client by client as few bytes each; what does not fit into
//! memory waits in a temporary file. A client is judged when it has been silent for the horizon of log time, or at the
//! end; of a client that is never silent, the sessions that are.

mod codec;
mod docket;
mod route;
mod spill;

use crate::event::{Event, Nanos};
use crate::finding::Finding;
use crate::join::moment;
use crate::table::Tables;
use crate::verdict::{self, BuildRapid, Counts, Heard, Tally, Whole};
use codec::Writer;
use docket::{Docket, Judged};
use route::Routes;
use spill::Spill;
use std::collections::HashSet;

/// Events that are judged as a whole, exactly as they are: some ten megabytes of facts.
const SMALL: usize = 10_000;
/// Events of one client that are judged at once. A client with more within the horizon is judged by a shorter one.
const MOST: u32 = 4_096;
/// Bytes of one client from which on they are worth a place in the temporary file.
const WORTH: usize = 64;

/// Where findings go.
pub(crate) type Emit<'e> = dyn FnMut(Finding) + Send + 'e;

/// What a ledger is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// Bytes that waiting events may take in memory.
    pub(crate) room: usize,
    /// Silence in log time after which a client or session is over, in nanoseconds.
    pub(crate) horizon: Nanos,
    /// Rows are wanted too.
    pub(crate) rows: bool,
}

/// What was given up or put aside to stay within memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Given {
    /// Clients and sessions judged before the log's end.
    pub(crate) early: u64,
    /// Events that came later than the horizon after the last one of their client was judged.
    pub(crate) late: u64,
    /// Bytes that went through the temporary file.
    pub(crate) spilled: u64,
}

/// One client that waits.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    key: u64,
    writer: Writer,
    count: u32,
    first: Nanos,
    last: Nanos,
    away: Vec<spill::Piece>,
}

/// The ledger.
pub(crate) struct Ledger<'p> {
    paths: &'p [String],
    terms: Terms,
    /// Events of a small input.
    small: Vec<Event>,
    is_large: bool,
    clients: Vec<Option<Waiting>>,
    free: Vec<u32>,
    routes: Routes,
    /// Clients with more events than are judged at once.
    crowded: Vec<u32>,
    held: usize,
    now: Nanos,
    swept: Nanos,
    bounded: bool,
    whole: Whole,
    spill: Spill,
    tally: Tally,
    tables: Tables,
    given: Given,
    /// Fingerprints of findings that are out, so that a story told in parts is told once.
    told: HashSet<u64, BuildRapid>,
}

/// What a ledger leaves behind.
pub(crate) struct Closed {
    pub(crate) counts: Counts,
    pub(crate) tables: Tables,
    pub(crate) given: Given,
    /// Why the temporary file could not be used, if it was needed and could not.
    pub(crate) broken: Option<std::io::Error>,
}

impl<'p> Ledger<'p> {
    pub(crate) fn new(paths: &'p [String], terms: Terms) -> Self {
        Ledger {
            paths,
            terms,
            small: Vec::new(),
            is_large: false,
            clients: Vec::new(),
            free: Vec::new(),
            routes: Routes::default(),
            crowded: Vec::new(),
            held: 0,
            now: Nanos::MIN,
            swept: Nanos::MIN,
            bounded: false,
            whole: Whole::default(),
            spill: Spill::default(),
            tally: Tally::default(),
            tables: Tables::default(),
            given: Given::default(),
            told: HashSet::default(),
        }
    }

    /// Takes an event in. Nothing is judged before [`Ledger::settle`].
    pub(crate) fn enter(&mut self, event: Event) {
        if self.is_large {
            return self.file(&event);
        }
        self.small.push(event);
        if self.small.len() > SMALL {
            self.is_large = true;
            self.whole.others = true;
            for event in std::mem::take(&mut self.small) {
                self.file(&event);
            }
        }
    }

    fn file(&mut self, event: &Event) {
        route::note(event, &mut self.whole);
        let at = moment(event);
        self.now = self.now.max(at);
        let index = self.routes.find(event, |key| {
            let waiting = Waiting { key, first: at, last: at, ..Waiting::default() };
            match self.free.pop() {
                Some(index) => {
                    self.clients[index as usize] = Some(waiting);
                    index
                }
                None => {
                    self.clients.push(Some(waiting));
                    self.clients.len() as u32 - 1
                }
            }
        });
        let client = self.clients[index as usize].as_mut().expect("a route leads to a client that waits");
        let before = client.writer.size();
        client.writer.write(event).expect("an event holds nothing that cannot be written");
        // A text that makes room for a shorter one can leave a writer smaller than before.
        self.held = self.held + client.writer.size() - before;
        client.count += 1;
        client.first = client.first.min(at);
        client.last = client.last.max(at);
        if client.count == MOST {
            self.crowded.push(index);
        }
        if self.bounded && self.now.saturating_sub(at) > self.terms.horizon {
            self.given.late += 1;
        }
    }

    /// Judges what is over, if there is need to.
    pub(crate) fn settle(&mut self, emit: &mut Emit<'_>) {
        if !self.crowded.is_empty() {
            let mut crowded: Vec<(u32, Option<Nanos>)> =
                std::mem::take(&mut self.crowded).into_iter().map(|at| (at, Some(Nanos::MAX))).collect();
            crowded.sort_unstable();
            self.judge(&crowded, emit);
        }
        self.bounded |= self.held > self.terms.room;
        let due = self.now.saturating_sub(self.swept) > self.terms.horizon / 4;
        if self.bounded && (due || self.held > self.terms.room) {
            self.sweep(emit);
        }
        if self.held > self.terms.room {
            self.put_aside(emit);
        }
    }

    /// Judges the clients that have been silent for the horizon.
    fn sweep(&mut self, emit: &mut Emit<'_>) {
        self.swept = self.now;
        let cut = self.now.saturating_sub(self.terms.horizon);
        let waiting = (0..).zip(&self.clients).filter_map(|(at, client)| Some((at, client.as_ref()?)));
        let mut due: Vec<(Nanos, u32, Option<Nanos>)> = waiting
            .filter_map(|(at, client)| {
                // Half of what is looked at is done then: more often would judge the same events again and again.
                let old = client.first < cut.saturating_sub(self.terms.horizon);
                (client.last < cut)
                    .then_some((client.first, at, None))
                    .or((old && client.last >= cut).then_some((client.first, at, Some(cut))))
            })
            .collect();
        due.sort_unstable();
        let due: Vec<_> = due.into_iter().map(|(_, at, cut)| (at, cut)).collect();
        self.judge(&due, emit);
    }

    /// Moves waiting bytes into the temporary file; where that fails, clients are judged before their time instead.
    fn put_aside(&mut self, emit: &mut Emit<'_>) {
        let mut moved = 0;
        let mut broken = false;
        for client in self.clients.iter_mut().flatten().filter(|client| client.writer.bytes.len() >= WORTH) {
            let before = client.writer.size();
            match self.spill.put(&client.writer.bytes) {
                Ok(piece) => client.away.push(piece),
                Err(()) => {
                    broken = true;
                    break;
                }
            }
            self.given.spilled += client.writer.bytes.len() as u64;
            // What comes next is written from a fresh start, so that a client that waits in the file takes no memory.
            client.writer = Writer::default();
            moved += before;
        }
        self.held -= moved;
        if broken {
            let waiting = (0..).zip(&self.clients).filter(|(_, client)| client.is_some());
            let all: Vec<(u32, Option<Nanos>)> = waiting.map(|(at, _)| (at, None)).collect();
            self.judge(&all, emit);
        }
    }

    /// Judges clients, each up to its cut or as a whole, and forgets what is done.
    fn judge(&mut self, clients: &[(u32, Option<Nanos>)], emit: &mut Emit<'_>) {
        // A fixed number at a time: how many threads there are must not show in the order of the findings.
        for some in clients.chunks(docket::AT_ONCE) {
            let mut files = Vec::with_capacity(some.len());
            for (index, cut) in some {
                let client =
                    self.clients[*index as usize].as_mut().expect("only clients that wait are judged");
                self.held -= client.writer.size();
                let bytes = self.spill.take(&mut client.away, &mut std::mem::take(&mut client.writer).bytes);
                files.push((*index, *cut, bytes));
            }
            let docket = Docket { paths: self.paths, whole: &self.whole, rows: self.terms.rows };
            let judged = docket.judge(files);
            let mut findings = Vec::new();
            for one in judged {
                findings.extend(self.close(one));
            }
            verdict::in_order(&mut findings);
            findings.into_iter().for_each(&mut *emit);
        }
    }

    fn close(&mut self, judged: Judged) -> Vec<Finding> {
        let Judged { index, heard, over, kept } = judged;
        let Heard { mut findings, tally, tables } = heard;
        self.tally.add(tally);
        self.tables.add(tables);
        self.given.early += u64::from(self.bounded || kept.is_some()) * over.len() as u64;
        let client = self.clients[index as usize].as_mut().expect("a client waits until it is judged");
        match kept {
            Some(kept) => {
                let Waiting { key, .. } = *client;
                self.held += kept.writer.size();
                *client = Waiting { key, ..kept };
                self.routes.forget_sessions(&over, index);
            }
            None => {
                self.routes.forget(client.key, &over, index);
                self.clients[index as usize] = None;
                self.free.push(index);
            }
        }
        findings.retain(|finding| {
            let print = rapidhash::v3::rapidhash_v3(finding.fingerprint.as_bytes());
            !self.bounded && !self.is_large || self.told.insert(print)
        });
        findings
    }

    /// Judges what is left.
    pub(crate) fn finish(mut self, emit: &mut Emit<'_>) -> Closed {
        if self.is_large {
            self.whole.others = self.clients.iter().flatten().count() > 1 || self.bounded;
            let waiting =
                (0..).zip(&self.clients).filter_map(|(at, client)| Some((client.as_ref()?.first, at)));
            let mut all: Vec<(Nanos, u32)> = waiting.collect();
            all.sort_unstable();
            let all: Vec<_> = all.into_iter().map(|(_, at)| (at, None)).collect();
            self.judge(&all, emit);
        } else {
            let events = std::mem::take(&mut self.small);
            let heard = verdict::hear(events, self.paths, &self.whole, None, self.terms.rows);
            self.tally.add(heard.tally);
            self.tables.add(heard.tables);
            heard.findings.into_iter().for_each(emit);
        }
        self.tables.sort();
        Closed {
            counts: self.tally.finish(),
            tables: self.tables,
            given: self.given,
            broken: self.spill.broken(),
        }
    }
}
