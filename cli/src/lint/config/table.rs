//! A table of a configuration file, with the place of every key and value.
//! Knows TOML and misspelt words; no key by name.

use super::super::Misuse;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use unbroken_lint::spelling::nearest;

/// Something that means nothing, and where.
#[derive(Debug)]
pub(super) struct Wrong {
    message: String,
    help: String,
    span: Range<usize>,
}

impl Wrong {
    pub(super) fn new(message: impl Into<String>, help: impl Into<String>, span: Range<usize>) -> Wrong {
        Wrong { message: message.into(), help: help.into(), span }
    }

    /// A word that is none of `known`.
    pub(super) fn word(word: &str, span: Range<usize>, what: &str, known: &[&str]) -> Wrong {
        let help = match nearest(word, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.len() <= 8 => format!("known are `{}`", known.join("`, `")),
            None => "run `unbroken rules` for the names".to_owned(),
        };
        let word: String = word.chars().take(40).collect();
        Wrong::new(format!("`{word}` is not a known {what}"), help, span)
    }

    pub(super) fn at(self, file: &str, text: &str) -> Misuse {
        let before = text.get(..self.span.start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Misuse { message: format!("{file}:{line}:{column}: {}", self.message), help: self.help }
    }
}

/// A table, by reference or owned.
pub(super) struct Table<'a> {
    rows: Vec<(Spanned<String>, Spanned<DeValue<'a>>)>,
    span: Range<usize>,
}

impl<'a> Table<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Table<'a>, Wrong> {
        let table = DeTable::parse(text).map_err(|error| {
            let message = error.message().lines().next().unwrap_or_default().to_owned();
            Wrong::new(format!("not TOML: {message}"), "mend the syntax", error.span().unwrap_or(0..0))
        })?;
        let span = table.span();
        Ok(Table::of(table.into_inner(), span))
    }

    fn of(table: DeTable<'a>, span: Range<usize>) -> Table<'a> {
        let mut rows: Vec<_> = table
            .into_iter()
            .map(|(key, value)| (Spanned::new(key.span(), key.get_ref().to_string()), value))
            .collect();
        // In the order of the file, so that the first mistake in it is the one that is told.
        rows.sort_by_key(|(key, _)| key.span().start);
        Table { rows, span }
    }

    pub(super) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Refuses every other key.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), Wrong> {
        match self.rows.iter().find(|(key, _)| !known.contains(&key.get_ref().as_str())) {
            Some((key, _)) => Err(Wrong::word(key.get_ref(), key.span(), "key", known)),
            None => Ok(()),
        }
    }

    fn value(&self, key: &str) -> Option<&Spanned<DeValue<'a>>> {
        self.rows.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
    }

    pub(super) fn table(&self, key: &str) -> Result<Option<Table<'a>>, Wrong> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Table(table) => Ok(Some(Table::of(table.clone(), value.span()))),
            _ => Err(expected(key, "a table", value.span())),
        }
    }

    pub(super) fn tables(&self, key: &str) -> Result<Vec<Table<'a>>, Wrong> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let DeValue::Array(items) = value.get_ref() else {
            return Err(expected(key, "a list of tables, each begun by `[[…]]`", value.span()));
        };
        let table = |item: &Spanned<DeValue<'a>>| match item.get_ref() {
            DeValue::Table(table) => Ok(Table::of(table.clone(), item.span())),
            _ => Err(expected(key, "a list of tables, each begun by `[[…]]`", item.span())),
        };
        items.iter().map(table).collect()
    }

    pub(super) fn string(&self, key: &str) -> Result<Option<(String, Range<usize>)>, Wrong> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::String(text) => Ok(Some((text.to_string(), value.span()))),
            _ => Err(expected(key, "a string", value.span())),
        }
    }

    /// A day, as a TOML date or a string, in the form `2026-12-31`.
    pub(super) fn date(&self, key: &str) -> Result<Option<String>, Wrong> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let text = match value.get_ref() {
            DeValue::Datetime(date) => date.to_string(),
            DeValue::String(text) => text.to_string(),
            _ => String::new(),
        };
        let is_day =
            text.parse::<toml::value::Datetime>().is_ok_and(|at| at.date.is_some() && at.time.is_none());
        if is_day { Ok(Some(text)) } else { Err(expected(key, "a day such as 2026-12-31", value.span())) }
    }

    pub(super) fn strings(&self, key: &str) -> Result<Vec<(String, Range<usize>)>, Wrong> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let DeValue::Array(items) = value.get_ref() else {
            return Err(expected(key, "a list of strings", value.span()));
        };
        let text = |item: &Spanned<DeValue<'a>>| match item.get_ref() {
            DeValue::String(text) => Ok((text.to_string(), item.span())),
            _ => Err(expected(key, "a list of strings", item.span())),
        };
        items.iter().map(text).collect()
    }
}

fn expected(key: &str, what: &str, span: Range<usize>) -> Wrong {
    Wrong::new(format!("`{key}` holds something else than {what}"), format!("make `{key}` {what}"), span)
}
