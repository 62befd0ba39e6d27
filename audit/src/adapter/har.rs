//! HAR captures: one entry per exchange, with bodies; written by mitmproxy, browsers and others.
//! Knows what each dialect's timings and errors say of an exchange's end; not who stood behind the next hop.

use super::access::{self, Draft};
use super::field::{self, Field, Slot, record_fields};
use super::rpc::{self, Keep};
use super::{Adapter, Reader, RecordProblem, sse};
use crate::event::{
    Body, Cause, Counts, End, Event, Known, Logged, Media, Nanos, Phase, SseEvent, Vantage, What,
};
use crate::mapping::base64;
use crate::source::Record;
use serde::Deserialize;
use std::borrow::Cow;

/// The reader of HAR entries.
#[derive(Clone, Copy, Debug)]
pub struct Har {
    dialect: Dialect,
}

/// Whose habits an entry follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    /// mitmproxy: `receive` is 0 for a stream that did not end properly; `_error` only when no headers arrived.
    Mitmproxy,
    /// Chromium's developer tools: `_error` names any failed transfer, `_eventSourceMessages` holds a stream's events.
    Chromium,
    /// Any other: the end of a stream is known only where `_error` tells it.
    Other,
}

impl Har {
    /// The reader for a document that begins with `preface` (up to its list of entries).
    #[must_use]
    pub fn of_preface(preface: &[u8]) -> Har {
        let text = String::from_utf8_lossy(preface);
        let dialect = if text.contains("\"mitmproxy\"") {
            Dialect::Mitmproxy
        } else if text.contains("\"WebInspector\"") || text.contains("Chrom") {
            Dialect::Chromium
        } else {
            Dialect::Other
        };
        Har { dialect }
    }
}

/// Reads one capture in order: whether the bodies of streams were kept, only a stream that has one tells.
///
/// A proxy that passes streams on as they come keeps none of their bytes (mitmproxy's `stream_large_bodies`), and writes
/// for each that it was empty. What such a file says of a stream is held back until one with content is seen.
#[derive(Debug)]
pub struct Capture {
    har: Har,
    keep: Keep,
    streams_kept: bool,
    held: Vec<Event>,
}

impl Capture {
    /// The reader for a document that begins with `preface`.
    #[must_use]
    pub fn of_preface(preface: &[u8], keep: Keep) -> Capture {
        Capture { har: Har::of_preface(preface), keep, streams_kept: false, held: Vec::new() }
    }
}

