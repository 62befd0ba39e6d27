//! What access logs have in common: an exchange out of header fields, a body and an end.
//! Knows no producer's field names.

use super::rpc::{self, Keep};
use crate::event::{
    Attempt, Body, Bytes, Cause, ClientInfo, End, Event, Exchange, Identity, Keys, Known, Logged, Media,
    Message, Method, Nanos, Phase, Request, Response, SessionScope, Text, Time, TimeMeans, Vantage, What,
};
use crate::source::Record;

/// An exchange being gathered by an adapter.
#[derive(Debug)]
pub struct Draft {
    /// The exchange.
    pub exchange: Exchange,
    /// When.
    pub time: Time,
    /// Who the client is.
    pub identity: Identity,
    /// Joining keys.
    pub keys: Keys,
    /// The program that wrote the record.
    pub instance: Option<Text>,
}

impl Draft {
    /// An exchange of which nothing but its method and times is known.
    #[must_use]
    pub fn new(method: Method, time: Time) -> Draft {
        Draft {
            exchange: bare(method),
            time,
            identity: Identity::default(),
            keys: Keys::default(),
            instance: None,
        }
    }

    /// Whether this is MCP traffic at all ([`speaks_mcp`]).
    #[must_use]
    pub fn speaks_mcp(&self) -> bool {
        speaks_mcp(&self.exchange)
    }

    /// Turns the draft into an event, if it is MCP traffic.
    pub fn finish(self, record: &Record<'_>, vantage: Vantage, sink: &mut dyn FnMut(Event)) {
        if !self.speaks_mcp() {
            return;
        }
        let mut keys = self.keys;
        if record.shipped.id.is_some() {
            keys.shipper.clone_from(&record.shipped.id);
        }
        let mut identity = self.identity;
        if identity.client.is_none() {
            identity.client = client_of(&self.exchange.request.body);
        }
        sink(Event {
            origin: record.origin,
            time: self.time,
            vantage,
            instance: self.instance.or_else(|| record.shipped.instance.clone()),
            identity,
            keys,
            scope: SessionScope::HeaderClient,
            sampled: record.shipped.capped,
            what: What::Exchange(Box::new(self.exchange)),
        });
    }
}

/// An exchange of which nothing but its method is known.
#[must_use]
pub fn bare(method: Method) -> Exchange {
    Exchange {
        method,
        host: None,
        path: None,
        status: None,
        request: Request::default(),
        response: Response::default(),
        attempts: Vec::new(),
        end: End { cause: Cause::Unknown, phase: Phase::Unknown, known: Known::Derived, raw: None },
        logged: Logged::default(),
    }
}

/// Whether an exchange is MCP traffic at all: its headers say so, or its body is a message of MCP. One of another protocol
/// that happens to share the log is left out (contract section 5).
#[must_use]
pub fn speaks_mcp(exchange: &Exchange) -> bool {
    let request = &exchange.request;
    request.session.is_some()
        || exchange.response.session.is_some()
        || request.protocol_version.is_some()
        || request.mcp_method.is_some()
        || matches!(&request.body, Body::Messages(messages) if messages.iter().any(is_mcp))
}

/// The client that a request's body names: `clientInfo` of `initialize`, or of `_meta` in the stateless era.
#[must_use]
pub fn client_of(body: &Body) -> Option<ClientInfo> {
    let Body::Messages(messages) = body else { return None };
    messages.iter().find_map(|message| match message {
        Message::Request(request) => request
            .initialize
            .as_ref()
            .and_then(|initialize| initialize.client.clone())
            .or_else(|| request.client.clone()),
        _ => None,
    })
}

/// A time span known by its end and length (nginx, Caddy write at the end).
#[must_use]
pub fn ended(at: Nanos, length: Option<Nanos>, precision: Nanos) -> Time {
    Time {
        at,
        means: TimeMeans::End,
        start: length.and_then(|length| at.checked_sub(length)),
        end: Some(at),
        precision,
        zone_assumed: false,
    }
}

/// A time span known by its start and length.
#[must_use]
pub fn started(at: Nanos, length: Option<Nanos>, precision: Nanos) -> Time {
    Time {
        at,
        means: TimeMeans::Start,
        start: Some(at),
        end: length.and_then(|length| at.checked_add(length)),
        precision,
        zone_assumed: false,
    }
}

/// The HTTP method by its name.
#[must_use]
pub fn method_of(name: &str) -> Method {
    match name {
        "POST" => Method::Post,
        "GET" => Method::Get,
        "DELETE" => Method::Delete,
        _ => Method::Other,
    }
}

/// The media type by a `Content-Type` value.
#[must_use]
pub fn media_of(content_type: Option<&str>) -> Media {
    let Some(value) = content_type else { return Media::None };
    // Mostly there is nothing but the type.
    match value {
        "application/json" => return Media::Json,
        "text/event-stream" => return Media::EventStream,
        _ => {}
    }
    let kind = value.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("text/event-stream") {
        Media::EventStream
    } else if kind.eq_ignore_ascii_case("application/json") {
        Media::Json
    } else if kind.is_empty() {
        Media::None
    } else {
        Media::Other
    }
}

/// A path without its query.
#[must_use]
pub fn path_of(uri: &str) -> Text {
    memchr::memchr2(b'?', b'#', uri.as_bytes()).map_or(uri, |end| &uri[..end]).into()
}

/// A request body as an access log keeps it.
#[must_use]
pub fn body_of(text: Option<&str>, keep: Keep) -> Body {
    match text {
        Some(text) => rpc::read_text(text, keep),
        None => Body::Unknown,
    }
}

/// A byte count.
#[must_use]
pub fn bytes_of(count: Option<u64>, counts: crate::event::Counts) -> Option<Bytes> {
    count.map(|count| Bytes { count, counts })
}

/// The end of an exchange.
#[must_use]
pub fn end(cause: Cause, phase: Phase, known: Known, raw: Option<&str>) -> End {
    End { cause, phase, known, raw: raw.map(Text::from) }
}

/// A `Retry-After` value in seconds; the date form is left out, because a log seldom holds the date it is relative to.
#[must_use]
pub fn retry_after(value: Option<&str>) -> Option<Nanos> {
    super::field::decimal(value?.trim(), 9).filter(|nanos| *nanos >= 0)
}

/// One upstream attempt.
#[must_use]
pub fn attempt(upstream: Option<&str>, status: Option<u16>, delivered: crate::event::Delivered) -> Attempt {
    Attempt { upstream: upstream.map(Text::from), status, delivered }
}

fn is_mcp(message: &Message) -> bool {
    let method = match message {
        Message::Request(request) => &request.method,
        Message::Notification(notification) => &notification.method,
        Message::Response(_) | Message::Unreadable(_) => return false,
    };
    const EXACT: [&str; 2] = ["initialize", "ping"];
    const SPACES: [&str; 12] = [
        "tools/",
        "resources/",
        "prompts/",
        "notifications/",
        "tasks/",
        "logging/",
        "completion/",
        "sampling/",
        "roots/",
        "elicitation/",
        "server/",
        "subscriptions/",
    ];
    EXACT.contains(&&**method) || SPACES.iter().any(|space| method.starts_with(space))
}

/// Takes the trace and parent span out of a `traceparent` value.
pub fn trace(traceparent: Option<&str>, keys: &mut Keys) {
    let mut parts = traceparent.unwrap_or_default().split('-');
    if let (Some(_), Some(trace), Some(span)) = (parts.next(), parts.next(), parts.next())
        && trace.len() == 32
        && span.len() == 16
    {
        keys.trace = Some(trace.into());
        keys.parent = Some(span.into());
    }
}
