//! Records in which names stand twice, at a glance and in full: the one says nothing that the other does not.
//! Knows generated records alone.

use super::glance::Glance;
use super::{CallMark, Desk};
use crate::adapter::formats::Formats;
use crate::adapter::rpc::Keep;
use crate::event::*;
use crate::ledger::route;
use crate::order::{moment, until};
use crate::skim::{self, Kind, Skim};
use crate::source::Record;
use proptest::prelude::*;
use serde_json::Value;
use std::sync::LazyLock;
use unbroken_contract::era::Era;

/// Ordinary records as programs write them: flat, and with headers and bodies in objects of their own.
const BASES: [&str; 4] = [
    r#"{"unbroken":1,"start":"1772445600000000000","end":"1772445600000000100","remote_addr":"203.0.113.7","user_agent":"a/1","subject":"u","method":"POST","path":"/mcp","status":200,"session_in":"S","session_out":null,"protocol_version":"2025-11-25","content_type":"text/event-stream","request":"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"pay\",\"arguments\":{\"order\":1,\"note\":\"x\"}}}","events":[{"id":"e-1","data":"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[]}}"}],"cause":"complete","attempts":[{"addr":"10.0.0.1:80","status":200}]}"#,
    r#"{"unbroken":1,"start":"1772445600000000000","end":"1772445600000000100","remote_addr":"203.0.113.7","method":"POST","path":"/mcp","status":200,"session_in":null,"session_out":"S","request":"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"clientInfo\":{\"name\":\"agent\",\"version\":\"1\"}}}","events":[{"id":"e-1","data":"{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2025-11-25\"}}"}],"content_type":"text/event-stream","cause":"complete"}"#,
    r#"{"ts":"2026-03-02T10:00:00.000Z","remote_addr":"192.0.2.1","user_agent":"agent/1","method":"POST","path":"/mcp","status":200,"req_headers":{"mcp-session-id":"S","mcp-protocol-version":"2025-06-18"},"resp_headers":{"mcp-session-id":null,"content-type":"application/json"},"request_body":"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\",\"params\":{\"_meta\":{\"progressToken\":1}}}","response_events":[{"id":null,"kind":"response","rpc_id":7}],"duration_ms":20.5,"termination":"complete"}"#,
    r#"{"ts":"2026-03-02T10:00:00.000Z","remote_addr":"192.0.2.1","user_agent":"agent/1","method":"DELETE","path":"/mcp","status":200,"req_headers":{"mcp-session-id":"S"},"resp_headers":{},"request_body":null,"response_events":[],"duration_ms":20.5,"termination":"complete"}"#,
];

/// What a name's second value may be.
const VALUES: [&str; 24] = [
    "null",
    "\"\"",
    "\"-\"",
    "200",
    "404",
    "2e2",
    "3",
    "\"3\"",
    "7.0",
    "\"POST\"",
    "\"GET\"",
    "\"S9\"",
    "\"2026-07-28\"",
    "\"text/event-stream\"",
    "\"application/json\"",
    "\"tools/call\"",
    "\"client_abort\"",
    "{}",
    "[]",
    "{\"name\":\"b\",\"order\":2}",
    r#"{"mcp-session-id":"S9","Last-Event-ID":"e"}"#,
    r#""{\"mcp-session-id\":\"S9\",\"last-event-id\":\"e\"}""#,
    r#"[{"id":"e-2","data":"{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}"}]"#,
    r#""{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"pay\"}}""#,
];

struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as usize
    }
}

/// The value as text, with names in it that stand twice: one in so many objects has one.
fn write(value: &Value, dice: &mut Dice, seldom: usize) -> String {
    match value {
        Value::Object(map) => {
            let mut members: Vec<(String, String)> =
                map.iter().map(|(name, value)| (name.clone(), write(value, dice, seldom))).collect();
            if !members.is_empty() && dice.below(seldom) == 0 {
                let mut name = members[dice.below(members.len())].0.clone();
                if dice.below(8) == 0 {
                    name = name.to_uppercase();
                }
                let value = VALUES[dice.below(VALUES.len())].to_owned();
                members.insert(dice.below(members.len() + 1), (name, value));
            }
            let members: Vec<String> =
                members.into_iter().map(|(name, value)| format!("{}:{value}", Value::from(name))).collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(list) => {
            let list: Vec<String> = list.iter().map(|value| write(value, dice, seldom)).collect();
            format!("[{}]", list.join(","))
        }
        Value::String(text) if text.starts_with('{') => {
            let inner = serde_json::from_str::<Value>(text).expect("a body is JSON");
            Value::from(write(&inner, dice, seldom)).to_string()
        }
        other => other.to_string(),
    }
}

fn record(text: &str) -> Record<'_> {
    let origin = Origin { seal: 0, file: 0, offset: 0, place: Place::Line(1) };
    Record::new(origin, text.as_bytes()).sealed()
}

