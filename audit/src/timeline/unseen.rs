//! What only a server's own log tells: runs of calls that no log of exchanges shows, and sessions opened meanwhile.
//! Knows no client: such logs do not say who called; what may be concluded without that is for the rules.

use super::{Client, Run, Timeline, Tools};
use crate::event::{LifecycleStep, Message, Nanos, Origin, RpcId, Text, Vantage};
use crate::join::{Contact, Joined};
use std::sync::Arc;

/// The facts of servers' own logs that belong to no exchange.
#[derive(Clone, Debug, Default)]
pub struct Unseen {
    /// Runs of calls, in the order of their starts.
    pub runs: Vec<Run>,
    /// Sessions that were opened, in order.
    pub births: Vec<Birth>,
    /// Responses that had nobody to go to; only where the input has no log of exchanges at all.
    pub unsent: Vec<Unsent>,
}

/// A session that a server opened.
#[derive(Clone, Debug)]
pub struct Birth {
    /// When.
    pub at: Nanos,
    /// Where it is recorded.
    pub origin: Origin,
    /// Its id, where told.
    pub session: Option<Text>,
}

/// A response that was ready when nobody was connected to take it.
#[derive(Clone, Debug)]
pub struct Unsent {
    /// When.
    pub at: Nanos,
    /// Where it is recorded.
    pub origin: Origin,
    /// The JSON-RPC id it answers, where told.
    pub id: Option<RpcId>,
    /// The session, where told.
    pub session: Option<Text>,
}

/// Gathers sessions and unsent responses; the runs come when it is known which of them no exchange shows.
pub(super) fn gather(joined: &Joined) -> Unseen {
    let mut unseen = Unseen::default();
    for told in joined.steps.iter().filter(|told| told.vantage == Vantage::ServerApp) {
        let (at, origin, session) = (told.at, told.origin, told.what.session.clone());
        match told.what.step {
            LifecycleStep::SessionCreated | LifecycleStep::SessionRestored => {
                unseen.births.push(Birth { at, origin, session });
            }
            LifecycleStep::ResponseUnsent if joined.said || joined.contacts.is_empty() => {
                unseen.unsent.push(Unsent { at, origin, id: told.what.rpc_id.clone(), session });
            }
            _ => {}
        }
    }
    for told in joined.messages.iter().filter(|told| told.vantage == Vantage::ServerApp) {
        if let Message::Request(request) = &told.what.message
            && &*request.method == "initialize"
        {
            unseen.births.push(Birth {
                at: told.at,
                origin: told.origin,
                session: told.what.session.clone(),
            });
        }
    }
    unseen
}

/// Adds what spans of a server tell that name neither session nor client (the Python SDK's own): nothing holds two of them
/// to be of one client, so they say as much as any other log of the server alone.
pub(super) fn of_spans(timelines: &[Timeline], unseen: &mut Unseen, runs: &mut Vec<Run>) {
    for timeline in timelines.iter().filter(|timeline| timeline.client.is_nobody()) {
        let alone = |contact: &Contact| {
            contact.session().is_none() && contact.seen.iter().all(|seen| seen.vantage == Vantage::ServerApp)
        };
        let opened =
            timeline.contacts.iter().filter(|contact| alone(contact) && contact.initialize().is_some());
        unseen.births.extend(opened.map(|contact| Birth {
            at: contact.start,
            origin: contact.origin(),
            session: None,
        }));
        let sent = timeline.sends.iter().filter(|send| alone(&timeline.contacts[send.contact]));
        runs.extend(sent.filter_map(|send| send.run.clone()));
    }
    unseen.births.sort_by_key(|birth| birth.at);
}

/// The timeline of nobody in particular that holds them, if there is anything to hold.
pub(super) fn timeline(mut unseen: Unseen, runs: Vec<Run>, tools: &Arc<Tools>) -> Option<Timeline> {
    unseen.runs = runs.into_iter().filter(|run| run.call.is_some() && run.started.is_some()).collect();
    unseen.runs.sort_by_key(|run| run.started.map(|(at, _)| at));
    let worth = !unseen.runs.is_empty() || !unseen.unsent.is_empty();
    worth.then(|| Timeline {
        client: Client::default(),
        contacts: Vec::new(),
        eras: Vec::new(),
        of_session: Vec::new(),
        sessions: Vec::new(),
        sends: Vec::new(),
        initializes: Vec::new(),
        streams: Vec::new(),
        reconnects: Vec::new(),
        tools: Arc::clone(tools),
        unseen,
    })
}
