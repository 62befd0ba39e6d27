//! nginx and ingress-nginx JSON access logs: one line per request, written when it ends.
//! Knows nginx's variables under the names that operators give them; not the error log, which tells why a stream ended.

use super::access::{self, Draft};
use super::field::{self, Slot, record_fields};
use super::rpc::Keep;
use super::{Adapter, RecordProblem, names};
use crate::event::{
    Attempt, Cause, Counts, Delivered, Event, Known, Logged, Phase, Time, TimeMeans, Vantage,
};
use crate::mapping::clock;
use crate::source::Record;

/// The reader of nginx's JSON access logs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nginx;

// Keys are the operator's choice: the variable's own name first, then the names met in practice (formats.md 2.3).
record_fields! {
    Line {
        msec: "msec" | "ts";
        time: "time_iso8601" | "time" | "timestamp";
        // Shippers write one of their own under it.
        shipped: "@timestamp";
        time_local: "time_local";
        request_id: "request_id" | "req_id";
        connection: "connection";
        remote_addr: "remote_addr" | "client_ip" | "ip";
        remote_port: "remote_port";
        forwarded_for: "http_x_forwarded_for" | "x_forwarded_for";
        subject: "remote_user" | "jwt_sub";
        method: "request_method" | "method";
        line: "request";
        uri: "request_uri" | "uri" | "path";
        host: "http_host" | "host";
        status: "status";
        body_bytes: "body_bytes_sent";
        bytes: "bytes_sent";
        length: "request_time" | "rt";
        completion: "request_completion";
        upstream_addr: "upstream_addr";
        upstream_status: "upstream_status";
        upstream_connect: "upstream_connect_time";
        upstream_header: "upstream_header_time";
        upstream_length: "upstream_response_time";
        user_agent: "http_user_agent" | "user_agent" | "ua";
        session_in: "http_mcp_session_id" | "session_in" | "mcp_session_id";
        session_out: "sent_http_mcp_session_id" | "upstream_http_mcp_session_id" | "session_out";
        last_event_id: "http_last_event_id" | "last_event_id";
        protocol_version: "http_mcp_protocol_version" | "protocol_version" | "mcp_protocol_version";
        mcp_method: "http_mcp_method" | "mcp_method";
        mcp_name: "http_mcp_name" | "mcp_name";
        idempotency_key: "http_idempotency_key" | "idempotency_key";
        traceparent: "http_traceparent" | "traceparent";
        content_type: "sent_http_content_type" | "content_type_out";
        retry_after: "sent_http_retry_after" | "retry_after";
        request_body: "request_body" | "body" => whole;
    }
}

impl Adapter for Nginx {
    fn name(&self) -> &'static str {
        "nginx-json"
    }

    fn read(&self, record: Record<'_>, keep: Keep, sink: &mut dyn FnMut(Event)) -> Result<(), RecordProblem> {
        let (mended, unfolded);
        let mut bytes = record.bytes;
        let mut line: Line<'_> = match serde_json::from_slice(bytes) {
            Ok(line) => line,
            Err(why) => {
                let broken =
                    || RecordProblem::Malformed { format: "nginx access line", why: why.to_string() };
                mended = field::without_hex_escapes(bytes).ok_or_else(broken)?;
                bytes = &mended;
                serde_json::from_slice(bytes).map_err(|_| broken())?
            }
        };
        if method(&line).is_none()
            && let Some(flat) = names::unfolded(bytes)
        {
            unfolded = flat;
            line = serde_json::from_slice(&unfolded).unwrap_or(line);
        }
        let time = time_of(&line, &record).ok_or(RecordProblem::NoTime)?;
        let mut draft = Draft::new(access::method_of(method(&line).unwrap_or_default()), time);
        fill_request(&mut draft, &line, keep);
        fill_response(&mut draft, &line);
        draft.finish(&record, Vantage::Proxy, sink);
        Ok(())
    }
}

fn method<'l>(line: &'l Line<'_>) -> Option<&'l str> {
    line.method.get().or_else(|| request_line(line).map(|(method, _)| method))
}

/// The parts of `$request`, `POST /mcp HTTP/1.1`.
fn request_line<'l>(line: &'l Line<'_>) -> Option<(&'l str, Option<&'l str>)> {
    let mut words = line.line.get()?.split(' ');
    let method = words.next().filter(|word| word.bytes().all(|b| b.is_ascii_uppercase()))?;
    Some((method, words.next()))
}

fn time_of(line: &Line<'_>, record: &Record<'_>) -> Option<Time> {
    let length = line.length.seconds();
    // `$msec`, whatever key it stands under, goes before the whole seconds of the other variables.
    let epoch = [line.msec.get(), line.time.get(), line.shipped.get().filter(|_| line.time_local.is_none())]
        .into_iter()
        .flatten()
        .find_map(|text| Some((text, clock::any(text).filter(|_| clock::epoch_unit(text).is_some())?)));
    if let Some((text, at)) = epoch {
        // It has three decimals; a pipeline may have made whole milliseconds of it.
        let precision = field::precision(text).min(clock::epoch_unit(text).unwrap_or(clock::SECOND));
        return Some(access::ended(at, length, precision));
    }
    let second = 1_000_000_000;
    if let Some(at) = line.time.get().or(line.msec.get()).and_then(field::rfc3339) {
        return Some(access::ended(at, length, second));
    }
    if let Some((at, zoned)) = line.time_local.get().or(line.time.get()).and_then(field::common_log_time) {
        return Some(Time { zone_assumed: !zoned, ..access::ended(at, length, second) });
    }
    if let Some(at) = line.shipped.get().and_then(field::rfc3339) {
        return Some(access::ended(at, length, second));
    }
    let at = record.shipped.at?;
    Some(Time { means: TimeMeans::Emit, ..access::ended(at, length, second) })
}

