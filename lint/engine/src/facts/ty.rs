//! Lowers types to the identifiers in them, and places to ranges.
//! Knows no expression.

use super::TypeText;
use super::ir::Name;
use crate::finding::Range;
use proc_macro2::Span;
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;
use syn::{GenericArgument, PathArguments, ReturnType, Type, TypeParamBound};

/// Shares equal names within a file.
#[derive(Default)]
pub(super) struct Names(HashSet<Name>);

impl Names {
    pub(super) fn get(&mut self, text: &str) -> Name {
        if let Some(name) = self.0.get(text) {
            return name.clone();
        }
        let name: Name = Arc::from(text);
        self.0.insert(name.clone());
        name
    }
}

thread_local! {
    /// The next place in the order of lowering, while places are only ordered.
    static ORDER: Cell<Option<u32>> = const { Cell::new(None) };
}

/// Lowers with places that say no more than what comes after what: within a macro, every line and column is asked of
/// the compiler, which takes longer than all the rest.
pub(super) fn in_order<T>(lower: impl FnOnce() -> T) -> T {
    ORDER.set(Some(1));
    let out = lower();
    ORDER.set(None);
    out
}

/// From the first character of `first` to the last of `last`.
pub(super) fn range(first: Span, last: Span) -> Range {
    if let Some(line) = ORDER.get() {
        ORDER.set(Some(line.saturating_add(1)));
        return Range { line, column: 1, end_line: line, end_column: 2 };
    }
    let (start, end) = (first.start(), last.end());
    Range {
        line: start.line as u32,
        column: start.column as u32 + 1,
        end_line: end.line as u32,
        end_column: end.column as u32 + 1,
    }
}

/// The smallest range that covers both.
pub(super) fn join(a: Range, b: Range) -> Range {
    let start = (a.line, a.column).min((b.line, b.column));
    let end = (a.end_line, a.end_column).max((b.end_line, b.end_column));
    Range { line: start.0, column: start.1, end_line: end.0, end_column: end.1 }
}

pub(super) fn type_text(ty: &Type, names: &mut Names) -> TypeText {
    let mut out = Vec::new();
    push_type(ty, names, &mut out);
    TypeText(out)
}

pub(super) fn return_text(ret: &ReturnType, names: &mut Names) -> TypeText {
    match ret {
        ReturnType::Default => TypeText::default(),
        ReturnType::Type(_, ty) => type_text(ty, names),
    }
}

/// The name of the type an impl is for.
pub(super) fn type_name(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        Type::Reference(inner) => type_name(&inner.elem),
        Type::Paren(inner) => type_name(&inner.elem),
        Type::Group(inner) => type_name(&inner.elem),
        _ => None,
    }
}

fn push_type(ty: &Type, names: &mut Names, out: &mut Vec<Name>) {
    match ty {
        Type::Path(path) => push_path(&path.path, names, out),
        Type::Reference(inner) => push_type(&inner.elem, names, out),
        Type::Paren(inner) => push_type(&inner.elem, names, out),
        Type::Group(inner) => push_type(&inner.elem, names, out),
        Type::Ptr(inner) => push_type(&inner.elem, names, out),
        Type::Slice(inner) => push_type(&inner.elem, names, out),
        Type::Array(inner) => push_type(&inner.elem, names, out),
        Type::Tuple(inner) => inner.elems.iter().for_each(|part| push_type(part, names, out)),
        Type::ImplTrait(inner) => inner.bounds.iter().for_each(|bound| push_bound(bound, names, out)),
        Type::TraitObject(inner) => inner.bounds.iter().for_each(|bound| push_bound(bound, names, out)),
        _ => {}
    }
}

fn push_bound(bound: &TypeParamBound, names: &mut Names, out: &mut Vec<Name>) {
    if let TypeParamBound::Trait(bound) = bound {
        push_path(&bound.path, names, out);
    }
}

fn push_path(path: &syn::Path, names: &mut Names, out: &mut Vec<Name>) {
    let Some(last) = path.segments.last() else { return };
    // The crate a type is named under tells `reqwest::Client` from an SDK's.
    if let Some(first) = path.segments.first().filter(|_| path.segments.len() > 1) {
        let first = first.ident.to_string();
        if first.starts_with(char::is_lowercase)
            && !matches!(first.as_str(), "crate" | "self" | "super" | "std" | "core" | "alloc")
        {
            out.push(names.get(&first));
        }
    }
    out.push(names.get(&last.ident.to_string()));
    match &last.arguments {
        PathArguments::None => {}
        PathArguments::AngleBracketed(args) => {
            for arg in &args.args {
                match arg {
                    GenericArgument::Type(ty) => push_type(ty, names, out),
                    GenericArgument::AssocType(assoc) => push_type(&assoc.ty, names, out),
                    _ => {}
                }
            }
        }
        PathArguments::Parenthesized(args) => {
            args.inputs.iter().for_each(|part| push_type(&part.ty, names, out));
            if let ReturnType::Type(_, ty) = &args.output {
                push_type(ty, names, out);
            }
        }
    }
}
