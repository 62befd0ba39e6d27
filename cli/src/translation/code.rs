//! The lint's findings in the terms of the report.
//! Knows no rule.

use crate::lint::Outcome;
use std::path::Path;
use unbroken_lint::finding as lint;
use unbroken_report as report;

/// A finding of the lint.
pub(crate) fn finding(found: lint::Finding) -> report::Finding {
    let place = exhibit(&found.path, Some(found.range));
    let step = |(index, label): (usize, lint::Label)| report::Step {
        exhibit: Some(exhibit(&label.path, Some(label.range))),
        at: None,
        role: if index == 0 { report::Role::Offence } else { report::Role::Context },
        words: report::Words::plain(label.text),
        scene: report::Scene::default(),
    };
    report::Finding {
        breach: found.breach,
        level: found.level,
        certainty: certainty(found.certainty),
        place: Some(place),
        subject: report::Subject::Item(found.item),
        client: None,
        tool: None,
        message: report::Words::plain(found.message),
        help: found.help,
        proof: found.labels.into_iter().enumerate().map(step).collect(),
        sends: Vec::new(),
        same_by: None,
        missing: None,
        linked: Vec::new(),
        fingerprint: found.fingerprint,
    }
}

/// What the lint read and could not read.
pub(crate) fn summary(outcome: &Outcome) -> report::Summary {
    let problem = |problem: &lint::Problem, lost: bool| report::Problem {
        exhibit: exhibit(&problem.path, problem.range),
        message: problem.message.clone(),
        help: problem.help.clone(),
        count: 1,
        lost,
    };
    let mut problems: Vec<report::Problem> = outcome.problems.iter().map(|it| problem(it, true)).collect();
    problems.extend(outcome.notices.iter().map(|it| problem(it, false)));
    problems.sort_by(|a, b| a.exhibit.cmp(&b.exhibit).then_with(|| a.message.cmp(&b.message)));
    report::Summary {
        problems,
        accepted: outcome.accepted,
        seen: report::Seen::Code {
            files_seen: outcome.files_seen,
            files_checked: outcome.files_checked,
            files_apart: outcome.files_apart,
            crates: outcome.crates,
        },
        ..report::Summary::default()
    }
}

fn exhibit(path: &Path, range: Option<lint::Range>) -> report::Exhibit {
    let path = path.to_string_lossy().replace('\\', "/");
    let spot = range.map_or(report::Spot::Whole, |range| {
        let lint::Range { line, column, end_line, end_column } = range;
        report::Spot::Range(report::Range { line, column, end_line, end_column })
    });
    report::Exhibit { path, spot }
}

fn certainty(certainty: lint::Certainty) -> report::Certainty {
    match certainty {
        lint::Certainty::Possible => report::Certainty::Possible,
        lint::Certainty::Likely => report::Certainty::Likely,
        lint::Certainty::Proved => report::Certainty::Proved,
    }
}
