//! How a contact ended, as the contract sees it: the observation of each exchange for `classify_close`.
//! Knows what was delivered and what bytes bound; not what the client should do next.

use crate::event::{About, Bytes, Cause, Counts, Media, Method, Phase, RpcId, RpcOutcome, Vantage};
use crate::join::Contact;
use unbroken_contract::close::{
    self, Close, Complaint, Delivery, Dialect, Mark, Observation, Request, SessionSent,
};
use unbroken_contract::era::Era;

/// Fewest bytes that can hold the response to a call, without its id: `{"jsonrpc":"2.0","id":,"result":{"content":[]}}`
/// (`content` is required of a tool's result; an error or a task is longer). Fewer bytes prove that it was not delivered; chunk
/// framing and headers only add.
const LEAST_ANSWER: u64 = 47;
/// What an event stream adds to it: `data:` and the blank line.
const LEAST_FRAME: u64 = 7;

/// Words about the session in place of 404, each learned from the very answer that holds them: a server that refuses a
/// request with a session id and speaks of the session says that it does not know it (contract 3.1, field.md appendix).
/// 401 is left out: with a challenge it speaks of the credential.
const SAID: &[Dialect] = &[
    Dialect { status: 200, mark: Mark::Text },
    Dialect { status: 400, mark: Mark::Text },
    Dialect { status: 410, mark: Mark::Text },
    Dialect { status: 422, mark: Mark::Text },
    Dialect { status: 503, mark: Mark::Text },
];

/// Whether the response to `id` was delivered on this contact itself.
#[must_use]
pub fn delivered(contact: &Contact, id: Option<&RpcId>) -> Delivery {
    if contact.tells_bodies() {
        let there = contact.answers().any(|(answered, outcome, _)| match (answered, id) {
            (Some(answered), Some(id)) => same_id(answered, id),
            // Of a request whose id is not known, any response may be the one.
            (Some(_), None) => true,
            // An error without an id answers a POST with one request (JSON-RPC 2.0, section 5).
            (None, _) => matches!(outcome, RpcOutcome::Error { .. }),
        });
        return if there && !left_in_body(contact) { Delivery::All } else { Delivery::Missing };
    }
    if !contact.accepted() && contact.exchange.status.is_some() {
        return Delivery::Missing;
    }
    if bytes_below(contact.exchange.response.bytes, least_answer(contact, id)) || left_in_body(contact) {
        return Delivery::Missing;
    }
    match contact.exchange.end.cause {
        // A server ends a POST's stream after the response, so a stream that was cut did not carry it.
        Cause::UpstreamIdleTimeout
        | Cause::UpstreamAbort
        | Cause::ProxyDeadline
        | Cause::ProxyAdmin
        | Cause::UnknownCut
            if contact.exchange.method == Method::Post =>
        {
            Delivery::Missing
        }
        Cause::Complete if contact.exchange.method == Method::Post => Delivery::All,
        _ if contact.exchange.response.media == Media::Json => Delivery::All,
        // A client that left is taken to have had its answer only where the bytes leave room for one.
        Cause::ClientAbort | Cause::ClientTimeout if contact.exchange.response.bytes.is_none() => {
            Delivery::Missing
        }
        Cause::Unknown | Cause::ClientAbort | Cause::ClientTimeout if at_idle_limit(contact) => {
            Delivery::Missing
        }
        _ => Delivery::Unrecorded,
    }
}

/// Whether the client left while a JSON response was on its way, by the word of a hop or the server: such a body is one piece, and
/// who had all of it has nothing left to break off. An event stream may be left once its response is there (contract 5), and
/// what a capture beside the client holds has arrived.
fn left_in_body(contact: &Contact) -> bool {
    let response = &contact.exchange.response;
    let left = matches!(contact.exchange.end.cause, Cause::ClientAbort | Cause::ClientTimeout);
    let whole = response.media == Media::Json && response.events.is_none();
    left && whole && vantage(contact) != close::Vantage::Client
}

/// Fewest bytes of a body that holds the response to `id`.
fn least_answer(contact: &Contact, id: Option<&RpcId>) -> u64 {
    let stream = contact.exchange.response.media == Media::EventStream;
    let frame = if stream { LEAST_FRAME } else { 0 };
    LEAST_ANSWER + frame + id.map_or(1, |id| id_text(id).len() as u64)
}

/// Whether an exchange of which no end is recorded lasted as long as a usual idle timeout, within half a second
/// (formats.md, fact 6): 60 s nginx, ALB, Envoy routes; 100 s CDNs; 120 s, 300 s, 350 s, 600 s balancers and runtimes;
/// 305 s and 360 s known clients. What rests on it alone is *possible*.
#[must_use]
pub fn at_idle_limit(contact: &Contact) -> bool {
    const LIMITS: [i64; 8] = [60, 100, 120, 300, 305, 350, 360, 600];
    let Some(length) = contact.end.map(|end| end - contact.start) else { return false };
    LIMITS.iter().any(|limit| (0..=500_000_000).contains(&(length - limit * 1_000_000_000)))
}

/// Whether a hop or a server saw its client leave at a usual idle limit, and nothing nearer to the client tells more: a balancer in
/// front that cuts both sides looks the same, so who closed is open.
#[must_use]
pub fn behind_a_limit(contact: &Contact) -> bool {
    vantage(contact) != close::Vantage::Client
        && contact.accepted()
        && contact.exchange.end.cause == Cause::ClientAbort
        && at_idle_limit(contact)
}

/// Whether nothing but its length tells that an exchange was cut before its response: no cause, no body, no byte count that is too
/// small.
#[must_use]
pub fn by_length_alone(contact: &Contact, id: Option<&RpcId>) -> bool {
    let untold =
        matches!(contact.exchange.end.cause, Cause::Unknown | Cause::ClientAbort | Cause::ClientTimeout);
    untold && could_carry(contact, id) && at_idle_limit(contact)
}

