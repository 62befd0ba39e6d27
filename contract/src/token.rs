//! What a client persists to resume a stream, and whether it may believe the answer (contract 3.4).
//! Knows no transport and no file; it turns a token into text and back, and compares.

use std::fmt;

use crate::action::Action;
use crate::canonical::Canonicalizer;
use crate::cursor::{IdOrder, Placement, place};
use crate::sha256::Sha256;
use crate::verdict::ResumptionVerdict;

mod persist;

pub use persist::BadToken;

/// SHA-256 over what a session was negotiated to be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub [u8; 32]);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

/// What a session was negotiated to be: the `InitializeResult`, and what the client declared of itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Context<'a> {
    /// The session id, where one was issued.
    pub session: Option<&'a str>,
    /// `protocolVersion` of the result.
    pub protocol_version: &'a str,
    /// `capabilities` of the result, as JSON text.
    pub server_capabilities: &'a [u8],
    /// `capabilities` of the request, as JSON text.
    pub client_capabilities: &'a [u8],
}

impl fmt::Debug for Context<'_> {
    /// Without the session id, which is a bearer token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("protocol_version", &self.protocol_version).finish_non_exhaustive()
    }
}

/// The fingerprint of a context: SHA-256 over length-prefixed fields (contract 3.4). Capabilities count by their
/// canonical form, or as written where they are not JSON; no session id differs from an empty one.
#[must_use]
pub fn fingerprint(context: &Context<'_>) -> Fingerprint {
    let mut hash = Sha256::new();
    hash.field(context.session.map_or(&b"none"[..], |_| b"some"));
    hash.field(context.session.unwrap_or_default().as_bytes());
    hash.field(context.protocol_version.as_bytes());
    let (mut writer, mut form) = (Canonicalizer::new(), Vec::new());
    for capabilities in [context.server_capabilities, context.client_capabilities] {
        form.clear();
        match writer.write(capabilities, &mut form) {
            Ok(()) => hash.field(&form),
            Err(_) => hash.field(capabilities),
        }
    }
    Fingerprint(hash.finish())
}

/// Whose stream it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Owner<'a> {
    /// The session with this id.
    Session(&'a str),
    /// No session id was issued: this endpoint, as this client.
    Endpoint {
        /// The URL of the MCP endpoint.
        endpoint: &'a str,
        /// A name of the client that survives a restart.
        client: &'a str,
    },
}

/// All that a client has to persist to resume one stream after a restart (contract 3.4).
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ResumeToken {
    owner: Kept,
    /// A name of the stream among those of the session, the client's own.
    pub stream: String,
    /// The last event id read.
    pub cursor: String,
    /// What the session was negotiated to be.
    pub fingerprint: Fingerprint,
    /// How the server orders its event ids, if that is declared.
    pub order: IdOrder,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Kept {
    Session(String),
    Endpoint { endpoint: String, client: String },
}

impl fmt::Debug for ResumeToken {
    /// Without the session id, which is a bearer token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResumeToken").field("stream", &self.stream).finish_non_exhaustive()
    }
}

impl ResumeToken {
    /// A token for `stream` at `cursor`, with ids of no known order.
    #[must_use]
    pub fn new(owner: Owner<'_>, stream: &str, cursor: &str, fingerprint: Fingerprint) -> ResumeToken {
        let owner = match owner {
            Owner::Session(id) => Kept::Session(id.to_owned()),
            Owner::Endpoint { endpoint, client } => {
                Kept::Endpoint { endpoint: endpoint.to_owned(), client: client.to_owned() }
            }
        };
        let (stream, cursor) = (stream.to_owned(), cursor.to_owned());
        ResumeToken { owner, stream, cursor, fingerprint, order: IdOrder::Opaque }
    }

    /// The same token, with ids of a declared order.
    #[must_use]
    pub fn ordered(mut self, order: IdOrder) -> ResumeToken {
        self.order = order;
        self
    }

    /// Whose stream it is.
    #[must_use]
    pub fn owner(&self) -> Owner<'_> {
        match &self.owner {
            Kept::Session(id) => Owner::Session(id),
            Kept::Endpoint { endpoint, client } => Owner::Endpoint { endpoint, client },
        }
    }
}

