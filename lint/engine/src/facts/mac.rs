//! Lowers macro calls: those with a grammar of their own (`select!`, `matches!`), those that stop, and all others.
//! Knows no macro of a client crate; what does not parse is kept as its string literals.

use super::expr::Builder;
use super::ir::{Arm, Id, Kind, PatKind};
use super::ty::{join, range};
use crate::finding::Range;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::{Block, Expr, Macro, MacroDelimiter, Pat, Token};

impl Builder<'_> {
    pub(super) fn mac(&mut self, mac: &Macro) -> Id {
        let name = mac.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        let first = mac.path.segments.first().map_or(mac.bang_token.span, |first| first.ident.span());
        let close = match &mac.delimiter {
            MacroDelimiter::Paren(token) => token.span.close(),
            MacroDelimiter::Brace(token) => token.span.close(),
            MacroDelimiter::Bracket(token) => token.span.close(),
        };
        let place = range(first, close);
        match name.as_str() {
            "matches" | "assert_matches" => {
                if let Some(id) = self.matches(mac, place) {
                    return id;
                }
            }
            "select" | "select_biased" | "try_select" => {
                if let Ok(arms) = select_arms.parse2(mac.tokens.clone()) {
                    let arms = arms.iter().map(|arm| self.select_arm(arm)).collect();
                    return self.add(Kind::Select(arms), place);
                }
            }
            _ => {}
        }
        if let Some(id) = self.written(mac, place) {
            return id;
        }
        let mut parts = self.parts(&mac.tokens, place);
        self.captured(&mut parts);
        let label = self.name(&name);
        let id = self.add(Kind::Macro(label, parts), place);
        if stops(&name) { self.add(Kind::Return(Some(id)), place) } else { id }
    }

    /// What a macro of the file stands for, if that is an expression or statements.
    fn written(&mut self, mac: &Macro, place: Range) -> Option<Id> {
        let tokens = self.macros.expand(mac)?;
        let stmts = Block::parse_within.parse2(tokens).ok().filter(|stmts| !stmts.is_empty())?;
        self.macros.enter();
        let id = self.stmts(&stmts, place);
        self.macros.leave();
        Some(id)
    }

    /// Adds the variables that format strings name inline, `"{error}"`, as the parts they stand for.
    fn captured(&mut self, parts: &mut Vec<Id>) {
        let texts: Vec<_> = parts
            .iter()
            .filter_map(|id| match self.body.kind(*id) {
                Kind::Str(text) => Some((text.clone(), self.range_of(*id))),
                _ => None,
            })
            .collect();
        for (text, place) in texts {
            for name in inline_names(&text) {
                let kind = Kind::Path(vec![self.name(name)]);
                parts.push(self.add(kind, place));
            }
        }
    }

    fn matches(&mut self, mac: &Macro, place: Range) -> Option<Id> {
        let (value, pat, guard) = matches_parts.parse2(mac.tokens.clone()).ok()?;
        let pat = self.pat(&pat);
        let value = self.expr(&value);
        let test = self.add(Kind::LetCond(pat, value), place);
        Some(match guard {
            Some(guard) => {
                let guard = self.expr(&guard);
                self.add(Kind::And(test, guard), place)
            }
            None => test,
        })
    }

    fn select_arm(&mut self, arm: &SelectArm) -> Arm {
        let pat = match &arm.pat {
            Some(pat) => self.pat(pat),
            None => self.pat_node(PatKind::Wild, Range::default()),
        };
        let future = arm.future.as_ref().map(|future| self.expr(future));
        let guard = arm.guard.as_ref().map(|guard| self.expr(guard));
        let body = self.expr(&arm.body);
        let mut place = self.range_of(body);
        if let Some(future) = future {
            place = join(place, self.range_of(future));
        }
        Arm { pat, future, guard, body, range: place }
    }

    /// The parts of a macro call: comma-separated expressions, else statements, else what can be saved of each part.
    fn parts(&mut self, tokens: &TokenStream, place: Range) -> Vec<Id> {
        if tokens.is_empty() {
            return Vec::new();
        }
        let comma = |input: ParseStream<'_>| input.parse_terminated(Expr::parse_plain, Token![,]);
        if let Ok(exprs) = comma.parse2(tokens.clone()) {
            return exprs.iter().map(|expr| self.expr(expr)).collect();
        }
        if let Ok(stmts) = Block::parse_within.parse2(tokens.clone()) {
            return vec![self.stmts(&stmts, place)];
        }
        let mut out = Vec::new();
        for part in split(tokens) {
            match syn::parse2::<Expr>(without_key(&part)) {
                Ok(expr) => out.push(self.expr(&expr)),
                Err(_) => self.literals(&part, &mut out),
            }
        }
        out
    }

    fn literals(&mut self, tokens: &TokenStream, out: &mut Vec<Id>) {
        for tree in tokens.clone() {
            match tree {
                TokenTree::Literal(literal) => {
                    let span = literal.span();
                    if let Ok(text) = syn::parse2::<syn::LitStr>(TokenTree::Literal(literal).into()) {
                        let kind = Kind::Str(self.name(&text.value()));
                        out.push(self.add(kind, range(span, span)));
                    }
                }
                TokenTree::Group(group) => self.literals(&group.stream(), out),
                TokenTree::Ident(ident) => {
                    let kind = Kind::Path(vec![self.name(&ident.to_string())]);
                    out.push(self.add(kind, range(ident.span(), ident.span())));
                }
                TokenTree::Punct(_) => {}
            }
        }
    }
}

