//! Walks the items of a file: modules, impls, traits, functions, types, constants, imports, attributes.
//! Knows which code is a test; knows nothing of what a function does.

use super::attribute::{is_test, read_marks, text_of};
use super::expand::Macros;
use super::expr::Builder;
use super::ty::{Names, in_order, join, range, return_text, type_name, type_text};
use super::{FieldDef, FileFacts, Function, Marks, Param, TypeDef};
use crate::finding::{Problem, Range};
use syn::{Attribute, Expr, Fields, FnArg, ImplItem, Item, Signature, TraitItem, UseTree};

/// A function of more parts is not judged: its conditions alone would take minutes, and nobody wrote it by hand.
pub(super) const NODE_LIMIT: usize = 30_000;

/// A tree deeper than this is not judged: what holds at a place is found by walking up from it, and down by recursion.
pub(super) const DEPTH_LIMIT: u32 = 1_000;

/// Lowers a file part by part: items stand between the parts, and macros are known from their definition on.
pub(crate) struct Lowering<'a>(Walk<'a>);

impl<'a> Lowering<'a> {
    /// Begins a file.
    pub(crate) fn into(facts: &'a mut FileFacts) -> Lowering<'a> {
        Lowering(Walk { names: Names::default(), macros: Macros::default(), facts })
    }

    /// Lowers every item of a part.
    pub(crate) fn add(&mut self, part: &syn::File) {
        self.0.macros.define_all(&part.items);
        self.0.items(&part.items, &Around::default());
    }

    /// Notes what was left out.
    pub(crate) fn finish(self) {
        let walk = self.0;
        if walk.macros.exceeded() {
            let path = walk.facts.path.clone();
            walk.facts.problems.push(Problem {
                path,
                range: None,
                message: "macros that expand to more than can be judged".into(),
                help: "write the generated functions out, or exclude the file; the rest of it was checked"
                    .into(),
            });
        }
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
                    let bound = builder.body.bound(pat);
                    params.push(Param { names: bound, ty: type_text(&typed.ty, builder.names) });
                }
            }
        }
        builder.block(block);
        let whole = range(sig.fn_token.span, block.brace_token.span.close());
        builder.accept(attrs, whole);
        let items = std::mem::take(&mut builder.items);
        let mut body = builder.body.finish();
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
