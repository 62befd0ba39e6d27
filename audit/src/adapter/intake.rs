//! A file's way to events: opened, told, each record handed to its format's reader, in the order of the file.
//! Knows no rule; what could not be read is named, and the rest is read.

use super::RecordProblem;
use super::detect::Verdict;
use super::formats::{FileReader, Formats};
use super::loose;
use super::part;
use super::rpc::Keep;
use super::unread;
use crate::cost::{Costs, Stage};
use crate::event::{Event, Place};
use crate::ledger::Entry;
use crate::mapping::{CallMark, Desk};
use crate::run::{FileSummary, Problem};
use crate::skim::{Along, Skimmed};
use crate::source::{self, Batch, Limits, Record, Refusal, Source, Troubles};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

/// Records that tell a file's format. A file that mixes formats is told record by record.
const SAMPLE: usize = 200;
/// Records one thread reads in one go.
const SHARE: usize = 256;

/// Bytes of an ordinary record that wait with its skim where it cannot be read a second time. One that is longer is read in full
/// at once: its event says the same in fewer.
const MOST_ALONG: usize = 4 * 1024;

/// What became of a file.
#[derive(Debug)]
pub struct Taken {
    /// Its line in the summary.
    pub summary: FileSummary,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// It is a log, or may be one whose shape nobody knows.
    pub log: bool,
    /// Steps whose other steps may stand in another file.
    pub(crate) loose: Vec<loose::Step>,
}

/// Reads the whole file at `path` and hands its events to `sink`, in the order of the file.
pub fn read(
    path: &Path,
    file: u32,
    formats: &Formats,
    limits: &Limits,
    keep: Keep,
    sink: &mut dyn FnMut(Event),
) -> Taken {
    let mut only = |entry| {
        if let Entry::Event(event, _) = entry {
            sink(*event);
        }
    };
    Intake::open(path, file, formats, limits, keep, None).finish(&mut only)
}

/// Where records go.
type Sink<'s> = dyn FnMut(Entry) + 's;

/// A file that is being read, batch by batch.
pub struct Intake<'f> {
    state: State<'f>,
}

enum State<'f> {
    Reading(Box<Reading<'f>>),
    Done(Box<Taken>),
}

impl<'f> Intake<'f> {
    /// Opens the file at `path`; one that cannot be read is done at once, with its problem. `costs`: of a
    /// run, to which ordinary records are given as such.
    pub(crate) fn open(
        path: &Path,
        file: u32,
        formats: &'f Formats,
        limits: &Limits,
        keep: Keep,
        costs: Option<&'f Costs>,
    ) -> Self {
        let state = match Source::open(path, file, limits) {
            Ok(source) => {
                State::Reading(Box::new(Reading { costs, ..Reading::new(source, path, formats, keep) }))
            }
            Err(Refusal { problem, log }) => {
                let format = problem.message.clone();
                let summary =
                    FileSummary { path: problem.path.clone(), format, read: false, records: 0, events: 0 };
                State::Done(Box::new(Taken { summary, problems: vec![problem], log, loose: Vec::new() }))
            }
        };
        Intake { state }
    }

    /// Reads one batch and hands its records to `sink`, in the order of the file; false: the file is done.
    pub(crate) fn step(&mut self, sink: &mut Sink<'_>) -> bool {
        let State::Reading(reading) = &mut self.state else { return false };
        if reading.step(sink) {
            return true;
        }
        let taken = reading.taken(sink);
        self.state = State::Done(Box::new(taken));
        false
    }

    /// What became of the file; reads the rest of it, if there is any.
    pub(crate) fn finish(mut self, sink: &mut Sink<'_>) -> Taken {
        while self.step(sink) {}
        match self.state {
            State::Done(taken) => *taken,
            State::Reading(_) => unreachable!("a file that gives no more is done"),
        }
    }
}

struct Reading<'f> {
    source: Source,
    formats: &'f Formats,
    keep: Keep,
    shown: String,
    troubles: Troubles,
    /// Readers by format, made when a format is first seen.
    readers: BTreeMap<usize, FileReader>,
    /// The only format of the sample: later records are not told one by one.
    usual: Option<usize>,
    counts: BTreeMap<usize, u64>,
    unknown: u64,
    first_unknown: Option<(Place, Vec<u8>)>,
    ties: Option<(usize, usize)>,
    tied: u64,
    records: u64,
    events: u64,
    costs: Option<&'f Costs>,
}

