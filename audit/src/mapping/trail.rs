//! A trail: the keys of a log's records in the order in which the program writes them, learned from one record.
//! Knows bytes; a record that leaves the trail is read key by key, with the same result.
//!
//! One program writes its records with the same names in the same order and the same blanks. What stands between two values
//! is then the same bytes in every record, and comparing them costs a fraction of reading each name and looking it up.

use super::json::{self, Broken};
use super::marks::Script;
use super::slot::{Slot, Slots, Tree};

/// Trails that are kept of one log: programs leave out what has no value.
const MOST: usize = 3;

/// What stands before a value, and where the value goes.
#[derive(Debug, PartialEq, Eq)]
struct Step {
    before: Piece,
    slot: Option<Slot>,
    /// Names below it are wanted: an object here is another trail.
    below: bool,
}

/// Bytes that stand in each record, their first and last ones as numbers: mostly two comparisons tell that they are there.
#[derive(Debug, PartialEq, Eq)]
struct Piece {
    whole: Box<[u8]>,
    head: u128,
    /// The bits of `head` that count.
    mask: u128,
    /// Where the last ones begin, if there are more than those of `head`; else 0, and they are those of `head`.
    last: usize,
    tail: u128,
}

impl Piece {
    const HEAD: usize = size_of::<u128>();

    fn of(bytes: &[u8]) -> Piece {
        let mut head = [0; Self::HEAD];
        let count = bytes.len().min(Self::HEAD);
        head[..count].copy_from_slice(&bytes[..count]);
        let unused = 8 * (Self::HEAD - count) as u32;
        let last = bytes.len().saturating_sub(Self::HEAD);
        let tail = bytes.last_chunk().map_or(0, |tail| u128::from_le_bytes(*tail));
        let mask = u128::MAX.checked_shr(unused).unwrap_or(0);
        Piece { whole: bytes.into(), head: u128::from_le_bytes(head), mask, last, tail }
    }

    /// Where it ends, if it stands at `at`.
    #[inline]
    fn behind(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let rest = bytes.get(at..)?;
        let stands = match rest.first_chunk() {
            Some(head) if self.last == 0 => (u128::from_le_bytes(*head) ^ self.head) & self.mask == 0,
            Some(head) if self.last <= Self::HEAD => {
                let tail = rest.get(self.last..)?.first_chunk()?;
                u128::from_le_bytes(*head) == self.head && u128::from_le_bytes(*tail) == self.tail
            }
            _ => rest.starts_with(&self.whole),
        };
        stands.then(|| at + self.whole.len())
    }
}

/// The names of a record, in order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Trail {
    steps: Vec<Step>,
    end: Box<[u8]>,
}

impl Trail {
    /// The trail of a record; none if it has none.
    fn of(tree: &Tree, record: &str) -> Option<Trail> {
        let (mut steps, mut from) = (Vec::new(), 0);
        let end = walk(tree, record, 0, Tree::ROOT, &mut steps, &mut from).ok()?;
        Some(Trail { steps, end: record.as_bytes()[from..end].into() })
    }

    /// Fills the slots along the trail, from `at` on, and gives the place behind; none: the object there leaves it, and the
    /// slots hold nothing of use.
    fn follow<'a>(&self, script: impl Script<'a>, mut at: usize, slots: &mut Slots<'a>) -> Option<usize> {
        let bytes = script.text().as_bytes();
        for step in &self.steps {
            let value = step.before.behind(bytes, at)?;
            if step.below && bytes.get(value) == Some(&b'{') {
                return None;
            }
            let (raw, end) = json::value_at(script, value).ok()?;
            if let Some(slot) = step.slot {
                super::slot::fill(slots, slot, raw);
            }
            at = end;
        }
        bytes.get(at..)?.starts_with(&self.end).then(|| at + self.end.len())
    }
}

fn walk(
    tree: &Tree,
    record: &str,
    at: usize,
    node: usize,
    steps: &mut Vec<Step>,
    from: &mut usize,
) -> Result<usize, Broken> {
    let bytes = record.as_bytes();
    json::object(record, at, &mut |key, value| {
        let child = tree.find(node, key);
        let (slot, below) = child.map_or((None, false), |child| (tree.slot(child), tree.is_inner(child)));
        if let Some(child) = child
            && below
            && bytes.get(value) == Some(&b'{')
        {
            // An object that is wanted as a whole and in parts is read name by name.
            return if slot.is_some() {
                Err(Broken::Foreign)
            } else {
                walk(tree, record, value, child, steps, from)
            };
        }
        let end = json::skip(record, value)?;
        steps.push(Step { before: Piece::of(&bytes[*from..value]), slot, below });
        *from = end;
        Ok(end)
    })
}

