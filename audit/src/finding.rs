//! What the audit found: a breach with its proof as data.
//! Knows no renderer; secrets stay marked as such, so that whoever shows them decides.

use crate::event::{Nanos, Place};
use serde::{Deserialize, Serialize};
use unbroken_contract::{Breach, Level};

/// How sure a finding is. Another question than how bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Certainty {
    /// One reading among others that the log allows.
    Possible,
    /// The log makes it the best reading; `Finding::missing` names what would prove it.
    Likely,
    /// The log leaves no other reading.
    Proved,
}

/// A piece of a sentence. Secrets are shown as keyed digests unless asked otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Piece {
    /// Plain words of the program itself.
    Plain(String),
    /// A session id: a bearer token.
    Session(String),
    /// A tool call's arguments, or a value out of them.
    Arguments(String),
    /// Who a client is: subject, address.
    Identity(String),
    /// Text taken from the log that is no secret but may hold anything (tool names, event ids, user agents).
    Foreign(String),
}

/// A sentence.
pub type Words = Vec<Piece>;

/// A record that a step rests on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Exhibit {
    /// Path as given on the command line.
    pub path: String,
    /// The file among those of the run: several exports may have had one path.
    #[serde(skip)]
    pub file: u32,
    /// Line or entry.
    pub place: Place,
    /// Byte offset in the decompressed stream.
    pub offset: u64,
    /// Some record of the exchange was written between client and server.
    pub proxied: bool,
    /// The server instance that the exchange reached, as the log names it.
    pub server: Option<String>,
    /// Another name that the same instance goes by in another record of the exchange.
    pub alias: Option<String>,
}

/// One step of the proof, in the order of the story.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Step {
    /// Where it is recorded; `None` for a step that follows from the others.
    pub exhibit: Option<Exhibit>,
    /// When, in nanoseconds since the epoch.
    pub at: Option<Nanos>,
    /// The part it plays.
    pub role: Role,
    /// What happened, as a sentence without a final stop.
    pub words: Words,
}

/// The part a step plays; renderers draw by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    /// A session was opened.
    Initialize,
    /// A call or other request was sent.
    Send,
    /// An event or response was delivered.
    Deliver,
    /// A stream or connection ended early.
    Cut,
    /// A stream was reopened.
    Resume,
    /// The server or proxy refused.
    Refuse,
    /// The session was deleted.
    Delete,
    /// A handler ran.
    Run,
    /// A conclusion.
    Conclude,
}

/// One send of a call that was sent more than once.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sent {
    /// Where it is recorded.
    pub exhibit: Exhibit,
    /// When it was sent.
    pub at: Nanos,
    /// The session it was sent on.
    pub session: Option<String>,
    /// JSON-RPC id, as text.
    pub rpc_id: Option<String>,
    /// Status answered.
    pub status: Option<u16>,
    /// Whether it reached a server.
    pub reached: Option<bool>,
    /// Whether a completion record proves that it ran.
    pub executed: Option<bool>,
    /// Whether its response was delivered.
    pub answered: Option<bool>,
}

/// What two sends are held to come from the same client by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum SameBy {
    /// The same session.
    Session,
    /// The same authenticated subject.
    Subject,
    /// The same trace.
    Trace,
    /// The same connection.
    Connection,
    /// The same address, user agent and `clientInfo`.
    Client,
    /// The same address and user agent.
    Address,
    /// One client in the whole log.
    OnlyClient,
}

/// A breach that was found.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Finding {
    /// Which.
    pub breach: BreachId,
    /// How bad.
    pub level: LevelId,
    /// How sure.
    pub certainty: Certainty,
    /// The session it is about.
    pub session: Option<String>,
    /// The program of the client: `clientInfo`, else the user agent.
    pub client: Option<String>,
    /// The tool it is about.
    pub tool: Option<String>,
    /// What happened, as a sentence.
    pub message: Words,
    /// What to do, as one sentence.
    pub help: String,
    /// The proof, in order.
    pub proof: Vec<Step>,
    /// For a duplicate: every send, in order.
    pub sends: Vec<Sent>,
    /// What the sends are held to be of the same client by.
    pub same_by: Option<SameBy>,
    /// The fact that would raise the certainty, where there is one.
    pub missing: Option<String>,
    /// Fingerprints of findings that belong to the same story.
    pub linked: Vec<String>,
    /// Stable id: the same for the same story in any split or order of the input.
    pub fingerprint: String,
    /// By what it is known as a part of a story that was told before, if it can be one.
    #[serde(skip)]
    pub(crate) part_of: Option<String>,
    /// By what later parts of its story are known.
    #[serde(skip)]
    pub(crate) parts: Vec<String>,
}

// The contract crate has no dependency, so serde is taught its two enums here.
/// A breach, as its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BreachId(pub Breach);
/// A level, as its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LevelId(pub Level);

impl Serialize for BreachId {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.0.id())
    }
}
impl<'de> Deserialize<'de> for BreachId {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let id = String::deserialize(d)?;
        Breach::from_id(&id)
            .map(BreachId)
            .ok_or_else(|| serde::de::Error::custom(format!("unknown breach {id}")))
    }
}
impl Serialize for LevelId {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.0.id())
    }
}
impl<'de> Deserialize<'de> for LevelId {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        match String::deserialize(d)?.as_str() {
            "note" => Ok(LevelId(Level::Note)),
            "warn" => Ok(LevelId(Level::Warn)),
            "deny" => Ok(LevelId(Level::Deny)),
            other => Err(serde::de::Error::custom(format!("unknown level {other}"))),
        }
    }
}
