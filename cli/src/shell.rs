//! Completions for shells and manual pages, made of the same table as the command line.
//! Knows no option by name.

use crate::args::Arguments;
use crate::fault::Fault;
use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use std::io;
use std::path::{Path, PathBuf};

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
    let mut command = Arguments::command().disable_help_subcommand(true);
    // Only a built command knows the whole names of those below it: `unbroken-baseline-write`.
    command.build();
    let Some(folder) = &args.folder else {
        let text = page(&command).map_err(fault("standard output".to_owned()))?;
        return crate::page::print(&text);
    };
    std::fs::create_dir_all(folder)
        .and_then(|()| write_pages(&command, folder))
        .map_err(fault(folder.display().to_string()))?;
    Ok(0)
}

/// Writes the page of a command, and those of all below it.
fn write_pages(command: &Command, folder: &Path) -> io::Result<()> {
    std::fs::write(folder.join(format!("{}.1", name(command))), page(command)?)?;
    command.get_subcommands().try_for_each(|below| write_pages(below, folder))
}

fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// The page of a command, in roff.
fn page(command: &Command) -> io::Result<String> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    // The title as clap_mangen writes it has the command's name where the date belongs; and a break beside an empty line is
    // one too many.
    let title =
        format!(".TH {} 1 \"\" \"unbroken {}\" \"Unbroken\"", name(command), env!("CARGO_PKG_VERSION"));
    let lines = text.lines().map(|line| if line.starts_with(".TH ") { title.as_str() } else { line });
    let text = lines.fold(String::new(), |text, line| text + line + "\n");
    Ok(text.replace("\n.br\n\n.br\n", "\n.sp\n"))
}
