//! To which waiting client an event belongs, by its session, else by who sent it.
//! Knows clients roughly: two programs of one subject and agent share a place, and the judgement tells them apart.

use crate::event::{Body, Event, Message, Nanos, RpcOutcome, What};
use crate::quick::HashMap;
use crate::skim::Skim;
use crate::verdict::Whole;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Tools that are kept in mind; a server has dozens, a log full of made-up names has any number.
const MOST_TOOLS: usize = 4096;

/// Connections that are kept in mind.
const MOST_CONNECTIONS: usize = 65_536;

/// Where clients and sessions wait. Keys are hashes: a collision puts two clients into one place, where they are told
/// apart again.
#[derive(Debug, Default)]
pub(super) struct Routes {
    clients: HashMap<u64, u32>,
    sessions: HashMap<u64, u32>,
    /// The client that used a tool last, for steps of handlers that name no session.
    tools: HashMap<u64, u32>,
    /// Of connections that were used last: by what the client is found that used it, for remarks, which name nobody.
    connections: HashMap<u64, Link>,
    /// The same in the order of use, so that the oldest goes first.
    used: VecDeque<u64>,
}

/// By what a client is found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Link {
    Session(u64),
    Client(u64),
}

/// What is known of routes beside the clients and records that wait.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ways {
    tools: Vec<(u64, u32)>,
    connections: Vec<(u64, Link)>,
}

impl Routes {
    /// What the next export has to know; `numbers`: of each client, its number there.
    pub(super) fn ways(&self, numbers: &HashMap<u32, u32>) -> Ways {
        let tools = self.tools.iter().filter_map(|(tool, index)| Some((*tool, *numbers.get(index)?)));
        let mut tools: Vec<(u64, u32)> = tools.collect();
        tools.sort_unstable();
        let used = self.used.iter().filter_map(|key| Some((*key, *self.connections.get(key)?)));
        Ways { tools, connections: used.collect() }
    }

    /// Goes on with what an earlier export knew.
    pub(super) fn restore(&mut self, ways: Ways) {
        self.tools = ways.tools.into_iter().collect();
        self.used = ways.connections.iter().map(|(key, _)| *key).collect();
        self.connections = ways.connections.into_iter().collect();
    }

    /// The one place of all records; `open` makes it.
    pub(super) fn common(&mut self, open: impl FnOnce(u64) -> u32) -> u32 {
        let key = hash("");
        *self.clients.entry(key).or_insert_with(|| open(key))
    }

    /// A client that waited in an earlier export.
    pub(super) fn reopen(&mut self, key: u64, index: u32) {
        self.clients.insert(key, index);
    }

    /// A session of it.
    pub(super) fn rejoin(&mut self, session: u64, index: u32) {
        self.sessions.insert(session, index);
    }

    /// The place of an ordinary record's client.
    pub(super) fn find_skim(&mut self, skim: &Skim, open: impl FnOnce(u64) -> u32) -> u32 {
        let index = match self.sessions.get(&skim.session) {
            Some(known) => *known,
            None => {
                let key = skim.client.unwrap_or(skim.session);
                let index = *self.clients.entry(key).or_insert_with(|| open(key));
                self.sessions.insert(skim.session, index);
                index
            }
        };
        if let Some(tool) = skim.tool {
            self.note(tool, index);
        }
        index
    }

    fn note_connection(&mut self, event: &Event, session: Option<u64>) {
        let (What::Exchange(_), Some(connection)) = (&event.what, &event.identity.connection) else { return };
        let Some(link) = session.map(Link::Session).or_else(|| client(event).map(Link::Client)) else {
            return;
        };
        if self.connections.insert(hash(connection), link).is_none() {
            self.used.push_back(hash(connection));
            if self.used.len() > MOST_CONNECTIONS
                && let Some(oldest) = self.used.pop_front()
            {
                self.connections.remove(&oldest);
            }
        }
    }

    /// The client that used a remark's connection, if it waits.
    fn by_connection(&self, event: &Event) -> Option<u32> {
        match *self.connections.get(&hash(event.identity.connection.as_deref()?))? {
            Link::Session(session) => self.sessions.get(&session).copied(),
            Link::Client(key) => self.clients.get(&key).copied(),
        }
    }

