//! A timeline: all that one client did, as sessions, streams, sends and runs of its calls, in order.
//! Knows no rule; it says what happened, never that it was wrong.

pub mod client;
pub mod close;
mod kin;
pub mod reconnect;
pub mod run;
pub mod send;
pub mod session;
pub mod stream;
pub mod unseen;
pub mod wish;

pub use client::Client;
pub use reconnect::Reconnect;
pub use run::Run;
pub use send::{Answered, Reached, Send};
pub use session::Session;
pub use stream::{Opening, Stream};

use crate::carry::Declared;
use crate::event::{RpcOutcome, Text, ToolHints};
use crate::join::{Contact, Joined};
use crate::verdict::Calm;
use std::collections::BTreeMap;
use std::sync::Arc;
use unbroken_contract::era::Era;
use unbroken_contract::resend::{Hints, Trust};

/// All that one client did.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// Who.
    pub client: Client,
    /// Its exchanges, in order of start.
    pub contacts: Vec<Contact>,
    /// The era of each contact; none: not judged (contract section 2).
    pub eras: Vec<Option<Era>>,
    /// The session of each contact, as an index into `sessions`.
    pub of_session: Vec<Option<usize>>,
    /// Its sessions, in order of their first contact.
    pub sessions: Vec<Session>,
    /// Every `tools/call` it sent, in order.
    pub sends: Vec<Send>,
    /// Every `initialize` without a session, as indexes into `contacts`, in order.
    pub initializes: Vec<usize>,
    /// Its streams, each across all its connections.
    pub streams: Vec<Stream>,
    /// Every reconnect, in order: what was due, what was done, what came of it.
    pub reconnects: Vec<Reconnect>,
    /// What each tool declares of itself (`tools/list`), by server path and tool.
    pub tools: Arc<Tools>,
    /// What servers' own logs tell of calls that no exchange shows; only in a timeline of nobody in particular.
    pub unseen: unseen::Unseen,
}

/// What tools declare of themselves.
#[derive(Clone, Debug, Default)]
pub struct Tools(BTreeMap<(Text, Text), Hints>);

impl Tools {
    /// Adds what every `tools/list` result says. Contradictory listings make a tool unsafe (contract 3.6).
    fn gather(&mut self, contacts: &[Contact]) {
        for contact in contacts {
            for (_, outcome, _) in contact.answers() {
                let RpcOutcome::Tools(listed) = outcome else { continue };
                self.note(contact.exchange.path.as_deref(), listed);
            }
        }
    }

    /// Adds one listing, as seen at `path`.
    pub(crate) fn note(&mut self, path: Option<&str>, listed: &[ToolHints]) {
        for tool in listed {
            let hints = Hints {
                read_only: tool.read_only,
                idempotent: tool.idempotent,
                destructive: tool.destructive,
                disputed: false,
                // Whoever audits the log answers for the server in it; a claim of its tools is taken as said.
                trust: Trust::TrustedServer,
            };
            let slot = self.0.entry((path.unwrap_or_default().into(), tool.tool.clone()));
            slot.and_modify(|held| *held = held.and(hints)).or_insert(hints);
        }
    }

    /// All of it, to be kept.
    pub(crate) fn declared(&self) -> Vec<Declared> {
        let one = |((path, tool), hints): (&(Text, Text), &Hints)| Declared {
            path: path.clone(),
            tool: tool.clone(),
            read_only: hints.read_only,
            idempotent: hints.idempotent,
            destructive: hints.destructive,
            disputed: hints.disputed,
        };
        self.0.iter().map(one).collect()
    }

    /// Takes over what was kept.
    pub(crate) fn restore(&mut self, declared: &[Declared]) {
        for Declared { path, tool, read_only, idempotent, destructive, disputed } in declared {
            let hints = Hints {
                read_only: *read_only,
                idempotent: *idempotent,
                destructive: *destructive,
                disputed: *disputed,
                trust: Trust::TrustedServer,
            };
            self.0.insert((path.clone(), tool.clone()), hints);
        }
    }

