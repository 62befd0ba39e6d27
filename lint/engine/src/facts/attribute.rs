//! What attributes and constants say: which code is a test, what is accepted, what a check names.
//! Knows attributes, not the items they stand on.

use super::Marks;
use super::ty::{Names, range};
use crate::finding::Range;
use crate::source::is_test_condition;
use proc_macro2::Span;
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

/// What `#[cfg_attr(any(), unbroken::allow(rule, reason = "…"))]`, `#[unbroken::allow(…)]` and `#[unbroken::check(allow(…))]` accept.
pub(super) fn allowed(attr: &Attribute) -> Vec<(String, String, Range)> {
    let Meta::List(list) = &attr.meta else { return Vec::new() };
    let parse = Punctuated::<Meta, Token![,]>::parse_terminated;
    let metas = if attr.path().is_ident("cfg_attr") {
        list.parse_args_with(parse).map(|all| all.into_iter().skip(1).collect::<Vec<_>>()).unwrap_or_default()
    } else {
        vec![attr.meta.clone()]
    };
    // `#[unbroken::check(allow(…))]` accepts as `unbroken::allow(…)` does.
    let check = is_check(attr);
    let metas = if check {
        list.parse_args_with(parse).map_or_else(|_| Vec::new(), |all| all.into_iter().collect())
    } else {
        metas
    };
    let mut out = Vec::new();
    for meta in metas {
        let Meta::List(list) = meta else { continue };
        let path: Vec<String> = list.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if path != ["unbroken", "allow"] && !(check && path == ["allow"]) {
            continue;
        }
        let span = list.path.segments.first().map_or_else(Span::call_site, |first| first.ident.span());
        let Ok(inner) = list.parse_args_with(parse) else { continue };
        let mut reason = String::new();
        let mut rules = Vec::new();
        for meta in &inner {
            match meta {
                Meta::Path(path) => rules.extend(path.get_ident().map(ToString::to_string)),
                Meta::NameValue(pair) if pair.path.is_ident("reason") => {
                    reason = text_of(&pair.value).unwrap_or_default()
                }
                _ => {}
            }
        }
        out.extend(rules.into_iter().map(|rule| (rule, reason.clone(), range(span, span))));
    }
    out
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
