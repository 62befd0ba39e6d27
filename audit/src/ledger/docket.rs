//! The docket: clients whose time has come, judged side by side, each for itself.
//! Knows what of a client is over and what goes on; not why a client's time has come.

use super::codec::{Reader, Writer};
use super::route::{hash, session};
use super::thin::Needed;
use super::{Waiting, thin};
use crate::adapter::formats::Formats;
use crate::adapter::rpc::Keep;
use crate::cost::{Costs, Stage};
use crate::event::{Event, Nanos, What};
use crate::join::Clocks;
use crate::long;
use crate::mapping::CallMark;
use crate::order::{Order, moment, until};
use crate::quick::HashMap;
use crate::skim::{self, Beside, Skim};
use crate::source::{Recall, Record};
use crate::verdict::{self, Calm, Heard, Part, Places, Tally, Whole};
use rayon::prelude::*;
use std::borrow::Cow;

/// Clients that are judged side by side, and how many records they may have together. Fixed, so that the number of threads
/// cannot show.
pub(super) const AT_ONCE: usize = 16;
pub(super) const RECORDS_AT_ONCE: u32 = 8_192;
/// Sessions that go on behind a cut and whose beginnings are kept.
const MOST_CARRIED: usize = 1024;

/// What all judgements need.
pub(super) struct Docket<'d> {
    pub(super) paths: &'d [String],
    pub(super) whole: &'d Whole,
    pub(super) recall: &'d Recall<'d>,
    pub(super) formats: &'d Formats,
    pub(super) keep: Keep,
    pub(super) costs: &'d Costs,
    pub(super) rows: bool,
    /// Look at every record, also where few would do.
    pub(super) all: bool,
}

/// Up to where a client is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// All of it.
    None,
    /// What is over by this moment: sessions silent since, and of sessions that began a horizon earlier what stands before.
    At {
        /// The moment.
        moment: Nanos,
        /// The horizon.
        horizon: Nanos,
    },
    /// Three quarters of it, by time. The rest is judged again with what comes: were it more, much would be judged twice, and
    /// were it less, few records would have those beside them that a story needs.
    Past,
}

/// A client with all that waits of it.
pub(super) struct File {
    pub(super) index: u32,
    pub(super) cut: Cut,
    pub(super) louds: Vec<Vec<u8>>,
    pub(super) skims: Vec<Vec<u8>>,
}

/// A judged client.
pub(super) struct Judged {
    pub(super) index: u32,
    pub(super) heard: Heard,
    /// Hashes of the sessions that are over.
    pub(super) over: Vec<u64>,
    /// What goes on.
    pub(super) kept: Option<Waiting>,
}

/// A record that is not ordinary, with its event.
#[derive(Clone, Debug)]
pub(super) struct Loud {
    pub(super) mark: CallMark,
    /// It was counted in an earlier judgement.
    pub(super) counted: bool,
    pub(super) event: Event,
}

/// A record as far as it decides what is over.
#[derive(Clone, Copy, Debug)]
struct Glance {
    session: Option<u64>,
    /// Whether it is an exchange, of which sessions are made.
    exchange: bool,
    order: Order,
    opens: bool,
    counted: bool,
}

