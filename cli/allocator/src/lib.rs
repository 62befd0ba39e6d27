//! The allocator of the command: syntax trees and records are many small allocations on every thread, and the system's
//! allocator took a fifth of the time.
//! Knows how jemalloc is told what to keep back; nothing of what is allocated.

/// The allocator.
#[cfg(not(windows))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// The allocator.
#[cfg(windows)]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What jemalloc reads at its start. Records are allocated on one thread and freed on another, and with an arena for each
/// thread what one of them freed lies idle while the others ask the system for more: up to a third of the peak, and no time.
/// What nobody asks for is given back after half a second.
///
/// The one unsafe attribute of the project. Its risk: another symbol of this name, which the linker refuses, and a text
/// that does not end, which the zero rules out.
#[cfg(not(windows))]
#[allow(unsafe_code)]
#[unsafe(export_name = "_rjem_malloc_conf")]
#[used]
static MALLOC_CONF: &[u8; 29] = b"narenas:1,dirty_decay_ms:500\0";
