//! The canonical event: what one log record states, whichever program wrote it, with where and how it was known.
//! Knows no log format and no rule; a fact that a record does not carry is absent here, never guessed.

use serde::{Deserialize, Serialize};

/// Nanoseconds since the Unix epoch, UTC.
pub type Nanos = i64;

/// Text owned by an event.
pub type Text = Box<str>;

/// Where a record stands, and by what it is known in another place. Events are ordered by time and by what they say (`order`),
/// never by their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Origin {
    /// A hash of the record's bytes, so wide that records of one moment are copies where it is equal; 0 until it is read.
    pub seal: u64,
    /// Index into the run's list of files, which is sorted by content identity and not by argument order.
    pub file: u32,
    /// Byte offset of the record in the decompressed stream (for records of a document: of the entry).
    pub offset: u64,
    /// Line number from 1, or for documents (HAR, JSON arrays) the entry number from 1.
    pub place: Place,
}

/// A person's way to a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Place {
    /// Line number, from 1.
    Line(u64),
    /// Entry number in a document, from 1.
    Entry(u64),
}

/// Who wrote the record, as seen from the client outward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Vantage {
    /// The client's own log.
    Client,
    /// A capture on the wire nearest to the client (HAR, wire.jsonl).
    Capture,
    /// A load balancer at the edge.
    EdgeLb,
    /// A reverse proxy.
    Proxy,
    /// A gateway that speaks MCP itself and may map sessions.
    Gateway,
    /// The HTTP layer of the MCP server.
    ServerHttp,
    /// The MCP server application: the only vantage that proves execution.
    ServerApp,
}

/// Whose session id a record carries (formats.md, fact 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SessionScope {
    /// The header as the client sent or received it.
    HeaderClient,
    /// The header on the hop behind a gateway.
    HeaderBackend,
    /// An id minted by a gateway.
    GatewayMinted,
    /// An id for telemetry alone; joins nothing.
    TelemetryGuid,
    /// Not declared.
    Unknown,
}

/// Whether a fact was recorded or inferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Known {
    /// The record states it.
    Stated,
    /// Inferred by a named rule.
    Derived,
}

/// What the record's own timestamp means. `start` and `end` of [`Time`] are filled as far as it and a duration allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TimeMeans {
    /// The request's start.
    Start,
    /// The response's end.
    End,
    /// The first byte of the response.
    FirstByte,
    /// The moment a log line was emitted.
    Emit,
    /// The moment a collector took it in.
    Ingest,
}

/// When.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Time {
    /// The record's own timestamp.
    pub at: Nanos,
    /// What `at` means.
    pub means: TimeMeans,
    /// Start of the exchange, where known.
    pub start: Option<Nanos>,
    /// End of the exchange, where known.
    pub end: Option<Nanos>,
    /// Resolution of the timestamp in nanoseconds.
    pub precision: Nanos,
    /// The record had no zone and UTC was assumed.
    pub zone_assumed: bool,
}

/// Who the client is, as far as this record tells. Strength falls from top to bottom.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// Authenticated subject: JWT `sub`, consumer, hash of an API key.
    pub subject: Option<Text>,
    /// `clientInfo.name` and `.version`, where the record carries them.
    pub client: Option<ClientInfo>,
    /// Peer address without port.
    pub remote_addr: Option<Text>,
    /// Peer port.
    pub remote_port: Option<u16>,
    /// `X-Forwarded-For`, as written.
    pub forwarded_for: Option<Text>,
    /// `User-Agent`.
    pub user_agent: Option<Text>,
    /// Connection id of the recording program.
    pub connection: Option<Text>,
}

/// `clientInfo` of an `initialize`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClientInfo {
    /// `name`.
    pub name: Text,
    /// `version`.
    pub version: Text,
}

