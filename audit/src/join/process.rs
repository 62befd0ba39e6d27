//! Which lines of clients' own logs one process wrote, though they stand in several files.
//! Knows names, times and handshakes; not what a process said.
//!
//! A log that was rotated or cut goes on in the next file: there the process is named as before, and uses a session that it
//! did not open. Two processes that share a name and run beside each other, each with its own handshake, stay two.

use super::Joined;
use crate::event::{LifecycleStep, Message, Nanos, Text, Vantage};
use std::collections::BTreeMap;

/// Where a process' lines stand: a file, and the name it goes by there.
pub(crate) type Piece = (u32, Option<Text>);

/// The processes of an input's client logs.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    of: BTreeMap<Piece, usize>,
}

/// What is known of one piece of a log.
#[derive(Debug)]
struct Span {
    first: Nanos,
    last: Nanos,
    /// It begins with a handshake, if with any request.
    opens: Option<bool>,
}

impl Processes {
    /// Tells the processes of `joined`.
    pub(crate) fn of(joined: &Joined) -> Processes {
        let mut spans: BTreeMap<Piece, Span> = BTreeMap::new();
        let mut note = |file: u32, instance: &Option<Text>, at: Nanos, opens: Option<bool>| {
            let new = Span { first: at, last: at, opens: None };
            let span = spans.entry((file, instance.clone())).or_insert(new);
            (span.first, span.last) = (span.first.min(at), span.last.max(at));
            span.opens = span.opens.or(opens);
        };
        // In order of time, so that the first word on sessions is the one that counts.
        let messages = joined.messages.iter().filter(|told| told.vantage == Vantage::Client).map(|told| {
            let opens = match &told.what.message {
                Message::Request(request) if request.id.is_some() => Some(request.initialize.is_some()),
                _ => None,
            };
            (told.at, told.origin.file, &told.instance, opens)
        });
        let steps = joined.steps.iter().filter(|told| told.vantage == Vantage::Client).map(|told| {
            let starts = told.what.step == LifecycleStep::ProcessStarted;
            (told.at, told.origin.file, &told.instance, starts.then_some(true))
        });
        let mut words: Vec<_> = messages.chain(steps).collect();
        words.sort_by_key(|(at, ..)| *at);
        words.into_iter().for_each(|(at, file, instance, opens)| note(file, instance, at, opens));
        unite(spans)
    }

    /// The process that wrote the lines of `file` that go by `instance`.
    pub(crate) fn at(&self, file: u32, instance: &Option<Text>) -> usize {
        self.of.get(&(file, instance.clone())).copied().unwrap_or(usize::MAX)
    }
}

fn unite(spans: BTreeMap<Piece, Span>) -> Processes {
    let mut pieces: Vec<(Piece, Span)> = spans.into_iter().collect();
    pieces.sort_by_key(|(_, span)| (span.first, span.last));
    let mut processes = Processes::default();
    // The name and the last word of each process so far.
    let mut known: Vec<(Option<Text>, Nanos)> = Vec::new();
    for ((file, name), span) in pieces {
        let continues = span.opens != Some(true);
        let mut own = known.iter().enumerate().filter(|(_, (other, _))| *other == name);
        let goes_on = match &name {
            // A process of this name that had ended, the latest; else the only one, if this piece lacks its beginning.
            Some(_) => {
                let over = own.clone().filter(|(_, (_, last))| *last <= span.first);
                over.max_by_key(|(_, (_, last))| *last).or_else(|| own.next().filter(|_| continues))
            }
            // Without a name only one that can be meant.
            None if continues => {
                let only = own.next();
                only.filter(|(_, (_, last))| *last <= span.first && own.next().is_none())
            }
            None => None,
        };
        let at = match goes_on {
            Some((at, _)) => at,
            None => {
                known.push((name.clone(), span.last));
                known.len() - 1
            }
        };
        known[at].1 = known[at].1.max(span.last);
        processes.of.insert((file, name), at);
    }
    processes
}

#[cfg(test)]
mod tests {
    use super::*;

    type Piece<'p> = (u32, Option<&'p str>, Nanos, Nanos, Option<bool>);

    fn process(pieces: &[Piece<'_>]) -> Vec<usize> {
        let spans = pieces.iter().map(|(file, name, first, last, opens)| {
            ((*file, name.map(Text::from)), Span { first: *first, last: *last, opens: *opens })
        });
        let processes = unite(spans.collect());
        pieces.iter().map(|(file, name, ..)| processes.at(*file, &name.map(Text::from))).collect()
    }

    #[test]
    fn a_cut_log_goes_on_and_two_processes_stay_two() {
        let (opens, goes_on) = (Some(true), Some(false));
        assert_eq!(process(&[(0, Some("c"), 0, 5, opens), (1, Some("c"), 6, 9, goes_on)]), [0, 0]);
        assert_eq!(process(&[(0, Some("c"), 0, 5, opens), (1, Some("d"), 6, 9, goes_on)]), [0, 1]);
        assert_eq!(process(&[(0, Some("c"), 0, 5, opens), (1, Some("c"), 3, 9, opens)]), [0, 1], "beside");
        assert_eq!(
            process(&[(0, Some("c"), 0, 5, opens), (1, Some("c"), 3, 9, goes_on)]),
            [0, 0],
            "interleaved"
        );
        assert_eq!(
            process(&[(0, Some("c"), 0, 5, opens), (1, Some("c"), 6, 9, opens)]),
            [0, 0],
            "as in one file"
        );
        assert_eq!(process(&[(0, None, 0, 5, opens), (1, None, 6, 9, goes_on)]), [0, 0]);
        assert_eq!(process(&[(0, None, 0, 5, opens), (1, None, 6, 9, opens)]), [0, 1]);
        let two = [(0, None, 0, 5, opens), (1, None, 0, 4, opens), (2, None, 6, 9, goes_on)];
        assert_eq!(process(&two).iter().max(), Some(&2), "nothing tells whose it is");
    }
}
