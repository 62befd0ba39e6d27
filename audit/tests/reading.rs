//! Files as records: the same records whatever the chunks, the rest read whatever is broken.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use proptest::prelude::*;
use std::io::{Cursor, Read, Write};
use std::path::PathBuf;
use unbroken_audit::event::Place;
use unbroken_audit::run::Problem;
use unbroken_audit::source::{Limits, Source};

type Records = Vec<(Place, u64, String)>;

fn limits(max_record: usize, chunk: usize) -> Limits {
    Limits { max_record, chunk }
}

fn drain(mut source: Source) -> (Records, Vec<Problem>, Vec<&'static str>) {
    let mut records = Vec::new();
    while let Some(batch) = source.next_batch() {
        for r in batch.records() {
            records.push((r.origin.place, r.origin.offset, String::from_utf8(r.bytes.to_vec()).unwrap()));
        }
    }
    (records, source.take_problems(), source.layers())
}

fn read(bytes: Vec<u8>, limits: Limits) -> (Records, Vec<Problem>, Vec<&'static str>) {
    match Source::of_reader(Box::new(Cursor::new(bytes)), "x.log", 0, &limits) {
        Ok(source) => drain(source),
        Err(refusal) => (Vec::new(), vec![refusal.problem], Vec::new()),
    }
}

fn texts(records: &Records) -> Vec<&str> {
    records.iter().map(|r| r.2.as_str()).collect()
}

fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("UNBROKEN_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared"), PathBuf::from)
        .join(path);
    if !root.exists() {
        println!("skipped: the shared material is not here");
    }
    root.exists().then_some(root)
}

#[test]
fn every_wrapper_holds_the_plain_log() {
    let Some(samples) = shared("logs/samples") else { return };
    let open = |name: &str| drain(Source::open(&samples.join(name), 0, &Limits::default()).unwrap());
    let (plain, problems, _) = open("nginx_json.jsonl");
    assert!(problems.is_empty() && plain.len() > 10);
    let mut seen = 0;
    for entry in std::fs::read_dir(&samples).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.starts_with("wrap_") || name.starts_with("nginx_json.jsonl.") {
            let (records, problems, layers) = open(&name);
            assert!(problems.is_empty(), "{name}: {problems:?}");
            assert!(!layers.is_empty(), "{name}");
            assert_eq!(texts(&records), texts(&plain), "{name}");
            seen += 1;
        }
    }
    assert!(seen >= 10, "only {seen} wrapped samples");
}

#[test]
fn chunks_do_not_change_the_samples() {
    let Some(samples) = shared("logs/samples") else { return };
    for entry in std::fs::read_dir(&samples).unwrap() {
        let path = entry.unwrap().path();
        let whole = drain(Source::open(&path, 0, &Limits::default()).unwrap());
        for chunk in [1, 7, 4096] {
            let bytes = std::fs::read(&path).unwrap();
            assert_eq!(read(bytes, limits(1 << 20, chunk)).0, whole.0, "{} by {chunk}", path.display());
        }
    }
}

