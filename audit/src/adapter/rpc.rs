//! JSON-RPC as MCP uses it: body bytes in, the messages with the facts that rules ask for out.
//! Knows no HTTP and no log format; values that no rule needs (texts, results, schemas) are skipped unread.

mod members;

use crate::event::{
    About, Arguments, Body, ClientInfo, Digest, Initialize, Message, RpcId, RpcNotification, RpcOutcome,
    RpcRequest, RpcResponse, Text, ToolCall, ToolHints, Unreadable,
};
use crate::mapping::json::{self, Broken, Cut, Raw};
use members::{Envelope, Failure, Meta, Outcome, Params};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::cell::RefCell;
use unbroken_contract::canonical::{Canonicalizer, NotJson, Problem, canonical};

/// Bytes of working memory that a thread keeps for canonical forms.
const MOST_KEPT: usize = 1 << 16;

/// What a reader is asked to keep beyond digests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keep {
    /// Arguments as written, so that a report may reveal them.
    pub arguments: bool,
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

/// Reads a body: one message, or the array of a 2025-03-26 batch.
///
/// Bytes that are not JSON-RPC give [`Body::Unreadable`]; bytes that end in the middle of JSON are told apart as
/// [`Unreadable::Truncated`], because a log that cut a body off is another fact than a body of another protocol. Of a
/// request that is cut off, what stood before the cut is read. A part of a batch that cannot be read stays
/// among its messages as such.
#[must_use]
pub fn read_body(bytes: &[u8], keep: Keep) -> Body {
    match simdutf8::basic::from_utf8(bytes) {
        Ok(text) => read_text(text, keep),
        Err(_) => Body::Unreadable(Unreadable::Foreign),
    }
}

/// The same for text.
#[must_use]
pub fn read_text(text: &str, keep: Keep) -> Body {
    let text = text.trim_ascii();
    match text.as_bytes().first() {
        None => Body::Empty,
        Some(b'[') => {
            let mut messages = Vec::new();
            let read = json::elements(text, |item| {
                messages.push(message_of(item.get(), keep).unwrap_or_else(Message::Unreadable));
            });
            messages.extend(read.err().map(|why| Message::Unreadable(reason(why))));
            let nothing = messages.iter().all(|message| matches!(message, Message::Unreadable(_)));
            match messages.first() {
                Some(Message::Unreadable(why)) if nothing => Body::Unreadable(*why),
                // JSON-RPC 2.0, section 6: an empty list is no batch.
                None => Body::Unreadable(Unreadable::Foreign),
                Some(_) => Body::Messages(messages),
            }
        }
        Some(b'{') => match message_of(text, keep) {
            Ok(message) => Body::Messages(vec![message]),
            Err(why) => match head(text).filter(|_| why == Unreadable::Truncated) {
                Some(request) => Body::Messages(vec![request]),
                None => Body::Unreadable(why),
            },
        },
        Some(_) => Body::Unreadable(Unreadable::Foreign),
    }
}

/// Reads one JSON-RPC message.
///
/// # Errors
/// Why it could not be read.
pub fn read_message(bytes: &[u8], keep: Keep) -> Result<Message, Unreadable> {
    message_of(simdutf8::basic::from_utf8(bytes).map_err(|_| Unreadable::Foreign)?, keep)
}