/// Keys that join one exchange seen at several vantages, or find a line that a shipper delivered twice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Keys {
    /// Request id shared by proxies.
    pub request: Option<Text>,
    /// Trace id.
    pub trace: Option<Text>,
    /// Span id.
    pub span: Option<Text>,
    /// Parent span id.
    pub parent: Option<Text>,
    /// Id of the export's delivery: `insertId`, `eventId`, `_id`, `__CURSOR`.
    pub shipper: Option<Text>,
}

/// One thing that a record states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Where it stands.
    pub origin: Origin,
    /// When.
    pub time: Time,
    /// Who wrote it.
    pub vantage: Vantage,
    /// Which program instance wrote it (pod, host, service instance), where the record says so.
    pub instance: Option<Text>,
    /// Who the client is.
    pub identity: Identity,
    /// Joining keys.
    pub keys: Keys,
    /// Whose session ids these are.
    pub scope: SessionScope,
    /// The log is a sample or was cut at a row limit; every count is a lower bound.
    pub sampled: bool,
    /// What happened.
    pub what: What,
}

/// The kinds of event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum What {
    /// One HTTP request with its response.
    Exchange(Box<Exchange>),
    /// One JSON-RPC message told by a program's own log, outside of an HTTP exchange.
    Message(Box<LoggedMessage>),
    /// Something that happened to a session, stream or handler.
    Lifecycle(Box<Lifecycle>),
    /// What a proxy's second log says of an exchange that its access log tells without the reason.
    Remark(Box<Remark>),
}

/// The HTTP methods the transport uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Method {
    /// POST: a message to the server.
    Post,
    /// GET: a listening or resumed stream.
    Get,
    /// DELETE: end of the session.
    Delete,
    /// Any other.
    Other,
}

/// One HTTP exchange. `None` means that the record does not carry the fact; an empty header is `None` too, with
/// `headers_logged` telling absence of the header from absence of the field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// HTTP method.
    pub method: Method,
    /// `Host`, where known.
    pub host: Option<Text>,
    /// Path without query.
    pub path: Option<Text>,
    /// Status; `Some(0)`: no response headers arrived.
    pub status: Option<u16>,
    /// The request.
    pub request: Request,
    /// The response.
    pub response: Response,
    /// Upstream attempts in order, where a proxy tells them.
    pub attempts: Vec<Attempt>,
    /// How the exchange ended.
    pub end: End,
    /// What the log cannot say of this exchange, though other formats could.
    pub logged: Logged,
}

impl Exchange {
    /// The messages that answered it, in its body and on its stream.
    pub(crate) fn answers(&self) -> impl Iterator<Item = &Message> {
        let body: &[Message] = match &self.response.body {
            Body::Messages(messages) => messages,
            _ => &[],
        };
        body.iter().chain(self.response.events.iter().flatten().filter_map(|event| event.message.as_ref()))
    }
}

/// Which parts this log records at all: tells "there was none" from "it is not logged".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Logged {
    /// `Mcp-Session-Id` of the request.
    pub session_in: bool,
    /// `Mcp-Session-Id` of the response.
    pub session_out: bool,
    /// `Last-Event-ID`.
    pub last_event_id: bool,
    /// Request bodies.
    pub request_body: bool,
    /// Response bodies, including the events of a stream.
    pub response_body: bool,
    /// How the response ended.
    pub end: bool,
    /// Which instance answered.
    pub instance: bool,
}

/// What the client sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// `Mcp-Session-Id`.
    pub session: Option<Text>,
    /// `Last-Event-ID`.
    pub last_event_id: Option<Text>,
    /// `MCP-Protocol-Version`.
    pub protocol_version: Option<Text>,
    /// `Mcp-Method` (2026-07-28).
    pub mcp_method: Option<Text>,
    /// `Mcp-Name` (2026-07-28), decoded.
    pub mcp_name: Option<Text>,
    /// `Idempotency-Key`.
    pub idempotency_key: Option<Text>,
    /// A hash of the credential, so that a renewed one is seen without being kept.
    pub credential: Option<u64>,
    /// The body's messages; more than one only in a 2025-03-26 batch.
    pub body: Body,
}

