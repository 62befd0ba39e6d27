//! Which findings the code itself accepts, and which acceptances accept nothing.
//! Knows places and names of rules; never why a finding is one.

use crate::facts::Acceptance;
use crate::finding::{Finding, Problem, Range};
use crate::marks::{id_of, meant, nearest_rule};
use std::path::Path;
use unbroken_contract::{Breach, Halves};

/// What is left of a file's findings.
#[derive(Debug, Default)]
pub struct Accepted {
    /// Findings that nothing accepts.
    pub findings: Vec<Finding>,
    /// How many were accepted.
    pub accepted: usize,
    /// Acceptances that are wrong (no such rule, no reason) or stale.
    pub notices: Vec<Problem>,
}

/// Takes the findings of the file at `path` that its acceptances cover: the same rule, the place inside what the
/// attribute stands on. One without a reason accepts nothing.
#[must_use]
pub fn apply(path: &Path, acceptances: &[Acceptance], findings: Vec<Finding>) -> Accepted {
    let mut used = vec![false; acceptances.len()];
    let mut result = Accepted::default();
    for finding in findings {
        let covering = |it: &&(usize, &Acceptance)| {
            !it.1.unread
                && !it.1.reason.trim().is_empty()
                && id_of(&it.1.rule) == finding.breach.id()
                && within(finding.range, it.1.covers)
        };
        let mut any = false;
        for (at, _) in acceptances.iter().enumerate().collect::<Vec<_>>().iter().filter(covering) {
            used[*at] = true;
            any = true;
        }
        if any {
            result.accepted += 1;
        } else {
            result.findings.push(finding);
        }
    }
    for (acceptance, used) in acceptances.iter().zip(used) {
        result.notices.extend(complaint(path, acceptance, used));
    }
    result
}

fn complaint(path: &Path, acceptance: &Acceptance, used: bool) -> Option<Problem> {
    let id = id_of(&acceptance.rule);
    let (message, help) = if acceptance.unread {
        let message = match &*acceptance.rule {
            "" => "an acceptance names no rule".to_owned(),
            other => {
                let shown: String = other.chars().take(40).collect();
                format!(
                    "an acceptance cannot be read at `{shown}`, which is neither a rule's name nor its reason"
                )
            }
        };
        (message, meant(&acceptance.rule))
    } else if Breach::from_id(&id).filter(|breach| breach.seen_by(Halves::Lint)).is_none() {
        let help = nearest_rule(&id).unwrap_or_else(|| "run `unbroken rules` for the names".to_owned());
        (format!("an acceptance names `{}`, which is no rule of the lint", acceptance.rule), help)
    } else if acceptance.reason.trim().is_empty() {
        let help = "add `reason = \"…\"` that tells the next reader why this is right here".to_owned();
        (format!("the acceptance of {id} gives no reason, so it accepts nothing"), help)
    } else if !used {
        (format!("the acceptance of {id} is stale: nothing is found here"), "remove the attribute".to_owned())
    } else if acceptance.misplaced {
        (
            format!("the acceptance of {id} stands on an assignment, where no attribute compiles"),
            "put the statement in braces, and the attribute on them".to_owned(),
        )
    } else if acceptance.bare {
        (
            format!("the acceptance of {id} is spelled as an attribute that does not compile"),
            "write `#[cfg_attr(any(), unbroken::allow(…))]`, which the compiler drops and the check reads"
                .to_owned(),
        )
    } else {
        return None;
    };
    Some(Problem { path: path.to_owned(), range: Some(acceptance.range), message, help })
}