/// What a request or notification that is cut off said before the cut.
///
/// The arguments of such a call are never known, also where they stood before the cut: a declared key behind it would make a
/// repeat another call. A response is not read: whether it is a result is not known.
fn head(text: &str) -> Option<Message> {
    let (mut method, mut id, mut params) = (None, None, Params::default());
    json::members_of_head(text, |key, value| match (key, value) {
        ("method", Cut::Whole(raw)) => method = text_of(Some(raw)),
        ("id", Cut::Whole(raw)) => id = Some(raw),
        ("params", Cut::Whole(raw)) => params = Params::at(raw.get(), 0).unwrap_or_default().0,
        ("params", Cut::Rest(rest)) => json::members_of_head(rest, |key, value| match (key, value) {
            ("name", Cut::Whole(raw)) => params.name = Some(raw),
            ("taskId", Cut::Whole(raw)) => params.task_id = Some(raw),
            ("requestId", Cut::Whole(raw)) => params.request_id = Some(raw),
            ("protocolVersion", Cut::Whole(raw)) => params.protocol_version = Some(raw),
            ("clientInfo", Cut::Whole(raw)) => params.client_info = Some(raw),
            _ => {}
        }),
        _ => {}
    });
    let method = method?;
    if method.starts_with("notifications/") {
        return Some(Message::Notification(RpcNotification {
            method,
            cancels: params.request_id.and_then(id_of),
        }));
    }
    let mut request = request(method, id, &params, None, Keep::default());
    if let Some(call) = &mut request.call {
        call.arguments = Arguments::Unreadable(Unreadable::Truncated);
    }
    Some(Message::Request(Box::new(request)))
}

fn message_of(text: &str, keep: Keep) -> Result<Message, Unreadable> {
    let envelope = Envelope::read(text).map_err(reason)?;
    if let Some(method) = text_of(envelope.method) {
        let params = envelope.params.unwrap_or_default();
        return Ok(match envelope.id {
            Some(id) => Message::Request(Box::new(request(method, Some(id), &params, envelope.digest, keep))),
            None => {
                Message::Notification(RpcNotification { method, cancels: params.request_id.and_then(id_of) })
            }
        });
    }
    let id = envelope.id.and_then(id_of);
    let outcome = match (envelope.error, envelope.result) {
        (Some(error), _) => failure(error),
        (None, Some(Some(result))) => outcome(&result),
        (None, Some(None)) => RpcOutcome::Result,
        (None, None) => return Err(Unreadable::Foreign),
    };
    // A JSON document with a `result` member is a response only if it says that it speaks JSON-RPC.
    if envelope.jsonrpc.is_none() && id.is_none() {
        return Err(Unreadable::Foreign);
    }
    Ok(Message::Response(RpcResponse { id, outcome }))
}

/// Reads a JSON-RPC id; `null` and other types are none. A number is kept in its canonical form: `2`, `2.0` and `2e0` are one
/// id, which a client or server may write in another way than the other side did.
#[must_use]
pub fn id_of(raw: Raw<'_>) -> Option<RpcId> {
    let text = raw.get();
    match text.as_bytes().first()? {
        b'"' => raw.string().map(|id| RpcId::String(id.into())),
        b'-' | b'0'..=b'9' => Some(RpcId::Number(number(text))),
        _ => None,
    }
}

/// Digits of which a double holds every number exactly.
const EXACT: usize = 15;

/// The canonical form of a JSON number (RFC 8785; one that a double cannot hold exactly stays as written).
#[must_use]
pub fn number(text: &str) -> Text {
    if text.len() <= EXACT && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.into();
    }
    let form = canonical(text.as_bytes()).ok().and_then(|form| String::from_utf8(form).ok());
    form.map_or_else(|| text.into(), Text::from)
}

/// The state of a call's arguments from their JSON text; an absent member is the empty object (contract 3.6).
#[must_use]
pub fn arguments(raw: Option<&str>, keep: Keep) -> Arguments {
    match digest(raw.unwrap_or("{}")) {
        Ok(digest) => canonical_arguments(digest, raw, keep),
        Err(Problem::TooDeep) => Arguments::Unreadable(Unreadable::TooDeep),
        Err(Problem::Ended) => Arguments::Unreadable(Unreadable::Truncated),
        Err(_) => Arguments::Unreadable(Unreadable::Foreign),
    }
}

fn canonical_arguments(digest: Digest, raw: Option<&str>, keep: Keep) -> Arguments {
    Arguments::Canonical { digest, raw: if keep.arguments { raw.map(Text::from) } else { None } }
}

