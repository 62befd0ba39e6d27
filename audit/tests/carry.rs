//! Exports that keep coming: piece by piece with what is carried between them gives the findings of the whole, each once.
#![allow(clippy::unwrap_used)]

mod known;
#[path = "../benches/traffic/mod.rs"]
mod traffic;

use known::{formats, options};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use unbroken_audit::adapter::intake;
use unbroken_audit::adapter::rpc::Keep;
use unbroken_audit::carry::Carried;
use unbroken_audit::event::{Nanos, Place};
use unbroken_audit::finding::Finding;
use unbroken_audit::run::{Options, run};
use unbroken_audit::source::Limits;

/// A finding without the places of its records: in which file and line they stand is what the pieces change.
fn bare(mut finding: Finding) -> String {
    let place = |exhibit: &mut unbroken_audit::finding::Exhibit| {
        exhibit.path.clear();
        (exhibit.place, exhibit.offset) = (Place::Line(0), 0);
    };
    finding.proof.iter_mut().filter_map(|step| step.exhibit.as_mut()).for_each(place);
    finding.sends.iter_mut().for_each(|sent| place(&mut sent.exhibit));
    serde_json::to_string(&finding).unwrap()
}

fn sorted(mut found: Vec<String>) -> Vec<String> {
    found.sort();
    found
}

fn whole(files: &[PathBuf], options: &Options) -> Vec<String> {
    let mut found = Vec::new();
    run(files, options, &mut |finding| found.push(bare(finding)));
    sorted(found)
}

/// Audits exports one after the other; what is carried goes through its bytes each time.
fn by_pieces(exports: &[Vec<PathBuf>], options: &Options) -> (Vec<String>, u64) {
    let mut found = Vec::new();
    let mut state: Option<Vec<u8>> = None;
    let mut exchanges = 0;
    for (at, files) in exports.iter().enumerate() {
        let carried = state.as_deref().map(|bytes| Arc::new(Carried::parse(bytes).unwrap()));
        let last = at + 1 == exports.len();
        let options = Options { carries: true, last, carried, ..options.clone() };
        let summary = run(files, &options, &mut |finding| found.push(bare(finding)));
        exchanges += summary.exchanges;
        let carried = summary.carried.unwrap();
        assert!(!last || carried.waiting() == 0);
        state = Some(carried.bytes().unwrap());
    }
    (sorted(found), exchanges)
}

/// The text of a log, compressed or not.
fn text(path: &Path) -> String {
    match path.extension().is_some_and(|end| end == "gz") {
        true => {
            let mut text = String::new();
            let file = std::fs::File::open(path).unwrap();
            std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(file), &mut text).unwrap();
            text
        }
        false => std::fs::read_to_string(path).unwrap(),
    }
}

/// The line-based logs of a recording, with the time of every line; a line that tells nothing goes with the one before it.
fn lines(path: &Path) -> Vec<(Nanos, String)> {
    let formats = formats();
    let mut times: BTreeMap<u64, Nanos> = BTreeMap::new();
    intake::read(path, 0, &formats, &Limits::default(), Keep::default(), &mut |event| {
        if let Place::Line(line) = event.origin.place {
            let at = times.entry(line).or_insert(event.time.at);
            *at = event.time.at.max(*at);
        }
    });
    let text = text(path);
    let first = times.values().next().copied().unwrap_or_default();
    let mut last = first;
    let dated = |(at, line): (usize, &str)| {
        last = times.get(&(at as u64 + 1)).copied().unwrap_or(last);
        (last, format!("{line}\n"))
    };
    text.lines().enumerate().map(dated).collect()
}

fn recordings() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/logs/captures");
    let mut runs: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    // The whole collection, where it is named.
    let shared = std::env::var_os("UNBROKEN_SHARED").map(|shared| Path::new(&shared).join("captures"));
    for folder in shared.iter().filter_map(|folder| std::fs::read_dir(folder).ok()) {
        runs.extend(folder.map(|entry| entry.unwrap().path()));
    }
    runs.retain(|run| run.join("truth.json").is_file());
    runs.sort();
    runs
}

