//! What a log holds and nobody can read: counted and told with its first place, never taken for nothing.
#![allow(clippy::unwrap_used)]

use unbroken_audit::event::Place;
use unbroken_audit::finding::Finding;
use unbroken_audit::run::{self, Options, Summary};

fn audit(text: &str, name: &str) -> (Vec<Finding>, Summary) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let mut found = Vec::new();
    let summary = run::run(&[path], &Options::default(), &mut |finding| found.push(finding));
    (found, summary)
}

/// An exchange of 2026-08-14T10:00, in the project's own shape.
fn line(second: u32, body: &str, response: &str) -> String {
    format!(
        "{{\"unbroken\":1,\"start\":\"2026-08-14T10:00:{second:02}Z\",\"end\":\"2026-08-14T10:00:{second:02}.5Z\",\"method\":\"POST\",\
         \"path\":\"/mcp\",\"status\":200,\"session_in\":\"S1\",\"request\":{},\"response\":{},\"content_type\":\"application/json\",\
         \"cause\":\"complete\"}}",
        serde_json::Value::from(body),
        serde_json::Value::from(response)
    )
}

fn call(id: u32, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"pay","arguments":{arguments}}}}}"#
    )
}

fn told(summary: &Summary) -> Vec<(String, u64, Option<Place>, bool)> {
    summary.problems.iter().map(|p| (p.message.clone(), p.count, p.place, p.lost)).collect()
}

#[test]
fn a_body_that_cannot_be_read_is_counted_with_its_first_place() {
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    for (body, message, lost) in [
        ("garbage", "a request body could not be read as JSON-RPC: its calls are unknown", true),
        ("[]", "a request body could not be read as JSON-RPC: its calls are unknown", true),
        ("[5]", "a request body could not be read as JSON-RPC: its calls are unknown", true),
        (
            r#"{"jsonrpc":"2.0","id":1,"#,
            "a request body is cut off and could not be read as JSON-RPC: its calls are unknown",
            true,
        ),
        ("[REDACTED]", "a request body was written over by its log: its calls are unknown", false),
        (
            &call(1, r#"{"a":1}"#)[..70],
            "the arguments of a tool call are cut off: it is compared with no other call",
            false,
        ),
        (
            &call(1, &format!("{}{}", "[".repeat(129), "]".repeat(129))),
            "the arguments of a tool call are nested deeper than 128: it is compared with no other call",
            false,
        ),
    ] {
        let good = line(1, &call(9, "{}"), r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
        let text = format!("{good}\n{}\n{}\n", line(2, body, answer), line(3, body, answer));
        let (found, summary) = audit(&text, "log.jsonl");
        assert_eq!(told(&summary), [(message.to_owned(), 2, Some(Place::Line(2)), lost)], "{body}");
        // The exchanges are there all the same, and nothing is said of calls that nobody knows.
        assert_eq!((summary.exchanges, found.len()), (3, 0), "{body}: {found:?}");
    }
}

#[test]
fn a_part_of_a_batch_that_cannot_be_read_leaves_the_others() {
    let answers = r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#;
    let (_, summary) = audit(&line(1, &format!("[{},{{\"x\":1}}]", call(1, "{}")), answers), "log.jsonl");
    assert_eq!((summary.calls, told(&summary).len()), (1, 1), "{summary:?}");
    assert!(summary.problems[0].lost);
}

#[test]
fn a_response_that_was_cut_off_is_not_one_that_never_came() {
    let cut = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"te"#;
    let (found, _) = audit(&line(1, &call(1, "{}"), cut), "log.jsonl");
    assert_eq!(found.len(), 0, "{found:?}");
    let (found, _) = audit(&line(1, &call(1, "{}"), r#"{"jsonrpc":"2.0","id":7,"result":{}}"#), "log.jsonl");
    assert_eq!(found.len(), 1, "the response to another request is none: {found:?}");
}

#[test]
fn half_a_character_drops_no_record() {
    let sent = call(1, r#"{"a":"\ud800"}"#);
    let whole = line(1, &sent, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    // In the body's own JSON, and in that of the line.
    for text in [
        whole.clone(),
        whole.replace("\"/mcp\"", r#""/mcp\udfff""#),
        whole.replace("\"S1\"", r#""S1\udabc""#),
    ] {
        let (_, summary) = audit(&text, "log.jsonl");
        assert_eq!((summary.calls, summary.sessions), (1, 1), "{text}");
        assert_eq!(told(&summary).len(), 1, "{:?}", summary.problems);
        assert!(summary.problems[0].message.contains("half a character") && !summary.problems[0].lost);
    }
    // Two halves that differ are two calls.
    let again = line(3, &call(2, r#"{"a":"\ud801"}"#), r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    let cut = whole
        .replace("\"complete\"", "\"unknown_cut\"")
        .replace(r#"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"#, "");
    let repeats = |text: &str| audit(text, "log.jsonl").0.iter().filter(|f| !f.sends.is_empty()).count();
    assert_eq!(repeats(&format!("{cut}\n{again}\n")), 0);
    assert_eq!(repeats(&format!("{cut}\n{}\n", again.replace("ud801", "ud800"))), 1);
}

#[test]
fn bare_entries_of_a_document_are_counted_and_keep_the_numbers_of_the_others() {
    let entry = r#"{"startedDateTime":"2026-08-14T10:00:00Z","time":1,"request":{"method":"GET","url":"http://a/mcp","headers":[{"name":"mcp-session-id","value":"S"}]},"response":{"status":nonsense}}"#;
    let document = format!(
        r#"{{"log":{{"version":"1.2","creator":{{"name":"x","version":"1"}},"entries":[1, "a,b", {entry}, null]}}}}"#
    );
    let (_, summary) = audit(&document, "capture.har");
    let bare = summary.problems.iter().find(|p| p.message.contains("bare value")).unwrap();
    assert_eq!((bare.count, bare.place, bare.lost), (3, Some(Place::Entry(1)), true));
    assert!(summary.problems.iter().any(|p| p.place == Some(Place::Entry(3))), "{:?}", summary.problems);
}
