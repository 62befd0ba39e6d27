//! turbomcp and its client and transport crates.
//! Knows the client; of the server side only which types are not a client's.

use super::{Deed, Fact, Meaning, Role, Sdk, method, setting, ty, variant};

pub(super) const SDK: Sdk = Sdk {
    krate: "turbomcp",
    versions: "2, 3",
    roots: &[
        "turbomcp",
        "turbomcp_client",
        "turbomcp_transport",
        "turbomcp_http",
        "turbomcp_transport_traits",
        "turbomcp_core",
    ],
    types: &[
        ty("Client", Role::Handle),
        ty("ClientBuilder", Role::Http),
        ty("SharedTransport", Role::Transport),
        ty("StreamableHttpClientTransport", Role::Transport),
        ty("StreamableHttpClientConfig", Role::Http),
        ty("StreamableHttpConfig", Role::Server),
    ],
    functions: &[
        method("Client", "initialize", Deed::Initialise),
        method("Client", "connect_http", Deed::Initialise),
        method("Client", "connect_http_with", Deed::Initialise),
        method("Client", "connect_tcp", Deed::Initialise),
        method("Client", "connect_unix", Deed::Initialise),
        method("Client", "call_tool", Deed::CallTool),
        method("Client", "list_tools", Deed::SafeRequest),
        method("Client", "ping", Deed::SafeRequest),
        method("Client", "shutdown", Deed::End),
        method("SharedTransport", "disconnect", Deed::End),
    ],
    variants: &[
        variant("TransportError", "SessionExpired", Meaning::SessionGone),
        variant("TransportError", "ConnectionFailed", Meaning::Transport),
        variant("TransportError", "ConnectionLost", Meaning::Transport),
        variant("TransportError", "SendFailed", Meaning::Transport),
        variant("TransportError", "ReceiveFailed", Meaning::Transport),
        variant("TransportError", "SerializationFailed", Meaning::Protocol),
        variant("TransportError", "ProtocolError", Meaning::Mixed),
        variant("TransportError", "Timeout", Meaning::Timeout),
        variant("TransportError", "ConnectionTimeout", Meaning::Timeout),
        variant("TransportError", "RequestTimeout", Meaning::Timeout),
        variant("ErrorKind", "Transport", Meaning::Mixed),
        variant("ErrorKind", "Timeout", Meaning::Timeout),
        variant("ErrorKind", "Unavailable", Meaning::Transport),
        variant("ErrorKind", "Cancelled", Meaning::Cancelled),
        variant("ErrorKind", "Authentication", Meaning::Unauthorized),
        variant("ErrorKind", "ToolExecutionFailed", Meaning::Answered),
        variant("ErrorKind", "InvalidParams", Meaning::Answered),
    ],
    settings: &[setting("RetryPolicy", "Never", None, Fact::NeverResumes, false)],
};
