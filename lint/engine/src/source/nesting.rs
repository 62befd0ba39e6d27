//! How deep the syntax tree of a text may become, told from its tokens, and which of them need not be read.
//! Refuses to know what the tokens mean: it bounds the depth from above and never from below.

use super::aside;
use std::ops::Range;

/// Brackets deeper than this are refused; rustc itself gives up at 128 levels of expansion.
const BRACKETS: usize = 256;

/// What one bracket adds to the figure: a parser descends through a statement, every precedence and a group.
const BRACKET: usize = 8;

/// The figure at which a text is given up, and counting it ends: no code written by hand comes near.
pub(super) const LIMIT: usize = 60_000;

/// A bound of the depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Nesting {
    /// Tokens in a row, over all open brackets, that may each stand inside the one before.
    pub(super) depth: usize,
    /// The line of the deepest place, from 1.
    pub(super) line: u32,
}

impl Nesting {
    /// Counts through the text, and stops where it is past [`LIMIT`].
    pub(super) fn of(text: &str) -> Nesting {
        Nesting::and_aside(text).0
    }

    /// The same, with the stretches of doc comments and of inline test modules, in order.
    pub(super) fn and_aside(text: &str) -> (Nesting, Vec<Range<usize>>) {
        let mut scan = Scan::new(text);
        while scan.found.depth <= LIMIT && scan.step() {}
        (scan.found, scan.aside)
    }
}

/// What is counted between two brackets.
#[derive(Clone, Copy, Default)]
struct Level {
    /// Tokens since the last token that ends a tree.
    run: usize,
    /// Tokens before a comma that ended no tree, because generic arguments or a closure's parameters were open.
    held: usize,
    /// Whether such have been opened since the last comma.
    open: bool,
    /// Whether a block has just ended: what follows may be a new statement.
    block: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// A name, a literal or a closing bracket: an operator after it is a binary one.
    Operand,
    Other,
}

struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: u32,
    levels: Vec<Level>,
    last: Last,
    /// The figure at this place: all levels taken together.
    total: usize,
    found: Nesting,
    /// Stretches that need not be read.
    aside: Vec<Range<usize>>,
    /// Where the text of the test module begins that is being read, and how many brackets are open in it.
    module: Option<(usize, usize)>,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str) -> Scan<'a> {
        Scan {
            text,
            bytes: text.as_bytes(),
            at: 0,
            line: 1,
            levels: vec![Level::default()],
            last: Last::Other,
            total: 0,
            found: Nesting { depth: 0, line: 1 },
            aside: Vec::new(),
            module: None,
        }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn level(&mut self) -> &mut Level {
        self.levels.last_mut().expect("the outermost level is never popped")
    }

    /// Reads one token, or what stands between two; false at the end.
    fn step(&mut self) -> bool {
        let Some(&byte) = self.bytes.get(self.at) else { return false };
        match byte {
            b'\n' => {
                self.line += 1;
                self.at += 1;
            }
            b' ' | b'\t' | b'\r' => self.at += 1,
            b'/' if self.peek(1) == b'/' => {
                let from = self.at;
                self.at = line_end(self.bytes, from);
                self.documented(from);
            }
            b'/' if self.peek(1) == b'*' => {
                let from = self.at;
                self.comment();
                self.documented(from);
            }
            b'"' => self.text(),
            b'\'' => self.quote(),
            b'(' | b'[' | b'{' => self.opened(byte),
            b')' | b']' | b'}' => self.closed(byte),
            b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => self.word(),
            b'#' => {
                self.attribute();
                self.punct(byte);
            }
            _ => self.punct(byte),
        }
        true
    }

    /// Sets a comment aside that a parser would take for an attribute.
    fn documented(&mut self, from: usize) {
        if self.module.is_none() && matches!(self.bytes[from + 2..].first(), Some(b'/' | b'!' | b'*')) {
            self.aside.push(from..self.at);
        }
    }

    /// Notes that a test module begins here.
    fn attribute(&mut self) {
        if self.module.is_none()
            && let Some(from) = aside::test_module(self.text, self.at)
        {
            self.module = Some((from, self.levels.len() + 1));
        }
    }

    /// Counts one token.
    fn token(&mut self, last: Last) {
        self.last = last;
        self.level().run += 1;
        self.total += 1;
        if self.total > self.found.depth {
            self.found = Nesting { depth: self.total, line: self.line };
        }
    }

    /// The tree ends here: the next token stands beside it, not inside.
    fn ended(&mut self) {
        let level = self.level();
        let counted = level.run + level.held;
        *level = Level::default();
        self.total -= counted;
    }

    fn comma(&mut self) {
        self.last = Last::Other;
        let level = self.level();
        let run = std::mem::take(&mut level.run);
        level.block = false;
        if std::mem::take(&mut level.open) {
            level.held += run;
        } else {
            self.total -= run;
        }
    }

    fn opened(&mut self, byte: u8) {
        // `{ } { }` goes on: the first may be the condition of an `if`.
        if std::mem::take(&mut self.level().block) && byte != b'{' {
            self.ended();
        }
        self.token(Last::Other);
        self.at += 1;
        self.levels.push(Level::default());
        self.total += BRACKET;
        if self.levels.len() > BRACKETS {
            self.found = Nesting { depth: LIMIT + 1, line: self.line };
        }
    }

    fn closed(&mut self, byte: u8) {
        if let Some((from, levels)) = self.module
            && self.levels.len() == levels
            && self.at >= from
        {
            self.aside.push(from..self.at);
            self.module = None;
        }
        self.at += 1;
        if self.levels.len() > 1 {
            self.ended();
            self.levels.pop();
            self.total -= BRACKET;
        }
        self.level().block = byte == b'}';
        self.last = Last::Operand;
    }

    fn word(&mut self) {
        let from = self.at;
        while matches!(self.peek(0), b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | 0x80..) {
            self.at += 1;
        }
        let word = &self.bytes[from..self.at];
        if matches!(word, b"r" | b"br" | b"cr") {
            let hashes = self.bytes[self.at..].iter().take_while(|byte| **byte == b'#').count();
            if self.peek(hashes) == b'"' {
                self.at += hashes;
                return self.raw(hashes);
            }
        }
        if std::mem::take(&mut self.level().block) && !matches!(word, b"else" | b"as") {
            self.ended();
        }
        self.token(Last::Operand);
    }

    fn punct(&mut self, byte: u8) {
        self.at += 1;
        match byte {
            b';' => {
                self.last = Last::Other;
                return self.ended();
            }
            b',' => return self.comma(),
            b'=' if self.peek(0) == b'>' => {
                self.at += 1;
                self.last = Last::Other;
                return self.ended();
            }
            // A comparison or a shift by a number opens nothing.
            b'<' if self.peek(0) == b'=' || (self.peek(0) == b'<' && self.shifts(1)) => {}
            b'<' if self.at > 1 && self.bytes[self.at - 2] == b'<' && self.shifts(0) => {}
            b'<' => self.level().open = true,
            b'|' if self.last == Last::Other => self.level().open = true,
            b'#' if self.level().block => self.ended(),
            _ => {}
        }
        self.level().block = false;
        self.token(Last::Other);
    }

    /// Whether a number, or `=`, follows.
    fn shifts(&self, ahead: usize) -> bool {
        let rest = &self.bytes[(self.at + ahead).min(self.bytes.len())..];
        rest.iter().find(|byte| **byte != b' ').is_some_and(|byte| byte.is_ascii_digit() || *byte == b'=')
    }

    fn comment(&mut self) {
        let mut open = 0_usize;
        while self.at < self.bytes.len() {
            match (self.peek(0), self.peek(1)) {
                (b'/', b'*') => {
                    open += 1;
                    self.at += 2;
                }
                (b'*', b'/') => {
                    open -= 1;
                    self.at += 2;
                    if open == 0 {
                        return;
                    }
                }
                (byte, _) => {
                    self.line += u32::from(byte == b'\n');
                    self.at += 1;
                }
            }
        }
    }

    /// A string that begins here.
    fn text(&mut self) {
        self.literal();
        self.at += 1;
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b'"' => {
                    self.at += 1;
                    return;
                }
                // What is escaped may be the end of a line.
                b'\\' if self.peek(1) != b'\n' => self.at += 2,
                byte => {
                    self.line += u32::from(byte == b'\n');
                    self.at += 1;
                }
            }
        }
    }

    /// A raw string, at its quote.
    fn raw(&mut self, hashes: usize) {
        self.literal();
        self.at += 1;
        while self.at < self.bytes.len() {
            let byte = self.peek(0);
            self.line += u32::from(byte == b'\n');
            self.at += 1;
            let rest = &self.bytes[self.at..];
            if byte == b'"' && rest.len() >= hashes && rest[..hashes].iter().all(|byte| *byte == b'#') {
                self.at += hashes;
                return;
            }
        }
    }

    /// A character, or a lifetime.
    fn quote(&mut self) {
        let rest = &self.bytes[self.at + 1..];
        let width = match rest.first().copied().unwrap_or(0) {
            b'\\' => rest.iter().skip(2).position(|byte| *byte == b'\'').map(|end| end + 2),
            byte => Some(match byte {
                0xf0.. => 4,
                0xe0.. => 3,
                0xc0.. => 2,
                _ => 1,
            }),
        };
        self.literal();
        self.at += 1;
        if let Some(width) = width.filter(|width| rest.get(*width) == Some(&b'\'')) {
            self.line += u32::from(rest[..width].contains(&b'\n'));
            self.at += width + 1;
        }
    }

    fn literal(&mut self) {
        if std::mem::take(&mut self.level().block) {
            self.ended();
        }
        self.token(Last::Operand);
    }
}

/// The end of the line that `from` stands in.
fn line_end(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| from + end)
}
