//! The shipped recordings, and all of them where they are: what is reported, and that every proof stands where it says.

mod command;

use command::{View, all_recordings, audit, command, each, findings, ran, root, shipped};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What the truth of a recording calls a breach.
const KINDS: [(&str, &str); 9] = [
    ("duplicate-call-after-interruption", "duplicate-invocation"),
    ("proxy-retried-call", "call-retried-by-proxy"),
    ("call-without-response", "response-undelivered"),
    ("session-discarded-without-404", "session-discarded"),
    ("session-used-after-404", "expired-session-kept"),
    ("no-new-session-after-404", "expired-session-kept"),
    ("reconnect-without-cursor", "resume-without-cursor"),
    ("session-on-wrong-instance", "session-misrouted"),
    ("event-id-reused", "event-id-reused"),
];

#[test]
fn every_shipped_recording_tells_what_it_told_before() {
    let mut told = String::new();
    for run in shipped() {
        let _ = writeln!(told, "{}", run.file_name().and_then(|name| name.to_str()).expect("a plain name"));
        for view in View::EACH {
            let out = audit("json", &view.files(&run), &[]);
            let mut counts: BTreeMap<String, u64> = BTreeMap::new();
            for finding in findings(&out.out) {
                let word = |key: &str| finding[key].as_str().expect("text").to_owned();
                let sends = finding["sends"]
                    .as_array()
                    .map_or_else(String::new, |sends| format!(", {} sends", sends.len()));
                *counts
                    .entry(format!("{} {} {}{sends}", word("level"), word("breach"), word("certainty")))
                    .or_default() += 1;
            }
            let list: Vec<String> =
                counts.into_iter().map(|(what, count)| format!("{count} x {what}")).collect();
            let _ = writeln!(
                told,
                "  {:<5} exit {}  {}",
                format!("{view:?}").to_lowercase(),
                out.code,
                list.join("; ")
            );
        }
    }
    insta::assert_snapshot!(told);
}

/// The README's command: what a newcomer sees first.
#[test]
fn the_first_audit_of_the_readme() {
    let run = "fixtures/logs/captures/s02_idle_cut__naive-no-cursor__ts1";
    let readme = fs::read_to_string(root().join("README.md")).expect("there is a README");
    assert!(
        readme.contains(&format!("cargo run --release -- audit {run}/*.jsonl*")),
        "the README runs another command"
    );
    let entries =
        root().join(run).read_dir().expect("it is shipped").map(|entry| entry.expect("an entry").file_name());
    let names =
        entries.map(|name| name.into_string().expect("a plain name")).filter(|name| name.contains(".jsonl"));
    let files = names.map(|name| format!("{run}/{name}"));
    let shown = ran(command().arg("audit").args(files).output().expect("the binary was built for this test"));
    assert_eq!(shown.code, 1, "{}", shown.err);
    for line in excerpt(&readme, "deny[duplicate-invocation]").lines() {
        assert!(
            shown.out.contains(line.trim_end()),
            "the README shows a line that is not printed: {line:?}\n{}",
            shown.out
        );
    }
    insta::assert_snapshot!(shown.out);
}

#[test]
fn the_first_lint_of_the_readme() {
    let readme = fs::read_to_string(root().join("README.md")).expect("there is a README");
    assert!(
        readme.contains("cargo run --release -- lint fixtures/clients/naive"),
        "the README runs another command"
    );
    let shown = ran(command()
        .args(["lint", "fixtures/clients/naive"])
        .output()
        .expect("the binary was built for this test"));
    assert_eq!(shown.code, 1, "{}", shown.err);
    for line in excerpt(&readme, "deny[session-discarded]").lines() {
        assert!(
            shown.out.contains(line.trim_end()),
            "the README shows a line that is not printed: {line:?}\n{}",
            shown.out
        );
    }
}

/// The fenced block of the README that begins with these words.
fn excerpt<'a>(readme: &'a str, begins: &str) -> &'a str {
    let block = readme.split("```\n").find(|block| block.starts_with(begins));
    block.unwrap_or_else(|| panic!("the README shows no output that begins with {begins:?}"))
}

