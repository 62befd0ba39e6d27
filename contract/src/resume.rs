//! Whether a server instance may answer a resume, and from where it replays (contract 3.3, 3.5).
//! Knows no HTTP and no storage; the log it replays from is `event_log`.

use std::fmt;
use std::time::Duration;

use crate::cursor::{EventId, SessionMark};
use crate::event_log::{EventLog, Window};
use crate::token::Fingerprint;
use crate::verdict::{ResumptionVerdict, SessionVerdict, Verdicts, of_rejection};

/// Why a resume is refused (contract 3.3 and 3.5). Sent as a JSON-RPC error, never as a clean empty stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rejection {
    /// No record of the session here, and none replicated.
    UnknownSession,
    /// Another instance owns the session.
    NotOwner,
    /// The log does not hold the cursor.
    CursorUnknown,
    /// Events after the cursor are missing.
    LogNotContiguous,
    /// Protocol version or capabilities differ from those the session was negotiated with.
    ContextMismatch,
    /// Issued to another session, or its own stream part contradicts the sequence asked for.
    ForeignCursor,
    /// Several sequences, and the cursor names none.
    AmbiguousCursor,
    /// Older than what is retained.
    BelowFloor,
    /// Newer than anything issued.
    AboveHead,
}

impl Rejection {
    /// Every rejection, in the order of the contract.
    pub const ALL: [Rejection; 9] = [
        Rejection::UnknownSession,
        Rejection::NotOwner,
        Rejection::CursorUnknown,
        Rejection::LogNotContiguous,
        Rejection::ContextMismatch,
        Rejection::ForeignCursor,
        Rejection::AmbiguousCursor,
        Rejection::BelowFloor,
        Rejection::AboveHead,
    ];

    /// The name, as it stands in the error's `data.reason`.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Rejection::UnknownSession => "UnknownSession",
            Rejection::NotOwner => "NotOwner",
            Rejection::CursorUnknown => "CursorUnknown",
            Rejection::LogNotContiguous => "LogNotContiguous",
            Rejection::ContextMismatch => "ContextMismatch",
            Rejection::ForeignCursor => "ForeignCursor",
            Rejection::AmbiguousCursor => "AmbiguousCursor",
            Rejection::BelowFloor => "BelowFloor",
            Rejection::AboveHead => "AboveHead",
        }
    }

    /// The rejection with this `data.reason`. The code alone tells nothing: -32000 to -32019 are any server's own.
    #[must_use]
    pub fn from_reason(reason: &str) -> Option<Rejection> {
        Rejection::ALL.into_iter().find(|rejection| rejection.reason() == reason)
    }

    /// The JSON-RPC error code, within -32000..=-32019 (contract 3.3).
    #[must_use]
    pub const fn code(self) -> i64 {
        -32010 - self as i64
    }

    /// The HTTP status: 404 only where the session itself is not here (contract 3.3).
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Rejection::UnknownSession | Rejection::NotOwner => 404,
            _ => 400,
        }
    }

    /// Whether the cursor is at fault and the session is not: handled as lost events (contract 3.2).
    #[must_use]
    pub const fn is_about_cursor(self) -> bool {
        !matches!(self, Rejection::UnknownSession | Rejection::NotOwner | Rejection::ContextMismatch)
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rejection::UnknownSession => "no record of this session here, and none replicated",
            Rejection::NotOwner => "another instance owns this session",
            Rejection::CursorUnknown => "the event log does not hold this cursor",
            Rejection::LogNotContiguous => "events after the cursor are missing from the log",
            Rejection::ContextMismatch => "protocol version or capabilities differ from the session's",
            Rejection::ForeignCursor => "the cursor was issued to another session or stream",
            Rejection::AmbiguousCursor => "the session has several streams and the cursor names none",
            Rejection::BelowFloor => "the cursor is older than what is retained",
            Rejection::AboveHead => "the cursor is newer than anything issued",
        })
    }
}

impl std::error::Error for Rejection {}

/// Whether this instance may speak for the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Record {
    /// No record here, and none replicated.
    Missing,
    /// Another instance owns it.
    OwnedElsewhere,
    /// This instance owns it, or holds a replica it may serve. Also where the server issues no session ids.
    Owned,
}

/// One consistent view of what this instance holds, taken before the first replayed event (contract 3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct View {
    /// Who owns the session.
    pub record: Record,
    /// The log can tell what the cursor is: its form is known and so is the stream it names.
    pub cursor_known: bool,
    /// No event between the cursor and the head is missing.
    pub contiguous: bool,
    /// The fingerprint of the session's context is the one it was negotiated with.
    pub same_context: bool,
}

/// May this instance answer the resume? The first check of contract 3.3 that fails; total.
///
/// # Errors
///
/// The [`Rejection`] to send: [`Rejection::status`], [`Rejection::code`] and [`Rejection::reason`].
pub const fn authorize_resume(view: &View) -> Result<(), Rejection> {
    match view.record {
        Record::Missing => return Err(Rejection::UnknownSession),
        Record::OwnedElsewhere => return Err(Rejection::NotOwner),
        Record::Owned => {}
    }
    if !view.cursor_known {
        return Err(Rejection::CursorUnknown);
    }
    if !view.contiguous {
        return Err(Rejection::LogNotContiguous);
    }
    if !view.same_context {
        return Err(Rejection::ContextMismatch);
    }
    Ok(())
}

