//! JSON-RPC as MCP uses it: body bytes in, the messages with the facts that rules ask for out.
//! Knows no HTTP and no log format; values that no rule needs (texts, results, schemas) are skipped unread.

use crate::event::{
    About, Arguments, Body, ClientInfo, Digest, Initialize, Message, RpcId, RpcNotification, RpcOutcome,
    RpcRequest, RpcResponse, Text, ToolCall, ToolHints, Unreadable,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// What a reader is asked to keep beyond digests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keep {
    /// Arguments as written, so that a report may reveal them.
    pub arguments: bool,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a RawValue>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Params<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    input_responses: Option<&'a RawValue>,
    #[serde(borrow)]
    request_state: Option<&'a RawValue>,
    #[serde(borrow)]
    task: Option<&'a RawValue>,
    #[serde(borrow)]
    task_id: Option<&'a RawValue>,
    #[serde(borrow)]
    request_id: Option<&'a RawValue>,
    #[serde(borrow)]
    protocol_version: Option<&'a RawValue>,
    #[serde(borrow)]
    client_info: Option<&'a RawValue>,
    #[serde(borrow)]
    capabilities: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Meta<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    protocol_version: Option<&'a RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientInfo")]
    client_info: Option<&'a RawValue>,
    #[serde(
        borrow,
        rename = "io.modelcontextprotocol/idempotencyKey",
        alias = "idempotencyKey",
        alias = "idempotency_key"
    )]
    idempotency_key: Option<&'a RawValue>,
    #[serde(borrow)]
    traceparent: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Outcome<'a> {
    #[serde(borrow)]
    protocol_version: Option<&'a RawValue>,
    #[serde(borrow)]
    capabilities: Option<&'a RawValue>,
    #[serde(borrow)]
    server_info: Option<&'a RawValue>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    task: Option<&'a RawValue>,
    #[serde(borrow)]
    is_error: Option<&'a RawValue>,
    #[serde(borrow)]
    result_type: Option<&'a RawValue>,
    #[serde(borrow)]
    input_requests: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    #[serde(default)]
    version: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaskResult {
    task_id: String,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    #[serde(default)]
    annotations: Option<Hints>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Hints {
    read_only_hint: Option<bool>,
    idempotent_hint: Option<bool>,
    destructive_hint: Option<bool>,
}

#[derive(Deserialize)]
struct Failure<'a> {
    #[serde(default)]
    code: i64,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

/// Reads a body: one message, or the array of a 2025-03-26 batch.
///
/// Bytes that are not JSON-RPC give [`Body::Unreadable`]; bytes that end in the middle of JSON are told apart as
/// [`Unreadable::Truncated`], because a log that cut a body off is another fact than a body of another protocol.
#[must_use]
pub fn read_body(bytes: &[u8], keep: Keep) -> Body {
    let bytes = bytes.trim_ascii();
    match bytes.first() {
        None => Body::Empty,
        Some(b'[') => match serde_json::from_slice::<Vec<&RawValue>>(bytes) {
            Ok(items) => {
                let messages: Vec<Message> =
                    items.iter().filter_map(|item| read_message(item.get().as_bytes(), keep).ok()).collect();
                if messages.is_empty() {
                    Body::Unreadable(Unreadable::Foreign)
                } else {
                    Body::Messages(messages)
                }
            }
            Err(why) => Body::Unreadable(reason(&why)),
        },
        Some(b'{') => match read_message(bytes, keep) {
            Ok(message) => Body::Messages(vec![message]),
            Err(why) => Body::Unreadable(why),
        },
        Some(_) => Body::Unreadable(Unreadable::Foreign),
    }
}

/// Reads one JSON-RPC message.
///
/// # Errors
/// Why it could not be read.
pub fn read_message(bytes: &[u8], keep: Keep) -> Result<Message, Unreadable> {
    let envelope: Envelope<'_> = serde_json::from_slice(bytes).map_err(|why| reason(&why))?;
    if let Some(method) = text_of(envelope.method) {
        let params: Params<'_> = parsed(envelope.params).unwrap_or_default();
        return Ok(match envelope.id {
            Some(id) => Message::Request(request(method, Some(id), &params, keep)),
            None => {
                Message::Notification(RpcNotification { method, cancels: params.request_id.and_then(id_of) })
            }
        });
    }
    let id = envelope.id.and_then(id_of);
    let outcome = match (envelope.error, envelope.result) {
        (Some(error), _) => failure(error),
        (None, Some(result)) => outcome(result),
        (None, None) => return Err(Unreadable::Foreign),
    };
    // A JSON document with a `result` member is a response only if it says that it speaks JSON-RPC.
    if envelope.jsonrpc.is_none() && id.is_none() {
        return Err(Unreadable::Foreign);
    }
    Ok(Message::Response(RpcResponse { id, outcome }))
}

/// Reads a JSON-RPC id; `null` and other types are none.
#[must_use]
pub fn id_of(raw: &RawValue) -> Option<RpcId> {
    let text = raw.get();
    match text.as_bytes().first()? {
        b'"' => serde_json::from_str::<String>(text).ok().map(|id| RpcId::String(id.into())),
        b'-' | b'0'..=b'9' => Some(RpcId::Number(text.into())),
        _ => None,
    }
}

/// The state of a call's arguments from their JSON text; an absent member is the empty object (contract 3.6).
#[must_use]
pub fn arguments(raw: Option<&str>, keep: Keep) -> Arguments {
    match canonical_digest(raw.unwrap_or("{}")) {
        Some(digest) => {
            Arguments::Canonical { digest, raw: if keep.arguments { raw.map(Text::from) } else { None } }
        }
        None => Arguments::Unreadable(Unreadable::Truncated),
    }
}

/// Digest of the canonical form of JSON text (contract 3.6); none if it is not JSON or nested deeper than the contract
/// reads: such arguments are never the same as others.
#[must_use]
pub fn canonical_digest(json: &str) -> Option<Digest> {
    let canonical = unbroken_contract::canonical::canonical(json.as_bytes()).ok()?;
    Some(short(blake3::hash(&canonical)))
}

/// The first 128 bits of a hash.
#[must_use]
pub fn short(hash: blake3::Hash) -> Digest {
    let mut digest = Digest::default();
    digest.copy_from_slice(&hash.as_bytes()[..16]);
    digest
}

fn request(method: Text, id: Option<&RawValue>, params: &Params<'_>, keep: Keep) -> RpcRequest {
    let meta: Meta<'_> = parsed(params.meta).unwrap_or_default();
    let call = (&*method == "tools/call").then(|| ToolCall {
        tool: text_of(params.name).unwrap_or_default(),
        arguments: arguments(params.arguments.map(RawValue::get), keep),
        round: round(params),
        task: params.task.is_some(),
    });
    let initialize = (&*method == "initialize").then(|| Initialize {
        protocol_version: text_of(params.protocol_version),
        client: client_info(params.client_info),
        capabilities: params.capabilities.and_then(|raw| canonical_digest(raw.get())),
    });
    RpcRequest {
        id: id.and_then(id_of),
        task: if method.starts_with("tasks/") { text_of(params.task_id) } else { None },
        method,
        call,
        initialize,
        protocol_version: text_of(meta.protocol_version),
        idempotency_key: text_of(meta.idempotency_key),
        traceparent: text_of(meta.traceparent),
        client: client_info(meta.client_info),
    }
}

/// Digest over `inputResponses` and `requestState`: the next round of a call is another call (contract 3.6).
fn round(params: &Params<'_>) -> Option<Digest> {
    if params.input_responses.is_none() && params.request_state.is_none() {
        return None;
    }
    let mut hasher = blake3::Hasher::new();
    for part in [params.input_responses, params.request_state] {
        let digest = part.and_then(|raw| canonical_digest(raw.get())).unwrap_or_default();
        hasher.update(&digest);
    }
    Some(short(hasher.finalize()))
}

fn outcome(raw: &RawValue) -> RpcOutcome {
    let Some(result) = parsed::<Outcome<'_>>(Some(raw)) else { return RpcOutcome::Result };
    if result.protocol_version.is_some() {
        return RpcOutcome::Initialized {
            protocol_version: text_of(result.protocol_version),
            capabilities: result.capabilities.and_then(|raw| canonical_digest(raw.get())),
            server: client_info(result.server_info),
        };
    }
    if let Some(tools) = owned::<Vec<Tool>>(result.tools) {
        return RpcOutcome::Tools(tools.into_iter().map(hints).collect());
    }
    if let Some(task) = owned::<TaskResult>(result.task) {
        return RpcOutcome::Task(task.task_id.into());
    }
    if owned::<bool>(result.is_error) == Some(true) {
        return RpcOutcome::ToolError;
    }
    if result.input_requests.is_some() || text_of(result.result_type).as_deref() == Some("input_required") {
        return RpcOutcome::InputRequired;
    }
    RpcOutcome::Result
}

fn hints(tool: Tool) -> ToolHints {
    let hints = tool.annotations.unwrap_or_default();
    ToolHints {
        tool: tool.name.into(),
        read_only: hints.read_only_hint,
        idempotent: hints.idempotent_hint,
        destructive: hints.destructive_hint,
    }
}

fn failure(raw: &RawValue) -> RpcOutcome {
    let Some(failure) = parsed::<Failure<'_>>(Some(raw)) else {
        return RpcOutcome::Error { code: 0, about: About::Other };
    };
    let mut text = text_of(failure.message).unwrap_or_default().into_string();
    if let Some(data) = failure.data {
        text.push(' ');
        text.push_str(data.get());
    }
    RpcOutcome::Error { code: failure.code, about: about(&text) }
}

/// What an error's text is about. An event is looked for first: "event … not found in this session" is about the event.
#[must_use]
pub fn about(text: &str) -> About {
    let text = text.to_ascii_lowercase();
    if ["event", "cursor"].iter().any(|word| text.contains(word)) {
        About::Event
    } else if ["session", "not initialized", "not initialised"].iter().any(|word| text.contains(word)) {
        About::Session
    } else {
        About::Other
    }
}

fn client_info(raw: Option<&RawValue>) -> Option<ClientInfo> {
    let named: Named = owned(raw)?;
    Some(ClientInfo { name: named.name.into(), version: named.version.into() })
}

fn text_of(raw: Option<&RawValue>) -> Option<Text> {
    owned::<String>(raw).map(String::into_boxed_str)
}

fn owned<T: DeserializeOwned>(raw: Option<&RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

fn parsed<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

fn reason(why: &serde_json::Error) -> Unreadable {
    if why.is_eof() { Unreadable::Truncated } else { Unreadable::Foreign }
}

#[cfg(test)]
mod tests;
