//! What a client may do after a close, and the refusals that name a missing proof (contract 3.2).
//! Knows no close and decides nothing; choosing among these is `next`.

use std::fmt;
use std::time::Duration;

/// A session id. It is a bearer token, so `Debug` does not show it; what sends it takes the text out.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SessionId<'a>(pub &'a str);

impl fmt::Debug for SessionId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionId(..)")
    }
}

/// What the client may do. Everything but `Reinitialize` and `Forget` keeps the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action<'a> {
    /// Nothing is left to do on this stream. After a DELETE the client lets go of session id and cursor
    /// ([`Hold::end`](crate::Hold::end)).
    Done,
    /// Follow the redirect with the same method, body and headers.
    Follow,
    /// Send `initialize` again: nothing was lost.
    Initialize {
        /// Wait this long first.
        delay: Duration,
    },
    /// Send the request again with a **new** JSON-RPC id.
    Reissue {
        /// Wait this long first.
        delay: Duration,
    },
    /// Ask what became of the call (`tasks/get`, a read-only tool, a person); never send it.
    Reconcile,
    /// Ask for the task's state with `tasks/get`; never send the call.
    Poll {
        /// The task.
        task: &'a str,
        /// Wait this long first.
        delay: Duration,
    },
    /// Stop, tell the caller what is known of the outcome, and send no DELETE.
    GiveUp {
        /// What is known.
        outcome: Outcome,
        /// What to cancel on the server.
        cancel: Option<Cancel<'a>>,
    },
    /// GET with `Last-Event-ID`.
    Resume {
        /// The session, if one was issued.
        session: Option<SessionId<'a>>,
        /// The cursor.
        last_event_id: &'a str,
        /// Wait this long first.
        delay: Duration,
    },
    /// A listening GET without cursor: no event ever had an id.
    Reconnect {
        /// The session, if one was issued.
        session: Option<SessionId<'a>>,
        /// Wait this long first.
        delay: Duration,
    },
    /// GET with the head the server advertises, in place of the old cursor; reconcile what fell into the gap.
    ReconnectAtHead {
        /// The session, if one was issued.
        session: Option<SessionId<'a>>,
        /// The advertised head.
        last_event_id: &'a str,
        /// Wait this long first.
        delay: Duration,
    },
    /// Tell the server that nobody waits.
    Cancel(Cancel<'a>),
    /// Drop session id and cursor together, send `initialize` without a session header, reconcile, plan again.
    Reinitialize {
        /// End this session with a DELETE: the server still has it, or may have.
        delete: Option<SessionId<'a>>,
        /// Wait this long first.
        delay: Duration,
    },
    /// Drop session id and cursor together and tell the caller: new sessions are terminated as fast as they are made.
    Forget,
    /// Renew the credential, then send the same request.
    Reauthenticate {
        /// Wait this long first.
        delay: Duration,
    },
    /// Give the error to the caller; nothing is dropped.
    Surface,
    /// Go on with the session held.
    Continue,
}

/// What is known of a call when the client gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Nothing: it may have run, run still, or never run.
    Unknown,
    /// It never reached the handler.
    NotRun,
}

/// How to cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cancel<'a> {
    /// `notifications/cancelled` with the open request's id.
    Notify,
    /// `tasks/cancel`.
    Task(&'a str),
}

/// Why nothing may be done: the name of the missing proof (contract 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// A session was issued and none is held.
    NoSession,
    /// Ids were issued and no cursor is held: resuming is impossible, a blind retry may repeat a side effect.
    CursorNeverPersisted,
    /// Events are lost and no safe place to continue is known: reconcile, then the caller may re-initialize.
    NoHead,
    /// The close itself was not recorded ([`Close::Unseen`](crate::Close::Unseen)).
    CloseUnseen,
    /// The two-endpoint transport is not judged (contract 2).
    OutOfScope,
}

impl Refusal {
    /// Every refusal.
    pub const ALL: [Refusal; 5] = [
        Refusal::NoSession,
        Refusal::CursorNeverPersisted,
        Refusal::NoHead,
        Refusal::CloseUnseen,
        Refusal::OutOfScope,
    ];
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::NoSession => "a session was issued and its id is not held",
            Refusal::CursorNeverPersisted => "event ids were issued and no cursor is held",
            Refusal::NoHead => "events are lost and the server names no place to continue",
            Refusal::CloseUnseen => "how the exchange ended is not recorded",
            Refusal::OutOfScope => "the two-endpoint transport is not judged",
        })
    }
}

impl std::error::Error for Refusal {}

impl Action<'_> {
    /// Whether the session id is still held afterwards. Only `Reinitialize` and `Forget` drop it.
    #[must_use]
    pub const fn keeps_session(&self) -> bool {
        !matches!(self, Action::Reinitialize { .. } | Action::Forget)
    }

    /// Whether the cursor is still held afterwards. Dropping a session drops its cursor.
    #[must_use]
    pub const fn keeps_cursor(&self) -> bool {
        self.keeps_session() && !matches!(self, Action::ReconnectAtHead { .. })
    }

    /// Whether this is one more attempt, to be counted with [`Attempts::after_attempt`](crate::Attempts::after_attempt).
    #[must_use]
    pub const fn is_attempt(&self) -> bool {
        self.delay().is_some() || matches!(self, Action::Follow)
    }

    /// How long to wait first; `None` where nothing is sent again.
    #[must_use]
    pub const fn delay(&self) -> Option<Duration> {
        match *self {
            Action::Initialize { delay }
            | Action::Reissue { delay }
            | Action::Poll { delay, .. }
            | Action::Resume { delay, .. }
            | Action::Reconnect { delay, .. }
            | Action::ReconnectAtHead { delay, .. }
            | Action::Reinitialize { delay, .. }
            | Action::Reauthenticate { delay } => Some(delay),
            _ => None,
        }
    }

    /// Whether calls in flight have to be asked about: their outcome is not going to arrive on this stream.
    #[must_use]
    pub const fn must_reconcile(&self) -> bool {
        matches!(
            self,
            Action::Reconcile
                | Action::GiveUp { outcome: Outcome::Unknown, .. }
                | Action::ReconnectAtHead { .. }
                | Action::Reinitialize { .. }
                | Action::Forget
        )
    }
}
