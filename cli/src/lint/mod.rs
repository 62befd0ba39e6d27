//! Which Rust files a lint run reads, and what came of them.
//! Knows no rule and no renderer.

mod config;
mod modules;
mod package;
mod place;
mod reading;
mod selection;
mod since;
mod stage;
mod walk;

use clap::Args;
pub(crate) use config::Accept;
use config::Config;
pub use package::Target;
use place::Standpoint;
use since::Changes;
use std::io::Read;
use std::path::{Path, PathBuf};
use unbroken_lint::finding::{Finding, Problem};

/// What `unbroken lint` is asked to do. Options that shape the output belong to the command line as a whole.
#[derive(Args, Debug, Default)]
pub struct LintArgs {
    /// Crates, folders or files to check; `-` reads one source from the standard input
    #[arg(value_name = "PATH", default_value = ".")]
    pub paths: Vec<PathBuf>,
    /// Check these targets too, which are left apart otherwise
    #[arg(long, value_name = "TARGET", value_enum, value_delimiter = ',')]
    pub include: Vec<Target>,
    /// Read the paths to check from a file, one a line (or separated by NUL); `-`: from the standard input
    #[arg(long, value_name = "FILE", conflicts_with = "paths")]
    pub files_from: Option<PathBuf>,
    /// Show only findings that touch lines changed since this revision; everything is analysed all the same
    #[arg(long, value_name = "REV")]
    pub since: Option<String>,
    /// Configuration to use instead of the nearest unbroken.toml
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// What a lint run found and read.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The findings, in order of path and place. Paths are relative to the working directory.
    pub findings: Vec<Finding>,
    /// What could not be read or parsed.
    pub problems: Vec<Problem>,
    /// What is worth telling although nothing was lost by it: stale acceptances, links that were not followed.
    pub notices: Vec<Problem>,
    /// Findings that the code accepts, with a reason.
    pub accepted: u64,
    /// Rust files seen.
    pub files_seen: u64,
    /// Rust files checked: read, parsed and judged, or known to hold nothing to judge.
    pub files_checked: u64,
    /// Of these, the ones that a byte search showed to hold nothing to judge.
    pub files_passed_over: u64,
    /// Rust files left apart: tests, examples, benchmarks, build scripts.
    pub files_apart: u64,
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

impl Misuse {
    fn new(message: String, help: &str) -> Misuse {
        Misuse { message, help: help.to_owned() }
    }
}

/// The stack of each worker: syntax trees are walked by recursion, and files of unusual depth get a stack of their own.
const STACK: usize = 64 << 20;

/// What the configuration accepts in traffic, with its file as output shows it: `path`, or the nearest one above the working
/// directory.
///
/// # Errors
/// [`Misuse`]: the configuration cannot be read or means nothing.
pub(crate) fn accepts(path: Option<&Path>) -> Result<(String, Vec<Accept>), Misuse> {
    let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let config = Config::find(path, &cwd)?;
    Ok((config.shown, config.accepts))
}

/// Checks what `args` name, with `threads` workers (0: as many as there are cores).
///
/// # Errors
/// [`Misuse`], when the configuration or a path named by the user cannot be followed at all.
pub fn run(args: &LintArgs, threads: usize) -> Result<Outcome, Misuse> {
    let mut stand = Standpoint::here().map_err(|error| {
        Misuse::new(
            format!("the working directory cannot be read: {}", error.kind()),
            "change to one that exists",
        )
    })?;
    let mut config = Config::find(args.config.as_deref(), stand.cwd())?;
    config.include.extend(&args.include);
    let changes = args.since.as_deref().map(|revision| Changes::since(revision, stand.cwd())).transpose()?;
    let typed = named(args)?;
    let mut work = if typed.iter().any(|path| path == Path::new("-")) {
        from_stdin(&typed)?
    } else {
        let paths: Vec<PathBuf> = typed.iter().map(|path| stand.absolute(path)).collect();
        let excluded = config.excluded()?;
        let wanted = selection::Wanted { include: &config.include, excluded: &excluded };
        stage::Work::of(selection::select(&paths, &wanted))
    };
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK).build().map_err(|error| {
            Misuse::new(format!("no worker threads: {error}"), "ask for fewer with --threads")
        })?;
    let mut outcome = pool.install(|| work.run(&config, &stand));
    if let Some(changes) = changes {
        outcome.findings.retain(|finding| touched(finding, &changes, stand.cwd()));
    }
    Ok(outcome)
}

/// The paths as the user typed them.
fn named(args: &LintArgs) -> Result<Vec<PathBuf>, Misuse> {
    let Some(list) = &args.files_from else {
        let here = args.paths.is_empty().then(|| PathBuf::from("."));
        return Ok(args.paths.iter().cloned().chain(here).collect());
    };
    let read =
        if list == Path::new("-") { reading::text(std::io::stdin().lock()) } else { reading::file(list) };
    let text = read.map_err(|error| {
        Misuse::new(format!("the list {} {error}", list.display()), "give a list of paths, one a line")
    })?;
    let separator = if text.contains('\0') { '\0' } else { '\n' };
    let lines = text.split(separator).map(|line| line.trim_end_matches('\r')).filter(|line| !line.is_empty());
    // A list made by `git diff --name-only` holds other files too; they are no mistake.
    Ok(lines.map(PathBuf::from).filter(|path| walk::is_rust(path) || path.is_dir()).collect())
}

fn from_stdin(typed: &[PathBuf]) -> Result<stage::Work, Misuse> {
    if typed.len() > 1 {
        let help = "name `-` alone, or only paths";
        return Err(Misuse::new("`-` stands beside other paths".to_owned(), help));
    }
    Ok(stage::Work::of_text(reading::text(std::io::stdin().lock().by_ref())))
}

fn touched(finding: &Finding, changes: &Changes, cwd: &Path) -> bool {
    let at = |path: &Path, range: unbroken_lint::finding::Range| {
        let file = cwd.join(path);
        changes.touch(&file.canonicalize().unwrap_or(file), range.line, range.end_line)
    };
    at(&finding.path, finding.range) || finding.labels.iter().any(|label| at(&label.path, label.range))
}
