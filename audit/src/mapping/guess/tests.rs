use super::Keys;

#[test]
fn the_body_is_known_by_what_it_holds_and_a_response_is_not_taken_for_it() {
    let mut keys = Keys::default();
    for id in 0..4 {
        let record = serde_json::json!({
            "when": "2026-08-14T09:00:00Z", "verb": "POST", "route": "/mcp", "code": 200, "sess": "a1",
            "answer": r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            "said": format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call"}}"#),
        });
        keys.look(record.to_string().as_bytes());
    }
    let proposal = keys.propose("own");
    assert!(proposal.contains("[request]\nsession = \"sess\"\nbody = \"said\"\n"), "{proposal}");
    assert!(proposal.ends_with("# keys that are not used, 1 of them:\n#   answer\n"), "{proposal}");
}

/// The proposal for records made of a number each.
fn proposal(record: impl Fn(u32) -> serde_json::Value) -> String {
    let mut keys = Keys::default();
    (0..6).for_each(|n| keys.look(record(n).to_string().as_bytes()));
    keys.propose("own")
}

fn call(id: u32) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"pay","arguments":{{}}}}}}"#
    )
}

#[test]
fn an_object_within_a_text_is_opened_and_a_list_of_headers_is_known() {
    let headers = |session: &str| serde_json::json!([["Mcp-Session-Id", session], ["Content-Type", "x"]]);
    let out = proposal(|n| {
        let inner = serde_json::json!({"m": "POST", "s": 200, "elapsed_us": 1000 * n, "rpc": call(n),
            "in": headers("a"), "out": headers("b")});
        serde_json::json!({"started": 1_786_698_000_000_u64 + u64::from(n), "data": inner.to_string()})
    });
    for line in [
        "[input]\nunpacked = [\"data\"]\n",
        "require = [\"started\", \"data\"]\n",
        "means = \"start\"\n",
        "method = \"data.m\"\nstatus = \"data.s\"\n",
        "body = \"data.rpc\"\n",
        "request = { style = \"pairs\", at = \"/data/in\" }\nresponse = { style = \"pairs\", at = \"/data/out\" }\n",
    ] {
        assert!(out.contains(line), "{line}{out}");
    }
}

#[test]
fn what_the_log_cannot_say_is_marked_and_what_is_packed_is_decoded() {
    let packed = "eyJqc29ucnBjIjoiMi4wIiwiaWQiOjEsIm1ldGhvZCI6InBpbmcifQ==";
    let out = proposal(
        |n| serde_json::json!({"t": format!("2026-08-14T09:0{n}:00Z"), "took": 60_000, "verb": "POST", "code": 200, "entity": packed}),
    );
    assert!(out.contains("body = { key = \"entity\", decode = [\"base64\"] }\n"), "{out}");
    assert!(out.contains("means = \"end\" # check: "), "sorted by its only time: {out}");
    let out = proposal(|n| {
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{n},"result":{{}}}}"#);
        serde_json::json!({"at": 1_786_698_000 + n, "msg": if n % 2 == 0 { call(n) } else { answer }})
    });
    assert!(out.contains("# msg holds requests in some records and responses in others."), "{out}");
    assert!(out.contains("vantage = \"gateway\""), "no word of HTTP: {out}");
}
