//! Wrappers that are JSON objects around the record.
//! Knows which keys make which shell; a record's own keys never do.

use super::{Inner, Peeled, Piece, export, jaeger, otlp, queue, text};
use crate::mapping::clock;
use crate::source::record::Shipped;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

pub(super) type Raw<'a> = Option<&'a RawValue>;

/// Every key that any shell is told by.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Shell<'a> {
    #[serde(borrow)]
    pub(super) log: Raw<'a>,
    pub(super) log_processed: Raw<'a>,
    pub(super) stream: Raw<'a>,
    pub(super) time: Raw<'a>,
    pub(super) date: Raw<'a>,
    pub(super) _p: Raw<'a>,
    pub(super) kubernetes: Raw<'a>,
    pub(super) message: Raw<'a>,
    #[serde(rename = "messageType")]
    pub(super) message_type: Raw<'a>,
    #[serde(rename = "logEvents")]
    pub(super) log_events: Option<Vec<&'a RawValue>>,
    #[serde(rename = "logStream")]
    pub(super) log_stream: Raw<'a>,
    #[serde(rename = "logStreamName")]
    pub(super) log_stream_name: Raw<'a>,
    #[serde(rename = "eventId")]
    pub(super) event_id: Raw<'a>,
    #[serde(rename = "ingestionTime")]
    pub(super) ingestion_time: Raw<'a>,
    pub(super) id: Raw<'a>,
    pub(super) events: Raw<'a>,
    pub(super) timestamp: Raw<'a>,
    #[serde(rename = "@timestamp")]
    pub(super) at_timestamp: Raw<'a>,
    #[serde(rename = "@message")]
    pub(super) at_message: Raw<'a>,
    #[serde(rename = "@logStream")]
    pub(super) at_stream: Raw<'a>,
    #[serde(rename = "@ptr")]
    pub(super) at_pointer: Raw<'a>,
    #[serde(rename = "type")]
    pub(super) kind: Raw<'a>,
    pub(super) fields: Raw<'a>,
    pub(super) tables: Raw<'a>,
    #[serde(rename = "insertId")]
    pub(super) insert_id: Raw<'a>,
    #[serde(rename = "logName")]
    pub(super) log_name: Raw<'a>,
    #[serde(rename = "jsonPayload")]
    pub(super) json_payload: Raw<'a>,
    #[serde(rename = "textPayload")]
    pub(super) text_payload: Raw<'a>,
    #[serde(rename = "httpRequest")]
    pub(super) http_request: Raw<'a>,
    pub(super) split: Option<Split<'a>>,
    pub(super) resource: Raw<'a>,
    pub(super) line: Raw<'a>,
    pub(super) labels: Raw<'a>,
    pub(super) values: Raw<'a>,
    pub(super) preview: Raw<'a>,
    pub(super) result: Raw<'a>,
    pub(super) _raw: Raw<'a>,
    pub(super) _time: Raw<'a>,
    pub(super) event: Raw<'a>,
    pub(super) sourcetype: Raw<'a>,
    pub(super) host: Raw<'a>,
    pub(super) hits: Raw<'a>,
    pub(super) _source: Raw<'a>,
    pub(super) _index: Raw<'a>,
    pub(super) _id: Raw<'a>,
    pub(super) index: Raw<'a>,
    pub(super) create: Raw<'a>,
    #[serde(rename = "MESSAGE")]
    pub(super) journal: Raw<'a>,
    #[serde(rename = "__REALTIME_TIMESTAMP")]
    pub(super) realtime: Raw<'a>,
    #[serde(rename = "__CURSOR")]
    pub(super) cursor: Raw<'a>,
    #[serde(rename = "_HOSTNAME")]
    pub(super) hostname: Raw<'a>,
    pub(super) attributes: Raw<'a>,
    pub(super) service: Raw<'a>,
    pub(super) tags: Raw<'a>,
    pub(super) source_type: Raw<'a>,
    pub(super) agent: Raw<'a>,
    pub(super) ecs: Raw<'a>,
    pub(super) logger: Raw<'a>,
    pub(super) logger_name: Raw<'a>,
    pub(super) level: Raw<'a>,
    pub(super) levelname: Raw<'a>,
    pub(super) name: Raw<'a>,
    pub(super) target: Raw<'a>,
    #[serde(rename = "log.level")]
    pub(super) log_level: Raw<'a>,
    #[serde(rename = "log.logger")]
    pub(super) log_logger: Raw<'a>,
    #[serde(rename = "resourceSpans")]
    pub(super) resource_spans: Raw<'a>,
    #[serde(rename = "scopeSpans", alias = "instrumentationLibrarySpans")]
    pub(super) scope_spans: Raw<'a>,
    #[serde(rename = "resourceLogs")]
    pub(super) resource_logs: Raw<'a>,
    #[serde(rename = "scopeLogs", alias = "instrumentationLibraryLogs")]
    pub(super) scope_logs: Raw<'a>,
    #[serde(rename = "traceID")]
    pub(super) trace_id: Raw<'a>,
    pub(super) spans: Raw<'a>,
    #[serde(rename = "operationName")]
    pub(super) operation_name: Raw<'a>,
    #[serde(rename = "Records")]
    pub(super) queued: Raw<'a>,
    pub(super) records: Raw<'a>,
    pub(super) awslogs: Raw<'a>,
    pub(super) kinesis: Raw<'a>,
    #[serde(rename = "recordId")]
    pub(super) record_id: Raw<'a>,
    pub(super) data: Raw<'a>,
    pub(super) content: Raw<'a>,
    pub(super) logs: Raw<'a>,
    pub(super) lastrow: Raw<'a>,
    #[serde(rename = "SequenceNumber")]
    pub(super) sequence_number: Raw<'a>,
    #[serde(rename = "Data")]
    pub(super) stream_data: Raw<'a>,
}

