//! The timeline notation of the rules' pages: one line per exchange, as a person would tell it.
//! Knows how a story is written; not what is wrong with it.
//!
//! ```text
//! START[-END] METHOD [SESSION] [initialize|list|call TOOL|cancel|notify] [#ID] [{ARGUMENTS}] [after EVENT] [key K]
//!     [client NAME] [version V] [as REQUEST] -> STATUS [opens SESSION] [sse] [id EVENT] [progress EVENT] [data] [retry MS] [lost] [answers #ID] [fails #ID CODE] [unknown #ID]
//!     [tools TOOL:HINT] [ends|cut|idle|closed] [by INSTANCE] [tried A,B] [refused A] [wait SECONDS]
//! TIME app call TOOL {ARGUMENTS}|returned|failed
//! TIME run TOOL [SESSION] [#ID] started|effect|finished|aborted [by INSTANCE]
//! also BREACH, BREACH
//! ```
//! Times are seconds. A story is seen by a capture with all bodies; `bare` before the method makes it an access log, `hop` a
//! proxy's log with all bodies.

use crate::adapter::rpc::{self, Keep};
use crate::event::*;
use std::str::SplitWhitespace;

/// A story: its events and the breaches that it is said to hold besides the page's own.
pub(crate) struct Story {
    pub(crate) events: Vec<Event>,
    pub(crate) also: Vec<String>,
}

pub(crate) fn read(text: &str) -> Story {
    let mut story = Story { events: Vec::new(), also: Vec::new() };
    for (at, line) in text.lines().map(str::trim).enumerate().filter(|(_, line)| !line.is_empty()) {
        if let Some(also) = line.strip_prefix("also ") {
            story.also.extend(also.split(',').map(|id| id.trim().to_owned()));
        } else {
            story.events.push(event(at as u64, line));
        }
    }
    story
}

fn nanos(seconds: &str) -> Nanos {
    crate::adapter::field::decimal(seconds, 9).unwrap_or_else(|| panic!("{seconds} is no time"))
}

fn event(at: u64, line: &str) -> Event {
    let mut words = line.split_whitespace();
    let (start, end) = match words.next().expect("a time").split_once('-') {
        Some((start, end)) => (nanos(start), Some(nanos(end))),
        None => (0, None),
    };
    let start = if end.is_none() { nanos(line.split_whitespace().next().expect("a time")) } else { start };
    let mut identity = Identity { remote_addr: Some("192.0.2.1".into()), ..Identity::default() };
    let (what, vantage, instance) = match words.next().expect("a method") {
        "run" => run(words),
        "app" => (app(words, line), Vantage::Client, None),
        "bare" => {
            let method = words.next().expect("a method");
            (exchange(method, words, line, &mut identity, false), Vantage::Proxy, None)
        }
        "hop" => {
            let method = words.next().expect("a method");
            (exchange(method, words, line, &mut identity, true), Vantage::Proxy, None)
        }
        method => (exchange(method, words, line, &mut identity, true), Vantage::Capture, None),
    };
    Event {
        origin: Origin {
            seal: crate::skim::seal(line.as_bytes()),
            file: 0,
            offset: at,
            place: Place::Line(at + 1),
        },
        time: Time {
            at: start,
            means: TimeMeans::Start,
            start: Some(start),
            end,
            precision: 1_000_000,
            zone_assumed: false,
        },
        vantage,
        instance,
        identity,
        keys: Keys { request: line.split_once(" as ").map(|(_, id)| word(id)), ..Keys::default() },
        scope: SessionScope::HeaderClient,
        sampled: false,
        what,
    }
}

fn word(text: &str) -> Text {
    text.split_whitespace().next().expect("a word").into()
}

