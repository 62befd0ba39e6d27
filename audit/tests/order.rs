//! Large logs give the same findings however they are cut, sorted, repeated and spread over files, also where times are equal.
//! Knows generated traffic; what recordings show is held by `stability`.
#![allow(clippy::unwrap_used)]

mod known;
#[path = "../benches/traffic/mod.rs"]
mod traffic;

use known::options;
use std::path::{Path, PathBuf};
use unbroken_audit::event::{Nanos, Place};
use unbroken_audit::finding::{Exhibit, Finding};
use unbroken_audit::run::{Options, Summary, run};

/// A finding without the places of its records, which is what cutting changes.
fn bare(mut finding: Finding) -> String {
    let place = |exhibit: &mut Exhibit| {
        exhibit.path.clear();
        (exhibit.place, exhibit.offset) = (Place::Line(0), 0);
    };
    finding.proof.iter_mut().filter_map(|step| step.exhibit.as_mut()).for_each(place);
    finding.sends.iter_mut().for_each(|sent| place(&mut sent.exhibit));
    serde_json::to_string(&finding).unwrap()
}

fn findings(files: &[PathBuf]) -> (Vec<String>, Summary) {
    // Client by client, as a log of more than ten thousand records is judged, and in stretches of half an hour.
    let options = Options { small: 300, horizon: 600 * S, ..options() };
    let mut found = Vec::new();
    let summary = run(files, &options, &mut |finding| found.push(bare(finding)));
    (found, summary)
}

const S: Nanos = 1_000_000_000;

/// Generated traffic in the order of its ends; `grain`: its times are rounded down to this.
fn lines(clients: u64, seed: u64, grain: Nanos) -> Vec<(Nanos, String)> {
    let mut log = Vec::new();
    traffic::write(1_500_000, clients, seed, &mut log).unwrap();
    let text = String::from_utf8(log).unwrap();
    let mut lines: Vec<(Nanos, String)> = text
        .lines()
        .map(|line| {
            let time = |name: &str| -> Nanos {
                let from = line.find(name).unwrap() + name.len();
                line[from..].split('"').next().unwrap().parse().unwrap()
            };
            let (start, end) = (time("\"start\":\""), time("\"end\":\""));
            let (rough, rough_end) = (start / grain * grain, end / grain * grain);
            let line = line.replacen(&start.to_string(), &rough.to_string(), 1);
            (rough_end, line.replacen(&end.to_string(), &rough_end.to_string(), 1) + "\n")
        })
        .collect();
    lines.sort_by_key(|(end, _)| *end);
    lines
}

fn file(folder: &Path, name: &str, lines: &[(Nanos, String)]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, lines.iter().map(|(_, line)| line.as_str()).collect::<String>()).unwrap();
    path
}

/// A small generator of numbers: the same disorder every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) % n
    }

    /// The lines, none later than `bound` behind others of a later time.
    fn shuffled(&mut self, lines: &[(Nanos, String)], bound: Nanos) -> Vec<(Nanos, String)> {
        let mut keyed: Vec<_> = lines
            .iter()
            .map(|line| (line.0 + self.below(bound as u64) as i64, self.below(1 << 30), line))
            .collect();
        keyed.sort_by_key(|(at, tie, _)| (*at, *tie));
        keyed.into_iter().map(|(.., line)| line.clone()).collect()
    }
}

