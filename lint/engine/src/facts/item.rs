//! Walks the items of a file: modules, impls, traits, functions, types, constants, imports, attributes.
//! Knows which code is a test; knows nothing of what a function does.

use super::expand::Macros;
use super::expr::Builder;
use super::ty::{Names, in_order, join, range, return_text, type_name, type_text};
use super::{FieldDef, FileFacts, Function, Marks, Param, TypeDef};
use crate::finding::{Problem, Range};
use crate::source::is_test_condition;
use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Fields, FnArg, ImplItem, Item, Lit, Meta, Signature, Token, TraitItem, UseTree};

/// A function of more parts is not judged: its conditions alone would take minutes, and nobody wrote it by hand.
const NODE_LIMIT: usize = 30_000;

/// A tree deeper than this is not judged: what holds at a place is found by walking up from it, and down by recursion.
const DEPTH_LIMIT: u32 = 1_000;

/// Lowers every item of a parsed file.
pub fn lower_file(file: &syn::File, facts: &mut FileFacts) {
    let mut walk = Walk { names: Names::default(), macros: Macros::default(), facts };
    walk.macros.define_all(&file.items);
    walk.items(&file.items, &Around::default());
    if walk.macros.exceeded() {
        let path = walk.facts.path.clone();
        walk.facts.problems.push(Problem {
            path,
            range: None,
            message: "macros that expand to more than can be judged".into(),
            help: "write the generated functions out, or exclude the file; the rest of it was checked".into(),
        });
    }
}

/// Lowers one item, as a macro sees it.
pub fn lower_item(item: &Item, facts: &mut FileFacts) {
    let mut walk = Walk { names: Names::default(), macros: Macros::default(), facts };
    walk.macros.define_all(std::slice::from_ref(item));
    walk.item(item, &Around::default());
}

/// Lowers one item with places that are ordered and no more: enough to know whether there is anything to say.
pub fn lower_item_in_order(item: &Item, facts: &mut FileFacts) {
    in_order(|| lower_item(item, facts));
}

struct Walk<'a> {
    names: Names,
    macros: Macros,
    facts: &'a mut FileFacts,
}

/// What surrounds an item.
#[derive(Clone, Default)]
struct Around {
    owner: Option<String>,
    of_trait: Option<String>,
    test: bool,
    marks: Marks,
}

impl Around {
    fn with(&self, attrs: &[Attribute], names: &mut Names) -> Around {
        let mut inner = self.clone();
        inner.test |= is_test(attrs);
        for attr in attrs {
            read_marks(attr, &mut inner.marks, names);
        }
        inner
    }
}

