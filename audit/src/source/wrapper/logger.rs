//! Lines of a program's logger as text: time, level, logger, message in the orders that Python, Logback and Spring Boot
//! write them.
//! Knows the head of such a line, and gives it on as the record that a JSON formatter would have written of it.

use super::{Inner, Peeled};
use crate::source::record::Shipped;
use regex::Regex;
use serde_json::json;
use std::sync::LazyLock;

/// Behind the time: `- a.logger - INFO - text`, `INFO a.logger: text`, `[thread] INFO a.logger - text`,
/// ` INFO 1 --- [app] [thread] a.logger : text`, ` INFO [app,trace,span] 1 --- [thread] a.logger : text`, `[INFO] a.logger: text`, `| INFO | a.logger:function:line - text`.
static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let level = "TRACE|DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL";
    let time = r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)";
    let dashes = format!(r"- ([\w.]+) - ({level}) - ");
    let usual = format!(
        r"(?:\[[^\]]*\] )?({level})\s+(?:\[[^\]]*\] )?(?:\d+ --- )?(?:\[[^\]]*\] )*([\w.$]+)(?::\d+)?(?: ?(?::|--?))? "
    );
    let bracket = format!(r"\[({level})\s*\] ([\w.$]+)(?::\d+)?(?: ?(?::|--?))? ");
    let bars = format!(r"\| ?({level})\s*\| ([\w.$]+)(?::[\w<>]+)?(?::\d+)? (?:\||-) ");
    Regex::new(&format!(r"(?s)^\[?{time}\]?\s+(?:{dashes}|{usual}|{bracket}|{bars})(.*)$")).ok()
});

pub(super) fn peel(text: &[u8]) -> Option<Peeled> {
    if !text.strip_prefix(b"[").unwrap_or(text).first()?.is_ascii_digit() {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    let found = LINE.as_ref()?.captures(text)?;
    let group = |number| found.get(number).map(|part| part.as_str());
    let level = [3, 4, 6, 8].into_iter().find_map(group)?;
    let logger = [2, 5, 7, 9].into_iter().find_map(group)?.trim_end_matches('.');
    let record = json!({
        "timestamp": group(1)?,
        "level": level,
        "logger": logger,
        "message": group(10)?,
    });
    Some(Peeled::Inner("logger text", vec![Inner::new(record.to_string(), Shipped::default())]))
}
