//! Every way to break the contract: id, one line, who can see it, what it rests on, how bad it is by default.
//! Knows no code and no log; a breach is named here once and means the same in the lint, the audit and every format.

use std::fmt;

mod nuance;

pub use nuance::{CLIENT_RESUME, Circumstance, Once, SERVER_RESUME};

/// How bad a breach is, from least to worst. Certainty is another field, held by the finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Told for information, never fails a run by default.
    Note,
    /// Worth mending; fails a run only where asked for.
    Warn,
    /// A session, an event or the outcome of a call is lost, or a call runs twice.
    Deny,
}

/// What a breach rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Basis {
    /// A MUST of the MCP specification, or of an RFC it rests on.
    Must,
    /// A SHOULD of the MCP specification.
    Should,
    /// A rule of this contract.
    Contract,
}

/// Which half of the program can see a breach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Halves {
    /// Only in code.
    Lint,
    /// Only in traffic.
    Audit,
    /// In both.
    Both,
}

macro_rules! breaches {
    ($($variant:ident $id:literal $halves:ident $basis:ident $level:ident $line:literal;)*) => {
        /// A breach of the contract (section 4). The id never changes its meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Breach {
            $(#[doc = $line] $variant,)*
        }

        impl Breach {
            /// Every breach, in the order of the catalogue.
            pub const ALL: &'static [Breach] = &[$(Breach::$variant),*];

            /// The id used in code, logs and every output format.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Breach::$variant => $id),* }
            }

            /// The mistake in one line.
            #[must_use]
            pub const fn line(self) -> &'static str {
                match self { $(Breach::$variant => $line),* }
            }

            /// Which half can see it.
            #[must_use]
            pub const fn halves(self) -> Halves {
                match self { $(Breach::$variant => Halves::$halves),* }
            }

            /// What it rests on.
            #[must_use]
            pub const fn basis(self) -> Basis {
                match self { $(Breach::$variant => Basis::$basis),* }
            }

            /// How bad it is unless configured or known to be otherwise.
            #[must_use]
            pub const fn level(self) -> Level {
                match self { $(Breach::$variant => Level::$level),* }
            }
        }
    };
}

breaches! {
    SessionDiscarded "session-discarded" Both Contract Deny "a session is dropped although the server never ended it";
    ResumeWithoutCursor "resume-without-cursor" Both Should Deny "a stream that delivered event ids is reopened without Last-Event-ID";
    CursorNotPersisted "cursor-not-persisted" Lint Contract Warn "the cursor never reaches storage, so a restart loses it";
    CursorOutlivesSession "cursor-outlives-session" Both Contract Deny "a cursor is kept when the session that issued it is gone, or shared by several streams";
    CursorRegressed "cursor-regressed" Audit Contract Deny "Last-Event-ID is older than the last event the client had";
    EofTakenAsCompletion "eof-taken-as-completion" Both Contract Deny "the end of a stream is taken for the end of a call";
    ExpiredSessionKept "expired-session-kept" Both Must Deny "a session answered with 404 is used again and nothing re-initializes";
    BlindRetry "blind-retry" Both Should Deny "a tools/call is sent again although its first outcome is unknown";
    DuplicateInvocation "duplicate-invocation" Audit Contract Deny "a tool call that had reached a server was sent again with its outcome unknown";
    ResponseUndelivered "response-undelivered" Audit Contract Warn "a call reached a server and its response was never delivered";
    UnboundedReconnect "unbounded-reconnect" Both Contract Warn "reconnects have no limit and no growing delay";
    RetryIgnored "retry-ignored" Both Must Warn "a reconnect comes earlier than the server's retry or Retry-After";
    UncheckedResume "unchecked-resume" Lint Contract Warn "a resumed response is believed without comparing its session or placing its first event";
    ResumeInOtherNamespace "resume-in-other-namespace" Audit Contract Deny "a resumed response belongs to another session";
    ReplayGap "replay-gap" Audit Contract Deny "an event between the cursor and the first replayed one is missing";
    ReplayRepeats "replay-repeats" Audit Contract Warn "an event at or before the cursor is delivered again";
    ClampedCursor "clamped-cursor" Both Contract Deny "a cursor too old or unknown is answered from the start of the buffer";
    UnownedResume "unowned-resume" Both Contract Deny "a resume is answered without owning the session";
    EmptyResume "empty-resume" Both Contract Deny "a resume is answered 200 and ends without an event although the stream had not ended";
    SessionRewritten "session-rewritten" Audit Contract Deny "behind a proxy, a resume reaches another upstream session than its cursor's";
    ContextChanged "context-changed" Audit Contract Deny "a second protocol version or set of capabilities within a live session";
    SessionEndedOnTransient "session-ended-on-transient" Both Contract Deny "a session is deleted because of a transient error";
    PendingCallAbandoned "pending-call-abandoned" Both Contract Warn "a re-initialization or reconnect leaves waiting calls without an answer";
    UnknownSessionNot404 "unknown-session-not-404" Audit Must Warn "a session known to be dead is answered with something else than 404";
    RetentionTooShort "retention-too-short" Audit Contract Warn "a cursor is refused while its session is alive";
    ForeignReplay "foreign-replay" Audit Must Deny "an event or response of another stream is replayed";
    EventIdReused "event-id-reused" Audit Must Warn "one SSE event id is used on two streams of a session";
    SessionMisrouted "session-misrouted" Audit Contract Deny "a session reached an instance that does not know it while another does";
    RequestIdReused "request-id-reused" Audit Must Warn "one JSON-RPC id is used for two requests in a session";
    ReissueKeptId "reissue-kept-id" Both Must Warn "a stateless request is sent again with the id of one still unanswered";
    CallRetriedByProxy "call-retried-by-proxy" Audit Must Deny "a proxy delivered one tools/call more than once";
    RanAfterCancel "ran-after-cancel" Audit Should Warn "a handler ran on after its stateless stream was closed";
    OrphanedSession "orphaned-session" Audit Contract Note "a session is left open while the same client opens another";
}

impl Breach {
    /// The breach with this id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Breach> {
        Breach::ALL.iter().copied().find(|breach| breach.id() == id)
    }

    /// Whether `half` (never [`Halves::Both`]) can see it.
    #[must_use]
    pub fn seen_by(self, half: Halves) -> bool {
        self.halves() == half || self.halves() == Halves::Both
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl Level {
    /// The word used in options and output.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Level::Note => "note",
            Level::Warn => "warn",
            Level::Deny => "deny",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

#[cfg(test)]
mod tests;
