//! What is reported of a recording is what its truth speaks of, and every place that is named exists.

use super::command::{View, findings};
use super::pass::{Told, hold_all, hold_shipped};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::Path;

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

/// A run ends well; every place exists; nothing is reported that the truth does not speak of.
pub(crate) fn stands(run: &Path, told: &Told) {
    let text = fs::read_to_string(run.join("truth.json")).expect("every run has its truth");
    let truth: Value = serde_json::from_str(&text).expect("the truth is JSON");
    let spoken: BTreeSet<&str> = ["must_report", "may_report"]
        .iter()
        .flat_map(|list| truth["findings"][list].as_array().expect("a list"))
        .filter_map(|item| KINDS.iter().find(|(kind, _)| item["finding"] == *kind).map(|(_, breach)| *breach))
        .collect();
    let killed = truth["injected"].to_string().contains("client process killed");
    let most = most_sends(&truth);
    let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
    let what = format!("{:?}", told.view);
    assert!(told.code == 0 || told.code == 1, "{what}: exit {}: {}", told.code, told.text("standard error"));
    for finding in findings(told.text("json")) {
        let mut found = Vec::new();
        places(&finding, &mut found);
        for place in found.iter().filter(|place| !place["path"].is_null()) {
            let path = place["path"].as_str().expect("text");
            let given = told.files.iter().find(|file| file.display().to_string() == path);
            let given = given.unwrap_or_else(|| panic!("{what}: {path} was not given"));
            let most = *sizes.entry(path.to_owned()).or_insert_with(|| lines_or_entries(given));
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
        let alike = told.view == View::Wire && killed && breach == "session-discarded";
        if KINDS.iter().any(|(_, judged)| *judged == breach) && !alike {
            assert!(spoken.contains(breach), "{what}: {breach} is reported, the truth speaks of {spoken:?}");
        }
    }
}

#[test]
fn shipped_recordings_are_reported_as_their_truth_has_it() {
    hold_shipped("truth");
}

#[test]
fn all_recordings_are_reported_as_their_truth_has_it() {
    hold_all("truth");
}
