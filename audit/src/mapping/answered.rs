//! Whether a response is the one ordinary answer to its request, out of a record's values.
//! Knows responses as the plan reads them; refuses every one that a rule might look at for itself.

use super::asked::Asked;
use super::exchange::ExchangeParts;
use super::field::Row;
use super::glance::Seen;
use super::message;
use super::slot::Slots;
use super::stream::EventParts;
use crate::adapter::access;
use crate::adapter::rpc::{self, Keep};
use crate::event::{Body, Media, Message, RpcId, RpcOutcome, RpcResponse, SseEvent};
use crate::long::LONG;
use crate::skim::{self, Kind, MOST_IDS};
use unbroken_contract::era::Era;

/// Whether the response's messages are recorded; none if the response is not the one ordinary answer.
pub(super) fn answered<'r>(
    x: &ExchangeParts,
    seen: &Seen<'_, 'r>,
    absent: &[String],
    asked: Option<&Asked<'_>>,
    kind: Kind,
    ids: &mut Vec<u32>,
    slots: &mut Slots<'r>,
) -> Option<bool> {
    let row = seen.row;
    let id = asked.and_then(|asked| asked.id.as_ref());
    let own = |response: &RpcResponse| {
        let plain = match &response.outcome {
            RpcOutcome::Result => true,
            RpcOutcome::Initialized { protocol_version, .. } => {
                let era = protocol_version.as_deref().and_then(Era::of_revision);
                kind == Kind::Initialize && era != Some(Era::Stateless)
            }
            _ => false,
        };
        plain && response.id.as_ref() == id
    };
    let media = match x.response.content_type.text(row, absent) {
        Some(kind) => access::media_of(Some(&kind)),
        None => Media::Unknown,
    };
    let streams = media == Media::EventStream;
    let mut answers = 0;
    let mut told = false;
    if let Some(body) = x.response.body.json(row, absent) {
        if streams {
            let events = crate::adapter::sse::read_events(body.as_bytes(), Keep::default());
            for event in &events {
                answers += event_of(event, &own, ids)?;
            }
        } else {
            match rpc::read_body(body.as_bytes(), Keep::default()) {
                Body::Messages(messages) => {
                    for message in &messages {
                        answers += message_of(message, &own)?;
                    }
                }
                Body::Empty => {}
                _ => return None,
            }
        }
        told = true;
    }
    if let Some(parts) = &x.response.events
        && let Some(list) = parts.list.json(row, absent)
    {
        if told {
            return None;
        }
        let mut listed =
            Listed { parts, id, own: &own, streams, ids, answers: 0, messages: false, odd: false };
        match seen.text.place_of(&list) {
            Some(at) => parts.each_of(seen.text, at..at + list.len(), slots, |row, _| listed.take(row)),
            None => parts.each(&list, |row, _| listed.take(row)),
        }
        .ok()?;
        let (more, count) = (!listed.odd).then_some((listed.answers, listed.messages))?;
        answers += more;
        told = streams || count;
    }
    let due = usize::from(matches!(kind, Kind::Request | Kind::Initialize));
    (answers == due && ids.len() <= MOST_IDS).then_some(told)
}

fn event_of(event: &SseEvent, own: &dyn Fn(&RpcResponse) -> bool, ids: &mut Vec<u32>) -> Option<usize> {
    if let Some(id) = &event.id {
        if id.is_empty() || id.len() > LONG {
            return None;
        }
        ids.push(skim::mark(id));
    }
    event.message.as_ref().map_or(Some(0), |message| message_of(message, own))
}

/// 1 for the answer, 0 for a notification; none for anything else.
fn message_of(message: &Message, own: &dyn Fn(&RpcResponse) -> bool) -> Option<usize> {
    match message {
        Message::Response(response) => own(response).then_some(1),
        Message::Notification(told) => (&*told.method != "notifications/cancelled").then_some(0),
        Message::Request(_) | Message::Unreadable(_) => None,
    }
}

/// Events as a log lists them, and what was found among them.
struct Listed<'l> {
    parts: &'l EventParts,
    id: Option<&'l RpcId>,
    own: &'l dyn Fn(&RpcResponse) -> bool,
    streams: bool,
    ids: &'l mut Vec<u32>,
    answers: usize,
    /// An event holds a message.
    messages: bool,
    /// There is more to it than the one ordinary answer.
    odd: bool,
}

impl Listed<'_> {
    /// Takes an element; none: it is no object.
    fn take(&mut self, row: Option<&Row<'_>>) {
        let Some(row) = row else {
            self.odd = true;
            return;
        };
        let parts = self.parts;
        if self.streams
            && let Some(event) = parts.id.text(row, &[])
        {
            self.odd |= event.is_empty() || event.len() > LONG;
            self.ids.push(skim::mark(&event));
        }
        if let Some(data) = parts.data.json(row, &[]) {
            if let Ok(message) = rpc::read_message(data.as_bytes(), Keep::default()) {
                self.messages = true;
                match message_of(&message, self.own) {
                    Some(answer) => self.answers += answer,
                    None => self.odd = true,
                }
            }
        } else if parts.kind.text(row, &[]).is_some_and(|kind| kind == parts.response.as_str()) {
            self.messages = true;
            self.answers += 1;
            self.odd |= !is_id(parts, row, self.id);
        }
    }
}

/// Whether a listed response names this request, in the type that the request gave its id.
fn is_id(parts: &EventParts, row: &Row<'_>, id: Option<&RpcId>) -> bool {
    if !parts.rpc_id.is_bare(row) {
        return matches!((id, parts.rpc_id.text(row, &[])), (Some(RpcId::String(own)), Some(text)) if **own == *text);
    }
    let text = parts.rpc_id.json(row, &[]);
    text.is_some_and(|text| id == Some(&message::id_of(&text, false)))
}
