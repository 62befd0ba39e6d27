//! rust-mcp-sdk and its transport crate.
//! Knows the client runtime; of the server side only which types are not a client's.

use super::{Deed, Meaning, Role, Sdk, free, method, ty, variant};

pub(super) const SDK: Sdk = Sdk {
    krate: "rust-mcp-sdk",
    versions: "0.8, 2",
    roots: &["rust_mcp_sdk", "rust_mcp_transport"],
    types: &[
        ty("ClientRuntime", Role::Handle),
        ty("McpClient", Role::Handle),
        ty("ClientStreamableTransport", Role::Transport),
        ty("ClientSseTransport", Role::Transport),
        ty("StreamableTransportOptions", Role::Http),
        ty("ServerRuntime", Role::Server),
        ty("HyperServer", Role::Server),
    ],
    functions: &[
        free("create_client", Deed::Connect),
        method("McpClient", "start", Deed::Initialise),
        method("ClientRuntime", "start", Deed::Initialise),
        method("McpClient", "request_tool_call", Deed::CallTool),
        method("McpClient", "request_tool_call_once", Deed::CallTool),
        method("McpClient", "call_tool", Deed::CallTool),
        method("ClientRuntime", "call_tool", Deed::CallTool),
        method("McpClient", "request", Deed::Request),
        method("McpClient", "ping", Deed::SafeRequest),
        method("McpClient", "request_tool_list", Deed::SafeRequest),
        method("McpClient", "request_resource_list", Deed::SafeRequest),
        method("McpClient", "request_prompt_list", Deed::SafeRequest),
        method("McpClient", "shut_down", Deed::End),
        method("McpClient", "terminate_session", Deed::End),
    ],
    variants: &[
        // Declared for the 404; the releases read never build it.
        variant("TransportError", "SessionExpired", Meaning::SessionGone),
        variant("TransportError", "FailedToOpenSSEStream", Meaning::Mixed),
        variant("TransportError", "UnexpectedContentType", Meaning::Protocol),
        variant("TransportError", "SendFailure", Meaning::Transport),
        variant("TransportError", "HttpConnection", Meaning::Transport),
        variant("TransportError", "Http", Meaning::Status),
        variant("TransportError", "ChannelClosed", Meaning::Transport),
        variant("TransportError", "JsonrpcError", Meaning::Answered),
        variant("TransportError", "ShutdownTimeout", Meaning::Cancelled),
        variant("McpSdkError", "Transport", Meaning::Mixed),
        variant("McpSdkError", "RpcError", Meaning::Answered),
        variant("McpHttpError", "StreamIoError", Meaning::Transport),
        variant("McpHttpError", "HttpError", Meaning::Mixed),
    ],
    settings: &[],
};
