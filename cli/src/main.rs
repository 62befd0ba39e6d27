//! The `unbroken` command.

/// Syntax trees and records are many small allocations on every thread; the system's allocator took a fifth of the time.
#[cfg(not(windows))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[cfg(windows)]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    unbroken_cli::main(std::env::args_os())
}
