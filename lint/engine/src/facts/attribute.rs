//! What attributes and constants say: which code is a test, what is accepted, what a check names.
//! Knows attributes, not the items they stand on.

use super::Marks;
use super::ty::{Names, range};
use crate::finding::Range;
use crate::marks::{Said, said, split};
use crate::source::is_test_condition;
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Lit, Member, Meta, Token};

/// The text of a constant: a string, a reference to one, or a constructor of a header name around one.
pub(super) fn text_of(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Str(text) => Some(text.value()),
            Lit::ByteStr(bytes) => String::from_utf8(bytes.value()).ok(),
            _ => None,
        },
        Expr::Reference(inner) => text_of(&inner.expr),
        Expr::Paren(inner) => text_of(&inner.expr),
        Expr::Call(call) => call.args.first().filter(|_| call.args.len() == 1).and_then(text_of),
        Expr::MethodCall(call) if call.args.is_empty() => text_of(&call.receiver),
        _ => None,
    }
}

pub(super) fn is_test(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| {
        let path = attr.path();
        if path.segments.last().is_some_and(|last| last.ident == "test" || last.ident == "rstest") {
            return true;
        }
        path.is_ident("cfg")
            && matches!(&attr.meta, Meta::List(list) if is_test_condition(&list.tokens.to_string()))
    })
}

/// One rule that an attribute accepts.
pub(super) struct Allowed {
    /// The rule's name as it is spelled, or what stands in its place.
    pub(super) rule: String,
    /// The reason; empty when none is given.
    pub(super) reason: String,
    /// Whether it cannot be read: no rule is named, or something stands there that is neither rule nor reason.
    pub(super) unread: bool,
    /// Where the acceptance stands.
    pub(super) range: Range,
}

/// What `#[cfg_attr(any(), unbroken::allow(rule, reason = "…"))]`, `#[unbroken::allow(…)]` and `#[unbroken::check(allow(…))]`
/// accept, with what cannot be read of it.
pub(super) fn allowed(attr: &Attribute) -> Vec<Allowed> {
    let check = is_check(attr);
    let list = match &attr.meta {
        Meta::List(list) => list.tokens.clone(),
        Meta::Path(_) | Meta::NameValue(_) => TokenStream::new(),
    };
    if is_bare_allow(attr) {
        let span = attr.path().segments.first().map_or_else(Span::call_site, |first| first.ident.span());
        return accepts(list, span);
    }
    // `#[unbroken::check(allow(…))]` accepts as `unbroken::allow(…)` does.
    let skipped = match (check, attr.path().is_ident("cfg_attr")) {
        (true, _) => 0,
        (_, true) => 1,
        _ => return Vec::new(),
    };
    let parts = split(list).into_iter().skip(skipped);
    parts.filter_map(|part| stated(&part, check)).flat_map(|(given, span)| accepts(given, span)).collect()
}

/// What `unbroken::allow(…)` is given, or within a check `allow(…)`, and where it stands; nothing where no list follows.
fn stated(part: &[TokenTree], check: bool) -> Option<(TokenStream, Span)> {
    let colon = |token: &TokenTree| matches!(token, TokenTree::Punct(colon) if colon.as_char() == ':');
    let path = part.iter().skip_while(|token| colon(token));
    let path: Vec<&TokenTree> =
        path.take_while(|token| colon(token) || matches!(token, TokenTree::Ident(_))).collect();
    let named = |token: &TokenTree, name: &str| matches!(token, TokenTree::Ident(ident) if ident == name);
    let span = match path.as_slice() {
        [first, one, two, last]
            if named(first, "unbroken") && colon(one) && colon(two) && named(last, "allow") =>
        {
            first.span()
        }
        [last] if check && named(last, "allow") => last.span(),
        _ => return None,
    };
    match part.last() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
            Some((group.stream(), span))
        }
        _ => Some((TokenStream::new(), span)),
    }
}

fn accepts(given: TokenStream, span: Span) -> Vec<Allowed> {
    let mut reason = String::new();
    let mut rules = Vec::new();
    for part in said(given) {
        match part {
            Said::Rule(rule, _) => rules.push((rule, false)),
            Said::Reason(text) => reason = text,
            Said::Other(text, _) => rules.push((text, true)),
        }
    }
    if rules.is_empty() {
        rules.push((String::new(), true));
    }
    let place = range(span, span);
    rules
        .into_iter()
        .map(|(rule, unread)| Allowed { rule, reason: reason.clone(), unread, range: place })
        .collect()
}

/// `#[unbroken::allow(…)]`, which no compiler accepts: the lint reads it all the same, and says so.
pub(super) fn is_bare_allow(attr: &Attribute) -> bool {
    let path: Vec<String> = attr.path().segments.iter().map(|segment| segment.ident.to_string()).collect();
    path == ["unbroken", "allow"]
}

