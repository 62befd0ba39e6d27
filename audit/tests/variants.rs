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