/// Digest of the canonical form of JSON text (contract 3.6); none if it is not JSON or nested deeper than the contract
/// reads: such arguments are never the same as others.
#[must_use]
pub fn canonical_digest(json: &str) -> Option<Digest> {
    digest(json).ok()
}

fn digest(json: &str) -> Result<Digest, Problem> {
    of_form(|canonicalizer, form| canonicalizer.write_text(json, form)).map(|(digest, ())| digest)
}

/// The same of the value that begins at `at` of a text, with its end.
fn digest_at(json: &str, at: usize) -> Result<(Digest, usize), Problem> {
    of_form(|canonicalizer, form| canonicalizer.write_value(json, at, form))
}

/// Digest of the form that `write` writes, with what it gives.
fn of_form<T>(
    write: impl FnOnce(&mut Canonicalizer, &mut Vec<u8>) -> Result<T, NotJson>,
) -> Result<(Digest, T), Problem> {
    thread_local! {
        static WORK: RefCell<(Canonicalizer, Vec<u8>)> = const { RefCell::new((Canonicalizer::new(), Vec::new())) };
    }
    WORK.with_borrow_mut(|(canonicalizer, form)| {
        form.clear();
        let given = write(canonicalizer, form).map_err(|why| why.problem)?;
        let digest = short(blake3::hash(form));
        // One huge body must not hold its room for the rest of the run.
        if form.capacity() > MOST_KEPT {
            *form = Vec::new();
        }
        Ok((digest, given))
    })
}

/// The first 128 bits of a hash.
#[must_use]
pub fn short(hash: blake3::Hash) -> Digest {
    let mut digest = Digest::default();
    digest.copy_from_slice(&hash.as_bytes()[..16]);
    digest
}

/// `digest`: of a call's arguments, where it is known.
fn request(
    method: Text,
    id: Option<Raw<'_>>,
    params: &Params<'_>,
    digest: Option<Digest>,
    keep: Keep,
) -> RpcRequest {
    let meta = params.meta.and_then(|raw| Meta::at(raw.get(), 0).ok()).unwrap_or_default().0;
    let call = (&*method == "tools/call").then(|| ToolCall {
        tool: text_of(params.name).unwrap_or_default(),
        arguments: match (digest, params.arguments.map(Raw::get)) {
            (Some(digest), raw) => canonical_arguments(digest, raw, keep),
            (None, raw) => arguments(raw, keep),
        },
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

fn outcome(result: &Outcome<'_>) -> RpcOutcome {
    if result.protocol_version.is_some() {
        return RpcOutcome::Initialized {
            protocol_version: text_of(result.protocol_version),
            capabilities: result.capabilities.and_then(|raw| canonical_digest(raw.get())),
            server: client_info(result.server_info).map(Box::new),
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

fn failure(raw: Raw<'_>) -> RpcOutcome {
    let Ok((failure, _)) = Failure::at(raw.get(), 0) else {
        return RpcOutcome::Error { code: 0, about: About::Other };
    };
    let mut text = text_of(failure.message).unwrap_or_default().into_string();
    if let Some(data) = failure.data {
        text.push(' ');
        text.push_str(data.get());
    }
    RpcOutcome::Error { code: owned(failure.code).unwrap_or_default(), about: about(&text) }
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

fn client_info(raw: Option<Raw<'_>>) -> Option<ClientInfo> {
    let named: Named = owned(raw)?;
    Some(ClientInfo { name: named.name.into(), version: named.version.into() })
}

fn text_of(raw: Option<Raw<'_>>) -> Option<Text> {
    raw?.string().map(Text::from)
}

fn owned<T: DeserializeOwned>(raw: Option<Raw<'_>>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

fn reason(why: Broken) -> Unreadable {
    match why {
        Broken::Ended => Unreadable::Truncated,
        Broken::Foreign => Unreadable::Foreign,
    }
}

#[cfg(test)]
mod tests;
