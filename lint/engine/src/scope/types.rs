//! The type of a value, as far as it can be told: the crate's own type or SDK type at its core, wrappers taken off.
//! Knows no trait solving; what it cannot tell is `None`.

use super::{At, Binding, Fx, Scope};
use crate::facts::ir::{Kind, Name};
use crate::facts::{FileFacts, TypeDef, TypeText};
use crate::sdk;

/// Types that only hold, share or guard another one.
const WRAPPERS: &[&str] = &[
    "Arc",
    "Rc",
    "Box",
    "Mutex",
    "RwLock",
    "Option",
    "Result",
    "Pin",
    "RefCell",
    "Cell",
    "OnceCell",
    "OnceLock",
    "ArcSwap",
    "ArcSwapOption",
    "Vec",
    "VecDeque",
    "HashMap",
    "BTreeMap",
    "DashMap",
    "MutexGuard",
    "RwLockWriteGuard",
    "RwLockReadGuard",
    "OwnedMutexGuard",
    "Weak",
    "Cow",
    "LazyLock",
    "Lazy",
    "AMutex",
    "ParkingMutex",
    "TokioMutex",
    "AsyncMutex",
    "Future",
    "Send",
    "Sync",
    "Ref",
    "RefMut",
    "String",
    "str",
    "u64",
    "usize",
    "u32",
];

