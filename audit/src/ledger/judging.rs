//! When clients are judged, and what becomes of them then.
//! Knows silence, size and memory; how one client is judged is the docket's affair.

use super::docket::{self, Cut, Docket, File, Judged};
use super::waiting::Waiting;
use super::{Again, Emit, Entry, Ledger};
use crate::event::Nanos;
use crate::finding::Finding;
use crate::verdict::{self, Heard, Part};

/// Why a client is judged now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// It was silent, or its past is.
    Silence,
    /// What waits of it can go nowhere else.
    Memory,
    /// It has too many records.
    Size,
    /// Nothing more comes.
    End,
}

impl Ledger<'_> {
    /// Judges the clients that have been silent for the horizon, and the past of those that never are.
    pub(super) fn sweep(&mut self, emit: &mut Emit<'_>) {
        self.swept = self.now;
        let horizon = self.terms.horizon;
        let cut = self.now.saturating_sub(horizon).saturating_sub(self.terms.disorder);
        let waiting = (0..).zip(&self.clients).filter_map(|(at, client)| Some((at, client.as_ref()?)));
        let mut due: Vec<(Nanos, u32, Cut)> = waiting
            .filter_map(|(at, client)| {
                // Half of what is looked at is done then: more often would judge the same records again and again.
                // Few records cost little.
                let stretch = if self.common.is_some() { 0 } else { horizon };
                let old = client.first < cut.saturating_sub(stretch) && client.judged <= cut;
                let cut = match client.last < cut {
                    true => Cut::None,
                    false if old => Cut::At { moment: cut, horizon },
                    false => return None,
                };
                Some((client.first, at, cut))
            })
            .collect();
        due.sort_unstable_by_key(|(first, at, _)| (*first, *at));
        let due: Vec<_> = due.into_iter().map(|(_, at, cut)| (at, cut)).collect();
        self.judge(&due, Why::Silence, emit);
    }

    /// Moves waiting bytes into the temporary file; where that fails, silent clients are judged before their time instead.
    pub(super) fn put_aside(&mut self, emit: &mut Emit<'_>) {
        if self.spill().is_err() {
            self.judge_silent(emit);
        }
    }

    /// Moves waiting bytes into the temporary file.
    fn spill(&mut self) -> Result<(), ()> {
        self.again.costs.add_spill();
        for client in self.clients.iter_mut().flatten() {
            let before = client.size();
            let put = client.spill(&mut self.spill);
            self.held = self.held + client.size() - before;
            self.given.spilled += put?;
        }
        self.spill.flush()
    }

    /// Judges the clients that have been silent longest, until half of the room is free: a story that is going on is the last
    /// to be cut.
    fn judge_silent(&mut self, emit: &mut Emit<'_>) {
        let waiting = (0..).zip(&self.clients).filter_map(|(at, client)| Some((client.as_ref()?, at)));
        let mut silent: Vec<(Nanos, u32, usize)> =
            waiting.map(|(client, at)| (client.last, at, client.size())).collect();
        silent.sort_unstable();
        let mut held = self.held;
        let due = silent.into_iter().take_while(|(_, _, size)| {
            let is_due = held > self.terms.room / 2;
            held = held.saturating_sub(*size);
            is_due
        });
        let due: Vec<_> = due.map(|(_, at, _)| (at, Cut::None)).collect();
        self.judge(&due, Why::Memory, emit);
    }

    /// Judges clients, each up to its cut or as a whole, and forgets what is done.
    pub(super) fn judge(&mut self, clients: &[(u32, Cut)], why: Why, emit: &mut Emit<'_>) {
        if let Some(common) = &self.common {
            // Where none is done with, all there are stand side by side.
            self.whole.others = common.several && (self.others || self.given.all_early() > 0);
        }
        // A fixed number at a time: how many threads there are must not show in the order of the findings.
        let mut rest = clients.iter().peekable();
        while rest.peek().is_some() {
            let mut files = Vec::with_capacity(docket::AT_ONCE);
            let mut records = 0;
            while let Some((index, cut)) = rest.peek() {
                let client =
                    self.clients[*index as usize].as_mut().expect("only clients that wait are judged");
                records += client.records;
                let full = files.len() == docket::AT_ONCE || records > docket::RECORDS_AT_ONCE;
                if full && !files.is_empty() {
                    break;
                }
                rest.next();
                self.held -= client.size();
                let louds = std::mem::take(&mut client.writer).bytes;
                let skims = std::mem::take(&mut client.skims);
                files.push(File {
                    index: *index,
                    cut: *cut,
                    louds: self.spill.take(&mut client.away, louds),
                    skims: self.spill.take(&mut client.skims_away, skims),
                });
            }
            let docket = Docket {
                paths: self.paths,
                whole: &self.whole,
                recall: &self.again.recall,
                formats: self.again.formats,
                keep: self.again.keep,
                costs: self.again.costs,
                rows: self.terms.rows,
                all: self.terms.all,
            };
            let judged = docket.judge(files);
            let mut findings = Vec::new();
            for one in judged {
                findings.extend(self.close(one, why));
            }
            verdict::in_order(&mut findings);
            findings.into_iter().for_each(&mut *emit);
            // What goes on of many clients came back from the file. Where there is none, their records are told of as they come.
            if self.held > self.terms.room {
                _ = self.spill();
            }
        }
    }

    fn close(&mut self, judged: Judged, why: Why) -> Vec<Finding> {
        let Judged { index, heard, over, kept } = judged;
        let Heard { mut findings, mut tally, tables } = heard;
        let mut new = Vec::new();
        tally.retain_sessions(|session| {
            let is_new = !self.counted.holds(session);
            new.extend(is_new.then_some(session));
            is_new
        });
        if why != Why::End {
            new.into_iter().for_each(|session| self.counted.add(session));
        }
        self.tally.add(tally);
        self.tables.add(tables);
        match why {
            Why::Silence => self.given.early += over.len() as u64,
            Why::Memory => self.given.forced += over.len() as u64,
            Why::Size => {
                self.given.parted += over.len() as u64;
                self.given.parts += 1;
            }
            Why::End => {}
        }
        let client = self.clients[index as usize].as_mut().expect("a client waits until it is judged");
        match kept {
            Some(kept) => {
                let Waiting { key, .. } = *client;
                *client = Waiting { key, judged: self.now, ..kept };
                self.held += client.size();
                self.routes.forget_sessions(&over, index);
            }
            None => {
                self.routes.forget(client.key, &over, index);
                self.clients[index as usize] = None;
                self.free.push(index);
            }
        }
        findings.retain(|finding| self.told.is_news(finding));
        findings
    }

    /// Judges what is left of an input that is the only one.
    pub(super) fn judge_rest(&mut self, emit: &mut Emit<'_>) {
        if self.is_large {
            self.judge_clients(emit);
        } else {
            self.judge_small(emit);
        }
    }

    /// Judges all clients that wait: no more comes.
    pub(super) fn judge_clients(&mut self, emit: &mut Emit<'_>) {
        let waiting = (0..).zip(&self.clients).filter_map(|(at, client)| Some((client.as_ref()?.first, at)));
        let mut waiting: Vec<(Nanos, u32)> = waiting.collect();
        self.others |= waiting.len() > 1 || self.given.all_early() > 0;
        // Of those in one place there may be no other ([`Ledger::judge`]).
        self.whole.others = self.others;
        waiting.sort_unstable();
        let all: Vec<(u32, Cut)> = waiting.into_iter().map(|(_, at)| (at, Cut::None)).collect();
        self.judge(&all, Why::End, emit);
    }

    fn judge_small(&mut self, emit: &mut Emit<'_>) {
        let Again { recall, formats, keep, .. } = &self.again;
        let mut events = Vec::with_capacity(self.first.len());
        for slot in std::mem::take(&mut self.first) {
            match slot.entry {
                Entry::Event(event, _) => events.push(*event),
                Entry::Skim(one) => {
                    let text = one.along.text.as_deref();
                    docket::recall(recall, formats, *keep, &one.skim, text, &mut |event| events.push(event));
                }
            }
        }
        let part = Part { rows: self.terms.rows, costs: Some(self.again.costs), ..Part::ALL };
        let heard = verdict::hear(events, self.paths, &self.whole, &part);
        self.tally.add(heard.tally);
        self.tables.add(heard.tables);
        heard.findings.into_iter().for_each(emit);
    }
}