impl Walk<'_> {
    fn items(&mut self, items: &[Item], around: &Around) {
        for item in items {
            self.item(item, around);
        }
    }

    fn item(&mut self, item: &Item, around: &Around) {
        match item {
            Item::Fn(inner) => {
                let around = around.with(&inner.attrs, &mut self.names);
                self.function(&inner.sig, Some(&inner.block), &inner.attrs, &around);
            }
            Item::Impl(inner) => self.implementation(inner, around),
            Item::Trait(inner) => {
                let mut around = around.with(&inner.attrs, &mut self.names);
                around.owner = Some(inner.ident.to_string());
                let above = inner.supertraits.iter().filter_map(|bound| match bound {
                    syn::TypeParamBound::Trait(bound) => Some(bound.path.segments.last()?.ident.to_string()),
                    _ => None,
                });
                let above = above.map(|name| self.names.get(&name)).collect();
                let name = self.names.get(&inner.ident.to_string());
                self.facts.traits.push((name, above));
                self.accept(&inner.attrs, range(inner.trait_token.span, inner.brace_token.span.close()));
                for item in &inner.items {
                    if let TraitItem::Fn(method) = item {
                        let around = around.with(&method.attrs, &mut self.names);
                        self.function(&method.sig, method.default.as_ref(), &method.attrs, &around);
                    }
                }
            }
            Item::Mod(inner) => {
                let around = around.with(&inner.attrs, &mut self.names);
                if let Some((brace, items)) = &inner.content {
                    self.accept(&inner.attrs, range(inner.mod_token.span, brace.span.close()));
                    self.items(items, &around);
                }
            }
            Item::Const(inner) => self.constant(&inner.ident, &inner.expr),
            Item::Static(inner) => self.constant(&inner.ident, &inner.expr),
            Item::Struct(inner) => self.structure(inner, around),
            Item::Enum(inner) => self.enumeration(inner, around),
            Item::Type(inner) => {
                let place = range(inner.ident.span(), inner.ident.span());
                let ty = type_text(&inner.ty, &mut self.names);
                let fields = vec![FieldDef { name: self.names.get(""), ty, range: place }];
                self.define(&inner.ident, fields, &inner.attrs, around);
            }
            Item::Use(inner) => self.import(&inner.tree, None),
            // `pin_project! { struct … }` and the like: what they are given is Rust of its own.
            Item::Macro(inner) if inner.ident.is_none() => {
                if let Some(tokens) = self.macros.expand(&inner.mac) {
                    if let Ok(inside) = syn::parse2::<syn::File>(tokens) {
                        self.macros.enter();
                        self.items(&inside.items, around);
                        self.macros.leave();
                    }
                } else if let Ok(inside) = syn::parse2::<syn::File>(inner.mac.tokens.clone()) {
                    self.items(&inside.items, around);
                }
            }
            _ => {}
        }
    }

    fn implementation(&mut self, inner: &syn::ItemImpl, around: &Around) {
        let mut around = around.with(&inner.attrs, &mut self.names);
        around.owner = type_name(&inner.self_ty);
        let last = |path: &syn::Path| path.segments.last().map(|last| last.ident.to_string());
        around.of_trait = inner.trait_.as_ref().and_then(|(path, _)| last(path));
        self.accept(&inner.attrs, range(inner.impl_token.span, inner.brace_token.span.close()));
        for item in &inner.items {
            match item {
                ImplItem::Fn(method) => {
                    let around = around.with(&method.attrs, &mut self.names);
                    self.function(&method.sig, Some(&method.block), &method.attrs, &around);
                }
                ImplItem::Const(constant) => self.constant(&constant.ident, &constant.expr),
                ImplItem::Macro(generated) => self.generated(&generated.mac, &around),
                _ => {}
            }
        }
    }

    /// Methods that a macro of the file writes.
    fn generated(&mut self, mac: &syn::Macro, around: &Around) {
        let Some(tokens) = self.macros.expand(mac) else { return };
        let all = |input: syn::parse::ParseStream<'_>| {
            let mut out = Vec::new();
            while !input.is_empty() {
                out.push(input.parse::<ImplItem>()?);
            }
            Ok(out)
        };
        let Ok(items) = syn::parse::Parser::parse2(all, tokens) else { return };
        self.macros.enter();
        for item in &items {
            match item {
                ImplItem::Fn(method) => {
                    let around = around.with(&method.attrs, &mut self.names);
                    self.function(&method.sig, Some(&method.block), &method.attrs, &around);
                }
                ImplItem::Macro(inner) => self.generated(&inner.mac, around),
                _ => {}
            }
        }
        self.macros.leave();
    }

    fn function(
        &mut self,
        sig: &Signature,
        block: Option<&syn::Block>,
        attrs: &[Attribute],
        around: &Around,
    ) {
        let Some(block) = block else { return };
        let (names, macros) = (&mut self.names, &mut self.macros);
        let mut takes_self = false;
        let mut params = Vec::new();
        let mut builder =
            Builder { body: Default::default(), names, macros, facts: self.facts, items: Vec::new() };
        for arg in &sig.inputs {
            match arg {
                FnArg::Receiver(_) => takes_self = true,
                FnArg::Typed(typed) => {
                    let pat = builder.pat(&typed.pat);
                    let bound = builder.body.bound(pat).into_iter().cloned().collect();
                    params.push(Param { names: bound, ty: type_text(&typed.ty, builder.names) });
                }
            }
        }
        builder.block(block);
        let whole = range(sig.fn_token.span, block.brace_token.span.close());
        builder.accept(attrs, whole);
        let items = std::mem::take(&mut builder.items);
        let mut body = builder.body;
        let excess = match body.nodes.len() {
            nodes if nodes > NODE_LIMIT => Some("a function too long to be judged"),
            _ if body.depth() > DEPTH_LIMIT => Some("a function nested too deeply to be judged"),
            _ => None,
        };
        if let Some(message) = excess {
            body = Default::default();
            self.facts.problems.push(Problem {
                path: self.facts.path.clone(),
                range: Some(whole),
                message: message.into(),
                help: "split the function, or exclude the file; the rest of it was checked".into(),
            });
        }
        let mut name = |text: &str| self.names.get(text);
        let function = Function {
            name: name(&sig.ident.to_string()),
            owner: around.owner.as_deref().map(&mut name),
            of_trait: around.of_trait.as_deref().map(&mut name),
            takes_self,
            params,
            ret: return_text(&sig.output, &mut self.names),
            test: around.test,
            body,
            range: whole,
            marks: around.marks.clone(),
        };
        self.facts.functions.push(function);
        let inside = Around { owner: None, of_trait: None, ..around.clone() };
        self.items(&items, &inside);
    }

    fn constant(&mut self, name: &syn::Ident, value: &Expr) {
        if let Some(text) = text_of(value) {
            let entry = (self.names.get(&name.to_string()), self.names.get(&text));
            self.facts.consts.push(entry);
        }
    }

    fn structure(&mut self, inner: &syn::ItemStruct, around: &Around) {
        let mut fields = Vec::new();
        for (at, field) in inner.fields.iter().enumerate() {
            let name = field.ident.as_ref().map_or_else(|| at.to_string(), ToString::to_string);
            let span = field.ident.as_ref().map_or_else(|| inner.ident.span(), syn::Ident::span);
            let ty = type_text(&field.ty, &mut self.names);
            fields.push(FieldDef { name: self.names.get(&name), ty, range: range(span, span) });
        }
        self.define(&inner.ident, fields, &inner.attrs, around);
    }

    fn enumeration(&mut self, inner: &syn::ItemEnum, around: &Around) {
        let mut fields = Vec::new();
        for variant in &inner.variants {
            let place = range(variant.ident.span(), variant.ident.span());
            if matches!(variant.fields, Fields::Unit) {
                let name = self.names.get(&variant.ident.to_string());
                fields.push(FieldDef { name, ty: Default::default(), range: place });
            }
            for (at, field) in variant.fields.iter().enumerate() {
                let part = field.ident.as_ref().map_or_else(|| at.to_string(), ToString::to_string);
                let name = self.names.get(&format!("{}.{part}", variant.ident));
                fields.push(FieldDef { name, ty: type_text(&field.ty, &mut self.names), range: place });
            }
        }
        self.define(&inner.ident, fields, &inner.attrs, around);
    }

    fn define(&mut self, name: &syn::Ident, fields: Vec<FieldDef>, attrs: &[Attribute], around: &Around) {
        let place = fields.iter().fold(range(name.span(), name.span()), |all, field| join(all, field.range));
        self.accept(attrs, place);
        let test = around.test || is_test(attrs);
        let name = self.names.get(&name.to_string());
        self.facts.types.push(TypeDef { name, fields, range: place, test });
    }

    /// Notes an import; `root` is its first segment, once known.
    fn import(&mut self, tree: &UseTree, root: Option<&str>) {
        let root_of = |ident: &syn::Ident| root.map_or_else(|| ident.to_string(), str::to_owned);
        match tree {
            UseTree::Path(path) => {
                let root = root_of(&path.ident);
                self.note_crate(&root);
                self.import(&path.tree, Some(&root));
            }
            UseTree::Name(name) => self.note_import(&name.ident.to_string(), &root_of(&name.ident)),
            UseTree::Rename(rename) => {
                self.note_import(&rename.rename.to_string(), &root_of(&rename.ident));
                let pair =
                    (self.names.get(&rename.rename.to_string()), self.names.get(&rename.ident.to_string()));
                self.facts.renames.push(pair);
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, root)),
            UseTree::Glob(_) => {}
        }
    }

    fn note_import(&mut self, name: &str, root: &str) {
        self.note_crate(root);
        let pair = (self.names.get(name), self.names.get(root));
        self.facts.imports.push(pair);
    }

    fn note_crate(&mut self, root: &str) {
        let root = self.names.get(root);
        if !self.facts.crates.contains(&root) {
            self.facts.crates.push(root);
        }
    }

    fn accept(&mut self, attrs: &[Attribute], covers: Range) {
        let mut builder = Builder {
            body: Default::default(),
            names: &mut self.names,
            macros: &mut self.macros,
            facts: self.facts,
            items: Vec::new(),
        };
        builder.accept(attrs, covers);
    }
}

/// The text of a constant: a string, a reference to one, or a constructor of a header name around one.
fn text_of(value: &Expr) -> Option<String> {
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

fn is_test(attrs: &[Attribute]) -> bool {
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
fn read_marks(attr: &Attribute, marks: &mut Marks, names: &mut Names) {
    if !is_check(attr) {
        return;
    }
    marks.checked = true;
    let Meta::List(list) = &attr.meta else { return };
    let Ok(pairs) = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated) else { return };
    for meta in pairs {
        let Meta::NameValue(pair) = meta else { continue };
        let Expr::Path(value) = &pair.value else { continue };
        let Some(value) = value.path.segments.last() else { continue };
        let value = names.get(&value.ident.to_string());
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
    use super::*;

    fn acceptances(text: &str) -> Vec<(String, String, u32)> {
        let mut facts = FileFacts::default();
        lower_file(&syn::parse_file(text).expect("Rust"), &mut facts);
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
}