#[derive(Deserialize)]
pub(super) struct Split<'a> {
    #[serde(borrow)]
    pub(super) uid: Cow<'a, str>,
    #[serde(default)]
    pub(super) index: u64,
    #[serde(rename = "totalSplits", default)]
    pub(super) total: u64,
}

/// Peels a JSON object.
pub(super) fn peel(text: &[u8]) -> Peeled {
    let Ok(text) = std::str::from_utf8(text) else { return Peeled::Bare };
    let Ok(shell) = serde_json::from_str::<Shell<'_>>(text) else { return Peeled::Bare };
    telemetry(&shell, text)
        .or_else(|| queue::peel(&shell))
        .or_else(|| export::cloudwatch(&shell))
        .or_else(|| export::google(&shell))
        .or_else(|| export::loki(&shell))
        .or_else(|| export::splunk(&shell))
        .or_else(|| export::elastic(&shell))
        .or_else(|| journal(&shell))
        .or_else(|| container(&shell))
        .or_else(|| export::datadog(&shell))
        .or_else(|| export::azure(&shell))
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
        let text = string(Some(m)).map(|t| t.into_owned().into_bytes());
        // A field that an entry has twice is a list of texts.
        let first =
            || serde_json::from_str::<Vec<String>>(m.get()).ok()?.into_iter().next().map(String::into_bytes);
        text.or_else(|| serde_json::from_str(m.get()).ok()).or_else(first)
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
        // The runtime's own tag, where nobody joined the pieces before: `P` until the line's last one.
        if let Some(tag) = string(s._p) {
            let names = [string(s.stream), shipped.instance.as_deref().map(Cow::Borrowed)];
            let stream = names.into_iter().flatten().collect::<Vec<_>>().join("/").into_bytes();
            return Some(Peeled::Piece(Piece {
                layer: "fluent bit",
                stream,
                text: inner.as_bytes().to_vec(),
                last: &*tag != "P",
                part: None,
                shipped,
            }));
        }
        return Some(Peeled::Inner("fluent bit", vec![Inner::new(inner.as_bytes(), shipped)]));
    }
    let (stream, _) = (s.stream?, s.time?);
    let text = string(Some(log))?;
    Some(Peeled::Piece(Piece {
        layer: "docker json-file",
        stream: stream.get().as_bytes().to_vec(),
        last: text.ends_with('\n'),
        part: None,
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

/// A shipper that puts the line into `message`: Vector, Filebeat, Fluent Bit, a LogEntry's `jsonPayload`.
fn message(s: &Shell<'_>, whole: &str) -> Option<Peeled> {
    // A program's own record has a logger or a level beside its message, and a message of MCP is none that was shipped.
    let own = [s.logger, s.logger_name, s.level, s.levelname, s.name, s.target, s.log_level, s.log_logger];
    if own.iter().any(Option::is_some) || s.message.is_some_and(is_rpc) {
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
    let sole = whole.trim_ascii_end().len() <= s.message?.get().len() + "{\"message\":}".len() + 4;
    if !sole && !shell.iter().any(Option::is_some) {
        return None;
    }
    let line = if s.source_type.is_some() {
        string(s.message)?
    } else {
        let line = || string(s.message).filter(|line| text::is_line(line.as_bytes()));
        json_like(s.message?).or_else(line)?
    };
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

fn is_rpc(raw: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        jsonrpc: Raw<'a>,
    }
    is_object(raw) && serde_json::from_str::<Message<'_>>(raw.get()).is_ok_and(|m| m.jsonrpc.is_some())
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

pub(super) fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

pub(super) fn is_number(raw: Raw<'_>) -> bool {
    raw.is_some_and(|r| r.get().starts_with(|c: char| c.is_ascii_digit()))
}

/// An object, or a string that holds one.
pub(super) fn json_like<'a>(raw: &'a RawValue) -> Option<Cow<'a, str>> {
    if is_object(raw) {
        return Some(Cow::Borrowed(raw.get()));
    }
    string(Some(raw)).filter(|text| text.trim_ascii_start().starts_with('{'))
}
