//! Steps of exchanges as a capturing proxy writes them: request, response headers, pieces of the body, the end.
//! Knows how steps of one flow make one exchange. Steps are held for a while and put in the order of their times, since what
//! ships a log may have mixed them.

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
use crate::order::until;
use crate::source::Record;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Most bytes of a JSON body that are gathered; an event stream is read piece by piece.
const MOST_BODY: usize = 16 << 20;

/// Most bytes of steps that are held before they are put in order.
const MOST_HELD: usize = 8 << 20;

/// The reader.
pub struct Wire {
    keep: Keep,
    flows: BTreeMap<String, Held>,
    /// Bytes of the steps that are held.
    held: usize,
    /// Steps of flows that did not begin here, and how many bytes they have.
    strays: Vec<loose::Step>,
    stray_bytes: usize,
    /// What was completed when there was nobody to take it.
    ready: Vec<Event>,
}

/// One flow: what is known of its exchange, and the steps that came since.
struct Held {
    assembly: Assembly,
    steps: Vec<loose::Step>,
}

/// The steps of one flow as they make exchanges, one after the other.
pub(crate) struct Assembly {
    keep: Keep,
    open: Option<Flow>,
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
    /// Its steps as they stand, as long as it is open and they are not too many bytes.
    steps: Vec<loose::Step>,
    step_bytes: usize,
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
        Wire { keep, flows: BTreeMap::new(), held: 0, strays: Vec::new(), stray_bytes: 0, ready: Vec::new() }
    }

    /// Puts what is held together, and hands on the exchanges that this completes, in the order in which they ended.
    fn assemble(&mut self, sink: &mut dyn FnMut(Event)) {
        self.held = 0;
        let mut done = Vec::new();
        for held in self.flows.values_mut() {
            for step in in_order(std::mem::take(&mut held.steps)) {
                if let Some(stray) = held.assembly.take(step, &mut |event| done.push(event)) {
                    self.stray_bytes += stray.text.len();
                    if self.stray_bytes <= MOST_BODY {
                        self.strays.push(stray);
                    }
                }
            }
        }
        self.flows.retain(|_, held| held.assembly.open.is_some());
        done.sort_by_key(until);
        done.into_iter().for_each(sink);
    }
}

/// Puts the steps of a flow in the order in which they happened, those that stand twice but once.
pub(crate) fn in_order(mut steps: Vec<loose::Step>) -> Vec<loose::Step> {
    let key = |step: &loose::Step| (step.at, step.phase, step.origin.file, step.origin.offset);
    steps.sort_by_key(key);
    let mut one = Vec::with_capacity(steps.len());
    for step in steps {
        let is_copy = |other: &&loose::Step| other.at == step.at;
        if !one.iter().rev().take_while(is_copy).any(|other: &loose::Step| other.text == step.text) {
            one.push(step);
        }
    }
    one
}

/// Where in its exchange a step stands, for those of one moment.
fn phase(event: &str) -> u8 {
    match event {
        "request" => 0,
        "response_headers" => 1,
        "response_complete" | "error" => 4,
        "body_end" => 3,
        _ => 2,
    }
}

impl Assembly {
    pub(crate) fn new(keep: Keep) -> Self {
        Assembly { keep, open: None }
    }

    /// Gives up the steps of the exchange that is open.
    pub(crate) fn open_steps(&mut self) -> Vec<loose::Step> {
        let open = self.open.take_if(|flow| !flow.steps.is_empty());
        open.map(|flow| flow.steps).unwrap_or_default()
    }

    /// Hands on what is open as it stands.
    pub(crate) fn finish(&mut self, sink: &mut dyn FnMut(Event)) {
        if let Some(flow) = self.open.take() {
            flow.finish(Cause::Unknown, None, self.keep, sink);
        }
    }

    /// Takes the next step; gives it back where nothing is open that it could belong to.
    pub(crate) fn take(&mut self, held: loose::Step, sink: &mut dyn FnMut(Event)) -> Option<loose::Step> {
        // It was read before; that it can be is known.
        let Ok(step) = serde_json::from_str::<Step<'_>>(&held.text) else { return None };
        if step.event == "request" {
            // A number that is used again is another run's.
            self.finish(sink);
            let record = Record { origin: held.origin, bytes: b"", shipped: &held.shipped };
            self.open = Some(self.begin(&step, held.at, &record));
        }
        let Some(flow) = &mut self.open else { return Some(held) };
        flow.last = held.at;
        let done = match &*step.event {
            "response_headers" => {
                flow.headers(&step, held.at);
                None
            }
            "chunk" => {
                flow.piece(step.data.as_deref().unwrap_or_default(), held.at);
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
        if let Some((cause, word)) = done {
            let flow = self.open.take();
            flow.into_iter().for_each(|flow| flow.finish(cause, word.as_deref(), self.keep, sink));
            return None;
        }
        flow.step_bytes += held.text.len();
        if flow.step_bytes <= MOST_BODY {
            flow.steps.push(held);
        } else {
            flow.steps = Vec::new();
        }
        None
    }

    fn begin(&self, step: &Step<'_>, at: Nanos, record: &Record<'_>) -> Flow {
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
            step_bytes: 0,
        }
    }
}

impl Reader for Wire {
    fn read(&mut self, record: Record<'_>, sink: &mut dyn FnMut(Event)) -> Result<(), RecordProblem> {
        let step: Step<'_> = serde_json::from_slice(record.bytes)
            .map_err(|why| RecordProblem::Malformed { format: "step of a capture", why: why.to_string() })?;
        let at = clock::any(step.ts.get().trim_matches('"')).ok_or(RecordProblem::NoTime)?;
        let flow = step.flow.get().to_owned();
        let keep = self.keep;
        let open = || Held { assembly: Assembly::new(keep), steps: Vec::new() };
        self.flows.entry(flow.clone()).or_insert_with(open).steps.push(loose::Step {
            flow,
            at,
            phase: phase(&step.event),
            origin: record.origin,
            shipped: record.shipped.clone(),
            text: String::from_utf8_lossy(record.bytes).into_owned(),
        });
        self.held += record.bytes.len();
        if self.held > MOST_HELD {
            self.assemble(sink);
        }
        Ok(())
    }

    fn finish(&mut self, sink: &mut dyn FnMut(Event)) {
        std::mem::take(&mut self.ready).into_iter().for_each(&mut *sink);
        self.assemble(sink);
        std::mem::take(&mut self.flows).values_mut().for_each(|held| held.assembly.finish(sink));
    }

    fn leave(&mut self) -> Vec<loose::Step> {
        let mut ready = std::mem::take(&mut self.ready);
        self.assemble(&mut |event| ready.push(event));
        self.ready = ready;
        let mut steps: Vec<loose::Step> =
            self.flows.values_mut().flat_map(|held| held.assembly.open_steps()).collect();
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
