//! The keys that a mapping wants, as a tree, and one pass over a record that collects them.
//! Knows JSON's shape; values stay as they are written, borrowed from the record.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// Where a wanted value's text goes.
pub type Slot = usize;
/// The values of one record, by slot.
pub type Slots<'a> = Vec<Option<&'a RawValue>>;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A key as written.
    Exact(String),
    /// A header's name: case aside, `-` and `_` alike.
    Folded(String),
}

#[derive(Debug, Default)]
struct Node {
    exact: Vec<(Box<str>, usize)>,
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
        match list.binary_search_by(|(known, _)| (**known).cmp(&name)) {
            Ok(i) => list[i].1,
            Err(i) => {
                list.insert(i, (name.into(), next));
                self.nodes.push(Node::default());
                next
            }
        }
    }

    /// A place for every wanted value.
    pub fn empty_texts<'a>(&self) -> Vec<Option<&'a str>> {
        vec![None; self.slots]
    }

    /// Collects the wanted values of `record`, a JSON object.
    ///
    /// # Errors
    /// The record is no JSON object.
    pub fn collect<'a>(&self, record: &'a [u8], slots: &mut Slots<'a>) -> Result<(), serde_json::Error> {
        slots.clear();
        slots.resize(self.slots, None);
        let mut de = serde_json::Deserializer::from_slice(record);
        de.deserialize_map(Walk { tree: self, at: 0, slots })?;
        de.end()
    }

    /// Collects below another value, whose own keys begin at the root.
    pub fn collect_more<'a>(&self, record: &'a str, slots: &mut Slots<'a>) {
        let mut de = serde_json::Deserializer::from_str(record);
        // A nested text that is no JSON leaves its slots empty.
        let _ = de.deserialize_map(Walk { tree: self, at: 0, slots });
    }

    fn find(&self, at: usize, key: &str) -> Option<usize> {
        let node = &self.nodes[at];
        if let Ok(i) = node.exact.binary_search_by(|(known, _)| (**known).cmp(key)) {
            return Some(node.exact[i].1);
        }
        // A dozen header names at most: comparing in place is quicker than folding each key into a string.
        node.folded.iter().find(|(known, _)| folds_to(key, known)).map(|(_, child)| *child)
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

struct Walk<'t, 's, 'a> {
    tree: &'t Tree,
    at: usize,
    slots: &'s mut Slots<'a>,
}

impl<'de> Visitor<'de> for Walk<'_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(Key(key)) = map.next_key()? {
            let Some(child) = self.tree.find(self.at, &key) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let raw: &'de RawValue = map.next_value()?;
            let node = &self.tree.nodes[child];
            if let Some(slot) = node.slot
                && self.slots[slot].is_none_or(|known| known.get() == "null")
            {
                self.slots[slot] = Some(raw);
            }
            if (!node.exact.is_empty() || !node.folded.is_empty()) && raw.get().starts_with('{') {
                let mut inner = serde_json::Deserializer::from_str(raw.get());
                // The outer parser has already taken it for valid JSON.
                let _ = inner.deserialize_map(Walk { tree: self.tree, at: child, slots: self.slots });
            }
        }
        Ok(())
    }
}

/// A key, borrowed where it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(de: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        de.deserialize_str(Text)
    }
}

/// The text of a string, number or boolean, as written; the first element's, if it is a list (headers).
pub fn text<'a>(raw: &'a RawValue) -> Option<Cow<'a, str>> {
    let json = raw.get();
    match json.as_bytes().first()? {
        b'"' if memchr::memchr(b'\\', json.as_bytes()).is_none() => {
            Some(Cow::Borrowed(&json[1..json.len() - 1]))
        }
        b'"' => serde_json::from_str::<String>(json).ok().map(Cow::Owned),
        b'[' => {
            let list = serde_json::from_str::<Vec<&'a RawValue>>(json).ok()?;
            list.first().filter(|one| !one.get().starts_with('[')).and_then(|one| text(one))
        }
        b'{' | b'n' => None,
        _ => Some(Cow::Borrowed(json)),
    }
}