/// Whether `inner` begins inside `outer`.
fn within(inner: Range, outer: Range) -> bool {
    (outer.line, outer.column) <= (inner.line, inner.column)
        && (inner.line, inner.column) < (outer.end_line, outer.end_column)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Certainty;

    fn finding(breach: Breach, line: u32) -> Finding {
        Finding {
            breach,
            level: breach.level(),
            certainty: Certainty::Proved,
            path: "lib.rs".into(),
            range: Range { line, column: 9, end_line: line, end_column: 20 },
            item: "Client::poll".into(),
            message: "the session is dropped".into(),
            help: "keep it".into(),
            labels: Vec::new(),
            fingerprint: line.to_string(),
        }
    }

    fn acceptance(rule: &str, reason: &str, lines: (u32, u32)) -> Acceptance {
        let covers = Range { line: lines.0, column: 1, end_line: lines.1, end_column: 99 };
        Acceptance {
            rule: rule.into(),
            reason: reason.into(),
            unread: false,
            bare: false,
            misplaced: false,
            covers,
            range: covers,
        }
    }

    #[test]
    fn only_the_named_rule_inside_the_covered_place_is_accepted() {
        let findings = vec![
            finding(Breach::SessionDiscarded, 5),
            finding(Breach::SessionDiscarded, 50),
            finding(Breach::BlindRetry, 6),
        ];
        let result =
            apply(Path::new("lib.rs"), &[acceptance("session_discarded", "by design", (4, 7))], findings);
        assert_eq!(result.accepted, 1);
        let left: Vec<_> = result.findings.iter().map(|it| it.fingerprint.as_str()).collect();
        assert_eq!(left, ["50", "6"]);
        assert!(result.notices.is_empty(), "{:?}", result.notices);
    }

    #[test]
    fn an_acceptance_that_no_compiler_takes_is_told_with_the_one_that_does() {
        let bare = Acceptance { bare: true, ..acceptance("session_discarded", "by design", (1, 9)) };
        let result = apply(Path::new("lib.rs"), &[bare], vec![finding(Breach::SessionDiscarded, 5)]);
        assert_eq!((result.accepted, result.findings.len()), (1, 0), "it is meant, so it accepts");
        let told: Vec<_> = result.notices.iter().map(|it| it.help.as_str()).collect();
        assert!(told.len() == 1 && told[0].contains("cfg_attr(any(), unbroken::allow"), "{told:?}");
        let misplaced =
            Acceptance { misplaced: true, ..acceptance("session_discarded", "by design", (1, 9)) };
        let result = apply(Path::new("lib.rs"), &[misplaced], vec![finding(Breach::SessionDiscarded, 5)]);
        assert_eq!((result.accepted, result.findings.len()), (1, 0), "it is meant, so it accepts");
        let told: Vec<_> = result.notices.iter().map(|it| it.help.as_str()).collect();
        assert!(told.len() == 1 && told[0].contains("braces"), "{told:?}");
    }

    #[test]
    fn an_acceptance_that_cannot_be_read_is_told_with_the_nearest_rule() {
        let ids = [acceptance("session-discarded", "by design", (1, 9))];
        let result = apply(Path::new("lib.rs"), &ids, vec![finding(Breach::SessionDiscarded, 5)]);
        assert_eq!((result.accepted, result.notices.len()), (1, 0), "an id is a name");
        let unread = |text: &str| Acceptance { unread: true, ..acceptance(text, "x", (1, 9)) };
        let acceptances = [unread("\"session-discarded\""), unread("sesion discarded"), unread("")];
        let result = apply(Path::new("lib.rs"), &acceptances, vec![finding(Breach::SessionDiscarded, 5)]);
        assert_eq!((result.accepted, result.findings.len()), (0, 1));
        let told: Vec<_> = result.notices.iter().map(|it| format!("{}: {}", it.message, it.help)).collect();
        assert!(
            told[..2]
                .iter()
                .all(|it| it.contains("cannot be read") && it.contains("did you mean `session_discarded`?")),
            "{told:?}"
        );
        assert!(told[2].contains("names no rule: write"), "{told:?}");
    }

    #[test]
    fn a_stale_an_unreasoned_and_a_misnamed_acceptance_are_told() {
        let acceptances = [
            acceptance("blind_retry", "was needed once", (1, 9)),
            acceptance("session_discarded", " ", (1, 9)),
            acceptance("sesion_discarded", "x", (1, 9)),
        ];
        let result = apply(Path::new("lib.rs"), &acceptances, vec![finding(Breach::SessionDiscarded, 5)]);
        assert_eq!(result.findings.len(), 1, "without a reason nothing is accepted");
        let told: Vec<_> = result.notices.iter().map(|it| it.message.as_str()).collect();
        assert!(
            told[0].contains("stale") && told[1].contains("no reason") && told[2].contains("no rule"),
            "{told:?}"
        );
        assert!(result.notices[2].help.contains("session_discarded"));
    }
}
