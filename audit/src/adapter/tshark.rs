//! Packets as tshark prints them (`-T ek`, `-T json`, with or without `-e`): requests and responses of one connection make
//! exchanges.
//! Knows HTTP/1 as tshark dissects it; a request that no response is seen for stays open.

use super::access::{self, Draft};
use super::rpc::{self, Keep};
use super::{Reader, RecordProblem, sse};
use crate::event::{
    Body, Cause, Counts, Event, Known, Logged, Media, Message, Method, Nanos, Origin, Phase, SseEvent,
    Vantage,
};
use crate::mapping::clock;
use crate::mapping::json::{self, Raw};
use crate::source::{Record, Shipped};
use std::collections::{BTreeMap, VecDeque};

/// The reader.
pub(super) struct Packets {
    keep: Keep,
    /// Exchanges that go on, by connection; a connection carries one after the other.
    open: BTreeMap<String, VecDeque<Flow>>,
}

struct Flow {
    origin: Origin,
    shipped: Shipped,
    draft: Draft,
    client: Option<String>,
    answered: bool,
    last: Nanos,
}

/// What one packet says: of itself, and of each HTTP message that it completes.
#[derive(Default)]
struct Packet {
    frame: Fields,
    messages: Vec<Fields>,
}

/// Values under tshark's names as its filters write them, dots as `_`.
#[derive(Default)]
struct Fields(Vec<(&'static str, String)>);

impl Fields {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, value)| *key == name && !value.is_empty()).map(|(_, value)| value.as_str())
    }

    fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| matches!(value, "1" | "true" | "True"))
    }

    /// A header out of the lines of a message's head.
    fn header(&self, lines: &str, name: &str) -> Option<&str> {
        self.0.iter().filter(|(key, _)| *key == lines).find_map(|(_, line)| {
            let (own, value) = line.split_once(':')?;
            own.eq_ignore_ascii_case(name).then(|| value.trim()).filter(|value| !value.is_empty())
        })
    }
}

impl Packets {
    /// A reader without open exchanges.
    pub(super) fn new(keep: Keep) -> Self {
        Packets { keep, open: BTreeMap::new() }
    }

    fn request(&self, told: &Fields, frame: &Fields, at: Nanos, record: &Record<'_>) -> Flow {
        let header = |name: &str| told.header("http_request_line", name);
        let method = told.get("http_request_method").map_or(Method::Other, access::method_of);
        let mut draft = Draft::new(method, access::started(at, None, 1_000));
        let client = ["ip_src", "ipv6_src"].iter().find_map(|name| frame.get(name)).map(str::to_owned);
        draft.identity.remote_addr = client.as_deref().map(Into::into);
        draft.identity.remote_port = frame.get("tcp_srcport").and_then(|port| port.parse().ok());
        draft.identity.user_agent =
            header("user-agent").or_else(|| told.get("http_user_agent")).map(Into::into);
        draft.identity.forwarded_for = header("x-forwarded-for").map(Into::into);
        draft.keys.request = header("x-request-id").map(Into::into);
        access::trace(header("traceparent"), &mut draft.keys);
        let x = &mut draft.exchange;
        x.path = told.get("http_request_uri").map(access::path_of);
        x.host = header("host").or_else(|| told.get("http_host")).map(Into::into);
        x.request.session = header("mcp-session-id").map(Into::into);
        x.request.last_event_id = header("last-event-id").map(Into::into);
        x.request.protocol_version = header("mcp-protocol-version").map(Into::into);
        x.request.mcp_method = header("mcp-method").map(Into::into);
        x.request.mcp_name = header("mcp-name").map(Into::into);
        x.request.idempotency_key = header("idempotency-key").map(Into::into);
        x.request.credential =
            header("authorization").map(|value| rapidhash::v3::rapidhash_v3(value.as_bytes()));
        x.request.body = match body_of(told, frame) {
            Some(body) => rpc::read_body(&body, self.keep),
            None => Body::Empty,
        };
        let lines = told.get("http_request_line").is_some();
        x.logged = Logged {
            session_in: lines,
            session_out: lines,
            last_event_id: lines,
            request_body: true,
            response_body: false,
            end: false,
            instance: false,
        };
        Flow {
            origin: record.origin,
            shipped: record.shipped.clone(),
            draft,
            client,
            answered: false,
            last: at,
        }
    }
}

