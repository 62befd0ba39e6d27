//! What a run read, saw and could not read.
//! Knows no single finding, only how many there were of each kind.

use crate::exhibit::Exhibit;
use crate::finding::Finding;
use crate::overview::Overview;
use std::collections::BTreeMap;
use unbroken_contract::{Breach, Level};

/// What a run read and saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Every input of an audit, in the order of the paths.
    pub inputs: Vec<Input>,
    /// What could not be read, in the order of the paths.
    pub problems: Vec<Problem>,
    /// What was seen.
    pub seen: Seen,
    /// How many findings of each kind were reported.
    pub counts: BTreeMap<Breach, Count>,
    /// What a person asks first of an audit.
    pub overview: Overview,
    /// What was seen, spread over duration, outcome and time.
    pub charts: Charts,
    /// Findings left out because they are accepted, with a reason.
    pub accepted: u64,
    /// Findings left out because the baseline holds them.
    pub baselined: u64,
    /// Findings left out because they are of another time, session, client or tool than was asked for.
    pub out_of_scope: u64,
    /// Findings left out because they are less sure than was asked for.
    pub less_certain: u64,
    /// Records that were read and wait for the next export.
    pub waiting: u64,
}

/// Counts of traffic for plots, each list in the order of its axis. Empty where they were not gathered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Charts {
    /// Streams that ended before their response, by how long they had lived.
    pub cuts: Vec<(String, u64)>,
    /// Silences after which several streams were cut, in tenths of a second, with how many: idle limits of proxies and servers.
    pub limits: Vec<(u64, u64)>,
    /// Reconnects by what came of them.
    pub reconnects: Vec<(String, u64)>,
    /// Sessions by when they were first seen: start of the stretch in nanoseconds since the Unix epoch, and how many.
    pub sessions: Vec<(i64, u64)>,
}

impl Charts {
    /// Reconnects that presented a cursor and were accepted.
    #[must_use]
    pub fn resumed(&self) -> u64 {
        self.reconnects.iter().filter(|(name, _)| name == RESUMED).map(|(_, count)| count).sum()
    }
}

/// The name of the outcome of a reconnect that carried its stream on.
pub const RESUMED: &str = "accepted with a cursor";

/// How many findings of one breach, by level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Of level deny.
    pub deny: u64,
    /// Of level warn.
    pub warn: u64,
    /// Of level note.
    pub note: u64,
}

/// What was seen, as each half counts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// In code.
    Code {
        /// Rust files seen.
        files_seen: u64,
        /// Files that were judged.
        files_checked: u64,
        /// Files left apart: tests, examples, benchmarks, build scripts.
        files_apart: u64,
        /// Crates they belong to.
        crates: u64,
    },
    /// In traffic.
    Traffic {
        /// Sessions.
        sessions: u64,
        /// Streams reopened or sessions initialized again after a close.
        reconnects: u64,
        /// Reconnects that presented a cursor.
        resumes: u64,
        /// `tools/call` requests.
        calls: u64,
        /// HTTP exchanges of MCP.
        exchanges: u64,
        /// Exchanges of eras that are not judged.
        not_judged: u64,
        /// First and last time, nanoseconds since the Unix epoch.
        span: Option<(i64, i64)>,
    },
}

impl Default for Seen {
    fn default() -> Seen {
        Seen::Code { files_seen: 0, files_checked: 0, files_apart: 0, crates: 0 }
    }
}

/// One input of an audit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Path as given.
    pub path: String,
    /// Format it was read as, or what it was recognised as and why it was not read.
    pub format: String,
    /// Whether it was read.
    pub read: bool,
    /// Records seen.
    pub records: u64,
    /// Events taken from them.
    pub events: u64,
}

/// Something that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// File and place.
    pub exhibit: Exhibit,
    /// What happened.
    pub message: String,
    /// What to do.
    pub help: String,
    /// How many like it.
    pub count: u64,
    /// Whether some input was lost by it, or it is only told.
    pub lost: bool,
}

impl Count {
    /// Of all levels.
    #[must_use]
    pub fn total(self) -> u64 {
        self.deny + self.warn + self.note
    }
}

impl Summary {
    /// Counts a finding that is reported.
    pub fn count(&mut self, finding: &Finding) {
        self.overview.count(finding);
        let count = self.counts.entry(finding.breach).or_default();
        match finding.level {
            Level::Deny => count.deny += 1,
            Level::Warn => count.warn += 1,
            Level::Note => count.note += 1,
        }
    }

    /// The overview as sentences, each with what it is about; none for code.
    #[must_use]
    pub fn overview(&self) -> Vec<(&'static str, String)> {
        match self.seen {
            Seen::Code { .. } => Vec::new(),
            Seen::Traffic { reconnects, .. } => self.overview.sentences(&self.charts, reconnects),
        }
    }

    /// All reported findings of a level.
    #[must_use]
    pub fn findings_of(&self, level: Level) -> u64 {
        self.counts
            .values()
            .map(|count| match level {
                Level::Deny => count.deny,
                Level::Warn => count.warn,
                Level::Note => count.note,
            })
            .sum()
    }

    /// All reported findings.
    #[must_use]
    pub fn findings(&self) -> u64 {
        self.counts.values().map(|count| count.total()).sum()
    }

    /// Problems by which some input was lost.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.problems.iter().filter(|problem| problem.lost).map(|problem| problem.count.max(1)).sum()
    }

    /// Whether anything at all was judged, or will be with the next export.
    #[must_use]
    pub fn checked(&self) -> bool {
        match self.seen {
            Seen::Code { files_checked, .. } => files_checked > 0,
            // Lines that show no MCP (no path, header or body tells) were read and yet not judged; a span without
            // exchanges is that of a program's own log.
            Seen::Traffic { exchanges, not_judged, span, .. } => {
                exchanges > not_judged
                    || exchanges == 0 && span.is_some()
                    || self.findings() > 0
                    || self.waiting > 0
            }
        }
    }
}
