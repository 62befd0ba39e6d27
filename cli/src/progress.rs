//! How far a run is, on standard error while it goes on.
//! Knows counters and the terminal; shows nothing where nobody looks.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use unbroken_audit::cost::Costs;

/// Runs shorter than this need no progress.
const QUIET: Duration = Duration::from_millis(700);
/// How often the line is written anew.
const EVERY: Duration = Duration::from_millis(200);

/// Does the work; meanwhile, where standard error is a terminal, one line tells the bytes read, the rate and the remaining
/// time. `total`: bytes of all files, none if they are compressed or not known.
pub(crate) fn during<T>(costs: &Costs, total: Option<u64>, work: impl FnOnce() -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return work();
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(costs, total, &done));
        let given = work();
        done.store(true, Ordering::Release);
        watcher.thread().unpark();
        given
    })
}

fn watch(costs: &Costs, total: Option<u64>, done: &AtomicBool) {
    let begun = Instant::now();
    let mut shown = false;
    while !done.load(Ordering::Acquire) {
        std::thread::park_timeout(EVERY);
        if begun.elapsed() > QUIET && !done.load(Ordering::Acquire) {
            let line = line(costs.bytes(), total, begun.elapsed());
            // Nobody is told of a terminal that went away.
            _ = write!(std::io::stderr(), "\r\x1b[2K{line}");
            shown = true;
        }
    }
    if shown {
        _ = write!(std::io::stderr(), "\r\x1b[2K");
    }
}

fn line(bytes: u64, total: Option<u64>, took: Duration) -> String {
    let mega = |bytes: f64| bytes / 1e6;
    let rate = bytes as f64 / took.as_secs_f64().max(0.001);
    let read = format!("{:.0} MB", mega(bytes as f64));
    match total.filter(|total| *total >= bytes && rate > 0.0) {
        Some(total) => format!(
            "{read} of {:.0} MB, {:.0} MB/s, {:.0} s left",
            mega(total as f64),
            mega(rate),
            ((total - bytes) as f64 / rate).ceil()
        ),
        None => format!("{read}, {:.0} MB/s", mega(rate)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remaining_time_is_told_where_the_whole_is_known() {
        let two = Duration::from_secs(2);
        assert_eq!(line(100_000_000, Some(400_000_000), two), "100 MB of 400 MB, 50 MB/s, 6 s left");
        assert_eq!(line(100_000_000, None, two), "100 MB, 50 MB/s");
        // A compressed file holds more than its length.
        assert_eq!(line(100_000_000, Some(90_000_000), two), "100 MB, 50 MB/s");
        assert_eq!(line(0, Some(1), Duration::ZERO), "0 MB, 0 MB/s");
    }
}
