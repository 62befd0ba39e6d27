//! JSON text in the one form that equal values share (RFC 8785, with the exceptions of contract 3.6).
//! Knows no tool and no protocol; it compares nothing, it only writes what can be compared byte by byte.
//!
//! Two exceptions keep what a double cannot: a number whose decimal value does not survive the way through a double,
//! and an object with duplicate names, stay as written. A lone surrogate, which RFC 8785 refuses, stays an escape.

mod number;
mod order;
mod text;

use std::fmt;

/// Deepest nesting that is read. Costs stay within this factor of the input's length.
pub const MAX_DEPTH: usize = 128;

/// Why a text is not JSON, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NotJson {
    /// Byte offset from 0.
    pub at: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with a text that should be JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Problem {
    /// It ends too early.
    Ended,
    /// A byte that cannot stand here.
    Unexpected,
    /// Not UTF-8.
    NotUtf8,
    /// Nested deeper than [`MAX_DEPTH`].
    TooDeep,
    /// An escape that is none.
    BadEscape,
    /// A raw control character in a string.
    ControlCharacter,
    /// A number that is none.
    BadNumber,
    /// Something follows the value.
    Trailing,
}

impl fmt::Display for NotJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.problem {
            Problem::Ended => "JSON ends too early",
            Problem::Unexpected => "unexpected byte in JSON",
            Problem::NotUtf8 => "JSON is not UTF-8",
            Problem::TooDeep => "JSON is nested too deep",
            Problem::BadEscape => "unknown escape in JSON",
            Problem::ControlCharacter => "raw control character in JSON",
            Problem::BadNumber => "malformed number in JSON",
            Problem::Trailing => "something follows the JSON value",
        };
        write!(f, "{what} at byte {}", self.at)
    }
}

impl std::error::Error for NotJson {}

/// The canonical form of one JSON text.
///
/// ```
/// use unbroken_contract::canonical::canonical;
/// let a = canonical(br#"{"b": 1.0, "a": "\u00e9"}"#)?;
/// assert_eq!(a, "{\"a\":\"é\",\"b\":1}".as_bytes());
/// # Ok::<(), unbroken_contract::canonical::NotJson>(())
/// ```
///
/// # Errors
///
/// [`NotJson`] with the byte offset.
pub fn canonical(json: &[u8]) -> Result<Vec<u8>, NotJson> {
    let mut out = Vec::with_capacity(json.len());
    Canonicalizer::new().write(json, &mut out)?;
    Ok(out)
}

/// Writes canonical forms; keeps its working memory between calls, so that a hot path allocates nothing.
#[derive(Debug, Default)]
pub struct Canonicalizer {
    frames: Vec<Frame>,
    members: Vec<Member>,
    scratch: Vec<u8>,
}

/// An open array or object.
#[derive(Clone, Copy, Debug)]
struct Frame {
    is_object: bool,
    /// Where it starts in the input and in the output.
    read_from: usize,
    wrote_from: usize,
    /// Its first entry in `members`.
    first: usize,
}

/// One `"name":value` in the output.
#[derive(Clone, Copy, Debug)]
struct Member {
    start: usize,
    name_end: usize,
    end: usize,
    /// The name orders by its bytes.
    plain: bool,
    /// Its first bytes.
    head: u64,
}

impl Canonicalizer {
    /// A fresh one; allocates at the first use.
    #[must_use]
    pub const fn new() -> Canonicalizer {
        Canonicalizer { frames: Vec::new(), members: Vec::new(), scratch: Vec::new() }
    }

    /// Appends the canonical form of `json` to `out`; iterative, at most [`MAX_DEPTH`] deep.
    ///
    /// # Errors
    ///
    /// [`NotJson`] with the byte offset; `out` is then as it was.
    pub fn write(&mut self, json: &[u8], out: &mut Vec<u8>) -> Result<(), NotJson> {
        match std::str::from_utf8(json) {
            Ok(text) => self.write_text(text, out),
            Err(error) => Err(NotJson { at: error.valid_up_to(), problem: Problem::NotUtf8 }),
        }
    }

    /// The same for text, which is known to be UTF-8.
    ///
    /// # Errors
    ///
    /// As [`Canonicalizer::write`].
    pub fn write_text(&mut self, json: &str, out: &mut Vec<u8>) -> Result<(), NotJson> {
        let length = out.len();
        let mut reader = Reader { json: json.as_bytes(), at: self.write_value(json, 0, out)? };
        if reader.next().is_some() {
            out.truncate(length);
            return Err(reader.error(Problem::Trailing));
        }
        Ok(())
    }

    /// Appends the canonical form of the value that begins at byte `at` of `json`, and gives its end: what stands behind it
    /// is not looked at.
    ///
    /// # Errors
    ///
    /// As [`Canonicalizer::write`].
    pub fn write_value(&mut self, json: &str, at: usize, out: &mut Vec<u8>) -> Result<usize, NotJson> {
        let mut reader = Reader { json: json.as_bytes(), at };
        let length = out.len();
        self.frames.clear();
        self.members.clear();
        match self.run(&mut reader, out) {
            Ok(()) => Ok(reader.at),
            Err(why) => {
                out.truncate(length);
                Err(why)
            }
        }
    }

