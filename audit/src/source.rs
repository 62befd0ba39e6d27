//! Files as records: opening, decompression, framing, wrappers, hard bounds on what one record may take.
//! Knows no log format; what stands in a record is the adapters' affair.
//!
//! ```text
//! let mut source = Source::open(path, file_index, &Limits::default())?;   // Err(Problem): the file cannot be read at all
//! while let Some(batch) = source.next_batch() {                           // in the order of the file, owned, Send
//!     for record in batch.records() { /* record.origin, record.bytes, record.shipped */ }
//! }
//! let problems = source.take_problems();                                  // what was skipped or broken, with its place
//! ```

mod bytes;
mod folder;
mod framing;
mod identity;
mod journal;
mod lines;
mod members;
mod nature;
mod nul;
mod quotes;
mod recall;
mod record;
mod rows;
mod scan;
mod stock;
mod surrogate;
mod trouble;
mod values;
mod wrapper;

pub use folder::{Input, inputs};
pub use framing::Framing;
pub use identity::in_order;
pub(crate) use nature::Nature;
pub(crate) use recall::Recall;
pub use record::{Batch, Record, Shipped};
pub use trouble::{Troubles, problem};

use crate::event::Place;
use crate::run::Problem;
use bytes::{ByteStream, Unopenable};
use framing::Told;
use std::borrow::Cow;
use std::path::Path;
use stock::Cut;
use wrapper::Peeler;

/// Whether a path stands for the standard input, as in most commands; a file of this name is written `./-`.
pub fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// A path as output shows it: `<stdin>` for the standard input.
pub fn shown(path: &Path) -> Cow<'_, str> {
    if is_stdin(path) { Cow::Borrowed("<stdin>") } else { path.to_string_lossy() }
}

/// Bounds of reading.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most bytes of one record; larger ones are named and skipped.
    pub max_record: usize,
    /// Bytes read in one go. Never changes the records.
    pub chunk: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_record: 16 * 1024 * 1024, chunk: 1024 * 1024 }
    }
}

/// Bytes from which framing and wrappers are told. Fixed, so that the chunk size cannot change the outcome.
const HEAD: usize = 256 * 1024;
/// Bytes by whose looks a file without a known record is described.
const LOOKS: usize = 4 * 1024;

/// Why a file cannot be read at all.
#[derive(Debug)]
pub struct Refusal {
    /// What is told of it.
    pub problem: Problem,
    /// It may hold a log for all that.
    pub log: bool,
}

/// A file, open for reading.
pub struct Source {
    bytes: ByteStream,
    cutter: Cutter,
    peeler: Peeler,
    limits: Limits,
    troubles: Troubles,
    done: bool,
    /// Its bytes stand in a file as they are, which can be read a second time.
    plain: bool,
    /// Its first text, to say what it is if it is no log.
    looks: String,
}

enum Cutter {
    Lines(lines::Lines),
    Values(values::Values),
    Rows(rows::Rows),
    Journal(journal::Journal),
}

impl Source {
    /// Opens the file at `path`, `-` the standard input; `file` goes into every record's origin.
    ///
    /// # Errors
    /// The file cannot be read at all: missing, a directory, a pipe, binary, empty.
    pub fn open(path: &Path, file: u32, limits: &Limits) -> Result<Self, Refusal> {
        let shown = shown(path);
        let bytes = if is_stdin(path) {
            ByteStream::over(Box::new(std::io::stdin()))
        } else {
            ByteStream::open(path)
        };
        let bytes = bytes.map_err(|e| unopenable(&shown, &e))?;
        let plain = !is_stdin(path) && bytes.layers.is_empty();
        Ok(Source { plain, ..Self::over(bytes, &shown, file, limits)? })
    }

    /// Whether its bytes stand in a file as they are, which can be read a second time.
    pub(crate) fn is_plain(&self) -> bool {
        self.plain
    }

