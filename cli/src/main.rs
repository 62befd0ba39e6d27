//! The `unbroken` command.

/// Syntax trees and records are many small allocations on every thread; the system's allocator took a fifth of the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    unbroken_cli::main(std::env::args_os())
}
