//! A mapping file made ready: one pass over a record, then events.
//! Knows which sections make which events; refuses a file that could make none.

use super::ending::{self, Ending};
use super::exchange::{self, ExchangeParts};
use super::field::{Compiler, Row, Value, expression};
use super::file::File;
use super::json::Broken;
use super::line::{self, Line};
use super::marks::Script;
use super::message::{self, Parts};
use super::party::{self, IdentityParts, KeyParts};
use super::slot::{Slot, Slots, Step, Tree};
use super::trail::{self, Trail};
use super::{MappingError, clock};
use crate::adapter::RecordProblem;
use crate::adapter::access;
use crate::adapter::rpc::Keep;
use crate::event::{
    Cause, Delivered, Event, Exchange, Remark, SessionScope, Text, Time, TimeMeans, Vantage, What,
};
use crate::source::Record;
use regex::Regex;
use std::sync::OnceLock;

/// A mapping, ready to read records.
#[derive(Debug)]
pub struct Plan {
    pub(super) name: String,
    pub(super) vantage: Vantage,
    pub(super) scope: SessionScope,
    pub(super) sampled: bool,
    pub(super) remarks: bool,
    pub(super) absent: Vec<String>,
    pub(super) tree: Tree,
    /// The orders of names that were seen.
    trails: OnceLock<Vec<Trail>>,
    pub(super) pattern: Option<(Regex, Vec<(String, Slot)>)>,
    pub(super) nested: Vec<Value>,
    /// Where JSON may stand as text, and the node that it stands for.
    unpacked: Vec<(Slot, usize)>,
    pub(super) time: Option<TimeParts>,
    pub(super) exchange: Option<ExchangeParts>,
    pub(super) instance: Value,
    pub(super) identity: IdentityParts,
    pub(super) keys: KeyParts,
    pub(super) parts: Option<Parts>,
    pub(super) ends: Vec<Ending>,
    pub(super) lines: Vec<Line>,
}

#[derive(Debug)]
pub(super) struct TimeParts {
    at: Value,
    means: TimeMeans,
    duration: Value,
    end: Value,
}

/// A file's vantage by its name.
pub(super) fn vantage(name: &str) -> Result<Vantage, MappingError> {
    Ok(match name {
        "client" => Vantage::Client,
        "capture" => Vantage::Capture,
        "edge_lb" => Vantage::EdgeLb,
        "proxy" => Vantage::Proxy,
        "gateway" => Vantage::Gateway,
        "server_http" => Vantage::ServerHttp,
        "server_app" => Vantage::ServerApp,
        other => {
            return Err(MappingError::value(
                "vantage",
                other,
                "client, capture, edge_lb, proxy, gateway, server_http or server_app",
            ));
        }
    })
}

fn scope(name: Option<&str>) -> Result<SessionScope, MappingError> {
    Ok(match name.unwrap_or("unknown") {
        "header_client" => SessionScope::HeaderClient,
        "header_backend" => SessionScope::HeaderBackend,
        "gateway_minted" => SessionScope::GatewayMinted,
        "telemetry_guid" => SessionScope::TelemetryGuid,
        "unknown" => SessionScope::Unknown,
        other => {
            let list = "header_client, header_backend, gateway_minted, telemetry_guid or unknown";
            return Err(MappingError::value("session_id_scope", other, list));
        }
    })
}

fn means(name: &str) -> Result<TimeMeans, MappingError> {
    Ok(match name {
        "start" => TimeMeans::Start,
        "end" => TimeMeans::End,
        "first_byte" => TimeMeans::FirstByte,
        "emit" => TimeMeans::Emit,
        "ingest" => TimeMeans::Ingest,
        other => return Err(MappingError::value("means", other, "start, end, first_byte, emit or ingest")),
    })
}

