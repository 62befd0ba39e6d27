//! JSON text walked where it stands: plain, or as a string within other JSON with every quote escaped (`DEEP`).
//! Knows one level of escapes. A deep text that is escaped in another way than most writers do is foreign here, and has to
//! be undone first; what is accepted is what the undone text says.

use super::json::{self, Broken};
use super::marks::Script;
use super::scan;

/// A string's text between its quotes, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word<'a> {
    /// Its bytes.
    pub(super) text: &'a str,
    /// It has no escapes of its own.
    pub(super) plain: bool,
}

impl Word<'_> {
    /// Its value; none if an escape is none, or half a pair of surrogates.
    pub(super) fn undone<const DEEP: bool>(self) -> Option<String> {
        let mut out = Vec::new();
        self.undo::<DEEP>(&mut out)?;
        String::from_utf8(out).ok()
    }

    /// Appends its value, which is UTF-8, to `out`; none: there is none.
    pub(super) fn undo<const DEEP: bool>(self, out: &mut Vec<u8>) -> Option<()> {
        out.reserve(self.text.len());
        let mut rest = self.text.as_bytes();
        while let Some(at) = memchr::memchr(b'\\', rest) {
            out.extend_from_slice(&rest[..at]);
            let (code, behind) = escape::<DEEP>(&rest[at..])?;
            rest = behind;
            out.push(match code {
                b'"' | b'\\' | b'/' => code,
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                b'b' => 8,
                b'f' => 12,
                b'u' => {
                    let mut number = u32::from(hex(&mut rest)?);
                    if let 0xd800..=0xdbff = number {
                        let (b'u', behind) = escape::<DEEP>(rest)? else { return None };
                        rest = behind;
                        let low @ 0xdc00..=0xdfff = hex(&mut rest)? else { return None };
                        number = 0x10000 + ((number - 0xd800) << 10 | (u32::from(low) - 0xdc00));
                    }
                    out.extend_from_slice(char::from_u32(number)?.encode_utf8(&mut [0; 4]).as_bytes());
                    continue;
                }
                _ => return None,
            });
        }
        out.extend_from_slice(rest);
        Some(())
    }
}

/// The letter of the escape that `bytes` begin with, and what stands behind it.
fn escape<const DEEP: bool>(bytes: &[u8]) -> Option<(u8, &[u8])> {
    match (DEEP, bytes) {
        (false, [b'\\', code, rest @ ..]) => Some((*code, rest)),
        (true, [b'\\', b'\\', b'\\', code @ (b'"' | b'\\'), rest @ ..]) => Some((*code, rest)),
        (true, [b'\\', b'\\', code, rest @ ..]) if *code != b'\\' => Some((*code, rest)),
        _ => None,
    }
}

/// Takes four digits off `bytes`.
fn hex(bytes: &mut &[u8]) -> Option<u16> {
    let (digits, rest) = bytes.split_first_chunk::<4>()?;
    *bytes = rest;
    digits.iter().try_fold(0u16, |number, digit| Some(number << 4 | char::from(*digit).to_digit(16)? as u16))
}

/// Behind a quote at `at`; none if there is none.
#[inline]
fn open<const DEEP: bool>(bytes: &[u8], at: usize) -> Option<usize> {
    if DEEP {
        (bytes.get(at..)?.starts_with(b"\\\"")).then_some(at + 2)
    } else {
        (bytes.get(at) == Some(&b'"')).then_some(at + 1)
    }
}

/// The string that opens at `at`, and where it ends.
#[inline]
pub(super) fn word<'a, const DEEP: bool>(
    script: impl Script<'a>,
    at: usize,
) -> Result<(Word<'a>, usize), Broken> {
    let text = script.text();
    let bytes = text.as_bytes();
    let start = open::<DEEP>(bytes, at).ok_or(Broken::Foreign)?;
    let (mut at, mut plain) = (start, true);
    loop {
        at = script.mark(at).ok_or(Broken::Ended)?;
        let next = bytes.get(at + 1);
        let end = match (DEEP, bytes[at], next) {
            (false, b'"', _) => at + 1,
            (true, b'\\', Some(b'"')) => at + 2,
            (false, _, Some(_)) => {
                (at, plain) = (at + 2, false);
                continue;
            }
            // An escape of the inner string: what it escapes may be written with an escape itself.
            (true, b'\\', Some(b'\\')) => {
                let long = match (bytes.get(at + 2), bytes.get(at + 3)) {
                    (Some(b'\\'), Some(b'"' | b'\\')) => 4,
                    (Some(b'\\' | b'"') | None, _) => return Err(Broken::Foreign),
                    (Some(_), _) => 3,
                };
                (at, plain) = (at + long, false);
                continue;
            }
            _ => return Err(Broken::Foreign),
        };
        return Ok((Word { text: &text[start..at], plain }, end));
    }
}

/// Where the value that begins at `at` ends.
pub(super) fn skip<'a, const DEEP: bool>(script: impl Script<'a>, at: usize) -> Result<usize, Broken> {
    if !DEEP {
        return json::skip(script, at);
    }
    let bytes = script.text().as_bytes();
    match bytes.get(at) {
        Some(b'\\') => word::<DEEP>(script, at).map(|(_, end)| end),
        Some(b'{' | b'[') => scan::balanced(bytes, at, 0, |mark, at| match mark {
            b'\\' => word::<DEEP>(script, at).map(|(_, end)| end),
            _ => Err(Broken::Foreign),
        }),
        _ => json::skip(script, at),
    }
}

/// Walks the object at `at`: `each` gets a name and the place of its value, and gives the value's end. Gives the object's.
#[inline]
pub(super) fn members<'a, const DEEP: bool>(
    script: impl Script<'a>,
    at: usize,
    mut each: impl FnMut(Word<'a>, usize) -> Result<usize, Broken>,
) -> Result<usize, Broken> {
    let bytes = script.text().as_bytes();
    let mut at = opened(bytes, at, b'{')?;
    if bytes.get(at) == Some(&b'}') {
        return Ok(at + 1);
    }
    loop {
        let (name, end) = word::<DEEP>(script, at)?;
        at = json::space(bytes, end);
        at = opened(bytes, at, b':')?;
        at = json::space(bytes, each(name, at)?);
        match bytes.get(at) {
            Some(b',') => at = json::space(bytes, at + 1),
            Some(b'}') => return Ok(at + 1),
            Some(_) => return Err(Broken::Foreign),
            None => return Err(Broken::Ended),
        }
    }
}

/// Behind `byte` and blanks.
#[inline]
fn opened(bytes: &[u8], at: usize, byte: u8) -> Result<usize, Broken> {
    match bytes.get(at) {
        Some(there) if *there == byte => Ok(json::space(bytes, at + 1)),
        Some(_) => Err(Broken::Foreign),
        None => Err(Broken::Ended),
    }
}
