//! A contact: one HTTP exchange of a client, with the facts of every vantage that saw it.
//! Knows how facts of several vantages are put together; not which exchanges are the same.

use crate::event::{
    Arguments, Attempt, Body, Cause, Exchange, Identity, Keys, Known, Message, Method, Nanos, Origin, Phase,
    RpcId, RpcOutcome, RpcRequest, SessionScope, SseEvent, Text, Time, ToolCall, Unreadable, Vantage,
};

/// One exchange, however many logs saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct Contact {
    /// The exchange with all facts put together.
    pub exchange: Box<Exchange>,
    /// When the request started, as near to the client as it is known.
    pub start: Nanos,
    /// The record tells when the request started, and not only some later moment.
    pub dated: bool,
    /// When the exchange ended, where known.
    pub end: Option<Nanos>,
    /// Coarsest resolution of the times above.
    pub precision: Nanos,
    /// Who the client is.
    pub identity: Identity,
    /// Joining keys.
    pub keys: Keys,
    /// Whose session ids these are.
    pub scope: SessionScope,
    /// The server instance, by the name that its own log goes by. Another naming than a proxy's upstream addresses.
    pub server: Option<Text>,
    /// The session id on the hop behind, where another log of the same exchange tells a different one.
    pub behind: Option<Text>,
    /// When and where a second log tells how it ended, if the end above is from there.
    pub noted: Option<(Nanos, Origin)>,
    /// Every record that tells of it, nearest to the client first.
    pub seen: Vec<Seen>,
}

/// One record of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Who wrote it.
    pub vantage: Vantage,
    /// Where it stands.
    pub origin: Origin,
    /// When that vantage saw the request start.
    pub start: Nanos,
}

/// What an event says besides its exchange.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) origin: Origin,
    pub(super) time: Time,
    pub(super) vantage: Vantage,
    pub(super) identity: Identity,
    pub(super) keys: Keys,
    pub(super) scope: SessionScope,
    pub(super) instance: Option<Text>,
}

impl Contact {
    pub(super) fn of(mut exchange: Box<Exchange>, frame: Frame) -> Contact {
        let start = frame.time.start.unwrap_or(frame.time.at);
        call_of_headers(&mut exchange);
        let at_server = matches!(frame.vantage, Vantage::ServerHttp | Vantage::ServerApp);
        Contact {
            exchange,
            start,
            dated: frame.time.start.is_some(),
            end: frame.time.end,
            precision: frame.time.precision,
            identity: frame.identity,
            keys: frame.keys,
            scope: frame.scope,
            server: frame.instance.filter(|_| at_server),
            behind: None,
            noted: None,
            seen: vec![Seen { vantage: frame.vantage, origin: frame.origin, start }],
        }
    }

    /// The messages of the request.
    pub fn messages(&self) -> &[Message] {
        match &self.exchange.request.body {
            Body::Messages(messages) => messages,
            _ => &[],
        }
    }

    /// The requests among them.
    pub fn requests(&self) -> impl Iterator<Item = &RpcRequest> {
        self.messages().iter().filter_map(|message| match message {
            Message::Request(request) => Some(&**request),
            _ => None,
        })
    }

    /// The tool calls among them.
    pub fn calls(&self) -> impl Iterator<Item = (&RpcRequest, &ToolCall)> {
        self.requests().filter_map(|request| request.call.as_ref().map(|call| (request, call)))
    }

    /// The ids that its notifications cancel.
    pub fn cancels(&self) -> impl Iterator<Item = &RpcId> {
        self.messages().iter().filter_map(|message| match message {
            Message::Notification(notification) => notification.cancels.as_ref(),
            _ => None,
        })
    }

    /// The `initialize` request, if it is one.
    pub fn initialize(&self) -> Option<&RpcRequest> {
        self.requests().find(|request| &*request.method == "initialize")
    }

