//! The stories of `fixtures/logs/formats`, told as producers and operators may as well write them: the same is found.
#![allow(clippy::unwrap_used)]

mod known;

use known::options;
use serde_json::Value;
use std::path::Path;
use unbroken_audit::finding::{Certainty, Finding};
use unbroken_audit::run::{Options, Summary, run};
use unbroken_contract::breach::Breach;

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/logs/formats").join(name);
    std::fs::read_to_string(path).unwrap()
}

type Told = Vec<(Breach, Certainty)>;

fn told(text: &str) -> (Told, Summary) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let mut found: Vec<Finding> = Vec::new();
    let paths = [file.path().to_owned()];
    let outcome = run(&paths, &Options { threads: 1, ..options() }, &mut |finding| found.push(finding));
    let mut told: Told = found.iter().map(|finding| (finding.breach.0, finding.certainty)).collect();
    told.sort();
    (told, outcome)
}

/// The fixture's records, each changed.
fn each(name: &str, change: impl Fn(&mut Value)) -> String {
    let text = fixture(name);
    let records = text.lines().map(|line| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        change(&mut record);
        record.to_string() + "\n"
    });
    records.collect()
}

/// Finds in the changed text what the fixture tells, with no record left out.
fn same(name: &str, changed: &str) {
    assert_ne!(fixture(name), changed, "{name} is changed");
    let (found, outcome) = told(changed);
    assert_eq!(found, told(&fixture(name)).0, "{name}: {:?}", outcome.problems);
    assert!(outcome.problems.is_empty(), "{name}: {:?}", outcome.problems);
}

/// Envoy with `omit_empty_values`: the request that ends a session then has no fact of MCP left.
#[test]
fn what_is_null_may_be_left_out() {
    let omitted = each("envoy_ai_gateway.jsonl", |record| {
        record.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    });
    let (found, outcome) = told(&omitted);
    assert_eq!(found, told(&fixture("envoy_ai_gateway.jsonl")).0);
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
}

/// A request that was never answered has neither a response nor an error in the Inspector's export.
#[test]
fn what_the_inspector_does_not_know_an_answer_of_is_open() {
    let name = "inspector_protocol.json";
    let mut entries: Vec<Value> = serde_json::from_str(&fixture(name)).unwrap();
    for entry in entries.iter_mut().filter(|entry| entry.get("response").is_none()) {
        let entry = entry.as_object_mut().unwrap();
        entry.remove("clientError");
        entry.remove("duration");
    }
    same(name, &serde_json::to_string(&entries).unwrap());
}

/// Diagnostic settings write a service's own fields with a small letter first.
#[test]
fn azures_properties_may_begin_small() {
    let name = "azure_apim_diagnostic.json";
    let mut export: Value = serde_json::from_str(&fixture(name)).unwrap();
    for record in export["records"].as_array_mut().unwrap() {
        let properties = std::mem::take(record["properties"].as_object_mut().unwrap());
        let small = |(key, value): (String, Value)| (key[..1].to_lowercase() + &key[1..], value);
        record["properties"] = Value::Object(properties.into_iter().map(small).collect());
    }
    same(name, &export.to_string());
}

/// The key of a CEL expression is the operator's.
#[test]
fn agentgateways_arguments_go_by_the_operators_name() {
    let name = "agentgateway_text.log";
    for key in ["tool_args", "mcp.tool.args", "arguments"] {
        same(name, &fixture(name).replace("mcp.tool.arguments=", &format!("{key}=")));
    }
}

/// `customProps` puts the body beside the request, a serializer of Express' request below `raw`.
#[test]
fn pinos_body_stands_where_the_application_put_it() {
    let name = "pino_http.jsonl";
    let moved = |to: &'static str| {
        each(name, move |record| {
            if let Some(body) = record["req"].as_object_mut().unwrap().remove("body") {
                match to {
                    "raw" => record["req"]["raw"] = serde_json::json!({ "body": body }),
                    _ => record[to] = body,
                }
            }
        })
    };
    for to in ["raw", "body", "reqBody"] {
        same(name, &moved(to));
    }
}

