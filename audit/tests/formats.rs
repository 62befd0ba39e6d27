//! Every format: detected, read, and the story's events at the certainty that the format allows.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use unbroken_audit::adapter::formats::{Formats, SHIPPED};
use unbroken_audit::adapter::intake::{self, Taken};
use unbroken_audit::adapter::rpc::Keep;
use unbroken_audit::event::*;
use unbroken_audit::source::Limits;

const FIRST: &str = "5f1c2b7e-0a51-4c0e-9d61-7b6a1f0c9a01";
const SECOND: &str = "c0a8e3d4-6b2f-4f7d-8e15-2d9b7c4e1b02";

fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("UNBROKEN_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared"), PathBuf::from)
        .join(path);
    if !root.exists() {
        println!("skipped: the shared material is not here");
    }
    root.exists().then_some(root)
}

fn read(path: &Path) -> (Vec<Event>, Taken) {
    static FORMATS: OnceLock<Formats> = OnceLock::new();
    let formats = FORMATS.get_or_init(|| Formats::load(&[]).unwrap());
    let mut events = Vec::new();
    let taken = intake::read(path, 0, formats, &Limits::default(), Keep::default(), &mut |e| events.push(e));
    (events, taken)
}

fn read_text(text: &str) -> (Vec<Event>, Taken) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    std::fs::write(&path, text).unwrap();
    read(&path)
}

/// Calls of a tool with the state of their arguments, of exchanges, handlers and messages.
fn calls(events: &[Event], tool: &str) -> Vec<Arguments> {
    let of_message = |m: &Message| match m {
        Message::Request(r) => r.call.clone(),
        _ => None,
    };
    let mut found = Vec::new();
    for event in events {
        match &event.what {
            What::Exchange(x) => {
                if let Body::Messages(all) = &x.request.body {
                    found.extend(all.iter().filter_map(of_message));
                }
            }
            What::Message(m) => found.extend(of_message(&m.message)),
            What::Lifecycle(l) if l.step == LifecycleStep::HandlerStarted => found.extend(l.call.clone()),
            _ => {}
        }
    }
    found.into_iter().filter(|c| &*c.tool == tool).map(|c| c.arguments).collect()
}

fn sessions(events: &[Event]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for event in events {
        match &event.what {
            What::Exchange(x) => found.extend(
                [&x.request.session, &x.response.session].into_iter().flatten().map(ToString::to_string),
            ),
            What::Lifecycle(l) => found.extend(l.session.iter().map(ToString::to_string)),
            _ => {}
        }
    }
    found
}

#[test]
fn every_sample_is_detected_and_tells_its_story() {
    let Some(samples) = shared("logs/samples") else { return };
    // (file, format, calls of charge_card, whether their arguments are known, whether both sessions are)
    let expected = [
        ("agentgateway_access.jsonl", "agentgateway", 2, false, true),
        ("agentgateway_cel.jsonl", "agentgateway", 2, true, true),
        ("caddy.jsonl", "caddy access log + caddy run log", 0, false, true),
        ("envoy_gateway_default.jsonl", "envoy access log", 0, false, false),
        ("envoy_json.jsonl", "envoy access log", 2, true, true),
        ("fastmcp_structured.jsonl", "fastmcp structured", 2, true, false),
        ("gcp_lb.jsonl", "gcp load balancer", 0, false, false),
        ("haproxy_json.jsonl", "haproxy-json", 2, true, true),
        ("har_chrome.har", "har (chrome)", 2, true, true),
        ("inspector_network.json", "mcp inspector (network)", 2, true, true),
        ("kong_ai_mcp.jsonl", "kong", 2, true, true),
        ("litellm_standard_logging.jsonl", "litellm", 3, true, true),
        ("nginx_json.jsonl", "nginx-json", 2, true, true),
        ("nginx_upstream_timeout.jsonl", "nginx-json", 2, true, true),
        ("otlp_logs.jsonl", "agentgateway in otlp logs", 2, false, true),
        ("otlp_traces.jsonl", "otlp http spans + otlp mcp spans in otlp traces", 4, true, true),
        ("python_sdk_jsonlogger.jsonl", "python mcp sdk", 0, false, true),
        ("rmcp_client_tracing.jsonl", "rmcp tracing", 0, false, false),
        ("rmcp_tracing.jsonl", "rmcp tracing", 2, true, true),
        ("stateless_2026_07_28_nginx.jsonl", "nginx-json", 0, false, false),
        ("traefik.jsonl", "traefik access log", 0, false, true),
        ("wrap_cloudwatch_filter_log_events.json", "nginx-json in cloudwatch", 2, true, true),
        ("wrap_gcp_gke_container.jsonl", "nginx-json in gcp log entry", 2, true, true),
    ];
    for (file, format, count, arguments, both) in expected {
        let (events, taken) = read(&samples.join(file));
        assert_eq!(taken.summary.format, format, "{file}");
        assert!(taken.summary.read && taken.problems.is_empty(), "{file}: {:?}", taken.problems);
        let charges = calls(&events, "charge_card");
        assert_eq!(charges.len(), count, "{file}");
        assert!(charges.windows(2).all(|w| w[0] == w[1]), "{file}: the two calls are the same");
        assert!(
            charges.iter().all(|a| matches!(a, Arguments::Canonical { .. }) == arguments),
            "{file}: {charges:?}"
        );
        let ids = sessions(&events);
        assert_eq!(ids.contains(FIRST) && ids.contains(SECOND), both, "{file}: {ids:?}");
    }
}

