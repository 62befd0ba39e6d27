//! The keys that a mapping wants, as a tree, and one pass over a record that collects them.
//! Knows JSON's shape; values stay as they are written, borrowed from the record.

use super::json::{self, Broken, Raw};
use std::borrow::Cow;

/// Where a wanted value's text goes.
pub type Slot = usize;
/// The values of one record, by slot.
pub type Slots<'a> = Vec<Option<Raw<'a>>>;

/// The room of values that are done with, for those of another text.
pub(super) fn again<'a>(slots: Slots<'_>) -> Slots<'a> {
    let mut slots = slots;
    slots.clear();
    // Nothing is left that would be mapped; collecting in place keeps the room.
    slots.into_iter().map(|_| None).collect()
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A key as written.
    Exact(String),
    /// A header's name: case aside, `-` and `_` alike.
    Folded(String),
}

/// Buckets of a node's keys.
const BUCKETS: usize = 32;

fn bucket(key: &str) -> usize {
    match key.as_bytes() {
        [] => 0,
        [first, .., last] => (key.len() * 5 + usize::from(*first) * 3 + usize::from(*last)) % BUCKETS,
        [only] => usize::from(*only) % BUCKETS,
    }
}

#[derive(Debug, Default)]
struct Node {
    exact: Vec<(Box<str>, usize)>,
    /// Indexes into `exact` by length and outer letters: a key meets one name at most, mostly none.
    buckets: [Vec<u16>; BUCKETS],
    folded: Vec<(Box<str>, usize)>,
    slot: Option<Slot>,
}

/// The wanted keys.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    slots: usize,
}

impl Default for Tree {
    fn default() -> Self {
        Tree { nodes: vec![Node::default()], slots: 0 }
    }
}

impl Tree {
    /// Wants the value at `path`; the same path has one slot.
    pub fn want(&mut self, path: &[Step]) -> Slot {
        let mut at = 0;
        for step in path {
            at = self.child(at, step);
        }
        *self.nodes[at].slot.get_or_insert_with(|| {
            self.slots += 1;
            self.slots - 1
        })
    }

    fn child(&mut self, at: usize, step: &Step) -> usize {
        let next = self.nodes.len();
        let node = &mut self.nodes[at];
        let (list, name) = match step {
            Step::Exact(name) => (&mut node.exact, name.clone()),
            Step::Folded(name) => (&mut node.folded, fold(name)),
        };
        if let Some((_, child)) = list.iter().find(|(known, _)| **known == name) {
            return *child;
        }
        if matches!(step, Step::Exact(_)) {
            let index = u16::try_from(list.len()).expect("a mapping names fewer than 65536 keys");
            node.buckets[bucket(&name)].push(index);
        }
        list.push((name.into(), next));
        self.nodes.push(Node::default());
        next
    }

    /// The node of a record's own names.
    pub(super) const ROOT: usize = 0;

    /// Makes a place for every wanted value, all empty.
    pub(super) fn clear(&self, slots: &mut Slots<'_>) {
        slots.clear();
        slots.resize(self.slots, None);
    }

    /// The node of a path whose value is wanted.
    pub(crate) fn node(&self, path: &[Step]) -> Option<usize> {
        path.iter().try_fold(0, |at, step| {
            let node = &self.nodes[at];
            let (list, name) = match step {
                Step::Exact(name) => (&node.exact, name.clone()),
                Step::Folded(name) => (&node.folded, fold(name)),
            };
            list.iter().find(|(known, _)| **known == name).map(|(_, child)| *child)
        })
    }

    /// A place for every wanted value of a text record.
    pub fn empty_texts<'a>(&self) -> Vec<Option<&'a str>> {
        vec![None; self.slots]
    }

