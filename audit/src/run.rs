//! The audit as one call: files in, findings and a summary out.
//! Knows no terminal and no renderer.

use crate::adapter::formats::Formats;
use crate::adapter::intake::{Intake, Taken};
use crate::adapter::loose;
use crate::adapter::rpc::Keep;
use crate::carry::Carried;
use crate::cost::Costs;
use crate::event::{Nanos, Place};
use crate::finding::Finding;
use crate::join::Ahead;
use crate::ledger::{Again, Carries, Emit, Entry, Given, Ledger, Terms};
use crate::mapping::CallMark;
use crate::reading::{MOST_OPEN, read_all};
use crate::source::{self, Input, Limits, Recall};
use crate::spread::Charts;
use crate::table::Tables;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// What a run may be told.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Worker threads; 0: as many as there are cores. Never changes the output.
    pub threads: usize,
    /// Keep arguments as written, so that a renderer may reveal them.
    pub keep_arguments: bool,
    /// Mapping files for logs of other shapes.
    pub mappings: Vec<PathBuf>,
    /// Most bytes of one record; larger ones are named and skipped. 0: the default (16 MiB).
    pub max_record: usize,
    /// Bytes of memory that the run may take; 0: the default (256 MiB).
    pub memory: usize,
    /// Silence in log time after which a client or session of an input that is not small is over, in
    /// nanoseconds; 0: the default (2 hours).
    pub horizon: Nanos,
    /// How far behind the others in log time a record may come, in nanoseconds; 0: the default (1 minute). Clients are judged
    /// that much later.
    pub disorder: Nanos,
    /// The known formats with those of the mapping files, if they are at hand; [`Options::mappings`] are then not read.
    pub formats: Option<Arc<Formats>>,
    /// Where the run notes what it costs, for whoever watches it.
    pub costs: Option<Arc<Costs>>,
    /// Look at every record in full, also at ordinary ones that no finding can rest on. Slower, and never another output;
    /// tests hold the one against the other.
    pub every_record: bool,
    /// Records up to which an input is judged as a whole; 0: the default (10,000).
    pub small: usize,
    /// Bytes of a file that are read in one go; 0: the default (1 MiB). Never changes the output.
    pub chunk: usize,
    /// What is not over at the end is not judged, but handed over in [`Summary::carried`] for the next export.
    pub carries: bool,
    /// With `carries`: there is no next export, so all is judged.
    pub last: bool,
    /// What the export before handed over.
    pub carried: Option<Arc<Carried>>,
}

/// Findings on their way to whoever shows them.
const HANDED_OVER: usize = 64;
/// Worker threads at most: more than that wait for each other.
const MOST_THREADS: usize = 256;
/// Bytes that all files together read in one go.
const MOST_READ: usize = 16 << 20;
/// Memory where nobody says how much.
const MEMORY: usize = 256 << 20;
/// Silence after which nothing more is expected, where nobody says how long. Idle timeouts of servers and balancers are
/// minutes, and an equal call is taken for the same wish for an hour.
const HORIZON: Nanos = 2 * 3600 * 1_000_000_000;
/// How far out of order records may be, where nobody says.
const DISORDER: Nanos = 60 * 1_000_000_000;

/// Records that are judged as a whole where nobody says how many: some ten megabytes of facts.
const SMALL: usize = 10_000;

impl Options {
    /// Records that are put in order are a sixteenth of the memory, and so are those that wait for their client's end: while
    /// clients are judged, their events take many times the room.
    fn terms(&self, rows: bool) -> Terms {
        let memory = if self.memory == 0 { MEMORY } else { self.memory };
        let horizon = if self.horizon == 0 { HORIZON } else { self.horizon };
        let disorder = if self.disorder == 0 { DISORDER } else { self.disorder };
        let small = if self.small == 0 { SMALL } else { self.small };
        let carries = match (self.carries, self.last) {
            (true, false) => Some(Carries::Open),
            (true, true) => Some(Carries::All),
            _ => None,
        };
        Terms { room: memory / 16, horizon, disorder, rows, all: self.every_record, small, carries }
    }
}

