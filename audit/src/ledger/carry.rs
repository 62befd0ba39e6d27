//! The ledger between two exports: taken up where the last one left it, and left where the next one takes it up.
//! Knows what waits; how it is kept is for [`crate::carry`].

use super::docket::{Fate, Loud};
use super::queue::{Passed, Slot};
use super::{Carries, Cut, Emit, Entry, Ledger, docket, route};
use crate::carry::{Carried, Waits};
use crate::event::{Event, Nanos};
use crate::join::{Clocks, Known};
use crate::mapping::CallMark;
use crate::order::{Order, moment};
use crate::verdict::{self, Heard, Part, Places};
use std::collections::BTreeMap;

/// How long what was told is kept in mind after it, in nanoseconds of log time: what a finding rests on is forgotten long before.
const REMEMBERED: Nanos = 7 * 86_400 * 1_000_000_000;

/// What was taken over from the last export.
#[derive(Debug, Default)]
pub(super) struct Before {
    told: BTreeMap<u64, Nanos>,
    sends: BTreeMap<u64, Nanos>,
    pub(super) clocks: Vec<Known>,
}

impl Ledger<'_> {
    /// Takes over what the last export left; its records' files are those from `first` on.
    pub(crate) fn restore(&mut self, carried: Carried, first: u32) {
        let Carried {
            mut records,
            told,
            sends,
            tools,
            remarked,
            others,
            newest,
            digests,
            clocks,
            given,
            paths: _,
            loose: _,
        } = carried;
        records.iter_mut().for_each(|waits| waits.event.origin.file += first);
        self.told.prints.extend(told.iter().map(|(print, _)| *print));
        self.told.sends.extend(sends.iter().map(|(send, print, _)| (*send, *print)));
        self.whole.tools.restore(&tools);
        self.whole.remarked = remarked;
        self.whole.given = given;
        self.others = others;
        let told = told.into_iter().collect();
        let sends = sends.into_iter().map(|(send, _, at)| (send, at)).collect();
        self.before = Before { told, sends, clocks };
        self.queue.restore(Passed { newest, digests });
        for Waits { event, counted } in records {
            self.queue.take_back(event, counted);
        }
    }

    /// What has been silent since this moment is over; none: all of it is.
    pub(crate) fn over_at_end(&self) -> Option<Nanos> {
        let waits = self.terms.carries == Some(Carries::Open);
        waits.then(|| self.queue.newest.saturating_sub(self.terms.horizon))
    }

    /// Judges what is over, all of it if this is the last export, and hands over the rest.
    pub(super) fn carry_on(&mut self, emit: &mut Emit<'_>) -> Carried {
        let horizon = self.terms.horizon;
        let all = self.terms.carries == Some(Carries::All);
        let cut_at = |now: Nanos| match all {
            true => Cut::None,
            false => Cut::At { moment: now.saturating_sub(horizon), horizon },
        };
        let mut records = if self.is_large {
            self.judge_clients(cut_at(self.now), emit);
            self.take_waiting()
        } else {
            self.judge_whole(&cut_at, emit)
        };
        // What is over is nobody's early end here.
        self.given.early = 0;
        records.sort_by_key(|waits| Order::of(&waits.event));
        let paths = name_files(&mut records, self.paths);
        let since = self.now.saturating_sub(REMEMBERED);
        let at = |known: Option<&Nanos>| known.copied().unwrap_or(self.now);
        let told = self.told.prints.iter().map(|print| (*print, at(self.before.told.get(print))));
        let mut told: Vec<(u64, Nanos)> = told.filter(|(_, at)| *at >= since).collect();
        told.sort_unstable();
        let sends = self.told.sends.iter();
        let sends = sends.map(|(send, print)| (*send, *print, at(self.before.sends.get(send))));
        let mut sends: Vec<(u64, u64, Nanos)> = sends.filter(|(.., at)| *at >= since).collect();
        sends.sort_unstable();
        let (tools, remarked, others) = (self.whole.tools.declared(), self.whole.remarked, self.others);
        let given = self.whole.given;
        let Passed { newest, digests } = self.queue.passed();
        let clocks = self.whole.clocks.as_ref().map(Clocks::handed_on).unwrap_or_default();
        Carried {
            paths,
            records,
            told,
            sends,
            tools,
            remarked,
            others,
            newest,
            digests,
            clocks,
            given,
            loose: Vec::new(),
        }
    }

    /// Judges a small input as a whole, and gives what goes on.
    fn judge_whole(&mut self, cut: &dyn Fn(Nanos) -> Cut, emit: &mut Emit<'_>) -> Vec<Waits> {
        self.whole.clocks = Some(self.clocks());
        let mut louds: Vec<Loud> = Vec::with_capacity(self.first.len());
        let again = &self.again;
        for Slot { entry, counted, .. } in std::mem::take(&mut self.first) {
            let mut add = |event| louds.push(Loud { mark: CallMark::Unknown, counted, event });
            match entry {
                Entry::Event(event, _) => add(*event),
                Entry::Skim(skim, along) => {
                    let text = along.text.as_deref();
                    docket::recall(&again.recall, again.formats, again.keep, &skim, text, &mut add);
                }
            }
        }
        self.now = louds.iter().map(|loud| moment(&loud.event)).fold(self.now, Nanos::max);
        let mut clients: Vec<u64> = louds.iter().filter_map(|loud| route::client(&loud.event)).collect();
        clients.sort_unstable();
        clients.dedup();
        louds.iter().for_each(|loud| route::note(&loud.event, &mut self.whole));
        let cut = cut(self.now);
        let fates = docket::fates_of(&louds, cut);
        let whole = cut == Cut::None && louds.iter().all(|loud| !loud.counted);
        let done: Option<Places> = (!whole).then(|| {
            let over =
                louds.iter().zip(&fates).filter(|(loud, fate)| **fate != Fate::GoesOn && !loud.counted);
            over.map(|(loud, _)| (loud.event.origin.file, loud.event.origin.offset)).collect()
        });
        self.whole.others = self.others;
        self.others |= clients.len() > 1;
        let events: Vec<Event> = louds.iter().map(|loud| loud.event.clone()).collect();
        let part = Part { done: done.as_ref(), rows: self.terms.rows, ..Part::ALL };
        let Heard { mut findings, tally, tables } = verdict::hear(events, self.paths, &self.whole, &part);
        self.tally.add(tally);
        self.tables.add(tables);
        findings.retain(|finding| self.told.is_news(finding));
        findings.into_iter().for_each(emit);
        let goes_on =
            louds.into_iter().zip(fates).filter(|(_, fate)| cut != Cut::None && *fate != Fate::Over);
        let waits = |(loud, fate): (Loud, Fate)| Waits {
            event: loud.event,
            counted: loud.counted || fate == Fate::Carried,
        };
        goes_on.map(waits).collect()
    }

    fn judge_clients(&mut self, cut: Cut, emit: &mut Emit<'_>) {
        let waiting = (0..).zip(&self.clients).filter_map(|(at, client)| Some((client.as_ref()?.first, at)));
        let mut waiting: Vec<(Nanos, u32)> = waiting.collect();
        self.others |= waiting.len() > 1 || self.given.early > 0;
        self.whole.others = self.others;
        waiting.sort_unstable();
        let all: Vec<(u32, Cut)> = waiting.into_iter().map(|(_, at)| (at, cut)).collect();
        self.judge(&all, emit);
    }

    fn take_waiting(&mut self) -> Vec<Waits> {
        let mut records = Vec::new();
        for at in 0..self.clients.len() {
            let Some(client) = self.clients[at].as_mut() else { continue };
            let louds = std::mem::take(&mut client.writer).bytes;
            let louds = self.spill.take(&mut client.away, louds);
            let skims = std::mem::take(&mut client.skims);
            let skims = self.spill.take(&mut client.skims_away, skims);
            records
                .extend(docket::louds(&louds).map(|loud| Waits { event: loud.event, counted: loud.counted }));
            let again = &self.again;
            for (skim, beside) in docket::skims(&skims) {
                let mut add = |event: Event| records.push(Waits { event, counted: skim.counted });
                // Its file need not be there the next time.
                docket::recall(&again.recall, again.formats, again.keep, &skim, beside.text, &mut add);
            }
        }
        records
    }
}

/// Numbers the records' files anew by the paths that are in use, and gives these.
fn name_files(records: &mut [Waits], paths: &[String]) -> Vec<String> {
    let mut numbers: BTreeMap<u32, u32> = records.iter().map(|waits| (waits.event.origin.file, 0)).collect();
    let mut named = Vec::new();
    for (number, (file, new)) in (0..).zip(&mut numbers) {
        *new = number;
        named.push(paths.get(*file as usize).cloned().unwrap_or_default());
    }
    records.iter_mut().for_each(|waits| waits.event.origin.file = numbers[&waits.event.origin.file]);
    named
}
