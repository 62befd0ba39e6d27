//! Cuts a text into tokens: words, literals, brackets with their partners, and marks of one letter.
//! Knows how tokens are spelled, not what they mean together; what it is not sure of, it does not cut.

use super::names::Table;
use super::spelled::{integer, unescaped};
use super::{Read, Stop};
use crate::finding::Range;
use crate::index::{HASH, mix};

/// What a token is. Marks and brackets are told by their letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name that is no keyword; `union` and the like are names.
    Name,
    /// A keyword.
    Word(Word),
    /// `'a`, without the quote.
    Lifetime,
    /// A string, or a byte string that is UTF-8: its text is a name.
    Text,
    /// A byte string as [`Kind::Text`].
    Bytes,
    /// An integer that a `u64` holds.
    Int(u64),
    /// Any other literal.
    Literal,
    /// An opening bracket.
    Open(u8),
    /// A closing bracket.
    Close,
    /// One letter of an operator.
    Mark(u8),
    /// A doc comment, which stands for an attribute.
    Doc,
    /// Past the last token.
    End,
}

/// The keywords that the reader tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    As,
    Async,
    Await,
    Break,
    Const,
    Continue,
    Crate,
    Dyn,
    Else,
    False,
    Fn,
    For,
    If,
    Impl,
    In,
    Let,
    Loop,
    Match,
    Move,
    Mut,
    Pub,
    Ref,
    Return,
    Own,
    OwnType,
    Super,
    True,
    Type,
    Underscore,
    Unsafe,
    Where,
    While,
    /// A keyword that begins nothing the reader knows.
    Other,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// The letters of a name, a lifetime or a literal text, in the table of names.
    pub(super) name: u32,
    /// Whether the next token follows without a space.
    pub(super) joint: bool,
    /// The closing bracket of an opening one.
    pub(super) partner: u32,
    /// Where the token begins in the text.
    pub(super) from: u32,
    pub(super) range: Range,
}

/// The tokens of a text, the last one [`Kind::End`].
pub(super) fn tokens(text: &str, names: &mut Table) -> Read<Vec<Token>> {
    let bytes = text.as_bytes();
    let mut cut = Cut { text, bytes, at: 0, line: 1, base: 0, names, out: Vec::new(), open: Vec::new() };
    cut.out.reserve(bytes.len() / 3);
    while cut.at < bytes.len() {
        match bytes[cut.at] {
            // Between any two tokens of a macro's item.
            b' ' => cut.at += 1,
            _ => cut.step()?,
        }
    }
    if !cut.open.is_empty() {
        return Err(Stop::Unknown);
    }
    let (line, column) = (cut.line, cut.column());
    cut.push(Kind::End, 0, line, column, cut.at);
    Ok(cut.out)
}

/// The letters of words.
static LETTERS: [bool; 256] = {
    let mut letters = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        letters[byte] = matches!(byte as u8, b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'0'..=b'9');
        byte += 1;
    }
    letters
};

struct Cut<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: u32,
    /// Where the line begins, and behind that as many places as bytes of it begin no letter.
    base: usize,
    names: &'a mut Table,
    out: Vec<Token>,
    open: Vec<u32>,
}

