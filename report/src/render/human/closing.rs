//! The last lines of a run: what could not be read, what was read, what was seen, what was found.
//! Knows no single finding.

use super::super::moment;
use super::super::paint::{Ink, Paint, counted};
use super::ink;
use crate::summary::{Input, Problem, Seen, Summary};
use crate::unprintable::escape;
use crate::verdict::Verdict;
use std::fmt::Write;
use unbroken_contract::Level;

/// Inputs listed by name; of more, only the counts.
const MOST_INPUTS: usize = 20;
/// Problems told in full.
const MOST_PROBLEMS: usize = 50;

/// Draws the end of a run.
pub(super) fn draw(summary: &Summary, verdict: Verdict, paint: Paint) -> String {
    let mut out = String::new();
    problems(&summary.problems, paint, &mut out);
    inputs(&summary.inputs, paint, &mut out);
    seen(&summary.seen, paint, &mut out);
    overview(summary, paint, &mut out);
    counts(summary, paint, &mut out);
    let color = match verdict {
        Verdict::Clean => Ink::Good,
        Verdict::Found => Ink::Deny,
        Verdict::NothingChecked | Verdict::Unreadable => Ink::Warn,
    };
    let _ = writeln!(out, "{}", paint.ink(color, &headline(summary, verdict)));
    out
}

fn problems(problems: &[Problem], paint: Paint, out: &mut String) {
    for problem in problems.iter().take(MOST_PROBLEMS) {
        let (ink, title) = if problem.lost { (Ink::Warn, "unreadable") } else { (Ink::Note, "note") };
        let times = if problem.count > 1 { format!(" ({} times)", problem.count) } else { String::new() };
        let place = problem.exhibit.to_string();
        let head = format!("{} {}: ", paint.ink(ink, title), paint.place(&place, Some(&problem.exhibit)));
        // A long path leaves no room beside it: then the text simply runs on.
        let used = (title.len() + place.chars().count() + 3).min(paint.width / 2);
        paint.wrap(out, &head, &" ".repeat(used), used, &format!("{}{times}", escape(&problem.message)));
        if !problem.help.is_empty() {
            paint.wrap(
                out,
                &format!("  {}: ", paint.ink(Ink::Note, "help")),
                "        ",
                8,
                &escape(&problem.help),
            );
        }
    }
    if problems.len() > MOST_PROBLEMS {
        let _ = writeln!(out, "and {} like these", problems.len() - MOST_PROBLEMS);
    }
    if !problems.is_empty() {
        out.push('\n');
    }
}

fn inputs(inputs: &[Input], paint: Paint, out: &mut String) {
    if inputs.is_empty() {
        return;
    }
    let read = inputs.iter().filter(|input| input.read).count();
    let skipped = inputs.len() - read;
    let files = counted(u64::try_from(inputs.len()).unwrap_or(u64::MAX), "file");
    let _ = writeln!(out, "read {read} of {files}{}", if skipped > 0 { ":" } else { "" });
    let listed = inputs.len() <= MOST_INPUTS;
    for input in inputs.iter().filter(|input| listed || !input.read).take(MOST_INPUTS) {
        let tail = if input.read { counted(input.records, "record") } else { "not read".to_owned() };
        let _ = writeln!(
            out,
            "  {}  {}, {tail}",
            paint.link(&paint.ink(Ink::Place, &escape(&input.path)), &input.path),
            escape(&input.format)
        );
    }
}