/// Whether the response's body has fewer bytes than `least`.
fn bytes_below(bytes: Option<Bytes>, least: u64) -> bool {
    match bytes {
        Some(Bytes { count, counts: Counts::Body | Counts::ChunkedBody }) => count < least,
        // Headers alone are never shorter than a status line and one header; nothing is subtracted for the others.
        Some(Bytes { count, counts: Counts::HeadersAndBody }) => count < least,
        None => false,
    }
}

/// Whether a stream can have carried the response to `id`, as far as its bytes bound.
#[must_use]
pub fn could_carry(contact: &Contact, id: Option<&RpcId>) -> bool {
    contact.accepted()
        && !contact.tells_bodies()
        && !bytes_below(contact.exchange.response.bytes, least_answer(contact, id))
}

/// Ids are compared as typed text; a log that keeps them untyped compares by the text alone.
#[must_use]
pub fn same_id(a: &RpcId, b: &RpcId) -> bool {
    match (a, b) {
        (RpcId::Untyped(_), _) | (_, RpcId::Untyped(_)) => id_text(a) == id_text(b),
        _ => a == b,
    }
}

/// The id's text.
#[must_use]
pub fn id_text(id: &RpcId) -> &str {
    match id {
        RpcId::Number(text) | RpcId::String(text) | RpcId::Untyped(text) => text,
    }
}

/// What the contract says this contact's end was for the client (contract 3.1).
#[must_use]
pub fn classify(contact: &Contact, era: Era, held: bool) -> Close<'static> {
    let observation = observe(contact, era, held);
    close::classify_close(vantage(contact), &observation)
}

fn observe(contact: &Contact, era: Era, held: bool) -> Observation<'static> {
    let exchange = &contact.exchange;
    let mut requests = contact.requests().peekable();
    let request = match exchange.method {
        Method::Delete => Request::Delete,
        Method::Get if exchange.request.last_event_id.is_some() => Request::Resume,
        Method::Get => Request::Listen,
        // A body that is not recorded may have asked for something.
        _ if requests.peek().is_some() || contact.messages().is_empty() => Request::Ask,
        _ => Request::Tell,
    };
    let mut delivery = Delivery::All;
    for asked in requests {
        delivery = worse(delivery, delivered(contact, asked.id.as_ref()));
    }
    if contact.messages().is_empty() {
        delivery = if exchange.method == Method::Post { delivered(contact, None) } else { Delivery::Missing };
    }
    let session = match (contact.session_in(), held) {
        (None, _) => SessionSent::None,
        (Some(_), true) => SessionSent::Held,
        (Some(_), false) => SessionSent::Former,
    };
    Observation {
        session,
        delivery,
        status: exchange.status,
        media: media(exchange.response.media),
        challenge: exchange.response.challenge,
        complaint: complaint(contact),
        end: end_seen(contact),
        dialects: SAID,
        ..Observation::of(era, request)
    }
}

/// How the exchange ended for the client. A refusal is complete with its headers: whoever closes on reading them has
/// seen them. 499 is a proxy's own word for a client that left before.
fn end_seen(contact: &Contact) -> close::End {
    let refused = matches!(contact.exchange.status, Some(300..=498 | 500..));
    let cause = contact.exchange.end.cause;
    if refused && matches!(cause, Cause::ClientAbort) && contact.exchange.end.phase != Phase::BeforeHeaders {
        return close::End::Clean;
    }
    end(cause)
}

fn worse(a: Delivery, b: Delivery) -> Delivery {
    match (a, b) {
        (Delivery::Missing, _) | (_, Delivery::Missing) => Delivery::Missing,
        (Delivery::Unrecorded, _) | (_, Delivery::Unrecorded) => Delivery::Unrecorded,
        _ => Delivery::All,
    }
}

fn complaint(contact: &Contact) -> Complaint<'static> {
    let error = contact.answers().find_map(|(_, outcome, _)| match outcome {
        RpcOutcome::Error { code, about } => Some((*code, *about)),
        _ => None,
    });
    let Some((code, about)) = error else { return Complaint::default() };
    let about = match about {
        About::Other => close::About::Other,
        About::Session => close::About::Session,
        About::Event => close::About::Event,
    };
    Complaint { code: Some(code), about, ..Complaint::default() }
}

fn media(media: Media) -> close::Media {
    match media {
        Media::Unknown => close::Media::Unrecorded,
        Media::None => close::Media::Empty,
        Media::Json => close::Media::Json,
        Media::EventStream => close::Media::EventStream,
        Media::Other => close::Media::Other,
    }
}

fn end(cause: Cause) -> close::End {
    match cause {
        Cause::Complete => close::End::Clean,
        Cause::ClientAbort | Cause::ClientTimeout => close::End::Downstream,
        Cause::UpstreamIdleTimeout | Cause::ProxyDeadline => close::End::Idle,
        Cause::UpstreamAbort | Cause::ProxyAdmin | Cause::UnknownCut => close::End::Cut,
        Cause::ConnectFailed => close::End::Unreachable,
        Cause::Unknown => close::End::Unrecorded,
    }
}

/// The vantage nearest to the client among those that saw it.
fn vantage(contact: &Contact) -> close::Vantage {
    match contact.seen[0].vantage {
        Vantage::Client | Vantage::Capture => close::Vantage::Client,
        Vantage::EdgeLb | Vantage::Proxy | Vantage::Gateway => close::Vantage::Hop,
        Vantage::ServerHttp | Vantage::ServerApp => close::Vantage::Server,
    }
}