/// Collects the wanted values of a record along the trails that are known, else name by name.
///
/// # Errors
/// The record is no JSON object.
pub(super) fn collect<'a>(
    trails: Option<&Vec<Trail>>,
    tree: &Tree,
    record: impl Script<'a>,
    slots: &mut Slots<'a>,
) -> Result<(), Broken> {
    if along(trails, tree, record, 0, slots) == Some(record.text().len()) {
        return Ok(());
    }
    tree.collect_text(record.text(), slots)
}

/// The same for the object at `at` of a text, and only along the trails that are known; gives the place behind it.
pub(super) fn along<'a>(
    trails: Option<&Vec<Trail>>,
    tree: &Tree,
    text: impl Script<'a>,
    at: usize,
    slots: &mut Slots<'a>,
) -> Option<usize> {
    trails.into_iter().flatten().find_map(|trail| {
        tree.clear(slots);
        trail.follow(text, at, slots)
    })
}

/// The trails of records that show how a log is written.
pub(super) fn learn<'r>(tree: &Tree, records: impl Iterator<Item = &'r [u8]>) -> Vec<Trail> {
    let mut known: Vec<(Trail, usize)> = Vec::new();
    for record in records {
        let Some(trail) = std::str::from_utf8(record).ok().and_then(|text| Trail::of(tree, text)) else {
            continue;
        };
        match known.iter_mut().find(|(other, _)| *other == trail) {
            Some((_, count)) => *count += 1,
            None => known.push((trail, 1)),
        }
    }
    known.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    known.into_iter().take(MOST).map(|(trail, _)| trail).collect()
}

#[cfg(test)]
mod tests {
    use super::super::slot::Step as Key;
    use super::*;
    use proptest::prelude::*;

    fn tree() -> Tree {
        let mut tree = Tree::default();
        for path in [&["a"][..], &["b"], &["h", "a"], &["h", "x-y"], &["o"], &["o", "a"]] {
            let steps: Vec<Key> = path.iter().map(|key| Key::Exact((*key).to_owned())).collect();
            tree.want(&steps);
        }
        tree
    }

    fn empty<'a>(tree: &Tree) -> Slots<'a> {
        let mut slots = Slots::new();
        tree.clear(&mut slots);
        slots
    }

    fn record() -> impl Strategy<Value = String> {
        let value = prop_oneof![
            Just("null".to_owned()),
            Just("{}".to_owned()),
            Just("{\"a\":1, \"x-y\":null}".to_owned()),
            Just("[1,{\"a\":2}]".to_owned()),
            Just("-1.5e3".to_owned()),
            "\"[a\\}]{0,20}(\\\\\")?\"",
        ];
        let member = ("[abho]", value).prop_map(|(key, value)| format!("\"{key}\":{value}"));
        (proptest::collection::vec(member, 0..6), "( |,|\\}|)")
            .prop_map(|(members, behind)| format!("{{{}}}{behind}", members.join(",")))
    }

    proptest! {
        #[test]
        fn a_record_on_a_trail_gives_what_it_gives_key_by_key(learned in record(), other in record()) {
            let tree = tree();
            for trail in learn(&tree, [learned.as_bytes()].into_iter()) {
                for record in [&learned, &other] {
                    let mut along = empty(&tree);
                    if trail.follow(record.as_str(), 0, &mut along) == Some(record.len()) {
                        let mut slots = Slots::new();
                        prop_assert!(tree.collect_text(record, &mut slots).is_ok(), "{}", record);
                        prop_assert_eq!(along, slots);
                    }
                }
            }
        }
    }

    #[test]
    fn records_of_one_program_are_on_its_trail() {
        let tree = tree();
        let line = |a: &str, b: &str| format!(r#"{{"a":{a},"z":[{b}],"h":{{"q":1,"x-y":{b}}}}}"#);
        let trails = learn(&tree, [line("1", "2").as_bytes()].into_iter());
        let mut slots = empty(&tree);
        let record = line("\"\\\"}\"", "null");
        assert_eq!(trails[0].follow(record.as_str(), 0, &mut slots), Some(record.len()));
        let other = line("1", "2").replace("\"q\"", "\"x-y\"");
        assert_eq!(trails[0].follow(other.as_str(), 0, &mut empty(&tree)), None);
        // An object that is wanted whole and in part has no trail.
        assert!(learn(&tree, [br#"{"o":{"a":1}}"#.as_slice()].into_iter()).is_empty());
    }
}
