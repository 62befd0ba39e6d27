//! OTLP/JSON batches, as the collector's file exporter writes them: each span or log record becomes one flat object.
//! Knows the protocol's shape; which attributes matter is a mapping's affair.
//!
//! A flat record holds the attributes under their own names, the resource's under `resource.` and the record's own
//! fields under `otel.`: `otel.trace`, `otel.span`, `otel.parent`, `otel.name`, `otel.kind` (`server`, `client`, …),
//! `otel.start`, `otel.end`, `otel.time` (nanoseconds), `otel.event`,
//! `otel.error`, `otel.scope`, `otel.links`, `otel.body`.

use super::Inner;
use super::envelope::string;
use super::text;
use crate::mapping::clock;
use crate::source::record::Shipped;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

type Raw<'a> = Option<&'a RawValue>;

#[derive(Deserialize)]
struct Export<'a> {
    #[serde(borrow, default, rename = "resourceSpans", alias = "resourceLogs")]
    resources: Vec<Scoped<'a>>,
}

#[derive(Deserialize)]
struct Scoped<'a> {
    #[serde(borrow, default)]
    resource: Resource<'a>,
    #[serde(
        borrow,
        default,
        rename = "scopeSpans",
        alias = "scopeLogs",
        alias = "instrumentationLibrarySpans",
        alias = "instrumentationLibraryLogs"
    )]
    scopes: Vec<Scope<'a>>,
}

#[derive(Deserialize, Default)]
struct Resource<'a> {
    #[serde(borrow, default)]
    attributes: Vec<Pair<'a>>,
}

#[derive(Deserialize)]
struct Scope<'a> {
    #[serde(borrow, default, alias = "instrumentationLibrary")]
    scope: Named<'a>,
    #[serde(borrow, default, rename = "spans", alias = "logRecords", alias = "logs")]
    records: Vec<Entry<'a>>,
}

#[derive(Deserialize, Default)]
struct Named<'a> {
    #[serde(borrow, default)]
    name: Raw<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    #[serde(borrow, default)]
    trace_id: Raw<'a>,
    #[serde(borrow, default)]
    span_id: Raw<'a>,
    #[serde(borrow, default)]
    parent_span_id: Raw<'a>,
    #[serde(borrow, default)]
    name: Raw<'a>,
    #[serde(borrow, default)]
    kind: Raw<'a>,
    #[serde(borrow, default)]
    start_time_unix_nano: Raw<'a>,
    #[serde(borrow, default)]
    end_time_unix_nano: Raw<'a>,
    #[serde(borrow, default)]
    time_unix_nano: Raw<'a>,
    #[serde(borrow, default)]
    observed_time_unix_nano: Raw<'a>,
    #[serde(borrow, default)]
    event_name: Raw<'a>,
    #[serde(borrow, default)]
    body: Option<Value<'a>>,
    #[serde(borrow, default)]
    status: Option<Status<'a>>,
    #[serde(borrow, default)]
    attributes: Vec<Pair<'a>>,
    #[serde(borrow, default)]
    links: Vec<Link<'a>>,
}

#[derive(Deserialize)]
struct Status<'a> {
    #[serde(borrow, default)]
    code: Raw<'a>,
}

#[derive(Deserialize)]
struct Link<'a> {
    #[serde(borrow, default, rename = "spanId")]
    span_id: Raw<'a>,
}

#[derive(Deserialize)]
struct Pair<'a> {
    #[serde(borrow)]
    key: Cow<'a, str>,
    #[serde(borrow, default)]
    value: Value<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Value<'a> {
    #[serde(borrow, default)]
    string_value: Raw<'a>,
    #[serde(borrow, default)]
    int_value: Raw<'a>,
    #[serde(borrow, default)]
    double_value: Raw<'a>,
    #[serde(borrow, default)]
    bool_value: Raw<'a>,
    #[serde(borrow, default)]
    array_value: Option<List<'a>>,
    #[serde(borrow, default)]
    kvlist_value: Option<Pairs<'a>>,
}

#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow, default)]
    values: Vec<Value<'a>>,
}

#[derive(Deserialize)]
struct Pairs<'a> {
    #[serde(borrow, default)]
    values: Vec<Pair<'a>>,
}

/// Flat records of a batch of spans.
pub(super) fn spans(text: &str) -> Vec<Inner> {
    flatten(text)
}

/// Flat records of a batch of log records.
pub(super) fn logs(text: &str) -> Vec<Inner> {
    flatten(text)
}

fn flatten(text: &str) -> Vec<Inner> {
    let resources = match serde_json::from_str::<Export<'_>>(text) {
        Ok(export) if !export.resources.is_empty() => export.resources,
        // An entry of the list, when the document was cut into its entries.
        _ => serde_json::from_str::<Scoped<'_>>(text).map(|one| vec![one]).unwrap_or_default(),
    };
    let mut out = Vec::new();
    for resource in &resources {
        for scope in &resource.scopes {
            for entry in &scope.records {
                out.push(flat(entry, scope, &resource.resource));
            }
        }
    }
    if out.is_empty() && !resources.iter().all(|r| r.scopes.iter().all(|s| s.records.is_empty())) {
        out.push(Inner { text: Vec::new(), shipped: Shipped::default(), lost: true });
    }
    out
}