#[test]
fn a_log_in_other_pieces_or_another_order_gives_the_same_findings() {
    for (clients, seed, grain) in [(40, 3, 1), (3, 4, 1), (1, 5, 1), (40, 6, S), (3, 7, S), (2, 8, 10 * S)] {
        let folder = tempfile::tempdir().unwrap();
        let lines = lines(clients, seed, grain);
        let whole = findings(&[file(folder.path(), "whole", &lines)]);
        assert!(whole.0.len() > 5, "{clients} clients: {} findings", whole.0.len());
        let mut dice = Dice(seed);
        let pieces = |name: &str, parts: usize| -> Vec<PathBuf> {
            let size = lines.len().div_ceil(parts);
            let some = lines.chunks(size).enumerate();
            some.map(|(at, some)| file(folder.path(), &format!("{name}-{at}"), some)).collect()
        };
        let spread: Vec<PathBuf> = (0..3)
            .map(|of| {
                let some: Vec<_> = lines.iter().skip(of).step_by(3).cloned().collect();
                file(folder.path(), &format!("spread-{of}"), &some)
            })
            .collect();
        let twice: Vec<_> = lines.iter().flat_map(|line| [line.clone(), line.clone()]).collect();
        let again: Vec<_> = lines.iter().chain(&lines).cloned().collect();
        let inputs = [
            ("two pieces", pieces("two", 2)),
            ("nine pieces", pieces("nine", 9)),
            ("spread over three files", spread),
            ("shuffled", vec![file(folder.path(), "shuffled", &dice.shuffled(&lines, 50 * S))]),
            ("a little shuffled", vec![file(folder.path(), "little", &dice.shuffled(&lines, S))]),
            ("given twice", vec![folder.path().join("whole"), file(folder.path(), "copy", &lines)]),
            ("every line twice", vec![file(folder.path(), "twice", &twice)]),
            ("once more at its end", vec![file(folder.path(), "again", &again)]),
        ];
        for (name, files) in inputs {
            let other = findings(&files);
            let name = format!("{clients} clients, {grain} ns, {name}");
            let missing = whole.0.iter().filter(|one| !other.0.contains(one)).count();
            let more = other.0.iter().filter(|one| !whole.0.contains(one)).count();
            assert_eq!((missing, more), (0, 0), "{name}: missing and more of {}", whole.0.len());
            assert_eq!(whole.0, other.0, "{name}: the order");
            let counts =
                |summary: &Summary| (summary.exchanges, summary.calls, summary.sessions, summary.reconnects);
            assert_eq!(counts(&whole.1), counts(&other.1), "{name}");
            assert_eq!(other.1.unordered, 0, "{name}");
        }
    }
}

#[test]
fn disorder_beyond_the_bound_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let lines = lines(20, 9, 1);
    let mut dice = Dice(9);
    let (_, summary) = findings(&[file(folder.path(), "wild", &dice.shuffled(&lines, 600 * S))]);
    assert!(summary.unordered > 0);
    let told =
        summary.problems.iter().any(|problem| problem.message.contains("findings may depend on the order"));
    assert!(told, "{:?}", summary.problems);
}

/// A record of one moment that no other equals: the id of a call is all that tells it from the others.
fn call(id: u32) -> String {
    format!(
        r#"{{"unbroken":1,"start":"1772445600000000000","end":"1772445600000000000","remote_addr":"203.0.113.7","method":"POST","path":"/mcp","status":200,"session_in":"0000000000000005","protocol_version":"2025-11-25","content_type":"text/event-stream","request":"{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"pay\",\"arguments\":{{\"order\":{id}}}}}}}","events":[{{"data":"{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[]}}}}"}}],"cause":"complete"}}"#
    )
}

#[test]
fn records_that_differ_are_never_taken_for_copies_of_each_other() {
    // Of so many, some pairs have one hash of 32 bits, however good it is.
    let mut known = std::collections::HashMap::new();
    let mut lines = Vec::new();
    for id in 1..300_000 {
        let line = call(id);
        let hash = rapidhash::v3::rapidhash_v3(line.as_bytes());
        if let Some(other) = known.insert((hash >> 32) as u32 ^ hash as u32, id) {
            lines.extend([call(other), line]);
        }
    }
    assert!(lines.len() > 4, "{} records", lines.len());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    // Each is there twice: a copy is one all the same.
    let text = lines.iter().flat_map(|line| [line.as_str(), "\n", line.as_str(), "\n"]).collect::<String>();
    std::fs::write(&path, text).unwrap();
    for small in [0, 1] {
        let summary = run(std::slice::from_ref(&path), &Options { small, ..options() }, &mut drop);
        assert_eq!((summary.calls, summary.exchanges), (lines.len() as u64, lines.len() as u64), "{small}");
    }
}