/// What is claimed when a stream is resumed: a token without its storage, for whoever only watches.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Claim<'a> {
    /// Whose stream it is.
    pub owner: Owner<'a>,
    /// The cursor sent.
    pub cursor: &'a str,
    /// What the session was negotiated to be, where known.
    pub fingerprint: Option<Fingerprint>,
    /// How the server orders its event ids.
    pub order: IdOrder,
}

impl<'a> From<&'a ResumeToken> for Claim<'a> {
    fn from(token: &'a ResumeToken) -> Claim<'a> {
        let (owner, cursor, fingerprint) = (token.owner(), token.cursor.as_str(), Some(token.fingerprint));
        Claim { owner, cursor, fingerprint, order: token.order }
    }
}

/// One event of a resumed stream, as far as believing it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResumedEvent<'a> {
    /// Its own `id:`.
    pub id: Option<&'a str>,
    /// Whether its data is not empty.
    pub has_data: bool,
}

/// What has been read of the answer to a resume.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Resumed<'a> {
    /// `Mcp-Session-Id` of the response.
    pub session: Option<&'a str>,
    /// The events read so far; none of them acted on yet.
    pub events: &'a [ResumedEvent<'a>],
    /// The fingerprint of the context the server states, if it states one.
    pub context: Option<Fingerprint>,
}

impl fmt::Debug for Resumed<'_> {
    /// Without the session id, which is a bearer token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resumed").field("events", &self.events).finish_non_exhaustive()
    }
}

/// Whether a resume may be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Belief {
    /// It goes on strictly after the cursor, in the same session.
    Proved,
    /// It may be read; calls in flight stay unknown until answered.
    Unproved(Doubt),
    /// Read nothing more; re-initialize and reconcile.
    Failed(Disproof),
}

/// What keeps a resume from being proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Doubt {
    /// No session id in the response, so its event ids have no namespace.
    NoSessionAcknowledged,
    /// The first event with data has no id, or there is none yet.
    NoEventId,
    /// The first event cannot be ordered against the cursor.
    Unplaceable,
}

/// What proves a resume false.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Disproof {
    /// The response names another session.
    SessionChanged,
    /// The first event is the cursor itself, or before it.
    NotAfterCursor,
    /// The negotiated context is another.
    ContextMismatch,
}

impl Belief {
    /// The verdict on the resumption.
    #[must_use]
    pub const fn verdict(self) -> ResumptionVerdict {
        match self {
            Belief::Proved => ResumptionVerdict::Proved,
            Belief::Unproved(_) => ResumptionVerdict::Unproved,
            Belief::Failed(_) => ResumptionVerdict::Failed,
        }
    }

    /// What a client has to do at once; `None`: read on. A resume proved false is, besides a terminated session and
    /// a rejected resume, the only reason to re-initialize (contract 3.2, laws).
    #[must_use]
    pub const fn action(self) -> Option<Action<'static>> {
        match self {
            Belief::Failed(_) => {
                Some(Action::Reinitialize { delete: None, delay: std::time::Duration::ZERO })
            }
            Belief::Proved | Belief::Unproved(_) => None,
        }
    }
}

/// May the client believe this resume? To be asked before any event of the new stream is acted on; the first check of
/// contract 3.4 that fits. Events with empty data carry nothing and are skipped. Takes a `&ResumeToken` or a [`Claim`].
#[must_use]
pub fn validate_resume<'a>(claim: impl Into<Claim<'a>>, resumed: &Resumed<'_>) -> Belief {
    let claim = claim.into();
    match (claim.owner, resumed.session) {
        (_, None) => return Belief::Unproved(Doubt::NoSessionAcknowledged),
        (Owner::Session(held), Some(named)) if held == named => {}
        // Where none was issued, a named session is another one.
        (_, Some(_)) => return Belief::Failed(Disproof::SessionChanged),
    }
    let first = resumed.events.iter().find(|event| event.has_data);
    let Some(id) = first.and_then(|event| event.id).filter(|id| !id.is_empty()) else {
        return Belief::Unproved(Doubt::NoEventId);
    };
    match place(claim.order, claim.cursor, id) {
        Placement::Same | Placement::Before => return Belief::Failed(Disproof::NotAfterCursor),
        Placement::Unknown => return Belief::Unproved(Doubt::Unplaceable),
        Placement::After => {}
    }
    match (claim.fingerprint, resumed.context) {
        (Some(held), Some(stated)) if held != stated => Belief::Failed(Disproof::ContextMismatch),
        _ => Belief::Proved,
    }
}

#[cfg(test)]
mod tests;
