//! `cargo unbroken`: hands its arguments to the `unbroken` beside it, found by cargo under this name.
//! Knows nothing else: linking the whole command a second time would double what a build costs.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Exit code of a wrong set-up, as of every other configuration error.
const CONFIGURATION: u8 = 2;

fn main() -> ExitCode {
    let mut arguments: Vec<_> = std::env::args_os().skip(1).collect();
    // Cargo passes the name of its subcommand on as the first argument.
    if arguments.first().is_some_and(|first| first == "unbroken") {
        arguments.remove(0);
    }
    let name = format!("unbroken{}", std::env::consts::EXE_SUFFIX);
    let program = std::env::current_exe()
        .map(|own| own.with_file_name(&name))
        .ok()
        .filter(|beside| beside.is_file())
        .unwrap_or_else(|| PathBuf::from(&name));
    hand_over(Command::new(&program).args(arguments), &program)
}

/// Becomes the command, so that signals and the closed pipe of a reader reach it.
#[cfg(unix)]
fn hand_over(command: &mut Command, program: &std::path::Path) -> ExitCode {
    use std::os::unix::process::CommandExt;
    refuse(program, &command.exec())
}

#[cfg(not(unix))]
fn hand_over(command: &mut Command, program: &std::path::Path) -> ExitCode {
    match command.status() {
        Ok(status) => {
            ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(CONFIGURATION))
        }
        Err(why) => refuse(program, &why),
    }
}

fn refuse(program: &std::path::Path, why: &std::io::Error) -> ExitCode {
    eprintln!("unbroken: {} could not be started: {why}", program.display());
    eprintln!("install it beside cargo-unbroken, or put it on the PATH");
    ExitCode::from(CONFIGURATION)
}
