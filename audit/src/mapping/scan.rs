//! Strings of JSON text found and undone sixteen bytes at a time.
//! Knows quotes and backslashes; nothing of values.
//!
//! Bodies stand as strings in most logs, with an escaped quote every few bytes: a search that starts anew at each of them
//! costs more than all the rest of a record. `wide` gives a block's quotes and backslashes as bits, without unsafe code.

use super::json::Broken;
use wide::u8x16;

/// Bytes of a block.
const BLOCK: usize = 16;

/// A block's bytes at `at`; none near the end.
#[inline]
fn block(bytes: &[u8], at: usize) -> Option<&[u8; BLOCK]> {
    bytes.get(at..)?.first_chunk()
}

/// The places of `byte` in a block, as bits.
#[inline]
fn places(block: &[u8; BLOCK], byte: u8) -> u32 {
    u8x16::new(*block).simd_eq(u8x16::splat(byte)).to_bitmask()
}

/// Behind the closing quote of the string that opens at `at`, and whether no byte of it is escaped.
///
/// # Errors
/// [`Broken::Ended`]: there is none.
#[inline]
pub(super) fn string_end(bytes: &[u8], at: usize) -> Result<(usize, bool), Broken> {
    let mut at = at + 1;
    while let Some(block) = block(bytes, at) {
        let quotes = places(block, b'"');
        let escapes = places(block, b'\\');
        // Mostly the quote comes before any escape.
        if quotes & escapes.wrapping_sub(1) & !escapes != 0 {
            return Ok((at + quotes.trailing_zeros() as usize + 1, true));
        }
        if escapes != 0 {
            return escaped_end(bytes, at).map(|end| (end, false));
        }
        at += BLOCK;
    }
    let rest = bytes.get(at..).ok_or(Broken::Ended)?;
    match rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) {
        Some(found) if rest[found] == b'"' => Ok((at + found + 1, true)),
        Some(found) => escaped_end(bytes, at + found).map(|end| (end, false)),
        None => Err(Broken::Ended),
    }
}

/// Bytes that are looked at together where many are escaped.
pub(super) const WIDE: usize = 4 * BLOCK;

/// The places of `byte` in so many bytes, as bits.
#[inline]
pub(super) fn wide_places(bytes: &[u8; WIDE], byte: u8) -> u64 {
    let [a, b, c, d] = bytes.as_chunks::<BLOCK>().0 else { return 0 };
    let low = places(a, byte) | places(b, byte) << BLOCK;
    let high = places(c, byte) | places(d, byte) << BLOCK;
    u64::from(low) | u64::from(high) << (2 * BLOCK)
}

/// The places that a backslash escapes, of bytes whose backslashes are at `slashes`; `taken`: the byte before them escapes
/// their first one, and then whether their last one escapes what follows.
#[inline]
pub(super) fn escaped(slashes: u64, taken: &mut bool) -> u64 {
    /// Every second place.
    const EVEN: u64 = 0x5555_5555_5555_5555;
    // In a run of backslashes every second one is escaped, and so is what follows a run of odd length. A run ends
    // where a carry that is added at its start comes out, which tells at once for all runs whether their lengths and
    // places are odd (Langdale and Lemire, Parsing Gigabytes of JSON per Second, 3.1.1).
    let first = u64::from(*taken);
    let slashes = slashes & !first;
    let behind = slashes << 1 | first;
    let odd = slashes & !EVEN & !behind;
    let (carried, out) = odd.overflowing_add(slashes);
    *taken = out;
    (EVEN ^ carried << 1) & behind
}

