//! Events become contacts: one request of a client with all that any log tells of it, in one total order.
//! Knows which records speak of the same exchange; not what a session or a call is worth.

pub mod contact;
mod delivery;
mod remark;
mod vantage;

pub use contact::Contact;

use crate::event::{Event, Lifecycle, LoggedMessage, Nanos, Origin, Text, What};

/// Something that a program told outside of an HTTP exchange, with when and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Told<T> {
    /// When.
    pub at: Nanos,
    /// Where.
    pub origin: Origin,
    /// Who wrote it.
    pub vantage: crate::event::Vantage,
    /// Which program instance wrote it.
    pub instance: Option<Text>,
    /// What.
    pub what: T,
}

/// What the join yields, each list in the order of (time, file, offset).
#[derive(Clone, Debug, Default)]
pub struct Joined {
    /// Exchanges, each once however many logs saw it.
    pub contacts: Vec<Contact>,
    /// Steps that programs logged.
    pub steps: Vec<Told<Lifecycle>>,
    /// Messages that programs logged.
    pub messages: Vec<Told<LoggedMessage>>,
    /// Some input was a sample or cut at a row limit.
    pub sampled: bool,
}

/// Joins `events`, which may come in any order.
///
/// A line that a shipper delivered twice counts once, an exchange seen at several vantages becomes one contact, and
/// remarks of second logs go to the exchange they speak of.
#[must_use]
pub fn join(events: Vec<Event>) -> Joined {
    join_among(events, None)
}

/// The same for a part of the input; `remarked` is the time that second logs anywhere in it cover.
pub(crate) fn join_among(mut events: Vec<Event>, remarked: Option<(Nanos, Nanos)>) -> Joined {
    events.sort_by_key(|event| (moment(event), event.origin.file, event.origin.offset));
    delivery::drop_repeated(&mut events);
    let mut joined = Joined { sampled: events.iter().any(|event| event.sampled), ..Joined::default() };
    let (mut exchanges, mut remarks) = (Vec::new(), Vec::new());
    for event in events {
        let Event { origin, time, vantage, instance, identity, keys, scope, what, .. } = event;
        match what {
            What::Exchange(exchange) => exchanges.push(Contact::of(
                *exchange,
                contact::Frame { origin, time, vantage, identity, keys, scope, instance },
            )),
            What::Remark(remark) => remarks.push(remark::Noted {
                at: time.at,
                precision: time.precision,
                identity,
                remark: *remark,
            }),
            What::Lifecycle(step) => {
                joined.steps.push(Told { at: time.at, origin, vantage, instance, what: *step })
            }
            What::Message(message) => {
                joined.messages.push(Told { at: time.at, origin, vantage, instance, what: *message });
            }
        }
    }
    remark::apply(&mut exchanges, &remarks, remarked);
    joined.contacts = vantage::merge(exchanges);
    joined
}

/// The moment by which an event is ordered: the start of an exchange where it is known.
pub(crate) fn moment(event: &Event) -> Nanos {
    event.time.start.unwrap_or(event.time.at)
}
