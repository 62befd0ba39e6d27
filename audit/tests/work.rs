//! How much work a line costs, counted in allocations and not in time, so that a busy machine changes nothing.
//! Knows a bound that was measured; a change that needs more says why and moves it.
#![allow(missing_docs)]

#[path = "../benches/traffic/mod.rs"]
mod traffic;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use unbroken_audit::run::{Options, run};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Allocations a line of a large log, all rules on; measured: 21 (74 when every record was read in full).
const MOST: u64 = 25;

#[test]
fn a_line_costs_a_bounded_number_of_allocations_and_every_repeat_is_found() {
    let mut log = Vec::new();
    let written = traffic::write(12_000_000, 200, 3, &mut log).expect("memory takes what is written");
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("log.jsonl");
    std::fs::write(&path, &log).expect("a disk with room");
    drop(log);
    let options = Options { threads: 1, memory: 16 << 20, ..Options::default() };
    let mut found = 0;
    let region = Region::new(ALLOCATOR);
    let seen = run(&[path], &options, &mut |finding| {
        found += match finding.breach.0.id() {
            "duplicate-invocation" | "blind-retry" => finding.sends.len() - 1,
            _ => 0,
        };
    });
    let each = region.change().allocations as u64 / written.lines;
    eprintln!("{each} allocations a line");
    assert_eq!(seen.exchanges, written.lines);
    assert!(seen.spilled > 0 || seen.judged_early > 0, "the log was to be larger than the memory: {seen:?}");
    assert_eq!(found, written.twice.len());
    assert!(each <= MOST, "{each} allocations a line");
}