impl Docket<'_> {
    /// Judges clients, in their order.
    pub(super) fn judge(&self, files: Vec<File>) -> Vec<Judged> {
        files.into_par_iter().map(|file| self.costs.time(Stage::Judge, || self.judge_one(&file))).collect()
    }

    fn judge_one(&self, file: &File) -> Judged {
        let louds: Vec<Loud> = louds(&file.louds).collect();
        let skims: Vec<(Skim, Beside<'_>)> = skims(&file.skims).collect();
        let glances: Vec<Glance> =
            louds.iter().map(of_loud).chain(skims.iter().map(|(skim, _)| of_skim(skim))).collect();
        let fates = fates(&glances, file.cut);
        let vantage = |format: u16| Some(self.formats.get(usize::from(format)).plan()?.vantage());
        let one_clock = self.whole.clocks.as_ref().is_none_or(Clocks::is_even);
        let thinned = !self.all && !self.rows && one_clock && !skims.is_empty();
        let needed = thinned.then(|| thin::needed(&louds, &skims, &vantage)).flatten();
        let over = over(&glances, &fates);
        let kept = (file.cut != Cut::None).then(|| keep(&louds, &skims, &fates));
        // What ordinary records say is read once more where it is wanted: it would lie beside all events that are looked at.
        drop(skims);
        let hearing = Hearing::of(file, &glances, &fates, needed);
        drop((glances, fates));
        let mut heard = self.hear(louds, &hearing);
        if hearing.needed.is_some() && thin::doubtful(&heard.findings) {
            heard = self.hear(self::louds(&file.louds).collect(), &Hearing { needed: None, ..hearing });
        }
        Judged { index: file.index, heard, over, kept }
    }

    /// Judges with the ordinary records that are needed, all if it is not told which.
    fn hear(&self, louds: Vec<Loud>, hearing: &Hearing<'_>) -> Heard {
        let Hearing { file, needed, calm, places, ended } = hearing;
        let of_skims = louds.len();
        let more =
            needed.as_ref().map_or(0, |needed| needed.iter().filter(|need| **need != Need::Counted).count());
        let mut events: Vec<Event> = Vec::with_capacity(louds.len() + more);
        events.extend(louds.into_iter().map(|loud| loud.event));
        let mut ordinary = Tally::default();
        for (at, (skim, beside)) in skims(&file.skims).enumerate() {
            match needed.as_ref().map_or(Need::Looked, |needed| needed[at]) {
                Need::Looked => {
                    let text = beside.text;
                    recall(self.recall, self.formats, self.keep, &skim, text, &mut |event| {
                        events.push(event)
                    });
                }
                Need::Counted => ordinary.add_ordinary(&skim),
                Need::Not => {}
            }
        }
        self.costs.add_parsed((events.len() - of_skims) as u64);
        let mut heard = verdict::hear(
            events,
            self.paths,
            self.whole,
            &Part {
                done: places.as_ref(),
                rows: self.rows,
                sessions: needed.is_none(),
                calm: needed.as_ref().map(|_| calm),
                costs: Some(self.costs),
            },
        );
        if needed.is_some() {
            heard.tally.add(ordinary);
            heard.tally.add_sessions(ended.iter().copied());
        }
        heard
    }
}

/// What becomes of an ordinary record in a judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// It is looked at.
    Looked,
    /// It is counted, as nothing can rest on it.
    Counted,
    /// Neither: it was counted before, or will be.
    Not,
}

/// A client before it is judged.
struct Hearing<'h> {
    file: &'h File,
    /// Of each ordinary record; none: all are looked at.
    needed: Option<Vec<Need>>,
    /// What is known of those that are not looked at.
    calm: Calm,
    /// The records that will not be there again, if some will.
    places: Option<Places>,
    /// Sessions that end here, where not all records are looked at.
    ended: Vec<(u64, Nanos)>,
}

impl<'h> Hearing<'h> {
    /// `glances` and `fates` are those of the records that are not ordinary, then of the ordinary ones.
    fn of(file: &'h File, glances: &[Glance], fates: &[Fate], needed: Option<Needed>) -> Self {
        let done = |glance: &Glance, fate: &Fate| *fate != Fate::GoesOn && !glance.counted;
        let all = file.cut == Cut::None && glances.iter().all(|glance| !glance.counted);
        let places = (!all).then(|| {
            let over = glances.iter().zip(fates).filter(|(glance, fate)| done(glance, fate));
            over.map(|(glance, _)| glance.order.place()).collect()
        });
        let ended = if needed.is_some() { ended(glances, fates) } else { Vec::new() };
        let mut calm = Calm::default();
        let needed = needed.map(|Needed { skims: needed, calm: known }| {
            calm = known;
            let of_skims = glances.len() - needed.len();
            let ordinary = glances[of_skims..].iter().zip(&fates[of_skims..]);
            let need = |(needed, (glance, fate)): (bool, (&Glance, &Fate))| match needed {
                true => Need::Looked,
                false if done(glance, fate) => Need::Counted,
                false => Need::Not,
            };
            needed.into_iter().zip(ordinary).map(need).collect()
        });
        Hearing { file, needed, calm, places, ended }
    }
}

