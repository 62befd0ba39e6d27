//! The shells of log stores: CloudWatch, Google, Loki, Splunk, Elasticsearch, Datadog.
//! Knows where each keeps the line, its time and the id of its delivery.

use super::envelope::{Raw, Shell, is_number, is_object, json_like, string};
use super::otlp::Flat;
use super::{Inner, Peeled, Piece, text};
use crate::mapping::clock;
use crate::source::record::Shipped;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Subscription batches, and the events of `filter-log-events`.
pub(super) fn cloudwatch(s: &Shell<'_>) -> Option<Peeled> {
    if let (Some(kind), Some(events)) = (s.message_type, &s.log_events) {
        let stream = string(s.log_stream);
        let events =
            if string(Some(kind)).as_deref() == Some("CONTROL_MESSAGE") { &[] } else { events.as_slice() };
        return Some(Peeled::Inner(
            "cloudwatch",
            events.iter().filter_map(|e| cloudwatch_event(e.get(), stream.as_deref())).collect(),
        ));
    }
    if let Some(events) = s.events.filter(|_| s.message.is_none()) {
        let events = serde_json::from_str::<Vec<&RawValue>>(events.get()).ok()?;
        let inner: Option<Vec<_>> = events.iter().map(|e| cloudwatch_event(e.get(), None)).collect();
        return inner.filter(|all| !all.is_empty()).map(|all| Peeled::Inner("cloudwatch", all));
    }
    // A row of Insights, as its console exports it.
    if let Some(message) = s.at_message {
        let shipped = Shipped {
            id: string(s.at_pointer).map(Into::into),
            at: string(s.at_timestamp).and_then(|t| clock::any(&t)),
            instance: string(s.at_stream).map(Into::into),
            capped: true,
        };
        let text = json_like(message).or_else(|| string(Some(message)))?;
        return Some(Peeled::Inner("cloudwatch insights", vec![Inner::new(text.as_bytes(), shipped)]));
    }
    let message = s.message?;
    // The subscription's own sign of life, when a document was cut into its events.
    if message.get().starts_with("\"CWL CONTROL MESSAGE") {
        return Some(Peeled::Inner("cloudwatch", Vec::new()));
    }
    // An entry of `logEvents` has nothing but id, timestamp and message.
    let entry = s.id.is_some() && is_number(s.timestamp) && s.level.is_none() && s.logger.is_none();
    if s.event_id.is_none() && s.ingestion_time.is_none() && !entry {
        return None;
    }
    let shipped = Shipped {
        id: string(s.event_id.or(s.id)).map(Into::into),
        at: string(s.timestamp).and_then(|t| clock::epoch(&t, 1_000_000)),
        instance: string(s.log_stream_name).map(Into::into),
        capped: false,
    };
    Some(Peeled::Inner("cloudwatch", vec![Inner::new(string(Some(message))?.as_bytes(), shipped)]))
}

fn cloudwatch_event(event: &str, stream: Option<&str>) -> Option<Inner> {
    let s = serde_json::from_str::<Shell<'_>>(event).ok()?;
    let message = string(s.message)?;
    s.event_id.or(s.id).or(s.timestamp)?;
    let shipped = Shipped {
        id: string(s.event_id.or(s.id)).map(Into::into),
        at: string(s.timestamp).and_then(|t| clock::epoch(&t, 1_000_000)),
        instance: string(s.log_stream_name).as_deref().or(stream).map(Into::into),
        capped: false,
    };
    Some(Inner::new(message.as_bytes(), shipped))
}

