//! Everything that ends the command early: its title, its advice and its exit code.
//! Knows nothing of what can go wrong inside one input; that is a problem in the report.

use crate::lint::Misuse;
use std::io::{self, Write};
use std::path::PathBuf;

/// Why the command could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// The command line does not parse, or help was asked for.
    #[error("the command line is wrong")]
    Usage(#[from] clap::Error),
    /// The lint was asked for something that cannot be followed.
    #[error(transparent)]
    Lint(#[from] Misuse),
    /// A file the user named beside the input cannot be read.
    #[error("{path} cannot be read: {source}", path = path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The baseline is not one.
    #[error("{path}: {source}", path = path.display())]
    Baseline {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: unbroken_report::baseline::BaselineError,
    },
    /// Input was missing while the baseline was to be pruned.
    #[error("some input could not be read, so {path} was not pruned", path = path.display())]
    Unread {
        /// The baseline.
        path: PathBuf,
    },
    /// There was no input from which the baseline could be written.
    #[error("{path} was not written: {why}", path = path.display())]
    NoInput {
        /// The baseline.
        path: PathBuf,
        /// What was not there.
        why: String,
    },
    /// An output cannot be written.
    #[error("{name} cannot be written: {source}")]
    Output {
        /// Which.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// Findings of no time at all are asked for.
    #[error("no time lies between --from and --to")]
    NoTime,
    /// An output would overwrite an input or another output.
    #[error("{path} is named twice, and writing it would destroy what it holds", path = path.display())]
    Overwrite {
        /// Which.
        path: PathBuf,
    },
    /// The state of the export before cannot be used.
    #[error("{path}: {why}", path = path.display())]
    State {
        /// Which file.
        path: PathBuf,
        /// Why.
        why: unbroken_audit::carry::CarryError,
    },
    /// A mapping file cannot be used.
    #[error("{path}: {why}", path = path.display())]
    Mapping {
        /// Which file.
        path: PathBuf,
        /// Why.
        why: unbroken_audit::mapping::MappingError,
    },
    /// No mapping can be proposed for a log.
    #[error("{log} gives no proposal: {why}", log = log.display())]
    Unguessable {
        /// Which log.
        log: PathBuf,
        /// What it lacks.
        why: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// No such breach.
    #[error("there is no breach called {id:?}")]
    UnknownBreach {
        /// What was asked for.
        id: String,
        /// The nearest one there is.
        nearest: Option<&'static str>,
    },
}

impl Fault {
    /// What to do, one sentence.
    fn advice(&self) -> String {
        match self {
            Fault::Usage(_) => "run `unbroken --help`".to_owned(),
            Fault::Lint(misuse) => misuse.help.clone(),
            Fault::Unreadable { .. } => "check the path and its permissions".to_owned(),
            Fault::State { .. } => {
                "audit the exports since the last good one again, with a file that is not there yet"
                    .to_owned()
            }
            Fault::Baseline { .. } => "write the baseline anew".to_owned(),
            Fault::Mapping { .. } => {
                "compare the file with those that `unbroken mapping guess` writes".to_owned()
            }
            Fault::Unguessable { advice, .. } => (*advice).to_owned(),
            Fault::Unread { .. } | Fault::NoInput { .. } => {
                "run the check itself to see what could not be read".to_owned()
            }
            Fault::Output { .. } => "name a file in a folder that exists and has room".to_owned(),
            Fault::NoTime => "name a moment for --from that is before that of --to".to_owned(),
            Fault::Overwrite { .. } => "give every output a file of its own".to_owned(),
            Fault::UnknownBreach { nearest: Some(nearest), .. } => {
                format!("did you mean `unbroken explain {nearest}`?")
            }
            Fault::UnknownBreach { nearest: None, .. } => "run `unbroken rules` for all of them".to_owned(),
        }
    }

    /// The exit code.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            // clap answers `--help` and `--version` as errors that are none.
            Fault::Usage(error) if !error.use_stderr() => 0,
            Fault::Unread { .. } | Fault::NoInput { .. } => 4,
            _ => 2,
        }
    }

    /// Tells the user. Nobody is left to tell when that fails.
    pub(crate) fn tell(&self) {
        let _ = match self {
            Fault::Usage(error) => error.print(),
            _ => {
                let title = unbroken_report::unprintable::escape(&self.to_string()).into_owned();
                writeln!(io::stderr(), "error: {title}\n  help: {}", self.advice())
            }
        };
    }
}