/// LiteLLM names sessions only for servers that keep some. Without one no revision is told, which may have made the client
/// send again; two calls that both got their result are two wishes.
#[test]
fn litellm_without_sessions_shows_a_possible_duplicate() {
    let name = "litellm_no_reason.jsonl";
    let without = |reason: &'static str| {
        each(name, move |record| {
            let call = record["metadata"]["mcp_tool_call_metadata"].as_object_mut().unwrap();
            call.remove("mcp_session_id");
            if record["status"] == "failure" {
                record["error_str"] = reason.into();
            }
        })
    };
    let (found, outcome) = told(&without("client disconnected"));
    assert_eq!(found, [(Breach::DuplicateInvocation, Certainty::Possible)], "{:?}", outcome.problems);
    let (found, _) = told(&without("HTTP 500 from the server"));
    assert_eq!(found, [], "nobody left");
}

/// The keys of a fixture, each by another name.
fn renamed(name: &str, names: &[(&str, &str)]) -> String {
    each(name, |record| {
        let record = record.as_object_mut().unwrap();
        for (old, new) in names {
            if let Some(value) = record.remove(*old) {
                record.insert((*new).to_owned(), value);
            }
        }
    })
}

/// A template's keys are the operator's: short ones, and the names of headers with their side in any order.
#[test]
fn keys_of_templates_may_be_built_of_the_names_of_headers() {
    same(
        "nginx_request_line.jsonl",
        &renamed(
            "nginx_request_line.jsonl",
            &[
                ("http_mcp_session_id", "req_hdr_mcp_session_id"),
                ("sent_http_mcp_session_id", "mcp-session-id-response"),
                ("sent_http_content_type", "resp.content-type"),
                ("http_last_event_id", "lastEventId"),
                ("request_body", "reqBody"),
                ("remote_addr", "ip"),
                ("request_time", "rt"),
                ("http_user_agent", "ua"),
                ("status", "statusCode"),
            ],
        ),
    );
    same(
        "haproxy_other_names.jsonl",
        &renamed(
            "haproxy_other_names.jsonl",
            &[
                ("mcp_session_id", "captured_request_header_mcp_session_id"),
                ("mcp_session_id_out", "captured_response_header_mcp_session_id"),
                ("status", "status_code"),
                ("method", "http_method"),
                ("uri", "http_uri"),
                ("Ta", "time_active"),
                ("server", "server_name"),
                ("frontend", "frontend_name"),
                ("backend", "backend_name"),
                ("retries", "retry_count"),
            ],
        ),
    );
    for (request, response) in [
        ("req.mcp-session-id", "resp.mcp-session-id"),
        ("request_header_mcp_session_id", "response_header_mcp_session_id"),
        ("request.headers.mcp-session-id", "response.headers.mcp-session-id"),
    ] {
        let names = [("mcp_session_id", request), ("mcp_session_id_out", response)];
        same("envoy_metadata_parts.jsonl", &renamed("envoy_metadata_parts.jsonl", &names));
    }
}

/// nginx writes what the template says, objects too.
#[test]
fn a_templates_facts_may_stand_in_objects() {
    let name = "nginx_request_line.jsonl";
    let nested = each(name, |record| {
        let take = |key: &str| record.get(key).cloned().unwrap_or_default();
        let method = take("request").as_str().unwrap().split(' ').next().unwrap().to_owned();
        *record = serde_json::json!({
            "@timestamp": take("msec"),
            "client": {"ip": take("remote_addr"), "user_agent": take("http_user_agent")},
            "request": {"method": method, "uri": "/mcp", "body": take("request_body"),
                "headers": {"mcp-session-id": take("http_mcp_session_id")}},
            "response": {"status": take("status"), "body_bytes": take("body_bytes_sent"),
                "headers": {"mcp-session-id": [take("sent_http_mcp_session_id")], "content-type": take("sent_http_content_type")}},
            "request_time": take("request_time"),
            "request_completion": take("request_completion"),
            "upstream_addr": take("upstream_addr"),
            "upstream_status": take("upstream_status"),
        });
    });
    same(name, &nested);
}

