use super::*;
use proptest::prelude::*;

fn one(text: &str) -> Message {
    match read_body(text.as_bytes(), Keep::default()) {
        Body::Messages(mut messages) if messages.len() == 1 => messages.remove(0),
        other => panic!("{text}: {other:?}"),
    }
}

fn call(text: &str) -> ToolCall {
    let Message::Request(request) = one(text) else { panic!("{text}") };
    request.call.unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn equal_arguments_in_another_order_are_the_same_call() {
    let first = call(r#"{"id":2,"method":"tools/call","params":{"name":"t","arguments":{"a":1,"b":[1.0]}}}"#);
    let second = call(
        r#"{"params":{"arguments":{"b":[1.0],"a":1},"name":"t","_meta":{"progressToken":9}},"id":7,"method":"tools/call"}"#,
    );
    assert_eq!(first, second);
    let third = call(r#"{"id":2,"method":"tools/call","params":{"name":"t","arguments":{"a":2,"b":[1.0]}}}"#);
    assert_ne!(first, third);
}

#[test]
fn absent_arguments_are_the_empty_object() {
    let absent = call(r#"{"id":2,"method":"tools/call","params":{"name":"t"}}"#);
    let empty = call(r#"{"id":2,"method":"tools/call","params":{"name":"t","arguments":{}}}"#);
    assert_eq!(absent, empty);
}

#[test]
fn arguments_are_the_same_wherever_they_are_read() {
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    for own in [
        r#"{"b":[1.0,"\u00e9"], "a":{}}"#,
        "null",
        "\"text\"",
        "-1.50",
        "1abc",
        "truex",
        "[1,]",
        "{\"a\":1,\"a\":2}",
        "{\"a\":1]",
        "",
        &deep,
    ] {
        // Behind the method they are read with the message, before it for themselves.
        let params = format!(r#""params":{{"name":"t","arguments":{own},"task":{{}}}}"#);
        let before =
            read_body(format!(r#"{{"id":2,{params},"method":"tools/call"}}"#).as_bytes(), Keep::default());
        let behind =
            read_body(format!(r#"{{"id":2,"method":"tools/call",{params}}}"#).as_bytes(), Keep::default());
        assert_eq!(behind, before, "{own}");
    }
}

#[test]
fn the_next_round_of_a_call_is_another_call() {
    let first = call(r#"{"id":2,"method":"tools/call","params":{"name":"t"}}"#);
    let next = call(
        r#"{"id":3,"method":"tools/call","params":{"name":"t","requestState":"x","inputResponses":{}}}"#,
    );
    assert!(first.round.is_none() && next.round.is_some());
}

#[test]
fn ids_keep_their_type() {
    let id = |text: &str| match one(text) {
        Message::Request(request) => request.id,
        other => panic!("{other:?}"),
    };
    assert_eq!(id(r#"{"id":2,"method":"ping"}"#), Some(RpcId::Number("2".into())));
    assert_eq!(id(r#"{"id":"2","method":"ping"}"#), Some(RpcId::String("2".into())));
}

#[test]
fn one_number_written_in_two_ways_is_one_id() {
    let asked =
        |id: &str| match one(&format!(r#"{{"id":{id},"method":"tools/call","params":{{"name":"t"}}}}"#)) {
            Message::Request(request) => request.id,
            other => panic!("{other:?}"),
        };
    let answered = |id: &str| match one(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)) {
        Message::Response(response) => response.id,
        other => panic!("{other:?}"),
    };
    for (one, other) in
        [("2", "2.0"), ("2", "2e0"), ("20", "2E1"), ("-0", "0"), ("9007199254740992", "9007199254740992.0")]
    {
        assert_eq!(asked(one), answered(other), "{one} {other}");
    }
    for (one, other) in
        [("2", "\"2\""), ("2", "2.5"), ("9007199254740993", "9007199254740992"), ("\"2.0\"", "2")]
    {
        assert_ne!(asked(one), answered(other), "{one} {other}");
    }
}

#[test]
fn responses_tell_what_they_hold() {
    let outcome = |text: &str| match one(text) {
        Message::Response(response) => response.outcome,
        other => panic!("{other:?}"),
    };
    assert_eq!(outcome(r#"{"jsonrpc":"2.0","id":1,"result":{"isError":true}}"#), RpcOutcome::ToolError);
    assert_eq!(
        outcome(r#"{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t1"}}}"#),
        RpcOutcome::Task("t1".into())
    );
    assert_eq!(
        outcome(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}"#),
        RpcOutcome::Error { code: -32001, about: About::Session }
    );
    let RpcOutcome::Tools(tools) = outcome(
        r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"pay","annotations":{"idempotentHint":true}},{"name":"x"}]}}"#,
    ) else {
        panic!("no tools")
    };
    assert_eq!((tools[0].idempotent, tools[1].idempotent), (Some(true), None));
}

#[test]
fn a_cut_body_is_told_from_another_protocol() {
    let read = |text: &str| read_body(text.as_bytes(), Keep::default());
    assert_eq!(read(r#"{"jsonrpc":"2.0","id":1,"me"#), Body::Unreadable(Unreadable::Truncated));
    assert_eq!(read("<html>"), Body::Unreadable(Unreadable::Foreign));
    assert_eq!(read(r#"{"hello":1}"#), Body::Unreadable(Unreadable::Foreign));
    assert_eq!(read(" "), Body::Empty);
}

#[test]
fn a_hundred_thousand_levels_neither_overflow_nor_fail() {
    let deep = format!(r#"{{"id":1,"method":"x","params":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    assert!(matches!(one(&deep), Message::Request(_)));
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let body = read_body(&bytes, Keep::default());
        prop_assert!(bytes.trim_ascii().is_empty() == (body == Body::Empty));
    }
}

#[test]
fn numbers_that_a_double_cannot_hold_are_told_apart() {
    let of = |number: &str| {
        call(&format!(
            r#"{{"id":2,"method":"tools/call","params":{{"name":"t","arguments":{{"a":{number}}}}}}}"#
        ))
    };
    assert_ne!(of("18446744073709551617"), of("18446744073709551618"));
    assert_eq!(of("1.0"), of("1"));
}
