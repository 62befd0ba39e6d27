//! Where the strings of JSON text end: found by looking as it goes, or looked up where the whole text was looked at before.
//! Knows quotes and backslashes; nothing of values.
//!
//! A record's body mostly stands in it as a string, full of escaped quotes: most of the strings that a glance meets are a few
//! bytes long. Looking at all bytes once, 64 at a time, and asking bits then costs less than a search for each string.

use super::json::Broken;
use super::scan;

/// JSON text whose strings can be found.
pub(crate) trait Script<'a>: Copy {
    /// The text.
    fn text(self) -> &'a str;

    /// The first quote or backslash from `at` on.
    fn mark(self, at: usize) -> Option<usize>;

    /// Behind the closing quote of the string that opens at `at`, and whether no byte of it is escaped.
    ///
    /// # Errors
    /// [`Broken::Ended`]: there is none.
    fn string_end(self, at: usize) -> Result<(usize, bool), Broken>;

    /// Behind the bracket that closes the object or list that opens at `at`, whatever kind of bracket it is.
    ///
    /// # Errors
    /// [`Broken::Ended`]: it is not closed.
    fn nest_end(self, at: usize) -> Result<usize, Broken>;
}

impl<'a> Script<'a> for &'a str {
    #[inline]
    fn text(self) -> &'a str {
        self
    }

    #[inline]
    fn mark(self, at: usize) -> Option<usize> {
        scan::mark(self.as_bytes(), at)
    }

    #[inline]
    fn string_end(self, at: usize) -> Result<(usize, bool), Broken> {
        scan::string_end(self.as_bytes(), at)
    }

    #[inline]
    fn nest_end(self, at: usize) -> Result<usize, Broken> {
        scan::nest_end(self.as_bytes(), at)
    }
}

/// What stands in 64 bytes, a bit for each.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// Quotes and backslashes.
    any: u64,
    /// Quotes that no backslash escapes.
    close: u64,
}

/// The bit of a byte within its block, and those behind it.
#[inline]
fn from(at: usize) -> u64 {
    u64::MAX << (at % scan::WIDE)
}

/// The quotes and backslashes of one text after another, in room that is used again.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    blocks: Vec<Block>,
}

impl Marks {
    /// Looks at a text.
    pub(super) fn of<'a>(&'a mut self, text: &'a str) -> Marked<'a> {
        let (blocks, rest) = text.as_bytes().as_chunks::<{ scan::WIDE }>();
        // A search ends at the last block at the latest.
        let end = Block { any: u64::MAX, close: u64::MAX };
        let count = blocks.len() + 2;
        if self.blocks.len() < count {
            self.blocks.resize(count, end);
        }
        let mut taken = false;
        for (block, place) in blocks.iter().zip(&mut self.blocks) {
            *place = look(block, &mut taken);
        }
        let mut last = [0; scan::WIDE];
        last[..rest.len()].copy_from_slice(rest);
        self.blocks[blocks.len()] = look(&last, &mut taken);
        self.blocks[blocks.len() + 1] = end;
        Marked { text, blocks: &self.blocks[..count] }
    }
}

#[inline]
fn look(block: &[u8; scan::WIDE], taken: &mut bool) -> Block {
    let quotes = scan::wide_places(block, b'"');
    let slashes = scan::wide_places(block, b'\\');
    Block { any: quotes | slashes, close: quotes & !scan::escaped(slashes, taken) }
}

/// A text that was looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marked<'a> {
    text: &'a str,
    blocks: &'a [Block],
}

impl<'a> Marked<'a> {
    /// Where a part of the text stands in it; none if it is a part of another one.
    pub(super) fn place_of(self, part: &str) -> Option<usize> {
        let at = (part.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize)?;
        (at + part.len() <= self.text.len()).then_some(at)
    }

    /// The first byte from `at` on whose bit is set in what `of` gives of its block; the text's length or more: none.
    #[inline]
    fn next(self, at: usize, of: impl Fn(&Block) -> u64) -> usize {
        let mut block = at / scan::WIDE;
        let mut bits = self.blocks.get(block).map_or(u64::MAX, &of) & from(at);
        while bits == 0 {
            block += 1;
            bits = self.blocks.get(block).map_or(u64::MAX, &of);
        }
        block * scan::WIDE + bits.trailing_zeros() as usize
    }
}

impl<'a> Script<'a> for Marked<'a> {
    #[inline]
    fn text(self) -> &'a str {
        self.text
    }

    #[inline]
    fn mark(self, at: usize) -> Option<usize> {
        Some(self.next(at, |block| block.any)).filter(|at| *at < self.text.len())
    }

    #[inline]
    fn string_end(self, at: usize) -> Result<(usize, bool), Broken> {
        let first = self.next(at + 1, |block| block.any);
        match self.text.as_bytes().get(first) {
            Some(b'"') => return Ok((first + 1, true)),
            Some(_) => {}
            None => return Err(Broken::Ended),
        }
        let end = self.next(first, |block| block.close);
        if end < self.text.len() { Ok((end + 1, false)) } else { Err(Broken::Ended) }
    }

    #[inline]
    fn nest_end(self, at: usize) -> Result<usize, Broken> {
        scan::balanced(self.text.as_bytes(), at, 0, |mark, at| match mark {
            b'"' => self.string_end(at).map(|(end, _)| end),
            _ => Ok(at + 1),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2048))]
        #[test]
        fn a_text_that_was_looked_at_says_what_looking_says(
            text in "([ab]{0,70}|[{}\\[\\]]|\"|\\\\{1,9}|\\\\\"|é){0,60}",
            other in "[\"\\\\a]{0,200}",
        ) {
            let mut marks = Marks::default();
            // Nothing of an earlier text may show.
            marks.of(&other);
            let marked = marks.of(&text);
            for at in 0..text.len() + 3 {
                prop_assert_eq!(marked.mark(at), text.as_str().mark(at), "mark at {}", at);
                match text.as_bytes().get(at) {
                    Some(b'"') => prop_assert_eq!(marked.string_end(at), text.as_str().string_end(at), "string at {}", at),
                    Some(b'{' | b'[') => prop_assert_eq!(marked.nest_end(at), text.as_str().nest_end(at), "nest at {}", at),
                    _ => {}
                }
            }
            if let Some(first) = text.chars().next() {
                prop_assert_eq!(marked.place_of(&text[first.len_utf8()..]), Some(first.len_utf8()));
            }
            prop_assert_eq!(marked.place_of(&format!("{text}.")), None);
        }
    }
}
