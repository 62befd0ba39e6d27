//! Wrappers that are JSON objects around the record.
//! Knows which keys make which shell; a record's own keys never do.

use super::{Inner, Peeled, Piece, jaeger, otlp};
use crate::mapping::clock;
use crate::source::record::Shipped;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

type Raw<'a> = Option<&'a RawValue>;

/// Every key that any shell is told by.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Shell<'a> {
    #[serde(borrow)]
    log: Raw<'a>,
    log_processed: Raw<'a>,
    stream: Raw<'a>,
    time: Raw<'a>,
    date: Raw<'a>,
    _p: Raw<'a>,
    kubernetes: Raw<'a>,
    message: Raw<'a>,
    #[serde(rename = "messageType")]
    message_type: Raw<'a>,
    #[serde(rename = "logEvents")]
    log_events: Option<Vec<&'a RawValue>>,
    #[serde(rename = "logStream")]
    log_stream: Raw<'a>,
    #[serde(rename = "logStreamName")]
    log_stream_name: Raw<'a>,
    #[serde(rename = "eventId")]
    event_id: Raw<'a>,
    #[serde(rename = "ingestionTime")]
    ingestion_time: Raw<'a>,
    id: Raw<'a>,
    events: Raw<'a>,
    timestamp: Raw<'a>,
    #[serde(rename = "@timestamp")]
    at_timestamp: Raw<'a>,
    #[serde(rename = "insertId")]
    insert_id: Raw<'a>,
    #[serde(rename = "logName")]
    log_name: Raw<'a>,
    #[serde(rename = "jsonPayload")]
    json_payload: Raw<'a>,
    #[serde(rename = "textPayload")]
    text_payload: Raw<'a>,
    #[serde(rename = "httpRequest")]
    http_request: Raw<'a>,
    split: Option<Split<'a>>,
    resource: Raw<'a>,
    line: Raw<'a>,
    labels: Raw<'a>,
    values: Raw<'a>,
    preview: Raw<'a>,
    result: Raw<'a>,
    _raw: Raw<'a>,
    _time: Raw<'a>,
    event: Raw<'a>,
    sourcetype: Raw<'a>,
    host: Raw<'a>,
    hits: Raw<'a>,
    _source: Raw<'a>,
    _index: Raw<'a>,
    _id: Raw<'a>,
    index: Raw<'a>,
    create: Raw<'a>,
    #[serde(rename = "MESSAGE")]
    journal: Raw<'a>,
    #[serde(rename = "__REALTIME_TIMESTAMP")]
    realtime: Raw<'a>,
    #[serde(rename = "__CURSOR")]
    cursor: Raw<'a>,
    #[serde(rename = "_HOSTNAME")]
    hostname: Raw<'a>,
    attributes: Raw<'a>,
    service: Raw<'a>,
    tags: Raw<'a>,
    source_type: Raw<'a>,
    agent: Raw<'a>,
    ecs: Raw<'a>,
    logger: Raw<'a>,
    logger_name: Raw<'a>,
    level: Raw<'a>,
    levelname: Raw<'a>,
    name: Raw<'a>,
    target: Raw<'a>,
    #[serde(rename = "resourceSpans")]
    resource_spans: Raw<'a>,
    #[serde(rename = "scopeSpans")]
    scope_spans: Raw<'a>,
    #[serde(rename = "resourceLogs")]
    resource_logs: Raw<'a>,
    #[serde(rename = "scopeLogs")]
    scope_logs: Raw<'a>,
    #[serde(rename = "traceID")]
    trace_id: Raw<'a>,
    spans: Raw<'a>,
    #[serde(rename = "operationName")]
    operation_name: Raw<'a>,
}

#[derive(Deserialize)]
struct Split<'a> {
    #[serde(borrow)]
    uid: Cow<'a, str>,
    #[serde(default)]
    index: u64,
    #[serde(rename = "totalSplits", default)]
    total: u64,
}

