//! Ordinary records that no judgement looks at change nothing: findings and counts are those of a run that looks at all.
//! Knows generated traffic, the recordings that the project ships, and whatever `UNBROKEN_LOGS` names, apart by colons.

mod known;
#[path = "../benches/traffic/mod.rs"]
mod traffic;

use known::options;
use std::io::Write;
use std::path::{Path, PathBuf};
use unbroken_audit::run::{Options, Summary, run};

fn findings(files: &[PathBuf], options: &Options) -> (Vec<String>, Summary) {
    let mut found = Vec::new();
    let summary = run(files, options, &mut |finding| {
        found.push(serde_json::to_string(&finding).expect("findings are data"));
    });
    (found, summary)
}

/// The breach of a finding, the lines that it rests on, and what else may differ.
fn brief(finding: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(finding).expect("findings are data");
    let steps = value["proof"].as_array().into_iter().flatten();
    let lines: Vec<String> = steps.map(|step| step["exhibit"]["place"]["Line"].to_string()).collect();
    format!("{} {} {} {}", value["breach"], lines.join(" "), value["client"], value["certainty"])
}

/// Holds two runs to be the same but for what they cost.
fn hold(name: &str, one: &(Vec<String>, Summary), other: &(Vec<String>, Summary)) {
    let without = |all: &[String], some: &[String]| -> Vec<String> {
        all.iter().filter(|finding| !some.contains(finding)).take(12).map(|finding| brief(finding)).collect()
    };
    let (missing, more) = (without(&one.0, &other.0), without(&other.0, &one.0));
    assert!(missing.is_empty() && more.is_empty(), "{name}: missing {missing:#?}\nmore {more:#?}");
    assert_eq!(one.0, other.0, "{name}: the order");
    let bare = |summary: &Summary| Summary { spilled: 0, ..summary.clone() };
    assert_eq!(bare(&one.1), bare(&other.1), "{name}");
}

fn alike(name: &str, files: &[PathBuf], options: &Options) -> Summary {
    let full = findings(files, &Options { every_record: true, ..options.clone() });
    let thin = findings(files, options);
    hold(name, &full, &thin);
    thin.1
}

/// A log of generated traffic, and what is known of it.
fn generated(bytes: u64, clients: u64, seed: u64, path: &Path) -> traffic::Written {
    let mut log = Vec::new();
    let written = traffic::write(bytes, clients, seed, &mut log).expect("memory takes what is written");
    std::fs::write(path, &log).expect("a disk with room");
    written
}

#[test]
fn generated_traffic_is_judged_alike() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("log.jsonl");
    for (clients, seed) in [(200, 3), (3, 4), (1, 5)] {
        let written = generated(2_000_000, clients, seed, &path);
        let summary = alike("generated", std::slice::from_ref(&path), &Options { small: 1, ..options() });
        assert_eq!(summary.exchanges, written.lines);
    }
}

/// Traffic of several clients as if it were one's, with what seldom happens: cuts, refusals, streams, notifications, sessions
/// that are ended, two programs.
fn odd(text: &str, seed: u64) -> String {
    let mut state = seed;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let mut out = String::new();
    for line in text.lines() {
        let mut value: serde_json::Value = serde_json::from_str(line).expect("the log is JSON lines");
        for (key, one) in [("subject", "user"), ("user_agent", "agent"), ("remote_addr", "203.0.113.9")] {
            value[key] = one.into();
        }
        let opens = value["session_in"].is_null();
        let bare = |value: &mut serde_json::Value, method: &str| {
            value["method"] = method.into();
            value["request"] = serde_json::Value::Null;
            value["events"] = serde_json::Value::Array(Vec::new());
        };
        match below(1000) {
            ..15 => value["cause"] = "client_abort".into(),
            15..30 => value["cause"] = "upstream_abort".into(),
            30..32 => value["status"] = [404, 502, 409, 429][below(4) as usize].into(),
            32 if !opens => value["method"] = "DELETE".into(),
            33..38 if !opens => bare(&mut value, "DELETE"),
            38..58 if !opens => bare(&mut value, "GET"),
            58..78 if !opens => {
                bare(&mut value, "GET");
                value["cause"] =
                    ["client_abort", "upstream_abort", "upstream_idle_timeout"][below(3) as usize].into();
            }
            78..88 if !opens => value["events"] = serde_json::Value::Array(Vec::new()),
            88..250 if !opens => {
                bare(&mut value, "POST");
                value["request"] = r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#.into();
                value["status"] = 202.into();
            }
            250..500 if opens => {
                let request = value["request"].as_str().unwrap_or_default();
                value["request"] = request.replace("\"agent\"", "\"other\"").into();
            }
            _ => {}
        }
        out.push_str(&value.to_string());
        out.push('\n');
    }
    out
}

#[test]
fn odd_traffic_is_judged_alike() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("log.jsonl");
    for seed in 1..=24 {
        let clients = 1 + seed % 4;
        generated(500_000, clients, seed, &path);
        let text = std::fs::read_to_string(&path).expect("it was written");
        std::fs::write(&path, odd(&text, seed)).expect("a disk with room");
        let name = format!("odd {seed}");
        alike(&name, std::slice::from_ref(&path), &Options { small: 1, ..options() });
    }
}

