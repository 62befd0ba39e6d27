//! A timeline: all that one client did, as sessions, streams, sends and runs of its calls, in order.
//! Knows no rule; it says what happened, never that it was wrong.

pub mod client;
pub mod close;
pub mod run;
pub mod send;
pub mod session;
pub mod stream;
pub mod wish;

pub use client::Client;
pub use run::Run;
pub use send::{Answered, Reached, Send};
pub use session::Session;
pub use stream::{Opening, Stream};

use crate::event::{RpcOutcome, Text};
use crate::join::{Contact, Joined};
use std::collections::BTreeMap;
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
    /// What each tool declares of itself (`tools/list`), by server path and tool.
    pub tools: Tools,
}

/// What tools declare of themselves.
#[derive(Clone, Debug, Default)]
pub struct Tools(BTreeMap<(Text, Text), Hints>);

impl Tools {
    /// Gathers what every `tools/list` result says. Contradictory listings make a tool unsafe (contract 3.6).
    fn gather(contacts: &[Contact]) -> Tools {
        let mut tools = Tools::default();
        for contact in contacts {
            let path = contact.exchange.path.clone().unwrap_or_default();
            for (_, outcome, _) in contact.answers() {
                let RpcOutcome::Tools(listed) = outcome else { continue };
                for tool in listed {
                    let hints = Hints {
                        read_only: tool.read_only,
                        idempotent: tool.idempotent,
                        destructive: tool.destructive,
                        disputed: false,
                        // Whoever audits the log answers for the server in it; a claim of its tools is taken as said.
                        trust: Trust::TrustedServer,
                    };
                    let slot = tools.0.entry((path.clone(), tool.tool.clone()));
                    slot.and_modify(|held| *held = held.and(hints)).or_insert(hints);
                }
            }
        }
        tools
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
    let tools = Tools::gather(&joined.contacts);
    let runs = run::gather(&joined);
    let wishes = wish::gather(&joined);
    let mut timelines: Vec<Timeline> = client::group(joined.contacts)
        .into_iter()
        .map(|(client, contacts)| of_client(client, contacts, &tools))
        .collect();
    run::assign(&mut timelines, &runs);
    wish::assign(&mut timelines, wishes);
    timelines
}

fn of_client(client: Client, contacts: Vec<Contact>, tools: &Tools) -> Timeline {
    let (mut sessions, of_session) = session::gather(&contacts);
    let eras: Vec<Option<Era>> = contacts
        .iter()
        .zip(&of_session)
        .map(|(contact, at)| session::era(contact, at.map(|at| &sessions[at])))
        .collect();
    session::mark_ends(&mut sessions, &contacts, &of_session, &eras);
    let sends = send::gather(&contacts, &of_session, &eras);
    let streams = stream::gather(&contacts, &of_session, &eras);
    let initializes = (0..contacts.len()).filter(|at| contacts[*at].opens()).collect();
    Timeline {
        client,
        contacts,
        eras,
        of_session,
        sessions,
        sends,
        initializes,
        streams,
        tools: tools.clone(),
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