#[test]
fn a_document_is_cut_into_its_entries() {
    let doc = br#"{"log":{"version":"1.2","creator":{"name":"m","entries":[1]},"pages":[{"a":1}],"entries":[{"a":"]}"},{"b":[{}]}, {"c":"\"{"}]}}"#;
    let (records, problems, _) = read(doc.to_vec(), limits(1000, 3));
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(texts(&records), [r#"{"a":"]}"}"#, r#"{"b":[{}]}"#, r#"{"c":"\"{"}"#]);
    assert_eq!(records[2].0, Place::Entry(3));
    assert_eq!(&doc[records[1].1 as usize..][..10], br#"{"b":[{}]}"#);
}

#[test]
fn a_record_that_is_too_long_is_named_and_the_rest_is_read() {
    let long = "y".repeat(100_000);
    let lines = format!("a\n{long}\nb\n");
    for chunk in [10, 1000, 1_000_000] {
        let (records, problems, _) = read(lines.clone().into_bytes(), limits(50_000, chunk));
        assert_eq!(texts(&records), ["a", "b"]);
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].place, Some(Place::Line(2)));
        assert!(problems[0].lost);
    }
    let doc = format!(r#"[{{"a":1}},{{"x":"{long}"}},{{"b":2}}]"#);
    for chunk in [10, 1_000_000] {
        let (records, problems, _) = read(doc.clone().into_bytes(), limits(50_000, chunk));
        assert_eq!(texts(&records), [r#"{"a":1}"#, r#"{"b":2}"#]);
        assert_eq!(problems[0].place, Some(Place::Entry(2)));
    }
}

#[test]
fn a_truncated_gzip_gives_what_was_read() {
    let lines: String =
        (0..20_000).map(|i| format!("{{\"n\":{i},\"x\":\"{:x}\"}}\n", i * 7919 % 65_537)).collect();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(lines.as_bytes()).unwrap();
    let mut packed = gz.finish().unwrap();
    packed.truncate(packed.len() / 2);
    let (records, problems, _) = read(packed, Limits::default());
    assert!(records.len() > 5000, "{}", records.len());
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(
        problems[0].message.contains("cut off") && problems[0].lost && problems[0].place.is_some(),
        "{problems:?}"
    );
}

#[test]
fn packed_twice_and_in_several_members_is_unpacked() {
    let pack = |bytes: &[u8]| {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(bytes).unwrap();
        gz.finish().unwrap()
    };
    let members = [pack(b"{\"a\":1}\n"), pack(b"{\"b\":2}\n")].concat();
    let frames =
        [zstd::encode_all(&members[..10], 1).unwrap(), zstd::encode_all(&members[10..], 1).unwrap()].concat();
    let (records, problems, layers) = read(frames, Limits::default());
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(texts(&records), ["{\"a\":1}", "{\"b\":2}"]);
    assert_eq!(layers, ["zstd", "gzip"]);
}

#[test]
fn zeros_behind_compressed_data_say_nothing_and_anything_else_is_told() {
    let gzip = |text: &str| {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(text.as_bytes()).unwrap();
        gz.finish().unwrap()
    };
    let bzip = |text: &str| {
        let mut packed = Vec::new();
        bzip2::read::BzEncoder::new(text.as_bytes(), bzip2::Compression::fast())
            .read_to_end(&mut packed)
            .unwrap();
        packed
    };
    for pack in [&gzip as &dyn Fn(&str) -> Vec<u8>, &bzip] {
        let zeros = vec![0; 700_000];
        for padded in [
            [pack("{\"a\":1}\n{\"b\":2}\n"), zeros.clone()].concat(),
            [pack("{\"a\":1}\n"), pack("{\"b\":2}\n"), vec![0]].concat(),
            [pack("{\"a\":1}\n"), zeros.clone(), pack("{\"b\":2}\n"), zeros.clone()].concat(),
        ] {
            let (records, problems, _) = read(padded, Limits::default());
            assert_eq!(texts(&records), ["{\"a\":1}", "{\"b\":2}"]);
            assert!(problems.is_empty(), "{problems:?}");
        }
        for (behind, told) in [(&b"\0\0more"[..], "no part of it"), (b"more", "no part of it")] {
            let (records, problems, _) =
                read([&pack("{\"a\":1}\n{\"b\":2}\n"), behind].concat(), Limits::default());
            assert_eq!(records.len(), 2);
            assert!(
                problems.len() == 1 && problems[0].lost && problems[0].message.contains(told),
                "{problems:?}"
            );
        }
        // A second member that is cut off is told as such.
        let mut cut = [pack("{\"a\":1}\n"), pack("{\"b\":2}\n")].concat();
        cut.truncate(cut.len() - 5);
        let (_, problems, _) = read(cut, Limits::default());
        assert!(problems.len() == 1 && problems[0].message.contains("cut off"), "{problems:?}");
    }
}

#[test]
fn records_before_between_and_behind_nul_bytes_are_read_and_the_gap_is_told() {
    let holes = |n: usize| "\0".repeat(n);
    for (text, gaps) in [
        (format!("{}{{\"a\":1}}\n{{\"b\":2}}\n", holes(3)), 1),
        (format!("{}{{\"a\":1}}\n{{\"b\":2}}\n", holes(1_500_000)), 1),
        (format!("{{\"a\":1}}\n{}{{\"b\":2}}\n", holes(5000)), 1),
        (format!("{{\"a\":1}}\n{}{{\"b\":2}}\r\n", holes(1)), 1),
        (format!("{{\"a\":1}}\n{}\n{{\"b\":2}}{}\r\n", holes(700), holes(1)), 2),
        (format!("{{\"a\":1}}\n{{\"b\":2}}\n{}", holes(400_000)), 1),
        (format!("{{\"a\":1}}\n{{\"b\":2}}{}", holes(40)), 1),
        (format!("{{\"a\":1}}{}{{\"b\":2}}\n", holes(4000)), 1),
        (format!("[{{\"a\":1}},{{\"b\":2}}]\n{}", holes(70)), 1),
        (format!("{}[{{\"a\":1}},{{\"b\":2}}]", holes(70)), 1),
    ] {
        for chunk in [13, 4096, 1 << 20] {
            let shown: String = text.chars().filter(|c| *c != '\0').collect();
            let (records, problems, _) = read(text.clone().into(), limits(300_000, chunk));
            assert_eq!(texts(&records), ["{\"a\":1}", "{\"b\":2}"], "{shown:?} by {chunk}");
            assert_eq!(problems.len(), 1, "{shown:?} by {chunk}: {problems:?}");
            assert_eq!((problems[0].count, problems[0].lost), (gaps, true), "{shown:?} by {chunk}");
            for (_, offset, record) in &records {
                assert!(text[*offset as usize..].starts_with(record.as_str()), "{shown:?}: its place");
            }
        }
    }
    let table = format!("{}time,what\n1,a\n{}2,b\n3,c\n{}", holes(9), holes(9), holes(9));
    let (records, problems, _) = read(table.into(), Limits::default());
    let rows = [r#"{"time":"1","what":"a"}"#, r#"{"time":"2","what":"b"}"#, r#"{"time":"3","what":"c"}"#];
    assert_eq!((texts(&records), problems.len()), (rows.to_vec(), 1), "{problems:?}");
    // What a crash left of a record is one of its own, with the place of its line.
    let torn = format!("{{\"a\":1}}\n{{\"x\":\"{}{{\"b\":2}}\n{{\"c\":3}}\n", holes(100));
    let (records, _, _) = read(torn.into(), limits(1 << 20, 11));
    assert_eq!(texts(&records), ["{\"a\":1}", "{\"x\":\"", "{\"b\":2}", "{\"c\":3}"]);
    let places = [1, 2, 2, 3].map(Place::Line);
    assert_eq!(records.iter().map(|record| record.0).collect::<Vec<_>>(), places);
    // A hole ends a record that is too long.
    let long = format!("{}{}{{\"b\":2}}\n", "y".repeat(900), holes(100));
    for chunk in [10, 1 << 20] {
        let (records, problems, _) = read(long.clone().into(), limits(300, chunk));
        assert_eq!((texts(&records), problems.len()), (vec!["{\"b\":2}"], 2), "{problems:?}");
    }
}

#[test]
fn what_is_no_file_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let refused =
        |path: &std::path::Path| Source::open(path, 0, &Limits::default()).err().unwrap().problem.message;
    assert!(refused(dir.path()).contains("this folder holds no file"));
    std::fs::write(dir.path().join(".hidden"), "x").unwrap();
    std::fs::create_dir(dir.path().join("below")).unwrap();
    assert!(refused(dir.path()).contains("this folder holds no file"));
    std::fs::remove_file(dir.path().join(".hidden")).unwrap();
    let empty = dir.path().join("empty");
    std::fs::write(&empty, "").unwrap();
    assert!(refused(&empty).contains("empty"));
    let binary = dir.path().join("binary");
    std::fs::write(&binary, vec![0u8; 5000]).unwrap();
    assert!(refused(&binary).contains("no text"));
    let fifo = dir.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    assert!(refused(&fifo).contains("pipe"));
}

#[test]
fn broken_bytes_and_odd_line_ends_are_read() {
    let (records, problems, _) =
        read(b"\xef\xbb\xbf{\"a\":1}\r\n\r\n{\"b\":\"\xff\"}\n{\"c\":1}".to_vec(), Limits::default());
    assert_eq!(texts(&records), ["{\"a\":1}", "{\"b\":\"\u{fffd}\"}", "{\"c\":1}"]);
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].place, Some(Place::Line(3)));
}

#[test]
fn blanks_before_an_object_say_nothing_and_before_other_text_they_stay() {
    let (records, problems, _) =
        read(b"{\"a\":1}\n  \t{\"a\":2}\r\n  at Main.java\n".to_vec(), limits(1 << 20, 7));
    assert_eq!(texts(&records), ["{\"a\":1}", "{\"a\":2}", "  at Main.java"]);
    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn deep_nesting_is_cut_without_recursion() {
    let deep = format!("[{{\"a\":{}{}}},{{\"b\":1}}]", "[".repeat(100_000), "]".repeat(100_000));
    let (records, _, _) = read(deep.into_bytes(), Limits::default());
    assert_eq!(records.len(), 2);
}

#[test]
fn lines_cut_by_the_container_runtime_are_joined() {
    let cri = "2026-08-14T09:00:00.1Z stdout P {\"a\":\n2026-08-14T09:00:00.1Z stderr F {\"e\":0}\n2026-08-14T09:00:00.1Z stdout F 1}\n";
    let (records, _, layers) = read(cri.into(), Limits::default());
    assert_eq!(texts(&records), ["{\"e\":0}", "{\"a\":1}"]);
    assert_eq!(layers, ["cri"]);
    let docker = "{\"log\":\"{\\\"a\\\":\",\"stream\":\"stdout\",\"time\":\"2026-08-14T09:00:00Z\"}\n{\"log\":\"1}\\n\",\"stream\":\"stdout\",\"time\":\"2026-08-14T09:00:00Z\"}\n";
    assert_eq!(texts(&read(docker.into(), Limits::default()).0), ["{\"a\":1}"]);
}

#[test]
fn further_wrappers_are_peeled() {
    let one = r#"{"status":"200","request_uri":"/mcp"}"#;
    let quoted = serde_json::to_string(one).unwrap();
    let bytes = serde_json::to_string(one.as_bytes()).unwrap();
    for wrapped in [
        format!(
            r#"{{"preview":false,"offset":0,"result":{{"_raw":{quoted},"_time":"2026-08-14T09:00:00.014+00:00"}}}}"#
        ),
        format!(
            r#"{{"_index":"l","_id":"1","_source":{{"@timestamp":"2026-08-14T09:00:00Z","message":{quoted}}}}}"#
        ),
        format!(r#"{{"_index":"l","_id":"1","_source":{one}}}"#),
        format!(r#"{{"took":1,"hits":{{"total":1,"hits":[{{"_index":"l","_id":"1","_source":{one}}}]}}}}"#),
        format!(r#"{{"__REALTIME_TIMESTAMP":"1786698000014000","__CURSOR":"s=1","MESSAGE":{quoted}}}"#),
        format!(r#"{{"__REALTIME_TIMESTAMP":"1786698000014000","__CURSOR":"s=1","MESSAGE":{bytes}}}"#),
        format!(
            r#"{{"date":1786698000.014,"log":{quoted},"stream":"stdout","_p":"F","kubernetes":{{"pod_name":"p"}}}}"#
        ),
        format!(
            r#"{{"message":{quoted},"timestamp":"2026-08-14T09:00:00Z","source_type":"file","host":"h","file":"/x"}}"#
        ),
        format!(
            r#"{{"results":[[{{"field":"@timestamp","value":"2026-08-14 09:00:00.014"}},{{"field":"@message","value":{quoted}}}]],"status":"Complete"}}"#
        ),
        format!("2026-08-14T09:00:00.014Z {one}"),
        format!("Aug 14 09:00:00 lb1 haproxy[77]: {one}"),
        format!(
            r#"{{"status":"success","data":{{"resultType":"streams","result":[{{"stream":{{"pod":"p"}},"values":[["1786698000014000000",{quoted}]]}}]}}}}"#
        ),
        format!(r#"{{"event":{one},"time":1786698000.014,"sourcetype":"s"}}"#),
        format!(
            r#"{{"messageType":"DATA_MESSAGE","logEvents":[{{"id":"1","timestamp":1,"message":{quoted}}}]}}"#
        ),
    ] {
        // Answers of an API come one to a file.
        let answer = wrapped.contains("\"status\":\"Complete\"") || wrapped.contains("resultType");
        let framings = [format!("{wrapped}\n"), format!("{wrapped}\n{wrapped}\n")];
        for framed in framings.iter().take(if answer { 1 } else { 2 }) {
            let (records, problems, layers) = read(framed.clone().into_bytes(), Limits::default());
            assert!(problems.is_empty(), "{framed}: {problems:?}");
            assert!(
                records.iter().all(|r| r.2 == one) && records.len() == framed.lines().count(),
                "{framed}: {records:?} {layers:?}"
            );
            assert!(!layers.is_empty() || framed.contains("took"), "{framed}");
        }
    }
}

proptest! {
    #[test]
    fn any_chunk_gives_the_same_records(
        lines in prop::collection::vec("[a-z{}\\[\\]\": \r]{0,40}", 0..40),
        gap in 0_usize..20,
        chunk in 1usize..200,
        other in 1usize..200,
        values in any::<bool>(),
    ) {
        let text = if values { format!("[{{\"k\":[{{}}]}},{}]", lines.iter().map(|l| serde_json::to_string(l).unwrap()).map(|q| format!("{{\"v\":{q}}}")).collect::<Vec<_>>().join(",")) } else { lines.join("\n").replace('x', &"\0".repeat(gap)) };
        let a = read(text.clone().into_bytes(), limits(30, chunk));
        let b = read(text.into_bytes(), limits(30, other));
        prop_assert_eq!(a, b);
    }

    #[test]
    fn nothing_makes_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..600), chunk in 1usize..64) {
        let _ = read(bytes, limits(64, chunk));
    }

    #[test]
    fn compression_is_invisible(lines in prop::collection::vec("[a-z]{1,20}", 1..30)) {
        let text = lines.join("\n");
        let mut bz = bzip2::read::BzEncoder::new(text.as_bytes(), bzip2::Compression::fast());
        let mut packed = Vec::new();
        bz.read_to_end(&mut packed).unwrap();
        prop_assert_eq!(read(packed, Limits::default()).0, read(text.into_bytes(), Limits::default()).0);
    }
}
