//! A field's value in one record: where it stands and the steps that make it plain.
//! Knows values, not what they mean.

use super::MappingError;
use super::clock;
use super::field::{expression, paths};
use super::file::FullField;
use super::json::Raw;
use super::literal;
use super::slot::{self, Slot, Slots, Tree};
use crate::event::Nanos;
use regex::Regex;
use std::borrow::Cow;

/// One record's values as a plan sees them.
#[derive(Debug)]
pub struct Row<'a> {
    /// By slot, for JSON records.
    pub slots: Slots<'a>,
    /// By slot, for text records.
    pub texts: Vec<Option<&'a str>>,
    /// Groups of the line rule being read.
    pub groups: Option<regex::Captures<'a>>,
}

/// A compiled field. Empty: the log does not carry it.
#[derive(Debug, Default)]
pub struct Value {
    pub(super) choices: Vec<Choice>,
}

#[derive(Debug)]
pub(super) struct Choice {
    source: Source,
    regex: Option<Regex>,
    decode: Vec<Decode>,
    unit: Option<Unit>,
    format: Option<TimeFormat>,
    of_map: bool,
    /// Where a JSON value stands that is taken as it is: nearly all fields of nearly all logs. [`NONE`]: there are steps.
    plain: Slot,
}

/// No slot.
const NONE: Slot = Slot::MAX;

#[derive(Debug)]
pub(super) enum Source {
    Slot(Slot),
    Pair(Slot, String),
    Group(String),
    Constant(String),
    /// A header alone: an alias of the operator's own text would be no header.
    Nothing,
}

#[derive(Debug)]
pub(super) enum Decode {
    Json,
    /// `=?base64?…?=`, as the headers of 2026-07-28 may be.
    Base64,
    /// All of it.
    Base64Whole,
    Rust,
    Python,
    Pydantic,
    Pointer(String),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Unit {
    Nanos(Nanos),
    Text,
    /// As zap's encoders write it.
    Zap,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum TimeFormat {
    Epoch(Nanos),
    EpochAny,
    Rfc3339,
    Clf,
    Slashed,
    Any,
}

/// A time as a field gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The time.
    pub at: Nanos,
    /// It had a zone, or is an epoch.
    pub zoned: bool,
    /// Its resolution.
    pub precision: Nanos,
}

impl Choice {
    /// A header; `of_map`: headers stand in a map or list of their own.
    pub(super) fn of_header(source: Source, of_map: bool) -> Self {
        let plain = if let Source::Slot(slot) = source { slot } else { NONE };
        Choice { source, regex: None, decode: Vec::new(), unit: None, format: None, of_map, plain }
    }

    pub(super) fn with(source: Source, full: &FullField) -> Result<Self, MappingError> {
        let unit = full.unit.as_deref().map(|name| match name {
            "text" => Ok(Unit::Text),
            "zap" => Ok(Unit::Zap),
            other => clock::unit_of(other)
                .map(Unit::Nanos)
                .ok_or_else(|| MappingError::value("unit", other, "ns, us, ms, s, text or zap")),
        });
        let format = full.format.as_deref().map(|name| {
            Ok(match name {
                "epoch_s" => TimeFormat::Epoch(clock::SECOND),
                "epoch_ms" => TimeFormat::Epoch(1_000_000),
                "epoch_us" => TimeFormat::Epoch(1_000),
                "epoch_ns" => TimeFormat::Epoch(1),
                "epoch" => TimeFormat::EpochAny,
                "rfc3339" => TimeFormat::Rfc3339,
                "clf" => TimeFormat::Clf,
                "slashed" => TimeFormat::Slashed,
                "any" => TimeFormat::Any,
                other => {
                    return Err(MappingError::value(
                        "format",
                        other,
                        "epoch, epoch_s, rfc3339, clf, slashed or any",
                    ));
                }
            })
        });
        let plain = match source {
            Source::Slot(slot) if full.regex.is_none() && full.decode.is_empty() => slot,
            _ => NONE,
        };
        Ok(Choice {
            plain,
            source,
            regex: full.regex.as_deref().map(expression).transpose()?,
            decode: full.decode.iter().map(|d| decode(d)).collect::<Result<_, _>>()?,
            unit: unit.transpose()?,
            format: format.transpose()?,
            of_map: false,
        })
    }

    /// The plain text; JSON stays JSON.
    #[inline]
    fn read<'a>(&'a self, row: &Row<'a>, absent: &[String], json: bool) -> Option<Cow<'a, str>> {
        // Most of what a mapping names is not there, or a string without escapes.
        if let (Some(raw), true) = (row.slots.get(self.plain), row.texts.is_empty()) {
            let raw = (*raw)?;
            if let Some(text) = raw.plain_string() {
                return (!is_absent(absent, text)).then_some(Cow::Borrowed(text));
            }
            if raw.is_null() {
                return None;
            }
        }
        self.read_in_steps(row, absent, json)
    }