    /// Writes one value with all that is in it.
    fn run(&mut self, reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<(), NotJson> {
        loop {
            self.value(reader, out)?;
            loop {
                let Some(frame) = self.frames.last() else { return Ok(()) };
                let in_object = frame.is_object;
                if in_object && let Some(member) = self.members.last_mut() {
                    member.end = out.len();
                }
                match (reader.next_due()?, in_object) {
                    (b',', _) => {
                        out.push(b',');
                        reader.at += 1;
                        if in_object {
                            self.name(reader, out)?;
                        }
                        break;
                    }
                    (b'}', true) | (b']', false) => self.close(reader, out),
                    _ => return Err(reader.error(Problem::Unexpected)),
                }
            }
        }
    }

    /// Writes a value, and of an array or object with something in it all up to the first value that is neither.
    fn value(&mut self, reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<(), NotJson> {
        loop {
            match reader.next_due()? {
                b'"' => _ = text::write(reader, out)?,
                b'-' | b'0'..=b'9' => number::write(reader, out)?,
                b't' => reader.literal(b"true", out)?,
                b'f' => reader.literal(b"false", out)?,
                b'n' => reader.literal(b"null", out)?,
                b'{' => {
                    self.open(true, reader, out)?;
                    if reader.next_due()? != b'}' {
                        self.name(reader, out)?;
                        continue;
                    }
                    self.close(reader, out);
                }
                b'[' => {
                    self.open(false, reader, out)?;
                    if reader.next_due()? != b']' {
                        continue;
                    }
                    self.close(reader, out);
                }
                _ => return Err(reader.error(Problem::Unexpected)),
            }
            return Ok(());
        }
    }

    fn open(&mut self, is_object: bool, reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<(), NotJson> {
        if self.frames.len() == MAX_DEPTH {
            return Err(reader.error(Problem::TooDeep));
        }
        self.frames.push(Frame {
            is_object,
            read_from: reader.at,
            wrote_from: out.len(),
            first: self.members.len(),
        });
        out.push(reader.json[reader.at]);
        reader.at += 1;
        Ok(())
    }

    /// Writes a name with its colon.
    fn name(&mut self, reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<(), NotJson> {
        if reader.next_due()? != b'"' {
            return Err(reader.error(Problem::Unexpected));
        }
        let start = out.len();
        let as_written = text::write(reader, out)?;
        let name_end = out.len();
        let name = &out[start + 1..name_end - 1];
        let plain = as_written && order::is_plain(name);
        self.members.push(Member { start, name_end, end: name_end, plain, head: order::head(name) });
        if reader.next_due()? != b':' {
            return Err(reader.error(Problem::Unexpected));
        }
        reader.at += 1;
        out.push(b':');
        Ok(())
    }

    /// Ends the innermost array or object at the reader's place, and puts an object's members in order.
    fn close(&mut self, reader: &mut Reader<'_>, out: &mut Vec<u8>) {
        let end = reader.json[reader.at];
        reader.at += 1;
        let Some(frame) = self.frames.pop() else { return };
        if frame.is_object {
            let members = &mut self.members[frame.first..];
            match order::sort(members, out) {
                order::Found::Ordered => {}
                order::Found::Moved => {
                    self.scratch.clear();
                    for (index, member) in members.iter().enumerate() {
                        if index > 0 {
                            self.scratch.push(b',');
                        }
                        self.scratch.extend_from_slice(&out[member.start..member.end]);
                    }
                    out.truncate(frame.wrote_from + 1);
                    out.extend_from_slice(&self.scratch);
                }
                order::Found::Duplicate => {
                    out.truncate(frame.wrote_from);
                    out.extend_from_slice(&reader.json[frame.read_from..reader.at]);
                    self.members.truncate(frame.first);
                    return;
                }
            }
            self.members.truncate(frame.first);
        }
        out.push(end);
    }
}

/// The input and the place in it.
struct Reader<'j> {
    json: &'j [u8],
    at: usize,
}

impl Reader<'_> {
    #[inline]
    fn peek(&self) -> Option<u8> {
        self.json.get(self.at).copied()
    }

    const fn error(&self, problem: Problem) -> NotJson {
        NotJson { at: self.at, problem }
    }

    /// The byte behind blanks; none at the end.
    #[inline]
    fn next(&mut self) -> Option<u8> {
        loop {
            match self.peek()? {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// The same where something has to follow.
    #[inline]
    fn next_due(&mut self) -> Result<u8, NotJson> {
        match self.next() {
            Some(byte) => Ok(byte),
            None => Err(self.error(Problem::Ended)),
        }
    }

    fn literal(&mut self, word: &[u8], out: &mut Vec<u8>) -> Result<(), NotJson> {
        let rest = &self.json[self.at..];
        if !rest.starts_with(word) {
            let same = rest.iter().zip(word).take_while(|(a, b)| a == b).count();
            self.at += same;
            let problem = if self.at == self.json.len() { Problem::Ended } else { Problem::Unexpected };
            return Err(self.error(problem));
        }
        out.extend_from_slice(word);
        self.at += word.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
