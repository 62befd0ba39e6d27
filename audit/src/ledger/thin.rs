//! Thinning: which ordinary records of a client a judgement needs; the others are counted and not looked at.
//! Knows what any rule may look for beyond the record it is about; where that cannot be told, everything is needed.
//!
//! An ordinary record is an answered request, an accepted notification, an `initialize` or a DELETE ([`crate::skim`]).
//! Alone it breaks nothing, so a rule meets it only beside another record. What is kept, and for which rules:
//!
//! - calls equal to one of a record that is not ordinary, from that one on until it is settled by an answer: chains
//!   (`duplicate-invocation`, `blind-retry`, `reissue-kept-id`, `response-undelivered`);
//! - requests whose JSON-RPC id another record of the session has: `request-id-reused`, answers on other streams, cancels,
//!   `foreign-replay` by its response;
//! - records that delivered an event id which a resume presents or brings, or which the session has twice: all rules on
//!   cursors and replays, `event-id-reused`, `unowned-resume`;
//! - of a session on which a request may have been lost or refused, and no answered request made up for that (where one did,
//!   that is known: [`Calm`]): the last request, the first call (one that was answered ends a loop of tries), the last POST, the
//!   DELETE and the `initialize` that follows (`session-discarded`); the last three also where the client gave up a call
//!   (`orphaned-session`), the last two where they come at once (`session-ended-on-transient`);
//! - an `initialize` sent when the client had suffered a close on the session before, and what stands directly before it
//!   (reconnects); before the others it is known that none was ([`Calm`]);
//! - of a session with a record that is not ordinary: the first request without recorded bodies (`clamped-cursor`);
//! - of a session with a refusal: all that follows it, and the first and last record of each instance
//!   (`expired-session-kept`, `session-misrouted`, `retention-too-short`, `unknown-session-not-404`);
//! - what follows a DELETE; records under another protocol version than the session's first (`context-changed`); records
//!   that tell of the client otherwise than those before; records that may be one line delivered twice;
//! - the first record and the `initialize` of every session of which something is kept, and of the client.
//!
//! `replay-gap` by number alone also looks for ids of other streams that could be of the same count; where such a finding
//! comes out of a thinned judgement it is made again in full (see [`doubtful`]).

mod facts;

use super::docket::Loud;
use crate::event::{Nanos, Vantage};
use crate::finding::{Certainty, Finding};
use crate::order::Order;
use crate::quick::{HashMap, HashSet};
use crate::rules::AT_ONCE;
use crate::skim::{Beside, Kind, Skim};
use crate::verdict::{Calm, Places};
use facts::{Facts, facts};
use unbroken_contract::breach::Breach;

/// How far apart records of two logs may be and still speak of one exchange (`join::vantage`), with room.
const BESIDE: Nanos = 1_500_000_000;
/// Programs behind one key of a client; with more, all is looked at.
const MOST_CLASSES: usize = 8;

/// What a judgement needs.
#[derive(Debug)]
pub(super) struct Needed {
    /// Which of the skims, in their order.
    pub(super) skims: Vec<bool>,
    /// What is known beyond them.
    pub(super) calm: Calm,
}

