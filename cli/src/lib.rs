//! The command line of Unbroken: what was asked for, and who answers it.
//! Knows no rule of either half and no way to render.

mod accept;
mod args;
mod audit;
mod baseline;
mod check;
mod fault;
pub mod lint;
mod mapping;
mod output;
mod page;
mod progress;
mod scope;
mod shell;
mod side;
mod state;
#[cfg(feature = "parquet")]
mod table;
mod terminal;
mod translation;

use args::{Arguments, Command};
use check::Work;
use clap::Parser;
use fault::Fault;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the command with these arguments, the program's name first; gives the exit code that
/// `unbroken --help` documents.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let outcome =
        Arguments::try_parse_from(arguments).map_err(Fault::from).and_then(|arguments| answer(&arguments));
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(fault) => {
            fault.tell();
            ExitCode::from(fault.exit_code())
        }
    }
}

fn answer(arguments: &Arguments) -> Result<u8, Fault> {
    match &arguments.command {
        Command::Lint(lint) => check::run(Work::Code(lint), &arguments.shared),
        Command::Audit(audit) => check::run(Work::Traffic(audit), &arguments.shared),
        Command::Explain(explain) => page::explain(&explain.id),
        Command::Baseline(change) => baseline::change(change, &arguments.shared),
        Command::Rules => page::rules(),
        Command::Mapping(command) => mapping::answer(command),
        Command::Completions(shell) => shell::complete(shell),
        Command::Man(man) => shell::manual(man),
    }
}
