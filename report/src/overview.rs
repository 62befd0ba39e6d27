//! What a person asks first of an audit: which clients lose sessions, which servers answer wrongly, which tools were
//! called twice, where streams are cut, how many reconnects resumed.
//! Knows findings by their kind and counts; holds a bounded number of names, whatever the input.

use crate::finding::{Finding, Role, Subject};
use crate::summary::Charts;
use crate::words::Piece;
use std::collections::BTreeMap;
use unbroken_contract::Breach;

/// Names of one kind that are held at the same time.
const HELD: usize = 1024;
/// Names of one kind that are shown.
const SHOWN: usize = 5;

/// Counts by name, in bounded memory.
///
/// Where there are more than a thousand names, those with the smallest hashes stay: which ones these are depends on the
/// names alone and not on the order in which they come, and the count of a name that stays is exact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Few<C> {
    held: BTreeMap<(u64, String), C>,
    dropped: C,
    names_dropped: u64,
}

/// Something that can be added up.
pub trait Count: Clone + Default {
    /// Adds another.
    fn add(&mut self, other: &Self);
    /// By which names are ordered, the largest first.
    fn weight(&self) -> u64;
}

impl Count for u64 {
    fn add(&mut self, other: &u64) {
        *self += other;
    }
    fn weight(&self) -> u64 {
        *self
    }
}

/// Names with their counts, the largest first, and the rest of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Top<C> {
    /// Those that are shown.
    pub shown: Vec<(String, C)>,
    /// How many more names there are, at least.
    pub others: u64,
    /// What they add up to.
    pub rest: C,
}

impl<C: Count> Few<C> {
    fn note(&mut self, name: &str, count: &C) {
        let mut first = [0; 8];
        first.copy_from_slice(&blake3::hash(name.as_bytes()).as_bytes()[..8]);
        self.held.entry((u64::from_le_bytes(first), name.to_owned())).or_default().add(count);
        if self.held.len() > HELD
            && let Some((_, count)) = self.held.pop_last()
        {
            self.dropped.add(&count);
            self.names_dropped += 1;
        }
    }

    /// The names with the largest counts.
    #[must_use]
    pub fn top(&self, most: usize) -> Top<C> {
        let mut all: Vec<(&String, &C)> = self.held.iter().map(|((_, name), count)| (name, count)).collect();
        all.sort_by(|a, b| b.1.weight().cmp(&a.1.weight()).then_with(|| a.0.cmp(b.0)));
        let mut rest = self.dropped.clone();
        all.iter().skip(most).for_each(|(_, count)| rest.add(count));
        let others = self.names_dropped + all.len().saturating_sub(most) as u64;
        let shown = all.into_iter().take(most).map(|(name, count)| (name.clone(), count.clone())).collect();
        Top { shown, others, rest }
    }

    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
}

/// What became of the calls of one tool that were sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repeats {
    /// Distinct calls.
    pub calls: u64,
    /// Sends of them, the first ones included.
    pub sends: u64,
    /// Calls that are shown to have run more than once.
    pub ran_twice: u64,
}

impl Count for Repeats {
    fn add(&mut self, other: &Repeats) {
        self.calls += other.calls;
        self.sends += other.sends;
        self.ran_twice += other.ran_twice;
    }
    fn weight(&self) -> u64 {
        self.calls
    }
}

/// The overview, gathered while findings go by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overview {
    /// Sessions that were dropped although the server never ended them, by client (name and version, or user agent).
    pub losing: Few<u64>,
    /// Clients that were answered otherwise than with 404 about an unknown session, by server and its answer.
    pub dialects: Few<u64>,
    /// Calls that were sent again, by tool.
    pub tools: Few<Repeats>,
}