#[test]
fn every_shipped_mapping_says_what_it_is() {
    assert!(Formats::load(&[]).is_ok());
    for (name, text) in SHIPPED {
        let file = unbroken_audit::mapping::parse(text).unwrap();
        assert!(file.about.len() > 20, "{name} has no about");
    }
}

#[test]
fn formats_without_a_sample_are_read_from_their_description() {
    let args = r#"{"customer":"cus_EX42","amount_cents":4999}"#;
    let jaeger = format!(
        r#"{{"data":[{{"traceID":"t1","spans":[{{"traceID":"t1","spanID":"s1","operationName":"tools/call charge_card","references":[],"startTime":1786698005000000,"duration":67400000,"tags":[{{"key":"span.kind","type":"string","value":"server"}},{{"key":"mcp.method.name","value":"tools/call"}},{{"key":"mcp.session.id","value":"{FIRST}"}},{{"key":"jsonrpc.request.id","value":"2"}},{{"key":"gen_ai.tool.name","value":"charge_card"}},{{"key":"gen_ai.tool.call.arguments","value":{}}}],"processID":"p1"}}],"processes":{{"p1":{{"serviceName":"pay","tags":[{{"key":"hostname","value":"mcp-0"}}]}}}}}}]}}"#,
        serde_json::to_string(args).unwrap()
    );
    let (events, taken) = read_text(&jaeger);
    assert_eq!(taken.summary.format, "otlp mcp spans in jaeger");
    assert_eq!(events[0].instance.as_deref(), Some("mcp-0"));
    let What::Lifecycle(end) = &events[1].what else { panic!("{events:?}") };
    assert_eq!((end.step, end.duration), (LifecycleStep::HandlerFinished, Some(67_400_000_000)));
    assert!(matches!(calls(&events, "charge_card")[..], [Arguments::Canonical { .. }, ..]));

    let lines = [
        (
            r#"{"TimeGenerated":"2026-08-14T09:00:05Z","CorrelationId":"c","Method":"tools/call","ToolName":"charge_card","SessionId":"S","ClientName":"agent","ClientVersion":"1","ProtocolVersion":"2025-11-25","McpServerEndpoint":"/mcp"}"#,
            "azure apim mcp",
        ),
        (
            r#"{"Datetime":"2026-08-14T09:00:05Z","ClientIP":"203.0.113.24","UserID":"u","Method":"tools/call","ToolCallName":"charge_card","SessionID":"S","PortalID":"p","ServerID":"s"}"#,
            "cloudflare mcp portal",
        ),
        (
            r#"{"start_time":"2026-08-14T09:00:05.000Z","method":"POST","response_code":200,"duration":60020,"bytes_sent":31,"mcp.session.id":"S","mcp.method.name":"tools/call","mcp.tool.name":"charge_card","mcp.provider.name":"pay","jsonrpc.request.id":"2"}"#,
            "envoy ai gateway",
        ),
        (
            r#"{"eventTime":"2026-08-14T09:00:05Z","eventSource":"bedrock-agentcore.amazonaws.com","eventName":"InvokeGateway","sourceIPAddress":"203.0.113.24","requestParameters":{"body":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"charge_card","arguments":"HIDDEN_DUE_TO_SECURITY_REASONS"}}},"responseElements":{"statusCode":200},"requestID":"r","eventID":"e"}"#,
            "aws agentcore gateway",
        ),
        (
            r#"{"id":"1","timestamp":"2026-08-14T09:00:05.000Z","direction":"request","origin":"client","message":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"charge_card","arguments":{}}}}"#,
            "mcp inspector (protocol)",
        ),
        (
            r#"{"level":30,"time":1786698065020,"req":{"id":"r","method":"POST","url":"/mcp","headers":{"mcp-session-id":"S"},"body":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"charge_card","arguments":{}}}},"res":{"statusCode":200,"headers":{"content-type":"text/event-stream"}},"responseTime":60020,"msg":"request aborted"}"#,
            "pino-http",
        ),
        (
            r#"{"ts":1786698005.0,"instance":"a","event":"tool_start","tool":"charge_card","request_id":"2","session_id":"S"}"#,
            "server application events",
        ),
        (
            r#"{"unbroken":1,"start":"2026-08-14T09:00:05Z","end":"2026-08-14T09:00:06Z","method":"POST","path":"/mcp","status":200,"session_in":"S","request":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"charge_card","arguments":{}}},"events":[{"id":"1","data":"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}"}],"content_type":"text/event-stream","cause":"complete"}"#,
            "unbroken jsonl",
        ),
    ];
    for (line, format) in lines {
        let (events, taken) = read_text(&format!("{line}\n{line}\n"));
        assert_eq!(taken.summary.format, format);
        assert!(taken.problems.is_empty(), "{format}: {:?}", taken.problems);
        assert_eq!(calls(&events, "charge_card").len(), 2, "{format}: {events:?}");
    }
}