/// The same formats twice: those of the second have learned how the bases are written.
static FORMATS: LazyLock<[Formats; 2]> = LazyLock::new(|| {
    let load = || Formats::load(&[]).expect("the shipped mappings are compiled by a test");
    let learned = load();
    for base in BASES {
        let format = learned.get(format_of(&learned, base));
        format.plan().expect("a plan").learn(BASES[..2].iter().chain([&base]).map(|base| record(base)));
    }
    [load(), learned]
});

fn format_of(formats: &Formats, text: &str) -> usize {
    match formats.tell(text.as_bytes()) {
        crate::adapter::detect::Verdict::One(format) => format,
        other => panic!("{other:?}: {text}"),
    }
}

/// The call of a request, as rules compare it: tool, arguments, round.
type Call = (Text, Digest, Option<Digest>);

fn calls(event: &Event) -> Vec<Option<Call>> {
    let What::Exchange(x) = &event.what else { return Vec::new() };
    let Body::Messages(messages) = &x.request.body else { return Vec::new() };
    let calls = messages.iter().filter_map(|message| match message {
        Message::Request(request) => request.call.as_ref(),
        _ => None,
    });
    let known = |call: &ToolCall| match &call.arguments {
        Arguments::Canonical { digest, .. } => Some((call.tool.clone(), *digest, call.round)),
        _ => None,
    };
    calls.map(known).collect()
}

/// The client's key, as the ledger's routes make it of an event.
fn client(event: &Event) -> Option<u64> {
    let Identity { subject, forwarded_for, remote_addr, user_agent, .. } = &event.identity;
    route::client_key(
        subject.as_deref(),
        forwarded_for.as_deref(),
        remote_addr.as_deref(),
        user_agent.as_deref(),
    )
}

/// What a skim says that its event does not; none: they agree.
fn odds(skim: &Skim, ids: &[u32], events: &[Event]) -> Option<String> {
    let [event] = events else { return Some(format!("{} events", events.len())) };
    let What::Exchange(x) = &event.what else { return Some("no exchange".to_owned()) };
    let mark = |text: &Option<Text>| text.as_deref().map_or(0, skim::mark);
    let messages = match &x.request.body {
        Body::Messages(messages) => messages.as_slice(),
        _ => &[],
    };
    let (kind, id) = match messages {
        [Message::Request(request)] if &*request.method == "initialize" => (Kind::Initialize, &request.id),
        [Message::Request(request)] => (Kind::Request, &request.id),
        [Message::Notification(_)] => (Kind::Notice, &None),
        [] if x.method == Method::Delete => (Kind::Delete, &None),
        other => return Some(format!("{other:?}")),
    };
    let listed = x.response.events.iter().flatten();
    let told: Vec<u32> = listed.filter_map(|event| event.id.as_deref().map(skim::mark)).collect();
    let answers = x.answers().filter(|said| match said {
        Message::Response(response) => response.id.is_some() && response.id == *id,
        _ => false,
    });
    let due = usize::from(matches!(kind, Kind::Request | Kind::Initialize));
    let era = x.request.protocol_version.as_deref().and_then(Era::of_revision);
    let session = x.request.session.as_deref().or(x.response.session.as_deref());
    let wrong = [
        ("kind", kind != skim.kind),
        ("times", (moment(event), until(event)) != (skim.start, skim.end)),
        ("session", session.map(route::hash) != Some(skim.session)),
        ("status", !x.status.is_some_and(|status| (200..300).contains(&status))),
        ("end", x.end.cause != Cause::Complete),
        ("client", client(event) != skim.client),
        ("version", mark(&x.request.protocol_version) != skim.version),
        ("era", skim.sessioned != (era == Some(Era::Sessioned))),
        ("cursor", x.request.last_event_id.is_some() || x.request.mcp_method.is_some()),
        ("id", id.as_ref().map_or(0, |id| skim::mark(crate::timeline::close::id_text(id))) != skim.asked),
        ("a call", kind == Kind::Request && calls(event).is_empty() != (skim.call == 0)),
        ("event ids", !ids.is_empty() && told != ids),
        ("answers", skim.bodies && answers.count() != due),
    ];
    let wrong: Vec<&str> = wrong.iter().filter(|(_, wrong)| *wrong).map(|(name, _)| *name).collect();
    (!wrong.is_empty()).then(|| wrong.join(", "))
}