impl Scope {
    /// The first type in the text that is no wrapper: for maps this is the value, since keys are plain.
    #[must_use]
    pub fn core<'a>(&'a self, text: &'a TypeText, owner: Option<&'a Name>) -> Option<&'a Name> {
        let name = text.0.iter().find(|name| {
            name.starts_with(char::is_uppercase) && !WRAPPERS.contains(&&***name) && !name.ends_with("Result")
        })?;
        if &**name == "Self" {
            return owner;
        }
        Some(self.behind_alias(name).unwrap_or(name))
    }

    /// What an alias of the crate stands for, `type Shared = Arc<dyn Transport>`, where that is a type or trait known here.
    fn behind_alias(&self, name: &Name) -> Option<&Name> {
        let mut defs = self.defs(name);
        let fields = &defs.next()?.fields;
        let [field] = fields.as_slice() else { return None };
        if !field.name.is_empty() || defs.next().is_some() {
            return None;
        }
        let core = field.ty.0.iter().find(|part| {
            part.starts_with(char::is_uppercase) && !WRAPPERS.contains(&&***part) && *part != name
        })?;
        (self.is_type(core) || self.traits.contains_key(core)).then_some(core)
    }

    /// The definitions of a type of the crate.
    pub fn defs(&self, name: &str) -> impl Iterator<Item = &TypeDef> {
        let places = self.types.get(name).map_or(&[][..], Vec::as_slice);
        places.iter().map(|(file, index)| &self.files[*file as usize].types[*index as usize])
    }

    /// Every type of the crate.
    pub fn all_types(&self) -> impl Iterator<Item = (&FileFacts, &TypeDef)> {
        self.files.iter().flat_map(|file| file.types.iter().map(move |def| (file, def)))
    }

    /// Whether the name is one of the crate's types, or a type of an SDK the crate uses.
    #[must_use]
    pub fn is_type(&self, name: &str) -> bool {
        self.types.contains_key(name) || sdk::role(self.sdks.iter().copied(), name).is_some()
    }

    /// The type of a field of a type of the crate.
    #[must_use]
    pub fn field_type(&self, ty: &str, field: &str) -> Option<&TypeText> {
        self.defs(ty).flat_map(|def| &def.fields).find(|def| &*def.name == field).map(|def| &def.ty)
    }

    /// Where a field of a type of the crate is declared.
    #[must_use]
    pub fn field_place(&self, ty: &str, field: &str) -> Option<(&std::path::Path, crate::finding::Range)> {
        let found = self.all_types().filter(|(_, def)| &*def.name == ty);
        let mut found = found.flat_map(|(file, def)| def.fields.iter().map(move |at| (file, at)));
        let (file, at) = found.find(|(_, at)| &*at.name == field)?;
        Some((&file.path, at.range))
    }

    /// The core type of a value.
    #[must_use]
    pub fn type_of(&self, at: At) -> Option<Name> {
        self.type_within(at, 14)
    }

    pub(super) fn type_within(&self, at: At, depth: u8) -> Option<Name> {
        let depth = depth.checked_sub(1)?;
        let function = self.function(at.fx);
        let body = &function.body;
        let owner = function.owner.as_ref();
        let inner = |id| self.type_within(At { id, ..at }, depth);
        match body.kind(at.id) {
            Kind::Path(path) if path.len() == 1 && &*path[0] == "self" => owner.cloned(),
            Kind::Path(path) if path.len() == 1 => self.local_type(at, &path[0], depth),
            Kind::Field(base, name) => {
                let base = inner(*base)?;
                self.core(self.field_type(&base, name)?, Some(&base)).cloned()
            }
            Kind::Method(receiver, name, args) => {
                let found = self.method_return(at, *receiver, name, args.len(), depth);
                if found.is_none() && passes(name) { inner(*receiver) } else { found }
            }
            Kind::Call(callee, args) => {
                let Kind::Path(path) = body.kind(*callee) else { return None };
                if let [.., ty, name] = path.as_slice() {
                    let ty = if &**ty == "Self" { owner? } else { ty };
                    if matches!(&**ty, "Arc" | "Rc" | "Box" | "Mutex" | "RwLock") {
                        return inner(*args.first()?);
                    }
                    let of = |fx: &&Fx| self.function(**fx).owner.as_ref() == Some(ty);
                    if let Some(fx) = self.members(ty, name).iter().find(of) {
                        return self.core(&self.function(*fx).ret, Some(ty)).cloned();
                    }
                    return self.is_type(ty).then(|| ty.clone());
                }
                let name = path.first()?;
                if matches!(&**name, "Some" | "Ok" | "Err" | "timeout") {
                    return inner(*args.last()?);
                }
                let fx = self.free(name)?;
                self.core(&self.function(fx).ret, None).cloned()
            }
            Kind::Struct(path, ..) => match path.as_slice() {
                [own] if &**own == "Self" => owner.cloned(),
                path => path.last().cloned(),
            },
            Kind::Ref(a) | Kind::Deref(a) | Kind::Await(a) | Kind::Try(a) => inner(*a),
            Kind::Block(stmts, true) => inner(*stmts.last()?),
            Kind::Match(_, arms) => arms.iter().find_map(|arm| inner(arm.body)),
            Kind::If(_, then, _) => inner(*then),
            Kind::Index(base, _) => inner(*base),
            _ => None,
        }
    }

    fn local_type(&self, at: At, name: &Name, depth: u8) -> Option<Name> {
        let owner = self.function(at.fx).owner.as_ref();
        match self.binding(at.fx, name, at.id)? {
            Binding::Param(index) => self.core(&self.function(at.fx).params[index].ty, owner).cloned(),
            Binding::Let { init: Some(init), .. } => self.type_within(At { id: init, ..at }, depth),
            Binding::Match { value, .. } => self.type_within(At { id: value, ..at }, depth),
            Binding::For { iter, .. } => self.type_within(At { id: iter, ..at }, depth),
            _ => None,
        }
    }

    fn method_return(
        &self,
        at: At,
        receiver: crate::facts::ir::Id,
        name: &Name,
        args: usize,
        depth: u8,
    ) -> Option<Name> {
        if self.named(name).is_empty() {
            return None;
        }
        let ty = self.type_within(At { id: receiver, ..at }, depth)?;
        let fits = |fx: &&Fx| {
            let function = self.function(**fx);
            function.owner.as_ref() == Some(&ty) && function.params.len() == args
        };
        let fx = self.members(&ty, name).iter().find(fits)?;
        self.core(&self.function(*fx).ret, Some(&ty)).cloned()
    }
}

/// Methods whose result holds the same value as the receiver.
pub(crate) fn passes(name: &str) -> bool {
    matches!(
        name,
        "clone"
            | "as_ref"
            | "as_mut"
            | "as_deref"
            | "as_deref_mut"
            | "lock"
            | "read"
            | "write"
            | "try_lock"
            | "blocking_lock"
            | "borrow"
            | "borrow_mut"
            | "unwrap"
            | "expect"
            | "unwrap_or"
            | "unwrap_or_default"
            | "unwrap_or_else"
            | "ok"
            | "ok_or"
            | "ok_or_else"
            | "context"
            | "with_context"
            | "map_err"
            | "cloned"
            | "copied"
            | "to_owned"
            | "to_string"
            | "to_str"
            | "into"
            | "as_str"
            | "as_bytes"
            | "get"
            | "get_mut"
            | "iter"
            | "iter_mut"
            | "values"
            | "values_mut"
            | "take"
            | "load"
            | "load_full"
            | "upgrade"
            | "get_ref"
            | "inner"
            | "filter"
            | "await"
            | "next"
            | "peer"
            | "deref"
            | "trim"
            | "owned"
            | "boxed"
            | "fuse"
            | "by_ref"
    )
}
