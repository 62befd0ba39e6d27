//! tower-mcp and its types crate.
//! Knows the client; of the server side only which types are not a client's.

use super::{Deed, Fact, Meaning, Role, Sdk, method, setting, ty, variant};

pub(super) const SDK: Sdk = Sdk {
    krate: "tower-mcp",
    versions: "0.25",
    roots: &["tower_mcp", "tower_mcp_types"],
    types: &[
        ty("McpClient", Role::Handle),
        ty("McpClientBuilder", Role::Http),
        ty("HttpClientTransport", Role::Transport),
        ty("HttpClientConfig", Role::Http),
        ty("HttpTransport", Role::Server),
    ],
    functions: &[
        // `connect` starts the transport; `initialize` makes the session.
        method("McpClient", "connect", Deed::Connect),
        method("McpClient", "connect_with_handler", Deed::Connect),
        method("McpClientBuilder", "connect", Deed::Connect),
        method("McpClientBuilder", "connect_simple", Deed::Connect),
        method("McpClient", "initialize", Deed::Initialise),
        method("McpClient", "call_tool", Deed::CallTool),
        method("McpClient", "call_tool_once", Deed::CallTool),
        method("McpClient", "call_tool_text", Deed::CallTool),
        method("McpClient", "call_tool_as_task", Deed::CallTool),
        method("McpClient", "list_tools", Deed::SafeRequest),
        method("McpClient", "list_all_tools", Deed::SafeRequest),
        method("McpClient", "read_resource", Deed::SafeRequest),
        method("McpClient", "shutdown", Deed::End),
        method("HttpClientTransport", "disable_session_recovery", Deed::Connect),
    ],
    variants: &[
        // Also built for JSON-RPC -32005, the crate's own dialect of "session not found".
        variant("Error", "SessionExpired", Meaning::SessionGone),
        variant("Error", "JsonRpc", Meaning::Answered),
        variant("Error", "Transport", Meaning::Mixed),
        variant("Error", "Tool", Meaning::Answered),
        variant("Error", "SseEventTooLarge", Meaning::Protocol),
        variant("Error", "Serialization", Meaning::Protocol),
    ],
    settings: &[
        setting("HttpClientConfig", "session_recovery", Some("true"), Fact::Recovers404, true),
        setting("HttpClientConfig", "session_recovery", Some("false"), Fact::Keeps404, false),
        setting("HttpClientTransport", "disable_session_recovery", None, Fact::Keeps404, false),
        setting("HttpClientConfig", "sse_reconnect", Some("false"), Fact::NeverResumes, false),
        setting("HttpClientConfig", "max_sse_reconnect_attempts", None, Fact::Limited, true),
    ],
};
