//! pmcp, a Rust MCP SDK whose transport gives the cursor to a callback.
//! Knows the client and its transports, not the server.

use super::{Deed, Meaning, Role, Sdk, method, ty, variant};

pub(super) const SDK: Sdk = Sdk {
    krate: "pmcp",
    versions: "2",
    roots: &["pmcp"],
    types: &[
        ty("Client", Role::Handle),
        ty("StreamableHttpTransport", Role::Transport),
        ty("HttpTransport", Role::Transport),
        ty("WasmHttpTransport", Role::Transport),
        ty("WasmHttpClient", Role::Handle),
        ty("StreamableHttpTransportConfig", Role::Http),
        ty("StreamableHttpServer", Role::Server),
    ],
    functions: &[
        method("Client", "initialize", Deed::Initialise),
        method("Client", "call_tool", Deed::CallTool),
        method("Client", "call_tool_with_task", Deed::CallTool),
        method("Client", "call_tool_with_meta", Deed::CallTool),
        method("Client", "list_tools", Deed::SafeRequest),
        method("Client", "list_resources", Deed::SafeRequest),
        method("Client", "read_resource", Deed::SafeRequest),
        method("StreamableHttpTransport", "set_session_id", Deed::SetSession),
        method("StreamableHttpTransportConfig", "on_resumption_token", Deed::Cursor),
        method("HttpTransport", "connect_sse", Deed::Connect),
    ],
    variants: &[
        variant("Error", "Protocol", Meaning::Answered),
        variant("Error", "Transport", Meaning::Mixed),
        variant("Error", "Timeout", Meaning::Timeout),
        variant("Error", "Cancelled", Meaning::Cancelled),
        variant("Error", "Authentication", Meaning::Unauthorized),
        variant("Error", "NotFound", Meaning::Answered),
        variant("TransportError", "Io", Meaning::Transport),
        variant("TransportError", "ConnectionClosed", Meaning::Transport),
        variant("TransportError", "InvalidMessage", Meaning::Protocol),
        variant("TransportError", "Deserialization", Meaning::Protocol),
        variant("TransportError", "Request", Meaning::Mixed),
        variant("TransportError", "Send", Meaning::Transport),
        variant("TransportError", "Http", Meaning::Mixed),
    ],
    settings: &[],
};
