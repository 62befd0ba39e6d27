//! Macros that a file defines with `macro_rules!` and uses itself: what a use stands for, by substitution of tokens.
//! Refuses hygiene, macros of other files, and more than a bounded number of tokens.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use std::collections::BTreeMap;
use syn::buffer::Cursor;
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};

/// How many tokens all expansions of a file may have together.
const TOKENS: usize = 100_000;
/// How deep a macro may use another.
const DEPTH: u8 = 8;

/// The macros of one file.
#[derive(Default)]
pub(super) struct Macros {
    by_name: BTreeMap<String, Vec<Rule>>,
    spent: usize,
    depth: u8,
}

/// `(matcher) => { transcriber }`.
struct Rule {
    matcher: Vec<Part>,
    transcriber: TokenStream,
}

/// A part of a matcher.
enum Part {
    Token(TokenTree),
    Group(Delimiter, Vec<Part>),
    /// `$name:fragment`.
    Var(String, String),
    /// `$( … ) separator operator`.
    Repeat(Vec<Part>, Option<TokenTree>, char),
}

/// What a variable of a matcher is bound to.
#[derive(Clone)]
enum Bound {
    One(TokenStream),
    Many(Vec<Bound>),
}

type Bounds = BTreeMap<String, Bound>;

/// The variables of one round.
type Round<'a> = BTreeMap<&'a str, &'a Bound>;

impl Macros {
    /// Notes a definition; one that cannot be read is as unknown as a macro of another crate.
    pub(super) fn define(&mut self, name: &str, tokens: &TokenStream) {
        if let Some(rules) = rules(tokens) {
            self.by_name.insert(name.to_owned(), rules);
        }
    }

    /// Notes the definitions among the items, those in modules too.
    pub(super) fn define_all(&mut self, items: &[syn::Item]) {
        for item in items {
            match item {
                syn::Item::Macro(item) => self.define_item(item),
                syn::Item::Mod(module) => {
                    if let Some((_, items)) = &module.content {
                        self.define_all(items);
                    }
                }
                _ => {}
            }
        }
    }

    /// Notes the definition if the item is one.
    pub(super) fn define_item(&mut self, item: &syn::ItemMacro) {
        if let Some(name) = item.ident.as_ref().filter(|_| item.mac.path.is_ident("macro_rules")) {
            self.define(&name.to_string(), &item.mac.tokens);
        }
    }

    /// What a use stands for; `None` for a macro that is not the file's, that no rule fits, or past the bounds.
    pub(super) fn expand(&mut self, mac: &syn::Macro) -> Option<TokenStream> {
        let rules = self.by_name.get(&mac.path.get_ident()?.to_string())?;
        if self.depth >= DEPTH || self.spent > TOKENS {
            return None;
        }
        let fits = |rule: &Rule| {
            (|input: ParseStream<'_>| fit(&rule.matcher, input)).parse2(mac.tokens.clone()).ok()
        };
        let (bounds, rule) = rules.iter().find_map(|rule| Some((fits(rule)?, rule)))?;
        let mut out = Vec::new();
        let mut left = TOKENS - self.spent;
        let bounds = bounds.iter().map(|(name, bound)| (name.as_str(), bound)).collect();
        let whole = transcribe(&rule.transcriber, &bounds, &mut left, &mut out);
        self.spent = TOKENS - left + usize::from(!whole && left == 0);
        let out: TokenStream = out.into_iter().collect();
        // The text was found shallow enough to be parsed; what it expands to need not be.
        (whole && !crate::source::deep(&out.to_string())).then_some(out)
    }

    /// Whether a use was left unread since all before it had too many tokens.
    pub(super) fn exceeded(&self) -> bool {
        self.spent > TOKENS
    }

    /// Notes that what follows stands in an expansion.
    pub(super) fn enter(&mut self) {
        self.depth += 1;
    }

    /// Notes that it has ended.
    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }
}

