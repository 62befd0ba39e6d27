//! The mapping file as it is written: TOML in, its sections out.
//! Knows the file's grammar only; `plan` turns it into something that runs.

mod rules;

pub use rules::{EndRule, Handler, LineRule, Rpc};

use serde::Deserialize;

/// A mapping file, schema 1. Unknown keys are errors.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// 1.
    pub schema: u32,
    /// The format's name.
    pub name: String,
    /// What the format is, for a person.
    #[serde(default)]
    pub about: String,
    /// The instance that wrote a record.
    #[serde(default)]
    pub instance: Option<Field>,
    /// A reader of the program itself, for the few formats that need code; then only `[detect]` counts.
    #[serde(default)]
    pub reader: Option<String>,
    /// Who writes it: `client`, `edge_lb`, `proxy`, `gateway`, `server_http`, `server_app`, `capture`.
    #[serde(default)]
    pub vantage: Option<String>,
    /// Whose session ids it carries: `header_client`, `header_backend`, `gateway_minted`, `telemetry_guid`, `unknown`.
    #[serde(default)]
    pub session_id_scope: Option<String>,
    /// The log is a sample.
    #[serde(default)]
    pub sampled: bool,
    /// Exchanges without any MCP fact still explain those that another log tells.
    #[serde(default)]
    pub remarks: bool,
    /// How records are recognised.
    pub detect: Detect,
    /// How records are divided.
    #[serde(default)]
    pub input: Input,
    /// What means "no value".
    #[serde(default)]
    pub absent: Absent,
    /// When.
    #[serde(default)]
    pub time: Option<Time>,
    /// An HTTP exchange per record.
    #[serde(default)]
    pub exchange: Option<Exchange>,
    /// Facts of the request.
    #[serde(default)]
    pub request: Request,
    /// Facts of the response.
    #[serde(default)]
    pub response: Response,
    /// Where headers stand.
    #[serde(default)]
    pub headers: Headers,
    /// Who the client is.
    #[serde(default)]
    pub identity: Identity,
    /// Joining keys.
    #[serde(default)]
    pub keys: Keys,
    /// Attempts at upstreams.
    #[serde(default)]
    pub upstream: Upstream,
    /// A JSON-RPC message whose parts are fields of their own.
    #[serde(default)]
    pub rpc: Option<Rpc>,
    /// How the exchange ended; the first rule that fits.
    #[serde(default)]
    pub end: Vec<EndRule>,
    /// What a line of a program's own log says; the first rule that fits.
    #[serde(default)]
    pub line: Vec<LineRule>,
}

/// `[detect]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Detect {
    /// All of these keys.
    pub require: Vec<String>,
    /// At least `any_least` of these keys.
    pub any: Vec<String>,
    /// How many of `any`.
    pub any_least: Option<usize>,
    /// None of these keys.
    pub reject: Vec<String>,
    /// All of these conditions.
    #[serde(rename = "match")]
    pub conditions: Vec<Condition>,
    /// The more specific format wins: a larger number.
    pub priority: i32,
    /// Records of this kind are recognised and left alone, for this reason.
    pub skip: Option<String>,
}

/// `[input]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Input {
    /// Records are text lines of this shape; named groups are the keys.
    pub pattern: Option<String>,
    /// Records are JSON strings in this field; the record's own keys stay visible under it (`json:message` gives `message.…`).
    pub nested: Vec<String>,
    /// Fields that may hold JSON as text: what is in it counts as if it stood there unquoted.
    pub unpacked: Vec<String>,
}

/// `[absent]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Absent {
    /// Such texts.
    pub values: Vec<String>,
}

impl Default for Absent {
    fn default() -> Self {
        Absent { values: ["", "-"].map(str::to_owned).to_vec() }
    }
}

/// A field: a key, or more.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Field {
    /// A literal dotted key or nested path; a JSON pointer if it begins with `/`.
    Key(String),
    /// With a way to read it.
    Full(Box<FullField>),
}

/// A field in full.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FullField {
    /// As [`Field::Key`].
    pub key: Option<String>,
    /// `request:NAME` or `response:NAME`.
    pub header: Option<String>,
    /// The first that is present.
    pub first: Vec<Field>,
    /// This text.
    pub value: Option<String>,
    /// The first group of this expression; absent if it does not match.
    pub regex: Option<String>,
    /// Steps: `json`, `base64`, `mcp_base64`, `rust_debug`, `pydantic`, `python`, `ptr:/…`, `untyped`.
    pub decode: Vec<String>,
    /// `ns`, `us`, `ms`, `s`, `text` (`60020ms`, `1m0.02s`), `zap` (text, or seconds with decimals, or whole ns or ms).
    pub unit: Option<String>,
    /// `epoch_s`, `epoch_ms`, `epoch_us`, `epoch_ns`, `epoch` (by magnitude), `rfc3339`, `clf`, `slashed`, `any`.
    pub format: Option<String>,
}

/// A condition.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// On this field.
    pub field: Field,
    /// Is this text.
    #[serde(default)]
    pub eq: Option<String>,
    /// Is one of these.
    #[serde(default, rename = "in")]
    pub one_of: Vec<String>,
    /// Is none of these; holds too where the field is absent.
    #[serde(default)]
    pub none_of: Vec<String>,
    /// Matches.
    #[serde(default)]
    pub regex: Option<String>,
    /// Present and not absent (`true`), or not (`false`).
    #[serde(default)]
    pub present: Option<bool>,
}

