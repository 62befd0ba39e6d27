//! Thinning: which ordinary records of a client a judgement needs; the others are counted and not looked at.
//! Knows what any rule may look for beyond the record it is about; where that cannot be told, everything is needed.
//!
//! An ordinary record is an answered request, an accepted notification, an `initialize` or a DELETE ([`crate::skim`]).
//! Alone it breaks nothing, so a rule meets it only beside another record. What is kept, and for which rules:
//!
//! - calls equal to one of a record that is not ordinary: chains (`duplicate-invocation`, `blind-retry`,
//!   `reissue-kept-id`, `response-undelivered`);
//! - requests whose JSON-RPC id another record of the session has: `request-id-reused`, answers on other streams, cancels,
//!   `foreign-replay` by its response;
//! - records that delivered an event id which a resume presents or brings, or which the session has twice: all rules on
//!   cursors and replays, `event-id-reused`, `unowned-resume`;
//! - of a session with a record that is not ordinary: the last request (what a client suffered before it is made up for), the
//!   last one before an `initialize` that follows directly, the first call (one that was answered ends a loop of tries), the
//!   last POST, the DELETE, the first request without recorded bodies (`session-discarded`, `orphaned-session`,
//!   `session-ended-on-transient`, `clamped-cursor`), and the `initialize` that follows in the client (also for reconnects);
//! - of a session with a refusal: all that follows it, and the first and last record of each instance
//!   (`expired-session-kept`, `session-misrouted`, `retention-too-short`, `unknown-session-not-404`);
//! - what follows a DELETE; records under another protocol version than the session's first (`context-changed`); records
//!   that tell of the client otherwise than those before; records that may be one line delivered twice;
//! - the first record and the `initialize` of every session of which something is kept, and of the client.
//!
//! `replay-gap` by number alone also looks for ids of other streams that could be of the same count; where such a finding
//! comes out of a thinned judgement it is made again in full (see [`doubtful`]).

use super::docket::Loud;
use super::route;
use crate::event::{
    Arguments, Body, Exchange, Message, Method, Nanos, RpcOutcome, RpcRequest, Vantage, What,
};
use crate::finding::{Certainty, Finding};
use crate::mapping::{CallMark, info_mark};
use crate::order::Order;
use crate::quick::{HashMap, HashSet};
use crate::skim::{Beside, Kind, Skim, mark};
use crate::timeline::close::id_text;
use unbroken_contract::breach::Breach;
use unbroken_contract::era::Era;

/// How far apart records of two logs may be and still speak of one exchange (`join::vantage`), with room.
const BESIDE: Nanos = 1_500_000_000;
/// Programs behind one key of a client; with more, all is looked at.
const MOST_CLASSES: usize = 8;

