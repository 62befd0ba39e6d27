//! `cargo unbroken`: the same command, found by cargo.

fn main() -> std::process::ExitCode {
    // Cargo passes the name of its subcommand on as the first argument.
    let mut arguments: Vec<_> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|first| first == "unbroken") {
        arguments.remove(1);
    }
    unbroken_cli::main(arguments)
}