impl Reader for Capture {
    fn name(&self) -> Option<&'static str> {
        Some(self.har.name())
    }

    fn read(&mut self, record: Record<'_>, sink: &mut dyn FnMut(Event)) -> Result<(), RecordProblem> {
        let mut read = Vec::new();
        self.har.read(record, self.keep, &mut |event| read.push(event))?;
        for event in read {
            match stream(&event) {
                Some(events) if !self.streams_kept && events.is_empty() => self.held.push(event),
                told => {
                    if told.is_some_and(|events| !events.is_empty()) {
                        self.streams_kept = true;
                        self.held.drain(..).for_each(&mut *sink);
                    }
                    sink(event);
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self, sink: &mut dyn FnMut(Event)) {
        for mut event in self.held.drain(..) {
            forget_stream(&mut event);
            sink(event);
        }
    }
}

/// The events of an exchange's stream, where it has one that was recorded.
fn stream(event: &Event) -> Option<&[SseEvent]> {
    match &event.what {
        What::Exchange(exchange) => exchange.response.events.as_deref(),
        _ => None,
    }
}

/// Neither what a stream delivered nor whether that was all is known.
fn forget_stream(event: &mut Event) {
    let What::Exchange(exchange) = &mut event.what else { return };
    exchange.response.events = None;
    exchange.response.bytes = None;
    exchange.logged.response_body = false;
    if exchange.end.cause == Cause::Complete {
        exchange.end = access::end(Cause::Unknown, Phase::Unknown, Known::Derived, None);
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    #[serde(borrow)]
    started_date_time: Field<'a>,
    #[serde(borrow, default)]
    time: Option<Field<'a>>,
    #[serde(borrow)]
    request: Request<'a>,
    #[serde(borrow)]
    response: Response<'a>,
    #[serde(borrow, default)]
    timings: Option<Timings<'a>>,
    #[serde(borrow, default)]
    connection: Option<Field<'a>>,
    #[serde(borrow, default, rename = "_eventSourceMessages")]
    messages: Option<Vec<Message<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    #[serde(borrow)]
    method: Field<'a>,
    #[serde(borrow)]
    url: Field<'a>,
    #[serde(borrow, default)]
    headers: Vec<Header<'a>>,
    #[serde(borrow, default)]
    post_data: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow, default)]
    status: Option<Field<'a>>,
    #[serde(borrow, default)]
    headers: Vec<Header<'a>>,
    #[serde(borrow, default)]
    content: Option<Text<'a>>,
    #[serde(borrow, default, rename = "_error")]
    error: Option<Field<'a>>,
}

record_fields! {
    Header {
        name: "name";
        value: "value";
    }
}

record_fields! {
    Text {
        text: "text";
        size: "size";
        encoding: "encoding";
    }
}

record_fields! {
    Timings {
        receive: "receive";
    }
}

record_fields! {
    Message {
        time: "time";
        id: "eventId" | "id";
        data: "data";
    }
}

impl Adapter for Har {
    fn name(&self) -> &'static str {
        match self.dialect {
            Dialect::Mitmproxy => "har (mitmproxy)",
            Dialect::Chromium => "har (chrome)",
            Dialect::Other => "har",
        }
    }

    fn read(&self, record: Record<'_>, keep: Keep, sink: &mut dyn FnMut(Event)) -> Result<(), RecordProblem> {
        let entry: Entry<'_> = serde_json::from_slice(record.bytes)
            .map_err(|why| RecordProblem::Malformed { format: "HAR entry", why: why.to_string() })?;
        let at = field::rfc3339(entry.started_date_time.as_str()).ok_or(RecordProblem::NoTime)?;
        let method = access::method_of(entry.request.method.as_str());
        let mut draft = Draft::new(method, access::started(at, None, 1_000_000));
        fill_request(&mut draft, &entry, keep);
        self.fill_response(&mut draft, &entry, at, keep);
        draft.finish(&record, Vantage::Capture, sink);
        Ok(())
    }
}

