//! Sends: every `tools/call` that left the client, whether it reached a server, and what became of its outcome.
//! Knows one send at a time; which sends are the same call is `pair`.

use super::close::{self, same_id};
use crate::event::{Cause, Delivered, Method, Nanos, RpcId, RpcOutcome, ToolCall, Vantage};
use crate::join::Contact;
use crate::quick::HashMap;
use unbroken_contract::close::Delivery;
use unbroken_contract::era::Era;
use unbroken_contract::resend::{self, Answer, FirstSend, Responder, SendEnd, Upstream};

/// One `tools/call` request on the wire.
#[derive(Clone, Debug)]
pub struct Send {
    /// The contact that carried it.
    pub contact: usize,
    /// The session it was sent on.
    pub session: Option<usize>,
    /// The era.
    pub era: Option<Era>,
    /// Its JSON-RPC id.
    pub id: Option<RpcId>,
    /// Tool, arguments and round.
    pub call: ToolCall,
    /// Declared idempotency key.
    pub key: Option<Box<str>>,
    /// When it was sent.
    pub start: Nanos,
    /// When its own exchange ended, where known.
    pub closed: Option<Nanos>,
    /// Whether it reached a server.
    pub reached: Reached,
    /// What is known of its response.
    pub answered: Answered,
    /// The client itself closed the exchange before the response.
    pub aborted: bool,
    /// The contact that cancelled it.
    pub cancelled: Option<usize>,
    /// The run of its handler that a server's log tells of, as an index into [`super::Timeline`]'s runs.
    pub run: Option<super::Run>,
    /// What the client's own log says of it.
    pub wish: Option<super::wish::Wish>,
}

/// Whether a send reached a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// A server or an upstream attempt shows it.
    Yes,
    /// Nothing decides it.
    Unknown,
    /// It was refused before a handler, or never left.
    No,
}

/// What is known of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// On the exchange of the call itself.
    Own(Answer),
    /// Later, on another stream: which contact, and when.
    Later {
        /// The contact that delivered it.
        contact: usize,
        /// When.
        at: Nanos,
        /// What it says.
        answer: Answer,
    },
    /// A stream that may have carried it was opened then; its events are not recorded.
    Perhaps {
        /// That stream.
        contact: usize,
        /// When it was opened.
        from: Nanos,
    },
    /// On no stream that was seen.
    Never,
    /// Its own exchange may have carried it; bodies are not recorded.
    Unrecorded,
}

impl Send {
    /// Whether the outcome was known to the client, or may have been, before `moment`.
    #[must_use]
    pub fn settled_before(&self, moment: Nanos) -> bool {
        match self.answered {
            Answered::Own(_) | Answered::Unrecorded => true,
            Answered::Later { at, .. } => at <= moment,
            Answered::Perhaps { from, .. } => from <= moment,
            Answered::Never => false,
        }
    }

    /// Whether no response was ever delivered, as far as every stream that was seen tells.
    #[must_use]
    pub fn unanswered(&self) -> bool {
        self.answered == Answered::Never
    }

    /// What is known of it for the question whether it may be sent again (contract 3.6), at `moment`.
    #[must_use]
    pub fn known(&self, moment: Nanos) -> FirstSend {
        match self.answered {
            // An answer that came later than `moment` on an exchange that still went on is not known yet.
            Answered::Own(_) | Answered::Unrecorded
                if self.closed.is_some_and(|closed| closed > moment) && self.run.is_some() =>
            {
                FirstSend::Unknown
            }
            Answered::Own(answer) => FirstSend::Answered(answer),
            Answered::Later { at, answer, .. } if at <= moment => FirstSend::Answered(answer),
            Answered::Perhaps { from, .. } if from <= moment => FirstSend::Answered(Answer::Result),
            Answered::Unrecorded => FirstSend::Answered(Answer::Result),
            _ if self.reached == Reached::No => FirstSend::NotDispatched,
            _ if self.run.as_ref().is_some_and(super::Run::stopped) => FirstSend::Cancelled { stopped: true },
            _ => FirstSend::Unknown,
        }
    }
}

/// Gathers every send, in order of start.
pub(super) fn gather(contacts: &[Contact], of_session: &[Option<usize>], eras: &[Option<Era>]) -> Vec<Send> {
    let mut sends: Vec<Send> = Vec::new();
    for (at, contact) in contacts.iter().enumerate() {
        for (request, call) in contact.calls() {
            sends.push(one(at, contact, of_session[at], eras[at], request, call));
        }
    }
    settle(&mut sends, contacts, of_session);
    sends
}

fn one(
    at: usize,
    contact: &Contact,
    session: Option<usize>,
    era: Option<Era>,
    request: &crate::event::RpcRequest,
    call: &ToolCall,
) -> Send {
    let own = own_answer(contact, request.id.as_ref());
    let answered = own.map_or(Answered::Never, Answered::Own);
    let answered = match (answered, close::delivered(contact, request.id.as_ref())) {
        // The server gave an answer, and the client was gone before it had all of it.
        (_, Delivery::Missing) => Answered::Never,
        (Answered::Never, Delivery::All) => Answered::Own(Answer::Result),
        (Answered::Never, Delivery::Unrecorded) => Answered::Unrecorded,
        (answered, _) => answered,
    };
    Send {
        contact: at,
        session,
        era,
        id: request.id.clone(),
        call: call.clone(),
        key: request.idempotency_key.clone().or_else(|| contact.exchange.request.idempotency_key.clone()),
        start: contact.start,
        closed: contact.end,
        reached: reached(contact),
        answered,
        aborted: matches!(contact.exchange.end.cause, Cause::ClientAbort | Cause::ClientTimeout),
        cancelled: None,
        run: None,
        wish: None,
    }
}

