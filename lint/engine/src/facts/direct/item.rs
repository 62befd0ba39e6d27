//! Reads the head of a function, and the methods of an impl.
//! Knows no expression.

use super::super::item::{DEPTH_LIMIT, NODE_LIMIT};
use super::super::{Function, Marks, Param, TypeText};
use super::{Kind, Name, Read, Reader, Stop, Word, over};

/// What surrounds a function.
struct Around<'a> {
    owner: Option<Name>,
    of_trait: Option<Name>,
    marks: &'a Marks,
}

impl Reader<'_> {
    /// The function or impl that is the whole text.
    pub(super) fn item(&mut self, marks: &Marks) -> Read<()> {
        self.attributes()?;
        let around = Around { owner: None, of_trait: None, marks };
        if matches!(self.kind(), Kind::Word(Word::Impl))
            || self.word(Word::Unsafe) && matches!(self.kind_after(1), Kind::Word(Word::Impl))
        {
            self.implementation(around)?;
        } else {
            self.function(&around)?;
        }
        if self.done() { Ok(()) } else { Err(Stop::Unknown) }
    }

    fn implementation(&mut self, mut around: Around<'_>) -> Read<()> {
        self.take_word(Word::Unsafe);
        self.expect_word(Word::Impl)?;
        if self.is(b'<') {
            self.pass_generics()?;
        }
        let mut name = self.ty(false, &mut Vec::new())?;
        if self.take_word(Word::For) {
            around.of_trait = Some(name.ok_or(Stop::Unknown)?);
            name = self.ty(false, &mut Vec::new())?;
        }
        around.owner = Some(name.ok_or(Stop::Unknown)?);
        self.pass_where()?;
        let Kind::Open(b'{') = self.kind() else { return Err(Stop::Unknown) };
        let (outer, _) = self.enter();
        while !self.done() {
            self.attributes()?;
            // An associated type says nothing to the lint.
            if self.word(Word::Type) {
                self.at = self.mark_ahead(b';').ok_or(Stop::Unknown)? + 1;
                continue;
            }
            self.function(&around)?;
        }
        self.leave(outer)
    }

    fn function(&mut self, around: &Around<'_>) -> Read<()> {
        if self.take_word(Word::Pub) && self.opens(b'(') {
            self.at = self.token().partner as usize + 1;
        }
        self.take_word(Word::Const);
        self.take_word(Word::Async);
        self.take_word(Word::Unsafe);
        let first = self.token().range;
        self.expect_word(Word::Fn)?;
        let Kind::Name = self.kind() else { return Err(Stop::Unknown) };
        let name = self.named();
        if self.is(b'<') {
            self.pass_generics()?;
        }
        let (takes_self, params) = self.params()?;
        let mut ret = Vec::new();
        self.output(&mut ret)?;
        self.pass_where()?;
        let Kind::Open(b'{') = self.kind() else { return Err(Stop::Unknown) };
        let whole = over(first, self.tokens[self.token().partner as usize].range);
        self.block()?;
        let body = std::mem::take(&mut self.body).finish();
        // A tree is no deeper than it has nodes.
        if body.nodes.len() > NODE_LIMIT
            || body.nodes.len() > DEPTH_LIMIT as usize && body.depth() > DEPTH_LIMIT
        {
            return Err(Stop::Unknown);
        }
        self.facts.functions.push(Function {
            name,
            owner: around.owner.clone(),
            of_trait: around.of_trait.clone(),
            takes_self,
            params,
            ret: TypeText(ret),
            test: false,
            body,
            range: whole,
            marks: around.marks.clone(),
        });
        Ok(())
    }

    fn params(&mut self) -> Read<(bool, Vec<Param>)> {
        let Kind::Open(b'(') = self.kind() else { return Err(Stop::Unknown) };
        let (outer, _) = self.enter();
        let mut takes_self = false;
        let mut params = Vec::new();
        while !self.done() {
            self.attributes()?;
            if self.receiver()? {
                takes_self = true;
            } else {
                let pat = self.pat()?;
                let names = self.body.bound(pat);
                self.expect(b':')?;
                let mut ty = Vec::new();
                self.ty(true, &mut ty)?;
                params.push(Param { names, ty: TypeText(ty) });
            }
            if !self.done() {
                self.expect(b',')?;
            }
        }
        self.leave(outer)?;
        Ok((takes_self, params))
    }

    /// Passes over `self`, `&'a mut self` or `self: Type`, if that comes next.
    fn receiver(&mut self) -> Read<bool> {
        let mut ahead = 0;
        if self.is(b'&') {
            ahead += 1;
            if matches!(self.kind_after(ahead), Kind::Lifetime) {
                ahead += 1;
            }
        }
        if matches!(self.kind_after(ahead), Kind::Word(Word::Mut)) {
            ahead += 1;
        }
        if !matches!(self.kind_after(ahead), Kind::Word(Word::Own)) {
            return Ok(false);
        }
        self.at += ahead + 1;
        if self.take(b':') {
            self.pass_type(true)?;
        }
        Ok(true)
    }

    /// Passes over the generic parameters of an item.
    fn pass_generics(&mut self) -> Read<()> {
        let mut open = 0_u32;
        while !self.done() {
            match self.kind() {
                Kind::Mark(b'<') => open += 1,
                // `->` closes nothing.
                Kind::Mark(b'>') if !matches!(self.tokens[self.at - 1].kind, Kind::Mark(b'-' | b'=')) => {
                    open -= 1
                }
                Kind::Open(b'{') => return Err(Stop::Unknown),
                Kind::Open(_) => self.at = self.token().partner as usize,
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                return Ok(());
            }
        }
        Err(Stop::Unknown)
    }

    /// Passes over what stands between the head and the braces.
    fn pass_where(&mut self) -> Read<()> {
        if !self.take_word(Word::Where) {
            return Ok(());
        }
        let mut open = 0_i32;
        while !self.done() {
            match self.kind() {
                Kind::Mark(b'<') => open += 1,
                Kind::Mark(b'>') if !matches!(self.tokens[self.at - 1].kind, Kind::Mark(b'-' | b'=')) => {
                    open -= 1
                }
                Kind::Open(b'{') if open == 0 => return Ok(()),
                Kind::Open(b'{') => return Err(Stop::Unknown),
                Kind::Open(_) => self.at = self.token().partner as usize,
                _ => {}
            }
            self.at += 1;
        }
        Err(Stop::Unknown)
    }
}
