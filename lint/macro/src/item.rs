//! The item under the attribute: what it is, and what the engine says of it.
//! Knows the engine's stages and no rule.

use crate::emission::{Remark, emit};
use crate::place::{Places, Stretch};
use proc_macro2::{Span, TokenStream, TokenTree};
use std::path::Path;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Attribute, Item};
use unbroken_contract::Level;
use unbroken_lint::facts::Acceptance;
use unbroken_lint::finding::{Certainty, Finding, Problem, Range};
use unbroken_lint::marks::{self, Check};
use unbroken_lint::{Outcome, Settings, accept};

/// The item with what there is to say about it.
pub(crate) fn check(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let check = match marks::check(arguments.clone()) {
        Ok(check) => check,
        Err(errors) => {
            let remarks = errors.into_iter().map(|it| Remark::error(it.span, it.message, it.help)).collect();
            return emit(item, None, remarks);
        }
    };
    let text = item.to_string();
    let marked = !(without_acceptances(&arguments).is_empty() && check.allows.is_empty());
    if !marked && has_code(&item) && !unbroken_lint::source::item_matters(&text) {
        return item;
    }
    let settings = Settings { tests: true, ..Settings::default() };
    // What accepts something is stale where there is nothing to say, so it is asked of the item itself.
    let outcome = match check.allows.is_empty() {
        true => unbroken_lint::check_text(&text, &check.marks, &settings),
        false => None,
    };
    if outcome.as_ref().is_some_and(Outcome::silent) {
        return item;
    }
    // The parser descends by recursion, and a compiler whose stack overflows says nothing of the place.
    if unbroken_lint::source::deep(&text) {
        let help = "flatten its longest expression, or leave the attribute off";
        let message = "not checked: nested too deeply".to_owned();
        return emit(item, None, vec![Remark::warning(Span::call_site(), "unchecked_item", message, help)]);
    }
    match syn::parse2::<Item>(item.clone()) {
        Ok(mut parsed) => {
            let remarks = match refusal(&parsed) {
                Some(refusal) => vec![refusal],
                None => {
                    mark(&mut parsed, &arguments);
                    let in_order = || unbroken_lint::check_item_in_order(&parsed, &settings);
                    let mut outcome = outcome.unwrap_or_else(in_order);
                    // Each place is asked of the compiler: only where there is something to say.
                    if !outcome.silent() {
                        outcome = unbroken_lint::check_item(&parsed, &settings);
                    }
                    attributes(&mut parsed).map(Vec::pop);
                    remarks(&parsed, outcome, &check, &item)
                }
            };
            emit(item, Some(&parsed), remarks)
        }
        // The compiler may know more syntax than the parser here: what it accepts must still build.
        Err(error) => {
            let help = "check it with the `unbroken` command, or update this crate";
            emit(
                item,
                None,
                vec![Remark::warning(error.span(), "unchecked_item", format!("not checked: {error}"), help)],
            )
        }
    }
}

/// Whether the item is a function, an impl or a trait, told from its first keyword.
fn has_code(item: &TokenStream) -> bool {
    for token in item.clone() {
        let TokenTree::Ident(word) = token else { continue };
        match word.to_string().as_str() {
            "fn" | "impl" | "trait" => return true,
            // `const fn` has code, `const NAME` has none.
            "const" | "pub" | "default" | "async" | "unsafe" | "safe" | "extern" | "auto" => {}
            _ => return false,
        }
    }
    false
}

fn refusal(item: &Item) -> Option<Remark> {
    let (message, help) = match item {
        Item::Fn(_) | Item::Impl(_) | Item::Trait(_) => return None,
        Item::Mod(module) if module.content.is_some() => return None,
        Item::Mod(_) => (
            "`check` stands on a module whose text is in another file",
            "put it on the functions and impls in that file",
        ),
        _ => (
            "`check` stands on an item without code",
            "put it on a function, an impl, a trait or an inline module",
        ),
    };
    Some(Remark::error(head(item), message.to_owned(), help.to_owned()))
}

