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

/// Counts for plots, each list in the order of its axis.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charts {
    /// Exchanges that the contract calls cut ([`Close::Transport`]) after they had begun, by how long they had lived.
    pub cuts: Vec<(String, u64)>,
    /// GETs that carried a stream on, and sessions initialized again after a close, by what came of them.
    pub reconnects: Vec<(String, u64)>,
    /// Sessions by their first exchange: start of the stretch of time, and how many.
    pub sessions: Vec<(Nanos, u64)>,
}

/// The counts while timelines go by.
#[derive(Debug, Default)]
pub(crate) struct Spread {
    cuts: [u64; DURATIONS.len()],
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
        for (name, count) in other.reconnects {
            *self.reconnects.entry(name).or_default() += count;
        }
        self.starts.extend(other.starts);
    }

    fn cut(&mut self, contact: &Contact) {
        let Some(length) = contact.end.map(|end| end.saturating_sub(contact.start)) else { return };
        let bound = DURATIONS.iter().position(|(bound, _)| length < bound.saturating_mul(SECOND));
        self.cuts[bound.unwrap_or(DURATIONS.len() - 1)] += 1;
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
            reconnects,
            sessions: over_time(&self.starts),
        }
    }
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
    fn durations_keep_their_order_and_lose_only_their_empty_ends() {
        let mut spread = Spread::default();
        spread.cuts[1] = 2;
        spread.cuts[3] = 1;
        let cuts = spread.finish().cuts;
        assert_eq!(cuts, [("1 s to 5 s".into(), 2), ("5 s to 30 s".into(), 0), ("30 s to 61 s".into(), 1)]);
    }
}
