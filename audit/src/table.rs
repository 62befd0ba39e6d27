//! Sessions and calls as rows, for whoever wants to ask questions of their own.
//! Knows no rule and no file format; ids stand as they were logged, whoever writes them decides how.

use crate::timeline::{Answered, Reached, Run, Send, Session, Timeline};

/// A session that was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id: a bearer token.
    pub session: String,
    /// The client's program.
    pub client: Option<String>,
    /// Protocol version.
    pub protocol_version: Option<String>,
    /// When its first exchange started, nanoseconds since the Unix epoch.
    pub first: i64,
    /// When its last exchange is known to have been going on.
    pub last: i64,
    /// Exchanges.
    pub exchanges: u64,
    /// Calls sent on it.
    pub calls: u64,
    /// What ended it, as far as the log tells: `404` or `delete`.
    pub ended: Option<&'static str>,
}

/// A `tools/call` that was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallRow {
    /// The session it was sent on: a bearer token.
    pub session: Option<String>,
    /// JSON-RPC id, as text.
    pub rpc_id: Option<String>,
    /// The tool.
    pub tool: String,
    /// When it was sent, nanoseconds since the Unix epoch.
    pub sent: i64,
    /// When its own exchange ended, where known.
    pub closed: Option<i64>,
    /// HTTP status.
    pub status: Option<u16>,
    /// The server instance, as the log names it.
    pub server: Option<String>,
    /// Whether it reached a server; `None`: the log does not tell.
    pub reached: Option<bool>,
    /// Whether its response was delivered; `None`: the log does not tell.
    pub answered: Option<bool>,
    /// Whether a server's log proves that it took effect; `None`: there is no such log.
    pub executed: Option<bool>,
}

/// All rows, in the order of (client, time).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// Sessions.
    pub sessions: Vec<SessionRow>,
    /// Calls.
    pub calls: Vec<CallRow>,
}

impl Tables {
    /// Adds what one client did, as far as it is done.
    pub(crate) fn take(&mut self, timeline: &Timeline, done: &dyn Fn(usize) -> bool) {
        let mut calls = vec![0; timeline.sessions.len()];
        timeline.sends.iter().filter_map(|send| send.session).for_each(|at| calls[at] += 1);
        let ended = |session: &Session| session.contacts.last().is_some_and(|at| done(*at));
        let sessions = timeline.sessions.iter().zip(calls).filter(|(session, _)| ended(session));
        self.sessions.extend(sessions.map(|(session, calls)| session_row(timeline, session, calls)));
        let sends = timeline.sends.iter().filter(|send| done(send.contact));
        self.calls.extend(sends.map(|send| call_row(timeline, send)));
    }

    /// Takes over what another part has given.
    pub(crate) fn add(&mut self, other: Tables) {
        self.sessions.extend(other.sessions);
        self.calls.extend(other.calls);
    }

    /// Puts the rows in an order that no file order and no split can change.
    pub(crate) fn sort(&mut self) {
        self.sessions.sort_by(|a, b| (a.first, &a.session).cmp(&(b.first, &b.session)));
        self.calls.sort_by(|a, b| {
            (a.sent, &a.session, &a.rpc_id, &a.tool).cmp(&(b.sent, &b.session, &b.rpc_id, &b.tool))
        });
    }
}

fn session_row(timeline: &Timeline, session: &Session, calls: u64) -> SessionRow {
    let last = session.contacts.iter().map(|contact| timeline.contacts[*contact].known_until()).max();
    SessionRow {
        session: session.id.to_string(),
        client: session.info.as_ref().map(|info| format!("{} {}", info.name, info.version)),
        protocol_version: session.version.as_deref().map(str::to_owned),
        first: session.first,
        last: last.unwrap_or(session.first),
        exchanges: session.contacts.len() as u64,
        calls,
        ended: session.gone.map(|_| "404").or(session.deleted.map(|_| "delete")),
    }
}

fn call_row(timeline: &Timeline, send: &Send) -> CallRow {
    let contact = &timeline.contacts[send.contact];
    CallRow {
        session: send.session.map(|at| timeline.sessions[at].id.to_string()),
        rpc_id: send.id.as_ref().map(|id| crate::timeline::close::id_text(id).to_owned()),
        tool: send.call.tool.to_string(),
        sent: send.start,
        closed: send.closed,
        status: contact.exchange.status.filter(|status| *status != 0),
        server: contact.instance().map(str::to_owned),
        reached: match send.reached {
            Reached::Yes => Some(true),
            Reached::No => Some(false),
            Reached::Unknown => None,
        },
        answered: match send.answered {
            Answered::Own(_) | Answered::Later { .. } => Some(true),
            Answered::Never => Some(false),
            Answered::Perhaps { .. } | Answered::Unrecorded => None,
        },
        executed: send.run.as_ref().map(Run::executed),
    }
}
