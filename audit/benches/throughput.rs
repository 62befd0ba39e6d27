//! How fast logs are audited, on traffic whose truth is known: `cargo bench -p unbroken-audit -- [MEGABYTES] [CLIENTS]`.
//! Knows the clock; what is right comes from the traffic itself, and a wrong finding ends the run with an error.
#![allow(clippy::print_stdout)]

mod traffic;

use std::collections::BTreeSet;
use std::io::BufWriter;
use std::process::ExitCode;
use std::time::Instant;
use traffic::Pair;
use unbroken_audit::finding::Finding;
use unbroken_audit::run::{Options, run};

fn main() -> ExitCode {
    let mut numbers = std::env::args().filter_map(|word| word.parse::<u64>().ok());
    let megabytes = numbers.next().unwrap_or(50);
    let clients = numbers.next().unwrap_or(400);
    let file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    let mut out = BufWriter::new(file.as_file());
    let written = traffic::write(megabytes * 1_000_000, clients, 7, &mut out).expect("a disk with room");
    drop(out);

    let mut found = BTreeSet::new();
    let begun = Instant::now();
    let seen =
        run(&[file.path().to_owned()], &Options::default(), &mut |finding| pairs(&finding, &mut found));
    let seconds = begun.elapsed().as_secs_f64();

    let hits = found.intersection(&written.twice).count();
    let (wrong, missed) = (found.len() - hits, written.twice.len() - hits);
    println!(
        "{} bytes, {} lines, {clients} clients, {} sessions",
        written.bytes, written.lines, seen.sessions
    );
    println!(
        "{:.1} MB/s, {:.0} lines/s",
        written.bytes as f64 / 1e6 / seconds,
        written.lines as f64 / seconds
    );
    println!("calls sent twice: {} found, {wrong} wrong, {missed} missed", hits);
    println!("judged early {}, came late {}, put aside {} bytes", seen.judged_early, seen.late, seen.spilled);
    if wrong + missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The neighbouring sends of a finding on a call that was sent twice.
fn pairs(finding: &Finding, into: &mut BTreeSet<Pair>) {
    if !matches!(finding.breach.0.id(), "duplicate-invocation" | "blind-retry") {
        return;
    }
    for two in finding.sends.windows(2) {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let (a, b) = (&two[0], &two[1]);
        into.insert((text(&a.session), text(&a.rpc_id), text(&b.session), text(&b.rpc_id)));
    }
}
