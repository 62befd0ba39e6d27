//! Streams: what a POST or a GET opened, across all the connections that carried it on.
//! Knows cursors and reopenings; whether a reopening was right is for the rules.

use super::close;
use crate::event::{Cause, Method, Nanos, Text};
use crate::join::Contact;
use crate::quick::HashMap;
use unbroken_contract::close::Delivery;
use unbroken_contract::era::Era;

/// One stream of a session.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The session.
    pub session: Option<usize>,
    /// It is the client's listening stream, not that of a POST.
    pub listens: bool,
    /// Its connections, in order.
    pub openings: Vec<Opening>,
    /// Every event id it delivered, in order, with the contact that did; events without data too.
    pub ids: Vec<(Text, usize)>,
    /// The id that a client of this stream should present now; none after the client opened it anew without one.
    pub cursor: Option<Text>,
    /// The client went on to another stream in its place, without the cursor.
    pub given_up: bool,
    /// The requests of its POST were all answered on it.
    pub answered: bool,
}

/// One connection of a stream.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The contact.
    pub contact: usize,
    /// The cursor that the stream had when this connection was opened: the last id delivered before.
    pub cursor: Option<Text>,
    /// The cursor that the client presented.
    pub presented: Option<Text>,
}

impl Stream {
    fn last(&self) -> usize {
        self.openings.last().map_or(0, |opening| opening.contact)
    }
}

/// Gathers the streams of all sessions, in order of their first contact.
pub(super) fn gather(
    contacts: &[Contact],
    of_session: &[Option<usize>],
    eras: &[Option<Era>],
) -> Vec<Stream> {
    let mut streams: Vec<Stream> = Vec::new();
    let mut by_session: HashMap<Option<usize>, Vec<usize>> = HashMap::default();
    for (at, contact) in contacts.iter().enumerate() {
        if eras[at] != Some(Era::Sessioned)
            || !contact.tells_bodies() && contact.exchange.method != Method::Get
        {
            continue;
        }
        let own = by_session.entry(of_session[at]).or_default();
        let index = match contact.exchange.method {
            Method::Post if contact.accepted() && contact.requests().next().is_some() => {
                streams.push(begin(of_session[at], false));
                own.push(streams.len() - 1);
                streams.len() - 1
            }
            Method::Get if opens(contact) => match reopened(&streams, own, contacts, at) {
                Reopened::Same(index) => index,
                Reopened::Other(lost) => {
                    let mut stream = begin(of_session[at], true);
                    if let Some(lost) = lost {
                        stream.cursor.clone_from(&streams[lost].cursor);
                        streams[lost].given_up = true;
                    }
                    streams.push(stream);
                    own.push(streams.len() - 1);
                    streams.len() - 1
                }
            },
            _ => continue,
        };
        carry_on(&mut streams[index], contacts, at);
    }
    streams
}

fn begin(session: Option<usize>, listens: bool) -> Stream {
    Stream {
        session,
        listens,
        openings: Vec::new(),
        ids: Vec::new(),
        cursor: None,
        given_up: false,
        answered: false,
    }
}

/// Whether a GET is an opening of a stream at all, or an attempt at one that failed on the way. A refusal (4xx) opened
/// nothing and shows no cursor lost: 404 ends the session, 405 offers no stream, 409 says that another one is attached.
fn opens(contact: &Contact) -> bool {
    matches!(contact.exchange.status, None | Some(0 | 200..=299 | 500..=599))
        && contact.exchange.status != Some(204)
}

fn carry_on(stream: &mut Stream, contacts: &[Contact], at: usize) {
    let contact = &contacts[at];
    stream.openings.push(Opening {
        contact: at,
        cursor: stream.cursor.clone(),
        presented: contact.exchange.request.last_event_id.clone(),
    });
    if contact.exchange.request.last_event_id.is_none() {
        stream.cursor = None;
    }
    for event in contact.events() {
        if let Some(id) = &event.id {
            stream.ids.push((id.clone(), at));
            // The empty id clears the cursor (contract section 1).
            stream.cursor = Some(id.clone()).filter(|id| !id.is_empty());
        }
    }
    let first = &contacts[stream.openings[0].contact];
    let asked: Vec<_> = first.requests().filter_map(|request| request.id.as_ref()).collect();
    stream.answered = stream.answered
        || (!asked.is_empty() && asked.iter().all(|id| close::delivered(contact, Some(id)) == Delivery::All));
}

/// What a GET is to the streams before it.
enum Reopened {
    /// It carries this one on.
    Same(usize),
    /// It opens a new listening stream, perhaps in place of one that the client should have resumed.
    Other(Option<usize>),
}

/// Which stream of the session a GET carries on.
///
/// With `Last-Event-ID` it is the stream that delivered that id. Without one the wire does not say, so the reading that
/// accuses nobody comes first: a listening stream that has ended and never had an id, or that the client has had to open
/// anew before. Only if no listening stream has ended can the GET be meant for a POST's stream that was cut with its
/// response due.
fn reopened(streams: &[Stream], own: &[usize], contacts: &[Contact], at: usize) -> Reopened {
    let contact = &contacts[at];
    if let Some(cursor) = &contact.exchange.request.last_event_id {
        // Ids may be reused on several streams (`event-id-reused`): the one whose cursor it is fits best, then one whose
        // response is still due, then the newest.
        let issued = |index: &&usize| streams[**index].ids.iter().any(|(id, _)| id == cursor);
        let fit = |index: &&usize| {
            let stream = &streams[**index];
            (stream.cursor.as_ref() != Some(cursor), stream.answered, std::cmp::Reverse(**index))
        };
        let found = own.iter().filter(issued).min_by_key(fit).copied();
        return found.map_or(Reopened::Other(None), Reopened::Same);
    }
    let ended = |index: &&usize| has_ended(&contacts[streams[**index].last()], contact.start);
    let listening = || own.iter().rev().filter(|index| streams[**index].listens).filter(ended);
    let without = listening().find(|index| streams[**index].cursor.is_none());
    if let Some(index) = without.or_else(|| listening().next()) {
        return Reopened::Same(*index);
    }
    let due = |index: &&usize| {
        let stream = &streams[**index];
        !stream.listens && !stream.answered && !stream.given_up && stream.cursor.is_some()
    };
    Reopened::Other(own.iter().rev().filter(due).find(ended).copied())
}

/// Whether a connection had ended before `moment`. Where its end is not recorded and it was cut at some time, it counts
/// as ended: the client would hardly open another beside it.
fn has_ended(contact: &Contact, moment: Nanos) -> bool {
    match contact.end {
        Some(end) => end <= moment,
        None => contact.exchange.end.cause != Cause::Complete,
    }
}