/// Which skims a judgement needs, in their order; none: all of them.
pub(super) fn needed(
    louds: &[Loud],
    skims: &[(Skim, Beside<'_>)],
    vantage: &dyn Fn(u16) -> Option<Vantage>,
) -> Option<Vec<bool>> {
    let facts: Vec<Facts> = louds.iter().map(facts).collect::<Option<_>>()?;
    if !one_place(louds, skims, vantage) {
        return None;
    }
    let mut view = View::of(&facts, louds, skims);
    view.number_classes(&facts, skims)?;
    if view.apart() {
        return None;
    }
    let mut keep = Keep { real: vec![false; skims.len()], stub: vec![false; skims.len()] };
    view.equal(&facts, skims, &mut keep);
    view.walk(&facts, skims, &mut keep);
    view.close(&facts, &mut keep);
    Some(keep.real.iter().zip(&keep.stub).map(|(real, stub)| *real || *stub).collect())
}

/// Whether a finding out of a thinned judgement rests on the absence of what may have been left out.
pub(super) fn doubtful(findings: &[Finding]) -> bool {
    findings.iter().any(|found| found.breach.0 == Breach::ReplayGap && found.certainty != Certainty::Proved)
}

/// What of a record that is not ordinary bears on ordinary ones.
#[derive(Debug)]
struct Facts {
    session: Option<u64>,
    client: u64,
    info: u32,
    /// It is a POST that is no cancellation.
    used: bool,
    opens: bool,
    deletes: bool,
    /// The server refused, or answered with an error.
    refused: bool,
    /// The protocol version that counts for `context-changed`; 0: none.
    version: u32,
    calls: Vec<u32>,
    asked: Vec<u32>,
    ids: Vec<u32>,
}

/// The facts of a record; none: it is of a kind that bears on more than can be told here.
fn facts(loud: &Loud) -> Option<Facts> {
    let event = &loud.event;
    let What::Exchange(exchange) = &event.what else { return None };
    if event.sampled || exchange.request.mcp_method.is_some() {
        return None;
    }
    let sent: &[Message] = match &exchange.request.body {
        Body::Messages(messages) => messages,
        Body::Unknown | Body::Empty if exchange.method != Method::Post => &[],
        _ => return None,
    };
    let requests = || sent.iter().filter_map(request);
    let versions = exchange
        .request
        .protocol_version
        .iter()
        .chain(requests().filter_map(|r| r.protocol_version.as_ref()));
    let mut stateless = versions.into_iter().any(|version| Era::of_revision(version) == Some(Era::Stateless));
    let mut calls = Vec::new();
    for call in requests().filter_map(|request| request.call.as_ref()) {
        let CallMark::One(mark) = loud.mark else { return None };
        if !matches!(call.arguments, Arguments::Canonical { .. }) || sent.len() > 1 {
            return None;
        }
        calls.push(mark);
    }
    let mut asked: Vec<u32> = requests().filter_map(|r| r.id.as_ref()).map(|id| mark(id_text(id))).collect();
    let cancels = sent.iter().filter_map(|message| match message {
        Message::Notification(told) => told.cancels.as_ref(),
        _ => None,
    });
    let cancelled: Vec<u32> = cancels.map(|id| mark(id_text(id))).collect();
    let used = exchange.method == Method::Post && cancelled.is_empty();
    asked.extend(cancelled);
    let mut refused = matches!(exchange.status, Some(300..=498)) && exchange.status != Some(405);
    for message in answers(exchange) {
        let Message::Response(response) = message else { continue };
        asked.extend(response.id.as_ref().map(|id| mark(id_text(id))));
        refused |= matches!(response.outcome, RpcOutcome::Error { .. });
        if let RpcOutcome::Initialized { protocol_version: Some(version), .. } = &response.outcome {
            stateless |= Era::of_revision(version) == Some(Era::Stateless);
        }
    }
    let events = exchange.response.events.iter().flatten().filter_map(|event| event.id.as_deref());
    let ids = events.chain(exchange.request.last_event_id.as_deref()).map(mark).collect();
    let opens = requests().any(|request| &*request.method == "initialize");
    let spoken = exchange.request.session.is_some() && matches!(exchange.status, Some(200..=299)) && !opens;
    let version = exchange.request.protocol_version.as_deref().filter(|_| spoken).map_or(0, mark);
    let agent = event.identity.user_agent.is_some();
    let info = event.identity.client.as_ref().map_or(0, |info| info_mark(&info.name, &info.version, agent));
    (!stateless).then(|| Facts {
        session: route::session(event).map(route::hash),
        client: route::client(event).unwrap_or(0),
        info,
        used,
        opens: opens && exchange.request.session.is_none(),
        deletes: exchange.method == Method::Delete && matches!(exchange.status, Some(200..=299)),
        refused,
        version,
        calls,
        asked,
        ids,
    })
}

fn request(message: &Message) -> Option<&RpcRequest> {
    match message {
        Message::Request(request) => Some(request),
        _ => None,
    }
}

fn answers(exchange: &Exchange) -> impl Iterator<Item = &Message> {
    let body: &[Message] = match &exchange.response.body {
        Body::Messages(messages) => messages,
        _ => &[],
    };
    let events = exchange.response.events.iter().flatten().filter_map(|event| event.message.as_ref());
    body.iter().chain(events)
}

/// Whether all records were written at one place.
fn one_place(louds: &[Loud], skims: &[(Skim, Beside<'_>)], vantage: &dyn Fn(u16) -> Option<Vantage>) -> bool {
    let mut formats: Vec<u16> = Vec::new();
    for (skim, _) in skims {
        if !formats.contains(&skim.format) {
            formats.push(skim.format);
        }
    }
    let of_skims = formats.into_iter().map(vantage);
    let of_louds = louds.iter().map(|loud| Some(loud.event.vantage));
    let mut all = of_skims.chain(of_louds);
    let Some(first) = all.next() else { return true };
    first.is_some() && all.all(|other| other == first)
}

const NONE: u32 = u32::MAX;

/// One record, in the order in which a timeline has it.
#[derive(Clone, Copy, Debug)]
struct Rec {
    order: Order,
    /// Index into the sessions; [`NONE`]: none.
    session: u32,
    /// Index into the skims, or into the louds.
    at: u32,
    is_loud: bool,
}

#[derive(Clone, Debug)]
struct Held {
    class: u32,
    client: u64,
    info: u32,
    loud: bool,
    first: u32,
    opened: u32,
    last_post: u32,
    last_skim: u32,
    deleted: u32,
    version: u32,
    version_at: u32,
    changed: bool,
    who: Vec<u32>,
    last_request: u32,
    /// The first call.
    called: u32,
    unbodied: bool,
    refused: bool,
    odd: bool,
    served: Vec<(u32, u32, u32)>,
    kept: bool,
}

impl Held {
    fn new(client: u64) -> Held {
        Held {
            class: 0,
            client,
            info: 0,
            loud: false,
            first: NONE,
            opened: NONE,
            last_post: NONE,
            last_skim: NONE,
            deleted: NONE,
            version: 0,
            version_at: NONE,
            changed: false,
            who: Vec::new(),
            last_request: NONE,
            called: NONE,
            unbodied: false,
            refused: false,
            odd: false,
            served: Vec::new(),
            kept: false,
        }
    }
}

/// What is kept: for itself, so that its session has to be whole at its start, or merely as the neighbour of another.
struct Keep {
    real: Vec<bool>,
    stub: Vec<bool>,
}

/// All records of the client, in order.
struct View {
    recs: Vec<Rec>,
    held: Vec<Held>,
    classes: usize,
    /// Every `initialize`, as an index into `recs`, with the record of each class before it.
    inits: Vec<(u32, Vec<u32>)>,
}

impl View {
    fn of(facts: &[Facts], louds: &[Loud], skims: &[(Skim, Beside<'_>)]) -> View {
        let mut index: HashMap<u64, u32> = HashMap::default();
        let mut held: Vec<Held> = Vec::new();
        let mut place = |session: u64, client: u64| {
            *index.entry(session).or_insert_with(|| {
                held.push(Held::new(client));
                held.len() as u32 - 1
            })
        };
        let mut recs = Vec::with_capacity(skims.len() + louds.len());
        for (at, (skim, _)) in skims.iter().enumerate() {
            recs.push(Rec {
                order: Order::of_skim(skim),
                session: place(skim.session, skim.client.unwrap_or(0)),
                at: at as u32,
                is_loud: false,
            });
        }
        for (at, (facts, loud)) in facts.iter().zip(louds).enumerate() {
            recs.push(Rec {
                order: Order::of(&loud.event),
                session: facts.session.map_or(NONE, |session| place(session, facts.client)),
                at: at as u32,
                is_loud: true,
            });
        }
        recs.sort_unstable_by_key(|rec| rec.order);
        for rec in &recs {
            let Some(session) = held.get_mut(rec.session as usize) else { continue };
            let (info, loud) = if rec.is_loud {
                (facts[rec.at as usize].info, true)
            } else {
                let skim = &skims[rec.at as usize].0;
                (if skim.kind == Kind::Initialize { skim.call } else { 0 }, false)
            };
            session.loud |= loud;
            if session.info == 0 {
                session.info = info;
            }
        }
        View { recs, held, classes: 1, inits: Vec::new() }
    }

    /// Tells programs apart as far as records do; none if there are too many.
    fn number_classes(&mut self, facts: &[Facts], skims: &[(Skim, Beside<'_>)]) -> Option<()> {
        let mut known: Vec<(u64, u32)> = Vec::new();
        let mut clients: Vec<u64> = self.held.iter().map(|held| held.client).collect();
        clients.extend(facts.iter().map(|facts| facts.client));
        clients.extend(skims.iter().map(|(skim, _)| skim.client.unwrap_or(0)));
        clients.sort_unstable();
        clients.dedup();
        let mut infos: Vec<u32> = self.held.iter().map(|held| held.info).filter(|info| *info != 0).collect();
        infos.sort_unstable();
        infos.dedup();
        if clients.len() <= 1 && infos.len() <= 1 {
            return Some(());
        }
        for held in &mut self.held {
            let own = (held.client, held.info);
            let at = known.iter().position(|class| *class == own).unwrap_or_else(|| {
                known.push(own);
                known.len() - 1
            });
            held.class = at as u32;
        }
        self.classes = known.len().max(2);
        (self.classes <= MOST_CLASSES).then_some(())
    }

    /// Whether two logs tell of the client at one time.
    fn apart(&self) -> bool {
        self.recs.windows(2).any(|two| {
            two[0].order.place().0 != two[1].order.place().0 && two[1].order.at - two[0].order.at <= BESIDE
        })
    }

    fn keep(&mut self, at: u32, keep: &mut Keep) {
        let rec = self.recs[at as usize];
        if let Some(held) = self.held.get_mut(rec.session as usize) {
            held.kept = true;
        }
        if !rec.is_loud {
            keep.real[rec.at as usize] = true;
        }
    }

    /// What is equal in some fact to another record.
    fn equal(&mut self, facts: &[Facts], skims: &[(Skim, Beside<'_>)], keep: &mut Keep) {
        let mut calls: HashSet<u32> = HashSet::default();
        let mut events: HashSet<u32> = HashSet::default();
        // Ids within a session, requests' and events' apart.
        let mut within: Vec<(u64, u8, u32)> = Vec::with_capacity(skims.len() * 2);
        let key = |session: u32, mark: u32| u64::from(session) << 32 | u64::from(mark);
        for (at, rec) in self.recs.iter().enumerate() {
            if rec.is_loud {
                let facts = &facts[rec.at as usize];
                calls.extend(&facts.calls);
                events.extend(&facts.ids);
                within.extend(facts.asked.iter().map(|id| (key(rec.session, *id), 0, at as u32)));
            } else {
                let (skim, ids) = &skims[rec.at as usize];
                if skim.asked != 0 {
                    within.push((key(rec.session, skim.asked), 0, at as u32));
                }
                within.extend(ids.ids().map(|id| (key(rec.session, id), 1, at as u32)));
            }
        }
        within.sort_unstable();
        let mut wanted = Vec::new();
        for run in within.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            if run.first().map(|one| one.2) != run.last().map(|one| one.2) {
                wanted.extend(run.iter().map(|one| one.2));
            }
        }
        for (at, rec) in self.recs.iter().enumerate().filter(|(_, rec)| !rec.is_loud) {
            let (skim, ids) = &skims[rec.at as usize];
            let same = skim.kind == Kind::Request && skim.call != 0 && calls.contains(&skim.call);
            if same || !events.is_empty() && ids.ids().any(|id| events.contains(&id)) {
                wanted.push(at as u32);
            }
        }
        // One line delivered twice has one moment.
        for run in (0..self.recs.len())
            .collect::<Vec<_>>()
            .chunk_by(|a, b| self.recs[*a].order.at == self.recs[*b].order.at)
        {
            for at in run {
                let twin = run
                    .iter()
                    .any(|other| other != at && self.recs[*other].session == self.recs[*at].session);
                if run.len() > 1 && twin {
                    wanted.push(*at as u32);
                }
            }
        }
        wanted.retain(|at| !self.recs[*at as usize].is_loud);
        wanted.into_iter().for_each(|at| self.keep(at, keep));
    }

    /// What stands in the order of time beside something that is not ordinary.
    fn walk(&mut self, facts: &[Facts], skims: &[(Skim, Beside<'_>)], keep: &mut Keep) {
        let mut last_of_class: Vec<u32> = vec![NONE; self.classes];
        let mut seen_classes: HashSet<(u32, u32)> = HashSet::default();
        let mut wanted: Vec<u32> = Vec::new();
        for at in 0..self.recs.len() as u32 {
            let rec = self.recs[at as usize];
            let (opens, version, kind) = if rec.is_loud {
                let facts = &facts[rec.at as usize];
                (facts.opens, facts.version, None)
            } else {
                let skim = &skims[rec.at as usize].0;
                let opens = skim.kind == Kind::Initialize;
                (opens, if opens { 0 } else { skim.version }, Some(skim))
            };
            if opens {
                // What the session before had suffered counts if no request has gone through since.
                let before = last_of_class.iter().filter_map(|last| self.recs.get(*last as usize));
                let held =
                    before.filter_map(|rec| self.held.get(rec.session as usize)).filter(|held| held.loud);
                wanted.extend(held.map(|held| held.last_request).filter(|at| *at != NONE));
                self.inits.push((at, last_of_class.clone()));
            }
            let Some(held) = self.held.get_mut(rec.session as usize) else { continue };
            last_of_class[held.class as usize] = at;
            if held.first == NONE {
                held.first = at;
            }
            if opens && held.opened == NONE {
                held.opened = at;
            }
            if held.odd || held.deleted != NONE {
                wanted.push(at);
                if held.deleted != NONE {
                    wanted.push(held.deleted);
                    held.odd = true;
                }
            }
            if version != 0 && !held.changed {
                if held.version == 0 {
                    (held.version, held.version_at) = (version, at);
                } else if held.version != version {
                    held.changed = true;
                    wanted.extend([held.version_at, at]);
                }
            }
            let Some(skim) = kind else {
                let facts = &facts[rec.at as usize];
                held.odd |= facts.refused;
                held.refused |= facts.refused;
                if facts.deletes {
                    held.deleted = at;
                }
                if facts.used {
                    held.last_post = at;
                }
                continue;
            };
            held.last_skim = at;
            if !held.who.contains(&skim.who) {
                held.who.push(skim.who);
                if held.who.len() > 1 || self.classes > 1 && seen_classes.insert((held.class, skim.who)) {
                    wanted.push(at);
                }
            }
            match skim.kind {
                Kind::Delete => held.deleted = at,
                Kind::Request | Kind::Notice | Kind::Initialize => held.last_post = at,
            }
            if skim.kind == Kind::Request {
                held.last_request = at;
                if skim.call != 0 && held.called == NONE {
                    held.called = at;
                }
            }
            let answers = matches!(skim.kind, Kind::Request | Kind::Initialize);
            if answers && !skim.bodies && held.loud && !std::mem::replace(&mut held.unbodied, true) {
                wanted.push(at);
            }
            if held.loud {
                match held.served.iter_mut().find(|(instance, ..)| *instance == skim.instance) {
                    Some((_, _, last)) => *last = at,
                    None => held.served.push((skim.instance, at, at)),
                }
            }
        }
        wanted.into_iter().for_each(|at| self.keep(at, keep));
    }

    /// What sessions need as a whole, and what follows them.
    fn close(&mut self, facts: &[Facts], keep: &mut Keep) {
        let refused = facts.iter().any(|facts| facts.refused);
        let mut wanted: Vec<u32> = Vec::new();
        for held in self.held.iter().filter(|held| held.loud) {
            wanted.extend([held.last_request, held.called, held.last_post, held.deleted]);
            if held.refused {
                wanted.push(held.last_skim);
                wanted.extend(held.served.iter().flat_map(|(_, first, last)| [*first, *last]));
            }
            for after in [held.last_post, held.deleted] {
                wanted.extend(self.next_inits(after));
            }
        }
        if refused {
            wanted.extend(self.last_inits());
        }
        // The client goes by what its first records tell.
        if self.held.iter().any(|held| held.loud || held.kept) {
            wanted.extend(self.firsts());
        }
        for (at, before) in &self.inits {
            let loud = |at: &u32| {
                self.recs
                    .get(*at as usize)
                    .is_some_and(|rec| self.held.get(rec.session as usize).is_some_and(|held| held.loud))
            };
            if before.iter().any(loud) {
                wanted.push(*at);
            }
        }
        wanted.into_iter().filter(|at| *at != NONE).for_each(|at| self.keep(at, keep));
        // With several programs the neighbours' sessions have to be known too, so this goes on until nothing is added.
        loop {
            let firsts: Vec<u32> = self
                .held
                .iter()
                .filter(|held| held.kept || held.loud)
                .flat_map(|held| [held.first, held.opened])
                .filter(|at| *at != NONE && !self.is_kept(*at, keep))
                .collect();
            firsts.iter().for_each(|at| self.keep(*at, keep));
            let kept = self.inits.iter().filter(|(at, _)| self.is_kept(*at, keep));
            let beside: Vec<u32> = kept.flat_map(|(_, before)| before.iter().copied()).collect();
            let beside: Vec<u32> =
                beside.into_iter().filter(|at| *at != NONE && !self.is_kept(*at, keep)).collect();
            for at in &beside {
                if self.classes > 1 {
                    self.keep(*at, keep);
                } else {
                    keep.stub[self.recs[*at as usize].at as usize] = true;
                }
            }
            if firsts.is_empty() && beside.is_empty() {
                return;
            }
        }
    }

    fn is_kept(&self, at: u32, keep: &Keep) -> bool {
        let rec = self.recs[at as usize];
        rec.is_loud || keep.real[rec.at as usize] || keep.stub[rec.at as usize]
    }

    /// The next `initialize` of each class behind a record.
    fn next_inits(&self, after: u32) -> Vec<u32> {
        if after == NONE {
            return Vec::new();
        }
        let from = self.inits.partition_point(|(at, _)| *at <= after);
        let mut classes: Vec<u32> = Vec::new();
        let mut found = Vec::new();
        for (at, _) in &self.inits[from..] {
            let class = self.class(*at);
            if !classes.contains(&class) {
                classes.push(class);
                found.push(*at);
                if classes.len() >= self.classes {
                    break;
                }
            }
        }
        found
    }

    /// The first record and the first `initialize` of each class.
    fn firsts(&self) -> Vec<u32> {
        let mut first: HashMap<u32, u32> = HashMap::default();
        for held in self.held.iter().filter(|held| held.first != NONE) {
            first.entry(held.class).and_modify(|at| *at = held.first.min(*at)).or_insert(held.first);
        }
        let mut opened: HashMap<u32, u32> = HashMap::default();
        for (at, _) in &self.inits {
            opened.entry(self.class(*at)).or_insert(*at);
        }
        first.into_values().chain(opened.into_values()).collect()
    }

    fn last_inits(&self) -> Vec<u32> {
        let mut last: HashMap<u32, u32> = HashMap::default();
        for (at, _) in &self.inits {
            last.insert(self.class(*at), *at);
        }
        last.into_values().collect()
    }

    fn class(&self, at: u32) -> u32 {
        let rec = self.recs[at as usize];
        self.held.get(rec.session as usize).map_or(0, |held| held.class)
    }
}
