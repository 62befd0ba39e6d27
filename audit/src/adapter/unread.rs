//! What an event says of bodies and arguments that its log holds and that could not be read.
//! Knows an event alone; where it stands and how many are like it is counted by the caller.

use crate::event::{Arguments, Body, Event, Message, Unreadable, What};

/// Something of an event that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unread {
    /// What it is and what follows, without a final stop.
    pub(super) message: &'static str,
    /// What to do.
    pub(super) help: &'static str,
    /// Whether calls are unknown by it, and not only compared with no other.
    pub(super) lost: bool,
}

/// Tells what could not be read of an event.
pub(super) fn tell(event: &Event, note: &mut dyn FnMut(Unread)) {
    match &event.what {
        What::Exchange(exchange) => match &exchange.request.body {
            Body::Unreadable(why) => note(body(*why)),
            Body::Messages(messages) => messages.iter().for_each(|message| of_message(message, note)),
            Body::Unknown | Body::Empty => {}
        },
        What::Message(told) => of_message(&told.message, note),
        What::Lifecycle(_) | What::Remark(_) => {}
    }
}

fn of_message(message: &Message, note: &mut dyn FnMut(Unread)) {
    match message {
        Message::Unreadable(why) => note(body(*why)),
        Message::Request(request) => {
            let call = request.call.as_ref().map(|call| &call.arguments);
            if let Some(Arguments::Unreadable(why)) = call {
                note(arguments(*why));
            }
        }
        Message::Notification(_) | Message::Response(_) => {}
    }
}

/// The log is all there is to ask: what it cut off can only be logged better next time.
const LOG_MORE: &str = "let the log keep whole request bodies; the other facts of the exchange were read";

fn body(why: Unreadable) -> Unread {
    let message = match why {
        Unreadable::Truncated => {
            "a request body is cut off and could not be read as JSON-RPC: its calls are unknown"
        }
        Unreadable::Redacted => "a request body was written over by its log: its calls are unknown",
        Unreadable::Foreign => "a request body could not be read as JSON-RPC: its calls are unknown",
        Unreadable::TooDeep => {
            "a request body is nested too deep to be read as JSON-RPC: its calls are unknown"
        }
    };
    // What an operator writes over on purpose is no input that was lost.
    Unread { message, help: LOG_MORE, lost: why != Unreadable::Redacted }
}

fn arguments(why: Unreadable) -> Unread {
    let message = match why {
        Unreadable::Truncated => {
            "the arguments of a tool call are cut off: it is compared with no other call"
        }
        Unreadable::Redacted => {
            "the arguments of a tool call were written over: it is compared with no other call"
        }
        Unreadable::Foreign => "the arguments of a tool call are no JSON: it is compared with no other call",
        Unreadable::TooDeep => {
            "the arguments of a tool call are nested deeper than 128: it is compared with no other call"
        }
    };
    Unread { message, help: LOG_MORE, lost: false }
}