/// What the client's application says in its own log.
fn app(mut words: SplitWhitespace<'_>, line: &str) -> What {
    let step = match words.next().expect("what the application says") {
        "returned" => LifecycleStep::CallReturned,
        "failed" => LifecycleStep::CallFailed,
        _ => {
            let tool = words.next().expect("a tool");
            let arguments = line.find('{').map_or("{}", |from| &line[from..]);
            let call = format!(
                r#"{{"method":"tools/call","id":0,"params":{{"name":"{tool}","arguments":{arguments}}}}}"#
            );
            let Body::Messages(mut read) = rpc::read_body(call.as_bytes(), Keep::default()) else {
                panic!("{line}")
            };
            let Message::Request(request) = &mut read[0] else { panic!("{line}") };
            request.id = None;
            return What::Message(Box::new(LoggedMessage {
                session: None,
                to_server: true,
                message: read.remove(0),
            }));
        }
    };
    What::Lifecycle(Box::new(Lifecycle::bare(step)))
}

fn run(mut words: SplitWhitespace<'_>) -> (What, Vantage, Option<Text>) {
    let tool: Text = words.next().expect("a tool").into();
    let mut step = Lifecycle::bare(LifecycleStep::HandlerStarted);
    step.call = Some(ToolCall { tool, arguments: Arguments::Absent, round: None, task: false });
    let mut instance = None;
    while let Some(word) = words.next() {
        match word {
            "started" => step.step = LifecycleStep::HandlerStarted,
            "effect" => step.step = LifecycleStep::HandlerEffect,
            "finished" => step.step = LifecycleStep::HandlerFinished,
            "aborted" => step.step = LifecycleStep::HandlerAborted,
            "by" => instance = words.next().map(Text::from),
            id if id.starts_with('#') => step.rpc_id = Some(RpcId::Number(id[1..].into())),
            session => step.session = Some(session.into()),
        }
    }
    (What::Lifecycle(Box::new(step)), Vantage::ServerApp, instance)
}

fn exchange(
    method: &str,
    words: SplitWhitespace<'_>,
    line: &str,
    identity: &mut Identity,
    bodies: bool,
) -> What {
    let mut exchange = Exchange {
        method: crate::adapter::access::method_of(method),
        host: None,
        path: Some("/mcp".into()),
        status: None,
        request: Request::default(),
        response: Response::default(),
        attempts: Vec::new(),
        end: End { cause: Cause::Complete, phase: Phase::InBody, known: Known::Stated, raw: None },
        logged: Logged {
            session_in: true,
            session_out: true,
            last_event_id: true,
            request_body: true,
            response_body: bodies,
            end: true,
            instance: line.contains(" by ") || line.contains(" tried "),
        },
    };
    let (ask, reply) = line.split_once("->").expect("an arrow");
    request(&mut exchange, &words.take_while(|word| *word != "->").collect::<Vec<_>>(), ask, identity);
    response(&mut exchange, reply.split_whitespace());
    What::Exchange(Box::new(exchange))
}

