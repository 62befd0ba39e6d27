//! The ways in which operators, encoders and pipelines spell the same record: units, times, shells, cases of keys.
#![allow(clippy::unwrap_used)]

use std::sync::OnceLock;
use unbroken_audit::adapter::formats::Formats;
use unbroken_audit::adapter::intake::{self, Taken};
use unbroken_audit::adapter::rpc::Keep;
use unbroken_audit::event::*;
use unbroken_audit::source::Limits;

fn read_text(text: &str) -> (Vec<Event>, Taken) {
    static FORMATS: OnceLock<Formats> = OnceLock::new();
    let formats = FORMATS.get_or_init(|| Formats::load(&[]).unwrap());
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let mut events = Vec::new();
    let mut sink = |event| events.push(event);
    let taken = intake::read(file.path(), 0, formats, &Limits::default(), Keep::default(), &mut sink);
    (events, taken)
}

/// The exchange of a line: its method, start, end, and whether its body was read.
fn exchange(line: &str) -> (Method, Option<Nanos>, Option<Nanos>, bool) {
    match read_text(&format!("{line}\n")).0.pop() {
        Some(Event { what: What::Exchange(x), time, .. }) => {
            (x.method, time.start, time.end, matches!(x.request.body, Body::Messages(_)))
        }
        other => panic!("{line}: {other:?}"),
    }
}

const BEGIN: Nanos = 1_786_698_005_000_000_000;
const END: Nanos = BEGIN + 60_020_000_000;

#[test]
fn durations_and_times_are_read_in_every_unit_that_the_producer_has() {
    let caddy = |time: &str, duration: &str| {
        format!(
            r#"{{"level":"info",{time},"msg":"handled request","request":{{"remote_ip":"192.0.2.1","method":"GET","uri":"/mcp","headers":{{"Mcp-Session-Id":["S"]}}}},"duration":{duration},"size":31,"status":200,"resp_headers":{{}}}}"#
        )
    };
    let ts = r#""ts":1786698065.02,"logger":"http.log.access""#;
    for duration in ["60.02", "60020000000", "60020", "\"1m0.02s\"", "\"60020ms\""] {
        assert_eq!(
            exchange(&caddy(ts, duration)),
            (Method::Get, Some(BEGIN), Some(END), false),
            "{duration}"
        );
    }
    for time in [
        r#""time":"2026-08-14T09:01:05.020Z""#,
        r#""@timestamp":1786698065020"#,
        r#""timestamp":"2026/08/14 09:01:05.020""#,
    ] {
        assert_eq!(exchange(&caddy(time, "60.02")).2, Some(END), "{time}");
    }
    let haproxy = |time: &str| {
        format!(
            r#"{{{time},"method":"POST","status":200,"Ta":60020,"termination_state":"sD--","req_mcp_session_id":"S"}}"#
        )
    };
    for time in [
        r#""accept_date":"14/Aug/2026:09:00:05.000""#,
        r#""timestamp":"2026-08-14T09:00:05.000Z""#,
        r#""@timestamp":"1786698005.000""#,
        r#""date":1786698005000"#,
    ] {
        assert_eq!(exchange(&haproxy(time)), (Method::Post, Some(BEGIN), Some(END), false), "{time}");
    }
    let traefik = r#"{"RequestMethod":"POST","RequestPath":"/mcp","OriginStatus":200,"Duration":60020000000,"time":"2026-08-14T09:01:05.02Z","request_Mcp-Session-Id":"S"}"#;
    assert_eq!(exchange(traefik), (Method::Post, Some(BEGIN), Some(END), false), "the start was dropped");
    let envoy = r#"{"start_time":"2026/08/14T09:00:05+0000","method":"POST","response_code":200,"duration":60020,"upstream_host":"a:1","mcp_session_id":"S"}"#;
    assert_eq!(exchange(envoy), (Method::Post, Some(BEGIN), Some(END), false), "Envoy's documented format");
}

#[test]
fn a_body_may_be_logged_as_it_is_and_a_request_line_whole() {
    let body =
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"pay","arguments":{"n":1}}}"#;
    let nginx = |body: &str| {
        format!(
            r#"{{"msec":"1786698065.020","request":"POST /mcp HTTP/1.1","status":200,"request_time":60.020,"upstream_addr":"a:1","body_bytes_sent":"37","request_body":{body}}}"#
        )
    };
    let quoted = serde_json::to_string(body).unwrap();
    for body in [body, &quoted] {
        assert_eq!(exchange(&nginx(body)), (Method::Post, Some(BEGIN), Some(END), true), "{body}");
    }
}