impl Flow {
    fn answer(&mut self, told: &Fields, frame: &Fields, at: Nanos, keep: Keep) {
        let header = |name: &str| told.header("http_response_line", name);
        self.answered = true;
        self.last = at;
        let x = &mut self.draft.exchange;
        x.status = told.get("http_response_code").and_then(|code| code.parse().ok());
        x.response.session = header("mcp-session-id").map(Into::into);
        x.response.media = access::media_of(header("content-type").or_else(|| told.get("http_content_type")));
        x.response.retry_after = access::retry_after(header("retry-after"));
        x.response.challenge = header("www-authenticate").is_some();
        let body = body_of(told, frame);
        x.response.bytes = access::bytes_of(body.as_ref().map(|body| body.len() as u64), Counts::Body);
        if x.response.media == Media::EventStream {
            x.response.events = body.map(|body| sse::read_events(&body, keep));
            x.logged.response_body = x.response.events.is_some();
        } else {
            x.response.body = body.map_or(Body::Empty, |body| rpc::read_body(&body, keep));
            x.logged.response_body = true;
        }
    }

    /// Whether a stream is expected to go on: it has not carried the answer.
    fn goes_on(&self) -> bool {
        let x = &self.draft.exchange;
        x.response.media == Media::EventStream
            && !x.response.events.as_deref().unwrap_or_default().iter().any(is_answer)
    }

    /// `cause`: what the connection says of the end; none: it says nothing.
    fn finish(mut self, cause: Option<Cause>, word: &str, sink: &mut dyn FnMut(Event)) {
        let goes_on = self.goes_on();
        let x = &mut self.draft.exchange;
        let phase = if self.answered { Phase::InBody } else { Phase::BeforeHeaders };
        let (cause, known) = match cause {
            Some(cause) if goes_on || !self.answered => (cause, Known::Stated),
            _ if self.answered && !goes_on => (Cause::Complete, Known::Derived),
            _ => (Cause::Unknown, Known::Derived),
        };
        if !self.answered && cause != Cause::Unknown {
            x.status = Some(0);
        }
        x.end = access::end(cause, phase, known, Some(word).filter(|word| !word.is_empty()));
        x.logged.end = cause != Cause::Unknown;
        let told = self.answered || cause != Cause::Unknown;
        self.draft.time.end = told.then_some(self.last);
        let record = Record { origin: self.origin, bytes: b"", shipped: &self.shipped };
        self.draft.finish(&record, Vantage::Capture, sink);
    }
}

fn is_answer(event: &SseEvent) -> bool {
    matches!(event.message, Some(Message::Response(_)))
}

impl Reader for Packets {
    fn read(&mut self, record: Record<'_>, sink: &mut dyn FnMut(Event)) -> Result<(), RecordProblem> {
        let packet = packet(record.bytes)?;
        let frame = &packet.frame;
        let at = frame
            .get("frame_time_epoch")
            .or_else(|| frame.get("timestamp"))
            .and_then(clock::any)
            .or(record.shipped.at);
        let connection = frame.get("tcp_stream").unwrap_or_default().to_owned();
        for told in &packet.messages {
            let at = at.ok_or(RecordProblem::NoTime)?;
            if told.get("http_request_method").is_some() {
                let flow = self.request(told, frame, at, &record);
                let open = self.open.entry(connection.clone()).or_default();
                // A connection is used again when the response before is over.
                while open.front().is_some_and(|flow| flow.answered) {
                    open.pop_front()
                        .into_iter()
                        .for_each(|flow| flow.finish(Some(Cause::Complete), "", sink));
                }
                open.push_back(flow);
            } else if told.get("http_response_code").is_some() {
                let keep = self.keep;
                let Some(open) = self.open.get_mut(&connection) else { continue };
                let Some(at_flow) = open.iter().position(|flow| !flow.answered) else { continue };
                open[at_flow].answer(told, frame, at, keep);
                if !open[at_flow].goes_on()
                    && let Some(flow) = open.remove(at_flow)
                {
                    flow.finish(None, "", sink);
                }
            }
        }
        let closes = frame.is_set("tcp_flags_reset") || frame.is_set("tcp_flags_fin");
        if let (true, Some(at)) = (closes, at) {
            let source = ["ip_src", "ipv6_src"].iter().find_map(|name| frame.get(name));
            for mut flow in self.open.remove(&connection).unwrap_or_default() {
                let client = source.is_some() && source == flow.client.as_deref() && {
                    let port = frame.get("tcp_srcport").and_then(|port| port.parse().ok());
                    port.is_none() || port == flow.draft.identity.remote_port
                };
                let (cause, word) = if client {
                    (Cause::ClientAbort, "the client closed the connection")
                } else {
                    (Cause::UpstreamAbort, "the server closed the connection")
                };
                flow.last = at;
                flow.finish(Some(cause), word, sink);
            }
        }
        Ok(())
    }

    fn finish(&mut self, sink: &mut dyn FnMut(Event)) {
        for flow in std::mem::take(&mut self.open).into_values().flatten() {
            flow.finish(None, "", sink);
        }
    }
}