impl Overview {
    /// Counts a finding that is reported.
    pub fn count(&mut self, finding: &Finding) {
        if matches!(finding.subject, Subject::Item(_)) {
            return;
        }
        let client = finding.client.as_deref().unwrap_or("a client without a name");
        match finding.breach {
            Breach::SessionDiscarded => self.losing.note(client, &1),
            Breach::UnknownSessionNot404 => {
                let Some(step) = finding.proof.iter().rfind(|step| step.role == Role::Refuse) else { return };
                let server = step.scene.server.as_deref().unwrap_or("a server without a name");
                let plain = step.words.0.iter().filter_map(|piece| match piece {
                    Piece::Plain(text) => Some(text.as_str()),
                    _ => None,
                });
                self.dialects.note(&format!("{server} ({})", plain.collect::<String>()), &1);
            }
            Breach::DuplicateInvocation | Breach::CallRetriedByProxy => {
                let ran = finding.sends.iter().filter(|sent| sent.executed == Some(true)).count();
                let sends = finding.sends.len() as u64;
                let repeats = Repeats { calls: 1, sends, ran_twice: u64::from(ran > 1) };
                self.tools.note(finding.tool.as_deref().unwrap_or("a tool without a name"), &repeats);
            }
            _ => {}
        }
    }

    /// The overview as sentences, each with what it is about: lower-case, without a full stop. Names are as the log has them.
    #[must_use]
    pub fn sentences(&self, charts: &Charts, reconnects: u64) -> Vec<(&'static str, String)> {
        let mut said = Vec::new();
        if !self.losing.is_empty() {
            let one = |count: &u64| plural(*count, "session");
            said.push(("clients that lose sessions", list(&self.losing.top(SHOWN), &one)));
        }
        if !self.dialects.is_empty() {
            let one = |count: &u64| format!("to {}", plural(*count, "client"));
            said.push((
                "servers that answer an unknown session wrongly",
                list(&self.dialects.top(SHOWN), &one),
            ));
        }
        if !self.tools.is_empty() {
            said.push(("tools called again", list(&self.tools.top(SHOWN), &repeats)));
        }
        if !charts.limits.is_empty() {
            let limits: Vec<String> = charts
                .limits
                .iter()
                .map(|(tenths, count)| format!("{} ({})", tenths_of(*tenths), plural(*count, "time")))
                .collect();
            said.push(("streams cut after the same silence", limits.join(", ")));
        }
        let resumed = charts.resumed();
        if let Some(share) = resumed.saturating_mul(100).checked_div(reconnects) {
            said.push(("resumed", format!("{resumed} of {} ({share} %)", plural(reconnects, "reconnect"))));
        }
        said
    }
}

/// Tenths of a second as `60.0 s`.
pub(crate) fn tenths_of(tenths: u64) -> String {
    format!("{}.{} s", tenths / 10, tenths % 10)
}

fn repeats(repeats: &Repeats) -> String {
    let Repeats { calls, sends, ran_twice } = *repeats;
    let sent = format!("{} sent {} times", plural(calls, "call"), sends);
    match ran_twice {
        0 => sent,
        ran => format!("{sent}, {ran} ran more than once"),
    }
}

fn list<C: Count>(top: &Top<C>, one: &dyn Fn(&C) -> String) -> String {
    let mut parts: Vec<String> =
        top.shown.iter().map(|(name, count)| format!("{name}: {}", one(count))).collect();
    if top.others > 0 {
        parts.push(format!("{}: {}", plural(top.others, "other"), one(&top.rest)));
    }
    parts.join("; ")
}

fn plural(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_the_bound_are_added_up_whatever_their_order() {
        let names: Vec<String> = (0..5000).map(|at| format!("client {at}")).collect();
        let few = |names: &mut dyn Iterator<Item = &String>| {
            let mut few = Few::<u64>::default();
            names.for_each(|name| few.note(name, &2));
            few
        };
        let (one, other) = (few(&mut names.iter()), few(&mut names.iter().rev()));
        assert_eq!(one.held, other.held);
        for few in [one, other] {
            assert_eq!(few.held.len(), HELD);
            let top = few.top(3);
            let shown: u64 = top.shown.iter().map(|(_, count)| count).sum();
            assert_eq!((shown + top.rest, top.shown.len() as u64 + top.others), (10_000, 5000));
        }
    }
}
