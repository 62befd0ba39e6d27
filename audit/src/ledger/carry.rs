//! The ledger between two exports: taken up where the last one left it, and left where the next one takes it up.
//! Knows what waits; how it is kept is for [`crate::carry`].

use super::queue::Slot;
use super::route::Routes;
use super::{Carries, Emit, Entry, Ledger, Waiting, docket, route};
use crate::carry::{Carried, Stage, Waits};
use crate::event::{Event, Nanos};
use crate::join::{Clocks, Known};
use crate::order::{Order, moment, until};
use crate::quick::HashMap;
use crate::skim::{Along, Skim, Skimmed};
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
            records,
            clients,
            common,
            ways,
            clock,
            told,
            sends,
            tools,
            remarked,
            others,
            passed,
            clocks,
            given,
            paths: _,
            loose: _,
        } = carried;
        self.told.prints.extend(told.iter().map(|(print, _)| *print));
        self.told.sends.extend(sends.iter().map(|(send, print, _)| (*send, *print)));
        self.whole.tools.restore(&tools);
        self.whole.remarked = remarked;
        self.whole.given = given;
        self.others = others;
        self.own = first as usize;
        self.common = common;
        (self.now, self.swept) = clock.unwrap_or((Nanos::MIN, Nanos::MIN));
        let told = told.into_iter().collect();
        let sends = sends.into_iter().map(|(send, _, at)| (send, at)).collect();
        self.before = Before { told, sends, clocks };
        self.queue.restore(passed);
        self.routes.restore(ways);
        for (key, judged) in clients {
            self.routes.reopen(key, self.clients.len() as u32);
            self.clients.push(Some(Waiting { key, judged, ..Waiting::default() }));
        }
        for waits in records {
            self.take_back(waits, first);
        }
    }

    /// Puts a record where it was when the last export ended.
    fn take_back(&mut self, waits: Waits, first: u32) {
        let Waits { mut event, mark, stage } = waits;
        event.origin.file += first;
        let mark = docket::marked(mark);
        match stage {
            Stage::Queued { weight, ordinary } => {
                self.queue.put(Slot::again(Entry::Event(Box::new(event), mark), weight, ordinary));
            }
            Stage::Filed { client: index, counted } => {
                // A number that leads nowhere is not written, and a checksum holds the file together.
                let Some(Some(client)) = self.clients.get_mut(index as usize) else { return };
                if let Some(session) = route::session(&event) {
                    self.routes.rejoin(route::hash(session), index);
                }
                let before = client.size();
                docket::write(&mut client.writer, &event, mark, counted);
                client.note(moment(&event), until(&event), counted);
                self.held = self.held + client.size() - before;
            }
        }
    }

    /// What has been silent since this moment is over; none: all of it is.
    pub(crate) fn over_at_end(&self) -> Option<Nanos> {
        let waits = self.terms.carries == Some(Carries::Open);
        waits.then(|| self.queue.newest.saturating_sub(self.terms.horizon))
    }

    /// Hands over what is not done with, as it is: where one export ends and the next begins decides nothing. If this is the
    /// last one, all is judged.
    pub(super) fn carry_on(&mut self, emit: &mut Emit<'_>) -> Carried {
        // However few they are: those of other exports are judged client by client too.
        if !self.is_large {
            self.queue.open();
            self.is_large = true;
        }
        match self.terms.carries {
            Some(Carries::All) => {
                self.flush(emit);
                self.judge_clients(emit);
            }
            _ => self.pause(emit),
        }
        self.others |= self.given.all_early() > 0;
        // What is over is nobody's early end here.
        self.given.early = 0;
        let (clients, numbers) = self.waiting_clients();
        let mut records = self.take_waiting(&numbers);
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
        Carried {
            paths,
            records,
            clients,
            common: self.common,
            ways: self.routes.ways(&numbers),
            clock: (self.now != Nanos::MIN).then_some((self.now, self.swept)),
            told,
            sends,
            tools: self.whole.tools.declared(),
            remarked: self.whole.remarked,
            others: self.others,
            passed: self.queue.passed(),
            clocks: self.whole.clocks.as_ref().map(Clocks::handed_on).unwrap_or_default(),
            given: self.whole.given,
            loose: Vec::new(),
        }
    }

    /// Files what no other record can overtake any more.
    fn pause(&mut self, emit: &mut Emit<'_>) {
        if self.queue.is_due() {
            let slots = self.queue.take();
            self.follow(slots, emit);
        }
        if !self.is_filing {
            self.begin_filing(emit);
        }
        self.given.unordered = self.queue.late;
        self.given.again = self.queue.again;
    }

    /// Goes on client by client.
    pub(super) fn part_ways(&mut self, emit: &mut Emit<'_>) {
        self.common = None;
        self.whole.others = true;
        let mut entries: Vec<(Order, Entry, bool)> = Vec::new();
        let mut judged = Nanos::MIN;
        for client in &mut self.clients {
            let Some(mut client) = client.take() else { continue };
            judged = judged.max(client.judged);
            let louds = self.spill.take(&mut client.away, std::mem::take(&mut client.writer).bytes);
            let skims = self.spill.take(&mut client.skims_away, std::mem::take(&mut client.skims));
            entries.extend(docket::louds(&louds).map(|loud| {
                let order = Order::of(&loud.event);
                (order, Entry::Event(Box::new(loud.event), loud.mark), loud.counted)
            }));
            entries.extend(docket::skims(&skims).map(|(skim, beside)| {
                let along = Along { ids: beside.ids().collect(), text: beside.text.map(Into::into) };
                (Order::of_skim(&skim), Entry::Skim(Box::new(Skimmed { skim, along })), skim.counted)
            }));
        }
        (self.clients, self.free, self.held) = (Vec::new(), Vec::new(), 0);
        self.routes = Routes::default();
        entries.sort_by_key(|(order, ..)| (order.until, *order));
        for (_, entry, counted) in entries {
            self.file(entry, counted, emit);
        }
        self.clients.iter_mut().flatten().for_each(|client| client.judged = client.judged.max(judged));
    }

    /// The clients that wait, and the number of each among them.
    fn waiting_clients(&self) -> (Vec<(u64, Nanos)>, HashMap<u32, u32>) {
        let mut clients = Vec::new();
        let mut numbers = HashMap::default();
        for (index, client) in (0..).zip(&self.clients) {
            let Some(client) = client else { continue };
            numbers.insert(index, clients.len() as u32);
            clients.push((client.key, client.judged));
        }
        (clients, numbers)
    }

    fn take_waiting(&mut self, numbers: &HashMap<u32, u32>) -> Vec<Waits> {
        let mut records = Vec::new();
        let again = &self.again;
        // The file of an ordinary record need not be there the next time.
        let recall = |skim: &Skim, text: Option<&[u8]>, stage: Stage, records: &mut Vec<Waits>| {
            let mark = docket::code(skim.mark());
            let mut add = |event: Event| records.push(Waits { event, mark, stage });
            docket::recall(&again.recall, again.formats, again.keep, skim, text, &mut add);
        };
        for (index, client) in (0..).zip(&mut self.clients) {
            let (Some(waiting), Some(number)) = (client, numbers.get(&index)) else { continue };
            let louds = std::mem::take(&mut waiting.writer).bytes;
            let louds = self.spill.take(&mut waiting.away, louds);
            let skims = std::mem::take(&mut waiting.skims);
            let skims = self.spill.take(&mut waiting.skims_away, skims);
            records.extend(docket::louds(&louds).map(|loud| {
                let stage = Stage::Filed { client: *number, counted: loud.counted };
                Waits { event: loud.event, mark: docket::code(loud.mark), stage }
            }));
            for (skim, beside) in docket::skims(&skims) {
                let stage = Stage::Filed { client: *number, counted: skim.counted };
                recall(&skim, beside.text, stage, &mut records);
            }
        }
        for Slot { entry, weight, ordinary, .. } in self.queue.leave() {
            let stage = Stage::Queued { weight, ordinary };
            match entry {
                Entry::Event(event, mark) => {
                    records.push(Waits { event: *event, mark: docket::code(mark), stage });
                }
                Entry::Skim(one) => recall(&one.skim, one.along.text.as_deref(), stage, &mut records),
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
