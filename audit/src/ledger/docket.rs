//! The docket: clients whose time has come, judged side by side, each for itself.
//! Knows what of a client is over and what goes on; not why a client's time has come.

use super::Waiting;
use super::codec::{Reader, Writer};
use super::route::{hash, session};
use crate::event::{Event, Nanos};
use crate::join::moment;
use crate::verdict::{self, Heard, Places, Whole};
use rayon::prelude::*;
use std::collections::HashMap;

/// Clients that are judged side by side. Fixed, so that the number of threads cannot show.
pub(super) const AT_ONCE: usize = 16;

/// What all judgements need.
pub(super) struct Docket<'d> {
    pub(super) paths: &'d [String],
    pub(super) whole: &'d Whole,
    pub(super) rows: bool,
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

/// An event as far as it decides what is over.
struct Glance {
    session: Option<u64>,
    until: Nanos,
    place: (u32, u64),
}

impl Docket<'_> {
    /// Judges clients by (place, cut, bytes), in their order.
    pub(super) fn judge(&self, files: Vec<(u32, Option<Nanos>, Vec<Vec<u8>>)>) -> Vec<Judged> {
        files.into_par_iter().map(|(index, cut, bytes)| self.judge_one(index, cut, &bytes)).collect()
    }

    fn judge_one(&self, index: u32, cut: Option<Nanos>, bytes: &[Vec<u8>]) -> Judged {
        let events: Vec<Event> = events(bytes).collect();
        let glances: Vec<Glance> = events.iter().map(glance).collect();
        let Some(cut) = cut else {
            let heard = verdict::hear(events, self.paths, self.whole, None, self.rows);
            return Judged { index, heard, over: sessions(glances.iter()), kept: None };
        };
        let done = over(&glances, cut);
        let heard = verdict::hear(events, self.paths, self.whole, Some(&done), self.rows);
        let goes_on = |glance: &&Glance| !done.contains(&glance.place);
        let alive: std::collections::HashSet<u64> =
            glances.iter().filter(goes_on).filter_map(|glance| glance.session).collect();
        let mut over = sessions(glances.iter().filter(|glance| done.contains(&glance.place)));
        over.retain(|session| !alive.contains(session));
        Judged { index, heard, over, kept: Some(keep(bytes, &done)) }
    }
}

/// The events of a client, in the order in which they were written.
fn events(bytes: &[Vec<u8>]) -> impl Iterator<Item = Event> {
    bytes.iter().flat_map(|bytes| {
        let mut reader = Reader::new(bytes);
        // The bytes are the ledger's own; a temporary file that lost some has been told of already.
        std::iter::from_fn(move || reader.read::<Event>().ok().flatten())
    })
}

/// What goes on, written anew.
fn keep(bytes: &[Vec<u8>], done: &Places) -> Waiting {
    let mut kept =
        Waiting { first: Nanos::MAX, last: Nanos::MIN, writer: Writer::default(), ..Waiting::default() };
    for event in events(bytes).filter(|event| !done.contains(&(event.origin.file, event.origin.offset))) {
        kept.writer.write(&event).expect("an event holds nothing that cannot be written");
        kept.count += 1;
        kept.first = kept.first.min(moment(&event));
        kept.last = kept.last.max(moment(&event));
    }
    kept
}

fn glance(event: &Event) -> Glance {
    Glance {
        session: session(event).map(hash),
        until: event.time.end.unwrap_or(event.time.at).max(moment(event)),
        place: (event.origin.file, event.origin.offset),
    }
}

fn sessions<'g>(of: impl Iterator<Item = &'g Glance>) -> Vec<u64> {
    let mut sessions: Vec<u64> = of.filter_map(|glance| glance.session).collect();
    sessions.sort_unstable();
    sessions.dedup();
    sessions
}

/// The records that are over: those of sessions silent since the cut, those without a session from before it. Where too
/// little is over, everything before the middle is: a session without end is judged in stretches.
fn over(glances: &[Glance], cut: Nanos) -> Places {
    let mut untils: Vec<Nanos> = glances.iter().map(|glance| glance.until).collect();
    let middle = untils.len() / 2;
    let half = if untils.is_empty() { cut } else { *untils.select_nth_unstable(middle).1 };
    let cut = cut.min(half);
    let mut last: HashMap<u64, Nanos> = HashMap::new();
    for glance in glances {
        if let Some(session) = glance.session {
            let known = last.entry(session).or_insert(glance.until);
            *known = glance.until.max(*known);
        }
    }
    let silent = |glance: &&Glance| {
        glance.session.and_then(|session| last.get(&session)).copied().unwrap_or(glance.until) < cut
    };
    let places =
        |glances: &mut dyn Iterator<Item = &Glance>| -> Places { glances.map(|g| g.place).collect() };
    let over = places(&mut glances.iter().filter(silent));
    if over.len() * 4 >= glances.len() {
        return over;
    }
    places(&mut glances.iter().filter(|glance| glance.until <= cut || over.contains(&glance.place)))
}