/// Where a replay starts: strictly after this number of this stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// The stream.
    pub stream: u64,
    /// The cursor's own number.
    pub after: u64,
}

/// What a session's log retains, as [`resolve_cursor`] asks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Retained<'a> {
    /// The mark in the session's own event ids, where it has one.
    pub mark: Option<SessionMark>,
    /// Its streams.
    pub windows: &'a [Window],
}

/// Where does the replay start? The first refusal of contract 3.5 that fits; never the floor in place of a cursor
/// below it. `log`: `None` where the session is unknown. `asked`: the stream asked for, where the request names one.
///
/// A cursor one below the floor is not below it: everything after it is retained.
///
/// # Errors
///
/// The [`Rejection`] to send.
pub fn resolve_cursor(
    log: Option<&Retained<'_>>,
    asked: Option<u64>,
    cursor: &EventId,
) -> Result<Position, Rejection> {
    let log = log.ok_or(Rejection::UnknownSession)?;
    if cursor.session.is_some() && cursor.session != log.mark {
        return Err(Rejection::ForeignCursor);
    }
    if let (Some(asked), Some(named)) = (asked, cursor.stream)
        && asked != named
    {
        return Err(Rejection::ForeignCursor);
    }
    let window = match (cursor.stream, log.windows) {
        (None, [] | [_]) => log.windows.first().filter(|window| asked.is_none_or(|s| s == window.stream)),
        (None, _) => return Err(Rejection::AmbiguousCursor),
        (Some(stream), windows) => windows.iter().find(|window| window.stream == stream),
    };
    // A stream this session never had: whoever issued the cursor, it was not this log.
    let window = window.ok_or(Rejection::ForeignCursor)?;
    if cursor.sequence.saturating_add(1) < window.floor {
        return Err(Rejection::BelowFloor);
    }
    if cursor.sequence > window.head {
        return Err(Rejection::AboveHead);
    }
    Ok(Position { stream: window.stream, after: cursor.sequence })
}

/// The least time events have to be retained: the session's idle TTL minus the client's longest backoff
/// (contract 3.5), for a client whose session is still alive when it comes back has to find them.
#[must_use]
pub const fn least_retention(idle_ttl: Duration, longest_backoff: Duration) -> Duration {
    idle_ttl.saturating_sub(longest_backoff)
}

/// A resume as the server received it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResumeRequest<'a> {
    /// `Last-Event-ID`.
    pub last_event_id: &'a str,
    /// The stream asked for, where the endpoint tells streams apart.
    pub stream: Option<u64>,
    /// Who owns the session.
    pub record: Record,
    /// The context the session was negotiated with, and the one it has here now.
    pub contexts: (Fingerprint, Fingerprint),
}

/// The answer to a resume: both verdicts, and what to replay or why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Resumption {
    /// What is known of the session and of the resumption.
    pub verdicts: Verdicts,
    /// Replay with [`EventLog::after`] from here, or send the rejection.
    pub position: Result<Position, Rejection>,
}

impl Resumption {
    const fn rejected(rejection: Rejection) -> Resumption {
        Resumption { verdicts: of_rejection(rejection), position: Err(rejection) }
    }
}

/// Authorize, resolve, and say from where to replay, with both verdicts (contract 3.5). `log`: `None` where this
/// instance has none for the session.
#[must_use]
pub fn resume_stream<E>(request: &ResumeRequest<'_>, log: Option<&EventLog<E>>) -> Resumption {
    let cursor = EventId::parse(request.last_event_id);
    let windows: Vec<Window> = log.map(|log| log.windows().collect()).unwrap_or_default();
    let retained = log.map(|log| Retained { mark: log.mark(), windows: &windows });
    let resolved = cursor.map(|cursor| resolve_cursor(retained.as_ref(), request.stream, &cursor));
    let view = View {
        record: if log.is_none() && request.record == Record::Owned {
            Record::Missing
        } else {
            request.record
        },
        cursor_known: cursor.is_some(),
        contiguous: match (log, resolved) {
            (Some(log), Some(Ok(position))) => log.is_contiguous_after(position.stream, position.after),
            // A cursor that has no place has no events after it; 3.5 says why.
            _ => true,
        },
        same_context: request.contexts.0 == request.contexts.1,
    };
    if let Err(rejection) = authorize_resume(&view) {
        return Resumption::rejected(rejection);
    }
    match resolved.unwrap_or(Err(Rejection::CursorUnknown)) {
        Err(rejection) => Resumption::rejected(rejection),
        Ok(position) => Resumption {
            verdicts: Verdicts { session: SessionVerdict::Same, resumption: ResumptionVerdict::Proved },
            position: Ok(position),
        },
    }
}

#[cfg(test)]
mod tests;
