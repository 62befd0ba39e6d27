use super::*;
use crate::event::{
    Event, Identity, Keys, Lifecycle, LifecycleStep, Origin, Place, SessionScope, Time, TimeMeans, Vantage,
    What,
};
use crate::mapping::CallMark;
use crate::skim::{Along, Kind, Skim, Skimmed};
use proptest::prelude::*;

const S: Nanos = 1_000_000_000;

fn entry(start: Nanos, end: Nanos, seal: u64, offset: u64) -> Entry {
    let origin = Origin { seal, file: 0, offset, place: Place::Line(offset) };
    let skim = Skim {
        origin,
        length: 1,
        format: 0,
        kind: Kind::Request,
        start,
        end,
        session: 1,
        client: None,
        tool: None,
        who: 0,
        version: 0,
        instance: 0,
        asked: 0,
        call: 0,
        bodies: true,
        sessioned: true,
        counted: false,
    };
    Entry::Skim(Box::new(Skimmed { skim, along: Along::default() }))
}

fn seals(slots: &[Slot]) -> Vec<u64> {
    slots.iter().map(|slot| slot.order.seal()).collect()
}

#[test]
fn records_go_in_one_order_however_they_came_and_only_when_none_can_come_before() {
    let mut records: Vec<(Nanos, Nanos, u64)> =
        (1..200).map(|n| (n * S / 3, n * S / 3 + S, n as u64)).collect();
    let mut straight = Vec::new();
    for by in [1, 7, 53, 59] {
        // Not farther than what a third of a second and the disorder allow.
        records.chunks_mut(by).for_each(|some| some.reverse());
        let mut queue = Queue::new(60 * S, usize::MAX, false);
        queue.open();
        let mut gone = Vec::new();
        for (at, (start, end, seal)) in records.iter().enumerate() {
            queue.push(entry(*start, *end, *seal, at as u64));
            if queue.is_due() {
                gone.extend(seals(&queue.take()));
            }
        }
        gone.extend(seals(&queue.take_all()));
        if straight.is_empty() {
            straight.clone_from(&gone);
        }
        assert_eq!(gone, straight, "{by}");
        assert_eq!(queue.late, 0, "{by}");
    }
    assert_eq!(straight.len(), 199);
}

#[test]
fn what_comes_too_late_is_counted_and_what_comes_again_is_not() {
    let mut queue = Queue::new(60 * S, usize::MAX, false);
    queue.open();
    for n in 1..=300 {
        queue.push(entry(n * S, n * S, n as u64, n as u64));
        if queue.is_due() {
            queue.take();
        }
    }
    queue.push(entry(5 * S, 5 * S, 5, 1005));
    assert_eq!(
        (queue.late, queue.waiting.values().flatten().any(|slot| slot.order.at == 5 * S)),
        (0, false),
        "again"
    );
    queue.push(entry(5 * S, 5 * S, 9999, 1006));
    assert_eq!(queue.late, 1);
    queue.push(entry(299 * S, 299 * S, 299, 1007));
    let left = seals(&queue.take_all());
    assert_eq!(left.iter().filter(|seal| **seal == 299).count(), 1, "a copy in the queue");
    let passed = queue.passed();
    let mut next = Queue::new(60 * S, usize::MAX, false);
    next.restore(passed);
    (1..=300).for_each(|n| next.push(entry(n * S, n * S, n as u64, n as u64)));
    assert!(next.take_all().is_empty(), "the same export again");
}

#[test]
fn full_memory_lets_records_go_before_their_time() {
    let mut queue = Queue::new(60 * S, 10_000, false);
    queue.open();
    for n in 1..1000 {
        queue.push(entry(S, S + n, n as u64, n as u64));
        if queue.is_due() {
            queue.take();
        }
        assert!(queue.count < 60);
    }
    queue.push(entry(S, S, 7777, 1));
    assert_eq!(queue.late, 1);
}

#[test]
fn copies_that_wait_take_no_memory() {
    for is_open in [false, true] {
        let mut queue = Queue::new(60 * S, 1 << 20, false);
        if is_open {
            queue.open();
        }
        for n in (0..100_000).rev() {
            queue.push(entry(S, 2 * S, 5, n));
            if queue.is_due() {
                assert!(queue.take().is_empty(), "nothing is over");
            }
            assert!(queue.count < 20_000 && queue.weight < 8 << 20, "{} wait", queue.count);
        }
        let left: Vec<_> = queue.take_all().iter().map(|slot| slot.order.place()).collect();
        assert_eq!((left, queue.count, queue.weight), (vec![(0, 0)], 0, 0));
    }
}

/// A step that an application logged: what no skim tells, its delivery and its instance.
fn step(step: LifecycleStep, seal: u64, offset: u64, delivery: u8, instance: u8) -> Entry {
    let text = |number: u8| (number > 0).then(|| number.to_string().into());
    let event = Event {
        origin: Origin { seal, file: 0, offset, place: Place::Line(offset) },
        time: Time {
            at: S,
            means: TimeMeans::Emit,
            start: None,
            end: None,
            precision: 1,
            zone_assumed: false,
        },
        vantage: Vantage::ServerApp,
        instance: text(instance),
        identity: Identity::default(),
        keys: Keys { shipper: text(delivery), ..Keys::default() },
        scope: SessionScope::Unknown,
        sampled: false,
        what: What::Lifecycle(Box::new(Lifecycle::bare(step))),
    };
    Entry::Event(Box::new(event), CallMark::Unknown)
}

type Kept = Vec<(u64, u64, u64)>;

/// Those that are no copies, each held against all before it.
fn told_apart(mut slots: Vec<Slot>) -> Kept {
    in_order(&mut slots);
    let mut kept: Vec<Slot> = Vec::new();
    for slot in slots {
        let (one, seal) = (slot.twin(), slot.order.seal());
        let fits = |a: u64, b: u64| a == 0 || b == 0 || a == b;
        let is_copy = kept.iter().any(|other| {
            let twin = other.twin();
            let same = (other.order.seal(), twin.instance) == (seal, one.instance) && seal != 0;
            same && twin.place != one.place && fits(twin.delivery, one.delivery)
        });
        if !is_copy {
            kept.push(slot);
        }
    }
    shown(&kept)
}

fn shown(slots: &[Slot]) -> Kept {
    let of = |slot: &Slot| (slot.order.seal(), slot.order.place().1, slot.twin().delivery);
    slots.iter().map(of).collect()
}

proptest! {
    #[test]
    fn what_is_dropped_early_is_what_would_be_dropped(
        records in proptest::collection::vec((0_u64..4, 0_u8..3, 0_u8..2, any::<u64>()), 0..40),
        often in 1_usize..20,
    ) {
        let entries = || {
            let mut places: Vec<_> = records.iter().zip(0..).collect();
            places.sort_by_key(|((.., luck), _)| *luck);
            places.into_iter().flat_map(|((seal, delivery, instance, _), place)| {
                // A record may tell of several things, its copies of the same.
                let steps = [LifecycleStep::HandlerStarted, LifecycleStep::HandlerEffect, LifecycleStep::HandlerEffect];
                let most = 1 + *seal as usize % 3;
                steps.into_iter().take(most).map(move |kind| step(kind, *seal, place, *delivery, *instance))
            })
        };
        let mut queue = Queue::new(60 * S, usize::MAX, false);
        for (at, entry) in entries().enumerate() {
            queue.push(entry);
            if at % often == 0 {
                queue.thin_out();
            }
        }
        let slot = |entry| Slot::again(entry, 0, false);
        prop_assert_eq!(shown(&queue.take_all()), told_apart(entries().map(slot).collect()));
    }
}
