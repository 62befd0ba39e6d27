//! What was found: a breach, how bad, how sure, and the proof as steps.
//! Knows neither half and no renderer; secrets stay marked as such.

use crate::exhibit::Exhibit;
use crate::words::Words;
use unbroken_contract::{Breach, Level};

/// How sure a finding is. Another question than how bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// One reading among others.
    Possible,
    /// The best reading; [`Finding::missing`] names what would prove it.
    Likely,
    /// No other reading is left.
    Proved,
}

/// What a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A function or method: `Type::method`. The finding is the lint's.
    Item(String),
    /// A session, where it is known. The finding is the audit's.
    Session(Option<String>),
}

/// The part that a step plays; renderers draw by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The offending place itself.
    Offence,
    /// A place that the offence rests on.
    Context,
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
    /// A conclusion from the other steps.
    Conclude,
}

/// One step of the proof, in the order of the story.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// Where it stands; `None` for a step that follows from the others.
    pub exhibit: Option<Exhibit>,
    /// When, in nanoseconds since the Unix epoch.
    pub at: Option<i64>,
    /// The part it plays.
    pub role: Role,
    /// What happened.
    pub words: Words,
    /// Between whom it happened, as far as the record tells.
    pub scene: Scene,
}

/// Between whom a step happened, as far as its record tells. The client is always one side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scene {
    /// A proxy, balancer or gateway recorded the exchange too, so there was one.
    pub proxied: bool,
    /// The server instance, as the log names it.
    pub server: Option<String>,
    /// Another name that the same instance goes by in another record of the same exchange.
    pub alias: Option<String>,
}

/// One send of a call that was sent more than once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sent {
    /// Where it is recorded.
    pub exhibit: Exhibit,
    /// When it was sent, in nanoseconds since the Unix epoch.
    pub at: i64,
    /// The session it was sent on.
    pub session: Option<String>,
    /// JSON-RPC id, as text.
    pub rpc_id: Option<String>,
    /// HTTP status answered.
    pub status: Option<u16>,
    /// Whether it reached a server.
    pub reached: Option<bool>,
    /// Whether a completion record proves that it ran.
    pub executed: Option<bool>,
    /// Whether its response was delivered.
    pub answered: Option<bool>,
}

/// A breach that was found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Finding {
    /// Which.
    pub breach: Breach,
    /// How bad.
    pub level: Level,
    /// How sure.
    pub certainty: Certainty,
    /// The place to look at first.
    pub place: Option<Exhibit>,
    /// What it is about.
    pub subject: Subject,
    /// The client's program, as the log names it.
    pub client: Option<String>,
    /// The tool it is about, as the log names it.
    pub tool: Option<String>,
    /// What happened.
    pub message: Words,
    /// What to do, one sentence.
    pub help: String,
    /// The proof, in the order of the story.
    pub proof: Vec<Step>,
    /// For a duplicate: every send, in order.
    pub sends: Vec<Sent>,
    /// What the sends are held to come from the same client by: `session`, `subject`, `trace`,
    /// `connection`, `client`, `address` or `only-client`.
    pub same_by: Option<&'static str>,
    /// The fact that would raise the certainty.
    pub missing: Option<String>,
    /// Fingerprints of findings of the same story.
    pub linked: Vec<String>,
    /// Stable id: the same for the same story in any order or split of the input.
    pub fingerprint: String,
}

impl Certainty {
    /// The word used in output.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Certainty::Possible => "possible",
            Certainty::Likely => "likely",
            Certainty::Proved => "proved",
        }
    }
}

impl Role {
    /// The word used in output.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Role::Offence => "offence",
            Role::Context => "context",
            Role::Initialize => "initialize",
            Role::Send => "send",
            Role::Deliver => "deliver",
            Role::Cut => "cut",
            Role::Resume => "resume",
            Role::Refuse => "refuse",
            Role::Delete => "delete",
            Role::Run => "run",
            Role::Conclude => "conclude",
        }
    }
}

impl Finding {
    /// Every session id that the finding holds, each once, longest first so that no id is masked inside another.
    #[must_use]
    pub fn sessions(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = self.message.sessions().collect();
        if let Subject::Session(Some(id)) = &self.subject {
            ids.push(id);
        }
        ids.extend(self.sends.iter().filter_map(|sent| sent.session.as_deref()));
        ids.extend(self.proof.iter().flat_map(|step| step.words.sessions()));
        ids.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        ids.dedup();
        ids
    }
}
