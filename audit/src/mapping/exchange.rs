//! An HTTP exchange out of the fields that a mapping names.
//! Knows which fact each field states and whether the log keeps it at all.

use super::MappingError;
use super::field::{Compiler, Row, Test, Value, all};
use super::file::{Field, File};
use super::message::Parts;
use super::stream::EventParts;
use super::upstream::UpstreamParts;
use crate::adapter::access;
use crate::adapter::rpc::{self, Keep};
use crate::event::{Body, Counts, Exchange, Logged, Media, Message, Method, Nanos, Text};

/// A compiled `[exchange]` with the sections that describe it.
#[derive(Debug)]
pub(super) struct ExchangeParts {
    pub(super) when: Vec<Test>,
    pub(super) method: Value,
    pub(super) path: Value,
    pub(super) host: Value,
    pub(super) status: Value,
    pub(super) request: RequestParts,
    pub(super) response: ResponseParts,
    pub(super) upstream: UpstreamParts,
}

#[derive(Debug)]
pub(super) struct RequestParts {
    pub(super) session: Value,
    pub(super) last_event_id: Value,
    pub(super) protocol_version: Value,
    pub(super) mcp_method: Value,
    pub(super) mcp_name: Value,
    pub(super) idempotency_key: Value,
    pub(super) authorization: Value,
    pub(super) body: Value,
    pub(super) empty_is_known: bool,
}

#[derive(Debug)]
pub(super) struct ResponseParts {
    pub(super) session: Value,
    pub(super) content_type: Value,
    pub(super) retry_after: Value,
    pub(super) challenge: Value,
    pub(super) body: Value,
    pub(super) bytes: Value,
    pub(super) counts: Counts,
    pub(super) headers_after: Value,
    pub(super) events: Option<EventParts>,
}

pub(super) fn compile(file: &File, c: &mut Compiler<'_>) -> Result<Option<ExchangeParts>, MappingError> {
    let Some(exchange) = &file.exchange else { return Ok(None) };
    let (q, p, u) = (&file.request, &file.response, &file.upstream);
    let name = Some(Field::Full(Box::new(super::file::FullField {
        header: Some("request:mcp-name".into()),
        decode: vec!["mcp_base64".into()],
        ..Default::default()
    })));
    let request = RequestParts {
        session: c.value_or_header(q.session.as_ref(), "request", "mcp-session-id")?,
        last_event_id: c.value_or_header(q.last_event_id.as_ref(), "request", "last-event-id")?,
        protocol_version: c.value_or_header(
            q.protocol_version.as_ref(),
            "request",
            "mcp-protocol-version",
        )?,
        mcp_method: c.value_or_header(q.mcp_method.as_ref(), "request", "mcp-method")?,
        mcp_name: c.value(q.mcp_name.as_ref().or(name.as_ref()))?,
        idempotency_key: c.value_or_header(q.idempotency_key.as_ref(), "request", "idempotency-key")?,
        authorization: c.value_or_header(None, "request", "authorization")?,
        body: c.value(q.body.as_ref())?,
        empty_is_known: q.body_empty_is_known,
    };
    let response = ResponseParts {
        session: c.value_or_header(p.session.as_ref(), "response", "mcp-session-id")?,
        content_type: c.value_or_header(p.content_type.as_ref(), "response", "content-type")?,
        retry_after: c.value_or_header(p.retry_after.as_ref(), "response", "retry-after")?,
        challenge: c.value_or_header(p.challenge.as_ref(), "response", "www-authenticate")?,
        body: c.value(p.body.as_ref())?,
        bytes: c.value(p.bytes.as_ref())?,
        counts: match p.bytes_count.as_deref().unwrap_or("body") {
            "body" => Counts::Body,
            "chunked_body" => Counts::ChunkedBody,
            "headers_and_body" => Counts::HeadersAndBody,
            other => {
                return Err(MappingError::value(
                    "bytes_count",
                    other,
                    "body, chunked_body or headers_and_body",
                ));
            }
        },
        headers_after: c.value(p.headers_after.as_ref())?,
        events: p.events.as_ref().map(|e| super::stream::compile(e, c)).transpose()?,
    };
    let upstream = super::upstream::compile(u, c)?;
    Ok(Some(ExchangeParts {
        when: c.tests(&exchange.when)?,
        method: c.value(exchange.method.as_ref())?,
        path: c.value(exchange.path.as_ref())?,
        host: c.value_or_header(exchange.host.as_ref(), "request", "host")?,
        status: c.value(exchange.status.as_ref())?,
        request,
        response,
        upstream,
    }))
}