fn rules(tokens: &TokenStream) -> Option<Vec<Rule>> {
    let mut rest = tokens.clone().into_iter();
    let mut out = Vec::new();
    while let Some(first) = rest.next() {
        let TokenTree::Group(matcher) = first else { return None };
        for arrow in ['=', '>'] {
            if !is_punct(&rest.next()?, arrow) {
                return None;
            }
        }
        let TokenTree::Group(transcriber) = rest.next()? else { return None };
        out.push(Rule { matcher: parts(matcher.stream())?, transcriber: transcriber.stream() });
        if !is_punct(&rest.next().unwrap_or_else(|| TokenTree::Punct(semicolon())), ';') {
            return None;
        }
    }
    Some(out)
}

fn semicolon() -> proc_macro2::Punct {
    proc_macro2::Punct::new(';', proc_macro2::Spacing::Alone)
}

fn parts(tokens: TokenStream) -> Option<Vec<Part>> {
    let mut rest = tokens.into_iter().peekable();
    let mut out = Vec::new();
    while let Some(token) = rest.next() {
        if !is_punct(&token, '$') {
            out.push(match token {
                TokenTree::Group(group) => Part::Group(group.delimiter(), parts(group.stream())?),
                other => Part::Token(other),
            });
            continue;
        }
        match rest.next()? {
            TokenTree::Group(group) => {
                let (separator, operator) = repetition(&mut rest)?;
                out.push(Part::Repeat(parts(group.stream())?, separator, operator));
            }
            TokenTree::Ident(name) => {
                if !is_punct(&rest.next()?, ':') {
                    return None;
                }
                let TokenTree::Ident(fragment) = rest.next()? else { return None };
                out.push(Part::Var(name.to_string(), fragment.to_string()));
            }
            _ => return None,
        }
    }
    Some(out)
}

/// The separator, if there is one, and the operator behind `$( … )`.
fn repetition(rest: &mut impl Iterator<Item = TokenTree>) -> Option<(Option<TokenTree>, char)> {
    let operator = |token: &TokenTree| ['*', '+', '?'].into_iter().find(|char| is_punct(token, *char));
    let first = rest.next()?;
    match operator(&first) {
        Some(found) => Some((None, found)),
        None => Some((Some(first), operator(&rest.next()?)?)),
    }
}

fn is_punct(token: &TokenTree, char: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == char)
}

fn same(one: &TokenTree, other: &TokenTree) -> bool {
    match (one, other) {
        (TokenTree::Punct(one), TokenTree::Punct(other)) => one.as_char() == other.as_char(),
        (TokenTree::Ident(one), TokenTree::Ident(other)) => one == other,
        (TokenTree::Literal(one), TokenTree::Literal(other)) => one.to_string() == other.to_string(),
        _ => false,
    }
}

fn take(input: ParseStream<'_>) -> syn::Result<TokenTree> {
    input.step(|cursor| cursor.token_tree().ok_or_else(|| cursor.error("expected a token")))
}

