//! The two verdicts of a reconnect: on the session and on the resumption (contract 3.4).
//! Knows no stream; a 200 with a replayed stream is no proof of either.

use crate::close::Close;
use crate::resume::Rejection;
use crate::token::{Belief, Claim, Disproof, Owner, Resumed, validate_resume};

/// What a reconnect shows of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SessionVerdict {
    /// The response names the same session, or the server named it when it rejected the cursor.
    Same,
    /// Nothing in the response names a session.
    Unacknowledged,
    /// It is another session, or the same id with another context.
    Changed,
    /// The server dropped it.
    Terminated,
}

/// What a reconnect shows of the resumption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResumptionVerdict {
    /// The stream goes on strictly after the cursor.
    Proved,
    /// It may; messages may be read, calls in flight stay unknown until answered.
    Unproved,
    /// It does not: read nothing more.
    Failed,
    /// The server refused it.
    Rejected,
}

/// Both verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Verdicts {
    /// On the session.
    pub session: SessionVerdict,
    /// On the resumption.
    pub resumption: ResumptionVerdict,
}

/// How a resume was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// With a stream: what has been read of it.
    Stream(Resumed<'a>),
    /// Otherwise: how the exchange closed.
    Closed(Close<'a>),
}

/// Both verdicts on one reconnect (contract 3.4); total.
#[must_use]
pub fn judge_reconnect<'a>(claim: impl Into<Claim<'a>>, answer: &Answer<'_>) -> Verdicts {
    let claim = claim.into();
    match answer {
        Answer::Stream(resumed) => {
            let belief = validate_resume(claim, resumed);
            Verdicts { session: session_of(claim, resumed, belief), resumption: belief.verdict() }
        }
        Answer::Closed(close) => of_close(close),
    }
}

fn session_of(claim: Claim<'_>, resumed: &Resumed<'_>, belief: Belief) -> SessionVerdict {
    match (claim.owner, resumed.session) {
        _ if belief == Belief::Failed(Disproof::ContextMismatch) => SessionVerdict::Changed,
        (_, None) => SessionVerdict::Unacknowledged,
        (Owner::Session(held), Some(named)) if held == named => SessionVerdict::Same,
        (_, Some(_)) => SessionVerdict::Changed,
    }
}

/// The verdicts on a resume that was not answered with a stream.
#[must_use]
pub const fn of_close(close: &Close<'_>) -> Verdicts {
    match close {
        Close::SessionTerminated | Close::Superseded | Close::Ended { session_lives: false } => {
            Verdicts { session: SessionVerdict::Terminated, resumption: ResumptionVerdict::Rejected }
        }
        Close::ResumeRejected { rejection, .. } => of_rejection(*rejection),
        Close::EventsLost { .. }
        | Close::StreamNotOffered { .. }
        | Close::Conflict
        | Close::Refused
        | Close::Ended { session_lives: true } => {
            Verdicts { session: SessionVerdict::Unacknowledged, resumption: ResumptionVerdict::Rejected }
        }
        Close::Completed
        | Close::Abandoned
        | Close::Unauthorized
        | Close::Redirected
        | Close::Transport
        | Close::Unseen => {
            Verdicts { session: SessionVerdict::Unacknowledged, resumption: ResumptionVerdict::Unproved }
        }
    }
}

/// The verdicts on a rejection by name. The session is checked before the cursor (contract 3.3), so a rejected cursor
/// acknowledges the session.
#[must_use]
pub const fn of_rejection(rejection: Rejection) -> Verdicts {
    let session = match rejection {
        Rejection::UnknownSession => SessionVerdict::Terminated,
        // It lives, elsewhere.
        Rejection::NotOwner => SessionVerdict::Unacknowledged,
        Rejection::ContextMismatch => SessionVerdict::Changed,
        _ => SessionVerdict::Same,
    };
    Verdicts { session, resumption: ResumptionVerdict::Rejected }
}

#[cfg(test)]
mod tests;