/// The Python SDK's client writes down what an event stream answers and not what a JSON body does.
#[test]
fn a_client_that_logs_no_answers_has_not_missed_any() {
    let name = "python_client_debug.jsonl";
    let heard = |line: &&str| line.contains("SSE message");
    let text = fixture(name);
    let sends: Vec<&str> = text.lines().filter(|line| !heard(line)).collect();
    let shown = |lines: &[&str]| told(&(lines.join("\n") + "\n")).0;
    assert_eq!(shown(&sends), told(&text).0, "it gave the session up over the call");
    let handshakes: Vec<usize> = sends
        .iter()
        .enumerate()
        .filter(|(_, line)| line.contains("'initialize'"))
        .map(|(at, _)| at)
        .collect();
    let opened = |line: &&&str| line.contains("session ID");
    let cut = |line: &&str| line.contains("SSE stream ended");
    let (before, after) = sends.split_at(handshakes[1]);
    let one: Vec<&str> = before
        .iter()
        .filter(|line| !cut(line))
        .chain(after[1..].iter().filter(|line| !opened(line)))
        .copied()
        .collect();
    let calls = one.iter().filter(|line| line.contains("'tools/call'")).count();
    assert_eq!(
        (calls, shown(&one)),
        (2, vec![]),
        "two calls on one session, either of which may have been answered"
    );
}

/// The C# SDK's client at TRACE, through the console and through Serilog: what it sends, and what it receives.
#[test]
fn the_dotnet_client_tells_its_messages_at_trace() {
    let sent = |id: u8, method: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
    };
    let call = r#"{"name":"pay","arguments":{"n":1}}"#;
    let start = r#"{"protocolVersion":"2025-11-25","clientInfo":{"name":"a","version":"1"}}"#;
    let answer = |id: u8| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#);
    let templates = [
        "{EndpointName} sending message. Message: '{Message}'.",
        "{EndpointName} transport received message. Message: '{Message}'.",
    ];
    let console = |second: usize, template: usize, message: &str| {
        let sentence =
            templates[template].replace("{EndpointName}", "Client (a 1)").replace("{Message}", message);
        let [sentence, message, template] =
            [&*sentence, message, templates[template]].map(|text| serde_json::to_string(text).unwrap());
        format!(
            r#"{{"Timestamp":"2026-08-14T09:00:{second:02}.000Z","EventId":1,"LogLevel":"Trace","Category":"ModelContextProtocol.Client.McpClient","Message":{sentence},"State":{{"Message":{sentence},"EndpointName":"Client (a 1)","Message":{message},"{{OriginalFormat}}":{template}}}}}"#
        )
    };
    let serilog = |second: usize, template: usize, message: &str| {
        serde_json::json!({"@t": format!("2026-08-14T09:00:{second:02}.000Z"), "@mt": templates[template], "@l": "Verbose",
            "Message": message, "SourceContext": "ModelContextProtocol.Client.McpClient"})
        .to_string()
    };
    for through_serilog in [false, true] {
        let shell = |second, template, message: &str| match through_serilog {
            true => serilog(second, template, message),
            false => console(second, template, message),
        };
        let story = |answered: bool| {
            let mut lines = vec![shell(0, 0, &sent(0, "initialize", start)), shell(1, 1, &answer(0))];
            lines.push(shell(5, 0, &sent(1, "tools/call", call)));
            lines.extend(answered.then(|| shell(6, 1, &answer(1))));
            lines.push(shell(30, 0, &sent(2, "tools/call", call)));
            lines.push(shell(31, 1, &answer(2)));
            told(&(lines.join("\n") + "\n"))
        };
        let (found, outcome) = story(true);
        assert_eq!(found, [], "{:?}", outcome.problems);
        assert_eq!(story(false).0, [(Breach::BlindRetry, Certainty::Likely)]);
    }
}

/// A shipper's time stands beside the log's own, before it or after.
#[test]
fn a_shippers_time_does_not_go_before_the_logs_own() {
    let shipped = |name: &'static str, key: &'static str| {
        each(name, move |record| {
            let mut shut = serde_json::json!({ key: "2026-12-24T18:00:00.000Z" });
            let own = record.as_object_mut().unwrap();
            own.remove("time_iso8601");
            if let Some(time) = own.remove("msec") {
                own.insert("timestamp".to_owned(), time);
            }
            shut.as_object_mut().unwrap().extend(own.clone());
            *record = shut;
        })
    };
    same("nginx_request_line.jsonl", &shipped("nginx_request_line.jsonl", "@timestamp"));
    same("haproxy_other_names.jsonl", &shipped("haproxy_other_names.jsonl", "@timestamp"));
    same("haproxy_other_names.jsonl", &shipped("haproxy_other_names.jsonl", "date"));
}