impl Plan {
    /// Compiles a file.
    ///
    /// # Errors
    /// [`MappingError`]: a value outside of its list, an expression that is none, no vantage, no time.
    pub fn compile(file: &File) -> Result<Self, MappingError> {
        if file.exchange.is_none() && file.line.is_empty() && file.rpc.is_none() {
            return Err(MappingError::Missing("[exchange], [rpc] or [[line]]"));
        }
        let mut c =
            Compiler { tree: Tree::default(), headers: &file.headers, absent: file.absent.values.clone() };
        let pattern = match &file.input.pattern {
            Some(pattern) => {
                let regex = expression(pattern)?;
                let names: Vec<String> = regex.capture_names().flatten().map(str::to_owned).collect();
                let slots = names.into_iter().map(|n| (n.clone(), c.tree.want(&[Step::Exact(n)]))).collect();
                Some((regex, slots))
            }
            None => None,
        };
        let nested = file
            .input
            .nested
            .iter()
            .map(|k| c.value(Some(&super::file::Field::Key(k.clone()))))
            .collect::<Result<_, _>>()?;
        let time = match &file.time {
            Some(t) => Some(TimeParts {
                at: c.value(Some(&t.at))?,
                means: means(&t.means)?,
                duration: c.value(t.duration.as_ref())?,
                end: c.value(t.end.as_ref())?,
            }),
            None => return Err(MappingError::Missing("[time]")),
        };
        let plan = Plan {
            name: file.name.clone(),
            vantage: vantage(file.vantage.as_deref().ok_or(MappingError::Missing("vantage"))?)?,
            scope: scope(file.session_id_scope.as_deref())?,
            sampled: file.sampled,
            remarks: file.remarks,
            absent: file.absent.values.clone(),
            pattern,
            nested,
            time,
            exchange: exchange::compile(file, &mut c)?,
            instance: c.value(file.instance.as_ref())?,
            identity: party::identity(file, &mut c)?,
            keys: party::keys(file, &mut c)?,
            parts: file.rpc.as_ref().map(|rpc| message::compile(rpc, &mut c)).transpose()?,
            ends: ending::compile(&file.end, &mut c)?,
            lines: line::compile(&file.line, &mut c)?,
            unpacked: Vec::new(),
            tree: Tree::default(),
            trails: OnceLock::new(),
        };
        let paths = file.input.unpacked.iter().flat_map(|key| super::paths(key));
        let unpacked = paths.filter_map(|path| Some((c.tree.want(&path), c.tree.node(&path)?))).collect();
        Ok(Plan { unpacked, tree: c.tree, ..plan })
    }

    /// Whether objects that stand as text in a record are read too.
    pub(super) fn unpacks(&self) -> bool {
        !self.unpacked.is_empty() || !self.nested.is_empty()
    }

    /// Who writes these records.
    pub(crate) fn vantage(&self) -> Vantage {
        self.vantage
    }

    /// The format's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads a record and hands its events to `sink`; one that states nothing of MCP gives none.
    ///
    /// # Errors
    /// The record is not of the format's shape, or has no time.
    pub fn read(
        &self,
        record: &Record<'_>,
        keep: Keep,
        sink: &mut dyn FnMut(Event),
    ) -> Result<(), RecordProblem> {
        let inner = self.nested_texts(record);
        let below = self.unpacked_texts(record);
        let mut row = self.row(record)?;
        for text in &inner {
            self.tree.collect_more(text, &mut row.slots);
        }
        for (node, text) in &below {
            self.tree.collect_below(*node, text, &mut row.slots);
        }
        self.read_row(record, &mut row, keep, sink)
    }

    /// The same with the record's values.
    pub(super) fn read_row(
        &self,
        record: &Record<'_>,
        row: &mut Row<'_>,
        keep: Keep,
        sink: &mut dyn FnMut(Event),
    ) -> Result<(), RecordProblem> {
        let time = self.time(row, record);
        if let Some(said) = line::read(&self.lines, row, &self.absent, keep) {
            if let Some(said) = said {
                let time = time.ok_or(RecordProblem::NoTime)?;
                let mut event = self.event(record, row, time, said.what);
                event.vantage = said.vantage.unwrap_or(self.vantage);
                event.instance = said.instance.or(event.instance);
                event.identity.connection = said.identity.connection.or(event.identity.connection);
                event.identity.remote_addr = said.identity.remote_addr.or(event.identity.remote_addr);
                sink(event);
            }
            return Ok(());
        }
        self.read_exchange(record, row, time, keep, sink)
    }

