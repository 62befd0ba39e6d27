//! HAProxy JSON access logs: one line per request, written when it ends, with a code that says how.
//! Knows HAProxy's log variables under the names that operators give them, and the meaning of the termination state.

use super::access::{self, Draft};
use super::field::{self, Slot, record_fields};
use super::rpc::Keep;
use super::{Adapter, RecordProblem, names};
use crate::event::{
    Attempt, Cause, Counts, Delivered, End, Event, Known, Logged, Nanos, Phase, Time, Vantage,
};
use crate::mapping::clock;
use crate::source::Record;

/// The reader of HAProxy's JSON access logs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Haproxy;

record_fields! {
    Line {
        epoch: "ts";
        time: "time" | "tr" | "request_date" | "t" | "timestamp";
        // Shippers write one of their own under these.
        shipped: "@timestamp" | "date";
        accepted: "accept_date";
        remote_addr: "remote_addr" | "client_ip" | "src" | "ci" | "client";
        remote_port: "remote_port" | "client_port" | "cp";
        forwarded_for: "x_forwarded_for" | "xff" | "req_x_forwarded_for";
        server: "server" | "s" | "server_name" | "srv_name";
        server_addr: "server_addr" | "server_ip" | "si" | "srv_ip";
        idle: "Ti" | "t_idle";
        handshake: "Th";
        connect: "Tc" | "t_connect";
        response: "Tr" | "t_response";
        active: "Ta" | "t_active" | "time_active" | "Tt" | "t_total" | "time_total";
        status: "status" | "ST" | "http_status_code";
        bytes: "bytes_read" | "B";
        state: "termination_state" | "tsc" | "termination" | "term_state";
        retries: "retries" | "rc";
        method: "method" | "request_method" | "HM" | "http_method";
        uri: "uri" | "path" | "HU" | "HP" | "HPO" | "request_uri" | "http_uri";
        unique_id: "unique_id" | "request_id" | "ID";
        user_agent: "user_agent" | "req_user_agent";
        session_in: "session_in" | "req_mcp_session_id" | "mcp_session_id";
        session_out: "session_out" | "res_mcp_session_id" | "mcp_session_id_out";
        last_event_id: "last_event_id" | "req_last_event_id";
        protocol_version: "protocol_version" | "req_mcp_protocol_version";
        mcp_method: "mcp_method" | "req_mcp_method";
        mcp_name: "mcp_name" | "req_mcp_name";
        traceparent: "traceparent" | "req_traceparent";
        content_type: "content_type_out" | "res_content_type";
        retry_after: "retry_after" | "res_retry_after";
        request_body: "request_body" | "req_body" | "body" => whole;
    }
}

impl Adapter for Haproxy {
    fn name(&self) -> &'static str {
        "haproxy-json"
    }

    fn read(&self, record: Record<'_>, keep: Keep, sink: &mut dyn FnMut(Event)) -> Result<(), RecordProblem> {
        let mut line: Line<'_> = serde_json::from_slice(record.bytes).map_err(|why| {
            RecordProblem::Malformed { format: "HAProxy access line", why: why.to_string() }
        })?;
        let unfolded;
        if line.method.get().is_none()
            && let Some(flat) = names::unfolded(record.bytes)
        {
            unfolded = flat;
            line = serde_json::from_slice(&unfolded).unwrap_or(line);
        }
        // `<BADREQ>`: a connection on which no request came; a readiness probe.
        if line.method.get().is_none_or(|method| method.starts_with('<')) {
            return Ok(());
        }
        let time = time_of(&line, &record).ok_or(RecordProblem::NoTime)?;
        let mut draft = Draft::new(access::method_of(line.method.get().unwrap_or_default()), time);
        fill_request(&mut draft, &line, keep);
        fill_response(&mut draft, &line);
        draft.finish(&record, Vantage::EdgeLb, sink);
        Ok(())
    }
}

/// The start of the request. `%tr` states it, in local time; `%t` and `%Ts` state when the connection was accepted or
/// became idle, and the epoch form among them tells the zone of the other.
fn time_of(line: &Line<'_>, record: &Record<'_>) -> Option<Time> {
    let milli = 1_000_000;
    let length = line.active.millis();
    // `%Ts.%ms`, under the name of its own or of the time.
    let decimal = |text: &str| clock::epoch_unit(text).and_then(|unit| clock::epoch(text, unit));
    let own = line.accepted.is_some() || line.time.is_some() || line.epoch.get().and_then(decimal).is_some();
    let time = line.time.get().or_else(|| line.shipped.get().filter(|_| !own));
    let epoch = line.epoch.get().and_then(decimal).or_else(|| time.and_then(decimal));
    // A time with its zone, as `%[accept_date,utime(…)]` or the shipper writes it.
    if let Some((at, zoned)) = time.and_then(clock::rfc3339) {
        return Some(Time { zone_assumed: !zoned, ..access::started(at, length, milli) });
    }
    let request = time.and_then(field::common_log_time);
    if let Some((local, zoned)) = request {
        let zone = if zoned { 0 } else { epoch.map_or(0, |epoch| zone_offset(local, epoch)) };
        let time = access::started(local - zone, length, milli);
        return Some(Time { zone_assumed: !zoned && epoch.is_none(), ..time });
    }
    let waited = line.idle.millis().unwrap_or(0) + line.handshake.millis().unwrap_or(0);
    if let Some(epoch) = epoch {
        return Some(access::started(epoch + waited, length, milli));
    }
    if let Some((at, zoned)) = line.accepted.get().and_then(field::common_log_time) {
        return Some(Time { zone_assumed: !zoned, ..access::started(at + waited, length, milli) });
    }
    record.shipped.at.map(|at| access::ended(at, length, milli))
}