/// A body that holds JSON-RPC messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Body {
    /// The log does not say.
    #[default]
    Unknown,
    /// Known to be empty.
    Empty,
    /// Present and read. For an event stream the messages stand in `Response::events` instead.
    Messages(Vec<Message>),
    /// Present, but cut off, redacted or not JSON-RPC.
    Unreadable(Unreadable),
}

/// Why a body or value could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Unreadable {
    /// Cut off by the producer.
    Truncated,
    /// Replaced by the producer.
    Redacted,
    /// Not JSON, or not JSON-RPC.
    Foreign,
    /// Nested deeper than the contract reads (3.6).
    TooDeep,
}

/// What came back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// `Mcp-Session-Id`.
    pub session: Option<Text>,
    /// Kind of body, by `Content-Type`.
    pub media: Media,
    /// `Retry-After` in nanoseconds (seconds form; a date is turned with the record's time).
    pub retry_after: Option<Nanos>,
    /// `WWW-Authenticate` was there.
    pub challenge: bool,
    /// A JSON body's messages.
    pub body: Body,
    /// Events of an event stream, in order; `None`: the log does not record them.
    pub events: Option<Vec<SseEvent>>,
    /// Body bytes as sent, where known, with what they include.
    pub bytes: Option<Bytes>,
    /// Start of the response headers.
    pub headers_at: Option<Nanos>,
}

/// A byte count and what it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Bytes {
    /// The count.
    pub count: u64,
    /// What is included.
    pub counts: Counts,
}

/// What a byte count includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Counts {
    /// The body alone.
    Body,
    /// The body with its chunk framing (nginx).
    ChunkedBody,
    /// Headers and body (HAProxy).
    HeadersAndBody,
}

/// The media types that matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Media {
    /// Not logged.
    #[default]
    Unknown,
    /// No body type.
    None,
    /// `application/json`.
    Json,
    /// `text/event-stream`.
    EventStream,
    /// Anything else.
    Other,
}

/// One event of a stream (contract section 1: ended by a blank line).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SseEvent {
    /// `id:`; `Some("")` clears the cursor.
    pub id: Option<Text>,
    /// `retry:` in nanoseconds.
    pub retry: Option<Nanos>,
    /// When it arrived, where known.
    pub at: Option<Nanos>,
    /// The message in `data:`; `None` when data is empty (a priming event) or not JSON-RPC.
    pub message: Option<Message>,
    /// Whether `data:` held anything.
    pub has_data: bool,
    /// A hash of the data, to tell a replay from a new event.
    pub data_hash: u64,
}

/// A JSON-RPC id with its type, as text: `2` and `"2"` differ.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RpcId {
    /// A number, in canonical form: `2.0` is 2.
    Number(Text),
    /// A string.
    String(Text),
    /// The log keeps ids as text only, so their type is unknown.
    Untyped(Text),
}

/// One JSON-RPC message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// A request. It says the most by far, and most messages are answers.
    Request(Box<RpcRequest>),
    /// A notification.
    Notification(RpcNotification),
    /// A response.
    Response(RpcResponse),
    /// A part of a batch that could not be read.
    Unreadable(Unreadable),
}

/// A JSON-RPC request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RpcRequest {
    /// Its id.
    pub id: Option<RpcId>,
    /// Its method.
    pub method: Text,
    /// For `tools/call`.
    pub call: Option<ToolCall>,
    /// For `initialize`.
    pub initialize: Option<Initialize>,
    /// Protocol version in `_meta` (stateless era).
    pub protocol_version: Option<Text>,
    /// Idempotency key in `_meta`.
    pub idempotency_key: Option<Text>,
    /// The target of `tasks/get`, `tasks/result`, `tasks/cancel`.
    pub task: Option<Text>,
    /// `_meta.traceparent`.
    pub traceparent: Option<Text>,
    /// `clientInfo` in `_meta` (stateless era).
    pub client: Option<ClientInfo>,
}