/// What a judgement needs; none: all of it.
pub(super) fn needed(
    louds: &[Loud],
    skims: &[(Skim, Beside<'_>)],
    vantage: &dyn Fn(u16) -> Option<Vantage>,
) -> Option<Needed> {
    let facts: Vec<Facts> = louds.iter().map(facts).collect::<Option<_>>()?;
    if !one_place(louds, skims, vantage) {
        return None;
    }
    let mut view = View::of(&facts, louds, skims);
    view.number_classes(&facts, skims)?;
    if view.apart() {
        return None;
    }
    let mut keep = vec![false; skims.len()];
    view.equal(&facts, skims, &mut keep);
    view.walk(&facts, skims, &mut keep);
    view.close(&facts, &mut keep);
    let calm = Calm { opened: view.calm(&keep), healed: view.healed() };
    Some(Needed { skims: keep, calm })
}

/// Whether a finding out of a thinned judgement rests on the absence of what may have been left out.
pub(super) fn doubtful(findings: &[Finding]) -> bool {
    findings.iter().any(|found| found.breach.0 == Breach::ReplayGap && found.certainty != Certainty::Proved)
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
    session: u64,
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
    /// All that its first ordinary record tells of the client, and what others tell otherwise.
    who: u32,
    others: Vec<u32>,
    last_request: u32,
    /// The first call.
    called: u32,
    unbodied: bool,
    refused: bool,
    odd: bool,
    served: Vec<(u32, u32, u32)>,
    kept: bool,
    /// The first and the last record with which a request may have been lost or refused.
    hurt: Option<(u32, u32)>,
    /// The last request whose answer is recorded.
    answered: u32,
    /// The client gave up a call.
    aborted: bool,
    /// The client suffered a close that no request has made up for since; never again after a DELETE.
    suffers: bool,
    ended: bool,
}

impl Held {
    fn new(session: u64, client: u64) -> Held {
        Held {
            session,
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
            who: 0,
            others: Vec::new(),
            last_request: NONE,
            called: NONE,
            unbodied: false,
            refused: false,
            odd: false,
            served: Vec::new(),
            kept: false,
            hurt: None,
            answered: NONE,
            aborted: false,
            suffers: false,
            ended: false,
        }
    }

    /// Whether a request that was answered made up for all that the client suffered, under the version that it speaks.
    fn is_healed(&self) -> bool {
        let last = self.hurt.map(|(_, last)| last);
        last.is_some_and(|last| self.answered != NONE && self.answered > last) && !self.changed
    }
}

/// A record that opens a session.
#[derive(Clone, Copy, Debug)]
struct Init {
    /// As an index into the records.
    at: u32,
    /// The client may have suffered a close on a session before it.
    late: bool,
}

/// All records of the client, in order.
struct View {
    recs: Vec<Rec>,
    held: Vec<Held>,
    classes: usize,
    /// Every `initialize`, in order.
    inits: Vec<Init>,
    /// The last record of each class before each of them; [`NONE`]: there is none.
    before: Vec<u32>,
}

impl View {
    fn of(facts: &[Facts], louds: &[Loud], skims: &[(Skim, Beside<'_>)]) -> View {
        let mut index: HashMap<u64, u32> = HashMap::default();
        let mut held: Vec<Held> = Vec::new();
        let mut place = |session: u64, client: u64| {
            *index.entry(session).or_insert_with(|| {
                held.push(Held::new(session, client));
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
        // Two runs in order, most times; of several events of one record none is ordinary.
        recs.sort_by_key(|rec| rec.order);
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
        View { recs, held, classes: 1, inits: Vec::new(), before: Vec::new() }
    }

    /// Tells programs apart as far as records do; none if there are too many.
    fn number_classes(&mut self, facts: &[Facts], skims: &[(Skim, Beside<'_>)]) -> Option<()> {
        let mut known: Vec<(u64, u32)> = Vec::new();
        let mut clients = self.held.iter().map(|held| held.client);
        let first = clients.next();
        let mut clients = clients
            .chain(facts.iter().map(|facts| facts.client))
            .chain(skims.iter().map(|(skim, _)| skim.client.unwrap_or(0)));
        let mut infos = self.held.iter().map(|held| held.info).filter(|info| *info != 0);
        let info = infos.next();
        if clients.all(|client| Some(client) == first) && infos.all(|other| Some(other) == info) {
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

    fn keep(&mut self, at: u32, keep: &mut [bool]) {
        let rec = self.recs[at as usize];
        if let Some(held) = self.held.get_mut(rec.session as usize) {
            held.kept = true;
        }
        if !rec.is_loud {
            keep[rec.at as usize] = true;
        }
    }

    /// What is equal in some fact to another record.
    fn equal(&mut self, facts: &[Facts], skims: &[(Skim, Beside<'_>)], keep: &mut [bool]) {
        // By the calls of those that are not ordinary: when the latest of them is settled, as far as it is known.
        let mut calls: HashMap<u32, Nanos> = HashMap::default();
        let mut events: HashSet<u32> = HashSet::default();
        // Ids within a session, requests' and events' apart, each with its record, as one number that is quick to compare.
        let mut within: Vec<u128> = Vec::with_capacity(skims.len() * 2);
        let key = |session: u32, mark: u32, kind: u8, at: usize| {
            let id = u64::from(session) << 32 | u64::from(mark);
            u128::from(id) << 40 | u128::from(kind) << 32 | at as u128
        };
        for (at, rec) in self.recs.iter().enumerate() {
            if rec.is_loud {
                let facts = &facts[rec.at as usize];
                events.extend(&facts.ids);
                within.extend(facts.asked.iter().map(|id| key(rec.session, *id, 0, at)));
            } else {
                let (skim, ids) = &skims[rec.at as usize];
                if skim.asked != 0 {
                    within.push(key(rec.session, skim.asked, 0, at));
                }
                within.extend(ids.ids().map(|id| key(rec.session, id, 1, at)));
            }
        }
        within.sort_unstable();
        let mut wanted = Vec::new();
        for run in within.chunk_by(|a, b| a >> 32 == b >> 32).filter(|run| run.first() != run.last()) {
            wanted.extend(run.iter().map(|one| *one as u32));
        }
        // One line delivered twice has one moment.
        let mut from = 0;
        for run in self.recs.chunk_by(|a, b| a.order.at == b.order.at) {
            // What stands at one moment may be settled or not by what stands there too.
            let loud = run.iter().filter(|rec| rec.is_loud).flat_map(|rec| &facts[rec.at as usize].calls);
            calls.extend(loud.map(|call| (*call, Nanos::MAX)));
            for (at, rec) in (from..).zip(run).filter(|(_, rec)| !rec.is_loud) {
                let (skim, ids) = &skims[rec.at as usize];
                let call = (skim.kind == Kind::Request && skim.call != 0).then_some(&skim.call);
                let settled = call.and_then(|call| calls.get_mut(call)).filter(|by| rec.order.at <= **by);
                let twin =
                    run.len() > 1 && run.iter().filter(|other| other.session == rec.session).count() > 1;
                if settled.is_some() || twin || !events.is_empty() && ids.ids().any(|id| events.contains(&id))
                {
                    wanted.push(at);
                }
                if let Some(by) = settled
                    && self.classes == 1
                    && skim.bodies
                    && skim.sessioned
                {
                    *by = rec.order.until.min(*by);
                }
            }
            from += run.len() as u32;
        }
        wanted.retain(|at| !self.recs[*at as usize].is_loud);
        wanted.into_iter().for_each(|at| self.keep(at, keep));
    }

    /// What stands in the order of time beside something that is not ordinary.
    fn walk(&mut self, facts: &[Facts], skims: &[(Skim, Beside<'_>)], keep: &mut [bool]) {
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
                let before = last_of_class.iter().filter_map(|last| self.recs.get(*last as usize));
                let held = before.filter_map(|rec| self.held.get(rec.session as usize));
                let late = held.clone().any(|held| held.suffers);
                if late {
                    // With several programs it may be another's, and what made up for the client's own has to be seen.
                    wanted.extend(held.flat_map(|held| [held.last_request, held.deleted]));
                }
                self.inits.push(Init { at, late });
                self.before.extend(&last_of_class);
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
                if facts.hurts {
                    held.hurt = Some((held.hurt.map_or(at, |(first, _)| first), at));
                }
                held.aborted |= facts.aborts;
                held.ended |= facts.ends;
                held.suffers = (held.suffers || facts.suffers) && !held.ended;
                if facts.deletes {
                    held.deleted = at;
                }
                if facts.used {
                    held.last_post = at;
                }
                continue;
            };
            let is_first = held.last_skim == NONE;
            if is_first {
                held.who = skim.who;
                if self.classes > 1 && seen_classes.insert((held.class, skim.who)) {
                    wanted.push(at);
                }
            } else if held.who != skim.who && !held.others.contains(&skim.who) {
                held.others.push(skim.who);
                wanted.push(at);
            }
            held.last_skim = at;
            match skim.kind {
                Kind::Delete => {
                    held.deleted = at;
                    (held.ended, held.suffers) = (true, false);
                }
                Kind::Request | Kind::Notice | Kind::Initialize => held.last_post = at,
            }
            if skim.bodies && matches!(skim.kind, Kind::Request | Kind::Initialize) {
                held.suffers = false;
            }
            if skim.kind == Kind::Request {
                held.last_request = at;
                if skim.bodies {
                    held.answered = at;
                }
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
        wanted.into_iter().filter(|at| *at != NONE).for_each(|at| self.keep(at, keep));
    }

    /// What sessions need as a whole, and what follows them.
    fn close(&mut self, facts: &[Facts], keep: &mut [bool]) {
        let refused = facts.iter().any(|facts| facts.refused);
        let mut wanted: Vec<u32> = Vec::new();
        for held in self.held.iter().filter(|held| held.loud) {
            if held.refused {
                wanted.push(held.last_skim);
                wanted.extend(held.served.iter().flat_map(|(_, first, last)| [*first, *last]));
            }
            let Some((first, _)) = held.hurt else { continue };
            let healed = held.is_healed();
            if !healed {
                wanted.push(held.called);
                if held.last_request != NONE && held.last_request > first {
                    wanted.push(held.last_request);
                }
            }
            if !healed || held.aborted {
                wanted.push(held.last_post);
                wanted.extend(self.next_inits(held.last_post));
            }
            if let Some(deleted) = self.recs.get(held.deleted as usize) {
                let at_once = |at: &u32| self.recs[*at as usize].order.at - deleted.order.at <= AT_ONCE;
                let before = wanted.len();
                wanted.extend(self.next_inits(held.deleted).into_iter().filter(at_once));
                if !healed || held.aborted || held.refused || wanted.len() > before {
                    wanted.push(held.deleted);
                }
            }
        }
        if refused {
            wanted.extend(self.last_inits());
        }
        // The client goes by what its first records tell.
        if self.held.iter().any(|held| held.loud || held.kept) {
            wanted.extend(self.firsts());
        }
        // Which of the records before it is the last one of its client is told by a look at all of them.
        for (init, before) in self.inits.iter().zip(self.before.chunks_exact(self.classes)) {
            if init.late {
                wanted.push(init.at);
                wanted.extend(before);
            }
        }
        wanted.into_iter().filter(|at| *at != NONE).for_each(|at| self.keep(at, keep));
        let whole = self.held.iter().filter(|held| held.kept || held.loud);
        let starts: Vec<u32> = whole.flat_map(|held| [held.first, held.opened]).collect();
        starts.into_iter().filter(|at| *at != NONE).for_each(|at| self.keep(at, keep));
    }

    /// The sessions on which a request that was answered made up for all that the client suffered.
    fn healed(&self) -> HashSet<u64> {
        self.held.iter().filter(|held| held.is_healed()).map(|held| held.session).collect()
    }

    /// The places of the records that open a session, are looked at, and came after no close that the client suffered.
    fn calm(&self, keep: &[bool]) -> Places {
        let calm = self.inits.iter().filter(|init| !init.late).map(|init| &self.recs[init.at as usize]);
        let seen = calm.filter(|rec| rec.is_loud || keep[rec.at as usize]);
        seen.map(|rec| rec.order.place()).collect()
    }

    /// The next `initialize` of each class behind a record.
    fn next_inits(&self, after: u32) -> Vec<u32> {
        if after == NONE {
            return Vec::new();
        }
        let from = self.inits.partition_point(|init| init.at <= after);
        let mut classes: Vec<u32> = Vec::new();
        let mut found = Vec::new();
        for init in &self.inits[from..] {
            let class = self.class(init.at);
            if !classes.contains(&class) {
                classes.push(class);
                found.push(init.at);
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
        for init in &self.inits {
            opened.entry(self.class(init.at)).or_insert(init.at);
        }
        first.into_values().chain(opened.into_values()).collect()
    }

    fn last_inits(&self) -> Vec<u32> {
        let mut last: HashMap<u32, u32> = HashMap::default();
        for init in &self.inits {
            last.insert(self.class(init.at), init.at);
        }
        last.into_values().collect()
    }

    fn class(&self, at: u32) -> u32 {
        let rec = self.recs[at as usize];
        self.held.get(rec.session as usize).map_or(0, |held| held.class)
    }
}
