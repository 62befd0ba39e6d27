//! What the client may do after a close, or which proof is missing to do anything (contract 3.2).
//! Knows no connection and no storage; it is asked once per stream and answers from its arguments alone.

use std::time::Duration;

use crate::action::{Action, Cancel, Outcome, Refusal, SessionId};
use crate::close::Close;
use crate::era::Era;
use crate::pace::{Attempts, Pace, RetryPolicy, delay};
use crate::resend::Permission;

/// The session id, as the client has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Session<'a> {
    /// The server issued none; the era may be sessioned all the same.
    NeverIssued,
    /// Issued and held.
    Held(SessionId<'a>),
    /// Issued, and not held any more.
    Lost,
}

/// The cursor of one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cursor<'a> {
    /// No event of the stream had an id (or the last id was the empty one, which clears the cursor).
    NeverIssued,
    /// In storage: survives a restart.
    Persisted(&'a str),
    /// Held in the process that read it; [`Cursor::Lost`] after a restart. What an observer of the wire passes.
    InMemory(&'a str),
    /// Ids were issued, none is held.
    Lost,
}

impl<'a> Cursor<'a> {
    /// The id to resume after, if one is held.
    #[must_use]
    pub const fn held(self) -> Option<&'a str> {
        match self {
            Cursor::Persisted(id) | Cursor::InMemory(id) => Some(id),
            Cursor::NeverIssued | Cursor::Lost => None,
        }
    }

    /// The cursor after the process that read it is gone.
    #[must_use]
    pub const fn after_restart(self) -> Cursor<'a> {
        match self {
            Cursor::InMemory(_) => Cursor::Lost,
            kept => kept,
        }
    }
}

/// What is in flight on the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Awaited<'a> {
    /// The `initialize` response.
    Initialize,
    /// Nothing in particular: the listening GET.
    Listening,
    /// `subscriptions/listen` (stateless).
    Subscription,
    /// Responses to requests without side effect: `ping`, `*/list`, `*/read`, `tasks/get`.
    Answers,
    /// At least one `tools/call`, and what 3.6 says of sending it again. A GET that resumes a call's stream is this too.
    Call(Permission),
    /// The outcome of a task whose id is held.
    Task(&'a str),
    /// Nothing: a notification, a response, a DELETE.
    Nothing,
}

/// All that [`next_action`] asks about one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Situation<'a> {
    /// How it ended.
    pub close: Close<'a>,
    /// Its era.
    pub era: Era,
    /// The session id.
    pub session: Session<'a>,
    /// The cursor.
    pub cursor: Cursor<'a>,
    /// What is in flight.
    pub awaited: Awaited<'a>,
    /// Attempts since the last event with a new id.
    pub attempts: Attempts,
    /// How often and how fast.
    pub policy: RetryPolicy,
    /// What the server asked for, and the jitter.
    pub pace: Pace,
}

impl<'a> Situation<'a> {
    /// A fresh situation with the default policy; fill in the rest with struct update syntax.
    #[must_use]
    pub const fn of(close: Close<'a>, era: Era, awaited: Awaited<'a>) -> Situation<'a> {
        Situation {
            close,
            era,
            session: Session::NeverIssued,
            cursor: Cursor::NeverIssued,
            awaited,
            attempts: Attempts::NONE,
            policy: RetryPolicy::DEFAULT,
            pace: Pace { retry: None, retry_after: None, jitter: Duration::ZERO },
        }
    }

    pub(crate) const fn held_session(&self) -> Option<SessionId<'a>> {
        match self.session {
            Session::Held(id) => Some(id),
            Session::NeverIssued | Session::Lost => None,
        }
    }

    pub(crate) fn delay(&self) -> Duration {
        delay(&self.policy, self.attempts, &self.pace)
    }

    /// `action` while attempts remain. Every action that sends something again passes here, so that attempts are
    /// bounded whatever the server answers.
    fn bounded(&self, action: Action<'a>) -> Action<'a> {
        if self.attempts.count() < self.policy.max_attempts { action } else { self.give_up() }
    }

    fn give_up(&self) -> Action<'a> {
        let cancel = match self.awaited {
            Awaited::Call(_) if self.era == Era::Sessioned => Some(Cancel::Notify),
            // A task goes on and can be asked about later; `initialize` must not be cancelled (MCP, cancellation).
            _ => None,
        };
        Action::GiveUp { outcome: Outcome::Unknown, cancel }
    }
}