    /// Whether it opens a session: an `initialize` that carries none. Where no body is kept, a POST without a session that
    /// was answered with one is taken for it: only an `InitializeResult` brings the id (MCP, session management).
    #[must_use]
    pub fn opens(&self) -> bool {
        let minted = self.exchange.logged.session_in && self.mints();
        minted || self.session_in().is_none() && self.initialize().is_some()
    }

    /// Whether a request of unknown content that shows no session was answered with one.
    #[must_use]
    pub fn mints(&self) -> bool {
        let exchange = &self.exchange;
        exchange.method == Method::Post
            && matches!(exchange.request.body, Body::Unknown | Body::Unreadable(_))
            && self.session_in().is_none()
            && exchange.response.session.is_some()
            && self.accepted()
    }

    /// The events of its response stream.
    pub fn events(&self) -> &[SseEvent] {
        self.exchange.response.events.as_deref().unwrap_or_default()
    }

    /// Every response that it delivered: id, what it says, and when.
    pub fn answers(&self) -> impl Iterator<Item = (Option<&RpcId>, &RpcOutcome, Nanos)> {
        let whole = self.end.or(self.exchange.response.headers_at).unwrap_or(self.start);
        let body = match &self.exchange.response.body {
            Body::Messages(messages) => messages.as_slice(),
            _ => &[],
        };
        let in_body = body.iter().map(move |message| (message, whole));
        let in_stream = self
            .events()
            .iter()
            .filter_map(move |event| event.message.as_ref().map(|m| (m, event.at.unwrap_or(whole))));
        in_body.chain(in_stream).filter_map(|(message, at)| match message {
            Message::Response(response) => Some((response.id.as_ref(), &response.outcome, at)),
            _ => None,
        })
    }

    /// Whether the status is a success.
    #[must_use]
    pub fn accepted(&self) -> bool {
        matches!(self.exchange.status, Some(200..=299))
    }

    /// The id that the request carried.
    #[must_use]
    pub fn session_in(&self) -> Option<&str> {
        self.exchange.request.session.as_deref()
    }

