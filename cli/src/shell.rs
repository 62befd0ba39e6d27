//! Completions for shells and manual pages, made of the same table as the command line.
//! Knows no option by name.

use crate::args::Arguments;
use crate::fault::Fault;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::io;
use std::path::PathBuf;

/// For which shell.
#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// Shell to print the completions for
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Where to.
#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// Folder to write a page per command into; without it the main page is printed
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

/// Prints the completions of a shell.
pub(crate) fn complete(args: &CompletionsArgs) -> Result<u8, Fault> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Arguments::command(), "unbroken", &mut script);
    crate::page::print(&String::from_utf8_lossy(&script))
}

/// Prints the main page, or writes all pages.
pub(crate) fn manual(args: &ManArgs) -> Result<u8, Fault> {
    let fault = |name: String| move |source: io::Error| Fault::Output { name, source };
    if let Some(folder) = &args.folder {
        let name = || folder.display().to_string();
        std::fs::create_dir_all(folder).map_err(fault(name()))?;
        clap_mangen::generate_to(Arguments::command(), folder).map_err(fault(name()))?;
        return Ok(0);
    }
    let mut text = Vec::new();
    clap_mangen::Man::new(Arguments::command())
        .render(&mut text)
        .map_err(fault("standard output".to_owned()))?;
    crate::page::print(&String::from_utf8_lossy(&text))
}
