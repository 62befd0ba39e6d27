//! Sessions: what belongs to one `Mcp-Session-Id`, from its first contact to what ended it.
//! Knows refusals and DELETEs; whether the client reacted rightly is for the rules.

use super::close;
use crate::event::{ClientInfo, Method, Nanos, RpcOutcome, Text};
use crate::join::Contact;
use crate::quick::HashMap;
use unbroken_contract::close::Close;
use unbroken_contract::era::{Era, EraFacts, era_of};

/// One session of a client.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// Its id: a bearer token.
    pub id: Text,
    /// Its contacts, in order.
    pub contacts: Vec<usize>,
    /// The `initialize` that opened it, if it was seen.
    pub opened: Option<usize>,
    /// The first 404 to it that the contract calls `SessionTerminated`.
    pub gone: Option<usize>,
    /// The first DELETE that ended it.
    pub deleted: Option<usize>,
    /// Protocol version of its `InitializeResult`, else of its requests.
    pub version: Option<Text>,
    /// `clientInfo` of its `initialize`.
    pub info: Option<ClientInfo>,
    /// When its first contact started.
    pub first: Nanos,
    /// It is known that an answered request made up for all that the client suffered on it, also where that request is not here.
    pub healed: bool,
}

/// Gathers sessions in the order of their first contact, and the session of each contact.
pub(super) fn gather(contacts: &[Contact]) -> (Vec<Session>, Vec<Option<usize>>) {
    let mut sessions: Vec<Session> = Vec::new();
    let mut by_id: HashMap<&str, usize> = HashMap::default();
    let mut of_session = Vec::with_capacity(contacts.len());
    for (at, contact) in contacts.iter().enumerate() {
        let Some(id) = contact.session() else {
            of_session.push(None);
            continue;
        };
        let index = *by_id.entry(id).or_insert_with(|| {
            sessions.push(Session { id: id.into(), first: contact.start, ..Session::default() });
            sessions.len() - 1
        });
        let session = &mut sessions[index];
        session.contacts.push(at);
        of_session.push(Some(index));
        if contact.opens() {
            session.opened.get_or_insert(at);
            session.info =
                contact.initialize().and_then(|r| r.initialize.as_ref()).and_then(|i| i.client.clone());
        }
        for (_, outcome, _) in contact.answers() {
            if let RpcOutcome::Initialized { protocol_version: Some(version), .. } = outcome {
                session.version.get_or_insert_with(|| version.clone());
            }
        }
        if session.version.is_none() && contact.accepted() {
            session.version.clone_from(&contact.exchange.request.protocol_version);
        }
    }
    for session in &mut sessions {
        if session.opened.is_none() {
            session.opened = Some(session.contacts[0]).filter(|first| minted(*first, session, contacts));
        }
    }
    (sessions, of_session)
}

/// Whether a session's first contact minted it, in a log that writes only the headers that were sent: a POST that shows
/// none was answered with the id which all that follows carries.
fn minted(first: usize, session: &Session, contacts: &[Contact]) -> bool {
    let contact = &contacts[first];
    contact.mints() && session.contacts[1..].iter().any(|at| contacts[*at].session_in().is_some())
}

/// The era of a contact (contract section 2).
pub(super) fn era(contact: &Contact, session: Option<&Session>) -> Option<Era> {
    let request = &contact.exchange.request;
    let in_meta = contact.requests().find_map(|asked| asked.protocol_version.as_deref());
    let refused = contact.exchange.status == Some(400)
        && contact
            .answers()
            .any(|(_, outcome, _)| matches!(outcome, RpcOutcome::Error { code: -32022..=-32020, .. }));
    era_of(&EraFacts {
        initialize: contact.initialize().is_some(),
        version_refused: refused,
        request_version: request.protocol_version.as_deref().or(in_meta),
        session_version: session.and_then(|session| session.version.as_deref()),
        session_id: contact.session().is_some(),
        get_stream: contact.exchange.method == Method::Get,
        initialized: session.is_some_and(|session| session.opened.is_some()),
        mcp_method: request.mcp_method.is_some(),
    })
}

/// Gives contacts of a log that keeps no session ids the era of the client's last handshake before them: the version
/// that its answer names, else the one that was asked for.
pub(super) fn eras_of_handshakes(contacts: &[Contact], eras: &mut [Option<Era>]) {
    let mut agreed = None;
    for (contact, era) in contacts.iter().zip(eras) {
        if let Some(asked) = contact.initialize() {
            let answered = contact.answers().find_map(|(_, outcome, _)| match outcome {
                RpcOutcome::Initialized { protocol_version, .. } => protocol_version.as_deref(),
                _ => None,
            });
            let wanted = asked.initialize.as_ref().and_then(|asked| asked.protocol_version.as_deref());
            agreed = answered.or(wanted).and_then(Era::of_revision);
        } else if era.is_none() && !contact.exchange.logged.session_in {
            *era = agreed;
        }
    }
}

/// Marks what ended each session.
pub(super) fn mark_ends(
    sessions: &mut [Session],
    contacts: &[Contact],
    of_session: &[Option<usize>],
    eras: &[Option<Era>],
) {
    for (at, contact) in contacts.iter().enumerate() {
        let (Some(session), Some(era)) = (of_session[at], eras[at]) else { continue };
        if contact.session_in().is_none() {
            continue;
        }
        let session = &mut sessions[session];
        match close::classify(contact, era, true) {
            Close::SessionTerminated => {
                session.gone.get_or_insert(at);
            }
            // Only an accepted DELETE ends it; a 404 to one says that it had ended before.
            Close::Ended { session_lives: false } => {
                session.deleted.get_or_insert(at);
            }
            _ => {}
        }
    }
}
