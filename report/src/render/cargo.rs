//! The compiler's JSON diagnostics, one per line: what rust-analyzer and other editors read from a check command.
//! Knows no log; a finding in traffic has no source and becomes a diagnostic without spans.
//!
//! The shape is rustc's (<https://doc.rust-lang.org/rustc/json.html>). Byte offsets are counted in the source as it is
//! now; where it cannot be read they are 0 and lines and columns still hold.

use super::voice::Voice;
use super::{Look, Render, Sources, harmless};
use crate::exhibit::{Exhibit, Range};
use crate::finding::{Finding, Step};
use crate::secrets::Secrets;
use crate::summary::{Problem, Summary};
use crate::unprintable::escape;
use crate::verdict::Verdict;
use serde_json::{Value, json};
use std::io::{self, Write};
use unbroken_contract::Level;

pub(super) struct Cargo<'a> {
    secrets: Secrets,
    sources: &'a Sources,
    /// The source asked for last: findings come file by file.
    last: Option<(String, Option<String>)>,
}

impl<'a> Cargo<'a> {
    pub(super) fn new(look: Look<'a>) -> Cargo<'a> {
        Cargo { secrets: look.secrets, sources: look.sources, last: None }
    }

    fn span(&mut self, exhibit: &Exhibit, label: Option<String>, primary: bool) -> Option<Value> {
        let range = exhibit.spot.range()?;
        if self.last.as_ref().is_none_or(|(path, _)| *path != exhibit.path) {
            self.last = Some((exhibit.path.clone(), (self.sources)(&exhibit.path)));
        }
        let source = self.last.as_ref().and_then(|(_, source)| source.as_deref()).unwrap_or_default();
        Some(json!({
            "file_name": exhibit.path,
            "byte_start": offset(source, range.line, range.column),
            "byte_end": offset(source, range.end_line, range.end_column),
            "line_start": range.line,
            "line_end": range.end_line,
            "column_start": range.column,
            "column_end": range.end_column,
            "is_primary": primary,
            "text": lines(source, range),
            "label": label,
            "suggested_replacement": null,
            "suggestion_applicability": null,
            "expansion": null,
        }))
    }

    fn spans(&mut self, finding: &Finding, voice: &Voice<'_>) -> Vec<Value> {
        let mut spans = Vec::new();
        if let Some(place) = &finding.place {
            let own = |step: &&Step| step.exhibit.as_ref() == Some(place);
            let label = finding.proof.iter().find(own).map(|step| voice.say(&step.words));
            spans.extend(self.span(place, label, true));
        }
        for step in &finding.proof {
            if let Some(exhibit) =
                step.exhibit.as_ref().filter(|exhibit| finding.place.as_ref() != Some(*exhibit))
            {
                spans.extend(self.span(exhibit, Some(voice.say(&step.words)), false));
            }
        }
        spans
    }
}

impl Render for Cargo<'_> {
    fn finding(&mut self, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
        let secrets = self.secrets.clone();
        let voice = Voice::of(finding, &secrets);
        let spans = self.spans(finding, &voice);
        let message = format!("{} ({})", voice.say(&finding.message), finding.certainty.id());
        let place = finding.place.as_ref().map_or_else(String::new, |place| format!(" --> {place}\n"));
        let help = voice.text(&finding.help);
        let level = level(finding.level);
        let rendered = format!("{level}[{}]: {message}\n{place}  = help: {help}\n", finding.breach);
        let explained = format!("unbroken explain {}", finding.breach);
        let diagnostic = json!({
            "$message_type": "diagnostic",
            "message": message,
            "code": { "code": format!("unbroken::{}", finding.breach), "explanation": explained },
            "level": level,
            "spans": spans,
            "children": [child("help", &help), child("note", &explained)],
            "rendered": rendered,
        });
        harmless::line(&diagnostic, out)
    }

    fn finish(&mut self, summary: &Summary, _: Verdict, out: &mut dyn Write) -> io::Result<()> {
        for problem in summary.problems.iter().filter(|problem| problem.lost) {
            let diagnostic = self.unreadable(problem);
            harmless::line(&diagnostic, out)?;
        }
        Ok(())
    }
}

impl Cargo<'_> {
    fn unreadable(&mut self, problem: &Problem) -> Value {
        let message = format!("unread: {}", escape(&problem.message));
        let help = escape(&problem.help).into_owned();
        json!({
            "$message_type": "diagnostic",
            "message": message,
            "code": null,
            "level": "warning",
            "spans": self.span(&problem.exhibit, None, true).into_iter().collect::<Vec<_>>(),
            "children": [child("help", &help)],
            "rendered": format!("warning: {message}\n --> {}\n  = help: {help}\n", problem.exhibit),
        })
    }
}

fn child(level: &str, message: &str) -> Value {
    json!({ "message": message, "code": null, "level": level, "spans": [], "children": [], "rendered": null })
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Deny => "error",
        Level::Warn => "warning",
        Level::Note => "note",
    }
}

/// Bytes before a line and column, both from 1, columns in characters.
fn offset(source: &str, line: u32, column: u32) -> usize {
    let before: usize =
        source.split_inclusive('\n').take(line.saturating_sub(1) as usize).map(str::len).sum();
    let within = source[before..].chars().take(column.saturating_sub(1) as usize);
    before + within.take_while(|c| *c != '\n').map(char::len_utf8).sum::<usize>()
}

/// The lines of a range, each with the part that is meant.
fn lines(source: &str, range: Range) -> Vec<Value> {
    let last = range.end_line.min(range.line.saturating_add(20));
    let wanted = source.lines().enumerate().skip(range.line.saturating_sub(1) as usize);
    wanted
        .take((last + 1).saturating_sub(range.line) as usize)
        .map(|(index, text)| {
            let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
            let all = u32::try_from(text.chars().count()).unwrap_or(u32::MAX).saturating_add(1);
            let start = if number == range.line { range.column } else { 1 };
            let end = if number == range.end_line { range.end_column } else { all };
            json!({ "text": text, "highlight_start": start, "highlight_end": end })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::offset;

    #[test]
    fn offsets_count_bytes_and_never_leave_the_source() {
        let source = "a\nbéc\n";
        assert_eq!(offset(source, 1, 1), 0);
        assert_eq!(&source[offset(source, 2, 2)..offset(source, 2, 3)], "é");
        for (line, column) in [(2, 99), (3, 1), (99, 99), (0, 0), (u32::MAX, u32::MAX)] {
            assert!(source.is_char_boundary(offset(source, line, column)), "{line} {column}");
        }
        assert_eq!(offset("", 7, 3), 0);
    }
}
