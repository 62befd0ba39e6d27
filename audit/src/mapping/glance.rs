//! A record at a glance: whether it is ordinary, and what its skim says, without building an event.
//! Knows the fields of a plan as the plan reads them; refuses to call ordinary what any rule might look at for itself.

use super::asked::Asked;
use super::exchange::ExchangeParts;
use super::field::{Row, Value, all};
use super::plan::Plan;
use super::stream::EventParts;
use super::upstream::Only;
use super::{ending, message, party};
use crate::adapter::access;
use crate::adapter::rpc::{self, Keep};
use crate::event::{Body, Cause, Media, Message, Nanos, RpcId, RpcOutcome, RpcResponse, SseEvent};
use crate::ledger::route;
use crate::long::LONG;
use crate::skim::{self, Kind, MOST_IDS, Skim};
use crate::source::{Record, Shipped};
use unbroken_contract::era::Era;

/// What a glance gave.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Glance {
    /// An ordinary record; its event ids were appended to the list given.
    Ordinary(Skim),
    /// One that has to be read.
    Loud(CallMark),
}

/// Which call a record carries, as skims name calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallMark {
    /// None.
    None,
    /// This one.
    One(u32),
    /// Not told: there may be any.
    Unknown,
}

impl Plan {
    /// Whether records of this plan can be told at a glance.
    pub(crate) fn can_glance(&self) -> bool {
        let exchange = self.exchange.is_some() && self.parts.is_none() && self.lines.is_empty();
        exchange && !self.unpacks() && self.pattern.is_none() && !self.sampled
    }

    /// Looks at a record of a plan that [`Plan::can_glance`]; `format` is its index. The hashes of event ids go to `ids`,
    /// which is cleared first.
    pub(crate) fn glance(&self, record: &Record<'_>, format: u16, ids: &mut Vec<u32>) -> Glance {
        ids.clear();
        let (Ok(row), Some(exchange)) = (self.row(record), &self.exchange) else {
            return Glance::Loud(CallMark::Unknown);
        };
        // Mostly the body is a string, and can be read as it stands there.
        let within = exchange.request.body.within(&row).and_then(Asked::read::<true>);
        let body = match &within {
            Some(_) => None,
            None => exchange.request.body.json(&row, &self.absent),
        };
        let asked = match (within, &body) {
            (None, Some(text)) => match Asked::read::<false>(text) {
                Some(asked) => Some(asked),
                None => return Glance::Loud(CallMark::Unknown),
            },
            (within, _) => within,
        };
        let call = asked.as_ref().and_then(Asked::call);
        let mark = call.map_or(CallMark::None, CallMark::One);
        if record.bytes.len() > LONG && is_long(exchange, &row, asked.as_ref()) {
            return Glance::Loud(mark);
        }
        let seen = self.ordinary(exchange, &row, record, asked.as_ref(), ids);
        let (Some(seen), Ok(length)) = (seen, u32::try_from(record.bytes.len())) else {
            return Glance::Loud(mark);
        };
        let of_call = asked.as_ref().filter(|_| call.is_some()).and_then(|asked| asked.tool.as_deref());
        let (client, who, agent) = self.identity.mark(&row, &self.absent);
        let opened = asked.as_ref().and_then(|asked| asked.client).filter(|_| seen.kind == Kind::Initialize);
        // Beside a user agent the version tells no programs apart.
        let opened = opened.map(|(name, all)| if agent { name } else { all });
        Glance::Ordinary(Skim {
            origin: record.origin,
            length,
            format,
            kind: seen.kind,
            start: seen.start,
            end: seen.end,
            session: seen.session,
            client,
            tool: of_call.map(route::hash),
            who,
            version: seen.version,
            instance: seen.instance,
            asked: seen.asked,
            call: opened.or(call).unwrap_or(0),
            bodies: seen.bodies,
            counted: false,
        })
    }

    /// What an ordinary record says; none: it is not ordinary.
    fn ordinary(
        &self,
        x: &ExchangeParts,
        row: &Row<'_>,
        record: &Record<'_>,
        asked: Option<&Asked<'_>>,
        ids: &mut Vec<u32>,
    ) -> Option<Seen> {
        let absent = &self.absent;
        let text = |value| Value::text(value, row, absent);
        if *record.shipped != Shipped::default() || !all(&x.when, row, absent) {
            return None;
        }
        let posted = match text(&x.method) {
            Some(name) if name == "POST" => true,
            Some(name) if name == "DELETE" => false,
            Some(_) => return None,
            None if x.method.is_given() => return None,
            None => true,
        };
        let status = x.status.number(row, absent)?;
        let q = &x.request;
        let free = text(&q.last_event_id).is_none()
            && text(&q.mcp_method).is_none()
            && text(&self.keys.shipper).is_none()
            && text(&x.response.challenge).is_none();
        let time = self.time(row, record)?;
        let (start, end) = (time.start?, time.end?);
        if !(200..300).contains(&status) || !free || end < start {
            return None;
        }
        let version = text(&q.protocol_version);
        let stateless = |version: &str| Era::of_revision(version) == Some(Era::Stateless);
        if version.as_deref().is_some_and(stateless) || asked.is_some_and(|asked| asked.tells_more) {
            return None;
        }
        if ending::read(&self.ends, row, absent).cause != Cause::Complete {
            return None;
        }
        let instance = match x.upstream.only(row, absent) {
            Only::Nothing => 0,
            Only::One(name) => name.as_deref().map_or(1, skim::mark),
            Only::More => return None,
        };
        let own = text(&self.instance).map_or(0, |name| skim::mark(&name));
        let (sent, given) = (text(&q.session), text(&x.response.session));
        let kind = asked.map_or(Some(Kind::Delete), Asked::kind)?;
        let session = match (kind, &sent, &given) {
            (Kind::Initialize, None, Some(given)) if x.response.session.is_given() => given,
            (Kind::Initialize, ..) | (_, None, _) => return None,
            (_, Some(sent), Some(given)) if sent != given => return None,
            (_, Some(sent), _) => sent,
        };
        if (kind == Kind::Delete) == posted {
            return None;
        }
        let bodies = answered(x, row, absent, asked, kind, ids)?;
        let id = asked.and_then(|asked| asked.id.as_ref());
        Some(Seen {
            kind,
            start,
            end,
            session: route::hash(session),
            version: version.as_deref().map_or(0, skim::mark),
            instance: if own == 0 { instance } else { instance.rotate_left(7) ^ own },
            asked: id.map_or(0, |id| skim::mark(crate::timeline::close::id_text(id))),
            bodies,
        })
    }
}

