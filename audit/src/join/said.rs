//! Exchanges out of a client's own log of messages, where the input has no log of exchanges.
//! Knows what one process said and heard, in order; HTTP, headers and servers stay unknown.

use super::contact::Frame;
use super::process::Processes;
use super::{Contact, Joined, Told};
use crate::event::{
    Body, Cause, End, Exchange, Identity, Keys, Known, LifecycleStep, Logged, LoggedMessage, Message, Method,
    Nanos, Origin, Phase, Request, Response, RpcId, RpcRequest, RpcResponse, SessionScope, Text, Time,
    TimeMeans, Vantage,
};
use std::collections::BTreeMap;

/// What a process said, heard or noticed.
enum Word<'a> {
    /// It sent a request that has an id: the SDK's, on the wire.
    Sent(&'a RpcRequest),
    /// It was answered.
    Heard(&'a RpcResponse),
    /// It was given this session.
    Session(&'a Text),
    /// A stream to it ended before its time.
    Broken,
}

impl Word<'_> {
    /// What comes first of words of one moment: an answer is heard after its request was sent, and a session is given for a
    /// handshake and used afterwards.
    fn rank(&self) -> u8 {
        match self {
            Word::Sent(request) if request.initialize.is_some() => 0,
            Word::Session(_) => 1,
            Word::Sent(_) => 2,
            Word::Heard(_) => 3,
            Word::Broken => 4,
        }
    }
}

/// A request that was sent, and what became of it.
struct Asked<'a> {
    at: Nanos,
    origin: Origin,
    request: &'a RpcRequest,
    session: Option<Text>,
    minted: Option<Text>,
    answer: Option<(Nanos, &'a RpcResponse)>,
    broken: Option<Nanos>,
    /// The next that its process sent was a handshake: it had given the session up.
    left: bool,
}

/// The requests of every client that logs its messages, each as an exchange. Expects both lists in order.
pub(super) fn exchanges(joined: &Joined) -> Vec<Contact> {
    let known = Processes::of(joined);
    let mut processes: BTreeMap<usize, Vec<(Nanos, Origin, Word<'_>)>> = BTreeMap::new();
    let mut say = |file: u32, instance: &Option<Text>, at, origin, word| {
        processes.entry(known.at(file, instance)).or_default().push((at, origin, word));
    };
    for told in joined.messages.iter().filter(|told| told.vantage == Vantage::Client) {
        if let Some(word) = word_of(told) {
            say(told.origin.file, &told.instance, told.at, told.origin, word);
        }
    }
    for told in joined.steps.iter().filter(|told| told.vantage == Vantage::Client) {
        let word = match (&told.what.step, &told.what.session) {
            (LifecycleStep::SessionCreated, Some(session)) => Word::Session(session),
            (LifecycleStep::StreamClosed | LifecycleStep::ReconnectAttempt, _) => Word::Broken,
            _ => continue,
        };
        say(told.origin.file, &told.instance, told.at, told.origin, word);
    }
    let mut contacts: Vec<Contact> = processes.into_values().flat_map(of_process).collect();
    contacts.sort_by_key(|contact| contact.start);
    contacts
}

fn word_of(told: &Told<LoggedMessage>) -> Option<Word<'_>> {
    match (&told.what.message, told.what.to_server) {
        (Message::Request(request), true) if request.id.is_some() => Some(Word::Sent(request)),
        (Message::Response(response), false) => Some(Word::Heard(response)),
        _ => None,
    }
}

fn of_process(mut words: Vec<(Nanos, Origin, Word<'_>)>) -> Vec<Contact> {
    words.sort_by_key(|(at, _, word)| (*at, word.rank()));
    let names_sessions = words.iter().any(|(.., word)| matches!(word, Word::Session(_)));
    let hears = words.iter().any(|(.., word)| matches!(word, Word::Heard(_)));
    let mut asked: Vec<Asked<'_>> = Vec::new();
    let mut session: Option<Text> = None;
    for (at, origin, word) in words {
        match word {
            Word::Sent(request) => {
                // A new handshake carries no session, and what was open before it stays open.
                if request.initialize.is_some() {
                    session = None;
                    asked.last_mut().into_iter().for_each(|one| one.left = true);
                }
                let session = session.clone();
                let (answer, broken) = (None, None);
                asked.push(Asked { at, origin, request, session, minted: None, answer, broken, left: false });
            }
            Word::Heard(response) => {
                let of = |one: &&mut Asked<'_>| one.answer.is_none() && same(&one.request.id, &response.id);
                if let Some(one) = asked.iter_mut().rev().find(of) {
                    one.answer = Some((at, response));
                }
            }
            Word::Session(id) => {
                session = Some(id.clone());
                let handshake = |one: &&mut Asked<'_>| one.request.initialize.is_some();
                if let Some(one) = asked.iter_mut().rev().find(handshake) {
                    one.minted.get_or_insert_with(|| id.clone());
                }
            }
            // Of several that are open no word says whose stream it was.
            Word::Broken => {
                let mut open = asked.iter_mut().filter(|one| one.waits(at));
                if let (Some(one), None) = (open.next(), open.next()) {
                    one.broken = Some(at);
                }
            }
        }
    }
    asked.into_iter().map(|one| one.contact(names_sessions, hears)).collect()
}

fn same(one: &Option<RpcId>, other: &Option<RpcId>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if crate::timeline::close::same_id(one, other))
}

impl Asked<'_> {
    /// Whether it may still wait for its answer; a handshake's comes without a word in the log of some clients.
    fn waits(&self, now: Nanos) -> bool {
        self.answer.is_none()
            && self.broken.is_none()
            && self.at < now
            && self.request.initialize.is_none()
            && self.request.call.is_some()
    }

    /// `hears`: its process logs what it is answered. A client that writes down only what it sends leaves open whether an answer
    /// came, unless it gave the session up at once.
    fn contact(self, names_sessions: bool, hears: bool) -> Contact {
        let end = self.answer.map(|(at, _)| at).or(self.broken);
        let (cause, phase) = match (self.answer, self.broken) {
            (Some(_), _) => (Cause::Complete, Phase::InBody),
            (None, Some(_)) => (Cause::UnknownCut, Phase::InBody),
            (None, None) => (Cause::Unknown, Phase::Unknown),
        };
        let body = self
            .answer
            .map_or(Body::Unknown, |(_, answer)| Body::Messages(vec![Message::Response(answer.clone())]));
        let exchange = Exchange {
            method: Method::Post,
            host: None,
            path: None,
            status: None,
            request: Request {
                session: self.session,
                body: Body::Messages(vec![Message::Request(Box::new(self.request.clone()))]),
                ..Request::default()
            },
            response: Response { session: self.minted, body, ..Response::default() },
            attempts: Vec::new(),
            end: End { cause, phase, known: Known::Derived, raw: None },
            logged: Logged {
                session_in: names_sessions,
                session_out: names_sessions,
                request_body: true,
                response_body: hears || self.broken.is_some() || self.left,
                end: true,
                ..Logged::default()
            },
        };
        let time = Time {
            at: self.at,
            means: TimeMeans::Start,
            start: Some(self.at),
            end,
            precision: 1_000_000,
            zone_assumed: false,
        };
        Contact::of(
            Box::new(exchange),
            Frame {
                origin: self.origin,
                time,
                vantage: Vantage::Client,
                identity: Identity::default(),
                keys: Keys::default(),
                scope: SessionScope::HeaderClient,
                instance: None,
            },
        )
    }
}
