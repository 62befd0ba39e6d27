//! The events a server keeps for replay, per stream, with a floor and a head (contract 3.5).
//! Knows no session but its own and no transport; it never clamps a cursor and never closes a hole.

use std::collections::{BTreeMap, VecDeque};

use crate::cursor::{EventId, SessionMark};

/// What is retained of one stream's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// The stream.
    pub stream: u64,
    /// The oldest number retained; one more than `head` when nothing is.
    pub floor: u64,
    /// The newest number issued; 0 when none was.
    pub head: u64,
}

/// One session's events. `E` is whatever the server replays.
#[derive(Clone, Debug)]
pub struct EventLog<E> {
    mark: Option<SessionMark>,
    streams: BTreeMap<u64, Sequence<E>>,
}

#[derive(Clone, Debug)]
struct Sequence<E> {
    floor: u64,
    head: u64,
    events: VecDeque<(u64, E)>,
}

impl<E> EventLog<E> {
    /// An empty log of the session with this id, or of none where the server issues no ids.
    #[must_use]
    pub fn new(session: Option<&str>) -> EventLog<E> {
        EventLog { mark: session.map(SessionMark::of), streams: BTreeMap::new() }
    }

    /// Retains an event at the head of a stream, and names it. Streams begin with their first event.
    pub fn append(&mut self, stream: u64, event: E) -> EventId {
        let sequence = self.sequence(stream);
        // Saturating: after 2^64 - 1 events the last number repeats, and no cursor can be before it.
        sequence.head = sequence.head.saturating_add(1);
        let number = sequence.head;
        sequence.events.push_back((number, event));
        self.id(stream, number)
    }

    /// Issues a number whose event could not be retained: a hole, over which nothing is replayed.
    pub fn lose(&mut self, stream: u64) -> EventId {
        let sequence = self.sequence(stream);
        sequence.head = sequence.head.saturating_add(1);
        let number = sequence.head;
        self.id(stream, number)
    }

    /// Lets go of everything but the newest `keep` numbers of a stream.
    pub fn trim(&mut self, stream: u64, keep: u64) {
        let Some(sequence) = self.streams.get_mut(&stream) else { return };
        let floor = sequence.head.saturating_sub(keep).saturating_add(1);
        sequence.floor = sequence.floor.max(floor);
        while sequence.events.front().is_some_and(|(number, _)| *number < sequence.floor) {
            sequence.events.pop_front();
        }
    }

    /// The mark that its event ids carry.
    #[must_use]
    pub const fn mark(&self) -> Option<SessionMark> {
        self.mark
    }

    /// What is retained, in the order of the streams' numbers.
    pub fn windows(&self) -> impl Iterator<Item = Window> + '_ {
        self.streams.iter().map(|(&stream, sequence)| Window {
            stream,
            floor: sequence.floor,
            head: sequence.head,
        })
    }

    /// The newest id of a stream, to be advertised where a cursor is refused.
    #[must_use]
    pub fn head(&self, stream: u64) -> Option<EventId> {
        let sequence = self.streams.get(&stream)?;
        Some(self.id(stream, sequence.head))
    }

    /// Whether every event after `number`, up to the head, is retained. True of a stream that does not exist: nothing
    /// of it is missing.
    #[must_use]
    pub fn is_contiguous_after(&self, stream: u64, number: u64) -> bool {
        self.streams.get(&stream).is_none_or(|sequence| {
            let issued = sequence.head.saturating_sub(number);
            sequence.after(number).len() as u64 == issued
        })
    }

    /// The retained events of a stream strictly after `number`, oldest first.
    pub fn after(&self, stream: u64, number: u64) -> impl Iterator<Item = (EventId, &E)> + '_ {
        let sequence = self.streams.get(&stream);
        sequence
            .into_iter()
            .flat_map(move |sequence| sequence.after(number))
            .map(move |(number, event)| (self.id(stream, *number), event))
    }

    fn id(&self, stream: u64, sequence: u64) -> EventId {
        EventId { session: self.mark, stream: Some(stream), sequence }
    }

    fn sequence(&mut self, stream: u64) -> &mut Sequence<E> {
        self.streams.entry(stream).or_insert(Sequence { floor: 1, head: 0, events: VecDeque::new() })
    }
}

impl<E> Sequence<E> {
    fn after(&self, number: u64) -> impl ExactSizeIterator<Item = &(u64, E)> {
        let first = self.events.partition_point(|(retained, _)| *retained <= number);
        self.events.range(first..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> EventLog<u32> {
        let mut log = EventLog::new(Some("s-1"));
        (10..15).for_each(|event| {
            log.append(2, event);
        });
        log
    }

    fn numbers(log: &EventLog<u32>, after: u64) -> Vec<u64> {
        log.after(2, after).map(|(id, _)| id.sequence).collect()
    }

    #[test]
    fn replay_is_strictly_after() {
        let log = log();
        assert_eq!(numbers(&log, 0), [1, 2, 3, 4, 5]);
        assert_eq!(numbers(&log, 3), [4, 5]);
        assert_eq!(numbers(&log, 5), [0_u64; 0]);
        let (id, event) = log.after(2, 4).next().unwrap();
        assert_eq!((id.stream, id.session, *event), (Some(2), log.mark(), 14));
    }

    #[test]
    fn trimming_lifts_the_floor_and_only_ever_lifts_it() {
        let mut log = log();
        log.trim(2, 2);
        assert_eq!(log.windows().collect::<Vec<_>>(), [Window { stream: 2, floor: 4, head: 5 }]);
        log.trim(2, 100);
        assert_eq!(log.windows().next().map(|window| window.floor), Some(4));
        log.trim(2, 0);
        assert_eq!(log.windows().collect::<Vec<_>>(), [Window { stream: 2, floor: 6, head: 5 }]);
        log.trim(9, 0);
        assert_eq!(log.append(2, 1).sequence, 6);
    }

    #[test]
    fn a_lost_event_is_a_hole() {
        let mut log = log();
        assert_eq!(log.lose(2).sequence, 6);
        log.append(2, 16);
        assert!(!log.is_contiguous_after(2, 5));
        assert!(log.is_contiguous_after(2, 6));
        assert!(!log.is_contiguous_after(2, 0));
        assert!(log.is_contiguous_after(9, 0));
        assert_eq!(log.head(2).map(|id| id.sequence), Some(7));
    }
}
