//! Reads what steers: conditions, matches, loops, closures and jumps.
//! Knows no operator.

use super::super::ir::{Arm, Head, Id, Kind as Node, Name};
use super::super::ty::join;
use super::{Kind, Read, Reader, Stop, Word, over};

impl Reader<'_> {
    pub(super) fn condition(&mut self) -> Read<Id> {
        let first = self.place();
        let cond = self.open_expr(false)?;
        let then = self.block()?;
        let mut other = None;
        if self.take_word(Word::Else) {
            other = Some(match self.kind() {
                Kind::Word(Word::If) => self.deeper(Self::condition)?,
                _ => self.block()?,
            });
        }
        let place = join(first, self.range_of(other.unwrap_or(then)));
        Ok(self.add(Node::If(cond, then, other), place))
    }

    pub(super) fn matching(&mut self) -> Read<Id> {
        let first = self.place();
        let value = self.open_expr(false)?;
        let Kind::Open(b'{') = self.kind() else { return Err(Stop::NoRust) };
        let (outer, whole) = self.enter();
        let mut arms = Vec::new();
        while !self.done() {
            self.attributes()?;
            let pat = self.pats()?;
            let guard = match self.take_word(Word::If) {
                true => Some(self.expr()?),
                false => None,
            };
            if !self.are(b'=', b'>') {
                return Err(Stop::NoRust);
            }
            self.at += 2;
            let (body, needs) = self.statement()?;
            let range = join(self.body.pat_range(pat), self.range_of(body));
            arms.push(Arm { pat, future: None, guard, body, range });
            if !self.take(b',') && needs && !self.done() {
                return Err(Stop::NoRust);
            }
        }
        self.leave(outer)?;
        Ok(self.add(Node::Match(value, arms), over(first, whole)))
    }

    pub(super) fn repeated(&mut self, label: Option<Name>) -> Read<Id> {
        let word = self.kind();
        let first = self.place();
        let head = match word {
            Kind::Word(Word::Loop) => Head::Forever,
            Kind::Word(Word::While) => Head::While(self.open_expr(false)?),
            Kind::Word(Word::For) => {
                if self.is(b'<') {
                    return Err(Stop::Unknown);
                }
                let pat = self.pats()?;
                self.expect_word(Word::In)?;
                Head::For(pat, self.open_expr(false)?)
            }
            _ => return Err(Stop::NoRust),
        };
        let body = self.block()?;
        let place = join(first, self.range_of(body));
        Ok(self.add(Node::Loop(head, body, label), place))
    }

    pub(super) fn asynchronous(&mut self) -> Read<Id> {
        let first = self.token().range;
        let braces = 1 + usize::from(matches!(self.kind_after(1), Kind::Word(Word::Move)));
        if !matches!(self.kind_after(braces), Kind::Open(b'{')) {
            self.at += 1;
            return self.closure(true, true);
        }
        self.at += braces;
        let body = self.block()?;
        let place = join(first, self.range_of(body));
        Ok(self.add(Node::Async(body), place))
    }

    pub(super) fn closure(&mut self, braces: bool, asynchronous: bool) -> Read<Id> {
        self.take_word(Word::Move);
        if !self.is(b'|') {
            return Err(Stop::Unknown);
        }
        let first = self.place();
        let mut pats = Vec::new();
        while !self.is(b'|') {
            self.attributes()?;
            pats.push(self.pat()?);
            if self.take(b':') {
                self.pass_type(true)?;
            }
            if !self.is(b'|') {
                self.expect(b',')?;
            }
        }
        self.at += 1;
        let mut body = if self.are(b'-', b'>') {
            self.at += 2;
            self.pass_type(true)?;
            self.block()?
        } else {
            self.open_expr(braces)?
        };
        if asynchronous {
            let place = self.range_of(body);
            body = self.add(Node::Async(body), place);
        }
        let place = join(first, self.range_of(body));
        Ok(self.add(Node::Closure(pats, body), place))
    }

    pub(super) fn jump(&mut self, word: Word, braces: bool) -> Read<Id> {
        let mut place = self.place();
        let labelled = !matches!(word, Word::Return) && matches!(self.kind(), Kind::Lifetime);
        let label = labelled.then(|| self.named());
        if labelled && self.is(b':') {
            return Err(Stop::Unknown);
        }
        let mut value = None;
        let may = match word {
            Word::Return => true,
            Word::Break => braces || !self.opens(b'{'),
            _ => false,
        };
        if may && self.begins() {
            let id = self.open_expr(true)?;
            place = join(place, self.range_of(id));
            value = Some(id);
        }
        let kind = match word {
            Word::Return => Node::Return(value),
            Word::Break => Node::Break(label, value),
            _ => Node::Continue(label),
        };
        Ok(self.add(kind, place))
    }

    /// Whether an expression may begin here.
    fn begins(&self) -> bool {
        match self.kind() {
            Kind::Name
            | Kind::Lifetime
            | Kind::Text
            | Kind::Bytes
            | Kind::Int(_)
            | Kind::Literal
            | Kind::Open(_) => true,
            Kind::Word(word) => !matches!(word, Word::As),
            Kind::Mark(b'!' | b'*' | b'|' | b'&') => {
                !self.tokens[self.at].joint || !matches!(self.kind_after(1), Kind::Mark(b'='))
            }
            Kind::Mark(b'-') => {
                !self.tokens[self.at].joint || !matches!(self.kind_after(1), Kind::Mark(b'=' | b'>'))
            }
            Kind::Mark(b'.') => self.dots_after(0),
            Kind::Mark(b':') => self.are(b':', b':'),
            Kind::Mark(b'<' | b'#') => true,
            _ => false,
        }
    }
}