    fn read_in_steps<'a>(&'a self, row: &Row<'a>, absent: &[String], json: bool) -> Option<Cow<'a, str>> {
        let mut text = match &self.source {
            Source::Slot(slot) => match row.texts.get(*slot) {
                Some(text) => Cow::Borrowed((*text)?),
                None => plain(row.slots.get(*slot).copied().flatten()?, json || !self.decode.is_empty())?,
            },
            Source::Pair(slot, name) => super::pairs::pair(row.slots.get(*slot).copied().flatten()?, name)?,
            Source::Group(name) => Cow::Borrowed(row.groups.as_ref()?.name(name)?.as_str()),
            Source::Constant(text) => Cow::Borrowed(text.as_str()),
            Source::Nothing => return None,
        };
        if is_absent(absent, &text) {
            return None;
        }
        if let Some(regex) = &self.regex {
            let (start, end) = {
                let found = regex.captures(&text)?;
                let group = found.get(1).or_else(|| found.get(0))?;
                (group.start(), group.end())
            };
            text = cut(text, start, end);
        }
        for step in &self.decode {
            text = step.apply(text)?;
        }
        Some(text)
    }
}

/// Whether a text says that there is no value.
#[inline]
fn is_absent(absent: &[String], text: &str) -> bool {
    absent.iter().any(|one| one.len() == text.len() && one == text)
}

fn cut(text: Cow<'_, str>, start: usize, end: usize) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[start..end]),
        Cow::Owned(text) => Cow::Owned(text[start..end].to_owned()),
    }
}

fn plain(raw: Raw<'_>, json: bool) -> Option<Cow<'_, str>> {
    match raw.get().as_bytes().first()? {
        b'{' | b'[' if json => Some(Cow::Borrowed(raw.get())),
        _ => slot::text(raw),
    }
}

fn decode(name: &str) -> Result<Decode, MappingError> {
    Ok(match name {
        "json" => Decode::Json,
        "mcp_base64" => Decode::Base64,
        "base64" => Decode::Base64Whole,
        "rust_debug" => Decode::Rust,
        "python" => Decode::Python,
        "pydantic" => Decode::Pydantic,
        other => match other.strip_prefix("ptr:") {
            Some(pointer) => Decode::Pointer(pointer.to_owned()),
            None => {
                return Err(MappingError::value(
                    "decode",
                    other,
                    "json, base64, mcp_base64, rust_debug, python, pydantic or ptr:/…",
                ));
            }
        },
    })
}

impl Decode {
    fn apply<'a>(&self, text: Cow<'a, str>) -> Option<Cow<'a, str>> {
        match self {
            Decode::Json if text.starts_with('"') => {
                serde_json::from_str::<String>(&text).ok().map(Cow::Owned)
            }
            Decode::Json => Some(text),
            Decode::Base64 => Some(match text.strip_prefix("=?base64?").and_then(|t| t.strip_suffix("?=")) {
                Some(code) => Cow::Owned(String::from_utf8(base64(code)?).ok()?),
                None => text,
            }),
            Decode::Base64Whole => String::from_utf8(base64(&text)?).ok().map(Cow::Owned),
            Decode::Rust => literal::rust(&text).map(Cow::Owned),
            Decode::Python => literal::python(&text).map(Cow::Owned),
            Decode::Pydantic => literal::pydantic(&text).map(Cow::Owned),
            Decode::Pointer(pointer) => {
                let mut tree = Tree::default();
                let slot = tree.want(&paths(pointer)[0]);
                let mut slots = Slots::new();
                tree.collect(text.as_bytes(), &mut slots).ok()?;
                plain(slots[slot]?, true).map(|t| Cow::Owned(t.into_owned()))
            }
        }
    }
}

/// Decodes base64 of either alphabet; none if it is none.
pub(crate) fn base64(text: &str) -> Option<Vec<u8>> {
    let (mut out, mut bits, mut have) = (Vec::with_capacity(text.len() * 3 / 4), 0u32, 0);
    for byte in text.bytes().filter(|b| *b != b'=') {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(six)) & 0xff_ffff;
        have += 6;
        if have >= 8 {
            have -= 8;
            out.push((bits >> have) as u8);
        }
    }
    Some(out)
}

impl Value {
    /// Whether the mapping gives this field at all.
    pub fn is_given(&self) -> bool {
        !self.choices.is_empty()
    }