/// A row of CloudWatch Insights: `[{"field":"@message","value":"…"}, …]`.
pub(super) fn peel_fields(text: &[u8]) -> Option<Peeled> {
    #[derive(Deserialize)]
    struct Cell<'a> {
        #[serde(borrow)]
        field: Cow<'a, str>,
        #[serde(borrow)]
        value: Cow<'a, str>,
    }
    let row = serde_json::from_slice::<Vec<Cell<'_>>>(text).ok()?;
    let cell = |name: &str| row.iter().find(|c| c.field == name).map(|c| &*c.value);
    let shipped = Shipped {
        id: cell("@ptr").map(Into::into),
        at: cell("@timestamp").and_then(|t| clock::rfc3339(t).map(|(at, _)| at)),
        instance: cell("@logStream").map(Into::into),
        // The console and the API give at most 10,000 rows and do not say so.
        capped: true,
    };
    let text = match cell("@message") {
        Some(message) => message.as_bytes().to_vec(),
        // A query for fields has them in the message's place.
        None => {
            let mut flat = Flat::default();
            let own = row.iter().filter(|c| !c.field.starts_with('@'));
            own.for_each(|c| flat.text(&c.field, Some(&*c.value)));
            flat.finish()
        }
    };
    Some(Peeled::Inner("cloudwatch insights", vec![Inner::new(text, shipped)]))
}

/// A batch that was written as one line: a list of records.
pub(super) fn peel_list(text: &[u8]) -> Option<Peeled> {
    let list = serde_json::from_slice::<Vec<&RawValue>>(text).ok()?;
    let objects = !list.is_empty() && list.iter().all(|one| is_object(one));
    let inner = list.iter().map(|one| Inner::new(one.get(), Shipped::default()));
    objects.then(|| Peeled::Inner("list", inner.collect()))
}

/// A LogEntry around a container's line; the load balancer's own entries are records themselves.
pub(super) fn google(s: &Shell<'_>) -> Option<Peeled> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Labels<'a> {
        #[serde(borrow)]
        pod_name: Option<Cow<'a, str>>,
        instance_id: Option<Cow<'a, str>>,
    }
    #[derive(Deserialize)]
    struct Resource<'a> {
        #[serde(borrow)]
        labels: Labels<'a>,
    }
    if s.insert_id.is_none() || s.log_name.is_none() || s.http_request.is_some() {
        return None;
    }
    let labels = s
        .resource
        .and_then(|r| serde_json::from_str::<Resource<'_>>(r.get()).ok())
        .map(|r| r.labels)
        .unwrap_or_default();
    let shipped = Shipped {
        id: string(s.insert_id).map(Into::into),
        at: string(s.timestamp).and_then(|t| clock::rfc3339(&t).map(|(at, _)| at)),
        instance: labels.pod_name.or(labels.instance_id).map(Into::into),
        capped: false,
    };
    if let Some(payload) = s.json_payload {
        return Some(Peeled::Inner("gcp log entry", vec![Inner::new(payload.get(), shipped)]));
    }
    let text = string(s.text_payload)?;
    if let Some(split) = &s.split {
        return Some(Peeled::Piece(Piece {
            layer: "gcp log entry",
            stream: split.uid.as_bytes().to_vec(),
            text: text.as_bytes().to_vec(),
            last: split.index + 1 >= split.total,
            part: (split.total > 0).then_some((split.index, split.total)),
            // Whichever piece comes last: the line goes by what all of them share.
            shipped: Shipped { id: Some((&*split.uid).into()), ..shipped },
        }));
    }
    Some(Peeled::Inner("gcp log entry", vec![Inner::new(text.as_bytes(), shipped)]))
}

