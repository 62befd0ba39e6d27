//! Which Rust files a lint run reads, and what came of them.
//! Knows no rule and no renderer.

use clap::Args;
use std::path::PathBuf;
use unbroken_lint::finding::{Finding, Problem};

/// What `unbroken lint` is asked to do. Options that shape the output belong to the command line as a whole.
#[derive(Args, Debug, Default)]
pub struct LintArgs {
    /// Crates, folders or files to check
    #[arg(value_name = "PATH", default_value = ".")]
    pub paths: Vec<PathBuf>,
}

/// What a lint run found and read.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The findings, in order of path and place. Paths are relative to the working directory.
    pub findings: Vec<Finding>,
    /// What could not be read or parsed.
    pub problems: Vec<Problem>,
    /// Rust files seen.
    pub files_seen: u64,
    /// Rust files checked: read, parsed and judged, or known to hold nothing to judge.
    pub files_checked: u64,
    /// Crates they belong to.
    pub crates: u64,
}

/// A mistake in how the run was asked for: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Misuse {
    /// What is wrong.
    pub message: String,
    /// What to do, one sentence.
    pub help: String,
}

/// Checks what `args` name, with `threads` workers (0: as many as there are cores).
///
/// # Errors
/// [`Misuse`], when the configuration or a path named by the user cannot be followed at all.
pub fn run(args: &LintArgs, threads: usize) -> Result<Outcome, Misuse> {
    let _ = (args, threads);
    Ok(Outcome::default())
}
