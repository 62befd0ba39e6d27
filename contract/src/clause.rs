//! The clauses of the contract by number and title, so that findings and pages can point at them.
//! Knows no text of a clause; the procedures themselves are the text.

use std::fmt;

/// A clause of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Clause {
    /// 1: connection, stream, session and outcome are four things.
    Things,
    /// 2: which revision speaks which era.
    Eras,
    /// 3.1: what did this side see?
    ClassifyClose,
    /// 3.2: what may the client do now?
    NextAction,
    /// 3.3: may this server instance answer this resume?
    AuthorizeResume,
    /// 3.4: may the client believe this resume?
    ValidateResume,
    /// 3.5: where does the replay start?
    ResolveCursor,
    /// 3.6: may a call be sent again?
    MayResend,
    /// 4: the breaches.
    Breaches,
    /// 5: what must not be reported.
    NotReported,
}

impl Clause {
    /// Every clause, in order.
    pub const ALL: [Clause; 10] = [
        Clause::Things,
        Clause::Eras,
        Clause::ClassifyClose,
        Clause::NextAction,
        Clause::AuthorizeResume,
        Clause::ValidateResume,
        Clause::ResolveCursor,
        Clause::MayResend,
        Clause::Breaches,
        Clause::NotReported,
    ];

    /// Its number, such as `3.2`.
    #[must_use]
    pub const fn number(self) -> &'static str {
        match self {
            Clause::Things => "1",
            Clause::Eras => "2",
            Clause::ClassifyClose => "3.1",
            Clause::NextAction => "3.2",
            Clause::AuthorizeResume => "3.3",
            Clause::ValidateResume => "3.4",
            Clause::ResolveCursor => "3.5",
            Clause::MayResend => "3.6",
            Clause::Breaches => "4",
            Clause::NotReported => "5",
        }
    }

    /// Its title.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Clause::Things => "connection, stream, session and outcome are four things",
            Clause::Eras => "which revision speaks which era",
            Clause::ClassifyClose => "what did this side see",
            Clause::NextAction => "what may the client do now",
            Clause::AuthorizeResume => "may this server instance answer this resume",
            Clause::ValidateResume => "may the client believe this resume",
            Clause::ResolveCursor => "where does the replay start",
            Clause::MayResend => "may a call be sent again",
            Clause::Breaches => "the breaches",
            Clause::NotReported => "what must not be reported",
        }
    }

    /// The clause with this number.
    #[must_use]
    pub fn from_number(number: &str) -> Option<Clause> {
        Clause::ALL.into_iter().find(|clause| clause.number() == number)
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "contract {}", self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_are_found_by_their_number() {
        for clause in Clause::ALL {
            assert_eq!(Clause::from_number(clause.number()), Some(clause));
        }
        assert_eq!(Clause::from_number("3"), None);
        assert_eq!(Clause::NextAction.to_string(), "contract 3.2");
        assert!(Clause::ALL.map(Clause::number).is_sorted());
    }
}