impl<'f> Reading<'f> {
    fn new(source: Source, path: &Path, formats: &'f Formats, keep: Keep) -> Self {
        let shown = source::shown(path).into_owned();
        Reading {
            source,
            formats,
            keep,
            troubles: Troubles::new(&shown),
            shown,
            readers: BTreeMap::new(),
            usual: None,
            counts: BTreeMap::new(),
            unknown: 0,
            first_unknown: None,
            ties: None,
            tied: 0,
            records: 0,
            events: 0,
            costs: None,
        }
    }

    fn step(&mut self, sink: &mut Sink<'_>) -> bool {
        let batch = match self.costs {
            Some(costs) => costs.time(Stage::Read, || self.source.next_batch()),
            None => self.source.next_batch(),
        };
        let Some(batch) = batch else { return false };
        if self.records == 0 {
            self.usual = self.sample(&batch);
        }
        self.records += batch.len() as u64;
        if let Some(costs) = self.costs {
            costs.add_batch(batch.bytes(), batch.len() as u64);
        }
        match self.usual {
            Some(format) => self.read_usual(format, &batch, sink),
            None => batch.records().for_each(|record| self.read_told(record, sink)),
        }
        true
    }

    /// The one format of the first records, if it is one and its records stand alone.
    fn sample(&mut self, batch: &Batch) -> Option<usize> {
        let mut only = None;
        for record in batch.records().take(SAMPLE) {
            match (self.formats.tell(record.bytes), only) {
                (Verdict::One(format), None) => only = Some(format),
                (Verdict::One(format), Some(known)) if format == known => {}
                _ => return None,
            }
        }
        // A sample that small says nothing of what comes; it is as quick to tell each record.
        let format = only.filter(|_| batch.len() >= SAMPLE)?;
        if let Some(plan) = self.formats.get(format).plan() {
            plan.learn(batch.records().take(SAMPLE));
        }
        self.reader(format);
        match self.readers.get(&format) {
            Some(FileReader::Each(_) | FileReader::Plan(_)) => Some(format),
            _ => None,
        }
    }

    fn reader(&mut self, format: usize) {
        let (formats, keep, preface) = (self.formats, self.keep, self.source.preface());
        self.readers.entry(format).or_insert_with(|| formats.get(format).reader(preface, keep));
    }

    /// Reads a batch of one format in parallel; what the reader refuses is told for itself.
    fn read_usual(&mut self, format: usize, batch: &Batch, sink: &mut Sink<'_>) {
        let glances = self.glances(format);
        let reader = &self.readers[&format];
        let usual =
            Usual { reader, keep: self.keep, glances, again: self.source.is_plain(), costs: self.costs };
        let records: Vec<Record<'_>> = batch.records().collect();
        let shares: Vec<(Vec<Entry>, Vec<usize>)> = records
            .par_chunks(SHARE)
            .enumerate()
            .map(|(share, records)| usual.read_timed(records, share * SHARE, batch))
            .collect();
        let mut count = records.len() as u64;
        for (entries, refused) in shares {
            self.events += entries.len() as u64;
            for entry in entries {
                if let Entry::Event(event, _) = &entry {
                    note_unread(&mut self.troubles, event);
                }
                sink(entry);
            }
            for i in refused {
                count -= 1;
                self.read_told(records[i], sink);
            }
        }
        *self.counts.entry(format).or_default() += count;
    }

    /// The format's number, if this is a run, and its records can be told at a glance.
    fn glances(&self, format: usize) -> Option<u16> {
        let plan = self.formats.get(format).plan().filter(|plan| self.costs.is_some() && plan.can_glance());
        plan.and_then(|_| u16::try_from(format).ok())
    }

