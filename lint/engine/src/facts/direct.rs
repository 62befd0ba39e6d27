//! Reads a function or an impl straight from its text, without a syntax tree between: in the debug build of a client,
//! where a macro runs unoptimised, the tree costs more than all the rest.
//! Refuses what is not plain (attributes that matter, nested items, rare syntax): the parser reads that.

mod atom;
mod control;
mod expr;
mod item;
mod mac;
mod names;
mod pat;
#[cfg(test)]
mod same;
mod spelled;
mod token;
mod ty;

use super::ir::{Draft, Id, Kind as Node, Name, PatId, PatKind};
use super::{FileFacts, Marks};
use crate::finding::Range;
use names::Table;
use token::{Kind, Token, Word};

/// Why the reader stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// It is not sure how the parser would read this.
    Unknown,
    /// The parser reads no expression here either: what a macro is given may be anything.
    NoRust,
}

type Read<T> = Result<T, Stop>;

/// Expressions within expressions, at most: the reader descends by recursion, on the stack of a compiler.
const DEPTH: u32 = 64;

/// What [`super::lower_item`] says of the item whose text this is, were the attribute with these marks on it; `None` for
/// what is not plain.
pub(crate) fn read(text: &str, marks: &Marks) -> Option<FileFacts> {
    let mut names = Table::take();
    let Ok(tokens) = token::tokens(text, &mut names) else {
        names.keep();
        return None;
    };
    let mut reader = Reader {
        text,
        tokens: &tokens,
        at: 0,
        end: tokens.len() - 1,
        names,
        body: Draft::default(),
        facts: FileFacts { parsed: true, ..FileFacts::default() },
        depth: 0,
        ranged: false,
    };
    let read = reader.item(marks);
    reader.names.keep();
    read.is_ok().then_some(reader.facts)
}

struct Reader<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    /// Where what is being read ends: at a closing bracket, or at a comma between the parts of a macro.
    end: usize,
    names: Table,
    body: Draft,
    facts: FileFacts,
    depth: u32,
    /// Whether the expression read last is a range, which no operator may follow.
    ranged: bool,
}

impl Reader<'_> {
    fn token(&self) -> &Token {
        &self.tokens[self.at]
    }

    /// What the token is that comes next.
    fn kind(&self) -> Kind {
        if self.at < self.end { self.tokens[self.at].kind } else { Kind::End }
    }

    fn kind_after(&self, ahead: usize) -> Kind {
        let at = self.at + ahead;
        if at < self.end { self.tokens[at].kind } else { Kind::End }
    }

    /// Whether the mark comes next.
    fn is(&self, mark: u8) -> bool {
        matches!(self.kind(), Kind::Mark(found) if found == mark)
    }

    /// Whether the marks come next, nothing between them.
    fn are(&self, first: u8, second: u8) -> bool {
        self.is(first)
            && self.tokens[self.at].joint
            && matches!(self.kind_after(1), Kind::Mark(found) if found == second)
    }

    fn word(&self, word: Word) -> bool {
        matches!(self.kind(), Kind::Word(found) if found as u8 == word as u8)
    }

    fn opens(&self, bracket: u8) -> bool {
        matches!(self.kind(), Kind::Open(found) if found == bracket)
    }

    fn done(&self) -> bool {
        self.at >= self.end
    }

    /// Takes the mark if it comes next.
    fn take(&mut self, mark: u8) -> bool {
        let is = self.is(mark);
        self.at += usize::from(is);
        is
    }

    fn take_word(&mut self, word: Word) -> bool {
        let is = self.word(word);
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, mark: u8) -> Read<()> {
        if self.take(mark) { Ok(()) } else { Err(Stop::NoRust) }
    }

    fn expect_word(&mut self, word: Word) -> Read<()> {
        if self.take_word(word) { Ok(()) } else { Err(Stop::NoRust) }
    }

    /// The place of the next token, which is taken.
    fn place(&mut self) -> Range {
        let range = self.tokens[self.at].range;
        self.at += 1;
        range
    }

    /// The next token as a name, which is taken.
    fn named(&mut self) -> Name {
        let name = self.names.name(self.tokens[self.at].name);
        self.at += 1;
        name
    }

    /// Goes into the bracket that comes next; gives what to hand to [`Reader::leave`], and the place of all of it.
    fn enter(&mut self) -> (usize, Range) {
        let open = &self.tokens[self.at];
        let close = open.partner as usize;
        let place = over(open.range, self.tokens[close].range);
        let outer = self.end;
        self.at += 1;
        self.end = close;
        (outer, place)
    }

    /// Goes out of a bracket; what is left in it is an error.
    fn leave(&mut self, outer: usize) -> Read<()> {
        if self.at != self.end {
            return Err(Stop::NoRust);
        }
        self.at = self.end + 1;
        self.end = outer;
        Ok(())
    }

    /// Passes over attributes that say nothing to the lint.
    fn attributes(&mut self) -> Read<()> {
        loop {
            if matches!(self.kind(), Kind::Doc) {
                self.at += 1;
                continue;
            }
            if !self.is(b'#') {
                return Ok(());
            }
            let open = if matches!(self.kind_after(1), Kind::Mark(b'!')) { 2 } else { 1 };
            let Kind::Open(b'[') = self.kind_after(open) else { return Err(Stop::NoRust) };
            let close = self.tokens[self.at + open].partner as usize;
            let said = &self.text[self.tokens[self.at].from as usize..self.tokens[close].from as usize];
            if said.contains("unbroken") || said.contains("check") || said.contains("test") {
                return Err(Stop::Unknown);
            }
            self.at = close + 1;
        }
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth == DEPTH {
            return Err(Stop::Unknown);
        }
        self.depth += 1;
        let out = read(self);
        self.depth -= 1;
        out
    }

    fn add(&mut self, kind: Node, range: Range) -> Id {
        self.ranged = false;
        self.body.add(kind, range)
    }

    fn pat_node(&mut self, kind: PatKind, range: Range) -> PatId {
        self.body.add_pat(kind, range)
    }

    fn range_of(&self, id: Id) -> Range {
        self.body.range(id)
    }
}

/// From the first place to the end of the last.
fn over(first: Range, last: Range) -> Range {
    Range { line: first.line, column: first.column, end_line: last.end_line, end_column: last.end_column }
}
