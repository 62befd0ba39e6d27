//! The audit as one call: files in, findings and a summary out.
//! Knows no terminal and no renderer.

use crate::adapter::formats::Formats;
use crate::adapter::intake::{self, Taken};
use crate::adapter::rpc::Keep;
use crate::event::{Nanos, Place};
use crate::finding::Finding;
use crate::source::{self, Limits};
use crate::spread::Charts;
use crate::table::Tables;
use crate::verdict;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

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

/// Audits `files` and hands every finding to `emit`, in the order of the log.
///
/// Findings and summary are the same for any order of `files` and any number of threads. What cannot be read is named in
/// [`Summary::problems`]; the rest is read.
pub fn run(files: &[PathBuf], options: &Options, emit: &mut dyn FnMut(Finding)) -> Summary {
    run_into(files, options, emit, None)
}

/// The same, and the sessions and calls as rows where somebody wants them.
pub fn run_into(
    files: &[PathBuf],
    options: &Options,
    emit: &mut dyn FnMut(Finding),
    tables: Option<&mut Tables>,
) -> Summary {
    match rayon::ThreadPoolBuilder::new().num_threads(options.threads).build() {
        Ok(pool) => {
            let (findings, summary) = pool.install(|| audit(files, options, tables));
            findings.into_iter().for_each(emit);
            summary
        }
        // No thread could be started: the work is the same on this one.
        Err(_) => {
            let (findings, summary) = audit(files, options, tables);
            findings.into_iter().for_each(emit);
            summary
        }
    }
}

fn audit(files: &[PathBuf], options: &Options, tables: Option<&mut Tables>) -> (Vec<Finding>, Summary) {
    let mut summary = Summary::default();
    let formats = formats(options, &mut summary.problems);
    let mut limits = Limits::default();
    if options.max_record > 0 {
        limits.max_record = options.max_record;
    }
    let keep = Keep { arguments: options.keep_arguments };
    // Files are numbered by their content, so that the order of the arguments cannot reach the output.
    let order = source::in_order(files);
    let mut events = Vec::new();
    let mut taken: Vec<(usize, Taken)> = Vec::with_capacity(files.len());
    for (number, at) in order.iter().enumerate() {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let file =
            intake::read(&files[*at], number, &formats, &limits, keep, &mut |event| events.push(event));
        taken.push((*at, file));
    }
    let paths: Vec<String> = order.iter().map(|at| files[*at].to_string_lossy().into_owned()).collect();
    let (findings, counts) = verdict::judge_into(events, &paths, tables);
    for (_, file) in &mut taken {
        summary.problems.append(&mut file.problems);
    }
    taken.sort_by_key(|(at, _)| *at);
    summary.files = taken.into_iter().map(|(_, file)| file.summary).collect();
    summary.sessions = counts.sessions;
    summary.reconnects = counts.reconnects;
    summary.resumes = counts.resumes;
    summary.calls = counts.calls;
    summary.exchanges = counts.exchanges;
    summary.not_judged = counts.not_judged;
    summary.span = counts.span;
    summary.charts = counts.charts;
    (findings, summary)
}

/// The shipped formats and those of the mapping files; a mapping that cannot be used, alone or beside those before it, is
/// named and left out.
fn formats(options: &Options, problems: &mut Vec<Problem>) -> Formats {
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
    formats
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
