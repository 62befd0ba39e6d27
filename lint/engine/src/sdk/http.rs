//! HTTP stacks and event-stream crates under hand-written clients.
//! Knows what a request, a status test and an event stream look like, and nothing of MCP.

use super::{Deed, Fact, Meaning, Role, Sdk, method, setting, ty, variant};

pub(super) const REQWEST: Sdk = Sdk {
    krate: "reqwest",
    versions: "0.12, 0.13",
    roots: &["reqwest"],
    types: &[ty("Client", Role::Http), ty("RequestBuilder", Role::Http), ty("Response", Role::Http)],
    functions: &[
        method("RequestBuilder", "send", Deed::Connect),
        method("Client", "execute", Deed::Connect),
        method("Response", "error_for_status", Deed::MergeStatus),
        method("Response", "error_for_status_ref", Deed::MergeStatus),
    ],
    variants: &[],
    settings: &[],
};

pub(super) const REQWEST_MIDDLEWARE: Sdk = Sdk {
    krate: "reqwest-middleware",
    versions: "0.5",
    roots: &["reqwest_middleware"],
    types: &[ty("ClientWithMiddleware", Role::Http), ty("RequestBuilder", Role::Http)],
    functions: &[
        method("RequestBuilder", "send", Deed::Connect),
        method("ClientWithMiddleware", "execute", Deed::Connect),
    ],
    variants: &[variant("Error", "Reqwest", Meaning::Mixed), variant("Error", "Middleware", Meaning::Mixed)],
    settings: &[],
};

pub(super) const HYPER: Sdk = Sdk {
    krate: "hyper-util",
    versions: "0.1",
    roots: &["hyper", "hyper_util"],
    types: &[ty("Client", Role::Http)],
    functions: &[method("Client", "request", Deed::Connect), method("Client", "get", Deed::Connect)],
    variants: &[],
    settings: &[],
};

pub(super) const UREQ: Sdk = Sdk {
    krate: "ureq",
    versions: "3",
    roots: &["ureq"],
    types: &[ty("Agent", Role::Http), ty("RequestBuilder", Role::Http)],
    functions: &[
        method("RequestBuilder", "call", Deed::Connect),
        method("RequestBuilder", "send", Deed::Connect),
        method("RequestBuilder", "send_json", Deed::Connect),
        method("Agent", "run", Deed::Connect),
    ],
    variants: &[
        variant("Error", "StatusCode", Meaning::Status),
        variant("Error", "Io", Meaning::Transport),
        variant("Error", "Timeout", Meaning::Timeout),
        variant("Error", "HostNotFound", Meaning::NotSent),
        variant("Error", "ConnectionFailed", Meaning::NotSent),
    ],
    settings: &[],
};

pub(super) const ISAHC: Sdk = Sdk {
    krate: "isahc",
    versions: "2",
    roots: &["isahc"],
    types: &[ty("HttpClient", Role::Http)],
    functions: &[
        method("HttpClient", "send", Deed::Connect),
        method("HttpClient", "send_async", Deed::Connect),
    ],
    variants: &[
        variant("ErrorKind", "ConnectionFailed", Meaning::NotSent),
        variant("ErrorKind", "NameResolution", Meaning::NotSent),
        variant("ErrorKind", "Timeout", Meaning::Timeout),
        variant("ErrorKind", "Io", Meaning::Transport),
    ],
    settings: &[],
};

pub(super) const REQWEST_EVENTSOURCE: Sdk = Sdk {
    krate: "reqwest-eventsource",
    versions: "0.6",
    roots: &["reqwest_eventsource"],
    types: &[ty("EventSource", Role::AutoEvents)],
    functions: &[
        method("EventSource", "new", Deed::Connect),
        method("EventSource", "get", Deed::Connect),
        method("RequestBuilderExt", "eventsource", Deed::Connect),
        method("EventSource", "last_event_id", Deed::Cursor),
        method("EventSource", "close", Deed::End),
    ],
    variants: &[
        variant("Error", "Transport", Meaning::Transport),
        variant("Error", "InvalidStatusCode", Meaning::Status),
        variant("Error", "InvalidContentType", Meaning::Protocol),
        variant("Error", "StreamEnded", Meaning::Transport),
    ],
    settings: &[
        setting("Never", "", None, Fact::NeverResumes, false),
        setting("Constant", "", None, Fact::UnlimitedFlat, false),
        setting("EventSource", "", None, Fact::UnlimitedGrowing, true),
    ],
};

pub(super) const EVENTSOURCE_CLIENT: Sdk = Sdk {
    krate: "eventsource-client",
    versions: "0.18",
    roots: &["eventsource_client"],
    types: &[ty("ClientBuilder", Role::AutoEvents), ty("Client", Role::AutoEvents)],
    functions: &[
        method("ClientBuilder", "for_url", Deed::Connect),
        method("ClientBuilder", "last_event_id", Deed::Cursor),
        method("Client", "stream", Deed::Connect),
    ],
    variants: &[
        variant("Error", "TimedOut", Meaning::Timeout),
        variant("Error", "UnexpectedResponse", Meaning::Status),
        variant("Error", "HttpStream", Meaning::Transport),
        variant("Error", "Transport", Meaning::Transport),
        variant("Error", "Eof", Meaning::Transport),
        variant("Error", "UnexpectedEof", Meaning::Transport),
    ],
    settings: &[setting("ReconnectOptions", "reconnect", Some("false"), Fact::NeverResumes, false)],
};

pub(super) const EVENTSOURCE_STREAM: Sdk = Sdk {
    krate: "eventsource-stream",
    versions: "0.2",
    roots: &["eventsource_stream"],
    types: &[ty("EventStream", Role::Events)],
    functions: &[
        method("EventStream", "set_last_event_id", Deed::Cursor),
        method("EventStream", "last_event_id", Deed::Cursor),
    ],
    variants: &[
        variant("EventStreamError", "Transport", Meaning::Transport),
        variant("EventStreamError", "Parser", Meaning::Protocol),
        variant("EventStreamError", "Utf8", Meaning::Protocol),
    ],
    settings: &[],
};

pub(super) const SSE_STREAM: Sdk = Sdk {
    krate: "sse-stream",
    versions: "0.2, 0.3",
    roots: &["sse_stream"],
    types: &[ty("SseStream", Role::Events)],
    functions: &[method("SseStream", "from_byte_stream", Deed::Connect)],
    variants: &[variant("Error", "Body", Meaning::Transport)],
    settings: &[],
};
