//! The `unbroken` command.

/// A quarter of an audit's time went into allocating and freeing the facts of exchanges (measured with perf).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    unbroken_cli::main(std::env::args_os())
}