fn seen(seen: &Seen, paint: Paint, out: &mut String) {
    match *seen {
        Seen::Code { files_seen, files_checked, files_apart, crates } => {
            let files = counted(files_seen, "Rust file");
            let checked = format!("checked {files_checked} of {files} in {}", counted(crates, "crate"));
            let apart = match files_apart {
                0 => String::new(),
                count => format!("; {count} tests and the like left apart (--include)"),
            };
            paint.wrap(out, "", "        ", 8, &(checked + &apart));
        }
        Seen::Traffic { sessions, reconnects, resumes, calls, exchanges, not_judged, span } => {
            let parts = [
                counted(sessions, "session"),
                counted(reconnects, "reconnect"),
                format!("{resumes} of them with a cursor"),
                counted(calls, "tool call"),
                counted(exchanges, "exchange"),
            ];
            paint.wrap(out, "saw ", "    ", 4, &parts.join(", "));
            if let Some((from, until)) = span {
                let length = moment::stretch(until.saturating_sub(from).max(0));
                let end = if moment::day(from) == moment::day(until) {
                    String::new()
                } else {
                    moment::day(until) + " "
                };
                let (begin, end) = (
                    format!("{} {}", moment::day(from), moment::time_of_day(from)),
                    end + &moment::time_of_day(until),
                );
                paint.wrap(out, "from ", "     ", 5, &format!("{begin} to {end} UTC, {length}"));
            }
            if calls == 0 && exchanges > not_judged {
                let why = "what is looked for among calls is not seen: duplicates and lost responses. A log shows calls by \
                           request bodies (docs/logging.md)";
                paint.wrap(out, "no tool calls: ", "    ", 15, why);
            }
            if not_judged > 0 {
                let _ = writeln!(
                    out,
                    "{} of another era of the protocol, not judged",
                    counted(not_judged, "exchange")
                );
            }
        }
    }
}

/// What a person asks first, one line each.
fn overview(summary: &Summary, paint: Paint, out: &mut String) {
    for (about, sentence) in summary.overview() {
        let head = format!("{about}: ");
        paint.wrap(out, &head, "    ", head.chars().count(), &escape(&sentence));
    }
}

fn counts(summary: &Summary, paint: Paint, out: &mut String) {
    if summary.findings() > 0 {
        out.push('\n');
    }
    let width = summary.counts.keys().map(|breach| breach.id().len()).max().unwrap_or(0);
    for (breach, count) in summary.counts.iter().filter(|(_, count)| count.total() > 0) {
        let parts: Vec<String> =
            [(Level::Deny, count.deny), (Level::Warn, count.warn), (Level::Note, count.note)]
                .into_iter()
                .filter(|(_, count)| *count > 0)
                .map(|(level, count)| paint.ink(ink(level), &format!("{count} {level}")))
                .collect();
        let _ = writeln!(out, "  {:<width$}  {}", breach.id(), parts.join(", "));
    }
    if summary.accepted > 0 {
        let _ = writeln!(out, "  {} accepted with a reason", counted(summary.accepted, "finding"));
    }
    if summary.baselined > 0 {
        let _ = writeln!(out, "  {} in the baseline", counted(summary.baselined, "finding"));
    }
    if summary.out_of_scope > 0 {
        let findings = counted(summary.out_of_scope, "finding");
        let _ = writeln!(out, "  {findings} of other times, sessions, clients or tools than asked for");
    }
    if summary.less_certain > 0 {
        let _ = writeln!(out, "  {} less certain than asked for", counted(summary.less_certain, "finding"));
    }
    out.push('\n');
}

/// The run in one line.
pub(in crate::render) fn headline(summary: &Summary, verdict: Verdict) -> String {
    let lost = summary.lost();
    let judged_later = matches!(summary.seen, Seen::Traffic { exchanges: 0, .. }) && summary.waiting > 0;
    let found = match summary.findings() {
        0 if judged_later => "no findings yet: what was read is judged with the next export".to_owned(),
        0 => "no findings".to_owned(),
        _ => {
            let levels: Vec<String> = [Level::Deny, Level::Warn, Level::Note]
                .into_iter()
                .filter(|level| summary.findings_of(*level) > 0)
                .map(|level| format!("{} {level}", summary.findings_of(level)))
                .collect();
            format!("{} ({})", counted(summary.findings(), "finding"), levels.join(", "))
        }
    };
    match verdict {
        Verdict::NothingChecked => match summary.seen {
            Seen::Code { .. } => "nothing was checked: the input holds no code of an MCP session".to_owned(),
            Seen::Traffic { .. } if summary.inputs.iter().any(|input| input.read && input.records > 0) => {
                "nothing was checked: no record shows MCP, by an Mcp-Session-Id or a JSON-RPC body; docs/logging.md says \
                 what to log"
                    .to_owned()
            }
            Seen::Traffic { .. } => "nothing was checked: the input holds no MCP traffic".to_owned(),
        },
        _ if lost > 0 => format!("{found}; {} of the input could not be read", counted(lost, "part")),
        _ => found,
    }
}