#[test]
fn a_recording_split_anywhere_gives_the_findings_of_the_whole() {
    let mut findings = 0;
    for recording in recordings() {
        let starts = ["nginx-access", "nginx-error", "haproxy-access", "caddy-", "client", "server-"];
        let mut logs: Vec<PathBuf> =
            std::fs::read_dir(&recording).unwrap().map(|e| e.unwrap().path()).collect();
        logs.retain(|log| {
            starts.iter().any(|start| log.file_name().unwrap().to_string_lossy().starts_with(start))
        });
        logs.sort();
        let dated: Vec<Vec<(Nanos, String)>> = logs.iter().map(|log| lines(log)).collect();
        let expected = whole(&logs, &options());
        findings += expected.len();
        let mut times: Vec<Nanos> = dated.iter().flatten().map(|(at, _)| *at).collect();
        times.sort_unstable();
        for cuts in [vec![times.len() / 2], vec![times.len() / 5, times.len() / 3, times.len() * 4 / 5]] {
            let folder = tempfile::tempdir().unwrap();
            let mut exports = Vec::new();
            for piece in 0..=cuts.len() {
                let from = if piece == 0 { Nanos::MIN } else { times[cuts[piece - 1]] };
                let to = cuts.get(piece).map_or(Nanos::MAX, |cut| times[*cut]);
                let mut files = Vec::new();
                for (log, lines) in dated.iter().enumerate() {
                    let some: String = lines
                        .iter()
                        .filter(|(at, _)| (from..to).contains(at))
                        .map(|(_, line)| line.as_str())
                        .collect();
                    if !some.is_empty() {
                        let path = folder.path().join(format!("{log}.{piece}.log"));
                        std::fs::write(&path, some).unwrap();
                        files.push(path);
                    }
                }
                exports.push(files);
            }
            assert_eq!(by_pieces(&exports, &options()).0, expected, "{} at {cuts:?}", recording.display());
        }
    }
    assert!(findings > 20, "only {findings} findings to lose");
}

#[test]
fn an_export_that_comes_again_or_overlaps_the_last_adds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (small, clients) in [(1, 40), (1, 2), (100_000, 7)] {
        let mut log = Vec::new();
        let written = traffic::write(1_000_000, clients, 17, &mut log).unwrap();
        let text = String::from_utf8(log).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let export = |name: String, lines: &[&str]| {
            let path = folder.path().join(name);
            std::fs::write(&path, lines.join("\n") + "\n").unwrap();
            vec![path]
        };
        let size = lines.len().div_ceil(4);
        let once: Vec<_> =
            lines.chunks(size).enumerate().map(|(at, some)| export(format!("once-{at}"), some)).collect();
        let options = Options { small, ..options() };
        let (expected, exchanges) = by_pieces(&once, &options);
        assert!(expected.len() > 5 && exchanges == written.lines, "{} {exchanges}", expected.len());
        let twice: Vec<_> = once.iter().flat_map(|files| [files.clone(), files.clone()]).collect();
        assert_eq!(by_pieces(&twice, &options), (expected.clone(), exchanges), "twice, {clients} clients");
        let overlapping: Vec<_> = (0..4)
            .map(|at| {
                let (from, to) = ((at * size).saturating_sub(size / 3), ((at + 1) * size).min(lines.len()));
                export(format!("overlapping-{at}"), &lines[from..to])
            })
            .collect();
        assert_eq!(
            by_pieces(&overlapping, &options),
            (expected, exchanges),
            "overlapping, {clients} clients"
        );
    }
}