    /// Values of a record, for a coverage count.
    pub(crate) fn row<'a>(&self, record: &Record<'a>) -> Result<Row<'a>, RecordProblem> {
        let mut row = Row { slots: Slots::new(), texts: Vec::new(), groups: None };
        if let Some((regex, slots)) = &self.pattern {
            let text =
                std::str::from_utf8(record.bytes).map_err(|e| malformed(&self.name, &e.to_string()))?;
            let found = regex
                .captures(text)
                .ok_or_else(|| malformed(&self.name, "the line does not match the pattern"))?;
            row.texts = self.tree.empty_texts();
            for (name, slot) in slots {
                row.texts[*slot] = found.name(name).map(|m| m.as_str());
            }
            return Ok(row);
        }
        let text = simdutf8::basic::from_utf8(record.bytes)
            .map_err(|_| malformed(&self.name, &Broken::Foreign.to_string()))?;
        self.collect(text, &mut row.slots).map_err(|e| malformed(&self.name, &e.to_string()))?;
        Ok(row)
    }

    /// The same for the text of a JSON record.
    pub(super) fn collect<'a>(&self, record: impl Script<'a>, slots: &mut Slots<'a>) -> Result<(), Broken> {
        trail::collect(self.trails.get(), &self.tree, record, slots)
    }

    /// Learns how a log's records are written, so that those written like them are read faster. The first log counts.
    pub(crate) fn learn<'r>(&self, records: impl Iterator<Item = Record<'r>> + Clone) {
        self.trails.get_or_init(|| trail::learn(&self.tree, records.clone().map(|record| record.bytes)));
        if let Some(events) = self.exchange.as_ref().and_then(|x| x.response.events.as_ref()) {
            events.learn(records.filter_map(|record| self.row(&record).ok()), &self.absent);
        }
    }

    /// JSON objects that stand as text in the fields that `[input] nested` names.
    fn nested_texts(&self, record: &Record<'_>) -> Vec<String> {
        if self.nested.is_empty() {
            return Vec::new();
        }
        let Ok(row) = self.row(record) else { return Vec::new() };
        let texts = self.nested.iter().filter_map(|value| value.text(&row, &[]));
        texts.filter(|t| t.trim_ascii_start().starts_with('{')).map(std::borrow::Cow::into_owned).collect()
    }

    fn unpacked_texts(&self, record: &Record<'_>) -> Vec<(usize, String)> {
        if self.unpacked.is_empty() {
            return Vec::new();
        }
        let Ok(row) = self.row(record) else { return Vec::new() };
        let text = |(slot, node): &(Slot, usize)| {
            let text = super::slot::text(row.slots.get(*slot).copied().flatten()?)?;
            text.trim_ascii_start().starts_with('{').then(|| (*node, text.into_owned()))
        };
        self.unpacked.iter().filter_map(text).collect()
    }

    fn read_exchange(
        &self,
        record: &Record<'_>,
        row: &Row<'_>,
        time: Option<Time>,
        keep: Keep,
        sink: &mut dyn FnMut(Event),
    ) -> Result<(), RecordProblem> {
        if let Some(parts) = &self.parts
            && let Some((mut told, first)) = parts.handled(row, &self.absent, keep)
        {
            let time = time.ok_or(RecordProblem::NoTime)?;
            self.fill_session(&mut told.session, row);
            self.emit_handler(record, row, time, told, first, sink);
        }
        let Some(exchange) = &self.exchange else { return Ok(()) };
        let start = time.and_then(|time| time.start);
        let Some(mut x) = exchange.read(row, &self.absent, start, self.parts.as_ref(), keep) else {
            return Ok(());
        };
        x.end = ending::read(&self.ends, row, &self.absent);
        x.logged.end = x.end.cause != Cause::Unknown;
        self.emit_exchange(record, row, x, time, sink)
    }

    fn fill_session(&self, session: &mut Option<Text>, row: &Row<'_>) {
        if let Some(exchange) = &self.exchange
            && session.is_none()
        {
            *session = exchange.session(row, &self.absent);
        }
    }

    fn emit_handler(
        &self,
        record: &Record<'_>,
        row: &Row<'_>,
        time: Time,
        told: crate::event::Lifecycle,
        first: crate::event::LifecycleStep,
        sink: &mut dyn FnMut(Event),
    ) {
        let began = crate::event::Lifecycle { step: first, outcome: None, duration: None, ..told.clone() };
        let length = time.start.zip(time.end).map(|(start, end)| end - start);
        let told = crate::event::Lifecycle { duration: told.duration.or(length), ..told };
        let app = |at: crate::event::Nanos, what| {
            let time = Time { at, means: TimeMeans::Emit, start: None, end: None, ..time };
            Event { vantage: Vantage::ServerApp, ..self.event(record, row, time, what) }
        };
        sink(app(time.start.unwrap_or(time.at), What::Lifecycle(Box::new(began))));
        sink(app(time.end.unwrap_or(time.at), What::Lifecycle(Box::new(told))));
    }

    fn emit_exchange(
        &self,
        record: &Record<'_>,
        row: &Row<'_>,
        x: Box<Exchange>,
        time: Option<Time>,
        sink: &mut dyn FnMut(Event),
    ) -> Result<(), RecordProblem> {
        // A record without a time is only a fault if it tells something.
        if access::speaks_mcp(&x) {
            let time = time.ok_or(RecordProblem::NoTime)?;
            let client = access::client_of(&x.request.body);
            let mut event = self.event(record, row, time, What::Exchange(x));
            event.identity.client = event.identity.client.or(client);
            sink(event);
        } else if self.remarks && x.end.cause != Cause::Unknown {
            let time = time.ok_or(RecordProblem::NoTime)?;
            let x = *x;
            let delivered = match x.end.cause {
                Cause::ConnectFailed => Delivered::No,
                Cause::Complete | Cause::UpstreamAbort | Cause::UpstreamIdleTimeout => Delivered::Yes,
                _ => Delivered::Unknown,
            };
            let upstream = x.attempts.last().and_then(|a| a.upstream.clone());
            let remark = Remark { method: x.method, path: x.path, upstream, end: x.end, delivered };
            sink(self.event(record, row, time, What::Remark(Box::new(remark))));
        }
        Ok(())
    }

    fn event(&self, record: &Record<'_>, row: &Row<'_>, time: Time, what: What) -> Event {
        Event {
            origin: record.origin,
            time,
            vantage: self.vantage,
            instance: self
                .instance
                .text(row, &self.absent)
                .map(|t| Text::from(&*t))
                .or_else(|| record.shipped.instance.clone()),
            identity: self.identity.read(row, &self.absent),
            keys: self.keys.read(row, &self.absent, record),
            scope: self.scope,
            sampled: self.sampled || record.shipped.capped,
            what,
        }
    }

    /// The record's own time, or else the wrapper's.
    pub(super) fn time(&self, row: &Row<'_>, record: &Record<'_>) -> Option<Time> {
        let parts = self.time.as_ref()?;
        let length = parts.duration.duration(row, &self.absent);
        let ended = parts.end.time(row, &self.absent);
        let Some(stamp) = parts.at.time(row, &self.absent) else {
            if let Some(end) = ended {
                return Some(Time {
                    at: end.at,
                    means: TimeMeans::End,
                    start: length.and_then(|length| end.at.checked_sub(length)),
                    end: Some(end.at),
                    precision: end.precision,
                    zone_assumed: !end.zoned,
                });
            }
            let at = record.shipped.at?;
            return Some(Time {
                at,
                means: TimeMeans::Ingest,
                start: None,
                end: None,
                precision: clock::SECOND,
                zone_assumed: false,
            });
        };
        let at = stamp.at;
        let end = ended.map(|end| end.at).filter(|end| *end >= at);
        let (start, end) = match parts.means {
            TimeMeans::Start => (Some(at), length.and_then(|l| at.checked_add(l)).or(end)),
            TimeMeans::End => (length.and_then(|l| at.checked_sub(l)), Some(at)),
            _ => (None, None),
        };
        Some(Time {
            at,
            means: parts.means,
            start,
            end,
            precision: stamp.precision,
            zone_assumed: !stamp.zoned,
        })
    }
}

fn malformed(name: &str, why: &str) -> RecordProblem {
    RecordProblem::Malformed { format: "record of its log", why: format!("{name}: {why}") }
}
