//! For a person at a terminal: each finding as a small story, the whole as a few lines at the end.
//! Knows no machine format.

mod closing;
mod code;
mod traffic;

pub(super) use closing::headline;

use super::paint::{Ink, Paint};
use super::voice::Voice;
use super::{Look, Render, Sources, brief};
use crate::finding::{Finding, Subject};
use crate::secrets::Secrets;
use crate::summary::Summary;
use crate::verdict::Verdict;
use std::io::{self, Write};
use unbroken_contract::Level;

/// Findings shown in full; a reader who needs more than these reads the machine formats.
const IN_FULL: u64 = 50;
/// Findings shown as one line after those.
const IN_BRIEF: u64 = 1000;

pub(super) struct Human<'a> {
    paint: Paint,
    secrets: Secrets,
    sources: &'a Sources,
    shown: u64,
}

impl<'a> Human<'a> {
    pub(super) fn new(look: Look<'a>) -> Human<'a> {
        let (width, address) = (look.width.clamp(40, 160), look.address);
        let paint = Paint { color: look.color, unicode: look.unicode, width, address };
        Human { paint, secrets: look.secrets, sources: look.sources, shown: 0 }
    }
}

/// The colour of a level.
pub(super) fn ink(level: Level) -> Ink {
    match level {
        Level::Deny => Ink::Deny,
        Level::Warn => Ink::Warn,
        Level::Note => Ink::Note,
    }
}

impl Render for Human<'_> {
    fn finding(&mut self, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
        self.shown += 1;
        if self.shown > IN_FULL {
            if self.shown == IN_FULL + 1 {
                writeln!(out, "from here on one line each:\n")?;
            }
            if self.shown <= IN_FULL + IN_BRIEF {
                writeln!(out, "{}", brief::line(finding, self.paint, &self.secrets))?;
            }
            return Ok(());
        }
        let mut text = match finding.subject {
            Subject::Item(_) => code::draw(finding, self.paint, self.sources),
            Subject::Session(_) => traffic::draw(finding, self.paint, &self.secrets),
        };
        self.advise(finding, &mut text);
        out.write_all(text.as_bytes())
    }

    fn finish(&mut self, summary: &Summary, verdict: Verdict, out: &mut dyn Write) -> io::Result<()> {
        if self.shown > IN_FULL {
            let hidden = self.shown.saturating_sub(IN_FULL + IN_BRIEF);
            if hidden > 0 {
                writeln!(out, "and {hidden} more, counted below")?;
            }
            writeln!(out)?;
        }
        out.write_all(closing::draw(summary, verdict, self.paint).as_bytes())
    }
}

impl Human<'_> {
    /// What to do and where to read more: the same last lines for both halves.
    fn advise(&self, finding: &Finding, text: &mut String) {
        let help = Voice::of(finding, &self.secrets).text(&finding.help);
        let head = format!("  {}: ", self.paint.ink(Ink::Note, "help"));
        self.paint.wrap(text, &head, "        ", 8, &help);
        let command = format!("unbroken explain {}", finding.breach.id());
        text.push_str(&format!("  {}: {command}\n\n", self.paint.ink(Ink::Note, "more")));
    }
}
