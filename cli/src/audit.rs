//! What `unbroken audit` is asked to do.
//! Knows no log format.

use clap::Args;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;
use unbroken_audit::cost::{Costs, STAGES};
use unbroken_audit::run::Summary;
use unbroken_audit::source::{self, Input};

/// What to audit.
#[derive(Args, Debug)]
pub(crate) struct AuditArgs {
    /// Transport logs, plain or compressed, or folders of them; the order does not matter; `-`: the standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// A mapping file for logs of another shape; may be given several times
    #[arg(long, value_name = "FILE")]
    pub(crate) mapping: Vec<PathBuf>,
    /// Largest record that is read, in bytes; larger ones are named and skipped [default: 16 MiB]
    #[arg(long, value_name = "BYTES", value_parser = some_bytes)]
    pub(crate) max_record: Option<usize>,
    /// Memory that the run may take, as in 64MiB; what does not fit waits in a temporary file [default: 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = some_size)]
    pub(crate) memory: Option<usize>,
    /// Silence in log time, as in 45m, after which a client of a log of more than 10,000 records is judged
    /// [default: 2h]
    #[arg(long, value_name = "TIME", value_parser = some_span)]
    pub(crate) horizon: Option<i64>,
    /// How far behind the others in log time a record may come, as in 5m [default: 1m]
    #[arg(long, value_name = "TIME", value_parser = some_span)]
    pub(crate) disorder: Option<i64>,
    /// Carry what is not over from one export to the next in this file: sessions and calls that may go on are judged with
    /// what comes later, and no finding is told twice
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// With --state: there is no later export, judge what is still open too
    #[arg(long, requires = "state")]
    pub(crate) last: bool,
    /// What findings are reported.
    #[command(flatten)]
    pub(crate) scope: crate::scope::ScopeArgs,
    /// Configuration to use instead of the nearest unbroken.toml, for the findings that it accepts
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Tell on standard error what was read, how fast, and what was put aside
    #[arg(long)]
    pub(crate) stats: bool,
    /// Write sessions and calls as Parquet files into this folder
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) tables: Option<PathBuf>,
    /// The files to read, looked for once: what the run writes into a folder is none of them.
    #[arg(skip)]
    inputs: OnceLock<Vec<Input>>,
}

impl AuditArgs {
    /// The files to read, each once, in an order that the command line has no say in; of a folder, the files in it.
    pub(crate) fn inputs(&self) -> &[Input] {
        self.inputs.get_or_init(|| {
            let mut inputs = source::inputs(&self.files);
            let state = self.state.as_ref().and_then(|path| path.canonicalize().ok());
            inputs.retain(|input| !input.found || state.is_none() || input.path.canonicalize().ok() != state);
            inputs.sort_by(|a, b| a.path.cmp(&b.path));
            inputs
        })
    }

    /// Their paths.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.inputs().iter().map(|input| input.path.clone()).collect()
    }

    /// Bytes of all files; none if one of them does not tell.
    pub(crate) fn length(&self) -> Option<u64> {
        let length = |path: &Path| path.metadata().ok().filter(|kind| kind.is_file()).map(|kind| kind.len());
        self.inputs().iter().map(|input| length(&input.path)).sum()
    }
}

/// What is said where nothing would be taken for the default.
const NOTHING: &str = "give more than nothing, or leave the option out for its default";

fn some<T: Default + PartialEq>(amount: T) -> Result<T, String> {
    if amount == T::default() { Err(NOTHING.to_owned()) } else { Ok(amount) }
}

fn some_bytes(word: &str) -> Result<usize, String> {
    some(word.parse().map_err(|_| "it is no number of bytes".to_owned())?)
}

fn some_size(word: &str) -> Result<usize, String> {
    some(size(word)?)
}

fn some_span(word: &str) -> Result<i64, String> {
    some(span(word)?)
}

/// Bytes, with the usual suffixes.
fn size(word: &str) -> Result<usize, String> {
    let digits = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
    let (count, unit) = word.split_at(digits);
    let unit: usize = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return Err("it is no size; write it as 64MiB or 1GiB".to_owned()),
    };
    let count: usize = count.parse().map_err(|_| "it is no size; write it as 64MiB or 1GiB".to_owned())?;
    count.checked_mul(unit).ok_or_else(|| "it is larger than any memory".to_owned())
}

/// Nanoseconds, with the usual suffixes.
pub(crate) fn span(word: &str) -> Result<i64, String> {
    let digits = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
    let (count, unit) = word.split_at(digits);
    let seconds: i64 = match unit {
        "s" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return Err("it is no time; write it as 90s, 45m, 2h or 1d".to_owned()),
    };
    let count: i64 = count.parse().map_err(|_| "it is no time; write it as 90s, 45m, 2h or 1d".to_owned())?;
    seconds
        .checked_mul(1_000_000_000)
        .and_then(|unit| unit.checked_mul(count))
        .ok_or_else(|| "it is longer than three centuries".to_owned())
}

/// What a run read and how, for people who wonder.
pub(crate) fn stats(seen: &Summary, costs: &Costs, took: Duration) -> String {
    let records: u64 = seen.files.iter().map(|file| file.records).sum();
    let events: u64 = seen.files.iter().map(|file| file.events).sum();
    let seconds = took.as_secs_f64().max(0.001);
    let (bytes, milli) = (costs.bytes(), |nanos: u64| nanos as f64 / 1e6);
    let mut text = format!(
        "read {bytes} bytes in {} files, {:.1} MB/s over {seconds:.2} s; {records} records, {events} events, \
         {} sessions; {} sessions judged early, {} events came late, {} bytes put aside\n\
         records read in full: {}; memory was full {} times",
        seen.files.len(),
        bytes as f64 / 1e6 / seconds,
        seen.sessions,
        seen.judged_early,
        seen.late,
        seen.spilled,
        costs.parsed(),
        costs.spills(),
    );
    let stages = STAGES.map(|(stage, name)| format!("{name} {:.0} ms", milli(costs.stage(stage))));
    text.push_str(&format!("\ntime over all threads: {}", stages.join(", ")));
    for (breach, nanos) in costs.rules() {
        text.push_str(&format!("\n  {:8.1} ms  {}", milli(nanos), breach.id()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_have_units() {
        assert_eq!(size("64MiB"), Ok(64 << 20));
        assert_eq!(size("1g"), Ok(1 << 30));
        assert_eq!(span("45m"), Ok(2_700_000_000_000));
        for wrong in ["", "MiB", "12x", "99999999999999999999g", "-1m"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "5", "m", "9999999999999h", "-1m"] {
            assert!(span(wrong).is_err(), "{wrong}");
        }
    }
}