impl ExchangeParts {
    /// The exchange that a record tells, but for its end; `start`: when it began. None if the record is of another kind.
    pub(super) fn read(
        &self,
        row: &Row<'_>,
        absent: &[String],
        start: Option<Nanos>,
        parts: Option<&Parts>,
        keep: Keep,
    ) -> Option<Box<Exchange>> {
        if !all(&self.when, row, absent) {
            return None;
        }
        let text = |v: &Value| v.text(row, absent).map(|t| Text::from(&*t));
        // A format without a method column tells calls, and calls are posted.
        let method = match self.method.text(row, absent) {
            Some(name) => access::method_of(&name),
            None if self.method.is_given() => Method::Other,
            None => Method::Post,
        };
        let mut x = Box::new(access::bare(method));
        x.path = self.path.text(row, absent).map(|url| path_in(&url));
        x.host = text(&self.host);
        x.status = self.status.number(row, absent).and_then(|n| u16::try_from(n).ok());
        let q = &mut x.request;
        q.session = text(&self.request.session);
        q.last_event_id = text(&self.request.last_event_id);
        q.protocol_version = text(&self.request.protocol_version);
        q.mcp_method = text(&self.request.mcp_method);
        q.mcp_name = text(&self.request.mcp_name);
        q.idempotency_key = text(&self.request.idempotency_key);
        let credential = self.request.authorization.text(row, absent).filter(|t| !is_masked(t));
        q.credential = credential.map(|t| rapidhash::v3::rapidhash_v3(t.as_bytes()));
        q.body = self.request_body(row, absent, keep);
        self.fill_response(&mut x, start, row, absent, keep);
        if let Some(parts) = parts {
            let (sent, answered) = parts.bodies(row, absent, keep);
            if !matches!(x.request.body, Body::Messages(_)) && sent != Body::Unknown {
                x.request.body = sent;
            }
            if x.response.body == Body::Unknown {
                x.response.body = answered;
            }
        }
        self.place_new_session(&mut x);
        x.attempts = self.upstream.read(row, absent);
        x.logged = self.logged(row, &x);
        Some(x)
    }

    /// A log with one session field gives the new id on the line of `initialize`, whose request carries none (fact 4).
    fn place_new_session(&self, x: &mut Exchange) {
        let opens = matches!(&x.request.body, Body::Messages(all) if all.iter().any(|m| matches!(m, Message::Request(r) if &*r.method == "initialize")));
        if opens && !self.response.session.is_given() {
            x.response.session = x.request.session.take();
        }
    }

    /// The session of the request, or else of the response.
    pub(super) fn session(&self, row: &Row<'_>, absent: &[String]) -> Option<Text> {
        let first = self.request.session.text(row, absent);
        first.or_else(|| self.response.session.text(row, absent)).map(|t| Text::from(&*t))
    }

    fn request_body(&self, row: &Row<'_>, absent: &[String], keep: Keep) -> Body {
        match self.request.body.json(row, absent) {
            Some(json) if is_masked(&json) => Body::Unreadable(crate::event::Unreadable::Redacted),
            Some(json) => rpc::read_text(&json, keep),
            None if self.request.empty_is_known && self.request.body.is_given() => Body::Empty,
            None => Body::Unknown,
        }
    }

    fn fill_response(
        &self,
        x: &mut Exchange,
        start: Option<Nanos>,
        row: &Row<'_>,
        absent: &[String],
        keep: Keep,
    ) {
        let parts = &self.response;
        let kind = parts.content_type.text(row, absent);
        let p = &mut x.response;
        p.session = parts.session.text(row, absent).map(|t| Text::from(&*t));
        p.media = match kind {
            Some(kind) => access::media_of(Some(&kind)),
            None => Media::Unknown,
        };
        p.retry_after = access::retry_after(parts.retry_after.text(row, absent).as_deref());
        p.challenge = parts.challenge.text(row, absent).is_some();
        p.bytes = access::bytes_of(parts.bytes.number(row, absent), parts.counts);
        p.headers_at =
            start.zip(parts.headers_after.duration(row, absent)).map(|(start, after)| start + after);
        if let Some(body) = parts.body.json(row, absent) {
            if p.media == Media::EventStream {
                p.events = Some(crate::adapter::sse::read_events(body.as_bytes(), keep));
            } else {
                p.body = rpc::read_text(&body, keep);
            }
        }
        if let Some(events) = &parts.events {
            if p.media == Media::EventStream {
                p.events = events.read(row, absent, keep);
            } else if let Some(messages) = events.messages(row, absent, keep) {
                // A JSON answer is listed as one event; it is the body.
                p.body = Body::Messages(messages);
            }
        }
    }

    fn logged(&self, row: &Row<'_>, x: &Exchange) -> Logged {
        let headers =
            |v: &Value, present: bool| v.is_given() && (present || v.is_logged(row) || v.is_header());
        Logged {
            session_in: headers(&self.request.session, x.request.session.is_some()),
            session_out: headers(&self.response.session, x.response.session.is_some()),
            last_event_id: headers(&self.request.last_event_id, x.request.last_event_id.is_some()),
            request_body: matches!(x.request.body, Body::Messages(_)) || self.request.body.is_logged(row),
            response_body: x.response.events.is_some() || x.response.body != Body::Unknown,
            end: false,
            // A key that this log never has tells nothing; one that is there and empty tells that no upstream was tried.
            instance: !x.attempts.is_empty() || self.upstream.addr.is_logged(row),
        }
    }
}

/// A path, of a URL or of a request line.
fn path_in(url: &str) -> Text {
    let rest = match url.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
        None => url,
    };
    access::path_of(rest)
}

/// Stars, `REDACTED`, `[Filtered]`: what producers write over a secret.
fn is_masked(text: &str) -> bool {
    let text = text.trim_matches(['[', ']', '<', '>', '"']);
    text.eq_ignore_ascii_case("redacted")
        || text.eq_ignore_ascii_case("filtered")
        || (!text.is_empty() && text.bytes().all(|b| b == b'*'))
}
