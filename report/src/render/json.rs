//! One JSON object per line, the last one the summary: the shape of `docs/formats/json.md`.
//! Knows no terminal, yet writes no character that would act on one.

use super::harmless;
use super::voice::Voice;
use super::{Render, moment};
use crate::exhibit::{Exhibit, Spot};
use crate::finding::{Finding, Sent, Step, Subject};
use crate::overview::{Count, Few, Repeats, tenths_of};
use crate::secrets::Secrets;
use crate::summary::{Seen, Summary};
use crate::verdict::Verdict;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Version of a finding's shape. Fields may be added under the same number.
const FINDING: &str = "unbroken.finding/1";
/// Version of the summary's shape.
const SUMMARY: &str = "unbroken.summary/1";

/// Names of one kind in the overview.
const MOST_NAMES: usize = 100;

pub(super) struct Json {
    secrets: Secrets,
}

#[derive(Serialize)]
struct FindingLine {
    format: &'static str,
    breach: &'static str,
    level: &'static str,
    certainty: &'static str,
    #[serde(flatten)]
    place: Place,
    #[serde(flatten)]
    subject: SubjectField,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    message: String,
    help: String,
    proof: Vec<StepField>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sends: Vec<SentField>,
    #[serde(skip_serializing_if = "Option::is_none")]
    same_by: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    linked: Vec<String>,
    fingerprint: String,
}

#[derive(Serialize, Default)]
struct Place {
    path: Option<String>,
    line: Option<u64>,
    column: Option<u32>,
    end_line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum SubjectField {
    Item(String),
    Session(Option<String>),
}

#[derive(Serialize)]
struct StepField {
    role: &'static str,
    #[serde(flatten)]
    place: Place,
    time: Option<String>,
    text: String,
}

#[derive(Serialize)]
struct SentField {
    #[serde(flatten)]
    place: Place,
    time: String,
    session: Option<String>,
    id: Option<String>,
    status: Option<u16>,
    reached: Option<bool>,
    executed: Option<bool>,
    answered: Option<bool>,
}

#[derive(Serialize)]
struct SummaryLine<'a> {
    format: &'static str,
    verdict: &'static str,
    exit_code: u8,
    findings: BTreeMap<&'static str, u64>,
    levels: Levels,
    accepted: u64,
    baselined: u64,
    less_certain: u64,
    out_of_scope: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    overview: Option<OverviewField>,
    seen: SeenField,
    inputs: Vec<InputField<'a>>,
    problems: Vec<ProblemField>,
    unreadable: u64,
}

#[derive(Serialize)]
struct Levels {
    deny: u64,
    warn: u64,
    note: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case", tag = "half")]
enum SeenField {
    Lint {
        files_seen: u64,
        files_checked: u64,
        files_apart: u64,
        crates: u64,
    },
    Audit {
        sessions: u64,
        reconnects: u64,
        resumes: u64,
        calls: u64,
        exchanges: u64,
        not_judged: u64,
        from: Option<String>,
        until: Option<String>,
    },
}

#[derive(Serialize)]
struct OverviewField {
    clients_losing_sessions: NamesField<u64>,
    servers_answering_wrongly: NamesField<u64>,
    tools_called_again: NamesField<RepeatsField>,
    cut_after: Vec<LimitField>,
    resumed: u64,
}

/// The names with the largest counts; the others are added up.
#[derive(Serialize)]
struct NamesField<C> {
    top: Vec<NameField<C>>,
    others: u64,
    rest: C,
}

#[derive(Serialize)]
struct NameField<C> {
    name: String,
    count: C,
}

#[derive(Serialize)]
struct RepeatsField {
    calls: u64,
    sends: u64,
    ran_twice: u64,
}

#[derive(Serialize)]
struct LimitField {
    seconds: f64,
    streams: u64,
}

#[derive(Serialize)]
struct InputField<'a> {
    path: &'a str,
    #[serde(rename = "format")]
    read_as: &'a str,
    read: bool,
    records: u64,
    events: u64,
}

#[derive(Serialize)]
struct ProblemField {
    #[serde(flatten)]
    place: Place,
    message: String,
    help: String,
    count: u64,
    lost: bool,
}

impl Json {
    pub(super) fn new(secrets: Secrets) -> Json {
        Json { secrets }
    }

    fn finding_line(&self, finding: &Finding) -> FindingLine {
        let voice = Voice::of(finding, &self.secrets);
        FindingLine {
            format: FINDING,
            breach: finding.breach.id(),
            level: finding.level.id(),
            certainty: finding.certainty.id(),
            place: finding.place.as_ref().map(Place::of).unwrap_or_default(),
            subject: match &finding.subject {
                Subject::Item(item) => SubjectField::Item(item.clone()),
                Subject::Session(id) => SubjectField::Session(id.as_deref().map(|id| voice.session(id))),
            },
            tool: finding.tool.as_deref().map(|tool| voice.exact_text(tool)),
            message: voice.exact(&finding.message),
            help: voice.exact_text(&finding.help),
            proof: finding.proof.iter().map(|step| StepField::of(step, &voice)).collect(),
            sends: finding.sends.iter().map(|sent| SentField::of(sent, &voice)).collect(),
            same_by: finding.same_by,
            missing: finding.missing.as_deref().map(|fact| voice.exact_text(fact)),
            linked: finding.linked.clone(),
            fingerprint: finding.fingerprint.clone(),
        }
    }
}

