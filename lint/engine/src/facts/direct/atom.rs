//! Reads operands: literals, paths, macros, brackets, and the calls and fields that follow.
//! Knows no operator between two of them.

use super::super::ir::{Id, Kind as Node, Name, downcasts};
use super::super::ty::join;
use super::expr::binds;
use super::{Kind, Read, Reader, Stop, Word, over};
use crate::finding::Range;

impl Reader<'_> {
    /// Calls, methods, fields, indices, `?` and `.await`.
    pub(super) fn trailer(&mut self, atom: Id) -> Read<Id> {
        let mut id = atom;
        loop {
            let (last, kind) = match self.kind() {
                Kind::Open(b'(') => {
                    let (args, close) = self.args()?;
                    (close, Node::Call(id, args))
                }
                Kind::Open(b'[') => {
                    let close = self.tokens[self.token().partner as usize].range;
                    let (outer, _) = self.enter();
                    let index = self.expr()?;
                    self.leave(outer)?;
                    (close, Node::Index(id, index))
                }
                Kind::Mark(b'?') if !self.ranged => (self.place(), Node::Try(id)),
                Kind::Mark(b'.') if !self.ranged && !self.dots_after(0) => {
                    self.at += 1;
                    match self.kind() {
                        Kind::Word(Word::Await) => (self.place(), Node::Await(id)),
                        Kind::Int(_) => {
                            let end = self.token().range;
                            (end, Node::Field(id, self.named()))
                        }
                        Kind::Name => {
                            let end = self.token().range;
                            let name = self.named();
                            let turbofish = self.are(b':', b':');
                            let (mut asked, mut place) = (Vec::new(), end);
                            if turbofish {
                                self.at += 2;
                                let first = self.token().range;
                                self.arguments(&mut asked)?;
                                place = over(first, self.tokens[self.at - 1].range);
                            }
                            if self.opens(b'(') {
                                let (mut args, close) = self.args()?;
                                if args.is_empty()
                                    && downcasts(&name)
                                    && let Some(ty) = asked.pop()
                                {
                                    args.push(self.add(Node::Path(vec![ty]), place));
                                }
                                (close, Node::Method(id, name, args))
                            } else if turbofish {
                                return Err(Stop::NoRust);
                            } else {
                                (end, Node::Field(id, name))
                            }
                        }
                        _ => return Err(Stop::NoRust),
                    }
                }
                _ => return Ok(id),
            };
            let place = join(self.range_of(id), last);
            id = self.add(kind, place);
        }
    }

    /// Arguments in parentheses, and the place of the closing one.
    fn args(&mut self) -> Read<(Vec<Id>, Range)> {
        let close = self.tokens[self.token().partner as usize].range;
        let (outer, _) = self.enter();
        let args = self.list()?;
        self.leave(outer)?;
        Ok((args, close))
    }

    /// Expressions between commas, up to the end.
    pub(super) fn list(&mut self) -> Read<Vec<Id>> {
        let mut out = Vec::new();
        while !self.done() {
            out.push(self.expr()?);
            if !self.done() {
                self.expect(b',')?;
            }
        }
        Ok(out)
    }

    pub(super) fn atom(&mut self, braces: bool) -> Read<Id> {
        match self.kind() {
            Kind::Text
            | Kind::Bytes
            | Kind::Int(_)
            | Kind::Literal
            | Kind::Word(Word::True | Word::False) => Ok(self.literal()),
            Kind::Name | Kind::Word(Word::Own | Word::OwnType | Word::Crate | Word::Super) => {
                self.path(braces)
            }
            Kind::Mark(b':') if self.are(b':', b':') => self.path(braces),
            Kind::Word(Word::Async) => self.deeper(Self::asynchronous),
            Kind::Mark(b'|') | Kind::Word(Word::Move) => self.deeper(|it| it.closure(braces, false)),
            Kind::Open(b'(') => self.parentheses(),
            Kind::Open(b'[') => self.array(),
            Kind::Open(_) => self.block(),
            Kind::Word(Word::If) => self.deeper(Self::condition),
            Kind::Word(Word::Let) => {
                let first = self.place();
                let pat = self.pats()?;
                self.expect(b'=')?;
                let value = self.unary(braces)?;
                let value = self.deeper(|it| it.operators(value, braces, binds::COMPARE))?;
                let place = join(first, self.range_of(value));
                Ok(self.add(Node::LetCond(pat, value), place))
            }
            Kind::Word(Word::Match) => self.deeper(Self::matching),
            Kind::Word(Word::Loop | Word::While | Word::For) => self.deeper(|it| it.repeated(None)),
            Kind::Lifetime => {
                let name = self.named();
                self.expect(b':')?;
                if self.opens(b'{') { self.block() } else { self.deeper(|it| it.repeated(Some(name))) }
            }
            Kind::Word(Word::Unsafe) => {
                self.at += 1;
                self.block()
            }
            Kind::Word(word @ (Word::Return | Word::Break | Word::Continue)) => {
                self.deeper(|it| it.jump(word, braces))
            }
            Kind::Mark(b'.') if self.dots_after(0) => self.deeper(|it| it.range(None, braces)),
            Kind::Word(Word::Underscore) => {
                let place = self.place();
                Ok(self.add(Node::Other(Vec::new()), place))
            }
            Kind::End | Kind::Close => Err(Stop::NoRust),
            Kind::Mark(b'=' | b',' | b';' | b'%' | b'?' | b'+' | b'/' | b'^' | b'>' | b'@' | b'$' | b'.') => {
                Err(Stop::NoRust)
            }
            _ => Err(Stop::Unknown),
        }
    }

    pub(super) fn literal(&mut self) -> Id {
        let token = *self.token();
        self.at += 1;
        let kind = match token.kind {
            Kind::Text | Kind::Bytes => Node::Str(self.names.name(token.name)),
            Kind::Int(value) => Node::Int(value),
            Kind::Word(Word::True) => Node::Bool(true),
            Kind::Word(Word::False) => Node::Bool(false),
            _ => Node::Other(Vec::new()),
        };
        self.add(kind, token.range)
    }

    /// The segments of a path, without generic arguments, and the place from the first to the last.
    pub(super) fn segments(&mut self) -> Read<(Vec<Name>, Range)> {
        let absolute = self.are(b':', b':');
        if absolute {
            self.at += 2;
        }
        let mut out = Vec::new();
        let mut place = self.token().range;
        loop {
            let (Kind::Name | Kind::Word(Word::Own | Word::OwnType | Word::Crate | Word::Super)) =
                self.kind()
            else {
                return Err(Stop::NoRust);
            };
            place = over(place, self.token().range);
            out.push(self.named());
            if !self.are(b':', b':') {
                break;
            }
            self.at += 2;
            if self.is(b'<') {
                self.deeper(|it| it.arguments(&mut Vec::new()))?;
                if !self.are(b':', b':') {
                    break;
                }
                self.at += 2;
            }
        }
        if absolute || out.len() > 1 {
            let first = &out[0];
            if !self.facts.crates.contains(first) {
                self.facts.crates.push(first.clone());
            }
        }
        Ok((out, place))
    }

    pub(super) fn path(&mut self, braces: bool) -> Read<Id> {
        let before = (self.at, self.facts.crates.len());
        let (path, place) = self.segments()?;
        if self.is(b'!') && !self.are(b'!', b'=') {
            // The path of a macro names no crate.
            self.facts.crates.truncate(before.1);
            return self.mac(before.0);
        }
        if !braces || !self.opens(b'{') {
            return Ok(self.add(Node::Path(path), place));
        }
        let (outer, whole) = self.enter();
        let (mut fields, mut rest) = (Vec::new(), None);
        while !self.done() {
            self.attributes()?;
            if self.dots_after(0) {
                self.at += 2;
                if !self.done() {
                    rest = Some(self.expr()?);
                }
                break;
            }
            let (Kind::Name | Kind::Int(_)) = self.kind() else { return Err(Stop::NoRust) };
            let token = *self.token();
            let name = self.named();
            let value = if self.is(b':') && !self.are(b':', b':') {
                self.at += 1;
                self.expr()?
            } else {
                self.add(Node::Path(vec![name.clone()]), token.range)
            };
            fields.push((name, value));
            if !self.done() {
                self.expect(b',')?;
            }
        }
        self.leave(outer)?;
        Ok(self.add(Node::Struct(path, fields, rest), over(place, whole)))
    }

    fn parentheses(&mut self) -> Read<Id> {
        let (outer, place) = self.enter();
        let mut parts = Vec::new();
        let mut comma = true;
        while !self.done() {
            parts.push(self.expr()?);
            comma = self.take(b',');
            if !comma {
                break;
            }
        }
        self.leave(outer)?;
        self.ranged = false;
        if parts.len() == 1 && !comma { Ok(parts[0]) } else { Ok(self.add(Node::Tuple(parts), place)) }
    }

    fn array(&mut self) -> Read<Id> {
        let (outer, place) = self.enter();
        let mut parts = Vec::new();
        while !self.done() {
            parts.push(self.expr()?);
            if parts.len() == 1 && self.take(b';') {
                parts.push(self.expr()?);
                break;
            }
            if !self.done() {
                self.expect(b',')?;
            }
        }
        self.leave(outer)?;
        Ok(self.add(Node::Array(parts), place))
    }
}