fn own_answer(contact: &Contact, id: Option<&RpcId>) -> Option<Answer> {
    contact.answers().find_map(|(answered, outcome, _)| match (answered, id) {
        (Some(answered), Some(id)) if same_id(answered, id) => Some(answer(outcome)),
        (Some(_), None) if contact.requests().count() == 1 => Some(answer(outcome)),
        (None, _) if contact.requests().count() == 1 && matches!(outcome, RpcOutcome::Error { .. }) => {
            Some(answer(outcome))
        }
        _ => None,
    })
}

/// What a response says, as far as sending again depends on it.
fn answer(outcome: &RpcOutcome) -> Answer {
    match outcome {
        RpcOutcome::ToolError => Answer::HandlerFailed,
        RpcOutcome::Error { code, .. } => Answer::of_error(*code),
        RpcOutcome::InputRequired => Answer::InputRequired,
        _ => Answer::Result,
    }
}

/// Whether the request reached a server: an accepting status and a delivered upstream attempt prove it, else contract
/// 3.6 says what the status and the attempts leave open.
fn reached(contact: &Contact) -> Reached {
    let exchange = &contact.exchange;
    let any = |delivered| exchange.attempts.iter().any(|attempt| attempt.delivered == delivered);
    let upstream = if exchange.attempts.is_empty() {
        if exchange.logged.instance { Upstream::NotTried } else { Upstream::Unrecorded }
    } else if any(Delivered::Yes) || any(Delivered::Unknown) {
        Upstream::Attempted
    } else {
        Upstream::ConnectsFailed
    };
    // A gateway that logs tool calls and no HTTP has taken up every call that it logs.
    let taken_up =
        exchange.status.is_none() && contact.seen.iter().any(|seen| seen.vantage == Vantage::Gateway);
    if contact.accepted() || taken_up && exchange.end.cause != Cause::ConnectFailed {
        return Reached::Yes;
    }
    let last = exchange.attempts.last().and_then(|attempt| attempt.status);
    let own = matches!(exchange.status, Some(499 | 502 | 503 | 504))
        || last.is_some_and(|last| Some(last) != exchange.status);
    let end = match exchange.status {
        _ if exchange.end.cause == Cause::ConnectFailed && !any(Delivered::Yes) => SendEnd::ConnectFailed,
        None | Some(0) => SendEnd::Lost,
        Some(status) => SendEnd::Status(status),
    };
    match resend::first_send(end, if own { Responder::Proxy } else { Responder::Endpoint }, upstream) {
        FirstSend::NotDispatched => Reached::No,
        _ if any(Delivered::Yes) => Reached::Yes,
        _ => Reached::Unknown,
    }
}

/// Finds responses that were delivered on other streams, and cancellations.
fn settle(sends: &mut [Send], contacts: &[Contact], of_session: &[Option<usize>]) {
    let mut by_session: HashMap<Option<usize>, Vec<usize>> = HashMap::default();
    for (at, send) in sends.iter().enumerate() {
        if send.era == Some(Era::Sessioned) && send.reached != Reached::No {
            by_session.entry(send.session).or_default().push(at);
        }
    }
    let unnamed = sends.iter().any(|send| send.id.is_none());
    for (at, contact) in contacts.iter().enumerate() {
        let Some(open) = by_session.get(&of_session[at]) else { continue };
        for id in contact.cancels() {
            let newest =
                open.iter().rev().find(|s| sends[**s].start <= contact.start && is(&sends[**s], Some(id)));
            if let Some(send) = newest {
                sends[*send].cancelled.get_or_insert(at);
            }
        }
        let resumes = contact.exchange.request.last_event_id.is_some();
        for (id, outcome, when) in contact.answers() {
            // A new send under a used id takes over what comes after it.
            let newest = open.iter().rev().find(|s| {
                let send = &sends[**s];
                send.contact != at && send.start <= when.max(contact.start) && id.is_some() && is(send, id)
            });
            match newest {
                Some(send) if sends[*send].answered == Answered::Never => {
                    sends[*send].answered =
                        Answered::Later { contact: at, at: when, answer: answer(outcome) };
                }
                Some(_) => {}
                // The body of a call whose id is not known was cut off: a response to nobody else may be its own.
                None if unnamed && !contact.requests().any(|asked| asked.id.as_ref() == id) => {
                    open.iter().for_each(|s| {
                        let send = &mut sends[*s];
                        let due =
                            send.contact != at && send.start <= when && send.answered == Answered::Never;
                        if due && send.id.is_none() {
                            send.answered = Answered::Perhaps { contact: at, from: when };
                        }
                    })
                }
                None => {}
            }
        }
        // Without bodies, a resumed stream with enough bytes may have carried any response that was still due.
        if contact.exchange.method == Method::Get && resumes && !contact.tells_bodies() {
            for at_send in open {
                let send = &mut sends[*at_send];
                let due = send.start <= contact.start && send.answered == Answered::Never;
                if due && close::could_carry(contact, send.id.as_ref()) {
                    send.answered = Answered::Perhaps { contact: at, from: contact.start };
                }
            }
        }
    }
}

fn is(send: &Send, id: Option<&RpcId>) -> bool {
    matches!((&send.id, id), (Some(a), Some(b)) if same_id(a, b))
}
