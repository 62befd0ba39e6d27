//! One line per finding: place, level, breach, what happened.
//! Knows no proof.

use super::paint::{Ink, Paint};
use super::voice::Voice;
use super::{Look, Render, human};
use crate::finding::Finding;
use crate::secrets::Secrets;
use crate::summary::Summary;
use crate::unprintable::escape;
use crate::verdict::Verdict;
use std::io::{self, Write};

pub(super) struct Brief {
    paint: Paint,
    secrets: Secrets,
}

impl Brief {
    pub(super) fn new(look: Look<'_>) -> Brief {
        Brief {
            paint: Paint {
                color: look.color,
                unicode: look.unicode,
                width: look.width,
                address: look.address,
            },
            secrets: look.secrets,
        }
    }
}

/// The line of a finding: `path:12:5: deny session-discarded: what happened (proved)`.
pub(super) fn line(finding: &Finding, paint: Paint, secrets: &Secrets) -> String {
    let place = finding.place.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
    let level = paint.ink(human::ink(finding.level), finding.level.id());
    let message = Voice::of(finding, secrets).say(&finding.message);
    let breach = paint.ink(Ink::Strong, finding.breach.id());
    format!(
        "{}: {level} {breach}: {} ({})",
        paint.place(&place, finding.place.as_ref()),
        escape(&message),
        finding.certainty.id()
    )
}

impl Render for Brief {
    fn finding(&mut self, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", line(finding, self.paint, &self.secrets))
    }

    fn finish(&mut self, summary: &Summary, verdict: Verdict, out: &mut dyn Write) -> io::Result<()> {
        for problem in &summary.problems {
            let kind = if problem.lost { "unreadable" } else { "note" };
            writeln!(out, "{}: {kind}: {}", problem.exhibit, escape(&problem.message))?;
        }
        writeln!(out, "{}", human::headline(summary, verdict))
    }
}