fn request(exchange: &mut Exchange, words: &[&str], ask: &str, identity: &mut Identity) {
    let arguments = ask.find('{').zip(ask.rfind('}')).map_or("{}", |(from, to)| &ask[from..=to]);
    let (mut body, mut id) = (String::new(), "0");
    let mut words = words.iter().copied();
    let (mut kind, mut tool) = ("", "");
    while let Some(word) = words.next() {
        match word {
            "initialize" | "list" | "cancel" | "notify" => kind = word,
            "call" => (kind, tool) = ("call", words.next().expect("a tool")),
            "after" => exchange.request.last_event_id = words.next().map(Text::from),
            "key" => exchange.request.idempotency_key = words.next().map(Text::from),
            "client" => identity.user_agent = words.next().map(Text::from),
            "as" => drop(words.next()),
            "version" => exchange.request.protocol_version = words.next().map(Text::from),
            _ if word.starts_with('#') => id = &word[1..],
            _ if word.starts_with('S') => exchange.request.session = Some(word.into()),
            _ => {}
        }
    }
    match kind {
        "initialize" => {
            body = format!(
                r#"{{"id":{id},"method":"initialize","params":{{"protocolVersion":"2025-11-25","clientInfo":{{"name":"c","version":"1"}}}}}}"#
            );
        }
        "list" => body = format!(r#"{{"id":{id},"method":"tools/list"}}"#),
        "call" => {
            body = format!(
                r#"{{"id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
            )
        }
        "cancel" => body = format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#),
        "notify" => body = r#"{"method":"notifications/initialized"}"#.into(),
        _ => {}
    }
    exchange.request.body = rpc::read_body(body.as_bytes(), Keep::default());
}

fn response(exchange: &mut Exchange, mut words: SplitWhitespace<'_>) {
    let mut sse = String::new();
    let (mut messages, mut stream) = (Vec::new(), false);
    let mut instance = None;
    exchange.status = words.next().and_then(|status| status.parse().ok());
    while let Some(word) = words.next() {
        let mut next = || words.next().unwrap_or_else(|| panic!("something after {word}"));
        match word {
            "sse" => stream = true,
            "opens" => exchange.response.session = Some(next().into()),
            "id" => sse.push_str(&format!("id: {}\ndata:\n\n", next())),
            "data" => sse.push_str("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n"),
            "progress" => sse.push_str(&format!(
                "id: {0}\ndata: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"at\":\"{0}\"}}}}\n\n",
                next()
            )),
            "lost" => messages.push(
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Event not found"}}"#.to_owned(),
            ),
            "unknown" => messages.push(format!(
                r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":-32000,"message":"Bad Request: No valid session ID provided"}}}}"#,
                &next()[1..]
            )),
            "retry" => sse.push_str(&format!("retry: {}\ndata:\n\n", next())),
            "answers" => messages.push(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, &next()[1..])),
            "fails" => {
                let id = next();
                messages.push(format!(
                    r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":{}}}}}"#,
                    &id[1..],
                    words.next().expect("a code")
                ));
            }
            "tools" => {
                let (tool, hint) = next().split_once(':').expect("a hint");
                messages.push(format!(
                    r#"{{"jsonrpc":"2.0","id":0,"result":{{"tools":[{{"name":"{tool}","annotations":{{"{hint}":true}}}}]}}}}"#
                ));
            }
            "wait" => exchange.response.retry_after = Some(nanos(next())),
            "by" => instance = Some(next()),
            "tried" => exchange.attempts.extend(next().split(',').map(|a| attempt(a, Delivered::Yes))),
            "refused" => exchange.attempts.extend(next().split(',').map(|a| attempt(a, Delivered::No))),
            "ends" => {}
            "cut" => exchange.end.cause = Cause::UnknownCut,
            "idle" => exchange.end.cause = Cause::UpstreamIdleTimeout,
            "closed" => exchange.end.cause = Cause::ClientAbort,
            other => panic!("{other} is no word of a story"),
        }
        if stream {
            messages.drain(..).for_each(|message| sse.push_str(&format!("data: {message}\n\n")));
        }
    }
    if let Some(instance) =
        instance.filter(|_| !exchange.attempts.iter().any(|a| a.delivered == Delivered::Yes))
    {
        exchange.attempts.push(attempt(instance, Delivered::Yes));
    }
    if !exchange.logged.response_body {
        exchange.response.media = if stream { Media::EventStream } else { Media::Json };
    } else if stream {
        exchange.response.media = Media::EventStream;
        exchange.response.events = Some(crate::adapter::sse::read_events(sse.as_bytes(), Keep::default()));
    } else {
        exchange.response.media = Media::Json;
        let body = if messages.len() == 1 { messages.remove(0) } else { format!("[{}]", messages.join(",")) };
        exchange.response.body = rpc::read_body(body.as_bytes(), Keep::default());
    }
}

fn attempt(upstream: &str, delivered: Delivered) -> Attempt {
    Attempt { upstream: Some(upstream.into()), status: None, delivered }
}