/// `tools/call` parameters (contract 3.6).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolCall {
    /// Tool name.
    pub tool: Text,
    /// Its arguments.
    pub arguments: Arguments,
    /// Digest over canonical `inputResponses` and `requestState`; `None`: a first round.
    pub round: Option<Digest>,
    /// The call asked for a task.
    pub task: bool,
}

/// A digest of canonical JSON, 128 bits of BLAKE3.
pub type Digest = [u8; 16];

/// The state of a call's arguments. Only two `Digest`s can be equal; the rest is never the same, at most compatible.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Arguments {
    /// The log does not carry them.
    Absent,
    /// Digest of the canonical form (RFC 8785; absent in the request = `{}`), with the raw text where it was kept.
    Canonical {
        /// The digest.
        digest: Digest,
        /// As written, kept only where the run is asked to reveal.
        raw: Option<Text>,
    },
    /// Present but cut off, redacted or too deep; also where the message that holds them was cut off behind them, since what
    /// else it said is unknown.
    Unreadable(Unreadable),
}

/// `initialize` parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Initialize {
    /// Requested protocol version.
    pub protocol_version: Option<Text>,
    /// `clientInfo`.
    pub client: Option<ClientInfo>,
    /// Digest of the client's capabilities.
    pub capabilities: Option<Digest>,
}

/// A JSON-RPC notification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RpcNotification {
    /// Its method.
    pub method: Text,
    /// `requestId` of `notifications/cancelled`.
    pub cancels: Option<RpcId>,
}

/// A JSON-RPC response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RpcResponse {
    /// The id answered; `None` for `null`.
    pub id: Option<RpcId>,
    /// What it says.
    pub outcome: RpcOutcome,
}

/// What a response says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RpcOutcome {
    /// A result without any of the below.
    Result,
    /// `isError: true` of a tool.
    ToolError,
    /// `error` with its code, and `data.reason` where there is one.
    Error {
        /// The code.
        code: i64,
        /// Whether the text names an event or a session: a dialect of 3.3 (see contract 3.1).
        about: About,
    },
    /// `InitializeResult`.
    Initialized {
        /// Negotiated protocol version.
        protocol_version: Option<Text>,
        /// Digest of the server's capabilities.
        capabilities: Option<Digest>,
        /// `serverInfo`.
        server: Option<Box<ClientInfo>>,
    },
    /// `tools/list` result: what each tool declares of itself.
    Tools(Vec<ToolHints>),
    /// A task was created (`task.taskId`).
    Task(Text),
    /// The server asks for input; the next round is another call.
    InputRequired,
}

/// What an error's text is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum About {
    /// Nothing recognised.
    Other,
    /// The session.
    Session,
    /// An event or cursor.
    Event,
}

/// `annotations` of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolHints {
    /// Tool name.
    pub tool: Text,
    /// `readOnlyHint`.
    pub read_only: Option<bool>,
    /// `idempotentHint`.
    pub idempotent: Option<bool>,
    /// `destructiveHint`.
    pub destructive: Option<bool>,
}

/// One try of a proxy to reach an upstream.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Attempt {
    /// Address or name of the upstream.
    pub upstream: Option<Text>,
    /// Status it answered, where it did.
    pub status: Option<u16>,
    /// Whether the request was delivered to it.
    pub delivered: Delivered,
}

/// Whether an attempt delivered the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Delivered {
    /// Proved: it answered, or time was spent on it after the connect.
    Yes,
    /// Proved not: connect refused.
    No,
    /// Not recorded.
    Unknown,
}

/// How an exchange ended, at this vantage.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct End {
    /// Why.
    pub cause: Cause,
    /// Where.
    pub phase: Phase,
    /// Stated or derived.
    pub known: Known,
    /// The producer's own word, for the proof.
    pub raw: Option<Text>,
}