    fn read_told(&mut self, record: Record<'_>, sink: &mut Sink<'_>) {
        let record = record.sealed();
        let told = self.formats.tell(record.bytes);
        let whole = match told {
            Verdict::One(format) => self.formats.get(format).skip.is_none(),
            Verdict::Tie(..) => true,
            Verdict::Unknown => false,
        };
        if !whole && let Some((format, part)) = part::known(self.formats, record.bytes) {
            return self.read_as(format, Record { bytes: &part, ..record }, sink);
        }
        match told {
            Verdict::One(format) => self.read_as(format, record, sink),
            Verdict::Tie(a, b) => {
                self.tied += 1;
                self.ties.get_or_insert((a, b));
            }
            Verdict::Unknown => self.leave_out(record),
        }
    }

    fn read_as(&mut self, format: usize, record: Record<'_>, sink: &mut Sink<'_>) {
        *self.counts.entry(format).or_default() += 1;
        self.reader(format);
        let mut events = 0;
        let troubles = &mut self.troubles;
        let mut counted = |event| {
            events += 1;
            note_unread(troubles, &event);
            sink(Entry::read(event, CallMark::Unknown));
        };
        let read = match self.readers.get_mut(&format) {
            Some(FileReader::Ordered(reader)) => reader.read(record, &mut counted),
            Some(reader) => reader.read_alone(record, self.keep, &mut counted),
            None => Ok(()),
        };
        self.events += events;
        if let Err(problem) = read {
            self.note(record.origin.place, &problem);
        }
    }

    fn leave_out(&mut self, record: Record<'_>) {
        self.unknown += 1;
        if is_broken(record.bytes) {
            let help = "write one whole JSON object a line; the other records were read";
            self.troubles.note(Some(record.origin.place), "the record is broken JSON", help, true);
        } else if self.first_unknown.is_none() {
            let head = record.bytes[..record.bytes.len().min(4096)].to_vec();
            self.first_unknown = Some((record.origin.place, head));
        }
    }

    fn note(&mut self, place: Place, problem: &RecordProblem) {
        // The column differs from record to record; the kind is what is counted.
        let told = problem.to_string();
        let message = told.split(" at line ").next().unwrap_or(&told);
        self.troubles.note(
            Some(place),
            message,
            "see the record named here; the other records were read",
            true,
        );
    }

    /// Gives what readers held back, and what became of the file.
    fn taken(&mut self, sink: &mut Sink<'_>) -> Taken {
        let mut loose = Vec::new();
        for reader in self.readers.values_mut() {
            if let FileReader::Ordered(reader) = reader {
                // Of a run other files may tell more; who reads one alone has all there is.
                if self.costs.is_some() {
                    loose.extend(reader.leave());
                }
                reader.finish(&mut |event| {
                    self.events += 1;
                    note_unread(&mut self.troubles, &event);
                    sink(Entry::read(event, CallMark::Unknown));
                });
            }
        }
        let read: Vec<usize> =
            self.counts.keys().copied().filter(|i| self.formats.get(*i).skip.is_none()).collect();
        let format = self.format_shown(&read);
        let mut log = true;
        if read.is_empty() && self.counts.is_empty() {
            log = self.refuse();
        } else {
            self.note_left_out();
        }
        let mut problems = self.source.take_problems();
        problems.extend(self.troubles.take());
        let summary = FileSummary {
            path: std::mem::take(&mut self.shown),
            format,
            read: !read.is_empty(),
            records: self.records,
            events: self.events,
        };
        Taken { summary, problems, log, loose }
    }

    fn format_shown(&self, read: &[usize]) -> String {
        let layers = self.source.layers();
        let names: Vec<&str> = match read {
            [] => self
                .counts
                .keys()
                .map(|i| self.formats.get(*i))
                .map(|f| f.skip.as_deref().unwrap_or(&f.name))
                .collect(),
            read => read
                .iter()
                .map(|i| {
                    self.readers.get(i).map_or(&*self.formats.get(*i).name, |r| r.name(self.formats.get(*i)))
                })
                .collect(),
        };
        let names = if names.is_empty() { "unknown".to_owned() } else { names.join(" + ") };
        if layers.is_empty() { names } else { format!("{names} in {}", layers.join(" in ")) }
    }