fn flat(entry: &Entry<'_>, scope: &Scope<'_>, resource: &Resource<'_>) -> Inner {
    let mut o = Flat::default();
    for pair in &resource.attributes {
        o.value(&format!("resource.{}", pair.key), &pair.value);
    }
    for pair in &entry.attributes {
        o.value(&pair.key, &pair.value);
    }
    let hex = |raw| string(raw).filter(|id| !id.is_empty()).map(|id| id.to_ascii_lowercase());
    o.text("otel.trace", hex(entry.trace_id).as_deref());
    o.text("otel.span", hex(entry.span_id).as_deref());
    o.text("otel.parent", hex(entry.parent_span_id).as_deref());
    o.text("otel.name", string(entry.name).as_deref());
    o.text("otel.kind", string(entry.kind).as_deref().map(kind));
    o.text("otel.scope", string(scope.scope.name).as_deref());
    o.text("otel.start", string(entry.start_time_unix_nano).as_deref());
    o.text("otel.end", string(entry.end_time_unix_nano).as_deref());
    let set = |raw| string(raw).filter(|t| t != "0");
    o.text("otel.time", set(entry.time_unix_nano).or_else(|| set(entry.observed_time_unix_nano)).as_deref());
    o.text("otel.event", string(entry.event_name).filter(|name| !name.is_empty()).as_deref());
    let error = entry
        .status
        .as_ref()
        .and_then(|s| string(s.code))
        .is_some_and(|c| c == "2" || c == "STATUS_CODE_ERROR");
    o.raw("otel.error", if error { "true" } else { "false" });
    let links: Vec<String> = entry.links.iter().filter_map(|l| hex(l.span_id)).collect();
    if !links.is_empty() {
        o.text("otel.links", Some(&links.join(",")));
    }
    match &entry.body {
        Some(Value { kvlist_value: Some(pairs), .. }) => {
            pairs.values.iter().for_each(|p| o.value(&p.key, &p.value))
        }
        Some(body) => {
            // A collector that reads files puts the whole line there: a record's own keys stand in it.
            let line = string(body.string_value).unwrap_or_default();
            match serde_json::from_str::<BTreeMap<Cow<'_, str>, &RawValue>>(&line) {
                Ok(members) => members.iter().for_each(|(key, value)| o.raw(key, value.get())),
                // A text line is another program's: the record says only that a file held it.
                Err(_)
                    if entry.attributes.iter().any(|own| own.key.starts_with("log.file."))
                        && text::is_line(line.as_bytes()) =>
                {
                    let time = set(entry.time_unix_nano).or_else(|| set(entry.observed_time_unix_nano));
                    let at = time.and_then(|time| clock::epoch(&time, 1));
                    return Inner::new(line.as_bytes(), Shipped { at, ..Shipped::default() });
                }
                Err(_) => o.value("otel.body", body),
            }
        }
        None => {}
    }
    Inner::new(o.finish(), Shipped::default())
}

/// Span kinds are numbers or names.
fn kind(kind: &str) -> &str {
    match kind {
        "1" | "SPAN_KIND_INTERNAL" => "internal",
        "2" | "SPAN_KIND_SERVER" => "server",
        "3" | "SPAN_KIND_CLIENT" => "client",
        "4" | "SPAN_KIND_PRODUCER" => "producer",
        "5" | "SPAN_KIND_CONSUMER" => "consumer",
        _ => "unspecified",
    }
}

/// A flat JSON object being written.
#[derive(Default)]
pub(super) struct Flat {
    out: String,
}

impl Flat {
    pub(super) fn raw(&mut self, key: &str, json: &str) {
        self.out.push(if self.out.is_empty() { '{' } else { ',' });
        quote(&mut self.out, key);
        self.out.push(':');
        self.out.push_str(json);
    }

    pub(super) fn text(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            let mut quoted = String::new();
            quote(&mut quoted, text);
            self.raw(key, &quoted);
        }
    }

    fn value(&mut self, key: &str, value: &Value<'_>) {
        let mut json = String::new();
        write_value(&mut json, value, 0);
        self.raw(key, &json);
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        if self.out.is_empty() {
            self.out.push('{');
        }
        self.out.push('}');
        self.out.into_bytes()
    }
}

fn quote(out: &mut String, text: &str) {
    out.push_str(&serde_json::to_string(text).expect("a string is always JSON"));
}

fn write_value(out: &mut String, value: &Value<'_>, depth: usize) {
    if let Some(raw) = value.string_value.or(value.double_value).or(value.bool_value) {
        out.push_str(raw.get());
    } else if let Some(int) = string(value.int_value) {
        // A decimal string from the collector, a number in hand-written files.
        if int.parse::<i64>().is_ok() { out.push_str(&int) } else { quote(out, &int) }
    } else if let Some(list) = value.array_value.as_ref().filter(|_| depth < 32) {
        out.push('[');
        for (i, one) in list.values.iter().enumerate() {
            out.push_str(if i > 0 { "," } else { "" });
            write_value(out, one, depth + 1);
        }
        out.push(']');
    } else if let Some(pairs) = value.kvlist_value.as_ref().filter(|_| depth < 32) {
        out.push('{');
        for (i, pair) in pairs.values.iter().enumerate() {
            out.push_str(if i > 0 { "," } else { "" });
            quote(out, &pair.key);
            out.push(':');
            write_value(out, &pair.value, depth + 1);
        }
        out.push('}');
    } else {
        out.push_str("null");
    }
}