#[test]
fn a_capture_cut_in_the_middle_of_its_exchanges_gives_the_findings_of_the_whole() {
    let mut findings = 0;
    for recording in recordings() {
        let capture = ["wire.jsonl", "wire.jsonl.gz"].map(|name| recording.join(name));
        let Some(capture) = capture.iter().find(|path| path.is_file()) else { continue };
        let expected = whole(std::slice::from_ref(capture), &options());
        findings += expected.len();
        let text = text(capture);
        let lines: Vec<&str> = text.lines().collect();
        let folder = tempfile::tempdir().unwrap();
        let pieces: Vec<PathBuf> = lines
            .chunks(lines.len().div_ceil(5))
            .enumerate()
            .map(|(at, some)| {
                let path = folder.path().join(format!("{at}.jsonl"));
                std::fs::write(&path, some.join("\n") + "\n").unwrap();
                path
            })
            .collect();
        assert_eq!(whole(&pieces, &options()), expected, "{} in one run", recording.display());
        let exports: Vec<Vec<PathBuf>> = pieces.into_iter().map(|piece| vec![piece]).collect();
        assert_eq!(by_pieces(&exports, &options()).0, expected, "{}", recording.display());
    }
    assert!(findings > 20 || std::env::var_os("UNBROKEN_SHARED").is_none(), "only {findings}");
}

#[test]
fn generated_traffic_by_the_hour_gives_the_findings_of_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = Vec::new();
    let written = traffic::write(3_000_000, 60, 11, &mut log).unwrap();
    let text = String::from_utf8(log).unwrap();
    let path = folder.path().join("whole.jsonl");
    std::fs::write(&path, &text).unwrap();
    let options = Options { small: 1, ..options() };
    let all =
        whole(std::slice::from_ref(&path), &Options { horizon: 2 * 3600 * 1_000_000_000, ..options.clone() });
    assert!(all.len() > 50, "{}", all.len());
    let lines: Vec<&str> = text.lines().collect();
    for pieces in [2, 3, 7] {
        let exports: Vec<Vec<PathBuf>> = lines
            .chunks(lines.len().div_ceil(pieces))
            .enumerate()
            .map(|(at, some)| {
                let path = folder.path().join(format!("{at}.jsonl"));
                std::fs::write(&path, some.join("\n") + "\n").unwrap();
                vec![path]
            })
            .collect();
        let (found, exchanges) = by_pieces(&exports, &options);
        let missing = all.iter().filter(|one| !found.contains(one)).count();
        let more = found.iter().filter(|one| !all.contains(one)).count();
        assert_eq!((missing, more, found.len()), (0, 0, all.len()), "in {pieces} pieces");
        assert_eq!(exchanges, written.lines, "every record is counted once");
    }
}