fn fill_request(draft: &mut Draft, line: &Line<'_>, keep: Keep) {
    draft.identity.remote_addr = line.remote_addr.text();
    draft.identity.remote_port = line.remote_port.number();
    draft.identity.forwarded_for = line.forwarded_for.text();
    draft.identity.user_agent = line.user_agent.text();
    draft.identity.connection = line.connection.text();
    draft.identity.subject = line.subject.text();
    draft.keys.request = line.request_id.text();
    access::trace(line.traceparent.get(), &mut draft.keys);
    let exchange = &mut draft.exchange;
    exchange.host = line.host.text();
    exchange.path = line.uri.get().or_else(|| request_line(line)?.1).map(access::path_of);
    let request = &mut exchange.request;
    request.session = line.session_in.text();
    request.last_event_id = line.last_event_id.text();
    request.protocol_version = line.protocol_version.text();
    request.mcp_method = line.mcp_method.text();
    request.mcp_name = line.mcp_name.text();
    request.idempotency_key = line.idempotency_key.text();
    // An empty body field says nothing: nginx leaves it empty when it answered by itself and when the body was spilled
    // to a file (formats.md 2.3).
    request.body = access::body_of(line.request_body.get(), keep);
}

fn fill_response(draft: &mut Draft, line: &Line<'_>) {
    let exchange = &mut draft.exchange;
    exchange.status = line.status.number();
    exchange.attempts = attempts(line);
    let response = &mut exchange.response;
    response.session = line.session_out.text();
    if let Some(kind) = &line.content_type {
        response.media = access::media_of(kind.get());
    }
    response.retry_after = access::retry_after(line.retry_after.get());
    response.bytes =
        access::bytes_of(line.body_bytes.number().or_else(|| line.bytes.number()), Counts::ChunkedBody);
    response.headers_at =
        draft.time.start.zip(last(&line.upstream_header)).map(|(start, after)| start + after);
    // `OK` says only that nginx finished what it sent; a stream that it cut after an upstream timeout says it too. An
    // empty one says that the client, or a balancer before it, closed first.
    exchange.end = match line.completion.as_ref().map(|field| field.get()) {
        _ if exchange.status == Some(499) => {
            access::end(Cause::ClientAbort, Phase::BeforeHeaders, Known::Stated, Some("499"))
        }
        Some(None) => {
            access::end(Cause::ClientAbort, Phase::InBody, Known::Stated, Some("request_completion is empty"))
        }
        _ => gateway_end(exchange.status, &exchange.attempts),
    };
    exchange.logged = Logged {
        session_in: line.session_in.is_some(),
        session_out: line.session_out.is_some(),
        last_event_id: line.last_event_id.is_some(),
        request_body: line.request_body.is_some(),
        response_body: false,
        end: false,
        instance: line.upstream_addr.is_some(),
    };
}

/// 502 and 504 are nginx's own words for an upstream that failed it before the headers.
fn gateway_end(status: Option<u16>, attempts: &[Attempt]) -> crate::event::End {
    let refused = !attempts.is_empty() && attempts.iter().all(|attempt| attempt.delivered == Delivered::No);
    let cause = match status {
        Some(502) if refused => Cause::ConnectFailed,
        Some(502) => Cause::UpstreamAbort,
        Some(504) => Cause::UpstreamIdleTimeout,
        Some(503) if attempts.is_empty() => Cause::ConnectFailed,
        _ => return access::end(Cause::Unknown, Phase::Unknown, Known::Derived, None),
    };
    access::end(cause, Phase::BeforeHeaders, Known::Derived, None)
}

/// The comma lists of `$upstream_*`: one item per server tried, groups of internal redirects parted by a colon.
fn attempts(line: &Line<'_>) -> Vec<Attempt> {
    let Some(addresses) = line.upstream_addr.get() else { return Vec::new() };
    let statuses = items(line.upstream_status.get());
    let lengths = items(line.upstream_length.get());
    let connects = line.upstream_connect.as_ref().map(|field| items(field.get()));
    items(Some(addresses))
        .iter()
        .enumerate()
        .map(|(at, address)| {
            let status = statuses.get(at).and_then(|text| text.parse::<u16>().ok());
            let length = lengths.get(at).and_then(|text| field::decimal(text, 9));
            let connected = connects.as_ref().map(|list| list.get(at).is_some_and(|text| *text != "-"));
            access::attempt(Some(address), status, delivered(status, length, connected))
        })
        .collect()
}

/// Whether an attempt delivered the request: a connect time proves it, a failed connect shows as no time at all
/// (measured: `502, 200` with a first time of 0.000).
fn delivered(status: Option<u16>, length: Option<i64>, connected: Option<bool>) -> Delivered {
    match (status, connected) {
        (_, Some(false)) => Delivered::No,
        (Some(502 | 504), None) if length == Some(0) => Delivered::No,
        (Some(_), _) => Delivered::Yes,
        (None, Some(true)) => Delivered::Yes,
        (None, None) => Delivered::Unknown,
    }
}

fn items(list: Option<&str>) -> Vec<&str> {
    list.map(|list| list.split(',').flat_map(|part| part.split(" : ")).map(str::trim).collect())
        .unwrap_or_default()
}

fn last(list: &Option<field::Field<'_>>) -> Option<i64> {
    items(list.get()).last().and_then(|text| field::decimal(text, 9))
}