/// Why an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Cause {
    /// Properly, as far as this hop can tell.
    Complete,
    /// The client closed.
    ClientAbort,
    /// The client's own deadline.
    ClientTimeout,
    /// The proxy waited too long for the upstream.
    UpstreamIdleTimeout,
    /// The upstream closed or reset.
    UpstreamAbort,
    /// The proxy's limit on the whole exchange.
    ProxyDeadline,
    /// The proxy was stopped or reloaded.
    ProxyAdmin,
    /// The upstream could not be reached; nothing was delivered.
    ConnectFailed,
    /// Cut, by whom is not recorded.
    UnknownCut,
    /// The log does not say.
    Unknown,
}

/// Where in the exchange it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Phase {
    /// Before the response headers.
    BeforeHeaders,
    /// In the body.
    InBody,
    /// Not recorded.
    Unknown,
}

/// A message told by a program's own log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoggedMessage {
    /// The session, where told.
    pub session: Option<Text>,
    /// From the client to the server, or back.
    pub to_server: bool,
    /// The message.
    pub message: Message,
}

/// Something that happened to a session, stream or handler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lifecycle {
    /// What.
    pub step: LifecycleStep,
    /// The session, where told.
    pub session: Option<Text>,
    /// The session id is cut off: joins by prefix.
    pub session_is_prefix: bool,
    /// The JSON-RPC id, where told.
    pub rpc_id: Option<RpcId>,
    /// The call, where told.
    pub call: Option<ToolCall>,
    /// The cursor, where told.
    pub event_id: Option<Text>,
    /// How a handler ended.
    pub outcome: Option<RpcOutcome>,
    /// Length in nanoseconds, where told.
    pub duration: Option<Nanos>,
}

impl Lifecycle {
    /// A step of which nothing else is told.
    #[must_use]
    pub fn bare(step: LifecycleStep) -> Self {
        Lifecycle {
            step,
            session: None,
            session_is_prefix: false,
            rpc_id: None,
            call: None,
            event_id: None,
            outcome: None,
            duration: None,
        }
    }
}

/// A remark on an exchange: nginx's error log, Caddy's run log. It joins the exchange by connection
/// (`Identity::connection`), method and time, never alone by connection: numbers start anew with the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// HTTP method of the exchange.
    pub method: Method,
    /// Path without query, where told.
    pub path: Option<Text>,
    /// The upstream it speaks of, as address and port.
    pub upstream: Option<Text>,
    /// How the exchange, or the attempt at this upstream, ended.
    pub end: End,
    /// Whether the request had been delivered to that upstream.
    pub delivered: Delivered,
}

/// The steps that programs log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LifecycleStep {
    /// A session was created.
    SessionCreated,
    /// A session expired.
    SessionExpired,
    /// A session was ended on purpose.
    SessionTerminated,
    /// A session was restored.
    SessionRestored,
    /// A request named a session that is not known.
    SessionUnknown,
    /// A stream was opened.
    StreamOpened,
    /// A stream was closed.
    StreamClosed,
    /// The client tries to reconnect.
    ReconnectAttempt,
    /// The client reconnected.
    Reconnected,
    /// A resume failed.
    ResumeFailed,
    /// Events were replayed.
    ReplaySent,
    /// The client initialises again.
    Reinitialized,
    /// A tool's handler started.
    HandlerStarted,
    /// A tool's handler took its effect (an application's own record).
    HandlerEffect,
    /// A tool's handler finished.
    HandlerFinished,
    /// A tool's handler was stopped before it finished.
    HandlerAborted,
    /// The client's application was told the outcome of a call.
    CallReturned,
    /// The client's application was told that a call failed.
    CallFailed,
    /// A proxy tried again.
    ProxyRetried,
    /// The server or proxy process started.
    ProcessStarted,
    /// A response was ready and nobody was connected to take it.
    ResponseUnsent,
}