/// Reads what the matcher asks for, and no more.
fn fit(parts: &[Part], input: ParseStream<'_>) -> syn::Result<Bounds> {
    let mut out = Bounds::new();
    for part in parts {
        match part {
            Part::Token(token) => {
                if !same(&take(input)?, token) {
                    return Err(input.error("another token"));
                }
            }
            Part::Group(delimiter, inner) => match take(input)? {
                TokenTree::Group(group) if group.delimiter() == *delimiter => {
                    out.extend((|input: ParseStream<'_>| fit(inner, input)).parse2(group.stream())?);
                }
                _ => return Err(input.error("another token")),
            },
            Part::Var(name, fragment) => {
                out.insert(name.clone(), Bound::One(fragment_of(fragment, input)?));
            }
            Part::Repeat(inner, separator, operator) => {
                let rounds = repeat(inner, separator.as_ref(), *operator, input)?;
                for name in names(inner) {
                    let all = rounds.iter().filter_map(|round| round.get(name).cloned()).collect();
                    out.insert(name.to_owned(), Bound::Many(all));
                }
            }
        }
    }
    Ok(out)
}

fn repeat(
    inner: &[Part],
    separator: Option<&TokenTree>,
    operator: char,
    input: ParseStream<'_>,
) -> syn::Result<Vec<Bounds>> {
    let mut rounds = Vec::new();
    let most = if operator == '?' { 1 } else { usize::MAX };
    while !input.is_empty() && rounds.len() < most {
        let ahead = input.fork();
        if let Some(separator) = separator.filter(|_| !rounds.is_empty())
            && !take(&ahead).is_ok_and(|token| same(&token, separator))
        {
            break;
        }
        let Ok(round) = fit(inner, &ahead) else { break };
        if ahead.cursor() == input.cursor() {
            break;
        }
        input.advance_to(&ahead);
        rounds.push(round);
    }
    if operator == '+' && rounds.is_empty() { Err(input.error("expected more")) } else { Ok(rounds) }
}

fn names(parts: &[Part]) -> Vec<&str> {
    let mut out = Vec::new();
    for part in parts {
        match part {
            Part::Token(_) => {}
            Part::Var(name, _) => out.push(name.as_str()),
            Part::Group(_, inner) | Part::Repeat(inner, ..) => out.extend(names(inner)),
        }
    }
    out
}

/// The tokens of one fragment. An expression stays one, whatever stands around it.
fn fragment_of(fragment: &str, input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let from = input.cursor();
    match fragment {
        "ident" => drop(<syn::Ident as syn::ext::IdentExt>::parse_any(input)?),
        "lifetime" => drop(input.parse::<syn::Lifetime>()?),
        "literal" => {
            input.parse::<Option<syn::Token![-]>>()?;
            input.parse::<syn::Lit>()?;
        }
        "expr" | "expr_2021" => {
            input.parse::<syn::Expr>()?;
            let group = Group::new(Delimiter::None, between(from, input.cursor()));
            return Ok(TokenTree::Group(group).into());
        }
        "ty" => drop(input.parse::<syn::Type>()?),
        "path" => drop(syn::Path::parse_mod_style(input).or_else(|_| input.parse())?),
        "pat" | "pat_param" => drop(syn::Pat::parse_multi_with_leading_vert(input)?),
        "vis" => drop(input.parse::<syn::Visibility>()?),
        "block" => drop(input.parse::<syn::Block>()?),
        "item" => drop(input.parse::<syn::Item>()?),
        "stmt" => drop(input.parse::<syn::Stmt>()?),
        "meta" => drop(input.parse::<syn::Meta>()?),
        "tt" => drop(take(input)?),
        _ => return Err(input.error("an unknown fragment")),
    }
    Ok(between(from, input.cursor()))
}

fn between(mut from: Cursor<'_>, to: Cursor<'_>) -> TokenStream {
    let mut out = Vec::new();
    while from != to {
        let Some((token, next)) = from.token_tree() else { break };
        out.push(token);
        from = next;
    }
    out.into_iter().collect()
}

/// Writes the transcriber down with its variables replaced; false when `left` tokens do not suffice, or a variable is
/// used at another depth than it was bound.
fn transcribe(tokens: &TokenStream, bounds: &Round<'_>, left: &mut usize, out: &mut Vec<TokenTree>) -> bool {
    let mut rest = tokens.clone().into_iter().peekable();
    while let Some(token) = rest.next() {
        let Some(fewer) = left.checked_sub(1) else { return false };
        *left = fewer;
        if is_punct(&token, '$') {
            match rest.next() {
                Some(TokenTree::Ident(name)) => match bounds.get(name.to_string().as_str()) {
                    Some(Bound::One(tokens)) => out.extend(tokens.clone()),
                    Some(Bound::Many(_)) => return false,
                    // `$crate`.
                    None => out.push(TokenTree::Ident(name)),
                },
                Some(TokenTree::Group(group)) => {
                    let Some((separator, _)) = repetition(&mut rest) else { return false };
                    if !rounds(&group.stream(), separator.as_ref(), bounds, left, out) {
                        return false;
                    }
                }
                _ => return false,
            }
        } else if let TokenTree::Group(group) = token {
            let mut inside = Vec::new();
            if !transcribe(&group.stream(), bounds, left, &mut inside) {
                return false;
            }
            let mut copy = Group::new(group.delimiter(), inside.into_iter().collect());
            copy.set_span(group.span());
            out.push(TokenTree::Group(copy));
        } else {
            out.push(token);
        }
    }
    true
}

/// One copy of the tokens for each round of the variables in them.
fn rounds(
    tokens: &TokenStream,
    separator: Option<&TokenTree>,
    bounds: &Round<'_>,
    left: &mut usize,
    out: &mut Vec<TokenTree>,
) -> bool {
    let mut used = Vec::new();
    variables(tokens, &mut used);
    let many = |name: &String| match bounds.get(name.as_str()) {
        Some(Bound::Many(all)) => Some(all.len()),
        _ => None,
    };
    let Some(count) = used.iter().filter_map(many).max() else { return false };
    for round in 0..count {
        let mut here = bounds.clone();
        for name in &used {
            if let Some(Bound::Many(all)) = bounds.get(name.as_str()) {
                let Some(one) = all.get(round) else { return false };
                here.insert(name, one);
            }
        }
        if round > 0 {
            out.extend(separator.cloned());
        }
        if !transcribe(tokens, &here, left, out) {
            return false;
        }
    }
    true
}

fn variables(tokens: &TokenStream, out: &mut Vec<String>) {
    let mut dollar = false;
    for token in tokens.clone() {
        match &token {
            TokenTree::Ident(name) if dollar => out.push(name.to_string()),
            TokenTree::Group(group) => variables(&group.stream(), out),
            _ => {}
        }
        dollar = is_punct(&token, '$');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `use_` stands for, as the compiler would print it.
    fn expanded(definition: &str, use_: &str) -> Option<String> {
        let mut macros = Macros::default();
        macros.define_item(&syn::parse_str(definition).expect("a definition"));
        let mac: syn::ExprMacro = syn::parse_str(use_).expect("a use");
        macros
            .expand(&mac.mac)
            .map(|tokens| tokens.to_string().split_whitespace().collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn the_first_rule_that_fits_is_substituted() {
        let definition = "macro_rules! m {
            ($name:ident) => { fn $name() {} };
            ($name:ident, $($arg:ident : $ty:ty),* $(,)?) => { fn $name($($arg: $ty),*) { call($($arg),*) } };
            ($self:ident . $call:expr ; again) => { $self . retry($call * 2) };
        }";
        assert_eq!(expanded(definition, "m!(a)").as_deref(), Some("fn a () { }"));
        assert_eq!(
            expanded(definition, "m!(a, x: Vec<u8>, y: &str,)").as_deref(),
            Some("fn a (x : Vec < u8 >,y : & str) { call (x ,y) }")
        );
        assert_eq!(
            expanded(definition, "m!(self.a + b; again)").as_deref(),
            Some("self . retry (a + b * 2)")
        );
        assert_eq!(expanded(definition, "m!(1)"), None);
        assert_eq!(expanded(definition, "other!(a)"), None);
    }

    #[test]
    fn repetitions_in_repetitions_keep_their_rounds() {
        let definition = "macro_rules! m { ($($on:ident { $($key:ident => $value:literal);* })+) => { $($on($($key = $value),*);)+ } }";
        assert_eq!(
            expanded(definition, "m!(a { x => 1; y => 2 } b { })").as_deref(),
            Some("a (x = 1 ,y = 2) ; b () ;")
        );
    }

    #[test]
    fn an_expansion_without_end_is_given_up() {
        let definition = "macro_rules! m { ($($a:tt)*) => { $($a)* $($a)* $($a)* $($a)* } }";
        let mut macros = Macros::default();
        macros.define_item(&syn::parse_str(definition).expect("a definition"));
        let long = format!("m!({})", "x ".repeat(30_000));
        let mac: syn::ExprMacro = syn::parse_str(&long).expect("a use");
        assert!(macros.expand(&mac.mac).is_none() && macros.exceeded());
        assert!(macros.expand(&mac.mac).is_none());
    }
}
