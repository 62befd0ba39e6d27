//! Lowers expressions and statements.
//! Knows syntax only; what an expression means is found later.

use super::expand::Macros;
use super::ir::{Arm, Draft, Head, Id, Kind, Name, Op, PatId, PatKind, downcasts};
use super::ty::{Names, join, range, type_text};
use super::{Acceptance, FileFacts};
use crate::finding::Range;
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Attribute, BinOp, Block, Expr, Lit, Member, RangeLimits, Stmt, UnOp};

/// Builds one [`super::ir::Body`].
pub(super) struct Builder<'a> {
    pub(super) body: Draft,
    pub(super) names: &'a mut Names,
    pub(super) macros: &'a mut Macros,
    pub(super) facts: &'a mut FileFacts,
    /// Items found inside the body, to be lowered as functions of their own.
    pub(super) items: Vec<syn::Item>,
}

impl Builder<'_> {
    pub(super) fn name(&mut self, text: &str) -> Name {
        self.names.get(text)
    }

    pub(super) fn add(&mut self, kind: Kind, range: Range) -> Id {
        self.body.add(kind, range)
    }

    pub(super) fn range_of(&self, id: Id) -> Range {
        self.body.range(id)
    }

    pub(super) fn pat_node(&mut self, kind: PatKind, range: Range) -> PatId {
        self.body.add_pat(kind, range)
    }

    /// Notes the acceptances that attributes on a node state.
    pub(super) fn accept(&mut self, attrs: &[Attribute], covers: Range) {
        for attr in attrs {
            let bare = super::attribute::is_bare_allow(attr);
            for said in super::attribute::allowed(attr) {
                let acceptance = Acceptance {
                    rule: self.name(&said.rule),
                    reason: self.name(&said.reason),
                    unread: said.unread,
                    bare,
                    misplaced: false,
                    covers,
                    range: said.range,
                };
                self.facts.acceptances.push(acceptance);
            }
        }
    }

    /// The parser hangs an attribute of the statement `a = b` on `a`; what it accepts, it accepts for the statement.
    fn widen(&mut self, before: usize, statement: &Expr, id: Id) {
        let mut bearer = statement;
        loop {
            bearer = match bearer {
                Expr::Assign(e) => &e.left,
                Expr::Binary(e) => &e.left,
                Expr::Cast(e) => &e.expr,
                _ => break,
            };
        }
        let whole = self.range_of(id);
        for said in attributes(bearer).iter().flat_map(super::attribute::allowed) {
            for acceptance in self.facts.acceptances[before..].iter_mut().filter(|a| a.range == said.range) {
                acceptance.covers = whole;
                acceptance.misplaced = !std::ptr::eq(bearer, statement);
            }
        }
    }

    pub(super) fn block(&mut self, block: &Block) -> Id {
        let place = range(block.brace_token.span.open(), block.brace_token.span.close());
        self.stmts(&block.stmts, place)
    }

    pub(super) fn stmts(&mut self, stmts: &[Stmt], place: Range) -> Id {
        let mut out = Vec::with_capacity(stmts.len());
        let mut tail = false;
        for stmt in stmts {
            tail = false;
            match stmt {
                Stmt::Local(local) => {
                    let pat = self.pat(&local.pat);
                    let init = local.init.as_ref().map(|init| self.expr(&init.expr));
                    let diverge = local.init.as_ref().and_then(|init| init.diverge.as_ref());
                    let diverge = diverge.map(|(_, expr)| self.expr(expr));
                    let whole = range(local.let_token.span, local.semi_token.span);
                    let id = self.add(Kind::Let(pat, init, diverge), whole);
                    self.accept(&local.attrs, whole);
                    out.push(id);
                }
                Stmt::Item(item) => {
                    if let syn::Item::Macro(definition) = item {
                        self.macros.define_item(definition);
                    }
                    self.items.push(item.clone());
                }
                Stmt::Expr(expr, semi) => {
                    let before = self.facts.acceptances.len();
                    let id = self.expr(expr);
                    self.widen(before, expr, id);
                    tail = semi.is_none();
                    out.push(id);
                }
                Stmt::Macro(mac) => {
                    let id = self.mac(&mac.mac);
                    let whole = self.range_of(id);
                    self.accept(&mac.attrs, whole);
                    tail = mac.semi_token.is_none();
                    out.push(id);
                }
            }
        }
        self.add(Kind::Block(out, tail), place)
    }

    /// The type that a downcast asks for, as a path of one name.
    fn asked(&mut self, asked: &syn::AngleBracketedGenericArguments) -> Option<Id> {
        let mut out = Vec::new();
        for arg in &asked.args {
            if let syn::GenericArgument::Type(ty) = arg {
                out.extend(type_text(ty, self.names).0);
            }
        }
        let path = vec![out.pop()?];
        Some(self.add(Kind::Path(path), range(asked.lt_token.span, asked.gt_token.span)))
    }

    fn all<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) -> Vec<Id> {
        exprs.into_iter().map(|expr| self.expr(expr)).collect()
    }

    pub(super) fn expr(&mut self, expr: &Expr) -> Id {
        let id = self.lower(expr);
        let attrs = attributes(expr);
        if !attrs.is_empty() {
            let whole = self.range_of(id);
            self.accept(attrs, whole);
        }
        id
    }

    fn lower(&mut self, expr: &Expr) -> Id {
        match expr {
            Expr::Paren(inner) => self.expr(&inner.expr),
            Expr::Group(inner) => self.expr(&inner.expr),
            Expr::Unsafe(inner) => self.block(&inner.block),
            Expr::Const(inner) => self.block(&inner.block),
            Expr::TryBlock(inner) => self.block(&inner.block),
            Expr::Block(inner) => self.block(&inner.block),
            Expr::Path(path) => self.path(path),
            Expr::Lit(lit) => self.literal(&lit.lit),
            Expr::Field(field) => {
                let base = self.expr(&field.base);
                let (name, end) = member(&field.member);
                let name = self.name(&name);
                self.from(base, end, Kind::Field(base, name))
            }
            Expr::MethodCall(call) => {
                let receiver = self.expr(&call.receiver);
                let mut args = self.all(&call.args);
                let name = self.name(&call.method.to_string());
                if args.is_empty() && downcasts(&name) {
                    args.extend(call.turbofish.as_ref().and_then(|asked| self.asked(asked)));
                }
                self.from(receiver, call.paren_token.span.close(), Kind::Method(receiver, name, args))
            }
            Expr::Call(call) => {
                let callee = self.expr(&call.func);
                let args = self.all(&call.args);
                self.from(callee, call.paren_token.span.close(), Kind::Call(callee, args))
            }
            Expr::Await(inner) => {
                let base = self.expr(&inner.base);
                self.from(base, inner.await_token.span, Kind::Await(base))
            }
            Expr::Try(inner) => {
                let base = self.expr(&inner.expr);
                self.from(base, inner.question_token.span, Kind::Try(base))
            }
            Expr::Index(inner) => {
                let base = self.expr(&inner.expr);
                let index = self.expr(&inner.index);
                self.from(base, inner.bracket_token.span.close(), Kind::Index(base, index))
            }
            Expr::Cast(inner) => {
                let base = self.expr(&inner.expr);
                let place = self.range_of(base);
                self.add(Kind::Other(vec![base]), place)
            }
            Expr::Assign(inner) => self.two(&inner.left, &inner.right, Kind::Assign),
            Expr::Binary(inner) => self.binary(inner),
            Expr::Unary(inner) => {
                let base = self.expr(&inner.expr);
                let kind = match inner.op {
                    UnOp::Not(_) => Kind::Not(base),
                    UnOp::Deref(_) => Kind::Deref(base),
                    _ => Kind::Other(vec![base]),
                };
                self.to(inner.op.span(), base, kind)
            }
            Expr::Reference(inner) => {
                let base = self.expr(&inner.expr);
                self.to(inner.and_token.span, base, Kind::Ref(base))
            }
            Expr::RawAddr(inner) => self.expr(&inner.expr),
            _ => self.control(expr),
        }
    }

    fn control(&mut self, expr: &Expr) -> Id {
        match expr {
            Expr::If(inner) => {
                let cond = self.expr(&inner.cond);
                let then = self.block(&inner.then_branch);
                let other = inner.else_branch.as_ref().map(|(_, other)| self.expr(other));
                self.to(inner.if_token.span, other.unwrap_or(then), Kind::If(cond, then, other))
            }
            Expr::Let(inner) => {
                let pat = self.pat(&inner.pat);
                let value = self.expr(&inner.expr);
                self.to(inner.let_token.span, value, Kind::LetCond(pat, value))
            }
            Expr::Match(inner) => {
                let value = self.expr(&inner.expr);
                let arms = inner.arms.iter().map(|arm| self.arm(arm)).collect();
                let place = range(inner.match_token.span, inner.brace_token.span.close());
                self.add(Kind::Match(value, arms), place)
            }
            Expr::Loop(inner) => {
                let body = self.block(&inner.body);
                let label = self.label(inner.label.as_ref().map(|label| &label.name));
                self.to(inner.loop_token.span, body, Kind::Loop(Head::Forever, body, label))
            }
            Expr::While(inner) => {
                let cond = self.expr(&inner.cond);
                let body = self.block(&inner.body);
                let label = self.label(inner.label.as_ref().map(|label| &label.name));
                self.to(inner.while_token.span, body, Kind::Loop(Head::While(cond), body, label))
            }
            Expr::ForLoop(inner) => {
                let pat = self.pat(&inner.pat);
                let iter = self.expr(&inner.expr);
                let body = self.block(&inner.body);
                let label = self.label(inner.label.as_ref().map(|label| &label.name));
                self.to(inner.for_token.span, body, Kind::Loop(Head::For(pat, iter), body, label))
            }
            Expr::Closure(inner) => {
                let pats = inner.inputs.iter().map(|pat| self.pat(pat)).collect();
                let mut body = self.expr(&inner.body);
                if inner.asyncness.is_some() {
                    let place = self.range_of(body);
                    body = self.add(Kind::Async(body), place);
                }
                self.to(inner.inputs_begin.span, body, Kind::Closure(pats, body))
            }
            Expr::Async(inner) => {
                let body = self.block(&inner.block);
                self.to(inner.async_token.span, body, Kind::Async(body))
            }
            Expr::Return(inner) => {
                let value = inner.expr.as_ref().map(|value| self.expr(value));
                self.jump(inner.return_token.span, value, Kind::Return(value))
            }
            Expr::Break(inner) => {
                let value = inner.expr.as_ref().map(|value| self.expr(value));
                let label = self.label(inner.label.as_ref());
                self.jump(inner.break_token.span, value, Kind::Break(label, value))
            }
            Expr::Continue(inner) => {
                let label = self.label(inner.label.as_ref());
                self.jump(inner.continue_token.span, None, Kind::Continue(label))
            }
            Expr::Yield(inner) => {
                let value = inner.expr.as_ref().map(|value| self.expr(value));
                self.jump(inner.yield_token.span, value, Kind::Other(value.into_iter().collect()))
            }
            _ => self.data(expr),
        }
    }

    fn data(&mut self, expr: &Expr) -> Id {
        match expr {
            Expr::Struct(inner) => {
                let path = self.segments(&inner.path);
                let fields = inner.fields.iter();
                let fields = fields.map(|field| (member(&field.member).0, self.expr(&field.expr)));
                let fields: Vec<_> = fields.collect();
                let fields = fields.into_iter().map(|(name, value)| (self.name(&name), value)).collect();
                let rest = inner.rest.as_ref().map(|rest| self.expr(rest));
                let first =
                    inner.path.segments.first().map_or_else(Span::call_site, |first| first.ident.span());
                let place = range(first, inner.brace_token.span.close());
                self.add(Kind::Struct(path, fields, rest), place)
            }
            Expr::Tuple(inner) => {
                let parts = self.all(&inner.elems);
                let place = range(inner.paren_token.span.open(), inner.paren_token.span.close());
                self.add(Kind::Tuple(parts), place)
            }
            Expr::Array(inner) => {
                let parts = self.all(&inner.elems);
                let place = range(inner.bracket_token.span.open(), inner.bracket_token.span.close());
                self.add(Kind::Array(parts), place)
            }
            Expr::Repeat(inner) => {
                let parts = self.all([&*inner.expr, &*inner.len]);
                let place = range(inner.bracket_token.span.open(), inner.bracket_token.span.close());
                self.add(Kind::Array(parts), place)
            }
            Expr::Range(inner) => {
                let parts = self.all(inner.start.iter().chain(&inner.end).map(|end| &**end));
                let place = match inner.limits {
                    RangeLimits::HalfOpen(dots) => range(dots.spans[0], dots.spans[1]),
                    RangeLimits::Closed(dots) => range(dots.spans[0], dots.spans[2]),
                };
                let place = parts.iter().fold(place, |place, part| join(place, self.range_of(*part)));
                self.add(Kind::Other(parts), place)
            }
            Expr::Macro(inner) => self.mac(&inner.mac),
            _ => self.add(Kind::Other(Vec::new()), range(expr.span(), expr.span())),
        }
    }

    fn path(&mut self, path: &syn::ExprPath) -> Id {
        let segments = self.segments(&path.path);
        let span =
            |segment: Option<&syn::PathSegment>| segment.map_or_else(Span::call_site, |s| s.ident.span());
        let place = range(span(path.path.segments.first()), span(path.path.segments.last()));
        self.add(Kind::Path(segments), place)
    }

    pub(super) fn segments(&mut self, path: &syn::Path) -> Vec<Name> {
        if path.segments.len() > 1 || path.leading_colon.is_some() {
            let first = path.segments.first().map(|first| first.ident.to_string());
            if let Some(first) = first {
                let first = self.name(&first);
                if !self.facts.crates.contains(&first) {
                    self.facts.crates.push(first);
                }
            }
        }
        path.segments.iter().map(|segment| self.names.get(&segment.ident.to_string())).collect()
    }

    fn literal(&mut self, lit: &Lit) -> Id {
        let place = range(lit.span(), lit.span());
        let kind = match lit {
            Lit::Str(text) => Kind::Str(self.name(&text.value())),
            Lit::ByteStr(bytes) => match String::from_utf8(bytes.value()) {
                Ok(text) => Kind::Str(self.name(&text)),
                Err(_) => Kind::Other(Vec::new()),
            },
            Lit::Int(number) => number.base10_parse().map_or(Kind::Other(Vec::new()), Kind::Int),
            Lit::Bool(flag) => Kind::Bool(flag.value),
            _ => Kind::Other(Vec::new()),
        };
        self.add(kind, place)
    }

    fn binary(&mut self, inner: &syn::ExprBinary) -> Id {
        let op = match inner.op {
            BinOp::And(_) => return self.two(&inner.left, &inner.right, Kind::And),
            BinOp::Or(_) => return self.two(&inner.left, &inner.right, Kind::Or),
            BinOp::Eq(_) => Op::Eq,
            BinOp::Ne(_) => Op::Ne,
            BinOp::Lt(_) | BinOp::Le(_) => Op::Less,
            BinOp::Gt(_) | BinOp::Ge(_) => Op::Greater,
            BinOp::Add(_) | BinOp::AddAssign(_) => Op::Add,
            BinOp::Mul(_) | BinOp::MulAssign(_) | BinOp::Shl(_) | BinOp::ShlAssign(_) => Op::Grow,
            _ => Op::Other,
        };
        let updates = matches!(
            inner.op,
            BinOp::AddAssign(_)
                | BinOp::SubAssign(_)
                | BinOp::MulAssign(_)
                | BinOp::DivAssign(_)
                | BinOp::RemAssign(_)
                | BinOp::BitXorAssign(_)
                | BinOp::BitAndAssign(_)
                | BinOp::BitOrAssign(_)
                | BinOp::ShlAssign(_)
                | BinOp::ShrAssign(_)
        );
        self.two(&inner.left, &inner.right, |a, b| {
            if updates { Kind::Update(op, a, b) } else { Kind::Binary(op, a, b) }
        })
    }

    fn two(&mut self, left: &Expr, right: &Expr, kind: impl FnOnce(Id, Id) -> Kind) -> Id {
        let left = self.expr(left);
        let right = self.expr(right);
        let place = join(self.range_of(left), self.range_of(right));
        self.add(kind(left, right), place)
    }

    fn from(&mut self, first: Id, last: Span, kind: Kind) -> Id {
        let place = join(self.range_of(first), range(last, last));
        self.add(kind, place)
    }

    fn to(&mut self, first: Span, last: Id, kind: Kind) -> Id {
        let place = join(range(first, first), self.range_of(last));
        self.add(kind, place)
    }

    fn jump(&mut self, token: Span, value: Option<Id>, kind: Kind) -> Id {
        let place = range(token, token);
        let place = value.map_or(place, |value| join(place, self.range_of(value)));
        self.add(kind, place)
    }

    fn label(&mut self, label: Option<&syn::Lifetime>) -> Option<Name> {
        label.map(|label| self.names.get(&label.ident.to_string()))
    }

    fn arm(&mut self, arm: &syn::Arm) -> Arm {
        let (pat, guard) = match &arm.pat {
            syn::Pat::Guard(inner) => (self.pat(&inner.pat), Some(self.expr(&inner.guard))),
            pat => (self.pat(pat), None),
        };
        let body = self.expr(&arm.body);
        let place = join(self.body.pat_range(pat), self.range_of(body));
        self.accept(&arm.attrs, place);
        Arm { pat, future: None, guard, body, range: place }
    }
}