fn lines_or_entries(path: &Path) -> u64 {
    let bytes = fs::read(path).expect("a recorded log can be read");
    let mut text = String::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        flate2::read::MultiGzDecoder::new(bytes.as_slice())
            .read_to_string(&mut text)
            .expect("a recorded log is whole");
    } else {
        text = String::from_utf8(bytes).expect("a recorded log is UTF-8");
    }
    let count = match serde_json::from_str::<Value>(&text) {
        Ok(document) if document.get("log").is_some() => {
            document["log"]["entries"].as_array().map_or(0, Vec::len)
        }
        _ => text.lines().count(),
    };
    u64::try_from(count).expect("a recorded log is small")
}

fn places<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| places(item, found)),
        Value::Object(fields) => {
            if fields.contains_key("path") {
                found.push(value);
            }
            fields.values().for_each(|item| places(item, found));
        }
        _ => {}
    }
}

/// The most requests that the truth has for one call.
fn most_sends(truth: &Value) -> usize {
    let calls = truth["logical_calls"].as_array().expect("a list");
    calls.iter().filter_map(|call| call["posts"].as_array()).map(Vec::len).max().unwrap_or(0)
}

/// Every run ends well; every place exists; nothing is reported that the truth does not speak of.
fn stand(runs: &[PathBuf]) {
    each(runs, |run| {
        let text = fs::read_to_string(run.join("truth.json")).expect("every run has its truth");
        let truth: Value = serde_json::from_str(&text).expect("the truth is JSON");
        let spoken: BTreeSet<&str> = ["must_report", "may_report"]
            .iter()
            .flat_map(|list| truth["findings"][list].as_array().expect("a list"))
            .filter_map(|item| {
                KINDS.iter().find(|(kind, _)| item["finding"] == *kind).map(|(_, breach)| *breach)
            })
            .collect();
        let killed = truth["injected"].to_string().contains("client process killed");
        let most = most_sends(&truth);
        for view in View::JUDGED {
            let files = view.files(run);
            let sizes: BTreeMap<String, u64> =
                files.iter().map(|file| (file.display().to_string(), lines_or_entries(file))).collect();
            let out = audit("json", &files, &[]);
            let what = format!("{} {view:?}", run.display());
            assert!(out.code == 0 || out.code == 1, "{what}: exit {}: {}{}", out.code, out.out, out.err);
            for finding in findings(&out.out) {
                let mut found = Vec::new();
                places(&finding, &mut found);
                for place in found.iter().filter(|place| !place["path"].is_null()) {
                    let path = place["path"].as_str().expect("text");
                    let most = *sizes.get(path).unwrap_or_else(|| panic!("{what}: {path} was not given"));
                    let at = place["line"]
                        .as_u64()
                        .or(place["entry"].as_u64())
                        .unwrap_or_else(|| panic!("{what}: {place} is nowhere"));
                    assert!((1..=most).contains(&at), "{what}: {path} has no {at}");
                }
                let breach = finding["breach"].as_str().expect("text");
                if breach == "duplicate-invocation" {
                    let sends = finding["sends"].as_array().map_or(0, Vec::len);
                    assert!(sends <= most, "{what}: {sends} sends of a call, the truth has at most {most}");
                }
                // From the wire alone, a client that died looks like one that dropped its session.
                let alike = view == View::Wire && killed && breach == "session-discarded";
                if KINDS.iter().any(|(_, judged)| *judged == breach) && !alike {
                    assert!(
                        spoken.contains(breach),
                        "{what}: {breach} is reported, the truth speaks of {spoken:?}"
                    );
                }
            }
        }
    });
}

#[test]
fn shipped_recordings_are_reported_as_their_truth_has_it() {
    stand(&shipped());
}

#[test]
fn all_recordings_are_reported_as_their_truth_has_it() {
    if let Some(runs) = all_recordings() {
        stand(&runs);
    }
}