fn remarks(parsed: &Item, outcome: Outcome, check: &Check, tokens: &TokenStream) -> Vec<Remark> {
    // The attribute's own acceptances cover all of the item, and stand where their rule is named.
    let blanket = check.allows.iter().map(|allow| Acceptance {
        rule: allow.breach.id().replace('-', "_").into(),
        reason: allow.reason.as_str().into(),
        unread: false,
        bare: false,
        misplaced: false,
        covers: Range { end_line: u32::MAX, ..Range::default() },
        range: range(allow.span),
    });
    let acceptances: Vec<Acceptance> =
        outcome.acceptances.into_iter().map(|(_, it)| it).chain(blanket).collect();
    let mut findings = outcome.findings;
    if !findings.is_empty() {
        let inner = checked_inside(parsed);
        findings.retain(|finding| !inner.iter().any(|range| within(finding.range, *range)));
    }
    let left = accept::apply(Path::new(""), &acceptances, findings);
    // So is each token of the item.
    if left.findings.is_empty() && left.notices.is_empty() && outcome.problems.is_empty() {
        return Vec::new();
    }
    let places = Places::of(tokens, check.allows.iter().map(|allow| allow.span));
    let mut remarks: Vec<Remark> =
        left.findings.iter().filter_map(|finding| remark(finding, &places)).collect();
    remarks.extend(left.notices.iter().map(|notice| complaint(notice, &places)));
    remarks.extend(outcome.problems.iter().map(|problem| complaint(problem, &places)));
    remarks
}