    /// The session it belongs to: the one it carried, or the one that its response issued.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        self.session_in().or(self.exchange.response.session.as_deref())
    }

    /// The instance that answered: as a proxy names its upstream, else as the server's own log goes by.
    #[must_use]
    pub fn instance(&self) -> Option<&str> {
        self.upstream().or(self.server.as_deref())
    }

    /// The instance that answered, as a proxy names its upstream.
    #[must_use]
    pub fn upstream(&self) -> Option<&str> {
        self.exchange.attempts.last().and_then(|attempt| attempt.upstream.as_deref())
    }

    /// The record nearest to the client.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.seen[0].origin
    }

    /// Whether what came back, message by message, is recorded. A body that the log cut off or wrote over is not; one of another
    /// protocol is, and holds no response.
    #[must_use]
    pub fn tells_bodies(&self) -> bool {
        let lost = matches!(
            self.exchange.response.body,
            Body::Unreadable(Unreadable::Truncated | Unreadable::Redacted | Unreadable::TooDeep)
        );
        self.exchange.logged.response_body && !lost
    }

    /// The last moment at which it is known to have been going on.
    #[must_use]
    pub fn known_until(&self) -> Nanos {
        self.end.or(self.exchange.response.headers_at).unwrap_or(self.start)
    }

    /// Whether the client's own record, or a capture beside it, tells of an end that the client suffered: what a hop farther
    /// away takes for its client's leaving was then the leaving of a hop between.
    pub(super) fn client_stayed(&self) -> bool {
        let end = &self.exchange.end;
        let suffered = match end.cause {
            Cause::UnknownCut => end.known == Known::Stated,
            // Where others tell of it too, the proper end may be theirs.
            Cause::Complete => self.seen.len() == 1,
            _ => false,
        };
        suffered && matches!(self.seen[0].vantage, Vantage::Client | Vantage::Capture)
    }

    /// Moves all its times.
    pub(super) fn shift(&mut self, by: Nanos) {
        let moved = |at: &mut Nanos| *at = at.saturating_add(by);
        moved(&mut self.start);
        self.end.iter_mut().for_each(moved);
        self.noted.iter_mut().for_each(|(at, _)| moved(at));
        self.seen.iter_mut().for_each(|seen| moved(&mut seen.start));
        let response = &mut self.exchange.response;
        response.headers_at.iter_mut().for_each(moved);
        let events = response.events.iter_mut().flatten();
        events.filter_map(|event| event.at.as_mut()).for_each(moved);
    }

    /// Takes over what another vantage tells of the same exchange.
    pub(super) fn absorb(&mut self, other: Contact) {
        let outer = (rank(self.seen[0].vantage), self.start) <= (rank(other.seen[0].vantage), other.start);
        let mut far = other;
        if !outer {
            std::mem::swap(self, &mut far);
        }
        let near = self;
        let own = near.session().map(Text::from);
        let other = far.session().map(Text::from);
        fill(
            &mut near.behind,
            far.behind.take().or(other).filter(|other| own.as_ref().is_some_and(|own| own != other)),
        );
        near.dated |= far.dated;
        near.precision = near.precision.max(far.precision);
        near.seen.extend(far.seen);
        near.seen.sort_by_key(|seen| (rank(seen.vantage), seen.start, seen.origin.file, seen.origin.offset));
        fill(&mut near.end, far.end);
        fill(&mut near.server, far.server);
        if near.scope == SessionScope::Unknown {
            near.scope = far.scope;
        }
        let beside = near.seen.iter().any(|seen| matches!(seen.vantage, Vantage::Client | Vantage::Capture));
        let stayed = near.client_stayed();
        let end_of_far = far.exchange.end.clone();
        let (noted, noted_of_far) = (near.noted.take(), far.noted);
        identity(&mut near.identity, far.identity);
        keys(&mut near.keys, far.keys);
        let end = near.exchange.end.clone();
        exchange(&mut near.exchange, *far.exchange);
        // A hop that cuts both sides looks like a client that left to the one behind it; a capture beside the client knows.
        let left = matches!(near.exchange.end.cause, Cause::ClientAbort);
        if left && stayed {
            near.exchange.end = end.clone();
        } else if left && !beside && cuts(end_of_far.cause) {
            near.exchange.end = end_of_far;
        } else if left && !beside && cuts(end.cause) {
            near.exchange.end = end.clone();
        }
        near.noted = if near.exchange.end == end { noted } else { noted_of_far };
    }
}

/// Whether a hop tells that it ended the exchange itself.
pub(super) fn cuts(cause: Cause) -> bool {
    matches!(cause, Cause::UpstreamIdleTimeout | Cause::ProxyDeadline | Cause::ProxyAdmin)
}

/// Where no body is kept, the headers of the stateless era name the method and the tool (never the arguments).
fn call_of_headers(exchange: &mut Exchange) {
    if exchange.request.body != Body::Unknown {
        return;
    }
    let Some(method) = exchange.request.mcp_method.clone() else { return };
    let call = (&*method == "tools/call").then(|| ToolCall {
        tool: exchange.request.mcp_name.clone().unwrap_or_default(),
        arguments: Arguments::Absent,
        round: None,
        task: false,
    });
    if !method.starts_with("notifications/") {
        let request = RpcRequest { method, call, ..RpcRequest::default() };
        exchange.request.body = Body::Messages(vec![Message::Request(Box::new(request))]);
    }
}

/// Distance from the client.
pub(super) fn rank(vantage: Vantage) -> u8 {
    match vantage {
        Vantage::Client => 0,
        Vantage::Capture => 1,
        Vantage::EdgeLb => 2,
        Vantage::Proxy => 3,
        Vantage::Gateway => 4,
        Vantage::ServerHttp => 5,
        Vantage::ServerApp => 6,
    }
}

fn told(body: &Body) -> u8 {
    let Body::Messages(messages) = body else { return u8::from(*body != Body::Unknown) };
    let with_arguments = messages.iter().any(|message| {
        let Message::Request(request) = message else { return false };
        request.call.as_ref().is_some_and(|call| matches!(call.arguments, Arguments::Canonical { .. }))
    });
    2 + u8::from(with_arguments)
}

