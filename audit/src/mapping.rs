//! Mapping files: how the records of a log state MCP facts, declared as data.
//! Knows no program's log; refuses keys that it does not know.
//!
//! The shipped files stand in `audit/mappings/` and are read the same way as a user's.

mod answered;
mod asked;
pub mod clock;
pub mod coverage;
mod ending;
mod exchange;
mod field;
pub mod file;
mod glance;
pub mod guess;
pub mod json;
mod level;
mod line;
mod literal;
mod marks;
mod message;
mod pairs;
mod party;
mod plan;
mod scan;
mod shape;
pub mod slot;
mod stream;
mod trail;
#[cfg(test)]
mod twice;
mod upstream;
mod value;

pub use field::{Compiler, Row, Test, Value, all, expression, paths};
pub(crate) use glance::{CallMark, Desk, info_mark};
pub use plan::Plan;
pub(crate) use value::base64;

/// Why a mapping file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MappingError {
    /// Not TOML, or not of the schema.
    #[error("{what}{suggestion}")]
    Grammar {
        /// The parser's words.
        what: String,
        /// ` (did you mean …?)`, or nothing.
        suggestion: String,
    },
    /// A value outside of its list.
    #[error("{key} cannot be {given:?}: it is {expected}")]
    Value {
        /// The key.
        key: &'static str,
        /// What stands there.
        given: String,
        /// What may stand there.
        expected: &'static str,
    },
    /// An expression that cannot be compiled.
    #[error("{text:?} is no regular expression: {why}")]
    Expression {
        /// The expression.
        text: String,
        /// What is wrong.
        why: String,
    },
    /// Something that has to be there.
    #[error("the mapping has no {0}")]
    Missing(&'static str),
}

impl MappingError {
    pub(crate) fn value(key: &'static str, given: &str, expected: &'static str) -> Self {
        MappingError::Value { key, given: given.to_owned(), expected }
    }
}

/// Reads a mapping file.
///
/// # Errors
/// [`MappingError::Grammar`] with the line, and the key that was probably meant.
pub fn parse(text: &str) -> Result<file::File, MappingError> {
    let file: file::File = toml::from_str(text).map_err(|e| {
        let before = text.get(..e.span().map_or(0, |span| span.start)).unwrap_or_default();
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
        let line = before.matches('\n').count() + 1;
        let what = format!("line {line}, column {column}: {}", e.message().trim_end().replace('\n', ", "));
        let suggestion = suggestion(&what).map(|s| format!(" (did you mean {s}?)")).unwrap_or_default();
        MappingError::Grammar { what, suggestion }
    })?;
    if file.schema != 1 {
        return Err(MappingError::value("schema", &file.schema.to_string(), "1"));
    }
    Ok(file)
}

/// The expected key that is nearest to the unknown one, out of the parser's own words.
fn suggestion(what: &str) -> Option<String> {
    let rest = what.split_once("unknown field `")?.1;
    let (given, rest) = rest.split_once('`')?;
    let expected = rest.split('`').skip(1).step_by(2);
    let near = expected.map(|word| (distance(given, word), word)).min()?;
    (near.0 <= 1 + given.len() / 3).then(|| near.1.to_owned())
}

fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let next = (diagonal + usize::from(x != *y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j + 1] = next;
        }
    }
    row[b.len()]
}
