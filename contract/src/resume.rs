//! Whether a server instance may answer a resume, and from where it replays (contract 3.3, 3.5).
//! Knows no HTTP and no storage; the log it replays from is `event_log`.

use std::fmt;

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
