//! Reads statements and expressions, with the precedences of the language.
//! Knows syntax only; what it writes is what [`super::super::expr`] writes of the parser's tree.

use super::super::ir::{Id, Kind as Node, Op};
use super::super::ty::join;
use super::{Kind, Read, Reader, Stop, Word, over};
use crate::finding::Range;

/// How tightly operators bind.
pub(super) mod binds {
    pub(in super::super) const LEAST: u8 = 0;
    pub(in super::super) const ASSIGN: u8 = 1;
    pub(in super::super) const RANGE: u8 = 2;
    pub(in super::super) const OR: u8 = 3;
    pub(in super::super) const AND: u8 = 4;
    pub(in super::super) const COMPARE: u8 = 6;
    pub(in super::super) const BIT_OR: u8 = 7;
    pub(in super::super) const BIT_XOR: u8 = 8;
    pub(in super::super) const BIT_AND: u8 = 9;
    pub(in super::super) const SHIFT: u8 = 10;
    pub(in super::super) const SUM: u8 = 11;
    pub(in super::super) const PRODUCT: u8 = 12;
    pub(in super::super) const CAST: u8 = 13;
}

/// What an operator between two expressions makes of them.
#[derive(Clone, Copy)]
enum Made {
    And,
    Or,
    Binary(Op),
    Update(Op),
}

