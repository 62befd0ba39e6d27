//! Lowers patterns.
//! Knows syntax only.

use super::expr::Builder;
use super::ir::{PatId, PatKind};
use super::ty::{join, range};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Member, Pat};

impl Builder<'_> {
    pub(super) fn pat(&mut self, pat: &Pat) -> PatId {
        match pat {
            Pat::Ident(inner) => {
                let text = inner.ident.to_string();
                let place = range(inner.ident.span(), inner.ident.span());
                let name = self.name(&text);
                // A capital cannot start a binding in code that follows the naming lint: it is a constant or variant.
                if inner.subpat.is_none() && text.starts_with(char::is_uppercase) {
                    return self.pat_node(PatKind::Variant(vec![name], Vec::new(), Vec::new()), place);
                }
                let sub = inner.subpat.as_ref().map(|(_, sub)| self.pat(sub));
                self.pat_node(PatKind::Bind(name, sub), place)
            }
            Pat::Path(inner) => {
                let place = path_range(&inner.path);
                let path = self.segments(&inner.path);
                self.pat_node(PatKind::Variant(path, Vec::new(), Vec::new()), place)
            }
            Pat::TupleStruct(inner) => {
                let path = self.segments(&inner.path);
                let subs = inner.elems.iter().map(|sub| self.pat(sub)).collect();
                let close = inner.paren_token.span.close();
                let place = join(path_range(&inner.path), range(close, close));
                self.pat_node(PatKind::Variant(path, subs, Vec::new()), place)
            }
            Pat::Struct(inner) => {
                let path = self.segments(&inner.path);
                let subs = inner.fields.iter().map(|field| self.pat(&field.pat)).collect();
                let fields = inner.fields.iter().map(|field| match &field.member {
                    Member::Named(name) => name.to_string(),
                    Member::Unnamed(index) => index.index.to_string(),
                });
                let fields = fields.map(|field| self.names.get(&field)).collect();
                let close = inner.brace_token.span.close();
                let place = join(path_range(&inner.path), range(close, close));
                self.pat_node(PatKind::Variant(path, subs, fields), place)
            }
            Pat::Tuple(inner) => {
                let subs = inner.elems.iter().map(|sub| self.pat(sub)).collect();
                let place = range(inner.paren_token.span.open(), inner.paren_token.span.close());
                self.pat_node(PatKind::Tuple(subs), place)
            }
            Pat::Slice(inner) => {
                let subs = inner.elems.iter().map(|sub| self.pat(sub)).collect();
                let place = range(inner.bracket_token.span.open(), inner.bracket_token.span.close());
                self.pat_node(PatKind::Tuple(subs), place)
            }
            Pat::Or(inner) => {
                let subs: Vec<PatId> = inner.cases.iter().map(|sub| self.pat(sub)).collect();
                let places = subs.iter().map(|sub| self.body.pat_range(*sub));
                let place = places.reduce(join).unwrap_or_default();
                self.pat_node(PatKind::Or(subs), place)
            }
            Pat::Lit(inner) => {
                let value = self.expr(&syn::Expr::Lit(inner.clone()));
                let place = self.range_of(value);
                self.pat_node(PatKind::Value(value), place)
            }
            Pat::Range(inner) => {
                let value = self.expr(&syn::Expr::Range(inner.clone()));
                let place = self.range_of(value);
                self.pat_node(PatKind::Value(value), place)
            }
            Pat::Paren(inner) => self.pat(&inner.pat),
            Pat::Reference(inner) => self.pat(&inner.pat),
            Pat::Type(inner) => self.pat(&inner.pat),
            Pat::Guard(inner) => self.pat(&inner.pat),
            _ => {
                let span = pat.span();
                self.pat_node(PatKind::Wild, range(span, span))
            }
        }
    }
}

fn path_range(path: &syn::Path) -> crate::finding::Range {
    let span = |segment: Option<&syn::PathSegment>| segment.map_or_else(Span::call_site, |s| s.ident.span());
    range(span(path.segments.first()), span(path.segments.last()))
}