    /// Nothing of the file was recognised: says what it is and what was considered. False: it is no log.
    fn refuse(&mut self) -> bool {
        let place = self.first_unknown.as_ref().map(|(place, _)| *place);
        if let Some((a, b)) = self.ties {
            let (a, b) = (&self.formats.get(a).name, &self.formats.get(b).name);
            let message = format!("the records fit {a} and {b} equally well");
            self.troubles.note(place, &message, "name the format with --mapping FILE", true);
            return true;
        }
        let nature = self.source.nature(self.records);
        let near = match &self.first_unknown {
            Some((_, head)) if nature.log => self.formats.nearest(head),
            _ => Vec::new(),
        };
        let near: Vec<String> = near.iter().map(|(name, missing)| format!("{name} (no {missing})")).collect();
        let message = match near.as_slice() {
            [] => format!("this is {}", nature.what),
            near => format!("this is {}; nearest: {}", nature.what, near.join(", ")),
        };
        self.troubles.note(place, &message, nature.help, true);
        nature.log
    }

    fn note_left_out(&mut self) {
        if self.unknown > 0 {
            let place = self.first_unknown.as_ref().map(|(place, _)| *place);
            let message = format!("{} records are of no known format and were left out", self.unknown);
            self.troubles.note(place, &message, "give a mapping file if they carry MCP facts", false);
        }
        if let Some((a, b)) = self.ties {
            let (a, b) = (&self.formats.get(a).name, &self.formats.get(b).name);
            let message = format!("{} records fit {a} and {b} equally well and were left out", self.tied);
            self.troubles.note(None, &message, "name the format with --mapping FILE", true);
        }
    }
}

/// Counts what an event's log holds and nobody can read.
fn note_unread(troubles: &mut Troubles, event: &Event) {
    unread::tell(event, &mut |unread| {
        troubles.note(Some(event.origin.place), unread.message, unread.help, unread.lost);
    });
}

/// How the records of a file's usual format are read.
struct Usual<'r> {
    reader: &'r FileReader,
    keep: Keep,
    /// The format's number, if ordinary records are wanted as such.
    glances: Option<u16>,
    /// They can be read again; else their text goes along with them.
    again: bool,
    costs: Option<&'r Costs>,
}

impl Usual<'_> {
    fn read_timed(&self, records: &[Record<'_>], from: usize, batch: &Batch) -> (Vec<Entry>, Vec<usize>) {
        let Some(costs) = self.costs else { return self.read(records, from, batch) };
        let read = costs.time(Stage::Parse, || self.read(records, from, batch));
        costs.add_parsed(read.0.iter().filter(|entry| matches!(entry, Entry::Event(..))).count() as u64);
        read
    }

    /// The entries of some records of a batch, and the places of those that the reader refused; the first is `from`.
    fn read(&self, records: &[Record<'_>], from: usize, batch: &Batch) -> (Vec<Entry>, Vec<usize>) {
        let (mut entries, mut refused) = (Vec::with_capacity(records.len()), Vec::new());
        let mut desk = Desk::default();
        for (i, record) in records.iter().map(|record| record.sealed()).enumerate() {
            let mut mark = CallMark::Unknown;
            if let (Some(format), FileReader::Plan(plan)) = (self.glances, self.reader)
                && batch.stands(from + i)
            {
                let mut sink = |event, mark| entries.push(Entry::read(event, mark));
                match plan.glance_or_read(&record, format, &mut desk, self.keep, &mut sink) {
                    Ok(Some(skim)) if !self.again && record.bytes.len() > MOST_ALONG => mark = skim.mark(),
                    Ok(Some(skim)) => {
                        let text = (!self.again).then(|| record.bytes.into());
                        let along = Along { ids: desk.ids.as_slice().into(), text };
                        entries.push(Entry::Skim(Box::new(Skimmed { skim, along })));
                        continue;
                    }
                    Ok(None) => continue,
                    Err(_) => {
                        refused.push(from + i);
                        continue;
                    }
                }
            }
            let mut sink = |event| entries.push(Entry::read(event, mark));
            if self.reader.read_alone(record, self.keep, &mut sink).is_err() {
                refused.push(from + i);
            }
        }
        (entries, refused)
    }
}

/// Whether a record begins as a JSON object and is none.
fn is_broken(record: &[u8]) -> bool {
    record.first() == Some(&b'{') && serde_json::from_slice::<&serde_json::value::RawValue>(record).is_err()
}

#[cfg(test)]
mod tests;