#[test]
fn messages_of_sdk_logs_become_steps() {
    let step = |line: &str| match read_text(&format!("{line}\n")).0.pop().map(|e| e.what) {
        Some(What::Lifecycle(l)) => (l.step, l.session.map(String::from), l.session_is_prefix),
        other => panic!("{line}: {other:?}"),
    };
    use LifecycleStep::*;
    let s = || Some("S1".to_owned());
    assert_eq!(
        step(
            r#"{"asctime":"2026-08-14 09:00:05,123","levelname":"INFO","name":"mcp.server.streamable_http_manager","message":"Session S1 idle timeout"}"#
        ),
        (SessionExpired, s(), false)
    );
    assert_eq!(
        step(
            r#"{"timestamp":"2026-08-14T09:00:05Z","level":"info","logger":"mcp.server.streamable_http_manager","event":"Rejected request with unknown or expired session ID: S1"}"#
        ),
        (SessionUnknown, s(), true)
    );
    assert_eq!(
        step(
            r#"{"timestamp":"2026-08-14T09:00:00Z","level":"INFO","message":"create new session","session_id":"\"S1\"","target":"rmcp::transport::streamable_http_server::session::local"}"#
        ),
        (SessionCreated, s(), false)
    );
    assert_eq!(
        step(
            r#"{"Timestamp":"2026-08-14T09:00:03Z","LogLevel":"Information","Category":"ModelContextProtocol.Server","State":{"SessionId":"S1","{OriginalFormat}":"IdleTimeout of {IdleTimeout} exceeded. Closing idle session {SessionId}."}}"#
        ),
        (SessionExpired, s(), false)
    );
    assert_eq!(
        step(
            r#"{"@timestamp":"2026-08-14T09:01:12Z","message":"SSE connection timed out for session: S1","logger_name":"io.modelcontextprotocol.server.X","level":"DEBUG"}"#
        ),
        (StreamClosed, s(), false)
    );
}

