//! Reads macro calls as [`super::super::mac`] does: `matches!`, and the parts of all others that are expressions.
//! Knows no `select!` and no macro of the item's own: the parser reads those.

use super::super::ir::{Id, Kind as Node};
use super::super::mac::{inline_names, stops};
use super::{Kind, Read, Reader, Stop, Word, over};
use crate::finding::Range;

impl Reader<'_> {
    /// The call whose path begins at `from`; its `!` comes next.
    pub(super) fn mac(&mut self, from: usize) -> Read<Id> {
        let name = self.names.name(self.tokens[self.at - 1].name);
        let first = match self.tokens[from].kind {
            Kind::Mark(_) => self.tokens[from + 2].range,
            _ => self.tokens[from].range,
        };
        self.at += 1;
        let Kind::Open(_) = self.kind() else { return Err(Stop::Unknown) };
        let place = over(first, self.tokens[self.token().partner as usize].range);
        let (outer, _) = self.enter();
        match &*name {
            "select" | "select_biased" | "try_select" | "macro_rules" => return Err(Stop::Unknown),
            "matches" | "assert_matches" => {
                let id = self.matches(place)?;
                self.leave(outer)?;
                return Ok(id);
            }
            _ => {}
        }
        let mut parts = self.parts(place)?;
        self.at = self.end;
        self.leave(outer)?;
        self.captured(&mut parts);
        let stops = stops(&name);
        let id = self.add(Node::Macro(name, parts), place);
        if stops { Ok(self.add(Node::Return(Some(id)), place)) } else { Ok(id) }
    }

    /// The pattern is written down before the value that stands before it.
    fn matches(&mut self, place: Range) -> Read<Id> {
        let from = self.at;
        let Some(comma) = self.mark_ahead(b',') else { return Err(Stop::Unknown) };
        self.at = comma + 1;
        let pat = self.pats().map_err(|_| Stop::Unknown)?;
        let behind = self.at;
        let end = std::mem::replace(&mut self.end, comma);
        self.at = from;
        let value = self.expr().map_err(|_| Stop::Unknown)?;
        if !self.done() {
            return Err(Stop::Unknown);
        }
        self.end = end;
        self.at = behind;
        let mut id = self.add(Node::LetCond(pat, value), place);
        if self.take_word(Word::If) {
            let guard = self.expr().map_err(|_| Stop::Unknown)?;
            id = self.add(Node::And(id, guard), place);
        }
        self.take(b',');
        if self.done() { Ok(id) } else { Err(Stop::Unknown) }
    }

    /// Where the mark stands first from here on, in no bracket.
    pub(super) fn mark_ahead(&self, mark: u8) -> Option<usize> {
        let mut at = self.at;
        while at < self.end {
            match self.tokens[at].kind {
                Kind::Mark(found) if found == mark => return Some(at),
                Kind::Open(_) => at = self.tokens[at].partner as usize,
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Comma-separated expressions, else statements, else what can be saved of each part.
    fn parts(&mut self, place: Range) -> Read<Vec<Id>> {
        if self.done() {
            return Ok(Vec::new());
        }
        let from = self.at;
        if let Some(parts) = self.attempt(from, self.end, Self::list)? {
            return Ok(parts);
        }
        if let Some(block) = self.attempt(from, self.end, |it| it.stmts(place))? {
            return Ok(vec![block]);
        }
        let mut stretches = Vec::new();
        self.split(from, self.end, &mut stretches);
        let mut out = Vec::new();
        for (from, to) in stretches {
            let value = from + self.key(from, to);
            match self.attempt(value, to, Self::expr)? {
                Some(id) => out.push(id),
                None => self.literals(from, to, &mut out)?,
            }
        }
        Ok(out)
    }

    /// Reads the tokens from the one place up to the other, all of them; what is no Rust leaves nothing behind.
    fn attempt<T>(
        &mut self,
        from: usize,
        to: usize,
        read: impl FnOnce(&mut Self) -> Read<T>,
    ) -> Read<Option<T>> {
        let before = (self.body.nodes.len(), self.body.pats.len(), self.facts.crates.len());
        let (end, depth) = (self.end, self.depth);
        (self.at, self.end) = (from, to);
        let found = read(self);
        let whole = self.at == to;
        (self.at, self.end, self.depth) = (to, end, depth);
        match found {
            Ok(found) if whole => return Ok(Some(found)),
            Ok(_) | Err(Stop::NoRust) => {}
            Err(Stop::Unknown) => return Err(Stop::Unknown),
        }
        self.body.nodes.truncate(before.0);
        self.body.pats.truncate(before.1);
        self.facts.crates.truncate(before.2);
        Ok(None)
    }

    /// Splits at top-level commas and semicolons; looks inside the braces that come first.
    fn split(&self, from: usize, to: usize, out: &mut Vec<(usize, usize)>) {
        let mut begin = from;
        let mut at = from;
        if at < to && matches!(self.tokens[at].kind, Kind::Open(b'{')) {
            // `json!({ … })`.
            let close = self.tokens[at].partner as usize;
            self.split(at + 1, close, out);
            at = close + 1;
            begin = at;
        }
        while at < to {
            match self.tokens[at].kind {
                Kind::Mark(b',' | b';') => {
                    if begin < at {
                        out.push((begin, at));
                    }
                    begin = at + 1;
                }
                Kind::Open(_) => at = self.tokens[at].partner as usize,
                _ => {}
            }
            at += 1;
        }
        if begin < to {
            out.push((begin, to));
        }
    }

    /// How many tokens stand before a logged value: `error = %e`, `?x`, `"method": m`.
    fn key(&self, from: usize, to: usize) -> usize {
        let kind = |at: usize| if from + at < to { self.tokens[from + at].kind } else { Kind::End };
        let is = |at: usize, mark: u8| matches!(kind(at), Kind::Mark(found) if found == mark);
        let sigil = |at: usize| usize::from(is(at, b'%') || is(at, b'?'));
        match kind(0) {
            Kind::Mark(_) | Kind::Lifetime => sigil(0),
            Kind::Name | Kind::Word(_) if is(1, b'=') && !is(2, b'=') => 2 + sigil(2),
            Kind::Name | Kind::Word(_) | Kind::Text | Kind::Bytes | Kind::Int(_) | Kind::Literal
                if is(1, b':') && !is(2, b':') =>
            {
                2
            }
            _ => 0,
        }
    }

    fn literals(&mut self, from: usize, to: usize, out: &mut Vec<Id>) -> Read<()> {
        for at in from..to {
            let token = self.tokens[at];
            let kind = match token.kind {
                Kind::Text => Node::Str(self.names.name(token.name)),
                Kind::Name | Kind::Word(_) | Kind::Lifetime => Node::Path(vec![self.names.name(token.name)]),
                // Its text would be told as a literal.
                Kind::Doc => return Err(Stop::Unknown),
                _ => continue,
            };
            let mut range = token.range;
            // The quote of a lifetime is a mark of its own.
            range.column += u32::from(matches!(token.kind, Kind::Lifetime));
            out.push(self.add(kind, range));
        }
        Ok(())
    }

    /// Adds the variables that format strings name inline, `"{error}"`, as the parts they stand for.
    fn captured(&mut self, parts: &mut Vec<Id>) {
        let mut named = Vec::new();
        for part in parts.iter() {
            if let Node::Str(text) = self.body.kind(*part)
                && text.contains('{')
            {
                let place = self.range_of(*part);
                for name in inline_names(text) {
                    named.push((name.to_owned(), place));
                }
            }
        }
        for (name, place) in named {
            let index = self.names.index(&name);
            let name = self.names.name(index);
            parts.push(self.add(Node::Path(vec![name]), place));
        }
    }
}
