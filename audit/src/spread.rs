//! How traffic spreads: cuts over the stream's duration, reconnects over their outcome, sessions over time.
//! Knows counts alone, for plots; no rule rests on them.

use crate::event::{Method, Nanos};
use crate::join::Contact;
use crate::timeline::{self, Timeline};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use unbroken_contract::close::Close;

/// Upper bounds of durations with their names; the usual idle timeouts fall below a bound of their own.
const DURATIONS: [(Nanos, &str); 8] = [
    (1, "below 1 s"),
    (5, "1 s to 5 s"),
    (30, "5 s to 30 s"),
    (61, "30 s to 61 s"),
    (121, "61 s to 121 s"),
    (301, "121 s to 301 s"),
    (3600, "301 s to 1 h"),
    (Nanos::MAX / SECOND, "1 h and longer"),
];
const SECOND: Nanos = 1_000_000_000;
/// Widths of a stretch of time, in seconds; the first that needs at most [`STRETCHES`] is taken.
const WIDTHS: [Nanos; 13] =
    [1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 86_400, 7 * 86_400, 30 * 86_400, 365 * 86_400, 3650 * 86_400];
/// Most stretches that sessions are counted in.
const STRETCHES: Nanos = 24;

/// Lengths of silence up to an hour are told apart by tenths of a second, up to a day by seconds, all longer ones not at all:
/// some hundred thousand counts at most, whatever the input.
const HOUR: u64 = 36_000;
const DAY: u64 = 864_000;
/// Silences this much before or after a frequent one are of the same limit: timers are checked late, clocks are not exact (in
/// tenths of a second).
const EARLY: u64 = 2;
const LATE: u64 = 5;
/// Limits that are told.
const MOST_LIMITS: usize = 8;

/// Counts for plots, each list in the order of its axis.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charts {
    /// Exchanges that the contract calls cut ([`Close::Transport`]) after they had begun, by how long they had lived.
    pub cuts: Vec<(String, u64)>,
    /// Silences after which several streams were cut, in tenths of a second, the most frequent first.
    pub limits: Vec<(u64, u64)>,
    /// GETs that carried a stream on, and sessions initialized again after a close, by what came of them.
    pub reconnects: Vec<(String, u64)>,
    /// Sessions by their first exchange: start of the stretch of time, and how many.
    pub sessions: Vec<(Nanos, u64)>,
}

/// The counts while timelines go by.
#[derive(Debug, Default)]
pub(crate) struct Spread {
    cuts: [u64; DURATIONS.len()],
    /// Cuts by the silence before them, in tenths of a second.
    silences: BTreeMap<u64, u64>,
    reconnects: BTreeMap<&'static str, u64>,
    starts: Vec<Nanos>,
}

impl Spread {
    /// Adds a session by its first moment.
    pub(crate) fn start(&mut self, first: Nanos) {
        self.starts.push(first);
    }

    /// Adds what one client did, as far as it is done.
    pub(crate) fn count(&mut self, timeline: &Timeline, done: &dyn Fn(usize) -> bool) {
        for (at, contact) in timeline.contacts.iter().enumerate() {
            let Some(era) = timeline.eras[at] else { continue };
            let close = timeline::close::classify(contact, era, true);
            if matches!(close, Close::Transport) && contact.accepted() && done(at) {
                self.cut(contact);
            }
        }
        for reconnect in timeline.reconnects.iter().filter(|reconnect| done(reconnect.contact)) {
            let contact = &timeline.contacts[reconnect.contact];
            let name = match reconnect.did {
                timeline::reconnect::Step::Initialize => "initialized again",
                _ => outcome(contact),
            };
            *self.reconnects.entry(name).or_default() += 1;
        }
    }

    /// Takes over what another part has counted.
    pub(crate) fn add(&mut self, other: Spread) {
        self.cuts.iter_mut().zip(other.cuts).for_each(|(a, b)| *a += b);
        for (silence, count) in other.silences {
            *self.silences.entry(silence).or_default() += count;
        }
        for (name, count) in other.reconnects {
            *self.reconnects.entry(name).or_default() += count;
        }
        self.starts.extend(other.starts);
    }

    fn cut(&mut self, contact: &Contact) {
        let Some(length) = contact.end.map(|end| end.saturating_sub(contact.start)) else { return };
        let bound = DURATIONS.iter().position(|(bound, _)| length < bound.saturating_mul(SECOND));
        self.cuts[bound.unwrap_or(DURATIONS.len() - 1)] += 1;
        *self.silences.entry(silence(contact)).or_default() += 1;
    }

    /// The finished counts. Durations that never occurred are left out at both ends only.
    pub(crate) fn finish(self) -> Charts {
        let named = DURATIONS.iter().zip(self.cuts).map(|((_, name), count)| ((*name).to_owned(), count));
        let cuts: Vec<(String, u64)> = named.collect();
        let first = self.cuts.iter().position(|count| *count > 0);
        let last = self.cuts.iter().rposition(|count| *count > 0);
        let reconnects = self.reconnects.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
        Charts {
            cuts: first.zip(last).map(|(first, last)| cuts[first..=last].to_vec()).unwrap_or_default(),
            limits: limits(&self.silences),
            reconnects,
            sessions: over_time(&self.starts),
        }
    }
}