#[test]
fn sessions_with_ids_of_any_length_are_judged_alike() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("log.jsonl");
    generated(300_000, 3, 4, &path);
    let text = std::fs::read_to_string(&path).expect("it was written");
    let long = text.replace("\"session_in\":\"", &format!("\"session_in\":\"{}", "x".repeat(9_000)));
    let long = long.replace("\"session_out\":\"", &format!("\"session_out\":\"{}", "x".repeat(9_000)));
    let options = Options { small: 1, ..options() };
    let of_short = findings(std::slice::from_ref(&path), &options);
    std::fs::write(&path, long).expect("a disk with room");
    let of_long = findings(std::slice::from_ref(&path), &options);
    let counts = |summary: &Summary| (summary.exchanges, summary.calls, summary.sessions, summary.reconnects);
    assert_eq!(counts(&of_short.1), counts(&of_long.1));
    assert!(!of_short.0.is_empty() && of_short.0.len() == of_long.0.len());
    alike("long ids", std::slice::from_ref(&path), &options);
}

#[test]
fn a_busy_client_is_cut_alike_whether_its_log_can_be_read_again_or_not() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("log.jsonl");
    let written = generated(18_000_000, 1, 7, &path);
    assert!(written.lines > 18_000, "{} lines are no busy client", written.lines);
    let packed = folder.path().join("log.jsonl.gz");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&std::fs::read(&path).expect("it was written")).expect("memory takes what is written");
    std::fs::write(&packed, gzip.finish().expect("memory takes what is written")).expect("a disk with room");
    // Never silent for so long: only its size cuts it.
    let options = Options { small: 1, horizon: 1_000_000_000_000_000_000, ..options() };
    let (plain, unpacked) = (findings(&[path], &options), findings(&[packed], &options));
    assert!(plain.1.judged_early > 0, "the client was to be judged in parts");
    assert_eq!(plain.1.judged_early, unpacked.1.judged_early);
    let told = |found: &[String]| found.iter().map(|finding| brief(finding)).collect::<Vec<_>>();
    assert_eq!(told(&plain.0), told(&unpacked.0));
}

/// A session of many calls: when the nth one was sent, in nanoseconds behind the first.
fn one_session(calls: i64, sent: impl Fn(i64) -> i64, path: &Path) {
    let line = |n: i64| {
        let at = 1_772_445_600_000_000_000 + sent(n);
        format!(
            r#"{{"unbroken":1,"start":"{at}","end":"{at}","remote_addr":"203.0.113.7","method":"POST","path":"/mcp","status":200,"session_in":"0000000000000005","protocol_version":"2025-11-25","content_type":"text/event-stream","request":"{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"tools/call\",\"params\":{{\"name\":\"pay\",\"arguments\":{{\"order\":{n}}}}}}}","events":[{{"data":"{{\"jsonrpc\":\"2.0\",\"id\":{n},\"result\":{{\"content\":[]}}}}"}}],"cause":"complete"}}"#
        ) + "\n"
    };
    std::fs::write(path, (0..calls).map(line).collect::<String>()).expect("a disk with room");
}

#[test]
fn a_session_is_counted_once_however_often_it_is_judged_and_the_reason_is_told() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("log.jsonl");
    let hour = 3_600_000_000_000;
    type Sent = fn(i64) -> i64;
    let steady: Sent = |n| n * 1_000_000;
    let at_once: Sent = |_| 0;
    let with_a_pause: Sent = |n| n * 1_000_000 + if n < 1_000 { 0 } else { 3 * 3_600_000_000_000 };
    for (name, calls, sent, horizon, told) in [
        ("steady", 20_000, steady, hour, "in parts, 1 times"),
        ("at once", 17_000, at_once, hour, "in parts, 1 times"),
        ("with a pause", 4_000, with_a_pause, hour, "3600 s after their last event"),
    ] {
        one_session(calls, sent, &path);
        for every_record in [false, true] {
            let options = Options { small: 1, horizon, every_record, ..options() };
            let (_, summary) = findings(std::slice::from_ref(&path), &options);
            assert_eq!((summary.sessions, summary.calls), (1, calls as u64), "{name}");
            assert_eq!(summary.charts.sessions.iter().map(|(_, count)| count).sum::<u64>(), 1, "{name}");
            let problems: Vec<_> = summary.problems.iter().map(|problem| problem.message.as_str()).collect();
            assert!(problems.len() == 1 && problems[0].contains(told), "{name}: {problems:?}");
        }
    }
}

#[test]
fn neither_memory_nor_threads_nor_chunks_change_a_finding() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("log.jsonl");
    generated(4_000_000, 40, 6, &path);
    let files = [path];
    let plain = Options { small: 1, threads: 1, ..options() };
    let first = findings(&files, &plain);
    let tight = findings(&files, &Options { memory: 1 << 20, threads: 2, ..plain.clone() });
    assert!(tight.1.spilled > 0, "the log was to be larger than the memory: {:?}", tight.1);
    hold("memory", &first, &tight);
    let chunks = findings(&files, &Options { chunk: 10_000, ..plain });
    hold("chunks", &first, &chunks);
}

#[test]
fn recordings_and_given_logs_are_judged_alike() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/logs/captures");
    let mut runs: Vec<PathBuf> = entries(&root);
    runs.extend(
        std::env::var_os("UNBROKEN_SHARED")
            .iter()
            .flat_map(|shared| entries(&Path::new(shared).join("captures"))),
    );
    assert!(!runs.is_empty(), "no recording was found");
    for recording in runs.iter().filter(|path| path.is_dir()) {
        let files: Vec<PathBuf> = entries(recording).into_iter().filter(|path| path.is_file()).collect();
        alike(&recording.display().to_string(), &files, &Options { small: 1, ..options() });
    }
    for file in std::env::var_os("UNBROKEN_LOGS").iter().flat_map(std::env::split_paths) {
        alike(&file.display().to_string(), &[file], &options());
    }
}

fn entries(of: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(of).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut entries: Vec<PathBuf> = entries.collect();
    entries.sort();
    entries
}
