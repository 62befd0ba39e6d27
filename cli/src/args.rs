//! Every command and option of the command line, with its help.
//! Knows not what any of them does.

use crate::audit::AuditArgs;
use crate::baseline::BaselineArgs;
use crate::lint::LintArgs;
use crate::mapping::MappingCommand;
use crate::shell::{CompletionsArgs, ManArgs};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use unbroken_report::render::Format;
use unbroken_report::{Certainty, FailOn};

/// Finds MCP clients that lose sessions, lose cursors and send tool calls twice.
#[derive(Parser, Debug)]
#[command(name = "unbroken", bin_name = "unbroken", version, about, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) shared: Shared,
}

const EXIT_CODES: &str = "Exit codes, the first that fits:
  2  the command line or the configuration is wrong
  1  there are findings at or above --fail-on
  4  some input could not be read
  3  nothing was checked
  0  everything was read and nothing found";

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Check Rust code for mistakes with sessions, cursors and calls
    Lint(LintArgs),
    /// Rebuild sessions from transport logs and find what went wrong in them
    Audit(AuditArgs),
    /// Show the page of a breach: what happens, why it matters, what to do instead
    Explain(ExplainArgs),
    /// Write or prune the file of findings to live with for now
    Baseline(BaselineArgs),
    /// List every breach there is
    Rules,
    /// Propose a mapping file for a log, or show what a mapping makes of one
    #[command(subcommand)]
    Mapping(MappingCommand),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write one per command into a folder
    Man(ManArgs),
}

#[derive(Args, Debug)]
pub(crate) struct ExplainArgs {
    /// Id of a breach, as findings and `unbroken rules` show it
    #[arg(value_name = "ID")]
    pub(crate) id: String,
}

/// Options that both halves share.
#[derive(Args, Debug)]
pub(crate) struct Shared {
    /// How findings are shown on standard output
    #[arg(long, global = true, value_name = "FORMAT", default_value = "human", value_parser = formats())]
    pub(crate) format: Format,
    /// Write findings to a file as well; may be given several times
    #[arg(long, global = true, value_name = "FORMAT=FILE", value_parser = output)]
    pub(crate) output: Vec<(Format, PathBuf)>,
    /// The level from which on findings make the exit code 1
    #[arg(long, global = true, value_name = "LEVEL", default_value = "deny")]
    pub(crate) fail_on: FailOnArg,
    /// Leave out findings that are less sure than this; the exit code does not know them either
    #[arg(long, global = true, value_name = "CERTAINTY", default_value = "possible")]
    pub(crate) min_certainty: CertaintyArg,
    /// Leave out the findings that this file holds
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Show session ids, arguments and client identities as they are, not as digests
    #[arg(long, global = true)]
    pub(crate) reveal: bool,
    /// Key the digests with the content of this file, so that nobody without it can test guesses
    /// [env: UNBROKEN_DIGEST_KEY, the key itself]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) digest_key_file: Option<PathBuf>,
    /// Colours: NO_COLOR and CLICOLOR_FORCE are honoured by `auto`
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorArg,
    /// Worker threads; 0: as many as there are cores. Never changes the output
    #[arg(long, visible_alias = "jobs", global = true, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOnArg {
    Note,
    Warn,
    Deny,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CertaintyArg {
    Possible,
    Likely,
    Proved,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorArg {
    Auto,
    Always,
    Never,
}

impl From<FailOnArg> for FailOn {
    fn from(level: FailOnArg) -> FailOn {
        match level {
            FailOnArg::Note => FailOn::Note,
            FailOnArg::Warn => FailOn::Warn,
            FailOnArg::Deny => FailOn::Deny,
            FailOnArg::Never => FailOn::Never,
        }
    }
}

impl From<CertaintyArg> for Certainty {
    fn from(certainty: CertaintyArg) -> Certainty {
        match certainty {
            CertaintyArg::Possible => Certainty::Possible,
            CertaintyArg::Likely => Certainty::Likely,
            CertaintyArg::Proved => Certainty::Proved,
        }
    }
}

/// The words of all formats, so that help and completions list them.
fn formats() -> impl clap::builder::TypedValueParser<Value = Format> {
    let words = Format::ALL.iter().map(|format| format.id());
    PossibleValuesParser::new(words).try_map(|word| format(&word))
}

fn format(word: &str) -> Result<Format, String> {
    Format::from_id(word).ok_or_else(|| {
        let words: Vec<&str> = Format::ALL.iter().map(|format| format.id()).collect();
        format!("there is no such format; formats are {}", words.join(", "))
    })
}

fn output(word: &str) -> Result<(Format, PathBuf), String> {
    let (kind, file) =
        word.split_once('=').ok_or("it lacks the '=' between format and file, as in json=findings.json")?;
    if file.is_empty() {
        return Err("it names no file after the '='".to_owned());
    }
    Ok((format(kind)?, PathBuf::from(file)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn an_output_names_a_format_and_a_file() {
        assert_eq!(output("json=a=b.json"), Ok((Format::Json, PathBuf::from("a=b.json"))));
        for wrong in ["json", "json=", "jsn=a", "=a"] {
            assert!(output(wrong).is_err(), "{wrong}");
        }
    }
}
