//! Reads patterns.
//! Knows syntax only.

use super::super::ir::{Kind as Node, PatId, PatKind};
use super::super::ty::join;
use super::{Kind, Read, Reader, Stop, Word, over};
use crate::finding::Range;

impl Reader<'_> {
    /// A pattern with alternatives.
    pub(super) fn pats(&mut self) -> Read<PatId> {
        let leading = self.take(b'|');
        let first = self.pat()?;
        if !leading && !self.alternative() {
            return Ok(first);
        }
        let mut place = self.body.pat_range(first);
        let mut all = vec![first];
        while self.alternative() {
            self.at += 1;
            let next = self.pat()?;
            place = join(place, self.body.pat_range(next));
            all.push(next);
        }
        Ok(self.pat_node(PatKind::Or(all), place))
    }

    fn alternative(&self) -> bool {
        self.is(b'|') && !self.are(b'|', b'|') && !self.are(b'|', b'=')
    }

    /// A pattern without alternatives.
    pub(super) fn pat(&mut self) -> Read<PatId> {
        match self.kind() {
            Kind::Name => {
                if matches!(self.kind_after(1), Kind::Open(b'{' | b'(')) || self.path_goes_on() {
                    return self.path_pat();
                }
                if matches!(self.kind_after(1), Kind::Mark(b'!')) || self.dots_after(1) {
                    return Err(Stop::Unknown);
                }
                self.binding()
            }
            Kind::Word(Word::OwnType | Word::Crate | Word::Super) | Kind::Mark(b':') => self.path_pat(),
            Kind::Word(Word::Own) if self.path_goes_on() => self.path_pat(),
            Kind::Word(Word::Own) => self.binding(),
            Kind::Word(Word::Ref | Word::Mut) => {
                self.take_word(Word::Ref);
                self.take_word(Word::Mut);
                let (Kind::Name | Kind::Word(Word::Own)) = self.kind() else { return Err(Stop::NoRust) };
                self.binding()
            }
            Kind::Word(Word::Underscore) => {
                let place = self.place();
                Ok(self.pat_node(PatKind::Wild, place))
            }
            Kind::Text
            | Kind::Bytes
            | Kind::Int(_)
            | Kind::Literal
            | Kind::Word(Word::True | Word::False) => {
                let value = self.literal();
                if !self.dots_after(0) {
                    let place = self.range_of(value);
                    return Ok(self.pat_node(PatKind::Value(value), place));
                }
                let (dots, closed) = self.dots()?;
                self.range_pat(Some(value), dots, closed)
            }
            Kind::Mark(b'.') if self.dots_after(0) => {
                let (dots, closed) = self.dots()?;
                self.range_pat(None, dots, closed)
            }
            Kind::Mark(b'&') => {
                self.at += 1;
                self.take_word(Word::Mut);
                self.deeper(Self::pat)
            }
            Kind::Open(b'(') => {
                let (outer, place) = self.enter();
                let mut subs = Vec::new();
                let mut rest = false;
                let mut comma = true;
                while !self.done() {
                    rest = self.dots_after(0);
                    subs.push(self.deeper(Self::pats)?);
                    comma = self.take(b',');
                    if !comma {
                        break;
                    }
                }
                self.leave(outer)?;
                if subs.len() == 1 && !comma && !rest {
                    return Ok(subs[0]);
                }
                Ok(self.pat_node(PatKind::Tuple(subs), place))
            }
            Kind::Open(b'[') => {
                let (outer, place) = self.enter();
                let subs = self.sub_pats()?;
                self.leave(outer)?;
                Ok(self.pat_node(PatKind::Tuple(subs), place))
            }
            _ => Err(Stop::Unknown),
        }
    }

    fn sub_pats(&mut self) -> Read<Vec<PatId>> {
        let mut subs = Vec::new();
        while !self.done() {
            subs.push(self.deeper(Self::pats)?);
            if !self.done() {
                self.expect(b',')?;
            }
        }
        Ok(subs)
    }

    fn path_goes_on(&self) -> bool {
        matches!(self.kind_after(1), Kind::Mark(b':'))
            && self.tokens[self.at + 1].joint
            && matches!(self.kind_after(2), Kind::Mark(b':'))
    }

    /// Whether two dots and not three stand there.
    pub(super) fn dots_after(&self, ahead: usize) -> bool {
        matches!(self.kind_after(ahead), Kind::Mark(b'.'))
            && self.tokens[self.at + ahead].joint
            && matches!(self.kind_after(ahead + 1), Kind::Mark(b'.'))
    }

    /// `..` or `..=`, its place, and which it is.
    pub(super) fn dots(&mut self) -> Read<(Range, bool)> {
        let first = self.place();
        let joint = self.tokens[self.at].joint;
        let second = self.place();
        if joint && self.is(b'.') {
            return Err(Stop::Unknown);
        }
        if joint && self.is(b'=') {
            let last = self.place();
            return Ok((over(first, last), true));
        }
        Ok((over(first, second), false))
    }

    fn range_pat(&mut self, start: Option<super::Id>, dots: Range, closed: bool) -> Read<PatId> {
        let mut parts = Vec::new();
        let mut place = dots;
        if let Some(start) = start {
            place = join(place, self.range_of(start));
            parts.push(start);
        }
        let ends = self.done()
            || matches!(self.kind(), Kind::Mark(b'|' | b'=' | b',' | b';') | Kind::Word(Word::If))
            || self.is(b':') && !self.are(b':', b':');
        if !ends {
            let (Kind::Int(_) | Kind::Literal | Kind::Text) = self.kind() else { return Err(Stop::Unknown) };
            let end = self.literal();
            place = join(place, self.range_of(end));
            parts.push(end);
        } else if closed {
            return Err(Stop::NoRust);
        } else if start.is_none() {
            return Ok(self.pat_node(PatKind::Wild, dots));
        }
        let value = self.add(Node::Other(parts), place);
        let place = self.range_of(value);
        Ok(self.pat_node(PatKind::Value(value), place))
    }

    fn binding(&mut self) -> Read<PatId> {
        let place = self.token().range;
        let own = self.word(Word::Own);
        let name = self.named();
        if self.take(b'@') {
            let sub = self.deeper(Self::pat)?;
            return Ok(self.pat_node(PatKind::Bind(name, Some(sub)), place));
        }
        // A capital cannot start a binding in code that follows the naming lint: it is a constant or variant.
        let kind = match !own && name.as_bytes()[0].is_ascii_uppercase() {
            true => PatKind::Variant(vec![name], Vec::new(), Vec::new()),
            false => PatKind::Bind(name, None),
        };
        Ok(self.pat_node(kind, place))
    }

    fn path_pat(&mut self) -> Read<PatId> {
        let (path, place) = self.segments()?;
        match self.kind() {
            Kind::Open(b'(') => {
                let close = self.tokens[self.token().partner as usize].range;
                let (outer, _) = self.enter();
                let subs = self.sub_pats()?;
                self.leave(outer)?;
                Ok(self.pat_node(PatKind::Variant(path, subs, Vec::new()), join(place, close)))
            }
            Kind::Open(b'{') => {
                let close = self.tokens[self.token().partner as usize].range;
                let (outer, _) = self.enter();
                let (mut subs, mut fields) = (Vec::new(), Vec::new());
                while !self.done() {
                    self.attributes()?;
                    if self.dots_after(0) {
                        self.at += 2;
                        break;
                    }
                    let plain = !self.take_word(Word::Ref) & !self.take_word(Word::Mut);
                    // `ref mut`.
                    self.take_word(Word::Mut);
                    let Kind::Name = self.kind() else { return Err(Stop::Unknown) };
                    if plain && matches!(self.kind_after(1), Kind::Mark(b':')) {
                        fields.push(self.named());
                        self.at += 1;
                        subs.push(self.deeper(Self::pats)?);
                    } else {
                        let token = *self.token();
                        let name = self.named();
                        let kind = match name.as_bytes()[0].is_ascii_uppercase() {
                            true => PatKind::Variant(vec![name.clone()], Vec::new(), Vec::new()),
                            false => PatKind::Bind(name.clone(), None),
                        };
                        subs.push(self.pat_node(kind, token.range));
                        fields.push(name);
                    }
                    if !self.done() {
                        self.expect(b',')?;
                    }
                }
                self.leave(outer)?;
                Ok(self.pat_node(PatKind::Variant(path, subs, fields), join(place, close)))
            }
            Kind::Mark(b'!') => Err(Stop::Unknown),
            _ if self.dots_after(0) => Err(Stop::Unknown),
            _ => Ok(self.pat_node(PatKind::Variant(path, Vec::new(), Vec::new()), place)),
        }
    }
}
