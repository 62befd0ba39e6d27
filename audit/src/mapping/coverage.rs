//! Which facts a log carries, counted over its events, and which findings it can therefore not support.
//! Knows what each finding rests on (formats.md section 9); refuses to tell a fact that is absent from one that is not logged.

use crate::event::{
    Arguments, Body, Cause, Event, Exchange, Lifecycle, LifecycleStep, LoggedMessage, Message, Method,
    RpcRequest, ToolCall, What,
};

/// Counts of facts.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// Events of any kind.
    pub events: u64,
    /// HTTP exchanges.
    pub exchanges: u64,
    /// Messages and steps, told beside exchanges.
    pub told: u64,
    /// Calls of tools, as they were sent or as a handler took them.
    pub calls: u64,
    facts: [u64; FACTS.len()],
}

/// The facts counted, and of which events.
const FACTS: [(&str, Of); 19] = [
    ("start of the exchange", Of::Exchanges),
    ("end of the exchange", Of::Exchanges),
    ("session id of the request", Of::Exchanges),
    ("session id of the response", Of::Exchanges),
    ("Last-Event-ID", Of::Exchanges),
    ("protocol version", Of::Exchanges),
    ("status", Of::Exchanges),
    ("how the exchange ended", Of::Exchanges),
    ("response messages or events", Of::Exchanges),
    ("bytes of the response", Of::Exchanges),
    ("upstream instance", Of::Exchanges),
    ("JSON-RPC method", Of::Exchanges),
    ("tool of a call", Of::Calls),
    ("arguments of a call", Of::Calls),
    ("JSON-RPC id of a call", Of::Calls),
    ("authenticated subject", Of::Events),
    ("client address", Of::Events),
    ("completion of a handler", Of::Events),
    ("session id of a message or step", Of::Told),
];

#[derive(Clone, Copy)]
enum Of {
    Events,
    Exchanges,
    Told,
    Calls,
}

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The fact.
    pub name: &'static str,
    /// How often it is there.
    pub present: u64,
    /// Out of how many.
    pub of: u64,
}

/// A finding that this log cannot support, or not fully.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Ids of breaches.
    pub breaches: &'static str,
    /// The fact that is missing.
    pub missing: &'static str,
    /// Whether it is impossible, or only less certain.
    pub impossible: bool,
}

impl Coverage {
    /// Counts an event.
    pub fn count(&mut self, event: &Event) {
        self.events += 1;
        self.add(15, event.identity.subject.is_some());
        self.add(16, event.identity.remote_addr.is_some());
        match &event.what {
            What::Exchange(x) => self.count_exchange(x, event),
            What::Message(m) => self.count_logged(m),
            What::Lifecycle(l) => self.count_step(l),
            What::Remark(_) => {}
        }
    }

    fn count_exchange(&mut self, x: &Exchange, event: &Event) {
        self.exchanges += 1;
        self.add(0, event.time.start.is_some());
        self.add(1, event.time.end.is_some());
        self.add(2, x.request.session.is_some());
        self.add(3, x.response.session.is_some());
        self.add(4, x.request.last_event_id.is_some());
        self.add(5, x.request.protocol_version.is_some());
        self.add(6, x.status.is_some());
        self.add(7, x.end.cause != Cause::Unknown);
        self.add(8, x.response.events.is_some() || matches!(x.response.body, Body::Messages(_)));
        self.add(9, x.response.bytes.is_some());
        self.add(10, x.attempts.iter().any(|a| a.upstream.is_some()) || event.instance.is_some());
        let mut told = x.request.mcp_method.is_some();
        if let Body::Messages(messages) = &x.request.body {
            told |= !messages.is_empty();
            messages.iter().for_each(|m| self.count_message(m));
        } else if x.request.mcp_method.as_deref() == Some("tools/call") && x.method == Method::Post {
            self.calls += 1;
            self.add(12, x.request.mcp_name.is_some());
        }
        self.add(11, told);
    }

    fn count_logged(&mut self, logged: &LoggedMessage) {
        self.told += 1;
        self.add(18, logged.session.is_some());
        self.count_message(&logged.message);
    }

    fn count_step(&mut self, told: &Lifecycle) {
        self.told += 1;
        self.add(18, told.session.is_some());
        self.add(17, told.step == LifecycleStep::HandlerFinished);
        if told.step == LifecycleStep::HandlerStarted {
            self.count_call(told.call.as_ref(), told.rpc_id.is_some());
        }
    }

    fn count_message(&mut self, message: &Message) {
        let Message::Request(request) = message else { return };
        let RpcRequest { id, method, call, .. } = &**request;
        if &**method == "tools/call" {
            self.count_call(call.as_ref(), id.is_some());
        }
    }

    fn count_call(&mut self, call: Option<&ToolCall>, has_id: bool) {
        self.calls += 1;
        self.add(12, call.is_some());
        self.add(13, call.is_some_and(|c| matches!(c.arguments, Arguments::Canonical { .. })));
        self.add(14, has_id);
    }

    fn add(&mut self, fact: usize, present: bool) {
        self.facts[fact] += u64::from(present);
    }

    /// How often each fact is there.
    pub fn facts(&self) -> Vec<Fact> {
        let of = |of| match of {
            Of::Events => self.events,
            Of::Exchanges => self.exchanges,
            Of::Told => self.told,
            Of::Calls => self.calls,
        };
        FACTS
            .iter()
            .zip(self.facts)
            .map(|((name, kind), present)| Fact { name, present, of: of(*kind) })
            .collect()
    }

    /// What the log cannot support, because a fact never occurs in it.
    pub fn limits(&self) -> Vec<Limit> {
        const SESSION: &str = "session-discarded, resume-without-cursor, expired-session-kept, cursor-outlives-session, session-misrouted";
        let none = |facts: &[usize]| facts.iter().all(|f| self.facts[*f] == 0);
        let all = [
            (none(&[2, 3, 18]), SESSION, "session ids", true),
            (
                self.exchanges > 0 && none(&[3]),
                "session-discarded",
                "session ids of responses: a new session shows only when it is first used",
                false,
            ),
            (none(&[12]), "duplicate-invocation, blind-retry, call-retried-by-proxy", "tools of calls", true),
            (
                none(&[13]),
                "duplicate-invocation, blind-retry",
                "arguments of calls: the same tool is not yet the same call",
                false,
            ),
            (none(&[14]), "request-id-reused, reissue-kept-id", "JSON-RPC ids", true),
            (
                none(&[4]),
                "resume-without-cursor, cursor-regressed",
                "Last-Event-ID: none was sent, or it is not logged",
                false,
            ),
            (
                none(&[8]),
                "replay-gap, replay-repeats, foreign-replay, event-id-reused, clamped-cursor",
                "events of streams",
                true,
            ),
            (
                none(&[7, 8]),
                "response-undelivered, session-discarded",
                "how exchanges ended: a cut shows only by bytes and duration",
                false,
            ),
            (none(&[10]), "session-misrouted, call-retried-by-proxy", "the instance that answered", false),
            (
                none(&[15]),
                "duplicate-invocation",
                "an authenticated subject: the same client is likely, not proved",
                false,
            ),
            (
                none(&[17]),
                "duplicate-invocation (executed twice), ran-after-cancel",
                "completion records of handlers",
                false,
            ),
            (none(&[0]), "retry-ignored, unbounded-reconnect", "starts of exchanges", true),
        ];
        all.into_iter()
            .filter(|(missing, ..)| *missing)
            .map(|(_, breaches, missing, impossible)| Limit { breaches, missing, impossible })
            .collect()
    }
}
