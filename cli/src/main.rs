//! The `unbroken` command.

fn main() -> std::process::ExitCode {
    unbroken_cli::main(std::env::args_os())
}
