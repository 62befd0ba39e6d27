//! The sections of a mapping file that make messages, ends and steps.
//! Knows their grammar only.

use super::{Condition, Field};
use serde::Deserialize;
use std::collections::BTreeMap;

/// `[rpc]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rpc {
    /// One message for each element of this list; keys below are then within an element.
    pub each: Option<String>,
    /// Method.
    pub method: Option<Field>,
    /// JSON-RPC id.
    pub id: Option<Field>,
    /// The log writes every id as text.
    pub id_untyped: bool,
    /// Tool.
    pub tool: Option<Field>,
    /// Arguments, as JSON.
    pub args: Option<Field>,
    /// All parameters, as JSON.
    pub params: Option<Field>,
    /// Code of an error response.
    pub error_code: Option<Field>,
    /// Whether the handler's own start and end are this record's: it proves execution.
    pub handler: Option<Handler>,
}

/// `[rpc.handler]`: the record is the completion record of a handler.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Handler {
    /// Only such records.
    pub when: Vec<Condition>,
    /// The handler failed.
    pub failed: Vec<Condition>,
    /// The failure is a tool's own.
    pub tool_error: Vec<Condition>,
    /// The handler was stopped; its effect may be missing.
    pub aborted: Vec<Condition>,
}

/// `[[end]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndRule {
    /// All of these.
    #[serde(rename = "if")]
    pub conditions: Vec<Condition>,
    /// `complete`, `client_abort`, `client_timeout`, `upstream_idle_timeout`, `upstream_abort`, `proxy_deadline`,
    /// `proxy_admin`, `connect_failed`, `unknown_cut`, `unknown`.
    pub cause: String,
    /// `before_headers`, `in_body`, `unknown`.
    #[serde(default)]
    pub phase: Option<String>,
    /// Inferred, not told.
    #[serde(default)]
    pub derived: bool,
}

/// `[[line]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineRule {
    /// All of these.
    #[serde(default, rename = "if")]
    pub conditions: Vec<Condition>,
    /// The text that `regex` reads.
    #[serde(default)]
    pub from: Option<Field>,
    /// Must match; named groups can be used in `set` as `$name`.
    #[serde(default)]
    pub regex: Option<String>,
    /// A step (`session_created`, …), `request`, `response`, `message`, `remark`.
    pub emit: String,
    /// Facts: `session`, `id`, `tool`, `args`, `params`, `event_id`, `duration`, `method`, `message`, `path`,
    /// `upstream`, `connection`, `remote_addr`, `instance`.
    #[serde(default)]
    pub set: BTreeMap<String, Field>,
    /// The session id may be cut off: it joins by prefix.
    #[serde(default)]
    pub session_is_prefix: bool,
    /// For a handler: `result`, `tool_error`, `error`. For a message: `to_client`.
    #[serde(default)]
    pub outcome: Option<String>,
    /// For a remark.
    #[serde(default)]
    pub cause: Option<String>,
    /// For a remark.
    #[serde(default)]
    pub phase: Option<String>,
    /// For a remark: `yes`, `no`, `unknown`.
    #[serde(default)]
    pub delivered: Option<String>,
    /// Overrides the file's vantage.
    #[serde(default)]
    pub vantage: Option<String>,
}
