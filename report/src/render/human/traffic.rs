//! A finding in traffic: the few records that matter as a numbered timeline, then why it is so sure.
//! Knows no source code.

use super::ink;
use crate::exhibit::Exhibit;
use crate::finding::{Finding, Role, Step};
use crate::render::moment;
use crate::render::paint::{Ink, Paint};
use crate::render::reason;
use crate::render::voice::Voice;
use crate::secrets::Secrets;
use crate::unprintable::escape;
use std::fmt::Write;

/// Steps shown; a story of more is told by its beginning and its end.
const MOST_STEPS: usize = 24;

/// Draws a finding of the audit, without the advice that ends it.
pub(super) fn draw(finding: &Finding, paint: Paint, secrets: &Secrets) -> String {
    let story = Story { finding, paint, voice: Voice::of(finding, secrets) };
    let mut out = String::new();
    story.header(&mut out);
    story.timeline(&mut out);
    story.why(&mut out);
    out
}

struct Story<'a> {
    finding: &'a Finding,
    paint: Paint,
    voice: Voice<'a>,
}

impl Story<'_> {
    fn header(&self, out: &mut String) {
        let Finding { breach, level, certainty, .. } = self.finding;
        let title = format!("{level}[{breach}], {}", certainty.id());
        let _ = writeln!(out, "{}\n", self.paint.ink(ink(*level), &title));
        let mark = match level {
            unbroken_contract::Level::Deny => self.paint.either("×", "x"),
            unbroken_contract::Level::Warn => self.paint.either("⚠", "!"),
            unbroken_contract::Level::Note => self.paint.either("☞", ">"),
        };
        let head = format!("  {} ", self.paint.ink(ink(*level), mark));
        self.paint.wrap(out, &head, "    ", 4, &self.voice.say(&self.finding.message));
    }

    /// The steps that stand in a log or at a time, each with its place.
    fn timeline(&self, out: &mut String) {
        let steps: Vec<&Step> = self.finding.proof.iter().filter(|step| !reason::concludes(step)).collect();
        if steps.is_empty() {
            return;
        }
        let paths = paths(&steps);
        let (open, bar, close) = (
            self.paint.either("╭─[", ",-["),
            self.paint.either("│", "|"),
            self.paint.either("╰────", "`----"),
        );
        let title = title(&paths);
        let shown = self.paint.ink(Ink::Place, &escape(&title));
        let _ = writeln!(out, "     {open}{}]", self.paint.link(&shown, &title));
        let width = steps.iter().map(|step| self.place(step, paths.len()).chars().count()).max().unwrap_or(0);
        let mut day = None;
        let hidden = steps.len().saturating_sub(MOST_STEPS);
        for (index, step) in steps.iter().enumerate() {
            if hidden > 0 && index == MOST_STEPS / 2 {
                let _ = writeln!(
                    out,
                    "     {bar} {}",
                    self.paint.ink(Ink::Faint, &format!("{hidden} further steps"))
                );
            }
            if hidden > 0 && (MOST_STEPS / 2..MOST_STEPS / 2 + hidden).contains(&index) {
                continue;
            }
            if let Some(at) = step.at.filter(|at| day.as_ref() != Some(&moment::day(*at))) {
                day = Some(moment::day(at));
                let _ = writeln!(
                    out,
                    "     {bar} {}",
                    self.paint.ink(Ink::Faint, &format!("{} UTC", moment::day(at)))
                );
            }
            self.step(index, step, width, paths.len(), out);
        }
        let _ = writeln!(out, "     {close}");
    }

    /// `2 │ 10:00:01.250  :12  cut         stream cut after 1.0 s …`
    fn step(&self, index: usize, step: &Step, width: usize, paths: usize, out: &mut String) {
        let bar = self.paint.either("│", "|");
        let time = step.at.map_or_else(|| " ".repeat(12), moment::time_of_day);
        let place = self.place(step, paths);
        let role = format!("{:<10}", step.role.id());
        let role = if cuts(step.role) { self.paint.ink(ink(self.finding.level), &role) } else { role };
        let head = format!(
            "{:>4} {bar} {time}  {}{}  {role} ",
            index + 1,
            self.paint.place(&place, step.exhibit.as_ref()),
            " ".repeat(width - place.chars().count())
        );
        let used = 4 + 3 + 12 + 2 + width + 2 + 10 + 1;
        let text = self.voice.say(&step.words);
        if used + 30 <= self.paint.width {
            self.paint.wrap(out, &head, &format!("     {bar}{}", " ".repeat(used - 6)), used, &text);
        } else {
            // A narrow terminal: what happened goes below its place.
            let _ = writeln!(out, "{}", head.trim_end());
            self.paint.wrap(out, &format!("     {bar}   "), &format!("     {bar}   "), 9, &text);
        }
    }

    fn place(&self, step: &Step, paths: usize) -> String {
        match &step.exhibit {
            Some(exhibit) if paths > 1 => format!("{}{}", short(exhibit), exhibit.spot),
            Some(exhibit) => exhibit.spot.to_string(),
            None => String::new(),
        }
    }

    /// Why it is certain, or what would settle it, as numbered steps.
    fn why(&self, out: &mut String) {
        let reasons = reason::reasons(self.finding, &self.voice);
        if reasons.is_empty() {
            return;
        }
        let title = reason::title(self.finding.certainty);
        let _ = writeln!(out, "  {}:", self.paint.ink(Ink::Note, title));
        for (index, reason) in reasons.iter().enumerate() {
            self.paint.wrap(out, &format!("   {}. ", index + 1), "      ", 6, reason);
        }
    }
}

fn cuts(role: Role) -> bool {
    matches!(role, Role::Cut | Role::Refuse | Role::Delete)
}

/// The files of the steps, each once, in the order of the story.
fn paths<'a>(steps: &[&'a Step]) -> Vec<&'a str> {
    let mut paths: Vec<&str> = Vec::new();
    for exhibit in steps.iter().filter_map(|step| step.exhibit.as_ref()) {
        if !paths.contains(&exhibit.path.as_str()) {
            paths.push(&exhibit.path);
        }
    }
    paths
}

fn title(paths: &[&str]) -> String {
    match paths {
        [] => "no record".to_owned(),
        [one] => (*one).to_owned(),
        [first, rest @ ..] => {
            let (folder, _) = split(first);
            if rest.iter().all(|path| split(path).0 == folder) && !folder.is_empty() {
                folder.trim_end_matches('/').to_owned()
            } else {
                format!("{} logs", paths.len())
            }
        }
    }
}

fn split(path: &str) -> (&str, &str) {
    path.rfind('/').map_or(("", path), |at| path.split_at(at + 1))
}

/// The file's name without its folder.
fn short(exhibit: &Exhibit) -> String {
    escape(split(&exhibit.path).1).into_owned()
}