/// Whether a text beside the bodies, or one that is kept of a request's, is longer than is kept as it is.
fn is_long(x: &ExchangeParts, row: &Row<'_>, asked: Option<&Asked<'_>>) -> bool {
    let list = x.response.events.as_ref().map(|parts| &parts.list);
    let bodies = [Some(&x.request.body), Some(&x.response.body), list];
    let is_body = |slot: usize| bodies.iter().flatten().any(|body| body.slots().any(|own| own == slot));
    let mut told = (0..).zip(&row.slots).filter_map(|(slot, raw)| Some((slot, (*raw)?)));
    let asked = asked.is_some_and(|asked| {
        let id = asked.id.as_ref().map_or(0, |id| crate::timeline::close::id_text(id).len());
        id > LONG || asked.tool.as_ref().is_some_and(|tool| tool.len() > LONG)
    });
    asked || told.any(|(slot, raw)| raw.get().len() > LONG && !is_body(slot))
}

/// What an ordinary record says of its exchange.
struct Seen {
    kind: Kind,
    start: Nanos,
    end: Nanos,
    session: u64,
    version: u32,
    instance: u32,
    asked: u32,
    bodies: bool,
}

/// Hash of `clientInfo` as skims have it; beside a user agent the version tells no programs apart.
pub(crate) fn info_mark(name: &str, version: &str, agent: bool) -> u32 {
    let (name, version) = (skim::mark(name), if version.is_empty() { 0 } else { skim::mark(version) });
    if agent { name } else { name ^ version.rotate_left(9) }
}

/// Whether the response's messages are recorded; none if the response is not the one ordinary answer.
fn answered(
    x: &ExchangeParts,
    row: &Row<'_>,
    absent: &[String],
    asked: Option<&Asked<'_>>,
    kind: Kind,
    ids: &mut Vec<u32>,
) -> Option<bool> {
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
        let (more, count) = listed(parts, &list, id, &own, streams, ids)?;
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

/// Answers among listed events, and whether any event holds a message.
fn listed(
    parts: &EventParts,
    list: &str,
    id: Option<&RpcId>,
    own: &dyn Fn(&RpcResponse) -> bool,
    streams: bool,
    ids: &mut Vec<u32>,
) -> Option<(usize, bool)> {
    let (mut answers, mut messages, mut odd) = (0, false, false);
    let each = |row: Option<&Row<'_>>, _: &str| {
        let Some(row) = row else {
            odd = true;
            return;
        };
        if streams && let Some(event) = parts.id.text(row, &[]) {
            odd |= event.is_empty() || event.len() > LONG;
            ids.push(skim::mark(&event));
        }
        if let Some(data) = parts.data.json(row, &[]) {
            if let Ok(message) = rpc::read_message(data.as_bytes(), Keep::default()) {
                messages = true;
                match message_of(&message, own) {
                    Some(answer) => answers += answer,
                    None => odd = true,
                }
            }
        } else if parts.kind.text(row, &[]).is_some_and(|kind| kind == parts.response.as_str()) {
            messages = true;
            answers += 1;
            odd |= !is_id(parts, row, id);
        }
    };
    parts.each(list, each).ok()?;
    (!odd).then_some((answers, messages))
}

/// Whether a listed response names this request, in the type that the request gave its id.
fn is_id(parts: &EventParts, row: &Row<'_>, id: Option<&RpcId>) -> bool {
    if !parts.rpc_id.is_bare(row) {
        return matches!((id, parts.rpc_id.text(row, &[])), (Some(RpcId::String(own)), Some(text)) if **own == *text);
    }
    let text = parts.rpc_id.json(row, &[]);
    text.is_some_and(|text| id == Some(&message::id_of(&text, false)))
}

impl party::IdentityParts {
    /// The client as routes know it, a hash of all that tells who it is, and whether it names its user agent.
    pub(super) fn mark(&self, row: &Row<'_>, absent: &[String]) -> (Option<u64>, u32, bool) {
        let text = |value| Value::text(value, row, absent);
        let (subject, agent, forwarded) =
            (text(&self.subject), text(&self.user_agent), text(&self.forwarded_for));
        let address = text(&self.remote_addr);
        let address = address.as_deref().map(|address| party::split_port(address).0);
        let key = route::client_key(subject.as_deref(), forwarded.as_deref(), address, agent.as_deref());
        let mut who = 0u64;
        let named = text(&self.client_name);
        for (at, part) in
            [subject.as_deref(), forwarded.as_deref().or(address), agent.as_deref(), named.as_deref()]
                .into_iter()
                .enumerate()
        {
            let hash = part.map_or(at as u64, route::hash);
            who = (who ^ hash).rotate_left(13).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        (key, skim::fold(who), agent.is_some())
    }
}