/// Reads an ordinary record again, from its text where that goes along, and hands its event to `sink`.
pub(super) fn recall(
    recall: &Recall<'_>,
    formats: &Formats,
    keep: Keep,
    skim: &Skim,
    text: Option<&[u8]>,
    sink: &mut dyn FnMut(Event),
) {
    let origin = skim.origin;
    let is = |bytes: &[u8]| skim::seal(bytes) == origin.seal;
    let bytes = match text {
        Some(text) => Some(Cow::Borrowed(text)),
        None => recall.read(origin.file, origin.offset, skim.length, is).map(Cow::Owned),
    };
    if let (Some(bytes), Some(plan)) = (bytes, formats.get(usize::from(skim.format)).plan()) {
        // The record was read before; that it can be is known.
        _ = plan.read(&Record::new(origin, &bytes), keep, &mut |mut event| {
            long::shorten(&mut event);
            sink(event);
        });
    }
}

/// A mark as a number.
pub(super) fn code(mark: CallMark) -> u64 {
    match mark {
        CallMark::None => 0,
        CallMark::Unknown => 1,
        CallMark::One(call) => u64::from(call) << 2 | 2,
    }
}

/// The mark of a number.
pub(super) fn marked(code: u64) -> CallMark {
    match code {
        0 => CallMark::None,
        1 => CallMark::Unknown,
        call => CallMark::One((call >> 2) as u32),
    }
}

/// Appends a record that is not ordinary to those that wait.
pub(super) fn write(writer: &mut Writer, event: &Event, mark: CallMark, counted: bool) {
    writer.write(&(code(mark) << 1 | u64::from(counted))).expect("a number can be written");
    writer.write(event).expect("an event holds nothing that cannot be written");
}

/// The records of a client that are not ordinary, in the order in which they were written.
pub(super) fn louds(pieces: &[Vec<u8>]) -> impl Iterator<Item = Loud> {
    pieces.iter().flat_map(|bytes| {
        let mut reader = Reader::new(bytes);
        // The bytes are the ledger's own; a temporary file that lost some has been told of already.
        std::iter::from_fn(move || {
            let code = reader.read::<u64>().ok().flatten()?;
            let event = reader.read::<Event>().ok().flatten()?;
            Some(Loud { mark: marked(code >> 1), counted: code & 1 == 1, event })
        })
    })
}

pub(super) fn skims(pieces: &[Vec<u8>]) -> impl Iterator<Item = (Skim, Beside<'_>)> {
    pieces.iter().flat_map(|bytes| {
        let mut rest = &bytes[..];
        std::iter::from_fn(move || Skim::read(&mut rest))
    })
}

fn of_loud(loud: &Loud) -> Glance {
    let event = &loud.event;
    Glance {
        session: session(event).map(hash),
        exchange: matches!(event.what, What::Exchange(_)),
        order: Order::of(event),
        opens: event.identity.client.is_some(),
        counted: loud.counted,
    }
}

fn of_skim(skim: &Skim) -> Glance {
    Glance {
        session: Some(skim.session),
        exchange: true,
        order: Order::of_skim(skim),
        opens: skim.kind == skim::Kind::Initialize,
        counted: skim.counted,
    }
}

/// What becomes of a record after a judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is done with.
    Over,
    /// It is counted, and stays as the beginning of a session that goes on.
    Carried,
    /// It waits on.
    GoesOn,
}

/// What is over. A session without end is judged in stretches, and keeps its beginning.
fn fates(glances: &[Glance], cut: Cut) -> Vec<Fate> {
    let over: Vec<bool> = match cut {
        Cut::None => vec![true; glances.len()],
        Cut::Past => {
            let mut untils: Vec<Nanos> = glances.iter().map(|glance| glance.order.until).collect();
            let at = untils.len() / 4 * 3;
            let last = if untils.is_empty() { 0 } else { *untils.select_nth_unstable(at).1 };
            glances.iter().map(|glance| glance.order.until <= last).collect()
        }
        Cut::At { moment, horizon } => {
            let mut spans: HashMap<u64, (Nanos, Nanos)> = HashMap::default();
            for glance in glances {
                let Some(session) = glance.session else { continue };
                // A beginning that was carried along makes no stretch longer.
                let start = if glance.counted { Nanos::MAX } else { glance.order.at };
                let span = spans.entry(session).or_insert((start, glance.order.until));
                *span = (span.0.min(start), span.1.max(glance.order.until));
            }
            let is_over = |glance: &Glance| {
                let span = glance.session.and_then(|session| spans.get(&session));
                let (first, last) = *span.unwrap_or(&(glance.order.at, glance.order.until));
                last < moment || first < moment.saturating_sub(horizon) && glance.order.until < moment
            };
            glances.iter().map(is_over).collect()
        }
    };
    let mut fates: Vec<Fate> =
        over.iter().map(|over| if *over { Fate::Over } else { Fate::GoesOn }).collect();
    if cut != Cut::None {
        carry(glances, &mut fates);
    }
    fates
}