/// One client of one session that is never silent and has far more records than are judged at a time, with calls that were cut
/// and sent again, and such as went on beside each other under one id, at several instances.
fn busy(records: u64) -> String {
    let mut text = String::new();
    let mut line = |at: u64, length: u64, id: u64, amount: u64, end: &str, instance: u64| {
        let (second, milli) = (at / 1000 % 60, at % 1000);
        let (hour, minute) = (10 + at / 3_600_000, at / 60_000 % 60);
        let (events, content) = match end {
            "complete" => (format!(r#"[{{"id":null,"kind":"response","rpc_id":{id}}}]"#), "application/json"),
            _ => ("[]".to_owned(), "text/event-stream"),
        };
        text += &format!(
            r#"{{"ts":"2026-03-02T{hour:02}:{minute:02}:{second:02}.{milli:03}Z","remote_addr":"203.0.113.9","user_agent":"a/1","auth_sub":"one","method":"POST","path":"/mcp","status":200,"req_headers":{{"mcp-session-id":"one","last-event-id":null,"mcp-protocol-version":"2025-06-18"}},"resp_headers":{{"mcp-session-id":null,"content-type":"{content}"}},"request_body":"{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"pay\",\"arguments\":{{\"amount\":{amount}}}}}}}","response_events":{events},"duration_ms":{length}.0,"termination":"{end}","upstream":"10.0.0.{instance}:8080"}}"#
        );
        text.push('\n');
    };
    for n in 0..records {
        let at = n * 400;
        match n % 40 {
            0 => line(at, 300, n, n, "upstream_reset", 1),
            // Ids of two programs on one session need not differ, nor need their requests wait for each other.
            1 => line(at, 900, 1, n, "complete", 1),
            2 => line(at, 300, 1, n, "complete", 2),
            9 => line(at, 100, n, n - 9, "complete", 1),
            _ => line(at, 200, n, n, "complete", 1 + n % 3),
        }
    }
    text
}

#[test]
fn a_busy_client_is_judged_alike_wherever_its_log_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let text = busy(24_000);
    let path = folder.path().join("whole.jsonl");
    std::fs::write(&path, &text).unwrap();
    let (expected, exchanges) = by_pieces(&[vec![path.clone()]], &options());
    assert!(expected.len() > 500 && exchanges == 24_000, "{} {exchanges}", expected.len());
    assert_eq!(whole(&[path], &options()), expected);
    let lines: Vec<&str> = text.lines().collect();
    for cuts in [vec![8_000], vec![1, 8_191, 8_192, 16_385], vec![5_001, 12_002, 12_003, 20_041, 23_999]] {
        let ends = cuts.iter().copied().chain([lines.len()]);
        let mut from = 0;
        let exports: Vec<Vec<PathBuf>> = ends
            .map(|to| {
                let path = folder.path().join(format!("{from}-{to}.jsonl"));
                std::fs::write(&path, lines[from..to].join("\n") + "\n").unwrap();
                from = to;
                vec![path]
            })
            .collect();
        let (found, counted) = by_pieces(&exports, &options());
        let odd = |a: &[String], b: &[String]| a.iter().filter(|one| !b.contains(one)).count();
        assert_eq!((odd(&expected, &found), odd(&found, &expected), counted), (0, 0, exchanges), "{cuts:?}");
    }
}

/// One client that tries one call again and again, each time on a new session, a try every `step` seconds.
fn tries(count: u64, step: u64) -> String {
    let mut text = String::new();
    let mut line = |at: u64, sent: &str, opened: &str, body: &str, end: &str| {
        let (minute, second) = (at / 60, at % 60);
        text += &format!(
            r#"{{"ts":"2026-03-02T10:{minute:02}:{second:02}.000Z","remote_addr":"203.0.113.9","user_agent":"a/1","auth_sub":"one","method":"POST","path":"/mcp","status":200,"req_headers":{{"mcp-session-id":{sent},"last-event-id":null,"mcp-protocol-version":null}},"resp_headers":{{"mcp-session-id":{opened},"content-type":"text/event-stream"}},"request_body":"{body}","response_events":[],"duration_ms":10.0,"termination":"{end}","upstream":"10.0.0.1:8080"}}"#
        );
        text.push('\n');
    };
    for n in 0..count {
        let session = format!("\"s{n}\"");
        let opens = r#"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}"#;
        let call = r#"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"pay\",\"arguments\":{\"amount\":1}}}"#;
        line(n * step, "null", &session, opens, "complete");
        line(n * step + 2, &session, "null", call, "upstream_reset");
    }
    text
}

#[test]
fn one_loop_of_tries_is_one_finding_however_long_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    std::fs::write(&path, tries(40, 50)).unwrap();
    let dropped = |options: &Options| {
        let found = whole(std::slice::from_ref(&path), options);
        found.iter().filter(|one| one.contains("\"session-discarded\"")).count()
    };
    assert_eq!(dropped(&options()), 1, "judged at once");
    // The client is never silent for so long, so it is judged in stretches.
    let stretches = Options { small: 1, horizon: 120_000_000_000, disorder: 1_000_000_000, ..options() };
    assert_eq!(dropped(&stretches), 1, "judged in stretches");
}
