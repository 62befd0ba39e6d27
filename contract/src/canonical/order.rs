//! The order of an object's names: by UTF-16 code units (RFC 8785 section 3.2.3).
//! Knows no values; it orders the members that the writer recorded.

use std::cmp::Ordering;

use super::Member;

/// What sorting found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// They were in order already.
    Ordered,
    /// They are in order now, and not as they stand in the output.
    Moved,
    /// A name stands twice.
    Duplicate,
}

/// Whether a name that has no escape orders by its bytes: nothing from U+E000 up, where UTF-16 puts the supplementary
/// planes first.
pub(super) fn is_plain(name: &[u8]) -> bool {
    name.iter().all(|&byte| byte < 0xee)
}

/// A name's first bytes as a number that orders as they do; none is 0, which stands in no written name.
pub(super) fn head(name: &[u8]) -> u64 {
    let mut head = [0; 8];
    let count = name.len().min(head.len());
    head[..count].copy_from_slice(&name[..count]);
    u64::from_be_bytes(head)
}

/// Sorts members by name.
pub(super) fn sort(members: &mut [Member], out: &[u8]) -> Found {
    let order = |a: &Member, b: &Member| compare(a, b, out);
    if members.windows(2).all(|pair| order(&pair[0], &pair[1]) == Ordering::Less) {
        return Found::Ordered;
    }
    members.sort_unstable_by(order);
    if members.windows(2).any(|pair| order(&pair[0], &pair[1]) == Ordering::Equal) {
        return Found::Duplicate;
    }
    Found::Moved
}

fn compare(a: &Member, b: &Member, out: &[u8]) -> Ordering {
    // Within the quotes, or the closing quote would order after `!`.
    let name = |member: &Member| &out[member.start + 1..member.name_end - 1];
    if a.plain && b.plain {
        return a.head.cmp(&b.head).then_with(|| name(a).cmp(name(b)));
    }
    units(name(a)).cmp(units(name(b)))
}

/// The UTF-16 code units of a written name, its canonical escapes decoded.
fn units(name: &[u8]) -> impl Iterator<Item = u16> + '_ {
    let text = std::str::from_utf8(name).expect("the writer only writes UTF-8, and cuts it at quotes");
    let mut characters = text.chars();
    let mut low = None;
    std::iter::from_fn(move || {
        if let Some(unit) = low.take() {
            return Some(unit);
        }
        let character = characters.next()?;
        if character != '\\' {
            let mut buffer = [0; 2];
            let written = character.encode_utf16(&mut buffer).len();
            low = (written == 2).then_some(buffer[1]);
            return Some(buffer[0]);
        }
        Some(match characters.next()? {
            'b' => 8,
            't' => 9,
            'n' => 10,
            'f' => 12,
            'r' => 13,
            'u' => {
                let mut digits =
                    || characters.next().and_then(|digit| digit.to_digit(16)).unwrap_or(0) as u16;
                digits() << 12 | digits() << 8 | digits() << 4 | digits()
            }
            quote_or_backslash => quote_or_backslash as u16,
        })
    })
}
