//! Lines of a program's logger as text: time, level, logger, message in the orders that Python, Logback and Spring Boot
//! write them.
//! Knows the head of such a line, and gives it on as the record that a JSON formatter would have written of it.

use super::{Inner, Peeled};
use crate::source::record::Shipped;
use regex::Regex;
use serde_json::json;
use std::sync::LazyLock;

/// `2026-08-14 09:00:00,003 - a.logger - INFO - text`, `… INFO a.logger: text`, `… [thread] INFO a.logger - text`,
/// `…  INFO 1 --- [app] [thread] a.logger : text`.
static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let level = "TRACE|DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL";
    Regex::new(&format!(
        r"(?s)^(\d{{4}}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{{1,9}})?(?:Z|[+-]\d\d:?\d\d)?)\s+(?:- ([\w.]+) - ({level}) - |(?:\[[^\]]*\] )?({level})\s+(?:\d+ --- )?(?:\[[^\]]*\] )*([\w.$]+)(?: ?[:-])? )(.*)$"
    ))
    .ok()
});

pub(super) fn peel(text: &[u8]) -> Option<Peeled> {
    if !text.first()?.is_ascii_digit() {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    let found = LINE.as_ref()?.captures(text)?;
    let group = |number| found.get(number).map(|part| part.as_str());
    let record = json!({
        "timestamp": group(1)?,
        "level": group(3).or(group(4))?,
        "logger": group(2).or(group(5))?.trim_end_matches('.'),
        "message": group(6)?,
    });
    Some(Peeled::Inner("logger text", vec![Inner::new(record.to_string(), Shipped::default())]))
}
