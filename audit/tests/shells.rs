//! The shells that stores, shippers and runtimes put around a log: the same records come out of each.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::io::{Cursor, Write};
use std::path::Path;
use unbroken_audit::source::{Limits, Source};

const AT: &str = "2026-08-14T09:01:05.020Z";

/// Base64 with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let joined = three.iter().fold(0_u32, |bits, b| bits << 8 | u32::from(*b));
        let bits = joined << (8 * (3 - three.len()));
        for at in 0..4 {
            let digit = char::from(DIGITS[(bits >> (18 - 6 * at) & 63) as usize]);
            out.push(if at > three.len() { '=' } else { digit });
        }
    }
    out
}

fn lines() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/logs/samples/nginx_json.jsonl");
    std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

fn read_by(bytes: Vec<u8>, chunk: usize) -> (Vec<String>, usize) {
    let limits = Limits { chunk, ..Limits::default() };
    let mut source = Source::of_reader(Box::new(Cursor::new(bytes)), "x", 0, &limits).unwrap();
    let mut records = Vec::new();
    while let Some(batch) = source.next_batch() {
        records.extend(batch.records().map(|r| String::from_utf8(r.bytes.to_vec()).unwrap()));
    }
    (records, source.take_problems().len())
}

fn holds(name: &str, bytes: impl Into<Vec<u8>>) {
    let bytes = bytes.into();
    let same = |one: &String| serde_json::from_str::<Value>(one).unwrap_or_default();
    let plain: Vec<Value> = lines().iter().map(same).collect();
    for chunk in [7, 1 << 20] {
        let (records, problems) = read_by(bytes.clone(), chunk);
        let records: Vec<Value> = records.iter().map(same).collect();
        assert!(records == plain, "{name} by {chunk}: {} records", records.len());
        assert_eq!(problems, 0, "{name} by {chunk}");
    }
}

fn each(shell: impl Fn(usize, &str) -> String) -> String {
    lines().iter().enumerate().map(|(at, line)| shell(at, line) + "\n").collect()
}

fn all(shell: impl Fn(usize, &str) -> Value) -> Vec<Value> {
    lines().iter().enumerate().map(|(at, line)| shell(at, line)).collect()
}

#[test]
fn the_journal_exports_its_entries() {
    let entry = |at: usize, line: &str| {
        let head =
            format!("__CURSOR=s=1;i={at}\n__REALTIME_TIMESTAMP=1786698065020000\nPRIORITY=6\n_HOSTNAME=h\n");
        let mut out = head.into_bytes();
        // A message with a control character, or a long one, is written with its length before it.
        if at.is_multiple_of(2) {
            out.extend_from_slice(b"MESSAGE\n");
            out.extend_from_slice(&(line.len() as u64).to_le_bytes());
            out.extend_from_slice(line.as_bytes());
        } else {
            out.extend_from_slice(format!("MESSAGE={line}").as_bytes());
        }
        out.extend_from_slice(b"\n_PID=7\n\n");
        out
    };
    let whole: Vec<u8> = lines().iter().enumerate().flat_map(|(at, line)| entry(at, line)).collect();
    holds("whole", whole.clone());
    holds("without its last blank line", whole[..whole.len() - 1].to_vec());
    let mut middle = b"_COMM=nginx\n_EXE=/usr/sbin/nginx\n\n".to_vec();
    middle.extend_from_slice(&whole);
    holds("from the middle of an entry on", middle);
    let mut wrong =
        b"__REALTIME_TIMESTAMP=1786698065020000\nMESSAGE\n\xff\xff\xff\xff\xff\xff\xff\xff\n\n".to_vec();
    wrong.extend_from_slice(&whole);
    assert!(read_by(wrong, 1 << 20).0.len() >= lines().len(), "a length that cannot be");
}

#[test]
fn datadogs_first_api_is_read_as_its_second() {
    let event = |at: usize, line: &str| json!({"id": format!("A{at}"), "content": {"timestamp": AT, "host": "h", "tags": ["x"], "message": line, "attributes": {}}});
    let page = json!({"logs": all(event), "nextLogId": null, "status": "done"});
    holds("a page", serde_json::to_string_pretty(&page).unwrap());
    holds("a page in one line", page.to_string());
    holds("pages", each(|at, line| json!({"logs": [event(at, line)], "nextLogId": "x"}).to_string()));
    let parsed = |at: usize, line: &str| json!({"id": format!("A{at}"), "content": {"timestamp": AT, "attributes": serde_json::from_str::<Value>(line).unwrap()}});
    holds("parsed", json!({"logs": all(parsed)}).to_string());
}

#[test]
fn what_ends_an_export_is_no_record() {
    let rows = each(|at, line| {
        json!({"preview": false, "offset": at, "result": {"_raw": line, "_time": AT}}).to_string()
    });
    holds("splunk", rows + "{\"preview\":false,\"lastrow\":true}\n");
}

#[test]
fn answers_to_many_searches_hold_the_hits_of_each() {
    let hit = |at: usize, line: &str| {
        let hit =
            json!({"_index": "a", "_id": format!("i{at}"), "_source": {"@timestamp": AT, "message": line}});
        json!({"took": 1, "hits": {"hits": [hit]}})
    };
    holds("msearch", json!({"took": 1, "responses": all(hit)}).to_string());
}

