//! What a record that is not ordinary bears on ordinary ones.
//! Knows what rules compare; not which records are there.

use super::super::docket::Loud;
use super::super::route;
use crate::event::{Arguments, Body, Cause, Message, Method, RpcOutcome, RpcRequest, What};
use crate::mapping::{CallMark, info_mark};
use crate::skim::mark;
use crate::timeline::close::id_text;
use unbroken_contract::era::Era;

/// What of a record that is not ordinary bears on ordinary ones.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) session: Option<u64>,
    pub(super) client: u64,
    pub(super) info: u32,
    /// It is a POST that is no cancellation.
    pub(super) used: bool,
    pub(super) opens: bool,
    pub(super) deletes: bool,
    /// It is a DELETE that asks for nothing else, so that the session is over with it.
    pub(super) ends: bool,
    /// The server refused, or answered with an error.
    pub(super) refused: bool,
    /// A request may have been lost or refused with it.
    pub(super) hurts: bool,
    /// After its close a new session may be taken for a reconnect.
    pub(super) suffers: bool,
    /// It carried a call that the client itself gave up.
    pub(super) aborts: bool,
    /// The protocol version that counts for `context-changed`; 0: none.
    pub(super) version: u32,
    pub(super) calls: Vec<u32>,
    pub(super) asked: Vec<u32>,
    pub(super) ids: Vec<u32>,
}

/// The facts of a record; none: it is of a kind that bears on more than can be told here.
pub(super) fn facts(loud: &Loud) -> Option<Facts> {
    let event = &loud.event;
    let What::Exchange(exchange) = &event.what else { return None };
    if event.sampled || exchange.request.mcp_method.is_some() {
        return None;
    }
    let sent: &[Message] = match &exchange.request.body {
        Body::Messages(messages) => messages,
        Body::Unknown | Body::Empty if exchange.method != Method::Post => &[],
        _ => return None,
    };
    let requests = || sent.iter().filter_map(request);
    let versions = exchange
        .request
        .protocol_version
        .iter()
        .chain(requests().filter_map(|r| r.protocol_version.as_ref()));
    let mut stateless = versions.into_iter().any(|version| Era::of_revision(version) == Some(Era::Stateless));
    let mut calls = Vec::new();
    for call in requests().filter_map(|request| request.call.as_ref()) {
        let CallMark::One(mark) = loud.mark else { return None };
        if !matches!(call.arguments, Arguments::Canonical { .. }) || sent.len() > 1 {
            return None;
        }
        calls.push(mark);
    }
    let mut asked: Vec<u32> = requests().filter_map(|r| r.id.as_ref()).map(|id| mark(id_text(id))).collect();
    let cancels = sent.iter().filter_map(|message| match message {
        Message::Notification(told) => told.cancels.as_ref(),
        _ => None,
    });
    let cancelled: Vec<u32> = cancels.map(|id| mark(id_text(id))).collect();
    let used = exchange.method == Method::Post && cancelled.is_empty();
    asked.extend(cancelled);
    let mut refused = matches!(exchange.status, Some(300..=498)) && exchange.status != Some(405);
    for message in exchange.answers() {
        let Message::Response(response) = message else { continue };
        asked.extend(response.id.as_ref().map(|id| mark(id_text(id))));
        refused |= matches!(response.outcome, RpcOutcome::Error { .. });
        if let RpcOutcome::Initialized { protocol_version: Some(version), .. } = &response.outcome {
            stateless |= Era::of_revision(version) == Some(Era::Stateless);
        }
    }
    let events = exchange.response.events.iter().flatten().filter_map(|event| event.id.as_deref());
    let ids = events.chain(exchange.request.last_event_id.as_deref()).map(mark).collect();
    let opens = requests().any(|request| &*request.method == "initialize");
    let deletes = exchange.method == Method::Delete && matches!(exchange.status, Some(200..=299));
    // The end of an accepted stream loses no request, and a server may offer no DELETE.
    let harmless = match exchange.method {
        Method::Get => matches!(exchange.status, Some(200..=203 | 205..=299)),
        Method::Delete => matches!(exchange.status, Some(405)),
        _ => false,
    };
    let hurts = refused || !harmless;
    let left = matches!(exchange.end.cause, Cause::ClientAbort | Cause::ClientTimeout);
    let spoken = exchange.request.session.is_some() && matches!(exchange.status, Some(200..=299)) && !opens;
    let version = exchange.request.protocol_version.as_deref().filter(|_| spoken).map_or(0, mark);
    let agent = event.identity.user_agent.is_some();
    let info = event.identity.client.as_ref().map_or(0, |info| info_mark(&info.name, &info.version, agent));
    (!stateless).then(|| Facts {
        session: route::session(event).map(route::hash),
        client: route::client(event).unwrap_or(0),
        info,
        used,
        opens: opens && exchange.request.session.is_none(),
        deletes,
        ends: deletes && sent.is_empty(),
        refused,
        hurts,
        suffers: hurts || exchange.method == Method::Get && !left,
        aborts: left && !calls.is_empty(),
        version,
        calls,
        asked,
        ids,
    })
}

fn request(message: &Message) -> Option<&RpcRequest> {
    match message {
        Message::Request(request) => Some(request),
        _ => None,
    }
}
