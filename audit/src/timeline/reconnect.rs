//! Reconnects: what the contract allowed after a close, what the client did, and what came of it.
//! Knows both verdicts of each; whether a departure is a breach is for the rules.
//!
//! A reconnect is a stream opened again after one of its connections had ended, or a session initialized after the client
//! suffered a close on the one before. A first listening stream, a session opened after a DELETE, and one session per call
//! by design are none.

use super::{Session, Stream, close};
use crate::event::Method;
use crate::join::Contact;
use unbroken_contract::action::Action;
use unbroken_contract::action::SessionId;
use unbroken_contract::close::Close;
use unbroken_contract::cursor::IdOrder;
use unbroken_contract::era::Era;
use unbroken_contract::next::{self, Awaited, Cursor, Situation, next_action};
use unbroken_contract::pace::Attempts;
use unbroken_contract::resend::Permission;
use unbroken_contract::token::{Claim, Owner, Resumed, ResumedEvent};
use unbroken_contract::verdict::{
    Answer, ResumptionVerdict, SessionVerdict, Verdicts, judge_reconnect, of_close,
};

/// One reconnect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reconnect {
    /// The contact whose close came before.
    pub before: usize,
    /// The GET or `initialize`.
    pub contact: usize,
    /// What the contract allowed (contract 3.2).
    pub due: Step,
    /// What the client did.
    pub did: Step,
    /// What came of it, for the session and for the stream (contract 3.4).
    pub verdicts: Verdicts,
}

impl Step {
    /// What it is, as a sentence says it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Step::Resume => "resume the stream with Last-Event-ID",
            Step::Reopen => "open a stream again on the same session",
            Step::Initialize => "initialize anew",
            Step::Stay => "keep the session and ask what became of the call",
        }
    }
}

impl Reconnect {
    /// Whether the client did what the contract allowed.
    #[must_use]
    pub fn as_due(&self) -> bool {
        self.due == self.did
    }
}

/// What a client may do, or did, after a close.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// GET with the last event id.
    Resume,
    /// GET without one.
    Reopen,
    /// `initialize`.
    Initialize,
    /// Neither: wait, ask, give up, or leave it.
    Stay,
}

/// Finds every reconnect of a client, in the order of the contacts that made them; `initializes`: those that may be one.
pub(super) fn gather(
    contacts: &[Contact],
    eras: &[Option<Era>],
    of_session: &[Option<usize>],
    sessions: &[Session],
    streams: &[Stream],
    initializes: impl Iterator<Item = usize>,
) -> Vec<Reconnect> {
    let mut found: Vec<Reconnect> =
        streams.iter().flat_map(|stream| of_stream(contacts, eras, sessions, stream)).collect();
    for at in initializes {
        let last = contacts[..at].iter().zip(of_session).rposition(|(_, session)| session.is_some());
        let Some(held) = last.and_then(|last| of_session[last]) else { continue };
        found.extend(of_initialize(contacts, eras, &sessions[held], at));
    }
    found.sort_by_key(|reconnect| reconnect.contact);
    found
}

fn of_stream(
    contacts: &[Contact],
    eras: &[Option<Era>],
    sessions: &[Session],
    stream: &Stream,
) -> Vec<Reconnect> {
    let mut attempts = Attempts::NONE;
    let mut found = Vec::new();
    for pair in stream.openings.windows(2) {
        let (before, after) = (&contacts[pair[0].contact], &contacts[pair[1].contact]);
        let Some(era) = eras[pair[0].contact] else { continue };
        // An event with a new id resets the count (contract 3.2).
        if before.events().iter().any(|event| event.id.is_some()) {
            attempts = Attempts::NONE;
        }
        let session = stream.session.map(|at| &*sessions[at].id);
        let now = Situation {
            session: session.map_or(next::Session::NeverIssued, |id| next::Session::Held(SessionId(id))),
            cursor: pair[1].cursor.as_deref().map_or(Cursor::NeverIssued, Cursor::InMemory),
            attempts,
            ..Situation::of(close::classify(before, era, true), era, awaited(before, stream))
        };
        let did = if pair[1].presented.is_some() { Step::Resume } else { Step::Reopen };
        found.push(Reconnect {
            before: pair[0].contact,
            contact: pair[1].contact,
            due: due(&now),
            did,
            verdicts: verdicts(
                after,
                eras[pair[1].contact].unwrap_or(era),
                session,
                pair[1].presented.as_deref(),
            ),
        });
        attempts = attempts.after_attempt();
    }
    found
}