/// Puts the attribute on the item, its acceptances left out: the engine knows the item from a file, where it stands there.
fn mark(item: &mut Item, arguments: &TokenStream) {
    let marks = without_acceptances(arguments);
    if let Some(attributes) = attributes(item) {
        attributes.push(syn::parse_quote!(#[unbroken::check(#marks)]));
    }
}

fn attributes(item: &mut Item) -> Option<&mut Vec<Attribute>> {
    match item {
        Item::Fn(inner) => Some(&mut inner.attrs),
        Item::Impl(inner) => Some(&mut inner.attrs),
        Item::Trait(inner) => Some(&mut inner.attrs),
        Item::Mod(inner) => Some(&mut inner.attrs),
        _ => None,
    }
}

/// The arguments without their `allow(…)`: the attribute tells of those itself, at the rule's name.
fn without_acceptances(arguments: &TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    let mut rest = arguments.clone().into_iter().peekable();
    while let Some(token) = rest.next() {
        let accepts = matches!(&token, TokenTree::Ident(ident) if ident == "allow");
        if accepts && matches!(rest.peek(), Some(TokenTree::Group(_))) {
            rest.next();
            rest.next_if(|token| matches!(token, TokenTree::Punct(comma) if comma.as_char() == ','));
        } else {
            out.extend([token]);
        }
    }
    out
}

fn remark(finding: &Finding, places: &Places) -> Option<Remark> {
    let span = places.at(finding.range);
    let id = finding.breach.id();
    let sure = match finding.certainty {
        Certainty::Possible => "possible",
        Certainty::Likely => "likely",
        Certainty::Proved => "proved",
    };
    let message = |head: &str| format!("{head}{} ({sure}; `unbroken explain {id}`)", finding.message);
    match finding.level {
        Level::Deny => Some(Remark::error(span, message(&format!("{id}: ")), finding.help.clone())),
        Level::Warn => Some(Remark::warning(span, &id.replace('-', "_"), message(""), &finding.help)),
        // The compiler has no way on stable to tell something that is no warning.
        Level::Note => None,
    }
}

fn complaint(problem: &Problem, places: &Places) -> Remark {
    let span = problem.range.map_or_else(|| Stretch::of(Span::call_site()), |range| places.at(range));
    Remark::warning(span, "acceptance", problem.message.clone(), &problem.help)
}

/// Ranges of inner items that carry the attribute themselves and so report for themselves.
fn checked_inside(item: &Item) -> Vec<Range> {
    #[derive(Default)]
    struct Inner(Vec<Range>);
    impl Inner {
        fn note(&mut self, attributes: &[Attribute], whole: Span) {
            let is_check = |attribute: &Attribute| {
                let path = attribute.path();
                path.segments.last().is_some_and(|last| last.ident == "check")
                    && (path.segments.len() == 1
                        || path.segments.first().is_some_and(|first| first.ident == "unbroken"))
            };
            if attributes.iter().any(is_check) {
                self.0.push(range(whole));
            }
        }
    }
    impl<'a> Visit<'a> for Inner {
        fn visit_impl_item_fn(&mut self, it: &'a syn::ImplItemFn) {
            self.note(&it.attrs, it.span());
            syn::visit::visit_impl_item_fn(self, it);
        }
        fn visit_trait_item_fn(&mut self, it: &'a syn::TraitItemFn) {
            self.note(&it.attrs, it.span());
            syn::visit::visit_trait_item_fn(self, it);
        }
        fn visit_item_fn(&mut self, it: &'a syn::ItemFn) {
            self.note(&it.attrs, it.span());
            syn::visit::visit_item_fn(self, it);
        }
        fn visit_item_impl(&mut self, it: &'a syn::ItemImpl) {
            self.note(&it.attrs, it.span());
            syn::visit::visit_item_impl(self, it);
        }
        fn visit_item_mod(&mut self, it: &'a syn::ItemMod) {
            self.note(&it.attrs, it.span());
            syn::visit::visit_item_mod(self, it);
        }
    }
    let mut inner = Inner::default();
    inner.visit_item(item);
    inner.0
}

/// The place where a refused item names itself.
fn head(item: &Item) -> Span {
    match item {
        Item::Struct(it) => it.ident.span(),
        Item::Enum(it) => it.ident.span(),
        Item::Mod(it) => it.ident.span(),
        Item::Const(it) => it.ident.span(),
        Item::Static(it) => it.ident.span(),
        Item::Type(it) => it.ident.span(),
        _ => Span::call_site(),
    }
}

/// The place of a span, in the engine's terms.
fn range(span: Span) -> Range {
    let (start, end) = (span.start(), span.end());
    let clip = |figure: usize| u32::try_from(figure).unwrap_or(u32::MAX);
    Range {
        line: clip(start.line),
        column: clip(start.column + 1),
        end_line: clip(end.line),
        end_column: clip(end.column + 1),
    }
}

fn within(inner: Range, outer: Range) -> bool {
    (outer.line, outer.column) <= (inner.line, inner.column)
        && (inner.line, inner.column) < (outer.end_line, outer.end_column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_with_code_are_told_by_their_keyword() {
        let code = |text: &str| has_code(&text.parse().expect("tokens"));
        for text in [
            "#[inline] pub(crate) const unsafe fn f(x: struct_like) {}",
            "async fn f() {}",
            "pub unsafe trait T {}",
            "impl<const N: usize> S<N> {}",
            "extern \"C\" fn f() {}",
        ] {
            assert!(code(text), "{text}");
        }
        for text in [
            "const F: fn() = g;",
            "struct S { f: fn() }",
            "type F = fn();",
            "static F: fn() = g;",
            "mod m { fn f() {} }",
        ] {
            assert!(!code(text), "{text}");
        }
    }

    #[test]
    fn an_item_that_names_nothing_of_the_protocol_is_handed_back_and_any_other_is_read() {
        let silent: TokenStream = "fn f() { self.session_id = None }".parse().expect("tokens");
        assert_eq!(check(TokenStream::new(), silent.clone()).to_string(), silent.to_string());
        let wrong: TokenStream = "struct S;".parse().expect("tokens");
        assert!(check(TokenStream::new(), wrong).to_string().contains("compile_error"));
    }
}