/// What may the client do now? The first row of contract 3.2 that fits; total, allocates nothing.
///
/// Three rows are read more strictly than they stand, for the laws' sake. Rows that send something again without a
/// bound of their own are bounded by the policy. A held task id is polled in the stateless era too, because its call
/// is never sent again. A call that provably never left ([`Permission::NotDispatched`]) is not in flight, so it is
/// sent and not reconciled.
///
/// # Errors
///
/// A [`Refusal`] names the proof that is missing.
pub fn next_action<'a>(now: &Situation<'a>) -> Result<Action<'a>, Refusal> {
    if now.era == Era::HttpSse {
        return Err(Refusal::OutOfScope);
    }
    if now.era == Era::Sessioned && now.session == Session::Lost {
        return Err(Refusal::NoSession);
    }
    match now.close {
        Close::Unseen => Err(Refusal::CloseUnseen),
        Close::Completed | Close::Ended { .. } => Ok(Action::Done),
        Close::Redirected => Ok(now.bounded(Action::Follow)),
        Close::Refused => Ok(Action::Surface),
        Close::Superseded => Ok(Action::Continue),
        Close::Unauthorized => Ok(after_unauthorized(now)),
        Close::StreamNotOffered { .. } => Ok(without_stream(now)),
        Close::Transport => after_transport(now),
        Close::Abandoned if now.era == Era::Stateless => Ok(reissue_or_reconcile(now)),
        Close::Abandoned => Ok(after_abandon(now)),
        // The stateless era has no session, no cursor and no resume to act on.
        _ if now.era == Era::Stateless => Ok(Action::Surface),
        Close::SessionTerminated => Ok(reinitialize(now, None)),
        Close::ResumeRejected { rejection, .. } if !rejection.is_about_cursor() => {
            Ok(reinitialize(now, now.held_session()))
        }
        Close::ResumeRejected { head, .. } | Close::EventsLost { head } => after_loss(now, head),
        Close::Conflict => same_get(now),
    }
}

fn after_transport<'a>(now: &Situation<'a>) -> Result<Action<'a>, Refusal> {
    match now.awaited {
        Awaited::Initialize => return Ok(now.bounded(Action::Initialize { delay: now.delay() })),
        Awaited::Task(task) => return Ok(now.bounded(Action::Poll { task, delay: now.delay() })),
        // Nobody waits for an answer, so nothing can be resumed; the caller knows whether to send it again.
        Awaited::Nothing => return Ok(Action::Surface),
        _ if now.era == Era::Stateless => return Ok(reissue_or_reconcile(now)),
        _ => {}
    }
    same_get(now)
}

/// The rows from "attempts used up" down: resume, reconnect, or name what is missing.
fn same_get<'a>(now: &Situation<'a>) -> Result<Action<'a>, Refusal> {
    if now.attempts.count() >= now.policy.max_attempts {
        return Ok(now.give_up());
    }
    let (session, delay) = (now.held_session(), now.delay());
    match now.cursor {
        Cursor::Persisted(last_event_id) | Cursor::InMemory(last_event_id) => {
            Ok(Action::Resume { session, last_event_id, delay })
        }
        Cursor::Lost => Err(Refusal::CursorNeverPersisted),
        Cursor::NeverIssued => Ok(match now.awaited {
            Awaited::Call(Permission::NotDispatched) | Awaited::Answers | Awaited::Subscription => {
                Action::Reissue { delay }
            }
            Awaited::Call(_) => Action::Reconcile,
            Awaited::Initialize => Action::Initialize { delay },
            Awaited::Task(task) => Action::Poll { task, delay },
            Awaited::Listening | Awaited::Nothing => Action::Reconnect { session, delay },
        }),
    }
}

/// Stateless: the closed stream was a request to cancel, so only 3.6 can allow another send.
fn reissue_or_reconcile<'a>(now: &Situation<'a>) -> Action<'a> {
    let again = Action::Reissue { delay: now.delay() };
    match now.awaited {
        Awaited::Subscription | Awaited::Answers => now.bounded(again),
        Awaited::Call(permission) if permission.is_automatic() => now.bounded(again),
        Awaited::Call(_) | Awaited::Task(_) => Action::Reconcile,
        // The era has no listening GET; POST goes on without it.
        Awaited::Listening | Awaited::Nothing | Awaited::Initialize => Action::Done,
    }
}

fn after_abandon<'a>(now: &Situation<'a>) -> Action<'a> {
    match now.awaited {
        Awaited::Task(task) => Action::Cancel(Cancel::Task(task)),
        Awaited::Call(_) | Awaited::Answers | Awaited::Subscription => Action::Cancel(Cancel::Notify),
        // Nothing to cancel, and `initialize` must not be cancelled (MCP, cancellation).
        Awaited::Initialize | Awaited::Listening | Awaited::Nothing => Action::Done,
    }
}

fn after_unauthorized<'a>(now: &Situation<'a>) -> Action<'a> {
    match now.bounded(Action::Reauthenticate { delay: now.delay() }) {
        // A refused credential kept the request from its handler (contract 3.6, first row).
        Action::GiveUp { .. } => Action::GiveUp { outcome: Outcome::NotRun, cancel: None },
        action => action,
    }
}

fn without_stream<'a>(now: &Situation<'a>) -> Action<'a> {
    match now.awaited {
        Awaited::Listening | Awaited::Nothing => Action::Done,
        Awaited::Task(task) => now.bounded(Action::Poll { task, delay: now.delay() }),
        _ => now.give_up(),
    }
}

/// A 404 is worth one attempt more than a cut: the specification's MUST goes before the count, and still a server
/// that answers every session with 404 is not asked for ever.
fn reinitialize<'a>(now: &Situation<'a>, delete: Option<SessionId<'a>>) -> Action<'a> {
    if now.attempts.count() > now.policy.max_attempts {
        return Action::Forget;
    }
    Action::Reinitialize { delete, delay: now.delay() }
}

fn after_loss<'a>(now: &Situation<'a>, head: Option<&'a str>) -> Result<Action<'a>, Refusal> {
    let last_event_id = head.ok_or(Refusal::NoHead)?;
    let (session, delay) = (now.held_session(), now.delay());
    Ok(now.bounded(Action::ReconnectAtHead { session, last_event_id, delay }))
}

#[cfg(test)]
mod tests;