/// The call of a record, as both readers have it; panics where the glance says what the full reading does not.
fn call_of(text: &str, formats: &Formats) -> Option<(u32, Option<Call>)> {
    let format = match formats.tell(text.as_bytes()) {
        crate::adapter::detect::Verdict::One(format) => format,
        _ => return None,
    };
    let plan = formats.get(format).plan()?;
    assert!(plan.can_glance(), "{text}");
    let (mut events, mut desk) = (Vec::new(), Desk::default());
    let read = plan.read(&record(text), Keep::default(), &mut |event| events.push(event));
    let mark = match plan.glance(&record(text), format as u16, &mut desk) {
        Glance::Ordinary(skim) => {
            assert!(read.is_ok(), "{text}");
            let odds = odds(&skim, &desk.ids, &events);
            assert_eq!(odds, None, "{text}\n{skim:?}\n{events:?}");
            if skim.kind == Kind::Request && skim.call != 0 {
                CallMark::One(skim.call)
            } else {
                CallMark::None
            }
        }
        Glance::Loud(mark) => mark,
    };
    let told: Vec<Option<Call>> = events.iter().flat_map(calls).collect();
    match mark {
        CallMark::None => assert!(told.is_empty(), "a call that the glance does not see: {text}"),
        CallMark::One(call) if told.len() == 1 => return Some((call, told.into_iter().next().flatten())),
        _ => {}
    }
    None
}

#[test]
fn the_bases_are_ordinary() {
    for formats in FORMATS.iter() {
        for base in BASES {
            let format = format_of(formats, base);
            let plan = formats.get(format).plan().expect("a plan");
            let glance = plan.glance(&record(base), format as u16, &mut Desk::default());
            assert!(matches!(glance, Glance::Ordinary(_)), "{base}");
        }
    }
}

#[test]
fn a_text_too_long_to_be_kept_is_for_the_full_reading_and_a_long_body_is_not() {
    let long = "x".repeat(crate::long::LONG + 1);
    let glance = |text: &str| {
        let formats = &FORMATS[1];
        let format = format_of(formats, text);
        formats.get(format).plan().expect("a plan").glance(&record(text), format as u16, &mut Desk::default())
    };
    let with = |base: usize, from: &str, to: &str| BASES[base].replacen(from, &to.replace("LONG", &long), 1);
    for text in [
        with(0, r#""session_in":"S""#, r#""session_in":"LONG""#),
        with(0, r#""user_agent":"a/1""#, r#""user_agent":"LONG""#),
        with(0, r#""id":"e-1""#, r#""id":"LONG""#),
        with(0, r#"\"name\":\"pay\""#, r#"\"name\":\"LONG\""#),
        with(1, r#"\"version\":\"1\""#, r#"\"version\":\"LONG\""#),
        with(2, r#""mcp-session-id":"S""#, r#""mcp-session-id":"LONG""#),
    ] {
        assert!(
            text.len() > long.len() && matches!(glance(&text), Glance::Loud(_)),
            "{}",
            text.replace(&long, "LONG")
        );
    }
    for text in [
        with(0, r#"\"note\":\"x\""#, r#"\"note\":\"LONG\""#),
        with(0, r#"\"content\":[]"#, r#"\"content\":[\"LONG\"]"#),
    ] {
        assert!(
            text.len() > long.len() && matches!(glance(&text), Glance::Ordinary(_)),
            "{}",
            text.replace(&long, "LONG")
        );
    }
}

#[test]
fn what_is_told_at_a_glance_has_no_text_that_only_the_full_reading_unpacks() {
    for format in FORMATS[0].all() {
        let unpacked = format.plan().filter(|plan| plan.can_glance()).is_some_and(super::Plan::unpacks);
        assert!(!unpacked, "{}", format.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn a_name_that_stands_twice_says_the_same_at_a_glance_and_in_full(
        base in 0..BASES.len(),
        seed in any::<u64>(),
        seldom in 1_usize..6,
    ) {
        let value: Value = serde_json::from_str(BASES[base]).expect("a base is JSON");
        let mut dice = Dice(seed);
        let mut known: Vec<(u32, Call)> = Vec::new();
        for _ in 0..4 {
            let text = write(&value, &mut dice, seldom);
            for formats in FORMATS.iter() {
                if let Some((mark, Some(call))) = call_of(&text, formats) {
                    // Equal calls have equal marks, so that a repeat is never overlooked.
                    let other = known.iter().find(|(other, known)| *known == call && *other != mark);
                    prop_assert!(other.is_none(), "{}", text);
                    known.push((mark, call));
                }
            }
        }
    }
}
