//! The `unbroken` command.

use unbroken_allocator as _;

fn main() -> std::process::ExitCode {
    unbroken_cli::main(std::env::args_os())
}
