//! Jaeger's JSON: traces with their processes, and single spans as its Elasticsearch store keeps them.
//! Knows the shape; gives the same flat records as OTLP, so that one mapping reads both.

use super::Inner;
use super::envelope::string;
use super::otlp::Flat;
use crate::source::record::Shipped;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

type Raw<'a> = Option<&'a RawValue>;

#[derive(Deserialize)]
struct Trace<'a> {
    #[serde(borrow)]
    spans: Vec<Span<'a>>,
    #[serde(borrow, default)]
    processes: BTreeMap<Cow<'a, str>, Process<'a>>,
}

#[derive(Deserialize)]
struct Process<'a> {
    #[serde(borrow, default, rename = "serviceName")]
    service: Raw<'a>,
    #[serde(borrow, default)]
    tags: Vec<Tag<'a>>,
}

#[derive(Deserialize)]
struct Tag<'a> {
    #[serde(borrow)]
    key: Cow<'a, str>,
    #[serde(borrow, default)]
    value: Raw<'a>,
}

#[derive(Deserialize)]
struct Span<'a> {
    #[serde(borrow, default, rename = "traceID")]
    trace: Raw<'a>,
    #[serde(borrow, default, rename = "spanID")]
    span: Raw<'a>,
    #[serde(borrow, default, rename = "operationName")]
    name: Raw<'a>,
    #[serde(borrow, default)]
    references: Vec<Reference<'a>>,
    #[serde(borrow, default, rename = "startTime")]
    start: Raw<'a>,
    #[serde(borrow, default)]
    duration: Raw<'a>,
    #[serde(borrow, default)]
    tags: Vec<Tag<'a>>,
    /// The Elasticsearch store's map, with `@` for `.`.
    #[serde(borrow, default)]
    tag: BTreeMap<Cow<'a, str>, &'a RawValue>,
    #[serde(borrow, default, rename = "processID")]
    process_id: Raw<'a>,
    #[serde(borrow, default)]
    process: Option<Process<'a>>,
}

#[derive(Deserialize)]
struct Reference<'a> {
    #[serde(borrow, default, rename = "refType")]
    kind: Raw<'a>,
    #[serde(borrow, default, rename = "spanID")]
    span: Raw<'a>,
}

/// Flat records of a trace, or of one span.
pub(super) fn spans(text: &str) -> Vec<Inner> {
    if let Ok(trace) = serde_json::from_str::<Trace<'_>>(text) {
        return trace
            .spans
            .iter()
            .map(|span| {
                let process = string(span.process_id).and_then(|id| trace.processes.get(&id));
                flat(span, process.or(span.process.as_ref()))
            })
            .collect();
    }
    match serde_json::from_str::<Span<'_>>(text) {
        Ok(span) => vec![flat(&span, span.process.as_ref())],
        Err(_) => vec![Inner { text: Vec::new(), shipped: Shipped::default(), lost: true }],
    }
}

fn flat(span: &Span<'_>, process: Option<&Process<'_>>) -> Inner {
    let mut o = Flat::default();
    if let Some(process) = process {
        o.text("resource.service.name", string(process.service).as_deref());
        for tag in &process.tags {
            put(&mut o, &format!("resource.{}", tag.key), tag.value);
        }
    }
    let mut error = false;
    let tags = span.tags.iter().map(|t| (t.key.clone(), t.value));
    for (key, value) in tags.chain(span.tag.iter().map(|(k, v)| (Cow::Owned(k.replace('@', ".")), Some(*v))))
    {
        match &*key {
            "span.kind" => o.text("otel.kind", string(value).as_deref()),
            "error" => error |= string(value).as_deref() == Some("true"),
            "otel.status_code" => error |= string(value).as_deref() == Some("ERROR"),
            "otel.scope.name" | "otel.library.name" => o.text("otel.scope", string(value).as_deref()),
            key => put(&mut o, key, value),
        }
    }
    o.text("otel.trace", string(span.trace).as_deref());
    o.text("otel.span", string(span.span).as_deref());
    o.text("otel.name", string(span.name).as_deref());
    let parent = span.references.iter().find(|r| string(r.kind).as_deref() == Some("CHILD_OF"));
    o.text("otel.parent", parent.and_then(|r| string(r.span)).as_deref());
    let links: Vec<_> = span
        .references
        .iter()
        .filter(|r| string(r.kind).as_deref() == Some("FOLLOWS_FROM"))
        .filter_map(|r| string(r.span))
        .collect();
    if !links.is_empty() {
        o.text("otel.links", Some(&links.join(",")));
    }
    let micros = |raw| string(raw).and_then(|t| t.parse::<i64>().ok());
    if let Some(start) = micros(span.start).and_then(|us| us.checked_mul(1000)) {
        o.text("otel.start", Some(&start.to_string()));
        if let Some(end) = micros(span.duration).and_then(|us| start.checked_add(us.checked_mul(1000)?)) {
            o.text("otel.end", Some(&end.to_string()));
        }
    }
    o.raw("otel.error", if error { "true" } else { "false" });
    Inner::new(o.finish(), Shipped::default())
}

fn put(o: &mut Flat, key: &str, value: Raw<'_>) {
    if let Some(value) = value {
        o.raw(key, value.get());
    }
}
