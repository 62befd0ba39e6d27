//! Lines that a shipper delivered twice.
//! Knows deliveries and content; two equal requests at two moments are two requests.

use crate::event::{Arguments, Body, Event, Message, Nanos, RpcId, Text, What};
use crate::quick::HashMap;

/// Drops every later copy of a record: the same delivery id, or the very same statement at the same moment.
///
/// At-least-once shippers repeat lines, rotated exports overlap, and a file may be given twice; each record still
/// happened once. One line may tell of several events (a batch of spans, an exchange and its handler): they share its
/// delivery id, and are none the less many. Expects `events` in order.
pub(super) fn drop_repeated(events: &mut Vec<Event>) {
    let mut shipped: HashMap<(Text, Nanos), (u32, u64)> = HashMap::default();
    let mut doubled = vec![false; events.len()];
    let mut from = 0;
    while from < events.len() {
        let moment = crate::order::moment(&events[from]);
        let to = from + events[from..].partition_point(|event| crate::order::moment(event) == moment);
        mark(&events[from..to], &mut doubled[from..to]);
        for (event, doubled) in events[from..to].iter().zip(&mut doubled[from..to]) {
            if let Some(id) = &event.keys.shipper {
                let stands = (event.origin.file, event.origin.offset);
                *doubled |= *shipped.entry((id.clone(), moment)).or_insert(stands) != stands;
            }
        }
        from = to;
    }
    let mut doubled = doubled.iter();
    events.retain(|_| !doubled.next().copied().unwrap_or(false));
}

/// Marks the copies among events of one moment. Only events alike at a glance are compared in full.
fn mark(events: &[Event], doubled: &mut [bool]) {
    if events.len() < 2 {
        return;
    }
    let mut alike: HashMap<Look<'_>, Vec<usize>> = HashMap::default();
    for (at, event) in events.iter().enumerate() {
        let group = alike.entry(glance(event)).or_default();
        doubled[at] = group.iter().any(|other| equal(&events[*other], event));
        group.push(at);
    }
}

/// What two events share if they say the same: end, session, port, and what a message is known by.
type Look<'e> = (u64, Option<&'e str>, u16, (Option<&'e RpcId>, Option<&'e Arguments>));

/// The id of a message, and what a call was given.
fn known_by(message: &Message) -> (Option<&RpcId>, Option<&Arguments>) {
    match message {
        Message::Request(request) => (request.id.as_ref(), request.call.as_ref().map(|call| &call.arguments)),
        Message::Response(response) => (response.id.as_ref(), None),
        Message::Notification(_) | Message::Unreadable(_) => (None, None),
    }
}

fn glance(event: &Event) -> Look<'_> {
    let said = match &event.what {
        What::Exchange(exchange) => match &exchange.request.body {
            Body::Messages(messages) => messages.first().map(known_by).unwrap_or_default(),
            _ => (None, None),
        },
        What::Message(message) => known_by(&message.message),
        What::Lifecycle(step) => (step.rpc_id.as_ref(), None),
        What::Remark(_) => (None, None),
    };
    let session = match &event.what {
        What::Exchange(exchange) => exchange.request.session.as_deref(),
        What::Message(message) => message.session.as_deref(),
        What::Lifecycle(step) => step.session.as_deref(),
        What::Remark(_) => event.identity.connection.as_deref(),
    };
    let length = event.time.end.unwrap_or(event.time.at).unsigned_abs();
    (length, session, event.identity.remote_port.unwrap_or(0), said)
}

/// Whether two events say the same, wherever they stand. Keys other than the delivery's own are part of what is said.
fn equal(a: &Event, b: &Event) -> bool {
    a.time == b.time
        && a.vantage == b.vantage
        && a.instance == b.instance
        && a.identity == b.identity
        && a.keys.request == b.keys.request
        && a.keys.span == b.keys.span
        && (a.keys.shipper.is_none() || b.keys.shipper.is_none() || a.keys.shipper == b.keys.shipper)
        && a.what == b.what
}