impl Cut<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        let at = self.at + ahead;
        if at < self.bytes.len() { self.bytes[at] } else { 0 }
    }

    fn column(&self) -> u32 {
        (self.at + 1 - self.base) as u32
    }

    /// Passes over one byte inside a literal or a comment.
    fn pass(&mut self) {
        let byte = self.bytes[self.at];
        self.at += 1;
        if byte == b'\n' {
            self.line += 1;
            self.base = self.at;
        } else if byte & 0xc0 == 0x80 {
            self.base += 1;
        }
    }

    fn push(&mut self, kind: Kind, name: u32, line: u32, column: u32, from: usize) {
        let joint = self.at < self.bytes.len() && self.bytes[self.at] > b' ';
        let end_column = (self.at + 1 - self.base) as u32;
        let range = Range { line, column, end_line: self.line, end_column };
        self.out.push(Token { kind, name, joint, partner: 0, from: from as u32, range });
    }

    fn step(&mut self) -> Read<()> {
        let byte = self.bytes[self.at];
        let (from, line, column) = (self.at, self.line, self.column());
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => self.pass(),
            b'/' if self.peek(1) == b'/' => {
                while self.at < self.bytes.len() && self.bytes[self.at] != b'\n' {
                    self.pass();
                }
                self.documented(from, line, column);
            }
            b'/' if self.peek(1) == b'*' => {
                self.comment()?;
                self.documented(from, line, column);
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => return self.word(from, line, column),
            b'0'..=b'9' => return self.number(from, line, column),
            b'"' => {
                let name = self.quoted(false)?;
                self.push(Kind::Text, name, line, column, from);
            }
            b'\'' => return self.quote(from, line, column),
            b'(' | b'[' | b'{' => {
                self.at += 1;
                self.open.push(self.out.len() as u32);
                self.push(Kind::Open(byte), 0, line, column, from);
            }
            b')' | b']' | b'}' => {
                self.at += 1;
                let Some(open) = self.open.pop() else { return Err(Stop::Unknown) };
                let here = self.out.len() as u32;
                let partner = &mut self.out[open as usize];
                let Kind::Open(opened) = partner.kind else { return Err(Stop::Unknown) };
                if !matches!((opened, byte), (b'(', b')') | (b'[', b']') | (b'{', b'}')) {
                    return Err(Stop::Unknown);
                }
                partner.partner = here;
                self.push(Kind::Close, 0, line, column, from);
            }
            b'!'..=b'~' => {
                self.at += 1;
                self.push(Kind::Mark(byte), 0, line, column, from);
            }
            _ => return Err(Stop::Unknown),
        }
        Ok(())
    }

    /// Notes a comment that stands for an attribute.
    fn documented(&mut self, from: usize, line: u32, column: u32) {
        let letter = |ahead: usize| if from + ahead < self.at { self.bytes[from + ahead] } else { 0 };
        let doc = match (letter(1), letter(2)) {
            (_, b'!') => true,
            (b'/', b'/') => letter(3) != b'/',
            (b'*', b'*') => letter(3) != b'*' && letter(3) != b'/',
            _ => false,
        };
        if doc {
            self.push(Kind::Doc, 0, line, column, from);
        }
    }

    fn comment(&mut self) -> Read<()> {
        let mut open = 0_u32;
        while self.at < self.bytes.len() {
            if self.bytes[self.at] == b'/' && self.peek(1) == b'*' {
                open += 1;
                self.at += 2;
            } else if self.bytes[self.at] == b'*' && self.peek(1) == b'/' {
                open -= 1;
                self.at += 2;
                if open == 0 {
                    return Ok(());
                }
            } else {
                self.pass();
            }
        }
        Err(Stop::Unknown)
    }

    fn letters(&mut self) {
        while self.at < self.bytes.len() && LETTERS[self.bytes[self.at] as usize] {
            self.at += 1;
        }
    }

    fn word(&mut self, from: usize, line: u32, column: u32) -> Read<()> {
        let (mut at, mut hash) = (from, HASH);
        while at < self.bytes.len() && LETTERS[self.bytes[at] as usize] {
            hash = mix(hash, self.bytes[at]);
            at += 1;
        }
        self.at = at;
        if let b'"' | b'#' | b'\'' | 0x80.. = self.peek(0) {
            let word = &self.bytes[from..at];
            match (word, self.peek(0)) {
                (b"r" | b"br", b'"' | b'#') => return self.raw(from, line, column, word == b"br"),
                (b"b", b'"') => {
                    let name = self.quoted(true)?;
                    self.push(Kind::Bytes, name, line, column, from);
                    return Ok(());
                }
                (b"b", b'\'') | (b"c" | b"cr", b'"' | b'#') | (_, 0x80..) => return Err(Stop::Unknown),
                _ => {}
            }
        }
        // A keyword has its letters as well: in macros any word may be meant as a name.
        let name = self.names.index_hashed(&self.text[from..at], hash);
        self.push(self.names.kind(name), name, line, column, from);
        Ok(())
    }

    fn number(&mut self, from: usize, line: u32, column: u32) -> Read<()> {
        let field = self.out.last().is_some_and(|last| matches!(last.kind, Kind::Mark(b'.')))
            && !(self.out.len() > 1 && matches!(self.out[self.out.len() - 2].kind, Kind::Mark(b'.')));
        self.letters();
        let mut whole = true;
        if !field && self.peek(0) == b'.' {
            match self.peek(1) {
                b'0'..=b'9' => {
                    whole = false;
                    self.at += 1;
                    self.letters();
                }
                b'.' | b'_' | b'a'..=b'z' | b'A'..=b'Z' => {}
                _ => return Err(Stop::Unknown),
            }
        }
        let digits = &self.bytes[from..self.at];
        let value = if whole { integer(digits) } else { None };
        let (kind, name) = match value {
            Some(value) => (Kind::Int(value), self.names.index(&self.text[from..self.at])),
            // Floats, suffixes, other bases: an exponent with a sign goes on behind the letters.
            None if matches!(digits.last(), Some(b'e' | b'E')) && matches!(self.peek(0), b'+' | b'-') => {
                return Err(Stop::Unknown);
            }
            None if !whole && digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'_')) => {
                (Kind::Literal, 0)
            }
            None => return Err(Stop::Unknown),
        };
        self.push(kind, name, line, column, from);
        Ok(())
    }

    /// A string that begins here, its text as a name.
    fn quoted(&mut self, bytes: bool) -> Read<u32> {
        self.at += 1;
        let from = self.at;
        let mut plain = true;
        while self.at < self.bytes.len() {
            match self.bytes[self.at] {
                b'"' => {
                    let end = self.at;
                    self.at += 1;
                    let text = &self.text[from..end];
                    // A line's end in a literal may be two letters long in the text and one in its value.
                    return match plain {
                        true => Ok(self.names.index(text)),
                        false => Ok(self.names.index(&unescaped(text, bytes)?)),
                    };
                }
                b'\\' => {
                    plain = false;
                    self.pass();
                    if self.at < self.bytes.len() {
                        self.pass();
                    }
                }
                b'\r' => return Err(Stop::Unknown),
                _ => self.pass(),
            }
        }
        Err(Stop::Unknown)
    }

    fn raw(&mut self, from: usize, line: u32, column: u32, bytes: bool) -> Read<()> {
        let mut hashes = 0;
        while self.peek(0) == b'#' {
            hashes += 1;
            self.at += 1;
        }
        if self.peek(0) != b'"' {
            // `r#name`.
            return Err(Stop::Unknown);
        }
        self.at += 1;
        let begin = self.at;
        while self.at < self.bytes.len() {
            let end = self.at;
            let byte = self.bytes[end];
            if byte == b'\r' {
                return Err(Stop::Unknown);
            }
            self.pass();
            if byte == b'"' {
                let mut seen = 0;
                while seen < hashes && self.peek(seen) == b'#' {
                    seen += 1;
                }
                if seen == hashes {
                    self.at += hashes;
                    let name = self.names.index(&self.text[begin..end]);
                    let kind = if bytes { Kind::Bytes } else { Kind::Text };
                    self.push(kind, name, line, column, from);
                    return Ok(());
                }
            }
        }
        Err(Stop::Unknown)
    }

    /// A character or a lifetime.
    fn quote(&mut self, from: usize, line: u32, column: u32) -> Read<()> {
        let first = self.peek(1);
        if first == b'\\' {
            self.at += 3;
            while self.at < self.bytes.len() && self.bytes[self.at] != b'\'' {
                self.pass();
            }
        } else {
            let width = match first {
                0xf0.. => 4,
                0xe0.. => 3,
                0xc0.. => 2,
                _ => 1,
            };
            if self.peek(1 + width) != b'\'' {
                if !matches!(first, b'a'..=b'z' | b'A'..=b'Z' | b'_') {
                    return Err(Stop::Unknown);
                }
                self.at += 1;
                self.letters();
                let name = self.names.index(&self.text[from + 1..self.at]);
                self.push(Kind::Lifetime, name, line, column, from);
                return Ok(());
            }
            self.at += 1;
            for _ in 0..width {
                self.pass();
            }
        }
        if self.peek(0) != b'\'' {
            return Err(Stop::Unknown);
        }
        self.at += 1;
        self.push(Kind::Literal, 0, line, column, from);
        Ok(())
    }
}
