//! Events in, findings and counts out: join, timelines and rules as one pure function.
//! Knows no file and no reader; the same events give the same findings in whatever order they come.

use crate::cost::Costs;
use crate::event::{Event, Method, Nanos};
use crate::finding::{Finding, Step};
use crate::given::Given;
use crate::join::{self, Ahead, Clocks, Joined};
use crate::proof::Court;
use crate::quick::HashSet;
use crate::rules;
use crate::skim::{Kind, Skim};
use crate::spread::{Charts, Spread};
use crate::table::Tables;
use crate::timeline::{self, Session, Timeline, Tools};

/// What was seen, for the summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sessions.
    pub sessions: u64,
    /// Streams opened again after a connection of theirs had ended, and sessions initialized after a close on the one before.
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
    /// Clocks that are off.
    pub ahead: Vec<Ahead>,
}

/// What is known of a whole input when a part of it is judged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Whole {
    /// What tools declared of themselves.
    pub(crate) tools: Tools,
    /// The time that second logs cover.
    pub(crate) remarked: Option<(Nanos, Nanos)>,
    /// There are more clients than those of the part.
    pub(crate) others: bool,
    /// What is known of its clocks, where that was learned from more than the part.
    pub(crate) clocks: Option<Clocks>,
    /// The logs that it has, as far as they were seen.
    pub(crate) given: Given,
}

/// Records by file and offset.
pub(crate) type Places = HashSet<(u32, u64)>;

/// What is known where not all records of a client are looked at.
#[derive(Debug, Default)]
pub(crate) struct Calm {
    /// Records that opened a session when the client had suffered no close on the one before.
    pub(crate) opened: Places,
    /// Sessions, as hashes of their ids, on which an answered request made up for all that the client suffered.
    pub(crate) healed: HashSet<u64>,
}

/// What a judgement gave.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// Findings, in the order of the log.
    pub(crate) findings: Vec<Finding>,
    /// What was counted.
    pub(crate) tally: Tally,
    /// Rows, where they were asked for.
    pub(crate) tables: Tables,
}

/// What judgements of parts have counted together.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    counts: Counts,
    spread: Spread,
    /// Sessions that ended, as hashes of their ids with their first moments.
    sessions: Vec<(u64, Nanos)>,
}

/// Judges `events`; `paths` are the files that their origins point to.
///
/// Findings come in the order of the log: by the first dated step of their proof, then by fingerprint.
#[must_use]
pub fn judge(events: Vec<Event>, paths: &[String]) -> (Vec<Finding>, Counts) {
    let heard = hear(events, paths, &Whole::default(), &Part::ALL);
    (heard.findings, heard.tally.finish())
}

/// What a part of an input is, and what is asked of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'p> {
    /// Where the part will be judged again with what comes later: the records that will not be there again. What rests on
    /// none of them is left for then.
    pub(crate) done: Option<&'p Places>,
    /// Rows are wanted too.
    pub(crate) rows: bool,
    /// The records are all there, so that sessions can be counted by them.
    pub(crate) sessions: bool,
    /// What is known of records that are not there.
    pub(crate) calm: Option<&'p Calm>,
    /// Where the time of each rule is noted, if it is.
    pub(crate) costs: Option<&'p Costs>,
}

impl Part<'_> {
    /// All there is.
    pub(crate) const ALL: Part<'static> =
        Part { done: None, rows: false, sessions: true, calm: None, costs: None };
}

/// Judges a part of an input.
pub(crate) fn hear(events: Vec<Event>, paths: &[String], whole: &Whole, part: &Part<'_>) -> Heard {
    let Part { done, rows, sessions, .. } = *part;
    let mut given = whole.given;
    events.iter().for_each(|event| given.note(event));
    let joined = join::join_among(events, whole.remarked, whole.clocks.as_ref());
    let mut heard = Heard::default();
    heard.tally.counts.span = span(&joined);
    heard.tally.counts.ahead.clone_from(&joined.ahead);
    let timelines = timeline::build_among(joined, &whole.tools, whole.others, part.calm);
    let mut court = Court {
        paths,
        client: None,
        resumes: HashSet::default(),
        given,
        findings: Vec::new(),
        costs: part.costs,
    };
    for timeline in &timelines {
        rules::check(timeline, &mut court);
        let is_done = |at: usize| {
            let origin = timeline.contacts[at].origin();
            done.is_none_or(|done| done.contains(&(origin.file, origin.offset)))
        };
        heard.tally.count(timeline, &is_done, sessions);
        if rows {
            heard.tables.take(timeline, &is_done);
        }
    }
    heard.findings = court.findings;
    if let Some(done) = done {
        heard.findings.retain(|finding| rests_on(finding, done));
    }
    in_order(&mut heard.findings);
    heard
}