/// Keeps the first record and the `initialize` of sessions that go on, those used last if they are many.
fn carry(glances: &[Glance], fates: &mut [Fate]) {
    struct Alive {
        until: Nanos,
        first: usize,
        opened: Option<usize>,
    }
    let key = |at: usize| glances[at].order;
    let mut alive: HashMap<u64, Alive> = HashMap::default();
    for (glance, _) in glances.iter().zip(fates.iter()).filter(|(_, fate)| **fate == Fate::GoesOn) {
        if let Some(session) = glance.session {
            let known =
                alive.entry(session).or_insert(Alive { until: Nanos::MIN, first: usize::MAX, opened: None });
            known.until = known.until.max(glance.order.until);
        }
    }
    for (at, glance) in glances.iter().enumerate() {
        let Some(alive) = glance.session.and_then(|session| alive.get_mut(&session)) else { continue };
        if alive.first == usize::MAX || key(at) < key(alive.first) {
            alive.first = at;
        }
        if glance.opens && alive.opened.is_none_or(|opened| key(at) < key(opened)) {
            alive.opened = Some(at);
        }
    }
    let mut alive: Vec<Alive> = alive.into_values().collect();
    alive.sort_unstable_by_key(|alive| (std::cmp::Reverse(alive.until), alive.first));
    for alive in alive.into_iter().take(MOST_CARRIED) {
        for at in std::iter::once(alive.first).chain(alive.opened) {
            if fates[at] == Fate::Over {
                fates[at] = Fate::Carried;
            }
        }
    }
}

/// The sessions of which nothing goes on.
fn over(glances: &[Glance], fates: &[Fate]) -> Vec<u64> {
    let of = |over: bool| {
        let some = glances.iter().zip(fates).filter(move |(_, fate)| (**fate == Fate::Over) == over);
        let mut sessions: Vec<u64> = some.filter_map(|(glance, _)| glance.session).collect();
        sessions.sort_unstable();
        sessions.dedup();
        sessions
    };
    let alive = of(false);
    let mut over = of(true);
    over.retain(|session| alive.binary_search(session).is_err());
    over
}

/// Each session whose last exchange is done and was not counted before, with its first moment.
fn ended(glances: &[Glance], fates: &[Fate]) -> Vec<(u64, Nanos)> {
    struct Session {
        first: Nanos,
        last: Order,
        done: bool,
    }
    let mut sessions: HashMap<u64, Session> = HashMap::default();
    for (glance, fate) in glances.iter().zip(fates).filter(|(glance, _)| glance.exchange) {
        let Some(session) = glance.session else { continue };
        let last = glance.order;
        let done = *fate != Fate::GoesOn && !glance.counted;
        let known = sessions.entry(session).or_insert(Session { first: glance.order.at, last, done });
        known.first = known.first.min(glance.order.at);
        if last >= known.last {
            (known.last, known.done) = (last, done);
        }
    }
    let done = sessions.into_iter().filter(|(_, session)| session.done);
    done.map(|(id, session)| (id, session.first)).collect()
}

/// What goes on, written anew.
fn keep(louds: &[Loud], skims: &[(Skim, Beside<'_>)], fates: &[Fate]) -> Waiting {
    let mut kept = Waiting { first: Nanos::MAX, last: Nanos::MIN, ..Waiting::default() };
    for (loud, fate) in louds.iter().zip(fates).filter(|(_, fate)| **fate != Fate::Over) {
        let counted = loud.counted || *fate == Fate::Carried;
        write(&mut kept.writer, &loud.event, loud.mark, counted);
        kept.note(moment(&loud.event), until(&loud.event), counted);
    }
    let mut marks = Vec::new();
    for ((skim, beside), fate) in
        skims.iter().zip(&fates[louds.len()..]).filter(|(_, fate)| **fate != Fate::Over)
    {
        let counted = skim.counted || *fate == Fate::Carried;
        marks.clear();
        marks.extend(beside.ids());
        Skim { counted, ..*skim }.write(&marks, beside.text, &mut kept.skims);
        kept.note(skim.start, skim.end, counted);
    }
    kept
}
