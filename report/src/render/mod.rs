//! Every way to show findings: one renderer per format, all fed the same way.
//! Knows no file and no terminal; where the output goes and how wide it is comes from outside.

mod brief;
mod cargo;
mod csv;
mod github;
mod harmless;
mod html;
mod human;
mod json;
mod junit;
mod markdown;
mod moment;
mod paint;
mod reason;
mod sarif;
mod voice;

use crate::finding::Finding;
use crate::secrets::Secrets;
use crate::summary::Summary;
use crate::verdict::Verdict;
use std::io::{self, Write};

/// A way to show a run: findings one by one as they come, the summary at the end.
pub trait Render {
    /// Shows one finding.
    ///
    /// # Errors
    /// Those of the writer.
    fn finding(&mut self, finding: &Finding, out: &mut dyn Write) -> io::Result<()>;

    /// Shows what the run read and saw, and ends the output.
    ///
    /// # Errors
    /// Those of the writer.
    fn finish(&mut self, summary: &Summary, verdict: Verdict, out: &mut dyn Write) -> io::Result<()>;
}

/// The formats there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// For a person at a terminal.
    Human,
    /// One line per finding.
    Brief,
    /// One JSON object per line: `docs/formats/json.md`.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Annotations of GitHub Actions.
    Github,
    /// JUnit XML, for build servers.
    Junit,
    /// Markdown, for comments and step summaries.
    Markdown,
    /// One self-contained page with a diagram per finding.
    Html,
    /// The compiler's JSON diagnostics, for editors.
    Cargo,
    /// Comma-separated values, for spreadsheets.
    Csv,
}

impl Format {
    /// Every format, in the order of the documentation.
    pub const ALL: &'static [Format] = &[
        Format::Human,
        Format::Brief,
        Format::Json,
        Format::Sarif,
        Format::Github,
        Format::Junit,
        Format::Markdown,
        Format::Html,
        Format::Cargo,
        Format::Csv,
    ];

    /// The word used in options.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Format::Human => "human",
            Format::Brief => "brief",
            Format::Json => "json",
            Format::Sarif => "sarif",
            Format::Github => "github",
            Format::Junit => "junit",
            Format::Markdown => "markdown",
            Format::Html => "html",
            Format::Cargo => "cargo",
            Format::Csv => "csv",
        }
    }

    /// The format with this word.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Format> {
        Format::ALL.iter().copied().find(|format| format.id() == id)
    }
}

/// Gives the text of a source file for an excerpt; `None` where it cannot be read any more.
pub type Sources = dyn Fn(&str) -> Option<String>;

/// Gives the URL of a file, for terminals that have hyperlinks; `None` where it has none.
pub type Address = fn(&str) -> Option<String>;

/// How output looks, apart from its format.
pub struct Look<'a> {
    /// With ANSI colours.
    pub color: bool,
    /// With box-drawing characters; plain ASCII without.
    pub unicode: bool,
    /// Columns to wrap at.
    pub width: usize,
    /// Where the terminal has hyperlinks: what a path leads to.
    pub address: Option<Address>,
    /// How secrets are shown.
    pub secrets: Secrets,
    /// Where excerpts of source come from.
    pub sources: &'a Sources,
}

/// The day of a moment in UTC, as `2026-12-31`; `nanos` since the Unix epoch.
#[must_use]
pub fn day(nanos: i64) -> String {
    moment::day(nanos)
}

/// The renderer of a format.
#[must_use]
pub fn renderer<'a>(format: Format, look: Look<'a>) -> Box<dyn Render + 'a> {
    match format {
        Format::Human => Box::new(human::Human::new(look)),
        Format::Brief => Box::new(brief::Brief::new(look)),
        Format::Json => Box::new(json::Json::new(look.secrets)),
        Format::Sarif => Box::new(sarif::Sarif::new(look.secrets)),
        Format::Github => Box::new(github::Github::new(look)),
        Format::Junit => Box::new(junit::Junit::new(look.secrets)),
        Format::Markdown => Box::new(markdown::Markdown::new(look.secrets)),
        Format::Html => Box::new(html::Html::new(look)),
        Format::Cargo => Box::new(cargo::Cargo::new(look)),
        Format::Csv => Box::new(csv::Csv::new(look.secrets)),
    }
}
