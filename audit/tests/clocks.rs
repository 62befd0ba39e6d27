//! Clocks that differ: one recording, its logs moved against each other, tells the same story once.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use unbroken_audit::adapter::formats::Formats;
use unbroken_audit::adapter::intake;
use unbroken_audit::adapter::rpc::Keep;
use unbroken_audit::event::{Event, Nanos, Vantage, What};
use unbroken_audit::source::Limits;
use unbroken_audit::verdict::judge;

fn recordings() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/logs/captures");
    let mut runs: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    runs.retain(|run| run.join("truth.json").is_file());
    runs.sort();
    runs
}

/// The events of a recording's logs, by file.
fn read(run: &Path) -> (Vec<Vec<Event>>, Vec<String>) {
    let formats = Formats::load(&[]).unwrap();
    let starts =
        ["capture.har", "nginx-access", "nginx-error", "haproxy-access", "caddy-", "client", "server-"];
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(run).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| {
        starts.iter().any(|start| path.file_name().unwrap().to_string_lossy().starts_with(start))
    });
    files.sort();
    let mut all = Vec::new();
    for (file, path) in files.iter().enumerate() {
        let mut events = Vec::new();
        intake::read(path, file as u32, &formats, &Limits::default(), Keep::default(), &mut |e| {
            events.push(e)
        });
        all.push(events);
    }
    (all, files.iter().map(|path| path.display().to_string()).collect())
}

fn moved(event: &Event, by: Nanos) -> Event {
    let mut event = event.clone();
    let time = &mut event.time;
    for at in [Some(&mut time.at), time.start.as_mut(), time.end.as_mut()].into_iter().flatten() {
        *at += by;
    }
    if let What::Exchange(exchange) = &mut event.what {
        let response = &mut exchange.response;
        response.headers_at.iter_mut().for_each(|at| *at += by);
        let events = response.events.iter_mut().flatten();
        events.filter_map(|event| event.at.as_mut()).for_each(|at| *at += by);
    }
    event
}

/// Breach, certainty and fingerprint of everything found.
fn found(events: Vec<Event>, paths: &[String]) -> (BTreeSet<(String, String, String)>, usize, usize) {
    let (findings, counts) = judge(events, paths);
    let told = findings
        .iter()
        .map(|f| (f.breach.0.id().to_owned(), format!("{:?}", f.certainty), f.fingerprint.clone()));
    (told.collect(), findings.len(), counts.ahead.len())
}

#[test]
fn a_log_with_a_clock_of_its_own_changes_no_finding() {
    let mut moved_logs = 0;
    for run in recordings() {
        let (files, paths) = read(&run);
        let all = |by: &dyn Fn(&Event) -> Nanos| -> Vec<Event> {
            files.iter().flatten().map(|event| moved(event, by(event))).collect()
        };
        let straight = found(all(&|_| 0), &paths);
        for seconds in [7, -120] {
            let by = seconds * 1_000_000_000;
            // A proxy's logs have one clock; so have all that one host writes.
            let proxy = all(&|event| if event.vantage == Vantage::Proxy { by } else { 0 });
            let clocks = files
                .iter()
                .flatten()
                .filter(|e| e.vantage == Vantage::Proxy && matches!(e.what, What::Exchange(_)))
                .count();
            let (findings, count, ahead) = found(proxy, &paths);
            // Too few exchanges that both name tell nothing of a clock.
            if ahead == 0 {
                assert!(clocks < 10, "{}: {clocks} exchanges", run.display());
                continue;
            }
            moved_logs += 1;
            assert_eq!((&findings, count), (&straight.0, straight.1), "{} by {seconds} s", run.display());
        }
    }
    assert!(moved_logs >= 10, "only {moved_logs}");
}

#[test]
fn a_clock_is_right_until_several_exchanges_tell_otherwise() {
    for run in recordings() {
        let (files, paths) = read(&run);
        let (_, _, ahead) = found(files.concat(), &paths);
        assert_eq!(ahead, 0, "{}", run.display());
    }
}
