//! Markdown, for a comment or a step summary: the story of each finding, then counts in a table.
//! Knows no HTML; foreign text stays text, whatever marks it holds.

use super::paint::counted;
use super::voice::Voice;
use super::{Render, human, moment, reason};
use crate::exhibit::Exhibit;
use crate::finding::{Finding, Subject};
use crate::secrets::Secrets;
use crate::summary::{Seen, Summary};
use crate::unprintable::escape;
use crate::verdict::Verdict;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Findings with their proof; GitHub cuts a comment at 65,536 characters.
const IN_FULL: u64 = 20;
/// Findings with one line after those.
const IN_BRIEF: u64 = 200;

pub(super) struct Markdown {
    secrets: Secrets,
    shown: u64,
}

impl Markdown {
    pub(super) fn new(secrets: Secrets) -> Markdown {
        Markdown { secrets, shown: 0 }
    }
}

impl Render for Markdown {
    fn finding(&mut self, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
        self.shown += 1;
        let voice = Voice::of(finding, &self.secrets);
        let place = finding
            .place
            .as_ref()
            .map_or_else(String::new, |place| format!(" at {}", text(&place.to_string())));
        let head = format!(
            "**{}** `{}` ({}){place}: {}",
            finding.level,
            finding.breach,
            finding.certainty.id(),
            text(&voice.say(&finding.message))
        );
        match self.shown {
            ..=IN_FULL => out.write_all(full(&head, finding, &voice).as_bytes()),
            shown if shown <= IN_FULL + IN_BRIEF => writeln!(out, "- {head}"),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, summary: &Summary, verdict: Verdict, out: &mut dyn Write) -> io::Result<()> {
        let hidden = self.shown.saturating_sub(IN_FULL + IN_BRIEF);
        if hidden > 0 {
            writeln!(out, "- and {hidden} more, counted below")?;
        }
        let mut end = format!("\n**{}**\n", text(&human::headline(summary, verdict)));
        if summary.findings() > 0 {
            end.push_str("\n| breach | deny | warn | note |\n| --- | ---: | ---: | ---: |\n");
            for (breach, count) in &summary.counts {
                let _ = writeln!(end, "| `{breach}` | {} | {} | {} |", count.deny, count.warn, count.note);
            }
        }
        let _ = writeln!(end, "\n{}", seen(&summary.seen));
        for (about, sentence) in summary.overview() {
            let _ = writeln!(end, "- {about}: {}", text(&escape(&sentence)));
        }
        for problem in summary.problems.iter().take(50) {
            let word = if problem.lost { "unreadable" } else { "note" };
            let _ = writeln!(
                end,
                "- {word} {}: {}",
                text(&problem.exhibit.to_string()),
                text(&escape(&problem.message))
            );
        }
        out.write_all(end.as_bytes())
    }
}

fn full(head: &str, finding: &Finding, voice: &Voice<'_>) -> String {
    let mut out = format!("{head}\n\n");
    for (index, step) in finding.proof.iter().enumerate().filter(|(_, step)| !reason::concludes(step)) {
        let time = step.at.map_or_else(String::new, |at| format!("{} ", moment::time_of_day(at)));
        let place = step
            .exhibit
            .as_ref()
            .map_or_else(String::new, |exhibit| format!("{} ", text(&nearby(exhibit, finding))));
        let _ = writeln!(out, "{}. {time}{place}{}", index + 1, text(&voice.say(&step.words)));
    }
    // A mistake in code is its own reason: its labels say why.
    if matches!(finding.subject, Subject::Session(_)) {
        let _ = writeln!(out, "\n{}:\n", capital(reason::title(finding.certainty)));
        for (index, why) in reason::reasons(finding, voice).iter().enumerate() {
            let _ = writeln!(out, "{}. {}", index + 1, text(why));
        }
    }
    let _ = writeln!(out, "\nHelp: {}\n", text(&voice.text(&finding.help)));
    out
}

/// A step's place: in a log without its folder where that is the one of the finding, whose place stands in full above.
fn nearby(exhibit: &Exhibit, finding: &Finding) -> String {
    let folder = |path: &str| path.rfind('/').map_or(0, |at| at + 1);
    let whole = exhibit.to_string();
    let log = matches!(finding.subject, Subject::Session(_));
    let near = finding
        .place
        .as_ref()
        .filter(|_| log)
        .is_some_and(|place| place.path[..folder(&place.path)] == exhibit.path[..folder(&exhibit.path)]);
    // An unprintable character in the folder is spelled out, and longer: then the place is left whole.
    match whole.strip_prefix(&exhibit.path[..folder(&exhibit.path)]).filter(|_| near) {
        Some(name) => name.to_owned(),
        None => whole,
    }
}

/// With a capital, as headings begin.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn seen(seen: &Seen) -> String {
    match *seen {
        Seen::Code { files_seen, files_checked, crates, .. } => {
            format!("Checked {files_checked} of {files_seen} Rust files in {}.", counted(crates, "crate"))
        }
        Seen::Traffic { sessions, reconnects, resumes, calls, exchanges, .. } => {
            format!(
                "Saw {}, {}, {resumes} of them with a cursor, {}, {}.",
                counted(sessions, "session"),
                counted(reconnects, "reconnect"),
                counted(calls, "tool call"),
                counted(exchanges, "exchange"),
            )
        }
    }
}

/// Text that Markdown takes for text. `@` and `#` would mention people and issues.
fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '@' => out.push_str("&#64;"),
            '#' => out.push_str("&#35;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    // A bare address would become a link.
    out.replace("://", ":&#47;/").replace("www.", "www&#46;")
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn foreign_text_stays_text() {
        assert_eq!(
            text("<img src=x> [a](b) @all #1 `c` |"),
            "&lt;img src=x&gt; \\[a\\](b) &#64;all &#35;1 \\`c\\` \\|"
        );
        assert_eq!(text("https://x"), "https:&#47;/x");
    }
}
