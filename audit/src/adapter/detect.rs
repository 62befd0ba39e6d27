//! Which format a record is of, told by its keys and a few values (formats.md section 8).
//! Knows signatures only; refuses to choose between formats that fit equally well.

use crate::mapping::slot::{Slot, Slots, Step, Tree};
use crate::mapping::{Compiler, MappingError, Row, Test, all, expression, file};
use regex::Regex;
use std::sync::OnceLock;

/// All signatures, tried on a record in one pass.
pub struct Detector {
    tree: Tree,
    signatures: Vec<Signature>,
}

struct Signature {
    name: String,
    /// Each key with the slots of its readings.
    require: Vec<(String, Vec<Slot>)>,
    any: Vec<Vec<Slot>>,
    any_least: usize,
    reject: Vec<Vec<Slot>>,
    tests: Vec<Test>,
    pattern: Option<Pattern>,
    priority: i32,
}

/// An expression that a line of text is told by, compiled when the first such line comes: most logs are JSON.
struct Pattern {
    text: String,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    fn compile(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| expression(&self.text).ok()).as_ref()
    }
}

/// What a record looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// This format, by its index.
    One(usize),
    /// Two formats fit equally well.
    Tie(usize, usize),
    /// None.
    Unknown,
}

impl Detector {
    /// Compiles the signatures of `files`, in their order.
    ///
    /// # Errors
    /// A condition or pattern that cannot be compiled.
    pub fn compile(files: &[file::File]) -> Result<Self, MappingError> {
        let headers = file::Headers::default();
        let mut c = Compiler { tree: Tree::default(), headers: &headers, absent: Vec::new() };
        let signatures = files.iter().map(|f| signature(f, &mut c)).collect::<Result<_, _>>()?;
        Ok(Detector { tree: c.tree, signatures })
    }

    /// The format of a record.
    pub fn tell(&self, record: &[u8]) -> Verdict {
        if record.first() != Some(&b'{') {
            return self.tell_text(record);
        }
        let mut slots = Slots::new();
        if self.tree.collect(record, &mut slots).is_err() {
            return Verdict::Unknown;
        }
        let row = Row { slots, texts: Vec::new(), groups: None };
        self.best(|s| s.fits(&row))
    }

    fn tell_text(&self, record: &[u8]) -> Verdict {
        let Ok(text) = std::str::from_utf8(record) else { return Verdict::Unknown };
        self.best(|s| s.pattern.as_ref().and_then(Pattern::compile).is_some_and(|p| p.is_match(text)))
    }

    fn best(&self, fits: impl Fn(&Signature) -> bool) -> Verdict {
        let mut verdict = Verdict::Unknown;
        let mut best = i32::MIN;
        for (i, s) in self.signatures.iter().enumerate() {
            if s.priority < best || !fits(s) {
                continue;
            }
            verdict = match verdict {
                Verdict::One(other) if s.priority == best => Verdict::Tie(other, i),
                Verdict::Tie(a, b) if s.priority == best => Verdict::Tie(a, b),
                _ => Verdict::One(i),
            };
            best = s.priority;
        }
        verdict
    }

    /// Compiles what waits for its first use.
    ///
    /// # Errors
    /// A pattern that is no expression.
    #[cfg(test)]
    pub(super) fn compile_all(&self) -> Result<(), MappingError> {
        let patterns = self.signatures.iter().filter_map(|s| s.pattern.as_ref());
        patterns.into_iter().try_for_each(|pattern| expression(&pattern.text).map(|_| ()))
    }

    /// The formats that come nearest to a record that is of none, with the key that is missing.
    pub fn nearest(&self, record: &[u8]) -> Vec<(&str, &str)> {
        let mut slots = Slots::new();
        if self.tree.collect(record, &mut slots).is_err() {
            return Vec::new();
        }
        let row = Row { slots, texts: Vec::new(), groups: None };
        let mut near: Vec<_> = self.signatures.iter().filter_map(|s| s.almost(&row)).collect();
        near.sort_by_key(|(share, name, _)| (std::cmp::Reverse(*share), *name));
        near.into_iter().take(3).map(|(_, name, missing)| (name, missing)).collect()
    }
}

fn signature(f: &file::File, c: &mut Compiler<'_>) -> Result<Signature, MappingError> {
    let d = &f.detect;
    let any: Vec<_> = d.any.iter().map(|k| slots(k, c)).collect();
    Ok(Signature {
        name: f.name.clone(),
        require: d.require.iter().map(|k| (k.clone(), slots(k, c))).collect(),
        any_least: d.any_least.unwrap_or(usize::from(!any.is_empty())),
        any,
        reject: d.reject.iter().map(|k| slots(k, c)).collect(),
        tests: c.tests(&d.conditions)?,
        pattern: f.input.pattern.clone().map(|text| Pattern { text, compiled: OnceLock::new() }),
        priority: d.priority,
    })
}

fn slots(key: &str, c: &mut Compiler<'_>) -> Vec<Slot> {
    crate::mapping::paths(key).iter().map(|path: &Vec<Step>| c.tree.want(path)).collect()
}

impl Signature {
    fn fits(&self, row: &Row<'_>) -> bool {
        let has = |slots: &Vec<Slot>| slots.iter().any(|s| row.slots.get(*s).is_some_and(Option::is_some));
        self.pattern.is_none()
            && self.require.iter().all(|(_, slots)| has(slots))
            && (self.any.is_empty() || self.any.iter().filter(|s| has(s)).count() >= self.any_least)
            && !self.reject.iter().any(has)
            && all(&self.tests, row, &[])
    }

    /// Share of the required keys in percent, if some but not all are there.
    fn almost(&self, row: &Row<'_>) -> Option<(usize, &str, &str)> {
        let has = |slots: &Vec<Slot>| slots.iter().any(|s| row.slots.get(*s).is_some_and(Option::is_some));
        let there = self.require.iter().filter(|(_, s)| has(s)).count();
        let missing = self.require.iter().find(|(_, s)| !has(s)).map(|(key, _)| key.as_str());
        (there > 0).then(|| {
            (there * 100 / self.require.len(), self.name.as_str(), missing.unwrap_or("a value of its kind"))
        })
    }
}