/// Behind the closing quote of the string whose text goes on at `at`, where no escape is under way.
fn escaped_end(bytes: &[u8], mut at: usize) -> Result<usize, Broken> {
    let mut taken = false;
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<WIDE>()) {
        let quotes = wide_places(block, b'"');
        let ends = quotes & !escaped(wide_places(block, b'\\'), &mut taken);
        if ends != 0 {
            return Ok(at + ends.trailing_zeros() as usize + 1);
        }
        at += WIDE;
    }
    at += usize::from(taken);
    loop {
        match bytes.get(at).ok_or(Broken::Ended)? {
            b'"' => return Ok(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Behind the bracket that closes the object or list that opens at `at`, whatever kind of bracket it is.
///
/// # Errors
/// [`Broken::Ended`]: it is not closed.
pub(super) fn nest_end(bytes: &[u8], mut at: usize) -> Result<usize, Broken> {
    // `[` and `{` differ in one bit, and so do `]` and `}`.
    const CASE: u8 = 0x20;
    let mut depth = 0usize;
    'blocks: while let Some(block) = block(bytes, at) {
        let quotes = places(block, b'"');
        let folded = (u8x16::new(*block) | u8x16::splat(CASE)).to_array();
        let (opens, closes) = (places(&folded, b'{'), places(&folded, b'}'));
        let mut marks = quotes | opens | closes;
        while marks != 0 {
            let first = marks.trailing_zeros();
            marks &= marks - 1;
            if quotes >> first & 1 == 1 {
                at = string_end(bytes, at + first as usize)?.0;
                continue 'blocks;
            }
            if opens >> first & 1 == 1 {
                depth += 1;
                continue;
            }
            depth -= 1;
            if depth == 0 {
                return Ok(at + first as usize + 1);
            }
        }
        at += BLOCK;
    }
    balanced(bytes, at, depth, |mark, at| match mark {
        b'"' => string_end(bytes, at).map(|(end, _)| end),
        _ => Ok(at + 1),
    })
}

/// The same byte by byte, from `at` on, where `depth` brackets are open; `string` gives the place behind the string that the
/// quote or backslash at a place begins.
///
/// # Errors
/// As [`nest_end`], or what `string` says.
#[inline]
pub(super) fn balanced(
    bytes: &[u8],
    mut at: usize,
    mut depth: usize,
    string: impl Fn(u8, usize) -> Result<usize, Broken>,
) -> Result<usize, Broken> {
    loop {
        match bytes.get(at).ok_or(Broken::Ended)? {
            mark @ (b'"' | b'\\') => {
                at = string(*mark, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Ok(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// The first quote or backslash from `at` on.
#[inline]
pub(super) fn mark(bytes: &[u8], mut at: usize) -> Option<usize> {
    while let Some(block) = block(bytes, at) {
        let marks = places(block, b'"') | places(block, b'\\');
        if marks != 0 {
            return Some(at + marks.trailing_zeros() as usize);
        }
        at += BLOCK;
    }
    let rest = bytes.get(at..)?;
    rest.iter().position(|byte| matches!(byte, b'"' | b'\\')).map(|found| at + found)
}

/// Appends what stands between a string's quotes without its escapes; false: an escape that is left to a whole parser.
#[must_use]
pub(super) fn unescape(inner: &[u8], out: &mut Vec<u8>) -> bool {
    let mut to = out.len();
    // No byte of an escape becomes more than one; the last block is copied whole.
    out.resize(to + inner.len() + BLOCK, 0);
    let mut at = 0;
    loop {
        // A whole block is copied; what comes next is written over what stands behind its first escape.
        let plain =
            match (block(inner, at), out.get_mut(to..).and_then(|free| free.first_chunk_mut::<BLOCK>())) {
                (Some(block), Some(free)) => {
                    *free = *block;
                    let plain = places(block, b'\\').trailing_zeros().min(BLOCK as u32) as usize;
                    if plain == BLOCK {
                        at += BLOCK;
                        to += BLOCK;
                        continue;
                    }
                    plain
                }
                _ => {
                    let rest = &inner[at.min(inner.len())..];
                    let plain = rest.iter().position(|byte| *byte == b'\\').unwrap_or(rest.len());
                    out[to..to + plain].copy_from_slice(&rest[..plain]);
                    if plain == rest.len() {
                        out.truncate(to + plain);
                        return true;
                    }
                    plain
                }
            };
        at += plain + 2;
        to += plain;
        let Some(byte) = inner.get(at - 1).and_then(|escaped| ESCAPED[usize::from(*escaped)]) else {
            return false;
        };
        out[to] = byte;
        to += 1;
    }
}

/// What an escape's second byte stands for; none for `u` and what is no escape.
const ESCAPED: [Option<u8>; 256] = {
    let mut table = [None; 256];
    let pairs = [b"\"\"", b"\\\\", b"//", b"n\n", b"t\t", b"r\r", b"b\x08", b"f\x0c"];
    let mut at = 0;
    while at < pairs.len() {
        table[pairs[at][0] as usize] = Some(pairs[at][1]);
        at += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_string_ends_at_its_first_quote_that_is_not_escaped(
            text in "([a\"\\\\\né]|\\\\{2,9}){0,200}",
            before in 0usize..20,
            behind in 0usize..40,
        ) {
            let written = serde_json::Value::from(text.clone()).to_string();
            let whole = format!("{}{written}{}", "x".repeat(before), "\"".repeat(behind));
            let plain = !written.contains('\\');
            prop_assert_eq!(string_end(whole.as_bytes(), before), Ok((before + written.len(), plain)));
            let cut = &whole.as_bytes()[..before + written.len() - 1];
            prop_assert_eq!(string_end(cut, before), Err(Broken::Ended));
            let mut out = Vec::new();
            prop_assert!(unescape(&written.as_bytes()[1..written.len() - 1], &mut out));
            prop_assert_eq!(out, text.into_bytes());
        }

        #[test]
        fn brackets_are_balanced_outside_of_strings(
            inside in "([ab,:1]|\\{\\}|\\[\\]|\"[\\[\\]{}a]{0,20}\"|\"\\\\\"\"|\\[\\{\"é\"\\}\\]){0,20}",
            behind in "[\\]}a]{0,20}",
        ) {
            let whole = format!("x{{{inside}}}{behind}");
            let end = whole.len() - behind.len();
            prop_assert_eq!(nest_end(whole.as_bytes(), 1), Ok(end));
            prop_assert_eq!(nest_end(&whole.as_bytes()[..end - 1], 1), Err(Broken::Ended));
        }

        #[test]
        fn a_mark_is_the_first(text in "[ab]{0,40}[\"\\\\]?[ab\"]{0,20}", from in 0usize..20) {
            let found = text.bytes().enumerate().skip(from).find(|(_, b)| matches!(b, b'"' | b'\\'));
            prop_assert_eq!(mark(text.as_bytes(), from), found.map(|(at, _)| at));
        }
    }
}
