//! How a remark reaches the compiler: an error, or a warning that stable Rust lets a macro raise.
//! Knows tokens and the compiler's lints, no rule.

use crate::place::Stretch;
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::Item;

/// Something to say at a place.
pub(crate) struct Remark {
    at: Stretch,
    /// The name of the constant whose use is the warning; `None`: an error.
    warning: Option<String>,
    text: String,
}

impl Remark {
    pub(crate) fn error(at: impl Into<Stretch>, message: String, help: String) -> Remark {
        Remark { at: at.into(), warning: None, text: told(&message, &help) }
    }

    pub(crate) fn warning(at: impl Into<Stretch>, name: &str, message: String, help: &str) -> Remark {
        Remark { at: at.into(), warning: Some(name.to_owned()), text: told(&message, help) }
    }

    fn tokens(&self) -> TokenStream {
        let text = &self.text;
        let Some(name) = &self.warning else {
            // The macro's path carries the first token's place and its argument the last one's: the compiler
            // underlines from the one to the other.
            let (first, last) = (self.at.first, self.at.last);
            let group = |delimiter, stream| {
                let mut group = Group::new(delimiter, stream);
                group.set_span(last);
                group
            };
            let body = group(Delimiter::Brace, quote_spanned!(last=> #text));
            return quote_spanned!(first=> ::core::compile_error! #body);
        };
        let private = Span::mixed_site();
        let declared = Ident::new(name, private);
        let module = Ident::new("unbroken", private);
        let used = Ident::new(name, private.located_at(self.at.first));
        // `warn` stands here because an `allow(deprecated)` further out was meant for something else.
        quote! {
            #[warn(deprecated)]
            const _: () = {
                mod #module {
                    #[deprecated(note = #text)]
                    #[allow(non_upper_case_globals)]
                    pub(super) const #declared: () = ();
                }
                #module::#used
            };
        }
    }
}

impl From<Span> for Stretch {
    fn from(span: Span) -> Stretch {
        Stretch::of(span)
    }
}

fn told(message: &str, help: &str) -> String {
    format!("{message}\nhelp: {help}")
}

/// The item, with the remarks where they may stand: inside the body of a function, which may be a method and so has
/// no place beside it for a constant; behind any other item.
pub(crate) fn emit(item: TokenStream, parsed: Option<&Item>, remarks: Vec<Remark>) -> TokenStream {
    if remarks.is_empty() {
        return item;
    }
    let said: TokenStream = remarks.iter().map(Remark::tokens).collect();
    match parsed {
        Some(Item::Fn(_)) | None => inside(&item, &said).unwrap_or_else(|| quote!(#item #said)),
        Some(_) => quote!(#item #said),
    }
}

/// The item with `said` at the head of the braces that end it, behind inner attributes.
fn inside(item: &TokenStream, said: &TokenStream) -> Option<TokenStream> {
    let mut tokens: Vec<TokenTree> = item.clone().into_iter().collect();
    let is_function = tokens.iter().any(|token| matches!(token, TokenTree::Ident(ident) if ident == "fn"));
    let Some(TokenTree::Group(body)) = tokens.last().filter(|_| is_function) else { return None };
    if body.delimiter() != Delimiter::Brace {
        return None;
    }
    let inner: Vec<TokenTree> = body.stream().into_iter().collect();
    let mut at = 0;
    while let [TokenTree::Punct(hash), TokenTree::Punct(bang), TokenTree::Group(_), ..] = &inner[at..] {
        if hash.as_char() != '#' || bang.as_char() != '!' {
            break;
        }
        at += 3;
    }
    let (head, rest) = inner.split_at(at);
    let stream = head.iter().cloned().chain(said.clone()).chain(rest.iter().cloned()).collect();
    let mut filled = Group::new(Delimiter::Brace, stream);
    filled.set_span(body.span());
    tokens.pop();
    tokens.push(TokenTree::Group(filled));
    Some(tokens.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn emitted(text: &str, remarks: Vec<Remark>) -> String {
        let tokens: TokenStream = text.parse().expect("tokens");
        let parsed = syn::parse2(tokens.clone()).ok();
        emit(tokens, parsed.as_ref(), remarks).to_string()
    }

    fn warning() -> Vec<Remark> {
        vec![Remark::warning(Span::call_site(), "blind_retry", "sent again".to_owned(), "ask first")]
    }

    #[test]
    fn an_item_with_nothing_to_say_is_the_same_tokens() {
        let text =
            "pub(crate) async fn f<'a>(&self, x: &'a str) -> u8 { #![allow(unused)] m!{ a => b } ; 1 }";
        let tokens: TokenStream = text.parse().expect("tokens");
        assert_eq!(emitted(text, Vec::new()), tokens.to_string());
    }

    #[test]
    fn a_function_is_told_inside_behind_its_inner_attributes_and_an_impl_beside() {
        let told = emitted("fn f(&self) { #![allow(unused)] 1 }", warning());
        let (attribute, constant) = (told.find("unused").expect("kept"), told.find("const _").expect("said"));
        assert!(attribute < constant && told.trim_end().ends_with("1 }"), "{told}");
        let told = emitted("impl S { fn f(&self) { 1 } }", warning());
        assert!(told.starts_with("impl S { fn f (& self) { 1 } }"), "{told}");
    }

    #[test]
    fn an_error_is_one_and_says_what_to_do() {
        let error =
            Remark::error(Span::call_site(), "blind-retry: sent again".to_owned(), "ask first".to_owned());
        let told = emitted("mod m { }", vec![error]);
        assert!(told.contains("compile_error ! { \"blind-retry: sent again\\nhelp: ask first\" }"), "{told}");
    }
}