#[test]
fn nginx_says_why_a_stream_was_cut() {
    let line = |words: &str| {
        format!(
            "2026/11/29 14:08:44 [error] 30845#30845: *9 {words}, client: 127.0.0.1, server: , request: \"POST /mcp HTTP/1.1\", upstream: \"http://127.0.0.1:18001/mcp\", host: \"x\"\n"
        )
    };
    let remark = |words: &str| match read_text(&line(words)).0.pop() {
        Some(Event { what: What::Remark(r), identity, .. }) => {
            assert_eq!(identity.connection.as_deref(), Some("9"));
            assert_eq!(r.upstream.as_deref(), Some("127.0.0.1:18001"));
            (r.end.cause, r.end.phase, r.delivered)
        }
        other => panic!("{words}: {other:?}"),
    };
    let idle = "upstream timed out (110: Connection timed out) while reading";
    assert_eq!(
        remark(&format!("{idle} upstream")),
        (Cause::UpstreamIdleTimeout, Phase::InBody, Delivered::Yes)
    );
    assert_eq!(
        remark(&format!("{idle} response header from upstream")),
        (Cause::UpstreamIdleTimeout, Phase::BeforeHeaders, Delivered::Yes)
    );
    assert_eq!(
        remark("connect() failed (111: Connection refused) while connecting to upstream"),
        (Cause::ConnectFailed, Phase::BeforeHeaders, Delivered::No)
    );
    assert_eq!(
        remark("upstream prematurely closed connection while reading upstream"),
        (Cause::UpstreamAbort, Phase::InBody, Delivered::Yes)
    );
    let client = "epoll_wait() reported that client prematurely closed connection, so upstream connection is closed too while sending to client";
    assert_eq!(remark(client).0, Cause::ClientAbort);
}

#[test]
fn what_is_no_log_is_refused_with_a_way_out() {
    let (events, taken) = read_text("{\"status\":\"open\",\"latencies\":{\"request\":1}}\n");
    assert!(events.is_empty() && !taken.summary.read);
    assert!(taken.problems[0].message.contains("kong (no started_at)"), "{:?}", taken.problems);
    assert!(taken.problems[0].help.contains("mapping guess") && taken.problems[0].lost && taken.log);
    let (_, taken) = read_text("dear diary\nnothing happened today\n");
    assert!(!taken.summary.read && taken.problems[0].lost && !taken.log);
    assert!(!taken.problems[0].help.contains("mapping"), "{:?}", taken.problems);
}

#[test]
fn a_half_written_line_is_named_and_the_rest_read() {
    let good = r#"{"unbroken":1,"start":"2026-08-14T09:00:05Z","method":"GET","session_in":"S"}"#;
    let (events, taken) = read_text(&format!("{good}\n{good}\n{}", &good[..30]));
    assert_eq!(events.len(), 2);
    assert_eq!(taken.problems[0].place, Some(Place::Line(3)));
    assert!(taken.problems[0].lost);
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let (events, taken) = read_text(&format!("{good}\n{deep}\n{good}\n"));
    assert_eq!((events.len(), taken.problems.len()), (2, 1));
}

#[test]
fn a_users_mapping_goes_first_and_its_errors_name_the_key() {
    let mapping = "schema = 1\nname = \"mine\"\nvantage = \"proxy\"\n[detect]\nrequire = [\"verb\"]\n[time]\nat = \"when\"\nmeans = \"start\"\n[exchange]\nmethod = \"verb\"\n[request]\nsession = \"sid\"\n";
    let formats = Formats::load(&[("m.toml".into(), mapping.into())]).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    std::fs::write(&path, "{\"when\":\"2026-08-14T09:00:05Z\",\"verb\":\"DELETE\",\"sid\":\"S\"}\n").unwrap();
    let mut events = Vec::new();
    let taken =
        intake::read(&path, 0, &formats, &Limits::default(), Keep::default(), &mut |e| events.push(e));
    assert_eq!((taken.summary.format.as_str(), events.len()), ("mine", 1));
    let wrong = mapping.replace("require", "requires");
    let (at, error) = Formats::load(&[("m.toml".into(), wrong)]).err().unwrap();
    assert_eq!(at, "m.toml");
    assert!(error.to_string().contains("did you mean require?"), "{error}");
}