    /// Reads `inner` as if it were a file.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn of_reader(
        inner: Box<dyn std::io::Read + Send>,
        shown: &str,
        file: u32,
        limits: &Limits,
    ) -> Result<Self, Refusal> {
        let bytes = ByteStream::over(inner).map_err(|e| unopenable(shown, &e))?;
        Self::over(bytes, shown, file, limits)
    }

    fn over(mut bytes: ByteStream, shown: &str, file: u32, limits: &Limits) -> Result<Self, Refusal> {
        let mut troubles = Troubles::new(shown);
        let (mut head, mut whole, mut nuls) = (Vec::new(), false, 0);
        while head.len() < HEAD && !whole {
            match bytes.fill(&mut head, HEAD) {
                Ok(n) => whole = n == 0,
                Err(e) => {
                    whole = true;
                    let line = 1 + memchr::memchr_iter(b'\n', &head).count() as u64;
                    note_broken(&mut troubles, Some(Place::Line(line)), &e);
                }
            }
            // A hole before the first record can be longer than all that follows.
            let hole = nul::at_start(&head);
            head.drain(..hole);
            nuls += hole as u64;
        }
        if head.trim_ascii().is_empty() && whole {
            if let Some(problem) = troubles.take().pop() {
                return Err(Refusal { problem, log: true });
            }
            let message = if nuls > 0 { "this is no text, but NUL bytes alone" } else { "the file is empty" };
            let problem = problem(shown, None, message, "give a log that holds records", true);
            return Err(Refusal { problem, log: false });
        }
        let sample = &head[..head.len().min(HEAD)];
        let Some(framing) = framing::tell(sample, whole) else {
            let problem = problem(shown, None, "this is no text", "give a log as text or JSON", true);
            return Err(Refusal { problem, log: false });
        };
        if nuls > 0 {
            nul::note_nuls(&mut troubles, Place::Line(1));
        }
        let looks = String::from_utf8_lossy(&sample[..sample.len().min(LOOKS)]).into_owned();
        let cutter = match framing {
            Told::Lines => Cutter::Lines(lines::Lines::new(file, head, nuls)),
            Told::Values => Cutter::Values(values::Values::new(file, head, nuls)),
            Told::Rows(names) => Cutter::Rows(rows::Rows::new(file, head, nuls, names)),
            Told::Journal => Cutter::Journal(journal::Journal::new(file, head, nuls)),
        };
        Ok(Source {
            bytes,
            cutter,
            peeler: Peeler::new(*limits),
            limits: *limits,
            troubles,
            done: false,
            plain: false,
            looks,
        })
    }

    /// The next records, in the order of the file; `None` at its end.
    pub fn next_batch(&mut self) -> Option<Batch> {
        while !self.done {
            let cut = match &mut self.cutter {
                Cutter::Lines(lines) => lines.next(&mut self.bytes, &self.limits, &mut self.troubles),
                Cutter::Values(values) => values.next(&mut self.bytes, &self.limits, &mut self.troubles),
                Cutter::Rows(rows) => rows.next(&mut self.bytes, &self.limits, &mut self.troubles),
                Cutter::Journal(journal) => journal.next(&mut self.bytes, &self.limits, &mut self.troubles),
            };
            let mut batch = match cut {
                Some(batch) => batch,
                None => {
                    self.done = true;
                    self.peeler.finish()?
                }
            };
            make_text(&mut batch, &mut self.troubles);
            self.peeler.peel(&mut batch, &mut self.troubles);
            if !batch.is_empty() {
                return Some(batch);
            }
        }
        None
    }

    /// How the file is divided.
    pub fn framing(&self) -> Framing {
        match self.cutter {
            Cutter::Lines(_) => Framing::Lines,
            Cutter::Values(_) => Framing::Values,
            Cutter::Rows(_) => Framing::Rows,
            Cutter::Journal(_) => Framing::Journal,
        }
    }

    /// A document's text before its list of records, cut at 16 KiB; empty for lines.
    pub fn preface(&self) -> &[u8] {
        match &self.cutter {
            Cutter::Lines(_) | Cutter::Rows(_) | Cutter::Journal(_) => &[],
            Cutter::Values(values) => values.preface(),
        }
    }

    /// Compressions and wrappers that were peeled so far, outermost first.
    pub fn layers(&self) -> Vec<&'static str> {
        self.bytes.layers.iter().copied().chain(self.peeler.layers()).collect()
    }

    /// What the file is, after none of its `records` was of a known format.
    pub(crate) fn nature(&self, records: u64) -> Nature {
        match &self.cutter {
            Cutter::Rows(_) => nature::TABLE,
            Cutter::Journal(_) => nature::JOURNAL,
            Cutter::Values(values) => {
                nature::of_text(&self.looks, records <= 1 && values.preface().is_empty())
            }
            Cutter::Lines(_) => nature::of_text(&self.looks, false),
        }
    }

    /// Takes the problems met so far.
    pub fn take_problems(&mut self) -> Vec<Problem> {
        self.troubles.take()
    }
}