fn is_check(attr: &Attribute) -> bool {
    let path: Vec<String> = attr.path().segments.iter().map(|segment| segment.ident.to_string()).collect();
    path == ["unbroken", "check"] || path == ["check"]
}

/// Reads `#[unbroken::check(session = a, cursor = b, call = c, store = d)]`; the macro itself reports what is wrong in it.
pub(super) fn read_marks(attr: &Attribute, marks: &mut Marks, names: &mut Names) {
    if !is_check(attr) {
        return;
    }
    marks.checked = true;
    let Meta::List(list) = &attr.meta else { return };
    let Ok(pairs) = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated) else { return };
    for meta in pairs {
        let Meta::NameValue(pair) = meta else { continue };
        let value = match &pair.value {
            Expr::Path(path) => path.path.segments.last().map(|last| &last.ident),
            Expr::Field(field) => match &field.member {
                Member::Named(name) => Some(name),
                Member::Unnamed(_) => None,
            },
            _ => None,
        };
        let Some(value) = value else { continue };
        let value = names.get(&value.to_string());
        match pair.path.get_ident().map(ToString::to_string).as_deref() {
            Some("session") => marks.session.push(value),
            Some("cursor") => marks.cursor.push(value),
            Some("call") => marks.call.push(value),
            Some("store") => marks.store.push(value),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{FileFacts, Lowering};

    fn acceptances(text: &str) -> Vec<(String, String, u32)> {
        let mut facts = FileFacts::default();
        Lowering::into(&mut facts).add(&syn::parse_file(text).expect("Rust"));
        let said = facts.acceptances.iter();
        said.map(|at| (at.rule.to_string(), at.reason.to_string(), at.covers.end_line)).collect()
    }

    #[test]
    fn an_allow_in_a_check_accepts_for_the_whole_item_and_for_nothing_else() {
        let text = "#[unbroken::check(session = id, allow(blind_retry, reason = \"asked first\"))]\nfn f() {\n}\nfn g() {}";
        assert_eq!(acceptances(text), [("blind_retry".to_owned(), "asked first".to_owned(), 3)]);
        let of_impl = "#[unbroken::check(allow(blind_retry, reason = \"asked\"))]\nimpl S {\n fn f() {}\n}";
        assert_eq!(acceptances(of_impl).len(), 1, "once for the impl, not for each method");
        let module = "#[unbroken::check(allow(blind_retry, reason = \"asked\"))]\nmod m {\n fn f() {}\n}";
        assert_eq!(acceptances(module), [("blind_retry".to_owned(), "asked".to_owned(), 4)]);
        assert!(acceptances("#[other(allow(blind_retry, reason = \"asked\"))] fn f() {}").is_empty());
    }

    #[test]
    fn what_cannot_be_read_of_an_allow_is_kept_to_be_told() {
        let unread = |given: &str| {
            let mut facts = FileFacts::default();
            let text = format!("fn f() {{ #[cfg_attr(any(), unbroken::allow{given})] {{ g() }} }}");
            Lowering::into(&mut facts).add(&syn::parse_file(&text).expect("Rust"));
            let said = facts.acceptances.iter().map(|at| (at.rule.to_string(), at.unread));
            said.collect::<Vec<_>>()
        };
        let read = |rule: &str| (rule.to_owned(), false);
        let lost = |text: &str| (text.to_owned(), true);
        assert_eq!(unread("(session_discarded, reason = \"x\")"), [read("session_discarded")]);
        assert_eq!(unread("(session-discarded, reason = \"x\")"), [read("session-discarded")]);
        assert_eq!(unread("(eof-taken-as-completion, reason = \"x\",)"), [read("eof-taken-as-completion")]);
        assert_eq!(unread("(\"session-discarded\", reason = \"x\")"), [lost("\"session-discarded\"")]);
        assert_eq!(unread("(session discarded, reason = \"x\")"), [lost("session discarded")]);
        assert_eq!(unread("(blind_retry, because = \"x\")"), [read("blind_retry"), lost("because = \"x\"")]);
        assert_eq!(unread("(reason = \"x\")"), [lost("")]);
        assert_eq!(
            (unread(""), unread("()"), unread(" = \"x\"")),
            (vec![lost("")], vec![lost("")], vec![lost("")])
        );
    }

    #[test]
    fn an_allow_on_an_assignment_is_read_for_the_whole_statement() {
        for statement in ["self.id = None", "*self.id() = None", "self.id[0] = ask(\n)", "id += 1"] {
            let text = format!(
                "fn f() {{\n#[cfg_attr(any(), unbroken::allow(session_discarded, reason = \"so it is\"))]\n{statement};\n}}"
            );
            let end = 3 + statement.matches('\n').count() as u32;
            let whole = [("session_discarded".to_owned(), "so it is".to_owned(), end)];
            assert_eq!(acceptances(&text), whole, "{statement}");
        }
    }
}
