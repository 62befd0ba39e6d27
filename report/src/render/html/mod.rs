//! One self-contained page: numbers, plots, a table to filter, and the story of each finding with its diagram.
//! Knows no network; the page forbids itself to load anything, and all foreign text is escaped.

mod cast;
mod diagram;
mod parcel;
mod plot;
mod story;

use super::voice::Voice;
use super::{Look, Render, Sources, human, moment};
use crate::exhibit::Exhibit;
use crate::finding::{Finding, Subject};
use crate::secrets::Secrets;
use crate::summary::{Problem, Seen, Summary};
use crate::unprintable::escape;
use crate::verdict::Verdict;
use askama::Template;
use parcel::Parcels;
use std::io::{self, Write};
use unbroken_contract::Level;

/// Stories that are markup from the start; later ones lie compressed in the page until they are opened.
const DRAWN: u64 = 250;
/// Findings in the table. Nobody reads more on a page, and the page is held in memory until its head can be written.
const MOST: u64 = 10_000;

/// Base64 of the SHA-256 of `page.js`: nothing else may run. The browser test fails when it is not.
const SCRIPT_HASH: &str = "8cBTeHWDqrfL9cj2x1m/NtSddDHxXzCwGKlelHQ8h58=";

pub(super) struct Html<'a> {
    secrets: Secrets,
    sources: &'a Sources,
    rows: String,
    late: Parcels,
    shown: u64,
    clients: plot::Clients,
}

#[derive(Template)]
#[template(path = "row.html")]
struct RowPage<'a> {
    fingerprint: &'a str,
    level: &'static str,
    breach: &'static str,
    certainty: &'static str,
    place: String,
    message: String,
    /// Markup, or nothing where it comes later.
    story: &'a str,
}

#[derive(Template)]
#[template(path = "report.html")]
struct ReportPage<'a> {
    script_hash: &'static str,
    version: &'static str,
    verdict: &'static str,
    headline: String,
    numbers: Vec<(&'static str, String)>,
    overview: Vec<(&'static str, String)>,
    plots: Vec<plot::Plot>,
    breaches: Vec<&'static str>,
    rows: &'a str,
    shown: u64,
    hidden: u64,
    parcels: Vec<String>,
    drawn: u64,
    per_parcel: usize,
    inputs: Vec<(String, String, &'static str, u64, u64)>,
    problems: Vec<ProblemRow>,
    hides: bool,
}

struct ProblemRow {
    place: String,
    message: String,
    help: String,
    count: u64,
    lost: bool,
}

impl<'a> Html<'a> {
    pub(super) fn new(look: Look<'a>) -> Html<'a> {
        Html {
            secrets: look.secrets,
            sources: look.sources,
            rows: String::new(),
            late: Parcels::default(),
            shown: 0,
            clients: plot::Clients::default(),
        }
    }

    fn row(&mut self, finding: &Finding) -> io::Result<String> {
        let voice = Voice::of(finding, &self.secrets);
        let mut story = story::tell(finding, &voice, self.sources)?;
        if self.shown > DRAWN {
            self.late.put(&std::mem::take(&mut story))?;
        }
        let page = RowPage {
            fingerprint: &finding.fingerprint,
            level: finding.level.id(),
            breach: finding.breach.id(),
            certainty: finding.certainty.id(),
            place: finding.place.as_ref().map(place).unwrap_or_default(),
            message: voice.say(&finding.message),
            story: &story,
        };
        page.render().map_err(io::Error::other)
    }
}

impl Render for Html<'_> {
    fn finding(&mut self, finding: &Finding, _: &mut dyn Write) -> io::Result<()> {
        self.clients.count(finding);
        self.shown += 1;
        if self.shown <= MOST {
            let row = self.row(finding)?;
            self.rows.push_str(&row);
        }
        Ok(())
    }

    fn finish(&mut self, summary: &Summary, verdict: Verdict, out: &mut dyn Write) -> io::Result<()> {
        let page = ReportPage {
            script_hash: SCRIPT_HASH,
            version: env!("CARGO_PKG_VERSION"),
            verdict: verdict.id(),
            headline: human::headline(summary, verdict),
            numbers: numbers(summary),
            overview: overview(summary),
            plots: plot::plots(summary, &self.clients),
            breaches: summary.counts.keys().map(|breach| breach.id()).collect(),
            rows: &self.rows,
            shown: self.shown.min(MOST),
            hidden: self.shown.saturating_sub(MOST),
            parcels: std::mem::take(&mut self.late).close()?,
            drawn: DRAWN,
            per_parcel: parcel::STORIES,
            inputs: inputs(summary),
            problems: summary.problems.iter().map(problem).collect(),
            hides: !self.secrets.reveals(),
        };
        page.write_into(&mut *out)
    }
}

/// Path and spot as they may be shown.
fn place(exhibit: &Exhibit) -> String {
    exhibit.to_string()
}

fn numbers(summary: &Summary) -> Vec<(&'static str, String)> {
    let mut numbers: Vec<(&'static str, String)> = vec![
        ("deny", summary.findings_of(Level::Deny).to_string()),
        ("warn", summary.findings_of(Level::Warn).to_string()),
        ("note", summary.findings_of(Level::Note).to_string()),
    ];
    let count = |name, count: u64| (name, count.to_string());
    match summary.seen {
        Seen::Code { files_seen, files_checked, files_apart, crates } => numbers.extend([
            count("Rust files", files_seen),
            count("of them checked", files_checked),
            count("left apart", files_apart),
            count("crates", crates),
        ]),
        Seen::Traffic { sessions, reconnects, resumes, calls, exchanges, not_judged, span } => {
            numbers.extend([
                count("sessions", sessions),
                count("reconnects", reconnects),
                count("with a cursor", resumes),
                count("tool calls", calls),
                count("exchanges", exchanges),
            ]);
            if not_judged > 0 {
                numbers.push(count("not judged", not_judged));
            }
            if let Some((from, until)) = span {
                numbers.push(("time span", moment::stretch(until.saturating_sub(from))));
            }
        }
    }
    for (name, left_out) in [
        ("accepted", summary.accepted),
        ("in the baseline", summary.baselined),
        ("of other times, sessions, clients or tools", summary.out_of_scope),
        ("less certain than asked for", summary.less_certain),
    ] {
        if left_out > 0 {
            numbers.push(count(name, left_out));
        }
    }
    numbers
}

fn overview(summary: &Summary) -> Vec<(&'static str, String)> {
    let shown = |(about, sentence): (&'static str, String)| (about, escape(&sentence).into_owned());
    summary.overview().into_iter().map(shown).collect()
}

fn inputs(summary: &Summary) -> Vec<(String, String, &'static str, u64, u64)> {
    let shown = |text: &str| escape(text).into_owned();
    summary
        .inputs
        .iter()
        .map(|input| {
            let read = if input.read { "yes" } else { "no" };
            (shown(&input.path), shown(&input.format), read, input.records, input.events)
        })
        .collect()
}

fn problem(problem: &Problem) -> ProblemRow {
    ProblemRow {
        place: place(&problem.exhibit),
        message: escape(&problem.message).into_owned(),
        help: escape(&problem.help).into_owned(),
        count: problem.count,
        lost: problem.lost,
    }
}

/// Whether a finding is one of traffic.
fn in_traffic(finding: &Finding) -> bool {
    matches!(finding.subject, Subject::Session(_))
}
