//! Steps of exchanges as a capturing proxy writes them: request, response headers, pieces of the body, the end.
//! Knows how steps of one flow make one exchange; holds open flows only.

use super::access::{self, Draft};
use super::field::{Field, Slot};
use super::rpc::{self, Keep};
use super::sse::Parser;
use super::{Reader, RecordProblem, loose};
use crate::event::{
    Body, Cause, Counts, Event, Known, Logged, Media, Method, Nanos, Origin, Phase, SseEvent, Time,
    TimeMeans, Vantage,
};
use crate::mapping::clock;
use crate::source::Record;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Most bytes of a JSON body that are gathered; an event stream is read piece by piece.
const MOST_BODY: usize = 16 << 20;

/// The reader.
pub struct Wire {
    keep: Keep,
    open: BTreeMap<String, Flow>,
    /// Steps of flows that did not begin here, and how many bytes they have.
    strays: Vec<loose::Step>,
    stray_bytes: usize,
}

struct Flow {
    origin: Origin,
    shipped: crate::source::Shipped,
    draft: Draft,
    parser: Parser,
    events: Vec<SseEvent>,
    body: Vec<u8>,
    bytes: u64,
    started: Nanos,
    last: Nanos,
    body_ended: bool,
    /// Its steps as they stand, as long as it is open.
    steps: Vec<loose::Step>,
}

#[derive(Deserialize)]
struct Step<'a> {
    #[serde(borrow)]
    ts: &'a RawValue,
    #[serde(borrow)]
    flow: &'a RawValue,
    #[serde(borrow)]
    event: Cow<'a, str>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    path: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    client_port: Option<&'a RawValue>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(borrow, default)]
    body: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    status: Option<Field<'a>>,
    #[serde(borrow, default)]
    data: Option<Cow<'a, str>>,
    #[serde(borrow, default, alias = "msg")]
    error: Option<Cow<'a, str>>,
}

impl Wire {
    /// A reader without open flows.
    pub fn new(keep: Keep) -> Self {
        Wire { keep, open: BTreeMap::new(), strays: Vec::new(), stray_bytes: 0 }
    }

    /// Gives up the steps of the flows that are open.
    pub(crate) fn open_steps(&mut self) -> Vec<loose::Step> {
        std::mem::take(&mut self.open).into_values().flat_map(|flow| flow.steps).collect()
    }

    fn begin(&mut self, step: &Step<'_>, at: Nanos, record: &Record<'_>) -> Flow {
        let header = |name: &str| header(&step.headers, name).map(Into::into);
        let time = Time {
            at,
            means: TimeMeans::Start,
            start: Some(at),
            end: None,
            precision: 100_000,
            zone_assumed: false,
        };
        let mut draft = Draft::new(step.method.as_deref().map_or(Method::Other, access::method_of), time);
        draft.identity.user_agent = header("user-agent");
        draft.identity.remote_port = step.client_port.and_then(|p| p.get().parse().ok());
        draft.keys.request = header("x-request-id");
        access::trace(self::header(&step.headers, "traceparent"), &mut draft.keys);
        let x = &mut draft.exchange;
        x.path = step.path.as_deref().map(access::path_of);
        x.host = header("host");
        x.request.session = header("mcp-session-id");
        x.request.last_event_id = header("last-event-id");
        x.request.protocol_version = header("mcp-protocol-version");
        x.request.mcp_method = header("mcp-method");
        x.request.mcp_name = header("mcp-name");
        x.request.idempotency_key = header("idempotency-key");
        x.request.credential =
            self::header(&step.headers, "authorization").map(|v| rapidhash::v3::rapidhash_v3(v.as_bytes()));
        x.request.body = match step.body.as_deref() {
            None | Some("") => Body::Empty,
            Some(body) => rpc::read_body(body.as_bytes(), self.keep),
        };
        x.logged = Logged {
            session_in: true,
            session_out: true,
            last_event_id: true,
            request_body: true,
            response_body: true,
            end: true,
            instance: false,
        };
        let shipped = record.shipped.clone();
        Flow {
            origin: record.origin,
            shipped,
            draft,
            parser: Parser::new(self.keep),
            events: Vec::new(),
            body: Vec::new(),
            bytes: 0,
            started: at,
            last: at,
            body_ended: false,
            steps: Vec::new(),
        }
    }
}

