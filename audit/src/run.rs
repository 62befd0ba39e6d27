//! The audit as one call: files in, findings and a summary out.
//! Knows no terminal and no renderer.

use crate::event::{Nanos, Place};
use crate::finding::Finding;
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
/// Findings and summary are the same for any order of `files` and any number of threads.
pub fn run(files: &[PathBuf], options: &Options, emit: &mut dyn FnMut(Finding)) -> Summary {
    let _ = (files, options, emit);
    Summary::default()
}
