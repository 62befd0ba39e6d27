//! The story of one finding: its diagram, its steps as a list, its sends, and what to do.
//! Knows no other finding; what a proof rests on is shown, never judged again.

use super::diagram::{self, Diagram, Shape};
use super::{in_traffic, place};
use crate::exhibit::{Exhibit, Spot};
use crate::finding::{Finding, Sent};
use crate::render::voice::Voice;
use crate::render::{Sources, moment, reason};
use crate::unprintable::{blot, escape};
use askama::Template;
use std::io;

/// Lines of source around a place.
const AROUND: usize = 2;
/// Letters of a source line; a minified file must not swell the page.
const LONGEST_LINE: usize = 240;

#[derive(Template)]
#[template(path = "story.html")]
struct StoryPage<'a> {
    fingerprint: &'a str,
    breach: &'static str,
    message: String,
    diagram: Option<Diagram>,
    width: u32,
    steps: Vec<StepRow>,
    sends: Vec<SentRow>,
    why: &'static str,
    reasons: Vec<String>,
    help: String,
    facts: Vec<(&'static str, String)>,
    linked: &'a [String],
}

struct StepRow {
    number: usize,
    role: &'static str,
    time: Option<(String, String)>,
    place: String,
    text: String,
    excerpt: Vec<(String, String, bool)>,
}

struct SentRow {
    number: usize,
    time: String,
    place: String,
    session: String,
    id: String,
    status: String,
    reached: &'static str,
    executed: &'static str,
    answered: &'static str,
}

/// The story as markup.
pub(super) fn tell(finding: &Finding, voice: &Voice<'_>, sources: &Sources) -> io::Result<String> {
    let diagram = if in_traffic(finding) { diagram::draw(finding, voice) } else { None };
    let page = StoryPage {
        fingerprint: &finding.fingerprint,
        breach: finding.breach.id(),
        message: voice.say(&finding.message),
        diagram,
        width: diagram::WIDTH,
        steps: steps(finding, voice, sources),
        sends: finding.sends.iter().enumerate().map(|(at, sent)| send(at, sent, voice)).collect(),
        why: reason::title(finding.certainty),
        reasons: if in_traffic(finding) { reason::reasons(finding, voice) } else { Vec::new() },
        help: voice.text(&finding.help),
        facts: facts(finding, voice),
        linked: &finding.linked,
    };
    page.render().map_err(io::Error::other)
}

fn steps(finding: &Finding, voice: &Voice<'_>, sources: &Sources) -> Vec<StepRow> {
    let step = |(index, step): (usize, &crate::finding::Step)| StepRow {
        number: index + 1,
        role: step.role.id(),
        time: step.at.map(|at| (moment::rfc3339(at), moment::time_of_day(at))),
        place: step.exhibit.as_ref().map(place).unwrap_or_default(),
        text: voice.say(&step.words),
        excerpt: step.exhibit.as_ref().map(|exhibit| excerpt(exhibit, sources)).unwrap_or_default(),
    };
    let recorded = |(_, step): &(usize, &crate::finding::Step)| !reason::concludes(step);
    finding.proof.iter().enumerate().filter(recorded).map(step).collect()
}

/// Lines of source around a place of code, without the indentation that all share, the ones meant marked; nothing for
/// logs.
fn excerpt(exhibit: &Exhibit, sources: &Sources) -> Vec<(String, String, bool)> {
    let Spot::Range(range) = exhibit.spot else { return Vec::new() };
    let Some(source) = sources(&exhibit.path) else { return Vec::new() };
    let (first, last) = (range.line as usize, range.end_line as usize);
    let last = last.min(first + 8);
    let source = blot(&source);
    let around = source.lines().take(last + AROUND).skip(first.saturating_sub(AROUND + 1));
    let indent = |line: &str| line.chars().take_while(|c| c.is_whitespace()).count();
    let shared = around.filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    source
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .skip(first.saturating_sub(AROUND + 1))
        .take_while(|(number, _)| *number <= last + AROUND)
        .map(|(number, line)| {
            let meant = (first..=last).contains(&number);
            (format!("{number:>4}"), line.chars().skip(shared).take(LONGEST_LINE).collect(), meant)
        })
        .collect()
}

fn send(at: usize, sent: &Sent, voice: &Voice<'_>) -> SentRow {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    SentRow {
        number: at + 1,
        time: moment::time_of_day(sent.at),
        place: place(&sent.exhibit),
        session: or_dash(sent.session.as_deref().map(|id| escape(&voice.session(id)).into_owned())),
        id: or_dash(sent.rpc_id.as_deref().map(|id| voice.text(id))),
        status: or_dash(sent.status.map(|status| status.to_string())),
        reached: told(sent.reached),
        executed: told(sent.executed),
        answered: told(sent.answered),
    }
}

fn told(fact: Option<bool>) -> &'static str {
    match fact {
        Some(true) => "yes",
        Some(false) => "no",
        None => "not told",
    }
}

fn facts(finding: &Finding, voice: &Voice<'_>) -> Vec<(&'static str, String)> {
    let about = if in_traffic(finding) { "Session" } else { "Function" };
    let foreign = |text: &Option<String>| text.as_deref().map(|text| voice.text(text));
    [(about, voice.subject(finding)), ("Tool", foreign(&finding.tool)), ("Client", foreign(&finding.client))]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}