#[test]
fn every_recording_is_read() {
    let Some(captures) = shared("captures") else { return };
    let mut read_files = 0;
    for run in std::fs::read_dir(captures).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()) {
        for path in std::fs::read_dir(run).unwrap().map(|e| e.unwrap().path()) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if [".json", ".conf", ".cfg", "Caddyfile"].iter().any(|end| name.ends_with(end)) {
                continue;
            }
            let (_, taken) = read(&path);
            assert!(
                taken.summary.read && taken.problems.is_empty(),
                "{}: {:?}",
                path.display(),
                taken.problems
            );
            read_files += 1;
        }
    }
    assert!(read_files > 900, "{read_files}");
}

#[test]
fn a_null_is_logged_and_a_missing_key_is_not() {
    let logged = |line: &str| match read_text(&format!("{line}\n")).0.pop().map(|e| e.what) {
        Some(What::Exchange(x)) => (x.logged.session_in, x.logged.last_event_id, x.logged.instance),
        other => panic!("{line}: {other:?}"),
    };
    let head = r#"{"start_time":"2026-08-14T09:00:05.000Z","method":"POST","response_code":200,"response_flags":"-","mcp_session_id_out":"S""#;
    assert_eq!(logged(&format!("{head}}}")), (false, false, false));
    let all = r#","mcp_session_id":null,"last_event_id":null,"upstream_host":"-"}"#;
    assert_eq!(logged(&format!("{head}{all}")), (true, true, true));
}

#[test]
fn logs_without_mcp_facts_are_recognised_and_explain() {
    let alb = r#"https 2026-08-14T09:01:05.020000Z app/lb/50dc 203.0.113.24:51544 198.51.100.11:8080 0.001 0.020 -1 504 504 563 291 "POST https://mcp.example.com:443/mcp HTTP/1.1" "agent/1" X TLSv1.3 arn:aws "Root=1-6a" "mcp.example.com" "arn" 0 2026-08-14T09:00:05.000000Z "forward" "-" "-""#;
    let lines = [
        (alb, "aws alb"),
        (
            r#"{"requestId":"r","ip":"203.0.113.24","requestTimeEpoch":1786698005000,"httpMethod":"POST","path":"/mcp","status":504,"responseLatency":29000}"#,
            "aws api gateway",
        ),
        (
            r#"{"timestamp":"2026-08-14T09:01:05Z","c-ip":"203.0.113.24","cs-method":"POST","cs-uri-stem":"/mcp","sc-status":"200","x-edge-request-id":"e","x-edge-detailed-result-type":"ClientCommError","time-taken":"60.02"}"#,
            "aws cloudfront",
        ),
        (
            r#"{"insertId":"i","timestamp":"2026-08-14T09:00:05Z","httpRequest":{"requestMethod":"POST","requestUrl":"https://x/mcp","latency":"60.02s"},"jsonPayload":{"@type":"type.googleapis.com/google.cloud.loadbalancing.type.LoadBalancerLogEntry","statusDetails":"client_disconnected_after_partial_response"}}"#,
            "gcp load balancer",
        ),
    ];
    for (line, format) in lines {
        let (events, taken) = read_text(&format!("{line}\n"));
        assert_eq!(taken.summary.format, format);
        let Some(What::Remark(remark)) = events.first().map(|e| &e.what) else {
            panic!("{format}: {events:?}")
        };
        assert_eq!((remark.method, remark.path.as_deref()), (Method::Post, Some("/mcp")), "{format}");
        assert_ne!(remark.end.cause, Cause::Complete, "{format}");
        assert!(events[0].identity.remote_addr.is_some() || format.starts_with("gcp"), "{format}");
    }
    let forge = r#"{"asctime":"2026-08-14 09:00:05,000","name":"mcpgateway.transports","levelname":"INFO","message":"[HTTP_AFFINITY] Worker 1 | Session 5f1c2b7e... | Owner: 2 | Forwarding HTTP request","@timestamp":"2026-08-14T09:00:05Z","hostname":"h","process_id":7,"request_id":"r"}"#;
    let (events, taken) = read_text(&format!("{forge}\n"));
    assert_eq!(taken.summary.format, "mcp context forge");
    assert!(
        matches!(&events[0].what, What::Lifecycle(l) if l.session_is_prefix && l.session.as_deref() == Some("5f1c2b7e"))
    );
    let (_, taken) = read_text("{\"level\":\"info\",\"msg\":\"started\"}\n");
    assert!(!taken.summary.read && taken.problems.is_empty(), "{taken:?}");
}

