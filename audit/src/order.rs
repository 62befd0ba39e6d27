//! The order of events: by time, then by what they say, so that where a record stands decides nothing.
//! Knows what of two things that one clock calls equal comes first by the protocol; not whose they are.
//!
//! A log is split, rotated, sorted and merged on its way here, so of records with equal times no place tells which was first.
//! What they say tells it as far as it matters: a session is opened before it is used, requests are counted up, a handler starts
//! before it ends. The rest is decided by a hash of the record's bytes, which is arbitrary and the same in every copy.

use crate::event::{Event, LifecycleStep, Message, Method, Nanos, RpcId, What};
use crate::skim::{Kind, Skim};

/// By what events are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Order {
    /// When it began, where that is known.
    pub(crate) at: Nanos,
    /// The last moment that it speaks of.
    pub(crate) until: Nanos,
    /// What comes first by the protocol, then the JSON-RPC id, where it is a small number.
    rank: Rank,
    /// A hash of the record's bytes.
    seal: u64,
    /// Of two copies of one record, the one that is shown.
    file: u32,
    offset: u64,
}

/// A place in the protocol's order with a JSON-RPC id behind it, in one number, as a great many of these wait and are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank(u32);

impl Rank {
    /// Bits of the id; a larger one counts as none.
    const NUMBER: u32 = 28;

    fn of(rank: u8, number: u32) -> Rank {
        let number = if number >> Rank::NUMBER == 0 { number } else { 0 };
        Rank(u32::from(rank) << Rank::NUMBER | number)
    }

    fn without_number(self) -> Rank {
        Rank(self.0 >> Rank::NUMBER << Rank::NUMBER)
    }
}

impl Order {
    pub(crate) fn of(event: &Event) -> Order {
        let (rank, number) = rank(&event.what);
        let rank = Rank::of(rank, number);
        let origin = event.origin;
        let (at, until) = (moment(event), until(event));
        Order { at, until, rank, seal: origin.seal, file: origin.file, offset: origin.offset }
    }

    /// The order of an ordinary record. Its request's id is not told; requests of one moment are looked at in full.
    pub(crate) fn of_skim(skim: &Skim) -> Order {
        let rank = match skim.kind {
            Kind::Initialize => OPENS,
            Kind::Notice => TELLS,
            Kind::Request => ASKS,
            Kind::Delete => ENDS,
        };
        let origin = skim.origin;
        let until = skim.end.max(skim.start);
        Order {
            at: skim.start,
            until,
            rank: Rank::of(rank, 0),
            seal: origin.seal,
            file: origin.file,
            offset: origin.offset,
        }
    }

    /// The order that the record had as an ordinary one, of which no more than that is told ([`Order::of_skim`]).
    pub(crate) fn ordinary(self) -> Order {
        Order { rank: self.rank.without_number(), ..self }
    }

    /// What is the same in every copy of a record, as one hash; `delivery` is the id that its shipper gave it.
    pub(crate) fn digest(&self, delivery: u64) -> u64 {
        let mut bytes = [0; 32];
        let parts = [self.at as u64, self.until as u64, self.seal, delivery];
        for (slot, part) in bytes.chunks_exact_mut(8).zip(parts) {
            slot.copy_from_slice(&part.to_le_bytes());
        }
        rapidhash::v3::rapidhash_v3(&bytes)
    }

    /// Whether two records say the same at one moment, so that one may be a copy of the other.
    pub(crate) fn is_alike(&self, other: &Order) -> bool {
        let said = |order: &Order| Order { file: 0, offset: 0, ..*order };
        said(self) == said(other)
    }

    pub(crate) fn place(&self) -> (u32, u64) {
        (self.file, self.offset)
    }

    pub(crate) fn seal(&self) -> u64 {
        self.seal
    }
}

/// The moment by which an event is ordered: the start of an exchange where it is known.
pub(crate) fn moment(event: &Event) -> Nanos {
    event.time.start.unwrap_or(event.time.at)
}

/// The last moment that an event speaks of.
pub(crate) fn until(event: &Event) -> Nanos {
    event.time.end.unwrap_or(event.time.at).max(moment(event))
}

const OPENS: u8 = 0;
const TELLS: u8 = 1;
const ASKS: u8 = 2;
const LISTENS: u8 = 3;
const STARTS: u8 = 4;
const EFFECTS: u8 = 5;
const ANSWERS: u8 = 6;
const CANCELS: u8 = 7;
const ENDS: u8 = 8;
const REMARKS: u8 = 9;

fn rank(what: &What) -> (u8, u32) {
    match what {
        What::Exchange(exchange) => match exchange.method {
            Method::Post => {
                let messages = match &exchange.request.body {
                    crate::event::Body::Messages(messages) => messages.as_slice(),
                    _ => &[],
                };
                messages.iter().map(of_message).min().unwrap_or((ASKS, 0))
            }
            Method::Get => (LISTENS, 0),
            Method::Delete | Method::Other => (ENDS, 0),
        },
        What::Message(message) => of_message(&message.message),
        What::Lifecycle(step) => (of_step(step.step), number(step.rpc_id.as_ref())),
        What::Remark(_) => (REMARKS, 0),
    }
}

fn of_message(message: &Message) -> (u8, u32) {
    match message {
        Message::Request(request) if &*request.method == "initialize" => (OPENS, 0),
        Message::Request(request) => (ASKS, number(request.id.as_ref())),
        Message::Notification(notification) if notification.cancels.is_some() => (CANCELS, 0),
        Message::Notification(_) | Message::Unreadable(_) => (TELLS, 0),
        Message::Response(response) => (ANSWERS, number(response.id.as_ref())),
    }
}

fn of_step(step: LifecycleStep) -> u8 {
    match step {
        LifecycleStep::ProcessStarted | LifecycleStep::SessionCreated | LifecycleStep::SessionRestored => {
            OPENS
        }
        LifecycleStep::HandlerStarted => STARTS,
        LifecycleStep::HandlerEffect => EFFECTS,
        LifecycleStep::HandlerFinished
        | LifecycleStep::HandlerAborted
        | LifecycleStep::CallReturned
        | LifecycleStep::CallFailed
        | LifecycleStep::ResponseUnsent => ANSWERS,
        LifecycleStep::SessionExpired | LifecycleStep::SessionTerminated => ENDS,
        _ => LISTENS,
    }
}

fn number(id: Option<&RpcId>) -> u32 {
    let text = id.map(crate::timeline::close::id_text);
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}
