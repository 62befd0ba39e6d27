//! What is known of the MCP SDKs and HTTP stacks that clients are built on: types, functions, error variants, settings.
//! Knows no syntax and decides nothing; a row says what the crate's own source says, and a test reads that source again.

mod http;
mod neva;
mod pmcp;
mod rmcp;
mod rust_mcp_sdk;
mod tower_mcp;
mod turbomcp;

/// One crate (with the crates it re-exports) and every fact about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sdk {
    /// Name in the registry.
    pub krate: &'static str,
    /// Releases the rows were read from, oldest to newest: `0.8` is the last `0.8.x`, `2` the last `2.x` looked at.
    pub versions: &'static str,
    /// First path segments under which its items are named in code.
    pub roots: &'static [&'static str],
    /// Types that stand for a session, or for a way to reach one.
    pub types: &'static [Type],
    /// Functions whose effect on a session, stream or call is known.
    pub functions: &'static [Function],
    /// Error variants and what they say about the session or the call.
    pub variants: &'static [Variant],
    /// Configuration values that are facts about what the SDK does on its own.
    pub settings: &'static [Setting],
}

/// A type of an SDK, by its last path segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    /// Last path segment, without generics.
    pub name: &'static str,
    /// What a value of it is.
    pub is: Role,
}

/// What a value of an SDK's type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Owns the session: the session id goes where this value goes (dropped, replaced or cancelled means discarded).
    Handle,
    /// A further reference to a session; dropping it leaves the session alive.
    Peer,
    /// Becomes a handle once connected; owns the session in SDKs whose handle is a thin wrapper.
    Transport,
    /// An HTTP client, or another thing that only sends; holds no session.
    Http,
    /// Reads server-sent events from an open response.
    Events,
    /// Reads server-sent events and reconnects by itself, with the cursor it saw.
    AutoEvents,
    /// Belongs to a server, never to a client.
    Server,
}

/// A function or method of an SDK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// Last path segment of the type or trait it belongs to; `None` for a free function.
    pub on: Option<&'static str>,
    /// Its name.
    pub name: &'static str,
    /// What calling it does.
    pub does: Deed,
}

/// What a function of an SDK does, in the words of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deed {
    /// Sends `initialize` and yields a handle, or starts the transport that does: a new session.
    Initialise,
    /// Sends a `tools/call` (contract 3.6 applies to a second one).
    CallTool,
    /// Sends a request whose method is an argument: perhaps a `tools/call`.
    Request,
    /// Sends a request that is safe to repeat (a list, a ping, a read).
    SafeRequest,
    /// Ends the session or its handle on purpose.
    End,
    /// Waits until the handle has ended; says nothing of the session.
    Wait,
    /// Opens a connection without a session of its own: an HTTP request, an event stream.
    Connect,
    /// Tells the SDK which cursor to start from, or hands the cursor out to be kept.
    Cursor,
    /// Sets the session id that the SDK sends; an absent one clears it.
    SetSession,
    /// Turns a status outside 200..400 (or 200..300) into one error, whatever the status was.
    MergeStatus,
}

/// A variant of an SDK's error type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The enum, last path segment.
    pub on: &'static str,
    /// The variant.
    pub name: &'static str,
    /// What it says.
    pub means: Meaning,
}

/// What an error says about the session and the call (contract 3.1 and 3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// Built for a 404 to a request that carried the session id, and for nothing else.
    SessionGone,
    /// The connection, stream or channel ended, or could not be used: nothing is known of session or outcome.
    Transport,
    /// A deadline of this side passed: outcome unknown.
    Timeout,
    /// This side cancelled or shut down.
    Cancelled,
    /// The peer answered with a JSON-RPC error: the outcome is known.
    Answered,
    /// The request never left.
    NotSent,
    /// Wraps several of these, [`Meaning::SessionGone`] among them: as a whole it is no 404, its source may be.
    Mixed,
    /// Carries the HTTP status; only a test of it says more.
    Status,
    /// 401 or 403: renew the credential, keep the session.
    Unauthorized,
    /// The peer broke the protocol, or the value could not be read: session and outcome stay as they were.
    Protocol,
}

