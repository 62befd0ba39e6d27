//! Events in, findings and counts out: join, timelines and rules as one pure function.
//! Knows no file and no reader; the same events give the same findings in whatever order they come.

use crate::event::{Event, Method};
use crate::finding::{Finding, Step};
use crate::join::{self, Joined};
use crate::proof::Court;
use crate::rules;
use crate::spread::{Charts, Spread};
use crate::table::Tables;
use crate::timeline::{self, Timeline};
use unbroken_contract::close::Close;

/// What was seen, for the summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sessions.
    pub sessions: u64,
    /// Streams reopened, and sessions initialized again after a close.
    pub reconnects: u64,
    /// Reopenings that presented a cursor.
    pub resumes: u64,
    /// `tools/call` requests.
    pub calls: u64,
    /// Exchanges.
    pub exchanges: u64,
    /// Exchanges of an era that is not judged.
    pub not_judged: u64,
    /// First and last moment.
    pub span: Option<(i64, i64)>,
    /// How it spreads, for plots.
    pub charts: Charts,
}

/// Judges `events`; `paths` are the files that their origins point to.
///
/// Findings come in the order of the log: by the first dated step of their proof, then by fingerprint.
#[must_use]
pub fn judge(events: Vec<Event>, paths: &[String]) -> (Vec<Finding>, Counts) {
    judge_into(events, paths, None)
}

/// The same, and the sessions and calls as rows where somebody wants them.
pub(crate) fn judge_into(
    events: Vec<Event>,
    paths: &[String],
    mut tables: Option<&mut Tables>,
) -> (Vec<Finding>, Counts) {
    let joined = join::join(events);
    let span = span(&joined);
    let timelines = timeline::build(joined);
    let mut court =
        Court { paths, client: None, resumes: std::collections::HashSet::new(), findings: Vec::new() };
    let mut counts = Counts { span, ..Counts::default() };
    let mut spread = Spread::default();
    for timeline in &timelines {
        rules::check(timeline, &mut court);
        count(timeline, &mut counts);
        spread.count(timeline);
        if let Some(tables) = &mut tables {
            tables.take(timeline);
        }
    }
    if let Some(tables) = tables {
        tables.sort();
    }
    counts.charts = spread.finish();
    let mut findings = court.findings;
    findings.sort_by(|a, b| (moment(a), &a.fingerprint).cmp(&(moment(b), &b.fingerprint)));
    (findings, counts)
}

fn moment(finding: &Finding) -> Option<i64> {
    finding.proof.iter().find_map(|step: &Step| step.at)
}

fn span(joined: &Joined) -> Option<(i64, i64)> {
    let starts =
        joined.contacts.iter().map(|contact| contact.start).chain(joined.steps.iter().map(|step| step.at));
    let ends =
        joined.contacts.iter().map(join::Contact::known_until).chain(joined.steps.iter().map(|step| step.at));
    starts.min().zip(ends.max())
}

fn count(timeline: &Timeline, counts: &mut Counts) {
    counts.sessions += timeline.sessions.len() as u64;
    counts.calls += timeline.sends.len() as u64;
    counts.exchanges += timeline.contacts.len() as u64;
    counts.not_judged += timeline.eras.iter().filter(|era| era.is_none()).count() as u64;
    let mut hurt = false;
    for (at, contact) in timeline.contacts.iter().enumerate() {
        if contact.exchange.method == Method::Get && contact.exchange.request.last_event_id.is_some() {
            counts.resumes += 1;
        }
        if contact.initialize().is_some() {
            counts.reconnects += u64::from(std::mem::take(&mut hurt));
        } else if let Some(era) = timeline.eras[at] {
            hurt |= matches!(
                timeline::close::classify(contact, era, true),
                Close::Transport | Close::SessionTerminated
            );
        }
    }
    let reopened = timeline.streams.iter().map(|stream| stream.openings.len().saturating_sub(1) as u64);
    counts.reconnects += reopened.sum::<u64>();
}
