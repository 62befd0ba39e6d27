//! The members of JSON-RPC messages that are looked at, each as it is written.
//! Knows their names and where they stand; what they mean is for the reader.

use super::digest_at;
use crate::event::Digest;
use crate::mapping::json::{self, Broken, Raw};

/// A set of members that are looked for, each as written; `null` is as good as absent.
macro_rules! looked_for {
    ($(#[$doc:meta])* struct $name:ident { $($field:ident: $($key:literal)|+),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Default)]
        pub(super) struct $name<'a> { $(pub(super) $field: Option<Raw<'a>>),* }

        impl<'a> $name<'a> {
            /// Reads the object at `at` of a text, and gives its end. One member twice has no one meaning, and is foreign.
            pub(super) fn at(text: &'a str, at: usize) -> Result<(Self, usize), Broken> {
                Self::by(text, at, |_, at| json::value_at(text, at))
            }

            /// The same; `value` gives the value of a key by its place, with its end.
            fn by(
                text: &'a str,
                at: usize,
                mut value: impl FnMut(&str, usize) -> Result<(Raw<'a>, usize), Broken>,
            ) -> Result<(Self, usize), Broken> {
                let mut found = Self::default();
                let mut twice = false;
                let end = json::object(text, at, &mut |key, at| {
                    let (raw, end) = value(key, at)?;
                    twice |= found.take(key, raw);
                    Ok(end)
                })?;
                if twice {
                    return Err(Broken::Foreign);
                }
                $(found.$field = found.$field.filter(|raw| raw.get() != "null");)*
                Ok((found, end))
            }

            /// Notes a member; whether it was there before.
            fn take(&mut self, key: &str, raw: Raw<'a>) -> bool {
                match key {
                    $($($key)|+ => self.$field.replace(raw).is_some(),)*
                    _ => false,
                }
            }
        }
    };
}

looked_for! {
    /// A request's parameters.
    struct Params {
        name: "name",
        arguments: "arguments",
        input_responses: "inputResponses",
        request_state: "requestState",
        task: "task",
        task_id: "taskId",
        request_id: "requestId",
        protocol_version: "protocolVersion",
        client_info: "clientInfo",
        capabilities: "capabilities",
        meta: "_meta",
    }
}

looked_for! {
    /// `_meta` of a request.
    struct Meta {
        protocol_version: "io.modelcontextprotocol/protocolVersion",
        client_info: "io.modelcontextprotocol/clientInfo",
        idempotency_key: "io.modelcontextprotocol/idempotencyKey" | "idempotencyKey" | "idempotency_key",
        traceparent: "traceparent",
    }
}

looked_for! {
    /// A result.
    struct Outcome {
        protocol_version: "protocolVersion",
        capabilities: "capabilities",
        server_info: "serverInfo",
        tools: "tools",
        task: "task",
        is_error: "isError",
        result_type: "resultType",
        input_requests: "inputRequests",
    }
}

looked_for! {
    /// An error.
    struct Failure { code: "code", message: "message", data: "data" }
}

/// A JSON-RPC message. Its parameters or its result are most of it, and are read where they stand.
#[derive(Default)]
pub(super) struct Envelope<'a> {
    pub(super) jsonrpc: Option<Raw<'a>>,
    pub(super) id: Option<Raw<'a>>,
    pub(super) method: Option<Raw<'a>>,
    pub(super) params: Option<Params<'a>>,
    /// Digest of a call's arguments, if it is known already.
    pub(super) digest: Option<Digest>,
    pub(super) result: Option<Option<Outcome<'a>>>,
    pub(super) error: Option<Raw<'a>>,
}

impl<'a> Envelope<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self, Broken> {
        let mut found = Self::default();
        let mut seen = 0u8;
        let mut twice = false;
        json::whole_object(text, &mut |key, at| {
            let bit = match key {
                "jsonrpc" => 1,
                "id" => 2,
                "method" => 4,
                "params" => 8,
                "result" => 16,
                "error" => 32,
                _ => return json::value_at(text, at).map(|(_, end)| end),
            };
            twice |= seen & bit != 0;
            seen |= bit;
            let inner = text.as_bytes().get(at) == Some(&b'{');
            // What is broken within says no more than what is not there, wherever it can be seen where it ends.
            if bit == 8 && inner {
                let is_call = found.method.is_some_and(|method| method.get() == "\"tools/call\"");
                let called = if is_call { called(text, at) } else { None };
                if let Some((params, digest, end)) = called {
                    (found.params, found.digest) = (Some(params), digest);
                    return Ok(end);
                }
                if let Ok((params, end)) = Params::at(text, at) {
                    found.params = Some(params);
                    return Ok(end);
                }
            }
            if bit == 16
                && inner
                && let Ok((result, end)) = Outcome::at(text, at)
            {
                found.result = Some(Some(result));
                return Ok(end);
            }
            let (raw, end) = json::value_at(text, at)?;
            let told = Some(raw).filter(|raw| raw.get() != "null");
            match bit {
                1 => found.jsonrpc = told,
                2 => found.id = told,
                4 => found.method = told,
                16 => found.result = told.map(|_| None),
                32 => found.error = told,
                _ => {}
            }
            Ok(end)
        })?;
        if twice { Err(Broken::Foreign) } else { Ok(found) }
    }
}

/// Parameters of a call, with the digest of its arguments: their canonical form tells where they end, so that they are walked
/// once. None: they have to be looked at for themselves.
fn called(text: &str, at: usize) -> Option<(Params<'_>, Option<Digest>, usize)> {
    let mut digest = None;
    let (params, end) = Params::by(text, at, |key, at| {
        if key == "arguments" {
            let (own, end) = digest_at(text, at).map_err(|_| Broken::Foreign)?;
            digest = Some(own);
            return Ok((json::no_string(text, at, end), end));
        }
        json::value_at(text, at)
    })
    .ok()?;
    let digest = params.arguments.and(digest);
    Some((params, digest, end))
}
