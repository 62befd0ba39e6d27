//! JUnit XML, for build servers: a test suite per breach, a failing test case per finding.
//! Knows no schema beyond what Jenkins and GitLab read.

use super::voice::Voice;
use super::{Render, human};
use crate::finding::Finding;
use crate::secrets::Secrets;
use crate::summary::Summary;
use crate::unprintable::escape;
use crate::verdict::Verdict;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use unbroken_contract::{Breach, Level};

/// Test cases kept; the suites' totals stand before them, so they are held until the end.
const MOST: usize = 10_000;

pub(super) struct Junit {
    secrets: Secrets,
    suites: BTreeMap<Breach, TestSuite>,
    shown: usize,
}

impl Junit {
    pub(super) fn new(secrets: Secrets) -> Junit {
        Junit { secrets, suites: BTreeMap::new(), shown: 0 }
    }
}

impl Render for Junit {
    fn finding(&mut self, finding: &Finding, _: &mut dyn Write) -> io::Result<()> {
        self.shown += 1;
        if self.shown <= MOST {
            let case = case(finding, &Voice::of(finding, &self.secrets));
            self.suites
                .entry(finding.breach)
                .or_insert_with(|| TestSuite::new(finding.breach.id()))
                .add_test_case(case);
        }
        Ok(())
    }

    fn finish(&mut self, summary: &Summary, verdict: Verdict, out: &mut dyn Write) -> io::Result<()> {
        let mut report = Report::new("unbroken");
        report.add_test_suites(std::mem::take(&mut self.suites).into_values());
        let mut input = TestSuite::new("input");
        for problem in summary.problems.iter().filter(|problem| problem.lost) {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status
                .set_message(escape(&problem.message).as_ref())
                .set_type("unreadable")
                .set_description(escape(&problem.help).as_ref());
            input.add_test_case(TestCase::new(problem.exhibit.to_string(), status));
        }
        let mut read = TestCase::new("read", TestCaseStatus::success());
        read.set_system_out(human::headline(summary, verdict));
        input.add_test_case(read);
        if self.shown > MOST {
            let mut more =
                TestCase::new("more findings", TestCaseStatus::non_success(NonSuccessKind::Failure));
            more.set_system_out(format!("{} more findings are not listed", self.shown - MOST));
            input.add_test_case(more);
        }
        report.add_test_suite(input);
        // Not straight into `out`: the crate's error would hide that a reader closed its end.
        out.write_all(report.to_string().map_err(io::Error::other)?.as_bytes())
    }
}

fn case(finding: &Finding, voice: &Voice<'_>) -> TestCase {
    let message = voice.say(&finding.message);
    let mut story = String::new();
    for (index, step) in finding.proof.iter().enumerate() {
        let place = step.exhibit.as_ref().map(|exhibit| format!("{exhibit} ")).unwrap_or_default();
        let _ = writeln!(story, "{}. {place}{}", index + 1, voice.say(&step.words));
    }
    let _ = writeln!(story, "help: {}", voice.text(&finding.help));
    let mut status = match finding.level {
        // A note never fails a build.
        Level::Note => TestCaseStatus::success(),
        Level::Warn | Level::Deny => TestCaseStatus::non_success(NonSuccessKind::Failure),
    };
    if finding.level != Level::Note {
        let kind = format!("{} ({})", finding.level, finding.certainty.id());
        status.set_message(message.as_str()).set_type(kind).set_description(story.as_str());
    }
    let place = finding.place.as_ref().map_or_else(String::new, ToString::to_string);
    let mut case = TestCase::new(format!("{place} {}", finding.fingerprint), status);
    case.set_classname(finding.breach.id());
    if finding.level == Level::Note {
        case.set_system_out(format!("{message}\n{story}"));
    }
    case
}