impl Reader for Wire {
    fn read(&mut self, record: Record<'_>, sink: &mut dyn FnMut(Event)) -> Result<(), RecordProblem> {
        let step: Step<'_> = serde_json::from_slice(record.bytes)
            .map_err(|why| RecordProblem::Malformed { format: "step of a capture", why: why.to_string() })?;
        let at = clock::any(step.ts.get().trim_matches('"')).ok_or(RecordProblem::NoTime)?;
        let key = step.flow.get().to_owned();
        let as_it_stands = |record: &Record<'_>| loose::Step {
            flow: key.clone(),
            at,
            origin: record.origin,
            shipped: record.shipped.clone(),
            text: String::from_utf8_lossy(record.bytes).into_owned(),
        };
        if step.event == "request" {
            // A number that is used again is another run's.
            if let Some(flow) = self.open.remove(&key) {
                flow.finish(Cause::Unknown, None, self.keep, sink);
            }
            let mut flow = self.begin(&step, at, &record);
            flow.steps.push(as_it_stands(&record));
            self.open.insert(key, flow);
            return Ok(());
        }
        let Some(flow) = self.open.get_mut(&key) else {
            self.stray_bytes += record.bytes.len();
            if self.stray_bytes <= MOST_BODY {
                self.strays.push(as_it_stands(&record));
            }
            return Ok(());
        };
        flow.last = at;
        flow.steps.push(as_it_stands(&record));
        let done = match &*step.event {
            "response_headers" => {
                flow.headers(&step, at);
                None
            }
            "chunk" => {
                flow.piece(step.data.as_deref().unwrap_or_default(), at);
                None
            }
            "body_end" => {
                flow.body_ended = true;
                None
            }
            "response_complete" => Some((Cause::Complete, None)),
            "error" => {
                let word = step.error.as_deref().unwrap_or("error").to_owned();
                let client = word.to_ascii_lowercase().contains("client disconnected");
                Some((if client { Cause::ClientAbort } else { Cause::UnknownCut }, Some(word)))
            }
            _ => None,
        };
        if let Some((cause, word)) = done
            && let Some(flow) = self.open.remove(&key)
        {
            flow.finish(cause, word.as_deref(), self.keep, sink);
        }
        Ok(())
    }

    fn finish(&mut self, sink: &mut dyn FnMut(Event)) {
        for flow in std::mem::take(&mut self.open).into_values() {
            flow.finish(Cause::Unknown, None, self.keep, sink);
        }
    }

    fn leave(&mut self) -> Vec<loose::Step> {
        let mut steps = self.open_steps();
        steps.append(&mut self.strays);
        steps
    }
}

impl Flow {
    fn headers(&mut self, step: &Step<'_>, at: Nanos) {
        let x = &mut self.draft.exchange;
        x.status = step.status.number();
        x.response.session = header(&step.headers, "mcp-session-id").map(Into::into);
        x.response.media = access::media_of(header(&step.headers, "content-type"));
        x.response.retry_after = access::retry_after(header(&step.headers, "retry-after"));
        x.response.challenge = header(&step.headers, "www-authenticate").is_some();
        x.response.headers_at = Some(at);
    }

    fn piece(&mut self, data: &str, at: Nanos) {
        self.bytes += data.len() as u64;
        if self.draft.exchange.response.media == Media::EventStream {
            self.parser.push(data.as_bytes(), Some(at), &mut self.events);
        } else if self.body.len() + data.len() <= MOST_BODY {
            self.body.extend_from_slice(data.as_bytes());
        }
    }

    fn finish(mut self, cause: Cause, word: Option<&str>, keep: Keep, sink: &mut dyn FnMut(Event)) {
        let x = &mut self.draft.exchange;
        let headers = x.status.is_some();
        let stream = x.response.media == Media::EventStream;
        if stream {
            x.response.events = Some(self.events);
        } else if headers {
            x.response.body = rpc::read_body(&self.body, keep);
        } else {
            x.status = (cause != Cause::Unknown).then_some(0);
        }
        x.response.bytes = access::bytes_of(headers.then_some(self.bytes), Counts::Body);
        let phase = if headers { Phase::InBody } else { Phase::BeforeHeaders };
        // The capture goes on to its own end without a last step when it was stopped.
        let cause = if cause == Cause::Unknown && self.body_ended { Cause::Complete } else { cause };
        x.end = access::end(cause, phase, Known::Stated, word);
        x.logged.end = cause != Cause::Unknown;
        self.draft.time.end = (cause != Cause::Unknown).then_some(self.last.max(self.started));
        let record = Record { origin: self.origin, bytes: b"", shipped: &self.shipped };
        self.draft.finish(&record, Vantage::Capture, sink);
    }
}

fn header<'a>(headers: &'a BTreeMap<String, String>, name: &str) -> Option<&'a str> {
    let found = headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
}