/// Replaces what no text can hold, invalid UTF-8 and escapes of half a character: the rest of such a record is still worth
/// reading.
fn make_text(batch: &mut Batch, troubles: &mut Troubles) {
    mend(batch, troubles);
    if quotes::may_hold(&batch.raw) {
        escape(batch, troubles);
    }
    if simdutf8::basic::from_utf8(&batch.raw).is_ok() {
        return;
    }
    for span in batch.spans.iter_mut().filter(|span| !span.peeled) {
        let bytes = &batch.raw[span.at.clone()];
        if simdutf8::basic::from_utf8(bytes).is_err() {
            let text = String::from_utf8_lossy(bytes);
            let start = batch.peeled.len();
            batch.peeled.extend_from_slice(text.as_bytes());
            span.at = start..batch.peeled.len();
            span.peeled = true;
            troubles.note(
                Some(span.origin.place),
                "the record holds bytes that are no UTF-8",
                "write the log as UTF-8; the bytes were replaced and the record was read",
                true,
            );
        }
    }
}

fn mend(batch: &mut Batch, troubles: &mut Troubles) {
    // Few records hold one, so they are found in one search over all.
    let holder = |at: usize| batch.spans.partition_point(|span| span.at.end <= at);
    let mut holders: Vec<usize> = surrogate::halves(&batch.raw).map(holder).collect();
    holders.sort_unstable();
    holders.dedup();
    for at in holders {
        let Some(span) = batch.spans.get_mut(at) else { break };
        let start = batch.peeled.len();
        batch.peeled.extend_from_slice(String::from_utf8_lossy(&batch.raw[span.at.clone()]).as_bytes());
        if !surrogate::mend(&mut batch.peeled[start..]) {
            batch.peeled.truncate(start);
            continue;
        }
        span.at = start..batch.peeled.len();
        span.peeled = true;
        troubles.note(
            Some(span.origin.place),
            "the record escapes half a character (a lone surrogate)",
            "nothing: it was replaced by a character of its own and the record was read",
            false,
        );
    }
}

fn escape(batch: &mut Batch, troubles: &mut Troubles) {
    for span in batch.spans.iter_mut().filter(|span| !span.peeled) {
        let Some(mended) = quotes::mend(&batch.raw[span.at.clone()]) else { continue };
        let start = batch.peeled.len();
        batch.peeled.extend_from_slice(&mended);
        span.at = start..batch.peeled.len();
        span.peeled = true;
        troubles.note(
            Some(span.origin.place),
            "the record holds JSON in a string, its quotes not escaped",
            "it was read; let the log escape its values: `json` after `req.body` or `%{+E}o` in HAProxy, `escape=json` in nginx",
            false,
        );
    }
}

fn note_long(troubles: &mut Troubles, place: Place, limits: &Limits) {
    let message = format!("a record is longer than {} bytes and was skipped", limits.max_record);
    troubles.note(Some(place), &message, "raise --max-record if it has to be read", true);
}

fn note_broken(troubles: &mut Troubles, place: Option<Place>, e: &std::io::Error) {
    let cut = e.kind() == std::io::ErrorKind::UnexpectedEof;
    let message = if cut { "the file is cut off".to_owned() } else { format!("reading stopped: {e}") };
    troubles.note(place, &message, "copy the file again; what stands before the break was read", true);
}

fn unopenable(shown: &str, e: &Unopenable) -> Refusal {
    let (help, log) = match e {
        Unopenable::Io(_) => ("check the path and its permissions", true),
        Unopenable::Folder => ("give a folder that holds logs, or name the files themselves", false),
        Unopenable::Kind("a directory") => ("give it by its own name: folders are followed 64 deep", false),
        Unopenable::Kind(_) => ("write its content into a file first", false),
        Unopenable::Deep => ("decompress it first", true),
        Unopenable::Other(nature) => (nature.help, nature.log),
    };
    Refusal { problem: problem(shown, None, &e.to_string(), help, true), log }
}