/// `logcli --output=jsonl`, and a stream of the HTTP API.
pub(super) fn loki(s: &Shell<'_>) -> Option<Peeled> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Labels<'a> {
        #[serde(borrow)]
        pod: Option<Cow<'a, str>>,
        instance: Option<Cow<'a, str>>,
    }
    let labels = s
        .labels
        .or(s.stream)
        .and_then(|l| serde_json::from_str::<Labels<'_>>(l.get()).ok())
        .unwrap_or_default();
    let instance: Option<Box<str>> = labels.pod.or(labels.instance).map(Into::into);
    if let (Some(line), Some(time)) = (string(s.line), string(s.timestamp)) {
        if s.level.is_some() || s.message.is_some() {
            return None;
        }
        let at = clock::rfc3339(&time).map(|(at, _)| at);
        return Some(Peeled::Inner(
            "loki",
            vec![Inner::new(line.as_bytes(), Shipped { at, instance, ..Shipped::default() })],
        ));
    }
    let rows = serde_json::from_str::<Vec<Vec<&RawValue>>>(s.stream.and(s.values)?.get()).ok()?;
    let inner = rows.iter().filter_map(|row| {
        let at = string(row.first().copied()).and_then(|t| clock::epoch(&t, 1));
        let line = string(row.get(1).copied())?;
        Some(Inner::new(line.as_bytes(), Shipped { at, instance: instance.clone(), ..Shipped::default() }))
    });
    Some(Peeled::Inner("loki", inner.collect()))
}

pub(super) fn splunk(s: &Shell<'_>) -> Option<Peeled> {
    // The last line of an export says only that it is over.
    if s.preview.is_some() && s.lastrow.is_some() && s.result.is_none() {
        return Some(Peeled::Inner("splunk", Vec::new()));
    }
    if let Some(result) = s.result.filter(|r| s.preview.is_some() && is_object(r)) {
        // A preview row comes again in the final rows.
        let preview = string(s.preview).as_deref() == Some("true");
        let inner = if preview { Vec::new() } else { vec![Inner::new(result.get(), Shipped::default())] };
        return Some(Peeled::Inner("splunk", inner));
    }
    if let Some(raw) = string(s._raw) {
        let at = string(s._time).and_then(|t| clock::any(&t));
        let instance = string(s.host).map(Into::into);
        return Some(Peeled::Inner(
            "splunk",
            vec![Inner::new(raw.as_bytes(), Shipped { at, instance, ..Shipped::default() })],
        ));
    }
    let event = s.event.filter(|_| s.time.is_some() || s.sourcetype.is_some())?;
    let at = string(s.time).and_then(|t| clock::any(&t));
    // The collector's shape; other programs name what happened by a word under this key.
    let line = || string(Some(event)).filter(|line| text::is_line(line.as_bytes()));
    let inner = json_like(event).or_else(line)?;
    Some(Peeled::Inner("splunk", vec![Inner::new(inner.as_bytes(), Shipped { at, ..Shipped::default() })]))
}

pub(super) fn elastic(s: &Shell<'_>) -> Option<Peeled> {
    if s._source.is_none() && s.message.is_none() && (s.index.is_some() || s.create.is_some()) {
        #[derive(Deserialize)]
        struct Action<'a> {
            #[serde(borrow)]
            _index: Raw<'a>,
        }
        // The action line of a bulk file, and of tshark's -T ek.
        let action = serde_json::from_str::<Action<'_>>(s.index.or(s.create)?.get()).ok()?;
        return action._index.map(|_| Peeled::Inner("elasticsearch bulk", Vec::new()));
    }
    if let Some(hits) = s.hits.filter(|raw| is_object(raw)) {
        #[derive(Deserialize)]
        struct Hits<'a> {
            #[serde(borrow)]
            hits: Vec<&'a RawValue>,
        }
        let hits = serde_json::from_str::<Hits<'_>>(hits.get()).ok()?.hits;
        return Some(Peeled::Inner(
            "elasticsearch",
            hits.iter().map(|hit| Inner::new(hit.get(), Shipped::default())).collect(),
        ));
    }
    // A query for fields gives each as a list.
    if let (None, Some(fields), Some(_)) = (s._source, s.fields.filter(|raw| is_object(raw)), s._index) {
        let fields = serde_json::from_str::<BTreeMap<Cow<'_, str>, Vec<&RawValue>>>(fields.get()).ok()?;
        let mut flat = Flat::default();
        for (key, values) in &fields {
            values.first().into_iter().for_each(|value| flat.raw(key, value.get()));
        }
        let shipped = Shipped { id: string(s._id).map(Into::into), ..Shipped::default() };
        return Some(Peeled::Inner("elasticsearch", vec![Inner::new(flat.finish(), shipped)]));
    }
    let source = s._source.filter(|raw| is_object(raw))?;
    let shipped = Shipped { id: string(s._id).map(Into::into), ..Shipped::default() };
    Some(Peeled::Inner("elasticsearch", vec![Inner::new(source.get(), shipped)]))
}

