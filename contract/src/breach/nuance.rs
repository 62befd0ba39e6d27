//! What the catalogue says of a breach besides its row: other levels, how often to tell it, and what goes before what.
//! Knows no finding; whoever has one asks with the circumstances it knows.

use super::{Breach, Level};
use crate::clause::Clause;

/// A circumstance under which a breach has another level than its default (contract 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Circumstance {
    /// `expired-session-kept`: the 404 came from an instance that never had the session.
    WrongInstance,
    /// `duplicate-invocation`: stateless era, and not both runs are proved.
    StatelessUnproved,
    /// `session-ended-on-transient`: seen in traffic, where the reason for the DELETE is not.
    SeenInTraffic,
    /// `ran-after-cancel`: the handler ended within five seconds of the close.
    SoonAfterCancel,
}

/// What one finding of a breach is told for, where that is coarser than one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Once {
    /// Once per cursor.
    PerCursor,
    /// Once per client type.
    PerClient,
}

/// Of several breaches of a client in one resume, only the first of these is told (contract 4, one story).
pub const CLIENT_RESUME: [Breach; 3] =
    [Breach::ResumeWithoutCursor, Breach::CursorOutlivesSession, Breach::CursorRegressed];

/// Of several breaches of a server in one resume, only the first of these is told (contract 4, one story).
pub const SERVER_RESUME: [Breach; 8] = [
    Breach::SessionRewritten,
    Breach::ForeignReplay,
    Breach::ResumeInOtherNamespace,
    Breach::ClampedCursor,
    Breach::ReplayGap,
    Breach::ReplayRepeats,
    Breach::UnownedResume,
    Breach::EmptyResume,
];

impl Breach {
    /// The other levels it can have, each with its circumstance.
    #[must_use]
    pub const fn exceptions(self) -> &'static [(Circumstance, Level)] {
        match self {
            Breach::ExpiredSessionKept => &[(Circumstance::WrongInstance, Level::Warn)],
            Breach::DuplicateInvocation => &[(Circumstance::StatelessUnproved, Level::Warn)],
            Breach::SessionEndedOnTransient => &[(Circumstance::SeenInTraffic, Level::Warn)],
            Breach::RanAfterCancel => &[(Circumstance::SoonAfterCancel, Level::Note)],
            _ => &[],
        }
    }

    /// Its level under these circumstances; one that does not bear on it changes nothing.
    #[must_use]
    pub fn level_under(self, circumstances: &[Circumstance]) -> Level {
        let applying = self.exceptions().iter().filter(|(when, _)| circumstances.contains(when));
        applying.map(|(_, level)| *level).min().unwrap_or(self.level())
    }

    /// How coarsely it is told; `None`: once for each place.
    #[must_use]
    pub const fn once(self) -> Option<Once> {
        match self {
            Breach::CursorNotPersisted => Some(Once::PerCursor),
            Breach::UncheckedResume => Some(Once::PerClient),
            _ => None,
        }
    }

    /// Whether, of two breaches of one party in one resume, this one is told and `other` is not.
    #[must_use]
    pub fn outranks(self, other: Breach) -> bool {
        [&CLIENT_RESUME[..], &SERVER_RESUME].into_iter().any(|ranks| {
            let rank = |breach| ranks.iter().position(|ranked| *ranked == breach);
            matches!((rank(self), rank(other)), (Some(a), Some(b)) if a < b)
        })
    }

    /// The clause that it breaks.
    #[must_use]
    pub const fn clause(self) -> Clause {
        match self {
            Breach::SessionDiscarded
            | Breach::ResumeWithoutCursor
            | Breach::CursorNotPersisted
            | Breach::CursorOutlivesSession
            | Breach::CursorRegressed
            | Breach::ExpiredSessionKept
            | Breach::UnboundedReconnect
            | Breach::RetryIgnored
            | Breach::SessionEndedOnTransient
            | Breach::PendingCallAbandoned
            | Breach::OrphanedSession => Clause::NextAction,
            Breach::EofTakenAsCompletion | Breach::UnknownSessionNot404 => Clause::ClassifyClose,
            Breach::BlindRetry | Breach::DuplicateInvocation | Breach::CallRetriedByProxy => {
                Clause::MayResend
            }
            Breach::UncheckedResume
            | Breach::ResumeInOtherNamespace
            | Breach::ReplayRepeats
            | Breach::ContextChanged => Clause::ValidateResume,
            Breach::UnownedResume
            | Breach::EmptyResume
            | Breach::SessionRewritten
            | Breach::SessionMisrouted => Clause::AuthorizeResume,
            Breach::ReplayGap | Breach::ClampedCursor | Breach::RetentionTooShort | Breach::ForeignReplay => {
                Clause::ResolveCursor
            }
            Breach::ReissueKeptId | Breach::RanAfterCancel => Clause::Eras,
            Breach::ResponseUndelivered | Breach::EventIdReused | Breach::RequestIdReused => Clause::Things,
        }
    }
}