#[test]
fn a_record_is_found_in_what_a_pipeline_made_of_it() {
    let line = r#"{"msec":"1786698065.020","request_method":"POST","status":"200","request_time":"60.020","upstream_addr":"a:1","http_mcp_session_id":"S"}"#;
    let quoted = serde_json::to_string(line).unwrap();
    for shell in [
        format!(r#"{{"Computer":"c","LogEntry":{quoted}}}"#),
        format!(r#"{{"level":"http","message":"x","json":{{"of":{{"nginx":{line}}}}}}}"#),
        format!(r#"{{"level":"http","message":{quoted}}}"#),
        line.replace("request_method", "requestMethod")
            .replace("upstream_addr", "UPSTREAM_ADDR")
            .replace("request_time", "request-time"),
    ] {
        let (events, taken) = read_text(&format!("{shell}\n{shell}\n"));
        assert_eq!(
            (taken.summary.format.as_str(), events.len()),
            ("nginx-json", 2),
            "{shell}: {:?}",
            taken.problems
        );
    }
    // Two records in one are no answer to which of them it is.
    let (_, taken) = read_text(&format!("{{\"a\":{line},\"b\":{quoted}}}\n"));
    assert!(!taken.summary.read);
}

#[test]
fn lines_of_loggers_are_known_in_every_order() {
    for head in [
        "2026-08-14 09:00:00,003 [INFO] mcp.server.streamable_http_manager: ",
        "2026-08-14 09:00:00.003 | INFO     | mcp.server.streamable_http_manager:run:91 - ",
        "2026-08-14 09:00:00,003 | INFO | mcp.server.streamable_http_manager | ",
        "2026-08-14 09:00:00,003 INFO mcp.server.streamable_http_manager:91 - ",
        "2026-08-14 09:00:00,003 - mcp.server.streamable_http_manager - INFO - ",
        "[2026-08-14 09:00:00,003] INFO mcp.server.streamable_http_manager: ",
        "[2026-08-14 09:00:00,003] [INFO] mcp.server.streamable_http_manager: ",
        // Spring Boot with tracing, and the order that it had before.
        "2026-08-14T09:00:00.003Z  INFO [pay,5f1c2b7e0a51,9d617b6a] 1 --- [nio-1] mcp.server.streamable_http_manager : ",
        "2026-08-14T09:00:00.003Z  INFO 1 --- [pay] [nio-1] [5f1c2b7e0a51-9d617b6a] mcp.server.streamable_http_manager : ",
    ] {
        let (events, taken) = read_text(&format!("{head}Session S1 idle timeout\n"));
        assert_eq!(taken.summary.format, "python mcp sdk in logger text", "{head}");
        assert!(
            matches!(&events[0].what, What::Lifecycle(l) if l.step == LifecycleStep::SessionExpired && l.session.as_deref() == Some("S1")),
            "{head}: {events:?}"
        );
    }
    let line = r#"2026-08-14T09:00:00.002Z DEBUG streamable_http_session{id="S1"}: rmcp::transport::streamable_http_server::session::local: establish new request wise channel http_request_id=3"#;
    let (events, taken) = read_text(&format!("{line}\n"));
    assert_eq!(taken.summary.format, "rmcp tracing in tracing text");
    assert!(
        matches!(&events[0].what, What::Lifecycle(l) if l.session.as_deref() == Some("S1")),
        "{events:?}"
    );
}

/// An exchange of the project's own lines with this status and this begin.
fn told(status: &str, begin: &str) -> String {
    format!(
        r#"{{"ts":"{begin}","remote_addr":"192.0.2.1","method":"POST","path":"/mcp","status":{status},"req_headers":{{"mcp-session-id":"S"}},"resp_headers":{{}},"request_body":null,"response_events":[],"duration_ms":20.5,"termination":"complete"}}"#
    )
}

#[test]
fn a_status_is_a_number_however_it_is_written() {
    let status = |line: &str| match read_text(&format!("{line}\n")).0.pop() {
        Some(Event { what: What::Exchange(x), .. }) => x.status,
        other => panic!("{line}: {other:?}"),
    };
    for written in ["200", "200.0", "2e2", "2.0E+2", "20000e-2", "\"200\"", "\"200.0\"", "\"2e2\""] {
        assert_eq!(status(&told(written, "2026-08-14T09:00:00Z")), Some(200), "{written}");
    }
    for written in ["200.5", "2e-2", "\"2e\"", "2e99", "\"e2\"", "-200"] {
        assert_eq!(status(&told(written, "2026-08-14T09:00:00Z")), None, "{written}");
    }
    let step = |event: &str| format!(r#"{{"ts":1795961445.0,"flow":7,"event":{event}}}"#);
    for written in ["200", "200.0", "2e2", "\"200\""] {
        let steps = [
            step(r#""request","method":"POST","path":"/mcp","headers":{"mcp-session-id":"s"},"body":"{}""#),
            step(&format!(r#""response_headers","status":{written},"headers":{{}}"#)),
            step(r#""response_complete""#),
        ];
        assert_eq!(status(&steps.join("\n")), Some(200), "{written}");
    }
}

#[test]
fn an_offset_that_no_clock_has_is_a_time_that_cannot_be_read() {
    let problems = |line: &str| {
        let (events, taken) = read_text(&format!("{line}\n{}\n", told("200", "2026-08-14T09:00:00Z")));
        (events.len(), taken.problems.iter().map(|problem| problem.message.clone()).collect::<Vec<_>>())
    };
    let no_time = (1, vec!["the record has no time that can be read".to_owned()]);
    for offset in ["+99:99", "+24:00", "-00:60", "+9999"] {
        assert_eq!(problems(&told("200", &format!("2026-08-14T09:00:00{offset}"))), no_time, "{offset}");
    }
    for offset in ["+14:00", "-12:00", "+0530", "+23:59"] {
        assert_eq!(problems(&told("200", &format!("2026-08-14T09:00:00{offset}"))), (2, vec![]), "{offset}");
    }
}