/// Zones differ by quarters of an hour, and the request came after the accept date: what is left over below half an hour
/// is the time that the connection was idle.
fn zone_offset(local: Nanos, epoch: Nanos) -> Nanos {
    let half_hour: Nanos = 1_800_000_000_000;
    (local - epoch).div_euclid(half_hour) * half_hour
}

fn fill_request(draft: &mut Draft, line: &Line<'_>, keep: Keep) {
    draft.identity.remote_addr = line.remote_addr.text();
    draft.identity.remote_port = line.remote_port.number();
    draft.identity.forwarded_for = line.forwarded_for.text();
    draft.identity.user_agent = line.user_agent.text();
    draft.keys.request = line.unique_id.text();
    access::trace(line.traceparent.get(), &mut draft.keys);
    let exchange = &mut draft.exchange;
    exchange.path = line.uri.get().map(access::path_of);
    let request = &mut exchange.request;
    request.session = line.session_in.text();
    request.last_event_id = line.last_event_id.text();
    request.protocol_version = line.protocol_version.text();
    request.mcp_method = line.mcp_method.text();
    request.mcp_name = line.mcp_name.text();
    request.body = access::body_of(line.request_body.get(), keep);
}

fn fill_response(draft: &mut Draft, line: &Line<'_>) {
    let exchange = &mut draft.exchange;
    exchange.status = line.status.number::<i32>().and_then(|status| u16::try_from(status.max(0)).ok());
    exchange.end = state_of(line).map_or_else(
        || access::end(Cause::Unknown, Phase::Unknown, Known::Derived, None),
        |state| end_of(state, exchange.status),
    );
    exchange.attempts = attempts(line, &exchange.end);
    let response = &mut exchange.response;
    response.session = line.session_out.text();
    if let Some(kind) = &line.content_type {
        response.media = access::media_of(kind.get());
    }
    response.retry_after = access::retry_after(line.retry_after.get());
    response.bytes = access::bytes_of(line.bytes.number(), Counts::HeadersAndBody);
    response.headers_at = draft.time.start.zip(line.response.millis()).map(|(start, after)| start + after);
    exchange.logged = Logged {
        session_in: line.session_in.is_some(),
        session_out: line.session_out.is_some(),
        last_event_id: line.last_event_id.is_some(),
        request_body: line.request_body.is_some(),
        response_body: false,
        end: state_of(line).is_some(),
        instance: line.server.get().or(line.server_addr.get()).is_some(),
    };
}

/// The termination state: `%ts` is both its name and that of a timestamp in other logs.
fn state_of<'l>(line: &'l Line<'_>) -> Option<&'l str> {
    line.state.get().or(line.epoch.get().filter(|text| !text.starts_with(|c: char| c.is_ascii_digit())))
}

/// HAProxy's manual, "Session state at disconnection": who ended it first, then in which phase.
fn end_of(state: &str, status: Option<u16>) -> End {
    let mut codes = state.chars();
    let (who, place) = (codes.next().unwrap_or('-'), codes.next().unwrap_or('-'));
    let phase = match place {
        'D' | 'L' => Phase::InBody,
        'R' | 'Q' | 'C' | 'H' => Phase::BeforeHeaders,
        _ => Phase::Unknown,
    };
    let cause = match (who, place) {
        ('S' | 's', 'C' | 'Q') => Cause::ConnectFailed,
        ('C', _) => Cause::ClientAbort,
        // `timeout client` of the proxy: no data went either way on a stream that was idle.
        ('c', 'D' | 'L') => Cause::ProxyDeadline,
        ('c', _) => Cause::ClientTimeout,
        ('S' | 'D', _) => Cause::UpstreamAbort,
        ('s', _) => Cause::UpstreamIdleTimeout,
        ('K' | 'U', _) => Cause::ProxyAdmin,
        ('P' | 'R' | 'I' | 'L', _) => Cause::UnknownCut,
        // HAProxy answers 503 with no server by itself and calls that a proper end.
        ('-', _) if status == Some(503) => Cause::Unknown,
        ('-', _) => Cause::Complete,
        _ => Cause::Unknown,
    };
    access::end(cause, phase, Known::Stated, Some(state))
}

/// The last attempt, and before it as many as `retries` counts. Only the last one's server is recorded; whether the
/// earlier ones delivered the request depends on `retry-on`, which no line states: unknown.
fn attempts(line: &Line<'_>, end: &End) -> Vec<Attempt> {
    let upstream =
        line.server.text().filter(|server| &**server != "<NOSRV>").or_else(|| line.server_addr.text());
    let Some(upstream) = upstream else { return Vec::new() };
    let retries =
        line.retries.get().and_then(|text| text.trim_start_matches('+').parse::<u8>().ok()).unwrap_or(0);
    let connected = line.connect.as_ref().is_none_or(|field| field.millis().is_some());
    let delivered = match end.cause {
        Cause::ConnectFailed => Delivered::No,
        _ if !connected => Delivered::No,
        _ => Delivered::Yes,
    };
    let earlier = (0..retries).map(|_| access::attempt(None, None, Delivered::Unknown));
    let own = line.status.number::<u16>().filter(|_| line.response.millis().is_some());
    earlier.chain([Attempt { upstream: Some(upstream), status: own, delivered }]).collect()
}