/// Archives, and the events of the API, a page of them or each by itself.
pub(super) fn datadog(s: &Shell<'_>) -> Option<Peeled> {
    if let Some(pages) = s.data.or(s.logs).filter(|data| data.get().starts_with('[')) {
        let events = serde_json::from_str::<Vec<&RawValue>>(pages.get()).ok()?;
        let inner: Option<Vec<Inner>> = events.iter().map(|event| datadog_event(event.get())).collect();
        return inner.filter(|all| !all.is_empty()).map(|all| Peeled::Inner("datadog", all));
    }
    if let Some(event) = datadog_content(s) {
        return Some(Peeled::Inner("datadog", vec![event]));
    }
    s.attributes?;
    if let Some(event) = datadog_of(s) {
        return Some(Peeled::Inner("datadog", vec![event]));
    }
    if s.date.is_none() || (s.service.is_none() && s.tags.is_none() && s._id.is_none()) {
        return None;
    }
    let at = string(s.date).and_then(|t| clock::any(&t));
    datadog_text(s, string(s._id), at).map(|inner| Peeled::Inner("datadog", vec![inner]))
}

fn datadog_event(event: &str) -> Option<Inner> {
    let shell = serde_json::from_str::<Shell<'_>>(event).ok()?;
    datadog_of(&shell).or_else(|| datadog_content(&shell))
}

/// `{"id":…,"content":{"timestamp":…,"message":…,"attributes":{…}}}` (Datadog API v1, `LogsListResponse`).
fn datadog_content(s: &Shell<'_>) -> Option<Inner> {
    let own = s.content.filter(|own| is_object(own) && s.id.is_some())?;
    let own = serde_json::from_str::<Shell<'_>>(own.get()).ok()?;
    let at = string(own.timestamp).and_then(|t| clock::any(&t))?;
    datadog_text(&own, string(s.id), Some(at))
}

/// `{"id":…,"type":"log","attributes":{"timestamp":…,"message":…,"attributes":{…}}}` (Datadog API v2, `LogsListResponse`).
fn datadog_of(s: &Shell<'_>) -> Option<Inner> {
    let own = s.attributes.filter(|own| is_object(own) && string(s.kind).as_deref() == Some("log"))?;
    let own = serde_json::from_str::<Shell<'_>>(own.get()).ok()?;
    let at = string(own.timestamp).and_then(|t| clock::any(&t))?;
    datadog_text(&own, string(s.id), Some(at))
}

/// The record of an event: what was parsed of its message, or the message itself.
fn datadog_text(s: &Shell<'_>, id: Option<Cow<'_, str>>, at: Option<i64>) -> Option<Inner> {
    let shipped =
        Shipped { id: id.map(Into::into), at, instance: string(s.host).map(Into::into), capped: false };
    let attributes = s.attributes.filter(|a| is_object(a)).map_or("{}", RawValue::get);
    let message = s.message.and_then(json_like);
    let text = if attributes.len() > 2 && message.is_none() {
        Cow::Borrowed(attributes)
    } else {
        message.or_else(|| string(s.message))?
    };
    Some(Inner::new(text.as_bytes(), shipped))
}

/// The answer of a query to Log Analytics: tables with their columns and rows.
pub(super) fn azure(s: &Shell<'_>) -> Option<Peeled> {
    #[derive(Deserialize)]
    struct Column<'a> {
        #[serde(borrow)]
        name: Cow<'a, str>,
    }
    #[derive(Deserialize)]
    struct Table<'a> {
        #[serde(borrow)]
        columns: Vec<Column<'a>>,
        #[serde(borrow)]
        rows: Vec<Vec<&'a RawValue>>,
    }
    let tables = serde_json::from_str::<Vec<Table<'_>>>(s.tables?.get()).ok()?;
    let mut inner = Vec::new();
    for table in &tables {
        for row in &table.rows {
            let mut flat = Flat::default();
            let cells = table.columns.iter().zip(row);
            cells.for_each(|(column, cell)| flat.raw(&column.name, cell.get()));
            inner.push(Inner::new(flat.finish(), Shipped::default()));
        }
    }
    Some(Peeled::Inner("log analytics", inner))
}