fn fill<T>(slot: &mut Option<T>, other: Option<T>) {
    if slot.is_none() {
        *slot = other;
    }
}

fn identity(near: &mut Identity, far: Identity) {
    fill(&mut near.subject, far.subject);
    fill(&mut near.client, far.client);
    // A forwarded address names the client where the peer is only the next hop; the nearest hop that has one tells it.
    fill(&mut near.forwarded_for, far.forwarded_for);
    if near.remote_addr.is_none() {
        near.remote_addr = far.remote_addr;
        near.remote_port = far.remote_port;
    }
    fill(&mut near.user_agent, far.user_agent);
    fill(&mut near.connection, far.connection);
}

fn keys(near: &mut Keys, far: Keys) {
    fill(&mut near.request, far.request);
    fill(&mut near.trace, far.trace);
    fill(&mut near.span, far.span);
    fill(&mut near.parent, far.parent);
}

fn exchange(near: &mut Exchange, far: Exchange) {
    fill(&mut near.host, far.host);
    fill(&mut near.path, far.path);
    fill(&mut near.status, far.status);
    fill(&mut near.request.session, far.request.session);
    fill(&mut near.request.last_event_id, far.request.last_event_id);
    fill(&mut near.request.protocol_version, far.request.protocol_version);
    fill(&mut near.request.mcp_method, far.request.mcp_method);
    fill(&mut near.request.mcp_name, far.request.mcp_name);
    fill(&mut near.request.idempotency_key, far.request.idempotency_key);
    fill(&mut near.request.credential, far.request.credential);
    // Of two readings of one request the one that keeps the arguments says more.
    if far.request.body != Body::Unknown && told(&far.request.body) > told(&near.request.body) {
        near.request.body = far.request.body;
    }
    fill(&mut near.response.session, far.response.session);
    if near.response.media == crate::event::Media::Unknown {
        near.response.media = far.response.media;
    }
    fill(&mut near.response.retry_after, far.response.retry_after);
    near.response.challenge |= far.response.challenge;
    if !matches!(near.response.body, Body::Messages(_)) && far.response.body != Body::Unknown {
        near.response.body = far.response.body;
    }
    fill(&mut near.response.events, far.response.events);
    // No hop passes on more than the one behind it sent, and headers only add: the smallest count bounds them all.
    if let Some(other) = far.response.bytes
        && near.response.bytes.is_none_or(|own| other.count < own.count)
    {
        near.response.bytes = Some(other);
    }
    fill(&mut near.response.headers_at, far.response.headers_at);
    near.attempts = attempts(std::mem::take(&mut near.attempts), far.attempts);
    if weight(&far.end) > weight(&near.end) {
        near.end = far.end;
    }
    let (a, b) = (&mut near.logged, far.logged);
    a.session_in |= b.session_in;
    a.session_out |= b.session_out;
    a.last_event_id |= b.last_event_id;
    a.request_body |= b.request_body;
    a.response_body |= b.response_body;
    a.end |= b.end;
    a.instance |= b.instance;
}

/// Every hop lists the tries at its own next hop: the list that shows more than one delivery tells of a retry, else the
/// one farther from the client names the instance that really answered.
fn attempts(near: Vec<Attempt>, far: Vec<Attempt>) -> Vec<Attempt> {
    if far.is_empty() || (near.len() > 1 && near.len() > far.len()) { near } else { far }
}

/// How much an end tells: a named cause more than a bare cut, a cut more than a proper end that one hop saw, since a
/// clean end here may be a cut there (contract 3.1).
fn weight(end: &crate::event::End) -> u8 {
    let cause = match end.cause {
        Cause::Unknown => 0,
        Cause::Complete => 1,
        Cause::UnknownCut => 2,
        _ => 3,
    };
    cause * 4 + u8::from(end.known == Known::Stated) * 2 + u8::from(end.phase != Phase::Unknown)
}
