//! Workflow commands for GitHub Actions: annotations on the worst findings, a log line for each.
//! Knows no API; a step summary is the `markdown` format written to `$GITHUB_STEP_SUMMARY`.

use super::paint::Paint;
use super::voice::Voice;
use super::{Look, Render, brief, human};
use crate::exhibit::Exhibit;
use crate::finding::{Certainty, Finding};
use crate::secrets::Secrets;
use crate::summary::Summary;
use crate::unprintable::escape;
use crate::verdict::Verdict;
use std::io::{self, Write};
use unbroken_contract::Level;

/// GitHub shows ten annotations per step and drops the rest, so these must be the worst.
const MOST: usize = 10;

pub(super) struct Github {
    paint: Paint,
    secrets: Secrets,
    worst: Vec<((Level, Certainty), String)>,
}

impl Github {
    pub(super) fn new(look: Look<'_>) -> Github {
        let paint = Paint { color: false, unicode: look.unicode, width: look.width, address: None };
        Github { paint, secrets: look.secrets, worst: Vec::new() }
    }
}

impl Render for Github {
    fn finding(&mut self, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
        let rank = (finding.level, finding.certainty);
        // Stable: of equals the first stays, whatever the number of findings.
        let at = self.worst.iter().position(|(other, _)| *other < rank).unwrap_or(self.worst.len());
        if at < MOST {
            self.worst.insert(at, (rank, annotation(finding, &Voice::of(finding, &self.secrets))));
            self.worst.truncate(MOST);
        }
        writeln!(out, "{}", harmless_line(&brief::line(finding, self.paint, &self.secrets)))
    }

    fn finish(&mut self, summary: &Summary, verdict: Verdict, out: &mut dyn Write) -> io::Result<()> {
        // Input that was lost is worth one of the ten: no finding stands for what could not be read.
        let lost = summary.problems.iter().filter(|problem| problem.lost);
        let noted = summary.problems.iter().filter(|problem| !problem.lost);
        let kept = self.worst.len().min(MOST - usize::from(summary.lost() > 0));
        for (_, annotation) in &self.worst[..kept] {
            writeln!(out, "{annotation}")?;
        }
        for (index, problem) in lost.chain(noted).enumerate() {
            let told = format!("{}\n{}", escape(&problem.message), escape(&problem.help));
            if kept + index < MOST {
                let command = if problem.lost { "warning" } else { "notice" };
                writeln!(out, "::{command} {}title=input::{}", place(Some(&problem.exhibit)), data(&told))?;
            } else {
                let line = format!("{}: {}", problem.exhibit, told.replace('\n', "; "));
                writeln!(out, "{}", harmless_line(&line))?;
            }
        }
        writeln!(out, "{}", harmless_line(&human::headline(summary, verdict)))
    }
}

fn annotation(finding: &Finding, voice: &Voice<'_>) -> String {
    let command = match finding.level {
        Level::Deny => "error",
        Level::Warn => "warning",
        Level::Note => "notice",
    };
    let title = property(&format!("{} ({})", finding.breach, finding.certainty.id()));
    let text = format!(
        "{}\n{}\nunbroken explain {}",
        voice.say(&finding.message),
        voice.text(&finding.help),
        finding.breach
    );
    format!("::{command} {}title={title}::{}", place(finding.place.as_ref()), data(&text))
}

fn place(exhibit: Option<&Exhibit>) -> String {
    let Some(exhibit) = exhibit else { return String::new() };
    let mut place = format!("file={},", property(&escape(&exhibit.path)));
    if let Some(range) = exhibit.spot.range() {
        let columns = if range.line == range.end_line {
            format!("col={},endColumn={},", range.column, range.end_column)
        } else {
            String::new()
        };
        place.push_str(&format!("line={},endLine={},{columns}", range.line, range.end_line));
    } else if let Some(line) = exhibit.spot.line() {
        place.push_str(&format!("line={line},"));
    }
    place
}

/// A log line that the runner cannot take for a command.
fn harmless_line(line: &str) -> String {
    if line.trim_start().starts_with("::") || line.contains("##[") {
        format!("| {}", line.replace("##[", "## ["))
    } else {
        line.to_owned()
    }
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