/// What was read and seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Every input, in the order given.
    pub files: Vec<FileSummary>,
    /// Sessions seen.
    pub sessions: u64,
    /// Streams reopened or sessions initialized again after a close.
    pub reconnects: u64,
    /// Reconnects that presented a cursor.
    pub resumes: u64,
    /// `tools/call` requests.
    pub calls: u64,
    /// HTTP exchanges of MCP.
    pub exchanges: u64,
    /// First and last time, nanoseconds since the epoch.
    pub span: Option<(Nanos, Nanos)>,
    /// What could not be read, in file order.
    pub problems: Vec<Problem>,
    /// Exchanges of eras that are not judged (`http-sse`, unknown).
    pub not_judged: u64,
    /// How it spreads, for plots.
    pub charts: Charts,
    /// What waits for the next export, where one is to come.
    #[serde(skip)]
    pub carried: Option<Carried>,
    /// Clients and sessions that were taken to be over before the log's end, so that they need no memory.
    #[serde(default)]
    pub judged_early: u64,
    /// Events that came later than the horizon behind the others: their client may have been judged without them.
    #[serde(default)]
    pub late: u64,
    /// Records that came later than the disorder behind the others, so that they are not in their place.
    #[serde(default)]
    pub unordered: u64,
    /// Bytes that waited in a temporary file.
    #[serde(default)]
    pub spilled: u64,
}

/// One input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileSummary {
    /// Path as given.
    pub path: String,
    /// Format it was read as (`nginx-json`, `har (mitmproxy)`, …), or what it was recognised as and why it was not read.
    pub format: String,
    /// Whether it was read.
    pub read: bool,
    /// Records seen.
    pub records: u64,
    /// Events taken from them.
    pub events: u64,
}

/// Something that could not be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    /// Path as given.
    pub path: String,
    /// Where, if not the whole file.
    pub place: Option<Place>,
    /// What happened.
    pub message: String,
    /// What to do.
    pub help: String,
    /// How many records like it, when they are gathered.
    pub count: u64,
    /// Whether some input was lost by it (exit code 4) or it is only told.
    pub lost: bool,
}

/// Audits `files` and hands every finding to `emit`, in the order of the log; of a folder, the files in it and below it
/// that are not hidden.
///
/// Findings and summary are the same for any order of `files` and any number of threads. What cannot be read is named in
/// [`Summary::problems`]; the rest is read.
pub fn run(files: &[PathBuf], options: &Options, emit: &mut dyn FnMut(Finding)) -> Summary {
    run_into(&source::inputs(files), options, emit, None)
}