    /// The slots that it may stand in.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> {
        self.choices.iter().filter_map(|choice| match choice.source {
            Source::Slot(slot) | Source::Pair(slot, _) => Some(slot),
            _ => None,
        })
    }

    /// Whether the record has the key, also with an absent value.
    pub fn is_logged(&self, row: &Row<'_>) -> bool {
        self.choices.iter().any(|c| match &c.source {
            Source::Slot(slot) | Source::Pair(slot, _) => {
                row.slots.get(*slot).is_some_and(Option::is_some)
                    || row.texts.get(*slot).is_some_and(Option::is_some)
            }
            _ => false,
        })
    }

    /// Whether the first value that the record has is written without quotes.
    pub fn is_bare(&self, row: &Row<'_>) -> bool {
        self.choices
            .iter()
            .find_map(|c| match &c.source {
                Source::Slot(slot) => {
                    row.slots.get(*slot).copied().flatten().map(|raw| !raw.get().starts_with('"'))
                }
                _ => None,
            })
            .unwrap_or(false)
    }

    /// Whether the value is looked for among headers that stand in a map or list of their own: there, none is none.
    pub fn is_header(&self) -> bool {
        self.choices.iter().any(|c| c.of_map)
    }

    /// The first present value as text.
    #[inline]
    pub fn text<'a>(&'a self, row: &Row<'a>, absent: &[String]) -> Option<Cow<'a, str>> {
        self.choices.iter().find_map(|c| c.read(row, absent, false))
    }

    /// The first present value; objects and lists as JSON text.
    #[inline]
    pub fn json<'a>(&'a self, row: &Row<'a>, absent: &[String]) -> Option<Cow<'a, str>> {
        self.choices.iter().find_map(|c| c.read(row, absent, true))
    }

    /// The value as a JSON object within a string, between its quotes, with its quotes escaped; none if it may be
    /// something else.
    pub(super) fn within<'a>(&self, row: &Row<'a>) -> Option<&'a str> {
        let (choice, raw) = self.choices.iter().find_map(|choice| match &choice.source {
            Source::Slot(slot) => Some((choice, row.slots.get(*slot).copied().flatten()?)),
            _ => None,
        })?;
        let plain = self.choices.iter().all(|choice| matches!(choice.source, Source::Slot(_)));
        let as_it_is = plain && choice.plain != NONE && row.texts.is_empty();
        raw.get().strip_prefix('"')?.strip_suffix('"').filter(|text| as_it_is && text.starts_with("{\\\""))
    }

    /// A whole number, however it is written ([`clock::whole`]).
    pub fn number(&self, row: &Row<'_>, absent: &[String]) -> Option<u64> {
        let text = self.text(row, absent)?;
        text.parse().ok().or_else(|| clock::whole(&text))
    }

    /// A duration; seconds where no unit is given.
    pub fn duration(&self, row: &Row<'_>, absent: &[String]) -> Option<Nanos> {
        self.choices.iter().find_map(|c| {
            let text = c.read(row, absent, false)?;
            let nanos = match c.unit {
                Some(Unit::Text) => clock::span(&text),
                Some(Unit::Zap) => clock::zap_span(&text),
                Some(Unit::Nanos(unit)) => clock::epoch(&text, unit),
                None => clock::epoch(&text, clock::SECOND),
            };
            nanos.filter(|n| *n >= 0)
        })
    }

    /// A time.
    pub fn time(&self, row: &Row<'_>, absent: &[String]) -> Option<Stamp> {
        self.choices.iter().find_map(|c| stamp(&c.read(row, absent, false)?, c.format))
    }
}

fn stamp(text: &str, format: Option<TimeFormat>) -> Option<Stamp> {
    let zoned = |(at, zoned)| Stamp { at, zoned, precision: precision(text) };
    let epoch = |unit: Nanos| {
        let decimals = text.split_once('.').map_or(0, |(_, f)| f.len().min(9) as u32);
        clock::epoch(text, unit).map(|at| Stamp {
            at,
            zoned: true,
            precision: (unit / 10i64.pow(decimals)).max(1),
        })
    };
    match format.unwrap_or(TimeFormat::Any) {
        TimeFormat::Epoch(unit) => epoch(unit),
        TimeFormat::EpochAny => epoch(clock::epoch_unit(text)?),
        TimeFormat::Rfc3339 => clock::rfc3339(text).map(zoned),
        TimeFormat::Clf => clock::clf(text).map(zoned),
        TimeFormat::Slashed => clock::slashed(text).map(zoned),
        // What has a dash behind its year is no number.
        TimeFormat::Any if text.as_bytes().get(4) == Some(&b'-') => clock::any_dated(text).map(zoned),
        TimeFormat::Any if clock::epoch_unit(text).is_some() && !text.contains(['-', '/', ':']) => {
            epoch(clock::epoch_unit(text)?)
        }
        TimeFormat::Any => clock::any_dated(text).map(zoned),
    }
}

/// The resolution of a written time: the last digit of its fraction.
fn precision(text: &str) -> Nanos {
    let bytes = text.as_bytes();
    // Most fractions begin behind the seconds of `2026-11-29T14:22:02`.
    let point = match bytes.get(19) {
        Some(b'.' | b',') => Some(19),
        _ => bytes.iter().rposition(|byte| matches!(byte, b'.' | b',')),
    };
    let fraction = point.map_or(&[][..], |at| &bytes[at + 1..]);
    let digits = fraction.iter().take(9).take_while(|byte| byte.is_ascii_digit()).count();
    clock::SECOND / clock::TENS[digits]
}
