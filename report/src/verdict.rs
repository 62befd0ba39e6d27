//! What a run is worth as a whole: the exit code.
//! Knows counts, not findings; a mistake in usage (exit code 2) never gets as far as a verdict.

use crate::summary::Summary;
use unbroken_contract::Level;

/// From which level on findings fail a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailOn {
    /// Any finding.
    Note,
    /// `warn` and `deny`.
    Warn,
    /// `deny` alone.
    #[default]
    Deny,
    /// No finding; unreadable input and an empty run still show in the exit code.
    Never,
}

/// The outcome of a run. The first that fits, from top to bottom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Findings at or above the level asked for, also when some input could not be read.
    Found,
    /// Some input could not be read, so a clean result is not shown.
    Unreadable,
    /// There was nothing to check.
    NothingChecked,
    /// Everything was read and nothing found.
    Clean,
}

impl Verdict {
    /// The verdict on a run.
    #[must_use]
    pub fn on(summary: &Summary, fail_on: FailOn) -> Verdict {
        let least = match fail_on {
            FailOn::Note => Some(Level::Note),
            FailOn::Warn => Some(Level::Warn),
            FailOn::Deny => Some(Level::Deny),
            FailOn::Never => None,
        };
        let at_least = |least: Level| {
            [Level::Note, Level::Warn, Level::Deny]
                .into_iter()
                .filter(|level| *level >= least)
                .any(|level| summary.findings_of(level) > 0)
        };
        if least.is_some_and(at_least) {
            Verdict::Found
        } else if summary.lost() > 0 {
            Verdict::Unreadable
        } else if !summary.checked() {
            Verdict::NothingChecked
        } else {
            Verdict::Clean
        }
    }

    /// The exit code: the same in every format.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Verdict::Clean => 0,
            Verdict::Found => 1,
            Verdict::NothingChecked => 3,
            Verdict::Unreadable => 4,
        }
    }

    /// The word used in output.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Verdict::Clean => "clean",
            Verdict::Found => "found",
            Verdict::NothingChecked => "nothing-checked",
            Verdict::Unreadable => "unreadable",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exhibit::{Exhibit, Spot};
    use crate::summary::{Count, Problem, Seen};
    use unbroken_contract::Breach;

    fn summary(count: Count, lost: bool, checked: u64) -> Summary {
        let exhibit = Exhibit { path: "a.log".into(), spot: Spot::Line(1) };
        let problem = Problem { exhibit, message: String::new(), help: String::new(), count: 1, lost };
        Summary {
            counts: [(Breach::BlindRetry, count)].into(),
            problems: vec![problem],
            seen: Seen::Code { files_seen: checked, files_checked: checked, files_apart: 0, crates: 1 },
            ..Summary::default()
        }
    }

    #[test]
    fn findings_outrank_unreadable_input_which_outranks_an_empty_run() {
        let deny = Count { deny: 1, ..Count::default() };
        assert_eq!(Verdict::on(&summary(deny, true, 1), FailOn::Deny), Verdict::Found);
        assert_eq!(Verdict::on(&summary(deny, true, 1), FailOn::Never), Verdict::Unreadable);
        assert_eq!(Verdict::on(&summary(Count::default(), true, 0), FailOn::Deny), Verdict::Unreadable);
        assert_eq!(Verdict::on(&summary(Count::default(), false, 0), FailOn::Deny), Verdict::NothingChecked);
        assert_eq!(Verdict::on(&summary(Count::default(), false, 1), FailOn::Deny), Verdict::Clean);
    }

    #[test]
    fn a_log_that_shows_no_mcp_is_not_checked_and_a_programs_own_log_is() {
        let seen = |exchanges, not_judged, span| Seen::Traffic {
            sessions: 0,
            reconnects: 0,
            resumes: 0,
            calls: 0,
            exchanges,
            not_judged,
            span,
        };
        let on = |seen| Verdict::on(&Summary { seen, ..summary(Count::default(), false, 0) }, FailOn::Deny);
        assert_eq!(on(seen(0, 0, None)), Verdict::NothingChecked);
        assert_eq!(on(seen(3, 3, Some((1, 2)))), Verdict::NothingChecked);
        assert_eq!(on(seen(3, 2, Some((1, 2)))), Verdict::Clean);
        assert_eq!(on(seen(0, 0, Some((1, 2)))), Verdict::Clean);
    }

    #[test]
    fn only_levels_at_or_above_the_bound_fail() {
        let warn = summary(Count { warn: 1, ..Count::default() }, false, 1);
        let note = summary(Count { note: 1, ..Count::default() }, false, 1);
        for (fail_on, warns, notes) in [
            (FailOn::Note, true, true),
            (FailOn::Warn, true, false),
            (FailOn::Deny, false, false),
            (FailOn::Never, false, false),
        ] {
            assert_eq!(Verdict::on(&warn, fail_on) == Verdict::Found, warns, "{fail_on:?}");
            assert_eq!(Verdict::on(&note, fail_on) == Verdict::Found, notes, "{fail_on:?}");
        }
    }
}