/// What waited on the stream. Of calls it is not known here whether they may be sent again; for the stream it is the same.
fn awaited(before: &Contact, stream: &Stream) -> Awaited<'static> {
    if stream.listens {
        Awaited::Listening
    } else if before.exchange.method == Method::Post && before.calls().next().is_none() {
        Awaited::Answers
    } else {
        Awaited::Call(Permission::ByPersonOrModel)
    }
}

fn due(now: &Situation<'_>) -> Step {
    match next_action(now) {
        Ok(Action::Resume { .. } | Action::ReconnectAtHead { .. }) => Step::Resume,
        Ok(Action::Reconnect { .. }) => Step::Reopen,
        Ok(Action::Initialize { .. } | Action::Reinitialize { .. }) => Step::Initialize,
        _ => Step::Stay,
    }
}

fn verdicts(after: &Contact, era: Era, session: Option<&str>, presented: Option<&str>) -> Verdicts {
    if !after.accepted() {
        return of_close(&close::classify(after, era, true));
    }
    let answered = after.exchange.response.session.as_deref();
    let (Some(session), Some(cursor)) = (session, presented) else {
        let session = match (answered, session) {
            (None, _) | (_, None) => SessionVerdict::Unacknowledged,
            (Some(a), Some(b)) if a == b => SessionVerdict::Same,
            _ => SessionVerdict::Changed,
        };
        return Verdicts { session, resumption: ResumptionVerdict::Unproved };
    };
    let events =
        after.events().iter().map(|event| ResumedEvent { id: event.id.as_deref(), has_data: event.has_data });
    let events: Vec<ResumedEvent<'_>> = events.collect();
    // How this server orders its ids is not told: an id other than the cursor cannot be placed.
    let claim = Claim { owner: Owner::Session(session), cursor, fingerprint: None, order: IdOrder::Opaque };
    judge_reconnect(claim, &Answer::Stream(Resumed { session: answered, events: &events, context: None }))
}

/// An `initialize` after a close that the client suffered on the session it held.
fn of_initialize(contacts: &[Contact], eras: &[Option<Era>], held: &Session, at: usize) -> Option<Reconnect> {
    let mut suffered = None;
    for before in held.contacts.iter().copied().filter(|before| *before < at) {
        let Some(era) = eras[before] else { continue };
        let contact = &contacts[before];
        match close::classify(contact, era, true) {
            Close::Completed if contact.requests().next().is_some() => suffered = None,
            Close::Ended { .. } => return None,
            close @ (Close::Transport
            | Close::SessionTerminated
            | Close::ResumeRejected { .. }
            | Close::EventsLost { .. }) => {
                suffered = Some((before, era, close));
            }
            _ => {}
        }
    }
    let (before, era, close) = suffered?;
    // A log without bodies shows no cursor; what was allowed without one is allowed with one too.
    let cursor = contacts[before].events().iter().rev().find_map(|event| event.id.as_deref());
    let now = Situation {
        session: next::Session::Held(SessionId(&held.id)),
        cursor: cursor.filter(|id| !id.is_empty()).map_or(Cursor::NeverIssued, Cursor::InMemory),
        ..Situation::of(close, era, Awaited::Call(Permission::ByPersonOrModel))
    };
    let session = match close {
        Close::SessionTerminated => SessionVerdict::Terminated,
        _ => SessionVerdict::Changed,
    };
    let verdicts = Verdicts { session, resumption: ResumptionVerdict::Rejected };
    Some(Reconnect { before, contact: at, due: due(&now), did: Step::Initialize, verdicts })
}