impl Reader<'_> {
    /// A block in braces.
    pub(super) fn block(&mut self) -> Read<Id> {
        let Kind::Open(b'{') = self.kind() else { return Err(Stop::NoRust) };
        let (outer, place) = self.enter();
        let id = self.deeper(|it| it.stmts(place))?;
        self.leave(outer)?;
        Ok(id)
    }

    /// Statements up to the end.
    pub(super) fn stmts(&mut self, place: Range) -> Read<Id> {
        let mut out = Vec::new();
        let mut tail = false;
        while !self.done() {
            self.attributes()?;
            match self.kind() {
                Kind::Word(Word::Let) => {
                    let id = self.local()?;
                    out.push(id);
                    tail = false;
                    continue;
                }
                // Items, and a statement of nothing.
                Kind::Word(Word::Fn | Word::Impl | Word::Pub | Word::Type | Word::Const | Word::Other)
                | Kind::Mark(b';') => return Err(Stop::Unknown),
                Kind::Word(Word::Unsafe) if !matches!(self.kind_after(1), Kind::Open(b'{')) => {
                    return Err(Stop::Unknown);
                }
                Kind::Word(Word::Async)
                    if matches!(self.kind_after(1), Kind::Word(Word::Fn | Word::Unsafe | Word::Other)) =>
                {
                    return Err(Stop::Unknown);
                }
                Kind::Name if matches!(self.kind_after(1), Kind::Name) => return Err(Stop::Unknown),
                _ => {}
            }
            let (id, needs) = self.statement()?;
            out.push(id);
            tail = !self.take(b';');
            if tail && needs && !self.done() {
                return Err(Stop::NoRust);
            }
        }
        Ok(self.add(Node::Block(out, tail), place))
    }

    fn local(&mut self) -> Read<Id> {
        let first = self.place();
        let pat = self.pat()?;
        if self.take(b':') {
            self.pass_type(true)?;
        }
        let (mut init, mut diverge) = (None, None);
        if self.take(b'=') {
            init = Some(self.expr()?);
            if self.take_word(Word::Else) {
                diverge = Some(self.block()?);
            }
        }
        if !self.is(b';') {
            return Err(Stop::NoRust);
        }
        let whole = over(first, self.place());
        Ok(self.add(Node::Let(pat, init, diverge), whole))
    }

    /// An expression where a statement or the body of an arm begins: one with a block of its own ends there. Says
    /// whether a mark must follow, if anything does.
    pub(super) fn statement(&mut self) -> Read<(Id, bool)> {
        let (first, mut blocky) = match self.kind() {
            Kind::Word(Word::If | Word::While | Word::For | Word::Loop | Word::Match | Word::Unsafe)
            | Kind::Open(b'{')
            | Kind::Lifetime => (self.atom(true)?, true),
            Kind::Name if self.brace_macro() => (self.atom(true)?, true),
            _ => (self.unary(true)?, false),
        };
        let mut id = first;
        if blocky && (self.is(b'.') && !self.dots_after(0) || self.is(b'?')) {
            id = self.trailer(first)?;
            blocky = false;
        }
        if !blocky {
            id = self.operators(id, true, binds::LEAST)?;
        }
        Ok((id, !blocky))
    }

    /// Whether a macro with braces comes next, which ends a statement.
    fn brace_macro(&self) -> bool {
        let mut ahead = 1;
        while matches!(self.kind_after(ahead), Kind::Mark(b':'))
            && matches!(self.kind_after(ahead + 1), Kind::Mark(b':'))
            && matches!(self.kind_after(ahead + 2), Kind::Name)
        {
            ahead += 3;
        }
        matches!(self.kind_after(ahead), Kind::Mark(b'!'))
            && matches!(self.kind_after(ahead + 1), Kind::Open(b'{'))
    }

    pub(super) fn expr(&mut self) -> Read<Id> {
        self.deeper(|it| it.open_expr(true))
    }

    /// An expression; `braces` says whether a path may be followed by the braces of a struct.
    pub(super) fn open_expr(&mut self, braces: bool) -> Read<Id> {
        let first = self.unary(braces)?;
        self.operators(first, braces, binds::LEAST)
    }

    /// What follows a first operand, of operators that bind at least as tightly as `least`.
    pub(super) fn operators(&mut self, first: Id, braces: bool, least: u8) -> Read<Id> {
        let mut left = first;
        let mut compared = false;
        while !self.ranged {
            if let Some((made, binding, marks)) = self.operator() {
                if binding < least {
                    break;
                }
                if compared && binding == binds::COMPARE {
                    return Err(Stop::NoRust);
                }
                compared = binding == binds::COMPARE;
                self.at += marks;
                let right = self.right(braces, binding)?;
                let place = join(self.range_of(left), self.range_of(right));
                let kind = match made {
                    Made::And => Node::And(left, right),
                    Made::Or => Node::Or(left, right),
                    Made::Binary(op) => Node::Binary(op, left, right),
                    Made::Update(op) => Node::Update(op, left, right),
                };
                left = self.add(kind, place);
            } else if least <= binds::ASSIGN && self.is(b'=') && !self.are(b'=', b'>') {
                self.at += 1;
                let right = self.right(braces, binds::ASSIGN)?;
                let place = join(self.range_of(left), self.range_of(right));
                left = self.add(Node::Assign(left, right), place);
            } else if least <= binds::RANGE && self.dots_after(0) {
                left = self.range(Some(left), braces)?;
            } else if least <= binds::CAST && self.take_word(Word::As) {
                self.pass_type(false)?;
                let place = self.range_of(left);
                left = self.add(Node::Other(vec![left]), place);
            } else {
                break;
            }
        }
        Ok(left)
    }

    fn right(&mut self, braces: bool, binding: u8) -> Read<Id> {
        let mut right = self.deeper(|it| it.unary(braces))?;
        loop {
            let next = self.next_binding();
            if next <= binding && !(next == binding && binding == binds::ASSIGN) {
                break;
            }
            let from = self.at;
            right = self.deeper(|it| it.operators(right, braces, next))?;
            if from == self.at {
                break;
            }
        }
        Ok(right)
    }

    fn next_binding(&self) -> u8 {
        match self.kind() {
            Kind::Mark(mark) => match self.operator() {
                Some((_, binding, _)) => binding,
                None if mark == b'=' && !self.are(b'=', b'>') => binds::ASSIGN,
                None if self.dots_after(0) => binds::RANGE,
                None => binds::LEAST,
            },
            Kind::Word(Word::As) => binds::CAST,
            _ => binds::LEAST,
        }
    }

    /// The operator between two expressions that comes next, how tightly it binds, and how many marks it has.
    fn operator(&self) -> Option<(Made, u8, usize)> {
        let Kind::Mark(first) = self.kind() else { return None };
        let second = match self.tokens[self.at].joint {
            true => match self.kind_after(1) {
                Kind::Mark(second) => second,
                _ => 0,
            },
            false => 0,
        };
        let third = || self.tokens[self.at + 1].joint && matches!(self.kind_after(2), Kind::Mark(b'='));
        let shift = |op| {
            if third() { (Made::Update(op), binds::ASSIGN, 3) } else { (Made::Binary(op), binds::SHIFT, 2) }
        };
        Some(match (first, second) {
            (b'&', b'&') => (Made::And, binds::AND, 2),
            (b'|', b'|') => (Made::Or, binds::OR, 2),
            (b'<', b'<') => shift(Op::Grow),
            (b'>', b'>') => shift(Op::Other),
            (b'=', b'=') => (Made::Binary(Op::Eq), binds::COMPARE, 2),
            (b'!', b'=') => (Made::Binary(Op::Ne), binds::COMPARE, 2),
            (b'<', b'=') => (Made::Binary(Op::Less), binds::COMPARE, 2),
            (b'>', b'=') => (Made::Binary(Op::Greater), binds::COMPARE, 2),
            (b'+', b'=') => (Made::Update(Op::Add), binds::ASSIGN, 2),
            (b'*', b'=') => (Made::Update(Op::Grow), binds::ASSIGN, 2),
            (b'-' | b'/' | b'%' | b'^' | b'&' | b'|', b'=') => (Made::Update(Op::Other), binds::ASSIGN, 2),
            (b'<', _) => (Made::Binary(Op::Less), binds::COMPARE, 1),
            (b'>', _) => (Made::Binary(Op::Greater), binds::COMPARE, 1),
            (b'+', _) => (Made::Binary(Op::Add), binds::SUM, 1),
            (b'-', _) => (Made::Binary(Op::Other), binds::SUM, 1),
            (b'*', _) => (Made::Binary(Op::Grow), binds::PRODUCT, 1),
            (b'/' | b'%', _) => (Made::Binary(Op::Other), binds::PRODUCT, 1),
            (b'^', _) => (Made::Binary(Op::Other), binds::BIT_XOR, 1),
            (b'&', _) => (Made::Binary(Op::Other), binds::BIT_AND, 1),
            (b'|', _) => (Made::Binary(Op::Other), binds::BIT_OR, 1),
            _ => return None,
        })
    }

    pub(super) fn range(&mut self, start: Option<Id>, braces: bool) -> Read<Id> {
        let (dots, closed) = self.dots()?;
        let mut parts: Vec<Id> = start.into_iter().collect();
        let open = !closed
            && (self.done()
                || matches!(
                    self.kind(),
                    Kind::Mark(b',' | b';' | b'?' | b'=' | b'+' | b'/' | b'%' | b'^' | b'>')
                        | Kind::Word(Word::As)
                )
                || self.is(b'.') && !self.dots_after(0)
                || !braces && self.opens(b'{')
                || self.are(b'<', b'=')
                || self.are(b'!', b'=')
                || self.are(b'-', b'=')
                || self.are(b'*', b'=')
                || self.are(b'&', b'=')
                || self.are(b'|', b'='));
        if !open {
            parts.push(self.right(braces, binds::RANGE)?);
        }
        let mut place = dots;
        for part in &parts {
            place = join(place, self.range_of(*part));
        }
        let id = self.add(Node::Other(parts), place);
        self.ranged = true;
        Ok(id)
    }

    pub(super) fn unary(&mut self, braces: bool) -> Read<Id> {
        self.ranged = false;
        self.attributes()?;
        match self.kind() {
            Kind::Mark(b'&') => {
                let first = self.place();
                if matches!(self.kind(), Kind::Name)
                    && self.names.text(self.token().name) == "raw"
                    && matches!(self.kind_after(1), Kind::Word(Word::Const | Word::Mut))
                {
                    return Err(Stop::Unknown);
                }
                self.take_word(Word::Mut);
                let base = self.deeper(|it| it.unary(braces))?;
                let place = join(first, self.range_of(base));
                Ok(self.add(Node::Ref(base), place))
            }
            Kind::Mark(mark @ (b'*' | b'!' | b'-')) => {
                let first = self.place();
                let base = self.deeper(|it| it.unary(braces))?;
                let place = join(first, self.range_of(base));
                let kind = match mark {
                    b'*' => Node::Deref(base),
                    b'!' => Node::Not(base),
                    _ => Node::Other(vec![base]),
                };
                Ok(self.add(kind, place))
            }
            _ => {
                let atom = self.atom(braces)?;
                self.trailer(atom)
            }
        }
    }
}