/// Peels a JSON object.
pub(super) fn peel(text: &[u8]) -> Peeled {
    let Ok(text) = std::str::from_utf8(text) else { return Peeled::Bare };
    let Ok(shell) = serde_json::from_str::<Shell<'_>>(text) else { return Peeled::Bare };
    telemetry(&shell, text)
        .or_else(|| cloudwatch(&shell))
        .or_else(|| google(&shell))
        .or_else(|| loki(&shell))
        .or_else(|| splunk(&shell))
        .or_else(|| elastic(&shell))
        .or_else(|| journal(&shell))
        .or_else(|| container(&shell))
        .or_else(|| datadog(&shell))
        .or_else(|| message(&shell, text))
        .unwrap_or(Peeled::Bare)
}

fn telemetry(s: &Shell<'_>, text: &str) -> Option<Peeled> {
    if s.resource_spans.is_some() || s.scope_spans.is_some() {
        return Some(Peeled::Inner("otlp traces", otlp::spans(text)));
    }
    if s.resource_logs.is_some() || s.scope_logs.is_some() {
        return Some(Peeled::Inner("otlp logs", otlp::logs(text)));
    }
    if s.trace_id.is_some() && (s.spans.is_some() || s.operation_name.is_some()) {
        return Some(Peeled::Inner("jaeger", jaeger::spans(text)));
    }
    None
}

/// Subscription batches, and the events of `filter-log-events`.
fn cloudwatch(s: &Shell<'_>) -> Option<Peeled> {
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
    Some(Peeled::Inner("cloudwatch insights", vec![Inner::new(cell("@message")?.as_bytes(), shipped)]))
}

/// A LogEntry around a container's line; the load balancer's own entries are records themselves.
fn google(s: &Shell<'_>) -> Option<Peeled> {
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
            shipped,
        }));
    }
    Some(Peeled::Inner("gcp log entry", vec![Inner::new(text.as_bytes(), shipped)]))
}

/// `logcli --output=jsonl`, and a stream of the HTTP API.
fn loki(s: &Shell<'_>) -> Option<Peeled> {
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

fn splunk(s: &Shell<'_>) -> Option<Peeled> {
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
    let inner = json_like(event)?;
    Some(Peeled::Inner("splunk", vec![Inner::new(inner.as_bytes(), Shipped { at, ..Shipped::default() })]))
}

fn elastic(s: &Shell<'_>) -> Option<Peeled> {
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
    let source = s._source.filter(|raw| is_object(raw))?;
    let shipped = Shipped { id: string(s._id).map(Into::into), ..Shipped::default() };
    Some(Peeled::Inner("elasticsearch", vec![Inner::new(source.get(), shipped)]))
}

fn journal(s: &Shell<'_>) -> Option<Peeled> {
    let (message, realtime) = (s.journal, s.realtime?);
    let shipped = Shipped {
        id: string(s.cursor).map(Into::into),
        at: string(Some(realtime)).and_then(|t| clock::epoch(&t, 1000)),
        instance: string(s.hostname).map(Into::into),
        capped: false,
    };
    // A message that is no text is an array of bytes; one that was too big is null (formats.md section 5).
    let text = message.and_then(|m| {
        string(Some(m)).map(|t| t.into_owned().into_bytes()).or_else(|| serde_json::from_str(m.get()).ok())
    });
    let inner = match text {
        Some(text) => Inner::new(text, shipped),
        None => Inner { text: Vec::new(), shipped, lost: true },
    };
    Some(Peeled::Inner("journald", vec![inner]))
}

/// Docker's json-file, and Fluent Bit or Fluentd around a container's line.
fn container(s: &Shell<'_>) -> Option<Peeled> {
    let fluent = s.date.is_some() || s.kubernetes.is_some() || s._p.is_some() || s.at_timestamp.is_some();
    let at = string(s.time.or(s.date).or(s.timestamp)).and_then(|t| clock::any(&t));
    let shipped = Shipped { at, instance: s.kubernetes.and_then(pod), ..Shipped::default() };
    if let Some(parsed) = s.log_processed.filter(|raw| is_object(raw)) {
        return Some(Peeled::Inner("fluent bit", vec![Inner::new(parsed.get(), shipped)]));
    }
    let log = s.log?;
    if fluent {
        let inner = if is_object(log) { return None } else { string(Some(log))? };
        return Some(Peeled::Inner("fluent bit", vec![Inner::new(inner.as_bytes(), shipped)]));
    }
    let (stream, _) = (s.stream?, s.time?);
    let text = string(Some(log))?;
    Some(Peeled::Piece(Piece {
        layer: "docker json-file",
        stream: stream.get().as_bytes().to_vec(),
        last: text.ends_with('\n'),
        text: text.as_bytes().to_vec(),
        shipped,
    }))
}

fn pod(kubernetes: &RawValue) -> Option<Box<str>> {
    #[derive(Deserialize)]
    struct Pod<'a> {
        #[serde(borrow)]
        pod_name: Option<Cow<'a, str>>,
    }
    serde_json::from_str::<Pod<'_>>(kubernetes.get()).ok()?.pod_name.map(Into::into)
}