    /// Collects the wanted values of `record`, a JSON object.
    ///
    /// # Errors
    /// The record is no JSON object.
    pub fn collect<'a>(&self, record: &'a [u8], slots: &mut Slots<'a>) -> Result<(), Broken> {
        self.collect_text(std::str::from_utf8(record).map_err(|_| Broken::Foreign)?, slots)
    }

    /// The same for text.
    ///
    /// # Errors
    /// As [`Tree::collect`].
    pub fn collect_text<'a>(&self, record: &'a str, slots: &mut Slots<'a>) -> Result<(), Broken> {
        self.clear(slots);
        let start = record.len() - record.trim_ascii_start().len();
        let end = self.walk(record, start, 0, slots)?;
        if record[end..].trim_ascii().is_empty() { Ok(()) } else { Err(Broken::Foreign) }
    }

    /// Collects below another value, whose own keys begin at the root.
    pub fn collect_more<'a>(&self, record: &'a str, slots: &mut Slots<'a>) {
        let start = record.len() - record.trim_ascii_start().len();
        // A nested text that is no JSON leaves its slots empty.
        let _ = self.walk(record, start, 0, slots);
    }

    /// Collects from a text that stands for the object at `node`.
    pub(crate) fn collect_below<'a>(&self, node: usize, record: &'a str, slots: &mut Slots<'a>) {
        let start = record.len() - record.trim_ascii_start().len();
        let _ = self.walk(record, start, node, slots);
    }

    /// Walks the object at `at`, whose keys are those of the node, and gives its end.
    fn walk<'a>(
        &self,
        record: &'a str,
        at: usize,
        node: usize,
        slots: &mut Slots<'a>,
    ) -> Result<usize, Broken> {
        json::object(record, at, &mut |key, value| {
            let Some(child) = self.find(node, key) else { return json::skip(record, value) };
            let wanted = &self.nodes[child];
            let (raw, end) = if self.is_inner(child) && record.as_bytes().get(value) == Some(&b'{') {
                let end = self.walk(record, value, child, slots)?;
                (json::no_string(record, value, end), end)
            } else {
                json::value_at(record, value)?
            };
            if let Some(slot) = wanted.slot {
                fill(slots, slot, raw);
            }
            Ok(end)
        })
    }

    /// A node's slot.
    pub(super) fn slot(&self, at: usize) -> Option<Slot> {
        self.nodes[at].slot
    }

    /// Whether names below a node are wanted.
    pub(super) fn is_inner(&self, at: usize) -> bool {
        !self.nodes[at].exact.is_empty() || !self.nodes[at].folded.is_empty()
    }

    /// The node below another one that a key leads to.
    pub(super) fn find(&self, at: usize, key: &str) -> Option<usize> {
        let node = &self.nodes[at];
        for index in &node.buckets[bucket(key)] {
            let (known, child) = &node.exact[usize::from(*index)];
            if **known == *key {
                return Some(*child);
            }
        }
        // A dozen header names at most: comparing in place is quicker than folding each key into a string.
        node.folded.iter().find(|(known, _)| folds_to(key, known)).map(|(_, child)| *child)
    }
}

/// Puts a value into its slot; the first that is not null stays.
#[inline]
pub(super) fn fill<'a>(slots: &mut Slots<'a>, slot: Slot, value: Raw<'a>) {
    if slots[slot].is_none_or(|known| known.get() == "null") {
        slots[slot] = Some(value);
    }
}

/// A header's name as it is compared.
pub fn fold(name: &str) -> String {
    name.chars().map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
}

/// Whether `name` is `folded` when case is put aside and `-` is taken for `_`.
fn folds_to(name: &str, folded: &str) -> bool {
    let same = |(a, b): (u8, u8)| a == b || a.to_ascii_lowercase() == b || (a == b'-' && b == b'_');
    name.len() == folded.len() && name.bytes().zip(folded.bytes()).all(same)
}

/// The text of a string, number or boolean, as written; the first element's, if it is a list (headers).
pub fn text(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    match raw.get().as_bytes().first()? {
        b'"' => raw.string(),
        b'[' => {
            let mut first = None;
            json::elements(raw.get(), |one| _ = first.get_or_insert(one)).ok()?;
            first.filter(|one| !one.get().starts_with('[')).and_then(text)
        }
        b'{' | b'n' => None,
        _ => Some(Cow::Borrowed(raw.get())),
    }
}