impl StepField {
    fn of(step: &Step, voice: &Voice<'_>) -> StepField {
        StepField {
            role: step.role.id(),
            place: step.exhibit.as_ref().map(Place::of).unwrap_or_default(),
            time: step.at.map(moment::rfc3339),
            text: voice.exact(&step.words),
        }
    }
}

impl SentField {
    fn of(sent: &Sent, voice: &Voice<'_>) -> SentField {
        SentField {
            place: Place::of(&sent.exhibit),
            time: moment::rfc3339(sent.at),
            session: sent.session.as_deref().map(|id| voice.session(id)),
            id: sent.rpc_id.as_deref().map(|id| voice.exact_text(id)),
            status: sent.status,
            reached: sent.reached,
            executed: sent.executed,
            answered: sent.answered,
        }
    }
}

impl Place {
    fn of(exhibit: &Exhibit) -> Place {
        let range = exhibit.spot.range();
        let end_line = match exhibit.spot {
            Spot::Line(line) => Some(line),
            _ => range.map(|range| u64::from(range.end_line)),
        };
        Place {
            path: Some(exhibit.path.clone()),
            line: exhibit.spot.line(),
            column: range.map(|range| range.column),
            end_line,
            end_column: range.map(|range| range.end_column),
            entry: exhibit.spot.entry(),
        }
    }
}

impl OverviewField {
    fn of(summary: &Summary) -> Option<OverviewField> {
        let Seen::Traffic { .. } = summary.seen else { return None };
        let overview = &summary.overview;
        let repeats = |repeats: &Repeats| {
            let Repeats { calls, sends, ran_twice } = *repeats;
            RepeatsField { calls, sends, ran_twice }
        };
        // A tenth of a second is exact enough as a number: limits are whole seconds.
        let limit = |(tenths, streams): &(u64, u64)| LimitField {
            seconds: tenths_of(*tenths).trim_end_matches(" s").parse().unwrap_or_default(),
            streams: *streams,
        };
        Some(OverviewField {
            clients_losing_sessions: names(&overview.losing, &|count| *count),
            servers_answering_wrongly: names(&overview.dialects, &|count| *count),
            tools_called_again: names(&overview.tools, &repeats),
            cut_after: summary.charts.limits.iter().map(limit).collect(),
            resumed: summary.charts.resumed(),
        })
    }
}

fn names<C: Count, F>(few: &Few<C>, field: &dyn Fn(&C) -> F) -> NamesField<F> {
    let top = few.top(MOST_NAMES);
    let shown = top.shown.into_iter().map(|(name, count)| NameField { name, count: field(&count) });
    NamesField { top: shown.collect(), others: top.others, rest: field(&top.rest) }
}

impl SeenField {
    fn of(seen: &Seen) -> SeenField {
        match *seen {
            Seen::Code { files_seen, files_checked, files_apart, crates } => {
                SeenField::Lint { files_seen, files_checked, files_apart, crates }
            }
            Seen::Traffic { sessions, reconnects, resumes, calls, exchanges, not_judged, span } => {
                SeenField::Audit {
                    sessions,
                    reconnects,
                    resumes,
                    calls,
                    exchanges,
                    not_judged,
                    from: span.map(|(from, _)| moment::rfc3339(from)),
                    until: span.map(|(_, until)| moment::rfc3339(until)),
                }
            }
        }
    }
}

impl Render for Json {
    fn finding(&mut self, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
        harmless::line(&self.finding_line(finding), out)
    }

    fn finish(&mut self, summary: &Summary, verdict: Verdict, out: &mut dyn Write) -> io::Result<()> {
        use unbroken_contract::Level;
        let problem = |problem: &crate::summary::Problem| ProblemField {
            place: Place::of(&problem.exhibit),
            message: problem.message.clone(),
            help: problem.help.clone(),
            count: problem.count,
            lost: problem.lost,
        };
        let line = SummaryLine {
            format: SUMMARY,
            verdict: verdict.id(),
            exit_code: verdict.exit_code(),
            findings: summary.counts.iter().map(|(breach, count)| (breach.id(), count.total())).collect(),
            levels: Levels {
                deny: summary.findings_of(Level::Deny),
                warn: summary.findings_of(Level::Warn),
                note: summary.findings_of(Level::Note),
            },
            accepted: summary.accepted,
            baselined: summary.baselined,
            less_certain: summary.less_certain,
            out_of_scope: summary.out_of_scope,
            overview: OverviewField::of(summary),
            seen: SeenField::of(&summary.seen),
            inputs: summary
                .inputs
                .iter()
                .map(|input| InputField {
                    path: &input.path,
                    read_as: &input.format,
                    read: input.read,
                    records: input.records,
                    events: input.events,
                })
                .collect(),
            problems: summary.problems.iter().map(problem).collect(),
            unreadable: summary.lost(),
        };
        harmless::line(&line, out)
    }
}