#[test]
fn logs_that_hold_nothing_are_named_with_a_way_out() {
    let lines = [
        (
            "2026/08/14 09:00:00.014\tINFO\thttp.log.access.log0\thandled request\t{\"status\": 200}",
            "format json",
        ),
        ("  - Calling tool transfer with arguments: object with 3 field(s)", "docker mcp gateway"),
    ];
    for (line, words) in lines {
        let (events, taken) = read_text(&format!("{line}\n{line}\n"));
        assert!(taken.summary.format.contains(words), "{}", taken.summary.format);
        assert!(events.is_empty() && taken.problems.is_empty(), "{line}: {:?}", taken.problems);
    }
}

#[test]
fn other_shells_of_a_format_are_known_by_its_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/logs/formats");
    let expected = [
        ("agentgateway_spans.jsonl", "agentgateway in otlp traces"),
        ("agentgateway_text.log", "agentgateway (text)"),
        ("azure_apim_diagnostic.json", "azure apim mcp"),
        ("caddy_with_bodies.jsonl", "caddy access log"),
        ("dotnet_serilog.jsonl", ".net mcp sdk"),
        ("envoy_long_flags.jsonl", "envoy access log"),
        ("envoy_mcp_as_text.jsonl", "envoy access log"),
        ("fastmcp_plain.jsonl", "python mcp sdk"),
        ("fastmcp_structlog.jsonl", "fastmcp structured"),
        ("haproxy_text.log", "haproxy http log (text)"),
        ("istio_text.log", "envoy access log (text)"),
        ("java_gelf.jsonl", "java mcp sdk"),
        ("nginx_text.log", "nginx access log (text)"),
        ("python_otlp_logs.jsonl", "python mcp sdk in otlp logs"),
        ("traefik_clf.log", "traefik access log (CLF)"),
    ];
    for (file, format) in expected {
        let (_, taken) = read(&folder.join(file));
        assert_eq!(taken.summary.format, format, "{file}");
        assert!(taken.summary.read && taken.problems.is_empty(), "{file}: {:?}", taken.problems);
    }
}

#[test]
fn loggers_go_by_many_names() {
    let message = r#""Session S1 idle timeout""#;
    let logger = "mcp.server.streamable_http_manager";
    let lines = [
        format!(
            r#"{{"@timestamp":"2026-08-14T09:00:05Z","log":{{"level":"info","logger":"{logger}"}},"message":{message}}}"#
        ),
        format!(
            r#"{{"@timestamp":"2026-08-14T09:00:05Z","log.level":"info","log.logger":"{logger}","message":{message}}}"#
        ),
        format!(r#"{{"created":1786698005.123,"levelname":"INFO","name":"{logger}","message":{message}}}"#),
        format!(
            r#"{{"text":"x","record":{{"level":{{"name":"INFO"}},"name":"{logger}","message":{message},"time":{{"timestamp":1786698005.123}}}}}}"#
        ),
        format!(
            r#"{{"severity":"INFO","time":"2026-08-14T09:00:05Z","message":{message},"logging.googleapis.com/labels":{{"python_logger":"{logger}"}}}}"#
        ),
    ];
    for line in lines {
        let (events, taken) = read_text(&format!("{line}\n"));
        assert!(taken.problems.is_empty(), "{line}: {:?}", taken.problems);
        let Some(What::Lifecycle(step)) = events.first().map(|event| &event.what) else { panic!("{line}") };
        assert_eq!(
            (step.step, step.session.as_deref()),
            (LifecycleStep::SessionExpired, Some("S1")),
            "{line}"
        );
    }
}
