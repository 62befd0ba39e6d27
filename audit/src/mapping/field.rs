//! Fields of a mapping made ready to read, and conditions on them.
//! Knows the ways a key can be written; reading is `value`'s affair.

use super::MappingError;
use super::file::{Condition, Field, FullField, HeaderPlace, Headers};
use super::slot::{Step, Tree};
use super::value::{Choice, Source};
use regex::Regex;

pub use super::value::{Row, Value};

/// Compiles the fields of one mapping.
pub struct Compiler<'f> {
    /// The keys wanted so far.
    pub tree: Tree,
    /// Where headers stand.
    pub headers: &'f Headers,
    /// Texts that mean "no value".
    pub absent: Vec<String>,
}

impl Compiler<'_> {
    /// Compiles a field; none gives an empty value.
    ///
    /// # Errors
    /// An expression, step, unit or format that is none.
    pub fn value(&mut self, field: Option<&Field>) -> Result<Value, MappingError> {
        let mut value = Value::default();
        if let Some(field) = field {
            self.choices(field, &mut value.choices)?;
        }
        Ok(value)
    }

    /// A field, or the header `name` of the request (or response) where the file says where headers stand.
    ///
    /// # Errors
    /// As [`Compiler::value`].
    pub fn value_or_header(
        &mut self,
        field: Option<&Field>,
        side: &str,
        name: &str,
    ) -> Result<Value, MappingError> {
        let mut value = self.value(field)?;
        let source = self.header(&format!("{side}:{name}"))?;
        let place = if side == "request" { &self.headers.request } else { &self.headers.response };
        if !matches!(source, Source::Nothing) {
            let of_map = place.as_ref().is_some_and(|p| p.style != "prefix");
            value.choices.push(Choice::of_header(source, of_map));
        }
        Ok(value)
    }

    fn choices(&mut self, field: &Field, into: &mut Vec<Choice>) -> Result<(), MappingError> {
        let full = match field {
            Field::Key(key) => return self.key(key, &FullField::default(), into),
            Field::Full(full) => full,
        };
        for field in &full.first {
            match field {
                // A plain key is read in the way that is said of all.
                Field::Key(key) => self.key(key, full, into)?,
                Field::Full(_) => self.choices(field, into)?,
            }
        }
        if let Some(key) = &full.key {
            self.key(key, full, into)?;
        }
        if let Some(header) = &full.header {
            let source = self.header(header)?;
            into.push(Choice::with(source, full)?);
        }
        if let Some(text) = &full.value {
            into.push(Choice::with(Source::Constant(text.clone()), full)?);
        }
        Ok(())
    }

    /// A pointer, a group, or a key in every reading of its dots.
    fn key(&mut self, key: &str, full: &FullField, into: &mut Vec<Choice>) -> Result<(), MappingError> {
        if let Some(group) = key.strip_prefix('$') {
            into.push(Choice::with(Source::Group(group.to_owned()), full)?);
            return Ok(());
        }
        for path in paths(key) {
            let slot = self.tree.want(&path);
            into.push(Choice::with(Source::Slot(slot), full)?);
        }
        Ok(())
    }

    fn header(&mut self, name: &str) -> Result<Source, MappingError> {
        let (side, name) = name
            .split_once(':')
            .ok_or_else(|| MappingError::value("header", name, "request:NAME or response:NAME"))?;
        let place = match side {
            "request" => &self.headers.request,
            "response" => &self.headers.response,
            _ => return Err(MappingError::value("header", name, "request:NAME or response:NAME")),
        };
        let Some(HeaderPlace { style, at }) = place else { return Ok(Source::Nothing) };
        let mut path = paths(at).pop().unwrap_or_default();
        Ok(match style.as_str() {
            "map" => {
                path.push(Step::Folded(name.to_owned()));
                Source::Slot(self.tree.want(&path))
            }
            "prefix" => Source::Slot(self.tree.want(&[Step::Folded(format!("{at}{name}"))])),
            "pairs" => Source::Pair(self.tree.want(&path), name.to_owned()),
            other => return Err(MappingError::value("style", other, "map, prefix or pairs")),
        })
    }

    /// Compiles conditions.
    ///
    /// # Errors
    /// As [`Compiler::value`].
    pub fn tests(&mut self, conditions: &[Condition]) -> Result<Vec<Test>, MappingError> {
        conditions
            .iter()
            .map(|c| {
                Ok(Test {
                    value: self.value(Some(&c.field))?,
                    eq: c.eq.clone(),
                    one_of: c.one_of.clone(),
                    none_of: c.none_of.clone(),
                    regex: c.regex.as_deref().map(expression).transpose()?,
                    present: c.present,
                })
            })
            .collect()
    }
}

/// Every way to read a key: as it is written, and with some of its dots as steps down.
pub fn paths(key: &str) -> Vec<Vec<Step>> {
    if let Some(pointer) = key.strip_prefix('/') {
        let steps = pointer.split('/').map(|s| Step::Exact(s.replace("~1", "/").replace("~0", "~")));
        return vec![steps.collect()];
    }
    let parts: Vec<&str> = key.split('.').collect();
    // Exporters expand some dots of a name and not others; more than five dots are read as written or in full.
    let dots = parts.len() - 1;
    let readings: Vec<u32> = if dots <= 5 { (0..1 << dots).collect() } else { vec![0, u32::MAX] };
    readings
        .iter()
        .map(|cuts| {
            let mut path = vec![parts[0].to_owned()];
            for (i, part) in parts[1..].iter().enumerate() {
                if cuts >> i.min(31) & 1 == 1 {
                    path.push((*part).to_owned());
                } else {
                    let last = path.last_mut().expect("the path has a first step");
                    last.push('.');
                    last.push_str(part);
                }
            }
            path.into_iter().map(Step::Exact).collect()
        })
        .collect()
}

/// Compiles an expression (linear time, whatever the input).
///
/// # Errors
/// It is none.
pub fn expression(text: &str) -> Result<Regex, MappingError> {
    Regex::new(text).map_err(|e| MappingError::Expression { text: text.to_owned(), why: e.to_string() })
}

/// A compiled condition.
#[derive(Debug)]
pub struct Test {
    value: Value,
    eq: Option<String>,
    one_of: Vec<String>,
    none_of: Vec<String>,
    regex: Option<Regex>,
    present: Option<bool>,
}

impl Test {
    /// Whether it holds. `eq = ""` holds for a key that is there and empty.
    pub fn holds(&self, row: &Row<'_>, absent: &[String]) -> bool {
        if let Some(present) = self.present {
            return self.value.json(row, absent).is_some() == present;
        }
        let Some(text) = self.value.json(row, &[]) else { return !self.none_of.is_empty() };
        self.eq.as_ref().is_none_or(|eq| *eq == text)
            && !self.none_of.iter().any(|one| *one == text)
            && (self.one_of.is_empty() || self.one_of.iter().any(|one| *one == text))
            && self.regex.as_ref().is_none_or(|regex| regex.is_match(&text))
    }
}

/// Whether all hold.
pub fn all(tests: &[Test], row: &Row<'_>, absent: &[String]) -> bool {
    tests.iter().all(|test| test.holds(row, absent))
}
