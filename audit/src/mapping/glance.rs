//! A record at a glance: whether it is ordinary, and what its skim says, without building an event.
//! Knows the fields of a plan as the plan reads them; refuses to call ordinary what any rule might look at for itself.

use super::answered::answered;
use super::asked::Asked;
use super::exchange::ExchangeParts;
use super::field::{Row, Value, all};
use super::marks::{Marked, Marks};
use super::plan::Plan;
use super::slot::{self, Slots};
use super::upstream::Only;
use super::{ending, party};
use crate::adapter::RecordProblem;
use crate::adapter::rpc::Keep;
use crate::event::{Cause, Event, Nanos};
use crate::ledger::route;
use crate::long::LONG;
use crate::skim::{self, Kind, Skim};
use crate::source::{Record, Shipped};
use unbroken_contract::era::Era;

/// What a glance gave.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Glance {
    /// An ordinary record; its event ids are on the desk.
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

    /// What a glance at a record gives.
    #[cfg(test)]
    pub(super) fn glance(&self, record: &Record<'_>, format: u16, desk: &mut Desk) -> Glance {
        self.look(record, format, desk, |_, glance| glance)
    }

    /// Looks at a record of a plan that [`Plan::can_glance`]; `format` is its index. The hashes of event ids are then on the
    /// desk. One that is not ordinary is read at once, with the values that are at hand, and its events go to `sink`.
    ///
    /// # Errors
    /// As [`Plan::read`].
    pub(crate) fn glance_or_read(
        &self,
        record: &Record<'_>,
        format: u16,
        desk: &mut Desk,
        keep: Keep,
        sink: &mut dyn FnMut(Event, CallMark),
    ) -> Result<Option<Skim>, RecordProblem> {
        self.look(record, format, desk, |row, glance| match (glance, row) {
            (Glance::Ordinary(skim), _) => Ok(Some(skim)),
            (Glance::Loud(mark), Some(row)) => {
                self.read_row(record, row, keep, &mut |event| sink(event, mark)).map(|()| None)
            }
            (Glance::Loud(mark), None) => {
                self.read(record, keep, &mut |event| sink(event, mark)).map(|()| None)
            }
        })
    }

    /// Looks at a record, and hands its values, if it has any, with what they gave to `then`.
    fn look<T>(
        &self,
        record: &Record<'_>,
        format: u16,
        desk: &mut Desk,
        then: impl FnOnce(Option<&mut Row<'_>>, Glance) -> T,
    ) -> T {
        let Desk { ids, marks, slots, of_events } = desk;
        ids.clear();
        let (Ok(text), Some(exchange)) = (simdutf8::basic::from_utf8(record.bytes), &self.exchange) else {
            return then(None, Glance::Loud(CallMark::Unknown));
        };
        let text = marks.of(text);
        let mut row = Row { slots: slot::again(std::mem::take(slots)), texts: Vec::new(), groups: None };
        let mut events = slot::again(std::mem::take(of_events));
        let seen = match self.collect(text, &mut row.slots) {
            Ok(()) => {
                let seen = Seen { text, row: &row, record };
                let glance = self.glance_at(exchange, &seen, format, ids, &mut events);
                then(Some(&mut row), glance)
            }
            Err(_) => then(None, Glance::Loud(CallMark::Unknown)),
        };
        *slots = slot::again(row.slots);
        *of_events = slot::again(events);
        seen
    }

    fn glance_at<'r>(
        &self,
        exchange: &ExchangeParts,
        seen: &Seen<'_, 'r>,
        format: u16,
        ids: &mut Vec<u32>,
        events: &mut Slots<'r>,
    ) -> Glance {
        let Seen { text, row, record } = *seen;
        // Mostly the body is a string, and can be read as it stands there.
        let within = exchange.request.body.within(row).and_then(|body| {
            let at = text.place_of(body)?;
            Asked::read_part::<true>(text, at..at + body.len())
        });
        let body = match &within {
            Some(_) => None,
            None => exchange.request.body.json(row, &self.absent),
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
        if record.bytes.len() > LONG && is_long(exchange, row, asked.as_ref()) {
            return Glance::Loud(mark);
        }
        let said = self.ordinary(exchange, seen, asked.as_ref(), ids, events);
        let (Some(said), Ok(length)) = (said, u32::try_from(record.bytes.len())) else {
            return Glance::Loud(mark);
        };
        let of_call = asked.as_ref().filter(|_| call.is_some()).and_then(|asked| asked.tool.as_deref());
        let (client, who, agent) = self.identity.mark(row, &self.absent);
        let opened = asked.as_ref().and_then(|asked| asked.client).filter(|_| said.kind == Kind::Initialize);
        // Beside a user agent the version tells no programs apart.
        let opened = opened.map(|(name, all)| if agent { name } else { all });
        Glance::Ordinary(Skim {
            origin: record.origin,
            length,
            format,
            kind: said.kind,
            start: said.start,
            end: said.end,
            session: said.session,
            client,
            tool: of_call.map(route::hash),
            who,
            version: said.version,
            instance: said.instance,
            asked: said.asked,
            call: opened.or(call).unwrap_or(0),
            bodies: said.bodies,
            sessioned: said.sessioned,
            counted: false,
        })
    }

    /// What an ordinary record says; none: it is not ordinary.
    fn ordinary<'r>(
        &self,
        x: &ExchangeParts,
        seen: &Seen<'_, 'r>,
        asked: Option<&Asked<'_>>,
        ids: &mut Vec<u32>,
        events: &mut Slots<'r>,
    ) -> Option<Said> {
        let Seen { row, record, .. } = *seen;
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
        let era = version.as_deref().and_then(Era::of_revision);
        if era == Some(Era::Stateless) || asked.is_some_and(|asked| asked.tells_more) {
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
        let bodies = answered(x, seen, absent, asked, kind, ids, events)?;
        let id = asked.and_then(|asked| asked.id.as_ref());
        Some(Said {
            kind,
            start,
            end,
            session: route::hash(session),
            version: version.as_deref().map_or(0, skim::mark),
            sessioned: era == Some(Era::Sessioned),
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

/// What a glance works with, and may use again for the next record.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    /// The hashes of the event ids that an ordinary record delivered.
    pub(crate) ids: Vec<u32>,
    marks: Marks,
    slots: Slots<'static>,
    of_events: Slots<'static>,
}

/// A record that is looked at.
pub(super) struct Seen<'s, 'r> {
    pub(super) text: Marked<'r>,
    pub(super) row: &'s Row<'r>,
    record: &'s Record<'s>,
}

/// What an ordinary record says of its exchange.
struct Said {
    kind: Kind,
    start: Nanos,
    end: Nanos,
    session: u64,
    version: u32,
    sessioned: bool,
    instance: u32,
    asked: u32,
    bodies: bool,
}

/// Hash of `clientInfo` as skims have it; beside a user agent the version tells no programs apart.
pub(crate) fn info_mark(name: &str, version: &str, agent: bool) -> u32 {
    let (name, version) = (skim::mark(name), if version.is_empty() { 0 } else { skim::mark(version) });
    if agent { name } else { name ^ version.rotate_left(9) }
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