fn packet(bytes: &[u8]) -> Result<Packet, RecordProblem> {
    let malformed = |why: String| RecordProblem::Malformed { format: "packet of tshark", why };
    let text = std::str::from_utf8(bytes).map_err(|e| malformed(e.to_string()))?;
    let mut packet = Packet::default();
    let mut whole = Fields::default();
    json::members(text, |key, value| match key {
        "layers" => {
            // A layer that comes twice, as two messages in one packet do, is a list or two members.
            let _ = json::members(value.get(), |layer, raw| {
                let of_http = layer == "http" && matches!(raw.get().as_bytes().first(), Some(b'{' | b'['));
                if !of_http {
                    return leaves(layer, raw, &mut whole, 0);
                }
                let mut add = |one: Raw<'_>| {
                    let mut fields = Fields::default();
                    leaves("", one, &mut fields, 0);
                    packet.messages.push(fields);
                };
                if raw.get().starts_with('[') {
                    let _ = json::elements(raw.get(), &mut add);
                } else {
                    add(raw);
                }
            });
        }
        "timestamp" => leaves(key, value, &mut whole, 0),
        _ => {}
    })
    .map_err(|why| malformed(why.to_string()))?;
    // `-e` puts the fields themselves where the layers stand.
    if packet.messages.is_empty() && whole.0.iter().any(|(key, _)| key.starts_with("http_")) {
        packet.messages.push(Fields(whole.0.clone()));
    }
    packet.frame = whole;
    Ok(packet)
}

/// Every text below a value, under the name of its own key: what is between is how tshark groups them.
fn leaves(key: &str, raw: Raw<'_>, fields: &mut Fields, depth: usize) {
    if depth > 8 {
        return;
    }
    match raw.get().as_bytes().first() {
        Some(b'{') => {
            let _ = json::members(raw.get(), |own, value| leaves(own, value, fields, depth + 1));
        }
        Some(b'[') => {
            let _ = json::elements(raw.get(), |value| leaves(key, value, fields, depth + 1));
        }
        Some(b'"') => {
            if let (Some(field), Some(text)) = (named(key), raw.string()) {
                fields.0.push((field, text.into_owned()));
            }
        }
        Some(b'n') | None => {}
        Some(_) => fields.0.extend(named(key).map(|field| (field, raw.get().to_owned()))),
    }
}

/// The fields that are read, as tshark's filters name them, dots as `_`.
const FIELDS: [&str; 18] = [
    "frame_time_epoch",
    "timestamp",
    "ip_src",
    "ipv6_src",
    "tcp_srcport",
    "tcp_stream",
    "tcp_flags_fin",
    "tcp_flags_reset",
    "http_request_method",
    "http_request_uri",
    "http_request_line",
    "http_response_code",
    "http_response_line",
    "http_content_type",
    "http_user_agent",
    "http_host",
    "http_file_data",
    "json_object",
];

/// The field of a key: `http.request.method`, or with its layer or group before it, as `-T ek` writes it
/// (`http_http_request_method`, `tcp_flags_tcp_flags_fin`).
fn named(key: &str) -> Option<&'static str> {
    let same = |field: &str| {
        let Some(before) = key.len().checked_sub(field.len()) else { return false };
        let (before, own) = key.as_bytes().split_at(before);
        let equal = own.iter().zip(field.bytes()).all(|(a, b)| *a == b || (*a == b'.' && b == b'_'));
        equal && matches!(before.last(), None | Some(b'_' | b'.'))
    };
    FIELDS.into_iter().find(|field| same(field))
}

/// The body: hexadecimal with or without colons, or text as older versions print it; of JSON also its own layer's text.
fn body_of(told: &Fields, frame: &Fields) -> Option<Vec<u8>> {
    let Some(text) = told.get("http_file_data") else {
        return frame.get("json_object").map(|text| text.as_bytes().to_vec());
    };
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b':').collect();
    let hex =
        !digits.is_empty() && digits.len().is_multiple_of(2) && digits.iter().all(u8::is_ascii_hexdigit);
    if !hex {
        return Some(text.as_bytes().to_vec());
    }
    let value = |digit: u8| (digit as char).to_digit(16).unwrap_or(0) as u8;
    Some(digits.chunks_exact(2).map(|pair| value(pair[0]) << 4 | value(pair[1])).collect())
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn every_spelling_of_a_field_is_one_name() {
        for spelling in ["http.request.method", "http_http_request_method", "http_request_method"] {
            assert_eq!(named(spelling), Some("http_request_method"));
        }
        assert_eq!(named("tcp_flags_tcp_flags_fin"), Some("tcp_flags_fin"));
        assert_eq!(named("ip_ip_src"), Some("ip_src"));
        assert_eq!(named("http_request_full_uri"), None);
    }
}