    /// The place of an event's client; `open` makes one for a key that has none.
    pub(super) fn find(&mut self, event: &Event, open: impl FnOnce(u64) -> u32) -> u32 {
        if let What::Remark(_) = &event.what
            && let Some(known) = self.by_connection(event)
        {
            return known;
        }
        let session = session(event).map(hash);
        self.note_connection(event, session);
        if let Some(known) = session.and_then(|session| self.sessions.get(&session)) {
            let known = *known;
            self.note_tool(event, known);
            return known;
        }
        let key = client(event).or(session).unwrap_or_else(|| hash(""));
        let by_tool = match &event.what {
            What::Lifecycle(step) if session.is_none() => {
                step.call.as_ref().and_then(|call| self.tools.get(&hash(&call.tool)).copied())
            }
            _ => None,
        };
        let index = by_tool.unwrap_or_else(|| *self.clients.entry(key).or_insert_with(|| open(key)));
        if let Some(session) = session {
            self.sessions.insert(session, index);
        }
        self.note_tool(event, index);
        index
    }

    fn note_tool(&mut self, event: &Event, index: u32) {
        // Only where a log tells of handlers are they looked for; the others carry no such names.
        let What::Exchange(exchange) = &event.what else { return };
        let Body::Messages(messages) = &exchange.request.body else { return };
        for message in messages {
            if let Message::Request(request) = message
                && let Some(call) = &request.call
            {
                self.note(hash(&call.tool), index);
            }
        }
    }

    fn note(&mut self, tool: u64, index: u32) {
        if self.tools.len() < MOST_TOOLS || self.tools.contains_key(&tool) {
            self.tools.insert(tool, index);
        }
    }

    /// Forgets sessions that are over.
    pub(super) fn forget_sessions(&mut self, over: &[u64], index: u32) {
        for session in over {
            if self.sessions.get(session) == Some(&index) {
                self.sessions.remove(session);
            }
        }
    }

    /// Forgets a client with its sessions.
    pub(super) fn forget(&mut self, key: u64, over: &[u64], index: u32) {
        self.forget_sessions(over, index);
        self.clients.remove(&key);
        self.tools.retain(|_, at| *at != index);
    }
}

pub(crate) fn hash(text: &str) -> u64 {
    rapidhash::v3::rapidhash_v3(text.as_bytes())
}

/// The session that an event is of.
pub(super) fn session(event: &Event) -> Option<&str> {
    match &event.what {
        What::Exchange(x) => x.request.session.as_deref().or(x.response.session.as_deref()),
        What::Message(message) => message.session.as_deref(),
        What::Lifecycle(step) => step.session.as_deref().filter(|_| !step.session_is_prefix),
        What::Remark(_) => None,
    }
}

/// A key of the client: its subject, else its address, each with its program; none if the event tells neither.
pub(super) fn client(event: &Event) -> Option<u64> {
    let identity = &event.identity;
    client_key(
        identity.subject.as_deref(),
        identity.forwarded_for.as_deref(),
        identity.remote_addr.as_deref(),
        identity.user_agent.as_deref(),
    )
}

/// The same by its parts.
pub(crate) fn client_key(
    subject: Option<&str>,
    forwarded: Option<&str>,
    address: Option<&str>,
    program: Option<&str>,
) -> Option<u64> {
    let forwarded = forwarded.and_then(|list| list.split(',').next()).map(str::trim);
    let who = subject.or(forwarded.filter(|first| !first.is_empty())).or(address);
    if who.is_none() && program.is_none() {
        return None;
    }
    let seed = who.map_or(0, hash);
    // 0 stands for no key where keys are stored.
    Some((hash(program.unwrap_or_default()) ^ seed.rotate_left(1)).max(1))
}

/// Gathers what is true of the whole input: what tools declare, and the time that second logs cover.
pub(super) fn note(event: &Event, whole: &mut Whole) {
    whole.given.note(event);
    match &event.what {
        What::Exchange(exchange) => {
            for message in exchange.answers() {
                if let Message::Response(response) = message
                    && let RpcOutcome::Tools(listed) = &response.outcome
                {
                    whole.tools.note(exchange.path.as_deref(), listed);
                }
            }
        }
        What::Remark(_) if event.identity.connection.is_some() => {
            let at = event.time.at;
            let (from, to) = whole.remarked.unwrap_or((Nanos::MAX, Nanos::MIN));
            whole.remarked = Some((from.min(at), to.max(at)));
        }
        _ => {}
    }
}
