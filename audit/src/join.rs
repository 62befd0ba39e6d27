//! Events become contacts: one request of a client with all that any log tells of it, in one total order.
//! Knows which records speak of the same exchange; not what a session or a call is worth.

pub mod contact;
mod delivery;
pub(crate) mod process;
mod remark;
mod said;
mod skew;
mod vantage;

pub use contact::Contact;
pub use skew::Ahead;
pub(crate) use skew::{Clocks, Known};

use crate::event::{Event, Lifecycle, LoggedMessage, Nanos, Origin, Text, What};
use crate::order::Order;

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

/// What the join yields, each list in the order of time, and of equal times as events are ordered (`order`).
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
    /// Clocks that are off; their times are corrected in all of the above.
    pub ahead: Vec<Ahead>,
    /// No log told of exchanges: the contacts are what clients said in logs of their own.
    pub said: bool,
}

/// Joins `events`, which may come in any order.
///
/// A line that a shipper delivered twice counts once, an exchange seen at several vantages becomes one contact, and
/// remarks of second logs go to the exchange they speak of.
#[must_use]
pub fn join(events: Vec<Event>) -> Joined {
    join_among(events, None, None)
}

/// The same for a part of the input; `remarked` is the time that second logs anywhere in it cover, `clocks` what is known of
/// its clocks, where that was learned from more than the part.
pub(crate) fn join_among(
    mut events: Vec<Event>,
    remarked: Option<(Nanos, Nanos)>,
    clocks: Option<&Clocks>,
) -> Joined {
    events.sort_by_cached_key(Order::of);
    delivery::drop_repeated(&mut events);
    let (mut joined, remarks) = gather(events);
    let mut exchanges = std::mem::take(&mut joined.contacts);
    // A proxy's two logs have one clock.
    remark::apply(&mut exchanges, &remarks, remarked);
    let learned;
    let clocks = match clocks {
        Some(clocks) => clocks,
        None => {
            learned = Clocks::learn(&exchanges, &joined.steps, &joined.messages);
            &learned
        }
    };
    if !clocks.is_even() {
        joined.ahead = clocks.ahead();
        exchanges.iter_mut().for_each(|contact| clocks.correct(contact));
        exchanges.sort_by_key(|contact| contact.start);
        joined.steps.iter_mut().for_each(|told| clocks.correct_told(told));
        joined.steps.sort_by_key(|told| told.at);
        joined.messages.iter_mut().for_each(|told| clocks.correct_told(told));
        joined.messages.sort_by_key(|told| told.at);
    }
    joined.contacts = vantage::merge(exchanges);
    if joined.contacts.is_empty() {
        joined.said = true;
        joined.contacts = said::exchanges(&joined);
    }
    joined
}

/// Events as contacts, steps and messages, each on its own, with the remarks beside them.
fn gather(events: Vec<Event>) -> (Joined, Vec<remark::Noted>) {
    let exchanges = events.iter().filter(|event| matches!(event.what, What::Exchange(_))).count();
    let mut joined = Joined {
        contacts: Vec::with_capacity(exchanges),
        sampled: events.iter().any(|event| event.sampled),
        ..Joined::default()
    };
    let mut remarks = Vec::new();
    for event in events {
        let Event { origin, time, vantage, instance, identity, keys, scope, what, .. } = event;
        match what {
            What::Exchange(exchange) => joined.contacts.push(Contact::of(
                exchange,
                contact::Frame { origin, time, vantage, identity, keys, scope, instance },
            )),
            What::Remark(remark) => remarks.push(remark::Noted {
                at: time.at,
                precision: time.precision,
                span: time.start.zip(time.end),
                identity,
                request: keys.request,
                remark: *remark,
                origin,
            }),
            What::Lifecycle(step) => {
                joined.steps.push(Told { at: time.at, origin, vantage, instance, what: *step })
            }
            What::Message(message) => {
                joined.messages.push(Told { at: time.at, origin, vantage, instance, what: *message });
            }
        }
    }
    (joined, remarks)
}

/// What the events of an input's beginning tell of its clocks.
pub(crate) fn clocks(events: Vec<Event>) -> Clocks {
    let joined = gather(events).0;
    Clocks::learn(&joined.contacts, &joined.steps, &joined.messages)
}