/// Whether what follows the macro is not reached.
pub(super) fn stops(name: &str) -> bool {
    matches!(name, "bail" | "panic" | "unreachable" | "todo" | "unimplemented" | "yeet")
}

/// The names between braces of a format string; `{{` is none, nor is a place by number or of no name.
pub(super) fn inline_names(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let (_, after) = rest.split_once('{')?;
            if let Some(escaped) = after.strip_prefix('{') {
                rest = escaped;
                continue;
            }
            let end = after.find(['}', ':', '{'])?;
            rest = &after[end..];
            let name = &after[..end];
            let mut chars = name.chars();
            let is_name = chars.next().is_some_and(|first| first.is_alphabetic() || first == '_')
                && chars.all(|char| char.is_alphanumeric() || char == '_');
            if is_name {
                return Some(name);
            }
        }
    })
}

trait Plain: Sized {
    fn parse_plain(input: ParseStream<'_>) -> syn::Result<Self>;
}

impl Plain for Expr {
    fn parse_plain(input: ParseStream<'_>) -> syn::Result<Self> {
        input.parse()
    }
}

struct SelectArm {
    pat: Option<Pat>,
    future: Option<Expr>,
    guard: Option<Expr>,
    body: Expr,
}

/// The grammar of tokio's and futures' `select!`: `biased;`, then `pattern = future, if guard => body`, `else => body`.
fn select_arms(input: ParseStream<'_>) -> syn::Result<Vec<SelectArm>> {
    let mut arms = Vec::new();
    while !input.is_empty() {
        if input.peek(syn::Ident) && input.peek2(Token![;]) {
            input.parse::<syn::Ident>()?;
            input.parse::<Token![;]>()?;
            continue;
        }
        let (mut pat, mut future, mut guard) = (None, None, None);
        if input.peek(Token![else]) || (input.peek(syn::Ident) && input.peek2(Token![=>])) {
            input.call(<syn::Ident as syn::ext::IdentExt>::parse_any)?;
        } else {
            pat = Some(Pat::parse_multi_with_leading_vert(input)?);
            input.parse::<Token![=]>()?;
            future = Some(input.parse::<Expr>()?);
            if input.peek(Token![,]) {
                input.parse::<Token![,]>()?;
                input.parse::<Token![if]>()?;
                guard = Some(input.parse()?);
            }
        }
        input.parse::<Token![=>]>()?;
        let body = if input.peek(syn::token::Brace) {
            Expr::Block(syn::ExprBlock { attrs: Vec::new(), label: None, block: input.parse()? })
        } else {
            input.parse()?
        };
        if input.peek(Token![,]) {
            input.parse::<Token![,]>()?;
        }
        arms.push(SelectArm { pat, future, guard, body });
    }
    Ok(arms)
}

fn matches_parts(input: ParseStream<'_>) -> syn::Result<(Expr, Pat, Option<Expr>)> {
    let value = input.parse()?;
    input.parse::<Token![,]>()?;
    let pat = Pat::parse_multi_with_leading_vert(input)?;
    let mut guard = None;
    if input.peek(Token![if]) {
        input.parse::<Token![if]>()?;
        guard = Some(input.parse()?);
    }
    if input.peek(Token![,]) {
        input.parse::<Token![,]>()?;
    }
    if !input.is_empty() {
        return Err(input.error("expected the end of matches!"));
    }
    Ok((value, pat, guard))
}

/// Splits at top-level commas and semicolons.
fn split(tokens: &TokenStream) -> Vec<TokenStream> {
    let mut parts = vec![Vec::new()];
    for tree in tokens.clone() {
        match &tree {
            TokenTree::Punct(punct) if matches!(punct.as_char(), ',' | ';') => parts.push(Vec::new()),
            TokenTree::Group(group)
                if group.delimiter() == Delimiter::Brace && parts.len() == 1 && parts[0].is_empty() =>
            {
                // `json!({ … })`: look inside.
                parts.extend(split(&group.stream()).into_iter().map(|part| part.into_iter().collect()));
                parts.push(Vec::new());
            }
            _ => parts.last_mut().expect("there is always a last part").push(tree),
        }
    }
    parts.into_iter().filter(|part| !part.is_empty()).map(|part| part.into_iter().collect()).collect()
}

/// Drops what stands before a logged value: `error = %e`, `?x`, `"method": m`.
fn without_key(tokens: &TokenStream) -> TokenStream {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let is = |at: usize, c: char| matches!(trees.get(at), Some(TokenTree::Punct(p)) if p.as_char() == c);
    let sigil = |at: usize| usize::from(is(at, '%') || is(at, '?'));
    let start = match trees.first() {
        Some(TokenTree::Punct(_)) => sigil(0),
        Some(TokenTree::Ident(_)) if is(1, '=') && !is(2, '=') => 2 + sigil(2),
        Some(TokenTree::Literal(_) | TokenTree::Ident(_)) if is(1, ':') && !is(2, ':') => 2,
        _ => 0,
    };
    trees.into_iter().skip(start).collect()
}