/// Puts findings in the order of the log.
pub(crate) fn in_order(findings: &mut [Finding]) {
    findings.sort_by(|a, b| (moment(a), &a.fingerprint).cmp(&(moment(b), &b.fingerprint)));
}

fn rests_on(finding: &Finding, done: &Places) -> bool {
    let mut exhibits = finding.proof.iter().filter_map(|step| step.exhibit.as_ref());
    exhibits.any(|exhibit| done.contains(&(exhibit.file, exhibit.offset)))
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

impl Tally {
    /// Adds what one client did, as far as it is done.
    fn count(&mut self, timeline: &Timeline, done: &dyn Fn(usize) -> bool, sessions: bool) {
        if sessions {
            let ended = |session: &&Session| session.contacts.last().is_some_and(|at| done(*at));
            let sessions = timeline.sessions.iter().filter(ended);
            self.add_sessions(
                sessions.map(|session| (crate::ledger::route::hash(&session.id), session.first)),
            );
        }
        let counts = &mut self.counts;
        counts.calls += timeline.sends.iter().filter(|send| done(send.contact)).count() as u64;
        for (at, contact) in timeline.contacts.iter().enumerate() {
            let counted = u64::from(done(at));
            counts.exchanges += counted;
            counts.not_judged += u64::from(timeline.eras[at].is_none()) * counted;
            if contact.exchange.method == Method::Get && contact.exchange.request.last_event_id.is_some() {
                counts.resumes += counted;
            }
        }
        let made = timeline.reconnects.iter().filter(|reconnect| done(reconnect.contact));
        counts.reconnects += made.count() as u64;
        self.spread.count(timeline, done);
    }

    /// Adds sessions by hashes of their ids, with their first moments.
    pub(crate) fn add_sessions(&mut self, sessions: impl IntoIterator<Item = (u64, Nanos)>) {
        self.sessions.extend(sessions);
    }

    /// Leaves out the sessions that `keep` does not want.
    pub(crate) fn retain_sessions(&mut self, mut keep: impl FnMut(u64) -> bool) {
        self.sessions.retain(|(session, _)| keep(*session));
    }

    fn count_sessions(&mut self, sessions: Vec<(u64, Nanos)>) {
        self.counts.sessions += sessions.len() as u64;
        sessions.into_iter().for_each(|(_, first)| self.spread.start(first));
    }

    /// Adds an ordinary record that no judgement has to look at.
    pub(crate) fn add_ordinary(&mut self, skim: &Skim) {
        let counts = &mut self.counts;
        counts.exchanges += 1;
        counts.calls += u64::from(skim.kind == Kind::Request && skim.call != 0);
        let (from, to) = counts.span.unwrap_or((skim.start, skim.end));
        counts.span = Some((from.min(skim.start), to.max(skim.end)));
    }

    /// Takes over what another part has counted.
    pub(crate) fn add(&mut self, other: Tally) {
        self.count_sessions(other.sessions);
        let (a, b) = (&mut self.counts, other.counts);
        a.sessions += b.sessions;
        a.reconnects += b.reconnects;
        a.resumes += b.resumes;
        a.calls += b.calls;
        a.exchanges += b.exchanges;
        a.not_judged += b.not_judged;
        a.span = match (a.span, b.span) {
            (Some((from, to)), Some((other, until))) => Some((from.min(other), to.max(until))),
            (known, other) => known.or(other),
        };
        a.ahead.extend(b.ahead);
        a.ahead.sort_unstable();
        a.ahead.dedup();
        self.spread.add(other.spread);
    }

    /// The finished counts.
    pub(crate) fn finish(mut self) -> Counts {
        let sessions = std::mem::take(&mut self.sessions);
        self.count_sessions(sessions);
        Counts { charts: self.spread.finish(), ..self.counts }
    }
}
