//! The names that operators build for fields of access logs: a header's or a fact's name, and the side that it is of, in any
//! order and spelling. Knows words, and the usual key of each fact; what a record means is its format's affair.

use serde_json::{Map, Value};

/// Headers by their letters alone, with the usual key of the request's and of the response's.
const HEADERS: [(&str, Option<&str>, Option<&str>); 11] = [
    ("mcpsessionid", Some("session_in"), Some("session_out")),
    ("mcpprotocolversion", Some("protocol_version"), None),
    ("mcpmethod", Some("mcp_method"), None),
    ("mcpname", Some("mcp_name"), None),
    ("lasteventid", Some("last_event_id"), None),
    ("idempotencykey", Some("idempotency_key"), None),
    ("traceparent", Some("traceparent"), None),
    ("useragent", Some("user_agent"), None),
    ("xforwardedfor", Some("x_forwarded_for"), None),
    ("contenttype", None, Some("content_type_out")),
    ("retryafter", None, Some("retry_after")),
];

/// How many of them begin with MCP's name.
const OWN: usize = 4;

/// Words of the side that a request comes from, and of the side that answers.
const ASKED: [&str; 9] = ["http", "request", "req", "header", "headers", "hdr", "client", "in", "captured"];
const GIVEN: [&str; 11] =
    ["sent", "response", "resp", "res", "rsp", "out", "upstream", "downstream", "origin", "reply", "server"];

/// The usual key of a fact, for one that is built of its name: `resp_hdr.mcp-session-id` is `session_out`.
pub(super) fn usual(key: &str) -> Option<&'static str> {
    // The longest is `http.response.header.mcp-protocol-version`.
    if !(4..=48).contains(&key.len()) {
        return None;
    }
    let mut letters = [0; 48];
    let mut length = 0;
    for byte in key.bytes().filter(u8::is_ascii_alphanumeric) {
        letters[length] = byte.to_ascii_lowercase();
        length += 1;
    }
    let letters = std::str::from_utf8(&letters[..length]).ok()?;
    if let Some(usual) = fact(letters) {
        return Some(usual);
    }
    // Most keys are of neither kind, and every one of a log is asked.
    let (own, common) = HEADERS.split_at(OWN);
    let headers = if letters.contains("mcp") { own } else { common };
    headers.iter().find_map(|(name, asked, given)| {
        let rest = letters.strip_suffix(name).or_else(|| letters.strip_prefix(name))?;
        if is_built_of(rest, &ASKED) {
            *asked
        } else if GIVEN.iter().any(|word| rest.contains(word)) && is_built_of_either(rest) {
            *given
        } else {
            None
        }
    })
}

/// The usual key of a fact that is no header's.
fn fact(letters: &str) -> Option<&'static str> {
    Some(match letters {
        "requestmethod" | "httpmethod" | "httprequestmethod" | "httpverb" | "verb" => "request_method",
        "requesturi" | "requesturl" | "requestpath" | "httprequesturi" | "httppath" | "httpurl"
        | "urlpath" => "uri",
        "responsestatus" | "responsestatuscode" | "statuscode" | "httpstatus" | "httpresponsestatuscode" => {
            "status"
        }
        "clientip" | "clientaddr" | "clientaddress" | "remoteip" | "remoteaddress" | "sourceip" => {
            "client_ip"
        }
        "requestbody" | "reqbody" | "httprequestbody" | "httpbody" | "postbody" => "request_body",
        "requesttime" | "requestduration" => "request_time",
        "responsebodybytes" | "httpresponsebodybytes" | "bodybytes" => "body_bytes_sent",
        _ => return None,
    })
}

fn is_built_of(rest: &str, words: &[&str]) -> bool {
    rest.is_empty()
        || words.iter().any(|word| rest.strip_prefix(word).is_some_and(|rest| is_built_of(rest, words)))
}

fn is_built_of_either(rest: &str) -> bool {
    let mut words = ASKED.iter().chain(&GIVEN);
    rest.is_empty() || words.any(|word| rest.strip_prefix(word).is_some_and(is_built_of_either))
}

/// A record whose facts stand in objects, as one object with the keys of both joined; none if it holds no object. A body
/// stays what it is, and of a list of a header's values the first counts.
pub(super) fn unfolded(record: &[u8]) -> Option<Vec<u8>> {
    let Ok(Value::Object(members)) = serde_json::from_slice(record) else { return None };
    if !members.values().any(Value::is_object) {
        return None;
    }
    let mut flat = Map::new();
    unfold("", members, &mut flat);
    serde_json::to_vec(&flat).ok()
}

fn unfold(above: &str, members: Map<String, Value>, flat: &mut Map<String, Value>) {
    for (key, value) in members {
        let body = key.to_ascii_lowercase().ends_with("body");
        let key = if above.is_empty() { key } else { format!("{above}.{key}") };
        match value {
            Value::Object(inner) if !body && key.len() < 48 => unfold(&key, inner, flat),
            Value::Array(mut list) if !body && !list.is_empty() => _ = flat.insert(key, list.swap_remove(0)),
            value => _ = flat.insert(key, value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_by_the_header_and_the_side_that_it_names() {
        for (key, expected) in [
            ("req.headers.mcp-session-id", "session_in"),
            ("reqHdrMcpSessionId", "session_in"),
            ("mcp_session_id_req", "session_in"),
            ("request.headers.Mcp-Session-Id", "session_in"),
            ("captured_request_header_mcp_session_id", "session_in"),
            ("mcp_session_id_response", "session_out"),
            ("resp_hdr.mcp-session-id", "session_out"),
            ("upstream_http_mcp_session_id", "session_out"),
            ("response.headers.content-type", "content_type_out"),
            ("hdr_last_event_id", "last_event_id"),
            ("statusCode", "status"),
            ("client.ip", "client_ip"),
            ("request.body", "request_body"),
        ] {
            assert_eq!(usual(key), Some(expected), "{key}");
        }
        // A request's content type is not what is asked for, and another word makes another name.
        for key in
            ["request_content_type", "old_mcp_session_id", "session", "id", "serverless", "upstream_addr"]
        {
            assert_eq!(usual(key), None, "{key}");
        }
    }

    #[test]
    fn objects_are_unfolded_and_bodies_are_not() {
        let record = br#"{"a":{"b":{"c":1},"h":["x","y"]},"request":{"body":{"id":1}}}"#;
        let flat: Value = serde_json::from_slice(&unfolded(record).expect("it holds objects")).expect("JSON");
        assert_eq!(flat, serde_json::json!({"a.b.c": 1, "a.h": "x", "request.body": {"id": 1}}));
        assert_eq!(unfolded(br#"{"a":1}"#), None);
    }
}