/// A configuration value that decides what the SDK does on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The type it is set on (or which is itself the value), last path segment.
    pub on: &'static str,
    /// Field, setter or constructor; empty where naming the type is the setting.
    pub name: &'static str,
    /// The value, as written without spaces; `None` where any value (or none) has this effect.
    pub value: Option<&'static str>,
    /// What follows.
    pub fact: Fact,
    /// Whether it holds when the code says nothing.
    pub default: bool,
}

/// What follows from a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fact {
    /// A 404 to the session makes the SDK re-initialize and send the refused request once more.
    Recovers404,
    /// A 404 to the session is left to the caller.
    Keeps404,
    /// A broken stream is not resumed.
    NeverResumes,
    /// Broken streams are resumed with a growing delay and without a limit.
    UnlimitedGrowing,
    /// Broken streams are resumed after a constant delay and without a limit.
    UnlimitedFlat,
    /// Attempts are limited.
    Limited,
    /// Sessions are optional or switched off: a missing id is no loss.
    Sessionless,
}

/// Every SDK and HTTP stack that is known.
pub const ALL: &[Sdk] = &[
    rmcp::SDK,
    rust_mcp_sdk::SDK,
    pmcp::SDK,
    turbomcp::SDK,
    tower_mcp::SDK,
    neva::SDK,
    http::REQWEST,
    http::REQWEST_MIDDLEWARE,
    http::HYPER,
    http::UREQ,
    http::ISAHC,
    http::REQWEST_EVENTSOURCE,
    http::EVENTSOURCE_CLIENT,
    http::EVENTSOURCE_STREAM,
    http::SSE_STREAM,
];

impl Sdk {
    /// Whether the crate speaks MCP (the others are HTTP and event-stream crates).
    #[must_use]
    pub fn speaks_mcp(&self) -> bool {
        self.types.iter().any(|known| matches!(known.is, Role::Handle | Role::Transport))
    }
}

/// The SDK whose items are named under this first path segment, as in `rmcp::service::Peer`.
#[must_use]
pub fn by_root(segment: &str) -> Option<&'static Sdk> {
    ALL.iter().find(|sdk| sdk.roots.contains(&segment))
}

/// What the type with this last path segment is in any of `sdks`.
pub fn role<'a>(sdks: impl IntoIterator<Item = &'a Sdk>, name: &str) -> Option<Role> {
    sdks.into_iter().find_map(|sdk| sdk.types.iter().find(|known| known.name == name)).map(|known| known.is)
}

/// What calling `name` does on a value of type `on` (`None`: the receiver is unknown, so only a name that means one
/// thing in all of `sdks` is answered).
pub fn deed<'a>(sdks: impl IntoIterator<Item = &'a Sdk>, on: Option<&str>, name: &str) -> Option<Deed> {
    let mut found = None;
    for function in sdks.into_iter().flat_map(|sdk| sdk.functions).filter(|function| function.name == name) {
        if on.is_some() && function.on == on {
            return Some(function.does);
        }
        match found {
            _ if on.is_some() => {}
            None => found = Some(function.does),
            Some(deed) if deed == function.does => {}
            Some(_) => return None,
        }
    }
    found
}

/// What the variant `name` of the enum `on` says (`None`: the enum is unknown, so only a name that means one thing).
pub fn meaning<'a>(sdks: impl IntoIterator<Item = &'a Sdk>, on: Option<&str>, name: &str) -> Option<Meaning> {
    let mut rows = sdks
        .into_iter()
        .flat_map(|sdk| sdk.variants)
        .filter(|variant| variant.name == name && on.is_none_or(|on| on == variant.on))
        .map(|variant| variant.means);
    let first = rows.next()?;
    rows.all(|next| next == first).then_some(first)
}

const fn ty(name: &'static str, is: Role) -> Type {
    Type { name, is }
}

const fn method(on: &'static str, name: &'static str, does: Deed) -> Function {
    Function { on: Some(on), name, does }
}

const fn free(name: &'static str, does: Deed) -> Function {
    Function { on: None, name, does }
}

const fn variant(on: &'static str, name: &'static str, means: Meaning) -> Variant {
    Variant { on, name, means }
}

const fn setting(
    on: &'static str,
    name: &'static str,
    value: Option<&'static str>,
    fact: Fact,
    default: bool,
) -> Setting {
    Setting { on, name, value, fact, default }
}

#[cfg(test)]
mod sources;