/// How long nothing had come when the stream was cut, in tenths of a second: since its last event where events are recorded,
/// else since it began.
fn silence(contact: &Contact) -> u64 {
    let end = contact.known_until();
    let last = contact.events().iter().filter_map(|event| event.at).filter(|at| *at <= end).max();
    let tenths =
        u64::try_from(end.saturating_sub(last.unwrap_or(contact.start)) / (SECOND / 10)).unwrap_or(0);
    match tenths {
        ..HOUR => tenths,
        HOUR..DAY => tenths / 10 * 10,
        _ => DAY,
    }
}

/// Silences of a second and more that end at least two streams and a twentieth of all that were cut: a limit that somebody
/// set, and not chance.
fn limits(silences: &BTreeMap<u64, u64>) -> Vec<(u64, u64)> {
    let all: u64 = silences.values().sum();
    let mut by_count: Vec<(u64, u64)> = silences.range(10..DAY).map(|(at, count)| (*at, *count)).collect();
    by_count.sort_by_key(|(at, count)| (std::cmp::Reverse(*count), *at));
    let mut left = silences.clone();
    let mut limits = Vec::new();
    for (at, _) in by_count {
        let near: Vec<u64> =
            left.range(at.saturating_sub(EARLY)..=at + LATE).map(|(near, _)| *near).collect();
        if limits.len() == MOST_LIMITS || !near.contains(&at) {
            continue;
        }
        let count: u64 = near.iter().filter_map(|near| left.remove(near)).sum();
        if count >= 2 && count.saturating_mul(20) >= all {
            limits.push((at, count));
        }
    }
    limits.sort_by_key(|(silence, count)| (std::cmp::Reverse(*count), *silence));
    limits
}

fn outcome(contact: &Contact) -> &'static str {
    debug_assert_eq!(contact.exchange.method, Method::Get, "only a GET carries a stream on");
    match (&contact.exchange.request.last_event_id, contact.exchange.status) {
        (_, None | Some(0)) => "no response",
        (Some(_), Some(200..=299)) => "accepted with a cursor",
        (None, Some(200..=299)) => "accepted without a cursor",
        (_, Some(404)) => "refused: 404",
        (_, Some(400..=499)) => "refused: other 4xx",
        (_, Some(500..=599)) => "failed: 5xx",
        _ => "answered otherwise",
    }
}

fn over_time(starts: &[Nanos]) -> Vec<(Nanos, u64)> {
    let (Some(first), Some(last)) = (starts.iter().min(), starts.iter().max()) else { return Vec::new() };
    let stretch = |at: Nanos, width: Nanos| at.div_euclid(width * SECOND);
    let fits = |width: &&Nanos| stretch(*last, **width) - stretch(*first, **width) < STRETCHES;
    let width = WIDTHS.iter().find(fits).copied().unwrap_or(Nanos::MAX / SECOND);
    let mut counts: BTreeMap<Nanos, u64> =
        (stretch(*first, width)..=stretch(*last, width)).map(|at| (at, 0)).collect();
    for at in starts {
        *counts.entry(stretch(*at, width)).or_default() += 1;
    }
    counts.into_iter().map(|(at, count)| (at.saturating_mul(width).saturating_mul(SECOND), count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_counted_in_at_most_24_stretches_without_losing_one() {
        for starts in [
            vec![0],
            vec![5 * SECOND, 0, 4 * SECOND],
            (0..500).map(|i| i * 97 * SECOND).collect(),
            vec![i64::MIN, i64::MAX, 0],
        ] {
            let counted = over_time(&starts);
            assert!(counted.len() <= 24, "{}", counted.len());
            assert_eq!(counted.iter().map(|(_, count)| count).sum::<u64>(), starts.len() as u64);
            assert!(counted.is_sorted());
        }
        assert_eq!(over_time(&[]), []);
    }

    #[test]
    fn many_cuts_at_one_limit_are_one_note() {
        let mut silences: BTreeMap<u64, u64> = (100..400).step_by(7).map(|at| (at, 1)).collect();
        silences.extend([(600, 1000), (601, 230), (603, 4), (3000, 70), (5, 900)]);
        assert_eq!(limits(&silences), [(600, 1234)], "300 s are too few among so many");
        *silences.entry(3000).or_default() += 100;
        assert_eq!(limits(&silences), [(600, 1234), (3000, 170)]);
        assert_eq!(limits(&BTreeMap::from([(600, 1)])), []);
    }

    #[test]
    fn durations_keep_their_order_and_lose_only_their_empty_ends() {
        let mut spread = Spread::default();
        spread.cuts[1] = 2;
        spread.cuts[3] = 1;
        let cuts = spread.finish().cuts;
        assert_eq!(cuts, [("1 s to 5 s".into(), 2), ("5 s to 30 s".into(), 0), ("30 s to 61 s".into(), 1)]);
    }
}