fn member(member: &Member) -> (String, Span) {
    match member {
        Member::Named(name) => (name.to_string(), name.span()),
        Member::Unnamed(index) => (index.index.to_string(), index.span),
    }
}

fn attributes(expr: &Expr) -> &[Attribute] {
    match expr {
        Expr::Assign(e) => &e.attrs,
        Expr::Async(e) => &e.attrs,
        Expr::Await(e) => &e.attrs,
        Expr::Binary(e) => &e.attrs,
        Expr::Block(e) => &e.attrs,
        Expr::Break(e) => &e.attrs,
        Expr::Call(e) => &e.attrs,
        Expr::Cast(e) => &e.attrs,
        Expr::Closure(e) => &e.attrs,
        Expr::Field(e) => &e.attrs,
        Expr::ForLoop(e) => &e.attrs,
        Expr::If(e) => &e.attrs,
        Expr::Index(e) => &e.attrs,
        Expr::Loop(e) => &e.attrs,
        Expr::Macro(e) => &e.attrs,
        Expr::Match(e) => &e.attrs,
        Expr::MethodCall(e) => &e.attrs,
        Expr::Paren(e) => &e.attrs,
        Expr::Path(e) => &e.attrs,
        Expr::Reference(e) => &e.attrs,
        Expr::Return(e) => &e.attrs,
        Expr::Struct(e) => &e.attrs,
        Expr::Try(e) => &e.attrs,
        Expr::Tuple(e) => &e.attrs,
        Expr::Unary(e) => &e.attrs,
        Expr::Unsafe(e) => &e.attrs,
        Expr::While(e) => &e.attrs,
        _ => &[],
    }
}