    /// What `tool` declares at `path`; no hint if it was never listed.
    #[must_use]
    pub fn hints(&self, path: Option<&str>, tool: &str) -> Hints {
        self.get(path, tool).unwrap_or_default()
    }

    /// Whether `tool` was listed at `path`.
    #[must_use]
    pub fn listed(&self, path: Option<&str>, tool: &str) -> bool {
        self.get(path, tool).is_some()
    }

    fn get(&self, path: Option<&str>, tool: &str) -> Option<Hints> {
        self.0.get(&(path.unwrap_or_default().into(), tool.into())).copied()
    }
}

/// Builds one timeline per client, in the order of the clients' first contacts.
#[must_use]
pub fn build(joined: Joined) -> Vec<Timeline> {
    build_among(joined, &Tools::default(), false, None)
}

/// The same for some clients of an input; `listed` is what tools declared anywhere in it, `others`: it has more clients, `calm`:
/// what is known of records that are not there.
pub(crate) fn build_among(
    joined: Joined,
    listed: &Tools,
    others: bool,
    calm: Option<&Calm>,
) -> Vec<Timeline> {
    let mut tools = listed.clone();
    tools.gather(&joined.contacts);
    let tools = Arc::new(tools);
    let runs = run::gather(&joined);
    let wishes = wish::gather(&joined);
    let mut unseen = unseen::gather(&joined);
    let mut timelines: Vec<Timeline> = client::group(joined.contacts, others)
        .into_iter()
        .map(|(client, contacts)| of_client(client, contacts, &tools, calm))
        .collect();
    let mut unclaimed = run::assign(&mut timelines, runs);
    unseen::of_spans(&timelines, &mut unseen, &mut unclaimed);
    wish::assign(&mut timelines, wishes);
    timelines.extend(unseen::timeline(unseen, unclaimed, &tools));
    timelines
}

fn of_client(client: Client, contacts: Vec<Contact>, tools: &Arc<Tools>, calm: Option<&Calm>) -> Timeline {
    let (mut sessions, of_session) = session::gather(&contacts);
    for session in sessions.iter_mut().filter(|_| calm.is_some()) {
        let hash = crate::ledger::route::hash(&session.id);
        session.healed = calm.is_some_and(|calm| calm.healed.contains(&hash));
    }
    let mut eras: Vec<Option<Era>> = contacts
        .iter()
        .zip(&of_session)
        .map(|(contact, at)| session::era(contact, at.map(|at| &sessions[at])))
        .collect();
    session::eras_of_handshakes(&contacts, &mut eras);
    session::mark_ends(&mut sessions, &contacts, &of_session, &eras);
    let sends = send::gather(&contacts, &of_session, &eras);
    let streams = stream::gather(&contacts, &of_session, &eras);
    let opened = |at: &usize| of_session[*at].is_some_and(|session| sessions[session].opened == Some(*at));
    let initializes: Vec<usize> =
        (0..contacts.len()).filter(|at| opened(at) || contacts[*at].opens()).collect();
    let is_calm = |at: &usize| {
        let origin = contacts[*at].origin();
        calm.is_some_and(|calm| calm.opened.contains(&(origin.file, origin.offset)))
    };
    let after_a_close = initializes.iter().copied().filter(|at| !is_calm(at));
    let reconnects = reconnect::gather(&contacts, &eras, &of_session, &sessions, &streams, after_a_close);
    Timeline {
        client,
        contacts,
        eras,
        of_session,
        sessions,
        sends,
        initializes,
        streams,
        reconnects,
        tools: Arc::clone(tools),
        unseen: unseen::Unseen::default(),
    }
}

impl Timeline {
    /// The contacts of a session, in order.
    pub fn of(&self, session: usize) -> impl Iterator<Item = (usize, &Contact)> {
        self.sessions[session].contacts.iter().map(|at| (*at, &self.contacts[*at]))
    }

    /// The calls that a contact carried.
    #[must_use]
    pub fn calls_of(&self, contact: usize) -> &[Send] {
        let from = self.sends.partition_point(|send| send.contact < contact);
        let to = self.sends.partition_point(|send| send.contact <= contact);
        &self.sends[from..to]
    }
}