fn fill_request(draft: &mut Draft, entry: &Entry<'_>, keep: Keep) {
    let header = |name: &str| header(&entry.request.headers, name);
    draft.identity.user_agent = header("user-agent").map(Into::into);
    draft.identity.connection = entry.connection.text();
    access::trace(header("traceparent"), &mut draft.keys);
    draft.keys.request = header("x-request-id").map(Into::into);
    let exchange = &mut draft.exchange;
    let url = entry.request.url.as_str();
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (host, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
    exchange.host = Some(host.into());
    exchange.path = Some(access::path_of(path));
    let request = &mut exchange.request;
    request.session = header("mcp-session-id").map(Into::into);
    request.last_event_id = header("last-event-id").map(Into::into);
    request.protocol_version = header("mcp-protocol-version").map(Into::into);
    request.mcp_method = header("mcp-method").map(Into::into);
    request.mcp_name = header("mcp-name").map(Into::into);
    request.idempotency_key = header("idempotency-key").map(Into::into);
    request.credential = header("authorization").map(|value| rapidhash::v3::rapidhash_v3(value.as_bytes()));
    request.body = match entry.request.post_data.as_ref().and_then(|data| data.text.get()) {
        Some(text) => rpc::read_body(text.as_bytes(), keep),
        None => Body::Empty,
    };
}

impl Har {
    fn fill_response(&self, draft: &mut Draft, entry: &Entry<'_>, started: Nanos, keep: Keep) {
        let header = |name: &str| header(&entry.response.headers, name);
        let status =
            entry.response.status.number::<i32>().and_then(|status| u16::try_from(status.max(0)).ok());
        let exchange = &mut draft.exchange;
        exchange.status = status;
        let response = &mut exchange.response;
        response.session = header("mcp-session-id").map(Into::into);
        response.media = access::media_of(header("content-type"));
        response.retry_after = access::retry_after(header("retry-after"));
        response.challenge = header("www-authenticate").is_some();
        let content = entry.response.content.as_ref();
        response.bytes = access::bytes_of(content.and_then(|content| content.size.number()), Counts::Body);
        let body = content.and_then(body_text);
        if response.media == Media::EventStream {
            response.events = events_of(body.as_deref(), entry, keep);
        } else if let Some(body) = &body {
            response.body = rpc::read_body(body, keep);
        } else if content.and_then(|content| content.size.number::<u64>()) == Some(0) {
            response.body = Body::Empty;
        }
        let receive = entry.timings.as_ref().and_then(|timings| timings.receive.millis());
        let total = entry.time.millis();
        if let Some(total) = total {
            response.headers_at = Some(started + total - receive.unwrap_or(0));
        }
        let response_body = response.events.is_some() || response.body != Body::Unknown;
        exchange.end = self.end_of(exchange.status, exchange.response.media, entry, receive);
        // Where a stream did not end properly, mitmproxy's `time` stops at the headers and says nothing of the end.
        let told = self.dialect != Dialect::Mitmproxy || exchange.end.cause == Cause::Complete;
        draft.time.end = total.filter(|_| told).map(|total| started + total);
        exchange.logged = Logged {
            session_in: true,
            session_out: true,
            last_event_id: true,
            request_body: true,
            response_body,
            end: exchange.end.cause != Cause::Unknown,
            instance: false,
        };
    }

    fn end_of(&self, status: Option<u16>, media: Media, entry: &Entry<'_>, receive: Option<Nanos>) -> End {
        let error = entry.response.error.get();
        let none = status.is_none_or(|status| status == 0);
        let phase = if none { Phase::BeforeHeaders } else { Phase::InBody };
        if let Some(error) = error {
            return access::end(cause_of(error), phase, Known::Stated, Some(error));
        }
        if none {
            return access::end(Cause::UnknownCut, phase, Known::Derived, None);
        }
        match self.dialect {
            Dialect::Mitmproxy if media == Media::EventStream && receive == Some(0) => {
                access::end(Cause::UnknownCut, Phase::InBody, Known::Derived, Some("receive is 0"))
            }
            Dialect::Mitmproxy | Dialect::Chromium => {
                access::end(Cause::Complete, Phase::InBody, Known::Derived, None)
            }
            Dialect::Other if media == Media::EventStream => {
                access::end(Cause::Unknown, Phase::Unknown, Known::Derived, None)
            }
            Dialect::Other => access::end(Cause::Complete, Phase::InBody, Known::Derived, None),
        }
    }
}

/// The words of mitmproxy and of Chromium's network errors.
fn cause_of(error: &str) -> Cause {
    let error = error.to_ascii_lowercase();
    if error.contains("client disconnected") || error.contains("err_aborted") {
        Cause::ClientAbort
    } else if [
        "err_connection_refused",
        "err_name_not_resolved",
        "err_address_unreachable",
        "connect call failed",
    ]
    .iter()
    .any(|word| error.contains(word))
    {
        Cause::ConnectFailed
    } else {
        Cause::UnknownCut
    }
}

fn body_text<'b>(content: &'b Text<'_>) -> Option<Cow<'b, [u8]>> {
    let text = content.text.as_ref()?.as_str();
    if content.encoding.get() == Some("base64") {
        // A capture may break its lines.
        let joined: String = text.split_ascii_whitespace().collect();
        return base64(&joined).map(Cow::Owned);
    }
    Some(Cow::Borrowed(text.as_bytes()))
}

fn events_of(body: Option<&[u8]>, entry: &Entry<'_>, keep: Keep) -> Option<Vec<SseEvent>> {
    if let Some(body) = body {
        return Some(sse::read_events(body, keep));
    }
    if let Some(messages) = &entry.messages {
        return Some(messages.iter().map(|message| event_of(message, keep)).collect());
    }
    let size = entry.response.content.as_ref().and_then(|content| content.size.number::<u64>());
    (size == Some(0)).then(Vec::new)
}

fn event_of(message: &Message<'_>, keep: Keep) -> SseEvent {
    let data = message.data.get().unwrap_or_default().as_bytes();
    SseEvent {
        id: message.id.text(),
        retry: None,
        at: message.time.seconds(),
        message: if data.is_empty() { None } else { rpc::read_message(data, keep).ok() },
        has_data: !data.is_empty(),
        data_hash: if data.is_empty() { 0 } else { rapidhash::v3::rapidhash_v3(data) },
    }
}

fn header<'e>(headers: &'e [Header<'_>], name: &str) -> Option<&'e str> {
    headers
        .iter()
        .find(|header| header.name.as_ref().is_some_and(|field| field.as_str().eq_ignore_ascii_case(name)))
        .and_then(|header| header.value.get())
}
