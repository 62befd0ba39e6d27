//! Reads types: the identifiers in them, as [`super::super::ty`] writes them down.
//! Knows no expression.

use super::super::ir::Name;
use super::{Kind, Read, Reader, Stop, Word};

impl Reader<'_> {
    /// Reads a type and adds its identifiers; gives the name of a path's last segment.
    pub(super) fn ty(&mut self, plus: bool, out: &mut Vec<Name>) -> Read<Option<Name>> {
        match self.kind() {
            Kind::Mark(b'&') => {
                self.at += 1;
                if matches!(self.kind(), Kind::Lifetime) {
                    self.at += 1;
                }
                self.take_word(Word::Mut);
                self.deeper(|it| it.ty(false, out))
            }
            Kind::Mark(b'*') => {
                self.at += 1;
                if !self.take_word(Word::Const) && !self.take_word(Word::Mut) {
                    return Err(Stop::NoRust);
                }
                self.deeper(|it| it.ty(false, out)).map(|_| None)
            }
            Kind::Mark(b'!') => {
                self.at += 1;
                Ok(None)
            }
            Kind::Word(Word::Underscore) => {
                self.at += 1;
                Ok(None)
            }
            Kind::Open(b'(') => {
                let (outer, _) = self.enter();
                let mut parts = 0;
                while !self.done() {
                    self.deeper(|it| it.ty(true, out))?;
                    parts += 1;
                    if !self.take(b',') {
                        // Whether a name in parentheses names the type of an impl is not asked here.
                        break;
                    }
                }
                self.leave(outer)?;
                if parts == 1 && self.is(b'+') { Err(Stop::Unknown) } else { Ok(None) }
            }
            Kind::Open(b'[') => {
                let (outer, _) = self.enter();
                self.deeper(|it| it.ty(true, out))?;
                // A length is an expression, which names nothing here.
                if self.is(b';') {
                    self.at = self.end;
                }
                self.leave(outer)?;
                Ok(None)
            }
            Kind::Word(Word::Dyn | Word::Impl) => {
                self.at += 1;
                self.bounds(plus, out)?;
                Ok(None)
            }
            Kind::Word(Word::Fn) => {
                self.at += 1;
                let Kind::Open(b'(') = self.kind() else { return Err(Stop::NoRust) };
                self.at = self.token().partner as usize + 1;
                let mut unsaid = Vec::new();
                self.output(&mut unsaid)?;
                Ok(None)
            }
            Kind::Name
            | Kind::Word(Word::OwnType | Word::Own | Word::Crate | Word::Super)
            | Kind::Mark(b':') => {
                let name = self.type_path(out)?;
                if self.is(b'!') { Err(Stop::Unknown) } else { Ok(Some(name)) }
            }
            _ => Err(Stop::Unknown),
        }
    }

    /// Reads a type that is not written down.
    pub(super) fn pass_type(&mut self, plus: bool) -> Read<()> {
        let mut unsaid = Vec::new();
        self.ty(plus, &mut unsaid).map(drop)
    }

    /// `-> type`, if it stands there.
    pub(super) fn output(&mut self, out: &mut Vec<Name>) -> Read<()> {
        if self.are(b'-', b'>') {
            self.at += 2;
            self.deeper(|it| it.ty(true, out))?;
        }
        Ok(())
    }

    fn bounds(&mut self, plus: bool, out: &mut Vec<Name>) -> Read<()> {
        loop {
            match self.kind() {
                Kind::Lifetime => self.at += 1,
                Kind::Mark(b'?') => {
                    self.at += 1;
                    self.type_path(out)?;
                }
                Kind::Name | Kind::Word(Word::Crate | Word::Own | Word::Super) | Kind::Mark(b':') => {
                    drop(self.type_path(out)?);
                }
                _ => return Err(Stop::Unknown),
            }
            if !plus || !self.take(b'+') {
                return Ok(());
            }
        }
    }

    fn type_path(&mut self, out: &mut Vec<Name>) -> Read<Name> {
        if self.are(b':', b':') {
            self.at += 2;
        }
        let mut first = None;
        loop {
            let (Kind::Name | Kind::Word(Word::OwnType | Word::Own | Word::Crate | Word::Super)) =
                self.kind()
            else {
                return Err(Stop::NoRust);
            };
            let name = self.named();
            let mut inside = Vec::new();
            if self.are(b':', b':') && matches!(self.kind_after(2), Kind::Mark(b'<')) {
                self.at += 2;
            }
            if self.is(b'<') {
                self.deeper(|it| it.arguments(&mut inside))?;
            } else if self.opens(b'(') {
                // `Fn(A) -> B`.
                let (outer, _) = self.enter();
                while !self.done() {
                    self.deeper(|it| it.ty(true, &mut inside))?;
                    if !self.take(b',') {
                        break;
                    }
                }
                self.leave(outer)?;
                if self.are(b'-', b'>') {
                    self.at += 2;
                    self.deeper(|it| it.ty(false, &mut inside))?;
                }
            }
            if self.are(b':', b':') {
                self.at += 2;
                first.get_or_insert(name);
                continue;
            }
            // The crate a type is named under tells `reqwest::Client` from an SDK's.
            if let Some(first) = first
                && first.as_bytes()[0].is_ascii_lowercase()
                && !matches!(&*first, "crate" | "self" | "super" | "std" | "core" | "alloc")
            {
                out.push(first);
            }
            out.push(name.clone());
            out.append(&mut inside);
            return Ok(name);
        }
    }

    /// `<…>` of a path.
    pub(super) fn arguments(&mut self, out: &mut Vec<Name>) -> Read<()> {
        self.expect(b'<')?;
        loop {
            match self.kind() {
                Kind::Mark(b'>') => {
                    self.at += 1;
                    return Ok(());
                }
                Kind::Lifetime | Kind::Int(_) | Kind::Word(Word::True | Word::False) => self.at += 1,
                Kind::Name
                    if matches!(self.kind_after(1), Kind::Mark(b'='))
                        && !matches!(self.kind_after(2), Kind::Mark(b'=')) =>
                {
                    self.at += 2;
                    self.ty(true, out)?;
                }
                Kind::Name
                    if matches!(self.kind_after(1), Kind::Mark(b':'))
                        && !matches!(self.kind_after(2), Kind::Mark(b':')) =>
                {
                    return Err(Stop::Unknown);
                }
                Kind::Literal | Kind::Text | Kind::Bytes | Kind::Open(b'{') | Kind::Mark(b'-') => {
                    return Err(Stop::Unknown);
                }
                _ => drop(self.ty(true, out)?),
            }
            if !self.is(b'>') {
                self.expect(b',')?;
            }
        }
    }
}
