//! neva, an MCP SDK with one session per connected client.
//! Knows the client; its errors are JSON-RPC codes, so no variant means a closed session.

use super::{Deed, Role, Sdk, method, ty};

pub(super) const SDK: Sdk = Sdk {
    krate: "neva",
    versions: "0.9",
    roots: &["neva"],
    types: &[ty("Client", Role::Handle), ty("HttpClient", Role::Transport), ty("HttpServer", Role::Server)],
    functions: &[
        method("Client", "connect", Deed::Initialise),
        method("Client", "disconnect", Deed::End),
        method("Client", "call_tool", Deed::CallTool),
        method("Client", "list_tools", Deed::SafeRequest),
        method("Client", "list_resources", Deed::SafeRequest),
        method("Client", "read_resource", Deed::SafeRequest),
        method("Client", "ping", Deed::SafeRequest),
    ],
    variants: &[],
    settings: &[],
};