/// `[time]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Time {
    /// The record's time.
    pub at: Field,
    /// `start`, `end`, `first_byte`, `emit`, `ingest`.
    pub means: String,
    /// How long the exchange took.
    #[serde(default)]
    pub duration: Option<Field>,
    /// The end of an exchange whose start is `at`: where the record tells no duration, or has no `at`.
    #[serde(default)]
    pub end: Option<Field>,
}

/// `[exchange]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// Only such records.
    #[serde(default)]
    pub when: Vec<Condition>,
    /// HTTP method; POST where a format has none.
    #[serde(default)]
    pub method: Option<Field>,
    /// Path or URL.
    #[serde(default)]
    pub path: Option<Field>,
    /// Host.
    #[serde(default)]
    pub host: Option<Field>,
    /// Status.
    #[serde(default)]
    pub status: Option<Field>,
}

/// `[request]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    /// `Mcp-Session-Id`.
    pub session: Option<Field>,
    /// `Last-Event-ID`.
    pub last_event_id: Option<Field>,
    /// `MCP-Protocol-Version`.
    pub protocol_version: Option<Field>,
    /// `Mcp-Method`.
    pub mcp_method: Option<Field>,
    /// `Mcp-Name`.
    pub mcp_name: Option<Field>,
    /// `Idempotency-Key`.
    pub idempotency_key: Option<Field>,
    /// Body, as text or as JSON.
    pub body: Option<Field>,
    /// An absent body field means that there was no body; else that it is not known.
    pub body_empty_is_known: bool,
}

/// `[response]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Response {
    /// `Mcp-Session-Id`.
    pub session: Option<Field>,
    /// `Content-Type`.
    pub content_type: Option<Field>,
    /// `Retry-After`.
    pub retry_after: Option<Field>,
    /// `WWW-Authenticate`.
    pub challenge: Option<Field>,
    /// Body, as text or as JSON; a stream's text is read as events.
    pub body: Option<Field>,
    /// Byte count.
    pub bytes: Option<Field>,
    /// What it counts: `body`, `chunked_body`, `headers_and_body`.
    pub bytes_count: Option<String>,
    /// Time from the start to the headers.
    pub headers_after: Option<Field>,
    /// A list of the stream's events.
    pub events: Option<Events>,
}

/// `[response] events`: a list of objects.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Events {
    /// Where the list stands.
    pub at: String,
    /// Key of the event id.
    #[serde(default)]
    pub id: Option<String>,
    /// Key of the event's data, as text or JSON.
    #[serde(default)]
    pub data: Option<String>,
    /// Key of the JSON-RPC id of a response, where the data is not kept.
    #[serde(default)]
    pub rpc_id: Option<String>,
    /// Key that tells the kind of message.
    #[serde(default)]
    pub kind: Option<String>,
    /// Its value for a response.
    #[serde(default)]
    pub response: Option<String>,
}

/// `[headers]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Headers {
    /// Of the request.
    pub request: Option<HeaderPlace>,
    /// Of the response.
    pub response: Option<HeaderPlace>,
}

/// Where headers stand. Names are compared without case, `-` and `_` alike.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeaderPlace {
    /// `map` (values are texts or lists), `prefix`, `pairs` (a list: of
    /// `{name, value}`, of `[name, value]`, of `name: value`, or of names and values in turn).
    pub style: String,
    /// Key of the map or list, or the prefix.
    pub at: String,
}

/// `[identity]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Identity {
    /// Authenticated subject.
    pub subject: Option<Field>,
    /// `clientInfo.name`.
    pub client_name: Option<Field>,
    /// `clientInfo.version`.
    pub client_version: Option<Field>,
    /// Peer address, with or without port.
    pub remote_addr: Option<Field>,
    /// Peer port.
    pub remote_port: Option<Field>,
    /// `X-Forwarded-For`.
    pub forwarded_for: Option<Field>,
    /// `User-Agent`.
    pub user_agent: Option<Field>,
    /// Connection id.
    pub connection: Option<Field>,
}

/// `[keys]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Keys {
    /// Request id.
    pub request: Option<Field>,
    /// Trace id.
    pub trace: Option<Field>,
    /// Span id.
    pub span: Option<Field>,
    /// Parent span id.
    pub parent: Option<Field>,
    /// `traceparent`.
    pub traceparent: Option<Field>,
    /// Delivery id.
    pub shipper: Option<Field>,
}

/// `[upstream]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Upstream {
    /// Address or name; several parted by commas where the proxy writes so.
    pub addr: Option<Field>,
    /// Status; several likewise.
    pub status: Option<Field>,
    /// Number of attempts beyond the first.
    pub retries: Option<Field>,
    /// Number of attempts.
    pub attempts: Option<Field>,
    /// A list of attempts.
    pub each: Option<String>,
    /// Key of an attempt's address in the list.
    pub each_addr: Option<String>,
    /// Key of an attempt's port in the list.
    pub each_port: Option<String>,
    /// Key of an attempt's status in the list.
    pub each_status: Option<String>,
    /// Key that is there when an attempt failed to connect.
    pub each_failed: Option<String>,
}
