//! Lines that a shipper delivered twice.
//! Knows deliveries and content; two equal requests at two moments are two requests.

use crate::event::{Event, Place};
use std::collections::HashSet;

/// Drops every later copy of a record: the same delivery id, or the very same statement at the same moment.
///
/// At-least-once shippers repeat lines, rotated exports overlap, and a file may be given twice; each record still
/// happened once. Expects `events` in order.
pub(super) fn drop_repeated(events: &mut Vec<Event>) {
    let mut shipped: HashSet<(Box<str>, u64)> = HashSet::new();
    // Equal statements at one moment stand next to each other in the order, so a short memory is enough.
    let (mut moment, mut said): (i64, HashSet<u64>) = (i64::MIN, HashSet::new());
    events.retain(|event| {
        let print = print(event);
        if let Some(id) = &event.keys.shipper {
            return shipped.insert((id.clone(), print));
        }
        let at = super::moment(event);
        if at != moment {
            moment = at;
            said.clear();
        }
        said.insert(print)
    });
}

/// A hash over all that an event says, without where it stands.
fn print(event: &Event) -> u64 {
    let mut bare = event.clone();
    bare.origin.file = 0;
    bare.origin.offset = 0;
    bare.origin.place = Place::Line(0);
    bare.keys.shipper = None;
    rapidhash::v3::rapidhash_v3(format!("{bare:?}").as_bytes())
}
