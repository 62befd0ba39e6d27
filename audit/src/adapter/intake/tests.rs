#![allow(clippy::unwrap_used)]

use super::*;
use std::io::Write;

/// An ordinary call with a note of so many bytes.
fn line(id: usize, note: usize) -> String {
    let note = "y".repeat(note);
    format!(
        r#"{{"unbroken":1,"start":"1772445600000000000","end":"1772445600000000000","remote_addr":"203.0.113.7","method":"POST","path":"/mcp","status":200,"session_in":"S","protocol_version":"2025-11-25","content_type":"text/event-stream","request":"{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"pay\",\"arguments\":{{\"note\":\"{note}\"}}}}}}","events":[{{"data":"{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}"}}],"cause":"complete"}}"#
    )
}

/// Of a log: how many records come at a glance, the longest text that goes along with one, and the marks of the others.
fn taken(path: &Path) -> (usize, usize, Vec<CallMark>) {
    let formats = Formats::load(&[]).unwrap();
    let (mut glances, mut longest, mut marks) = (0, 0, Vec::new());
    let costs = Costs::default();
    Intake::open(path, 0, &formats, &Limits::default(), Keep::default(), Some(&costs)).finish(&mut |entry| {
        match entry {
            Entry::Skim(one) => {
                glances += 1;
                longest = longest.max(one.along.text.map_or(0, |text| text.len()));
            }
            Entry::Event(_, mark) => marks.push(mark),
        }
    });
    (glances, longest, marks)
}

#[test]
fn no_long_record_waits_as_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<String> = (0..400).map(|id| line(id, if id < 300 { 10 } else { 20_000 })).collect();
    let text = lines.join("\n");
    let plain = folder.path().join("log");
    std::fs::write(&plain, &text).unwrap();
    assert_eq!(taken(&plain), (400, 0, vec![]), "it can be read again where it stands");
    let packed = folder.path().join("log.gz");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    std::fs::write(&packed, gzip.finish().unwrap()).unwrap();
    let (glances, longest, marks) = taken(&packed);
    assert_eq!((glances, marks.len()), (300, 100), "the longest text has {longest} bytes");
    assert!(longest <= MOST_ALONG);
    assert!(marks.iter().all(|mark| matches!(mark, CallMark::One(_))), "{marks:?}");
}