fn datadog(s: &Shell<'_>) -> Option<Peeled> {
    let attributes = s.attributes.filter(|a| is_object(a))?;
    if s.date.is_none() || (s.service.is_none() && s.tags.is_none() && s._id.is_none()) {
        return None;
    }
    let shipped = Shipped {
        id: string(s._id).map(Into::into),
        at: string(s.date).and_then(|t| clock::any(&t)),
        instance: string(s.host).map(Into::into),
        capped: false,
    };
    let message = s.message.and_then(json_like);
    let parsed = attributes.get().len() > 2 && message.is_none();
    let text =
        if parsed { Cow::Borrowed(attributes.get()) } else { message.or_else(|| string(s.message))? };
    Some(Peeled::Inner("datadog", vec![Inner::new(text.as_bytes(), shipped)]))
}

/// A shipper that puts the line into `message`: Vector, Filebeat, Fluent Bit, a LogEntry's `jsonPayload`.
fn message(s: &Shell<'_>, text: &str) -> Option<Peeled> {
    // A program's own record has a logger or a level beside its message.
    let own = [s.logger, s.logger_name, s.level, s.levelname, s.name, s.target].iter().any(Option::is_some);
    if own {
        return None;
    }
    if let Some(event) = s.event.filter(|e| is_object(e)) {
        #[derive(Deserialize)]
        struct Original<'a> {
            #[serde(borrow)]
            original: Raw<'a>,
        }
        if let Some(original) =
            serde_json::from_str::<Original<'_>>(event.get()).ok().and_then(|e| json_like(e.original?))
        {
            return Some(Peeled::Inner(
                "elastic agent",
                vec![Inner::new(original.as_bytes(), Shipped::default())],
            ));
        }
    }
    let shell = [s.source_type, s.at_timestamp, s.kubernetes, s.agent, s.ecs, s._p, s.date];
    let sole = text.trim_ascii_end().len() <= s.message?.get().len() + "{\"message\":}".len() + 4;
    if !sole && !shell.iter().any(Option::is_some) {
        return None;
    }
    let line = if s.source_type.is_some() { string(s.message)? } else { json_like(s.message?)? };
    let shipped = Shipped {
        at: string(s.timestamp.or(s.at_timestamp).or(s.date)).and_then(|t| clock::any(&t)),
        instance: s.kubernetes.and_then(pod).or_else(|| string(s.host).map(Into::into)),
        ..Shipped::default()
    };
    Some(Peeled::Inner(
        if s.source_type.is_some() { "vector" } else { "shipper" },
        vec![Inner::new(line.as_bytes(), shipped)],
    ))
}

/// The text of a string, number or boolean; a number keeps its spelling.
pub(super) fn string<'a>(raw: Raw<'a>) -> Option<Cow<'a, str>> {
    let text = raw?.get();
    match text.as_bytes().first()? {
        b'"' => serde_json::from_str::<Cow<'a, str>>(text).ok().map(|c| match c {
            Cow::Owned(_) if !text.contains('\\') => Cow::Borrowed(&text[1..text.len() - 1]),
            other => other,
        }),
        b'{' | b'[' | b'n' => None,
        _ => Some(Cow::Borrowed(text)),
    }
}

fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

fn is_number(raw: Raw<'_>) -> bool {
    raw.is_some_and(|r| r.get().starts_with(|c: char| c.is_ascii_digit()))
}

/// An object, or a string that holds one.
fn json_like<'a>(raw: &'a RawValue) -> Option<Cow<'a, str>> {
    if is_object(raw) {
        return Some(Cow::Borrowed(raw.get()));
    }
    string(Some(raw)).filter(|text| text.trim_ascii_start().starts_with('{'))
}