/// The same for files that were looked for before, and the sessions and calls as rows where somebody wants them.
pub fn run_into(
    inputs: &[Input],
    options: &Options,
    emit: &mut dyn FnMut(Finding),
    tables: Option<&mut Tables>,
) -> Summary {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads.min(MOST_THREADS)).build();
    // Findings are handed over as they are found; a slow reader of the output slows the run down, and fills no memory.
    let (give, found) = std::sync::mpsc::sync_channel(HANDED_OVER);
    std::thread::scope(|scope| {
        let worker = scope.spawn(move || {
            // A closed channel means that nobody reads on; the summary is still wanted.
            let mut emit = |finding| drop(give.send(finding));
            match pool {
                Ok(pool) => pool.install(|| audit(inputs, options, tables, &mut emit)),
                // No thread could be started: the work is the same on this one.
                Err(_) => audit(inputs, options, tables, &mut emit),
            }
        });
        found.into_iter().for_each(emit);
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn audit(inputs: &[Input], options: &Options, tables: Option<&mut Tables>, emit: &mut Emit<'_>) -> Summary {
    let files: Vec<PathBuf> = inputs.iter().map(|input| input.path.clone()).collect();
    let files = &files[..];
    let mut summary = Summary::default();
    let formats = formats(options, &mut summary.problems);
    let mut limits = Limits::default();
    if options.max_record > 0 {
        limits.max_record = options.max_record;
    }
    if options.chunk > 0 {
        limits.chunk = options.chunk;
    }
    limits.chunk = limits.chunk.min(MOST_READ / files.len().clamp(1, MOST_OPEN));
    // Files are numbered by their content, so that the order of the arguments cannot reach the output.
    let order = source::in_order(files);
    let paths: Vec<String> = order.iter().map(|at| source::shown(&files[*at]).into_owned()).collect();
    let keep = Keep { arguments: options.keep_arguments };
    let recall = Recall::new(order.iter().map(|at| &files[*at]).collect());
    let costs = options.costs.clone().unwrap_or_default();
    let again = Again { recall, formats: &formats, keep, costs: &costs };
    let own = u32::try_from(paths.len()).unwrap_or(u32::MAX);
    let mut paths = paths;
    let carried = options.carried.as_deref().cloned();
    paths.extend(carried.iter().flat_map(|carried| carried.paths.iter().cloned()));
    let terms = options.terms(tables.is_some());
    let mut ledger = Ledger::new(&paths, terms, again);
    let mut before = Vec::new();
    if let Some(mut carried) = carried {
        before = std::mem::take(&mut carried.loose);
        before.iter_mut().for_each(|step| step.origin.file += own);
        ledger.restore(carried, own);
    }
    let open = |number: usize| {
        let file = u32::try_from(number).unwrap_or(u32::MAX);
        Intake::open(&files[order[number]], file, &formats, &limits, keep, Some(&costs))
    };
    let taken = read_all(order.len(), &open, terms.room / 2, &mut ledger, emit);
    let mut taken = taken;
    let mut loose = before;
    loose.extend(taken.iter_mut().flat_map(|file| std::mem::take(&mut file.loose)));
    let over = ledger.over_at_end();
    let open = loose::tie(loose, over, keep, &mut |event| {
        if let Some(file) = taken.get_mut(event.origin.file as usize) {
            file.summary.events += 1;
        }
        ledger.enter(Entry::read(event, CallMark::Unknown), emit);
    });
    let mut closed = ledger.finish(emit);
    closed.carried.iter_mut().for_each(|carried| carried.keep_loose(&open, &paths));
    let mut taken: Vec<(usize, Taken)> = order.iter().copied().zip(taken).collect();
    for (at, file) in &mut taken {
        if inputs[*at].found && !file.log {
            file.problems.iter_mut().for_each(skipped);
        }
        summary.problems.append(&mut file.problems);
    }
    summary.problems.extend(closed.broken.map(|why| unspilled(&why, &closed.given)));
    summary.problems.extend(closed.lost.iter().map(|(file, count)| unfound(&paths[*file as usize], *count)));
    summary.problems.extend(closed.counts.ahead.iter().map(|ahead| off(&paths, ahead)));
    summary.problems.extend(given_up(&paths, &closed.given, options));
    summary.problems.extend(parted(&paths, &closed.given));
    summary.problems.extend(known(&paths, &closed.given));
    summary.problems.extend(out_of_order(&paths, &closed.given, options));
    taken.sort_by_key(|(at, _)| *at);
    summary.files = taken.into_iter().map(|(_, file)| file.summary).collect();
    let counts = closed.counts;
    summary.sessions = counts.sessions;
    summary.reconnects = counts.reconnects;
    summary.resumes = counts.resumes;
    summary.calls = counts.calls;
    summary.exchanges = counts.exchanges;
    summary.not_judged = counts.not_judged;
    summary.span = counts.span;
    summary.charts = counts.charts;
    summary.judged_early = closed.given.all_early();
    summary.late = closed.given.late;
    summary.unordered = closed.given.unordered;
    summary.spilled = closed.given.spilled;
    summary.carried = closed.carried;
    if let Some(tables) = tables {
        *tables = closed.tables;
    }
    summary
}

/// What a folder holds beside logs is told, and nothing is lost by it.
fn skipped(problem: &mut Problem) {
    "nothing: it is no log, and was skipped".clone_into(&mut problem.help);
    problem.lost = false;
}

/// What was given up so that the input needs no memory of its own size, if anything was.
fn given_up(paths: &[String], given: &Given, options: &Options) -> Option<Problem> {
    let seconds = options.terms(false).horizon / 1_000_000_000;
    (given.early + given.late > 0).then(|| Problem {
        path: paths.first().cloned().unwrap_or_default(),
        place: None,
        message: format!(
            "{} sessions were judged {seconds} s after their last event, {} events came later",
            given.early, given.late
        ),
        help: "give a longer --horizon if calls are repeated after longer silence".to_owned(),
        count: 1,
        lost: false,
    })
}

/// Clients of which no more could wait, if there were any.
fn parted(paths: &[String], given: &Given) -> Option<Problem> {
    (given.parts > 0).then(|| Problem {
        path: paths.first().cloned().unwrap_or_default(),
        place: None,
        message: format!(
            "clients with more than {} records at a time were judged in parts, {} times",
            Ledger::MOST,
            given.parts
        ),
        help: "nothing: a call that is sent again that many records later is not joined to its first send"
            .to_owned(),
        count: 1,
        lost: false,
    })
}

/// Records that were left out because they had been there before, if there were any.
fn known(paths: &[String], given: &Given) -> Option<Problem> {
    (given.again > 0).then(|| Problem {
        path: paths.first().cloned().unwrap_or_default(),
        place: None,
        message: format!("{} records had been read before and were not counted again", given.again),
        help: "give each part of a log once, and each export".to_owned(),
        count: 1,
        lost: false,
    })
}

/// Records that came too late for the order of all, if there were any: what was found may then depend on how the input was cut.
fn out_of_order(paths: &[String], given: &Given, options: &Options) -> Option<Problem> {
    let seconds = options.terms(false).disorder / 1_000_000_000;
    (given.unordered > 0).then(|| Problem {
        path: paths.first().cloned().unwrap_or_default(),
        place: None,
        message: format!(
            "{} records came too late to be put in order, {seconds} s of log time or more than memory holds after others of a later time; findings may depend on the order",
            given.unordered
        ),
        help: "give a longer --disorder and more --memory, or sort the log by time".to_owned(),
        count: 1,
        lost: false,
    })
}

fn unfound(path: &str, count: u64) -> Problem {
    Problem {
        path: path.to_owned(),
        place: None,
        message: "records that were looked at again were no longer there".to_owned(),
        help: "audit a copy of a log that is being rewritten; what rests on these records was not judged"
            .to_owned(),
        count,
        lost: true,
    }
}

/// A clock that is off, in the words of the summary.
fn off(paths: &[String], ahead: &Ahead) -> Problem {
    let path = |file: u32| paths.get(file as usize).cloned().unwrap_or_default();
    let direction = if ahead.by < 0 { "behind" } else { "ahead of" };
    let by = ahead.by.unsigned_abs() / 1_000_000;
    Problem {
        path: path(ahead.file),
        place: None,
        message: format!(
            "the clock is {}.{:03} s {direction} that of {}, by {} exchanges that both tell; its times were moved",
            by / 1000,
            by % 1000,
            path(ahead.of),
            ahead.matches
        ),
        help: "set the clocks of the hosts by one source (NTP)".to_owned(),
        count: 1,
        lost: false,
    }
}

fn unspilled(why: &std::io::Error, given: &Given) -> Problem {
    Problem {
        path: std::env::temp_dir().to_string_lossy().into_owned(),
        place: None,
        message: format!(
            "events could not be put aside: {why}; {} sessions were judged before their time",
            given.forced
        ),
        help: "give more --memory, or a TMPDIR with room; a call sent again after that was not joined to its first send"
            .to_owned(),
        count: 1,
        lost: true,
    }
}

/// The shipped formats and those of the mapping files; a mapping that cannot be used, alone or beside those before it, is
/// named and left out.
fn formats(options: &Options, problems: &mut Vec<Problem>) -> Arc<Formats> {
    if let Some(formats) = &options.formats {
        return Arc::clone(formats);
    }
    let mut formats = Formats::load(&[]).expect("the shipped mappings are compiled by a test");
    let mut mappings = Vec::new();
    for path in &options.mappings {
        let shown = path.to_string_lossy().into_owned();
        match std::fs::read_to_string(path) {
            Ok(text) => mappings.push((shown.clone(), text)),
            Err(why) => {
                problems.push(unusable(shown, &why.to_string()));
                continue;
            }
        }
        match Formats::load(&mappings) {
            Ok(loaded) => formats = loaded,
            Err((_, why)) => {
                mappings.pop();
                problems.push(unusable(shown, &why.to_string()));
            }
        }
    }
    Arc::new(formats)
}

fn unusable(path: String, why: &str) -> Problem {
    Problem {
        path,
        place: None,
        message: format!("the mapping cannot be used: {why}"),
        help: "correct the mapping file; `unbroken mapping test` shows what it reads".to_owned(),
        count: 1,
        lost: true,
    }
}