#[test]
fn the_name_of_what_wrote_a_line_may_stand_before_it() {
    holds("compose", each(|_, line| format!("nginx-1  | {line}")));
    holds("pm2", each(|_, line| format!("0|nginx  | {line}")));
    holds("kubectl", each(|_, line| format!("[pod/nginx-5d/nginx] {line}")));
    holds("compose with times", each(|_, line| format!("nginx-1  | {AT} {line}")));
    let said = "worker said: | {\"a\":1}\n[note] {\"a\":1}\n".repeat(4);
    let kept: Vec<String> = said.lines().map(str::to_owned).collect();
    assert_eq!(read_by(said.into_bytes(), 1 << 20).0, kept, "no name");
}

#[test]
fn a_batch_may_stand_on_each_line() {
    holds("records", each(|_, line| format!("{{\"records\":[{line}]}}")));
    let packed = each(|at, line| {
        let batch = json!({"messageType": "DATA_MESSAGE", "logStream": "s",
            "logEvents": [{"id": at.to_string(), "timestamp": 1_786_698_065_020_i64, "message": line}]});
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(batch.to_string().as_bytes()).unwrap();
        base64(&gz.finish().unwrap())
    });
    holds("subscription, packed", packed);
}

fn text_lines(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/logs/formats").join(name);
    std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

/// Shippers put a line of text where they put one of JSON.
#[test]
fn a_line_of_text_comes_out_of_its_shell_too() {
    type Shell = (&'static str, fn(&str) -> String);
    let shells: [Shell; 8] = [
        ("filebeat", |line| {
            json!({"@timestamp": AT, "message": line, "agent": {"type": "filebeat"}, "host": {"name": "h"}})
                .to_string()
        }),
        ("elasticsearch", |line| {
            json!({"_index": "a", "_id": line, "_source": {"@timestamp": AT, "message": line}}).to_string()
        }),
        ("splunk's collector", |line| {
            json!({"time": 1_786_698_065.5, "sourcetype": "access", "event": line}).to_string()
        }),
        ("otlp", |line| {
            let record = json!({"observedTimeUnixNano": "1786698065000000000", "body": {"stringValue": line},
                "attributes": [{"key": "log.file.name", "value": {"stringValue": "access.log"}}]});
            json!({"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}).to_string()
        }),
        ("syslog", |line| format!("Aug 14 09:01:05 host app[12]: {line}")),
        ("kubectl", |line| format!("[pod/app-5d/app] {line}")),
        ("compose", |line| format!("app-1  | {line}")),
        ("a time", |line| format!("{AT} {line}")),
    ];
    for name in
        ["nginx_text.log", "istio_text.log", "aws_alb.log", "agentgateway_text.log", "traefik_clf.log"]
    {
        let plain = text_lines(name);
        for (shell, put) in shells {
            let shut: String = plain.iter().map(|line| put(line) + "\n").collect();
            let (records, problems) = read_by(shut.into_bytes(), 1 << 20);
            assert!(records == plain, "{name} in {shell}: {:?}", records.first());
            assert_eq!(problems, 0, "{name} in {shell}");
        }
    }
    let own = "2026-08-14T09:00:05.250Z 10.0.0.9 GET /mcp 200 60.001 sid=5f1c2b7e\n".repeat(4);
    let kept: Vec<String> = own.lines().map(str::to_owned).collect();
    assert_eq!(read_by(own.into_bytes(), 1 << 20).0, kept, "the time is the line's own");
    // A program's own record is none that was shipped, whatever its message begins with.
    for own in [
        json!({"@timestamp": AT, "message": "2026-08-14 went well, all of it", "level": "INFO"}),
        json!({"@timestamp": AT, "message": "2026-08-14 went well, all of it", "log.level": "INFO", "log.logger": "a.b"}),
        json!({"@timestamp": AT, "message": {"jsonrpc": "2.0", "id": 1, "method": "ping"}, "event": "x", "time": AT}),
        json!({"@timestamp": AT, "message": "server started and listens", "host": {"name": "h"}}),
    ] {
        let text = format!("{own}\n{own}\n");
        let kept = own.to_string();
        assert_eq!(read_by(text.into_bytes(), 1 << 20).0, [kept.clone(), kept]);
    }
}

/// A batch in a shell with an id: each of its records is delivered once.
#[test]
fn records_of_one_delivery_are_not_copies_of_each_other() {
    let span = |id: u8| json!({"traceId": "a", "spanId": id.to_string(), "name": "x"});
    let batch = json!({"resourceSpans": [{"scopeSpans": [{"spans": [span(1), span(2)]}]}]}).to_string();
    let entry = |id: &str, at: &str| {
        json!({"__CURSOR": id, "__REALTIME_TIMESTAMP": at, "MESSAGE": batch}).to_string()
    };
    let text = format!("{}\n{}\n", entry("c1", "1786698065020000"), entry("c1", "1786698065020000"));
    let mut source = Source::of_reader(Box::new(Cursor::new(text)), "x", 0, &Limits::default()).unwrap();
    let mut ids = Vec::new();
    while let Some(batch) = source.next_batch() {
        ids.extend(batch.records().map(|r| r.shipped.id.as_deref().map(str::to_owned)));
    }
    let id = |text: &str| Some(text.to_owned());
    assert_eq!(ids, [id("c1#0"), id("c1#1"), id("c1#0"), id("c1#1")], "and twice is a copy still");
}
