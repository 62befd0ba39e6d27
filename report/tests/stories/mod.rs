//! Two findings as the halves make them: a duplicate charge in a log, a discarded session in code.

use unbroken_contract::{Breach, Level};
use unbroken_report::{
    Certainty, Exhibit, Finding, Input, Piece, Problem, Range, Role, Scene, Seen, Sent, Spot, Step, Subject,
    Summary, Words,
};

pub(crate) const SESSION: &str = "5f1c2b7e-0a51-4c0e-9d61-7b6a1f0c9a01";
pub(crate) const LATER: &str = "c0a8e3d4-6b2f-4f7d-8e15-2d9b7c4e1b02";
pub(crate) const ARGUMENTS: &str = "{\"account\":\"acct-7001\",\"amount\":40}";
const START: i64 = 1_786_698_005_000_000_000;

fn line(path: &str, line: u64) -> Exhibit {
    Exhibit { path: path.into(), spot: Spot::Line(line) }
}

fn step(at_line: u64, millis: i64, role: Role, words: Words) -> Step {
    Step {
        exhibit: Some(line("logs/access.jsonl", at_line)),
        at: Some(START + millis * 1_000_000),
        role,
        words,
        scene: Scene { proxied: true, server: Some("10.0.0.5:9001".into()), alias: None },
    }
}

fn sent(at_line: u64, millis: i64, session: &str, answered: bool) -> Sent {
    Sent {
        exhibit: line("logs/access.jsonl", at_line),
        at: START + millis * 1_000_000,
        session: Some(session.into()),
        rpc_id: Some("2".into()),
        status: Some(200),
        reached: Some(true),
        executed: None,
        answered: Some(answered),
    }
}

/// A charge sent twice, with a hostile tool name and an event id made of the session id.
pub(crate) fn duplicate() -> Finding {
    let call = |session: &str| {
        Words::plain("POST tools/call ")
            .and(Piece::Foreign("charge\u{1b}[2J_card".into()))
            .and(Piece::Plain(" with ".into()))
            .and(Piece::Arguments(ARGUMENTS.into()))
            .and(Piece::Plain(", JSON-RPC id 2, on session ".into()))
            .and(Piece::Session(session.into()))
    };
    let cut =
        Words::plain("stream cut after 60.0 s, last event ").and(Piece::Foreign(format!("{SESSION}_7")));
    Finding {
        breach: Breach::DuplicateInvocation,
        level: Level::Deny,
        certainty: Certainty::Likely,
        place: Some(line("logs/access.jsonl", 9)),
        subject: Subject::Session(Some(SESSION.into())),
        client: Some("crm-agent 3.1".into()),
        tool: Some("charge\u{1b}[2J_card".into()),
        message: Words::plain("tool call ")
            .and(Piece::Foreign("charge\u{1b}[2J_card".into()))
            .and(Piece::Plain(" was sent twice although the first send had reached a server".into())),
        help:
            "ask for the outcome of the first send before sending again, or send an idempotency key with both"
                .into(),
        proof: vec![
            step(3, 0, Role::Send, call(SESSION)),
            step(3, 60_020, Role::Cut, cut),
            step(
                7,
                61_100,
                Role::Initialize,
                Words::plain("a new session was opened: ").and(Piece::Session(LATER.into())),
            ),
            step(9, 61_300, Role::Send, call(LATER)),
            step(9, 64_312, Role::Deliver, Words::plain("the response to the second send was delivered")),
            Step {
                exhibit: None,
                at: None,
                role: Role::Conclude,
                words: Words::plain("the first send was answered 200, so a server had taken it"),
                scene: Scene::default(),
            },
        ],
        sends: vec![sent(3, 0, SESSION, false), sent(9, 61_300, LATER, true)],
        same_by: Some("address"),
        missing: Some("a record that the first handler finished".into()),
        linked: vec!["b1".into()],
        fingerprint: "a1".into(),
    }
}

pub(crate) const SOURCE: &str = "impl Client {\n    async fn read(&mut self, id: u64) -> Result<Value, Error> {\n        match self.stream.next().await {\n            Some(event) => self.take(event?),\n            None => {\n                self.session_id = None; // \u{202e}over\n                Err(Error::Closed)\n            }\n        }\n    }\n}\n";

fn range(line: u32, column: u32, end_column: u32) -> Spot {
    Spot::Range(Range { line, column, end_line: line, end_column })
}

fn label(path: &str, spot: Spot, text: &str) -> Step {
    let exhibit = Some(Exhibit { path: path.into(), spot });
    Step { exhibit, at: None, role: Role::Context, words: Words::plain(text), scene: Scene::default() }
}

/// A session dropped because a stream ended.
pub(crate) fn discarded() -> Finding {
    Finding {
        breach: Breach::SessionDiscarded,
        level: Level::Deny,
        certainty: Certainty::Proved,
        place: Some(Exhibit { path: "src/client.rs".into(), spot: range(6, 17, 39) }),
        subject: Subject::Item("Client::read".into()),
        client: None,
        tool: None,
        message: Words::plain("the session id is cleared because a stream ended"),
        help: "keep the session id and resume the stream with Last-Event-ID".into(),
        proof: vec![
            label("src/client.rs", range(6, 17, 39), "the session id is dropped here"),
            label("src/client.rs", range(5, 13, 17), "in the arm for the end of the stream"),
            label("src/session.rs", range(12, 5, 30), "the field that holds the session id"),
        ],
        sends: Vec::new(),
        same_by: None,
        missing: None,
        linked: Vec::new(),
        fingerprint: "c1".into(),
    }
}

/// What a run over a few logs read and saw.
pub(crate) fn summary(findings: &[Finding]) -> Summary {
    let input = |path: &str, format: &str, read: bool| Input {
        path: path.into(),
        format: format.into(),
        read,
        records: 12,
        events: 12,
    };
    let problem = Problem {
        exhibit: line("logs/access.jsonl", 5),
        message: "the line is not UTF-8 from byte 17 on".into(),
        help: "convert the log to UTF-8".into(),
        count: 1,
        lost: true,
    };
    let mut summary = Summary {
        inputs: vec![
            input("logs/access.jsonl", "nginx-json", true),
            input("logs/notes.log", "no known log", false),
        ],
        problems: vec![problem],
        seen: Seen::Traffic {
            sessions: 2,
            reconnects: 1,
            resumes: 0,
            calls: 2,
            exchanges: 11,
            not_judged: 1,
            span: Some((START, START + 64_312_000_000)),
        },
        ..Summary::default()
    };
    findings.iter().for_each(|finding| summary.count(finding));
    summary
}
