//! Who calls whom: methods by receiver type where it can be told, by name and arity where not.
//! Knows no summary; a call that may reach too many functions reaches none.

use super::{At, Binding, Fx, Scope};
use crate::facts::ir::{Id, Kind, Name, Sort};
use crate::index::{ByName, Index};
use crate::sdk;

/// A call of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Caller {
    /// Where.
    pub at: At,
    /// Whether the callee was told by its type (or path), not by its name alone.
    pub sure: bool,
}

/// A name alone that leads to more functions than this tells nothing.
const AMBIGUOUS: usize = 6;

/// Of a name that more functions than this share, only those of a known type are looked for.
const CROWD: usize = 512;

/// Names that the standard library and every HTTP or channel crate share: by name alone they tell nothing.
const SHARED: &[&str] = &[
    "get",
    "get_mut",
    "insert",
    "remove",
    "take",
    "clone",
    "send",
    "next",
    "read",
    "write",
    "lock",
    "push",
    "pop",
    "clear",
    "new",
    "from",
    "into",
    "default",
    "len",
    "iter",
    "map",
    "and_then",
    "unwrap",
    "expect",
    "ok",
    "err",
    "as_ref",
    "as_mut",
    "to_string",
    "to_owned",
    "contains",
    "contains_key",
    "entry",
    "extend",
    "drain",
    "retain",
    "recv",
    "poll",
    "poll_next",
    "wait",
    "join",
    "abort",
    "spawn",
    "run",
    "start",
    "stop",
    "close",
    "drop",
    "set",
    "load",
    "store",
    "swap",
    "parse",
    "build",
    "header",
    "headers",
    "body",
    "json",
    "text",
    "bytes",
    "status",
    "get_or_insert_with",
    "filter",
    "find",
    "any",
    "all",
    "is_empty",
    "is_some",
    "is_none",
    "is_ok",
    "is_err",
    "unwrap_or",
    "eq",
    "cmp",
    "fmt",
    "hash",
    "name",
    "id",
    "key",
    "value",
    "post",
    "delete",
    "put",
    "update",
    "try_send",
    "flush",
    "replace",
    "timeout",
    "cancel",
    "init",
    "execute",
    "call",
    "request",
    "with",
    "split",
];

impl Scope {
    pub(super) fn link(&mut self) {
        let mut callees = Index::default();
        let mut built: ByName<Vec<At>> = ByName::default();
        let mut callers: Vec<Vec<Caller>> = vec![Vec::new(); self.functions.len()];
        for fx in self.all() {
            let body = self.body(fx);
            for sort in [Sort::Path, Sort::Struct] {
                for id in body.of(sort) {
                    if let Kind::Path(path) | Kind::Struct(path, ..) = body.kind(*id)
                        && let [.., _, variant] = path.as_slice()
                        && variant.starts_with(char::is_uppercase)
                    {
                        built.or_default(variant).push(At { fx, id: *id });
                    }
                }
            }
            for id in body.of(Sort::Call) {
                let at = At { fx, id: *id };
                let (found, sure) = match body.kind(*id) {
                    Kind::Method(receiver, name, args) => {
                        self.method_targets(at, *receiver, name, args.len())
                    }
                    Kind::Call(callee, args) => self.path_targets(at, *callee, args.len()),
                    _ => continue,
                };
                if found.is_empty() {
                    continue;
                }
                for target in &found {
                    callers[target.0 as usize].push(Caller { at, sure });
                }
                callees.insert(at, found);
            }
        }
        // Places in order, whichever sort they are of.
        built.values_mut().for_each(|places| places.sort_unstable());
        self.built = built;
        self.callees = callees;
        self.callers = callers;
    }

    fn method_targets(&self, at: At, receiver: Id, name: &Name, args: usize) -> (Vec<Fx>, bool) {
        let mut shapes = self.methods.get(name).into_iter().flatten();
        let all = shapes.find(|(taken, _)| *taken == args).map_or(&[][..], |(_, all)| all);
        if all.is_empty() {
            return (Vec::new(), false);
        }
        let test = self.function(at.fx).test;
        let live = |fx: &Fx| test || !self.function(*fx).test;
        if self.of_stack(At { id: receiver, ..at }) {
            return (Vec::new(), true);
        }
        if let Some(ty) = self.type_of(At { id: receiver, ..at }) {
            let traits = self.trait_and_above(&ty);
            let own = |fx: &Fx| {
                self.function(*fx).takes_self && self.function(*fx).params.len() == args && live(fx)
            };
            let members =
                traits.iter().map(|of| self.members(of, name)).filter(|all| all.len() <= CROWD).flatten();
            let mut typed: Vec<Fx> = members.copied().filter(own).collect();
            typed.sort_unstable();
            typed.dedup();
            if !typed.is_empty() {
                let dispatched = self.traits.contains_key(&ty);
                return (if dispatched { typed } else { self.own_krate(at.fx, typed) }, true);
            }
            // The type is known and has no such method here: a trait's default, an SDK's, or a field of another crate.
            if traits.len() == 1 && self.defs(&ty).next().is_some() {
                return (Vec::new(), true);
            }
        }
        if all.len() > CROWD {
            return (Vec::new(), false);
        }
        let found: Vec<Fx> = all.iter().copied().filter(|fx| live(fx) && self.reaches(at.fx, *fx)).collect();
        if SHARED.contains(&&**name) || found.len() > AMBIGUOUS {
            return (Vec::new(), false);
        }
        // Implementations of one trait are meant together, wherever they stand.
        let of = |fx: &Fx| self.function(*fx).of_trait.clone();
        let first = found.first().and_then(of);
        if first.is_some() && found.iter().all(|fx| of(fx) == first) {
            return (found, false);
        }
        (self.nearest(at.fx, found), false)
    }

    /// Whether the receiver is declared as an HTTP crate's, `reqwest::Client`, whatever types of that name are here.
    fn of_stack(&self, at: At) -> bool {
        let body = self.body(at.fx);
        let text = match body.kind(body.peel(at.id)) {
            Kind::Field(base, name) => {
                self.type_of(At { id: *base, ..at }).and_then(|ty| self.field_type(&ty, name))
            }
            Kind::Path(path) if path.len() == 1 => match self.binding(at.fx, &path[0], at.id) {
                Some(Binding::Param(index)) => Some(&self.function(at.fx).params[index].ty),
                _ => None,
            },
            _ => None,
        };
        let stack = |name: &Name| sdk::by_root(name).is_some_and(|sdk| !sdk.speaks_mcp());
        text.is_some_and(|text| text.0.iter().any(stack))
    }

    /// A trait and all traits it asks for.
    fn trait_and_above(&self, name: &Name) -> Vec<Name> {
        let mut out = vec![name.clone()];
        let mut at = 0;
        while let Some(name) = out.get(at).cloned() {
            let above = self.traits.get(&name).into_iter().flatten();
            let fresh: Vec<Name> = above.filter(|above| !out.contains(above)).cloned().collect();
            out.extend(fresh);
            at += 1;
        }
        out
    }

    fn path_targets(&self, at: At, callee: Id, args: usize) -> (Vec<Fx>, bool) {
        let Kind::Path(path) = self.body(at.fx).kind(callee) else { return (Vec::new(), false) };
        let Some(name) = path.last() else { return (Vec::new(), false) };
        let name = self.original(name);
        let arity = |fx: &Fx| {
            let function = self.function(*fx);
            function.params.len() + usize::from(function.takes_self) == args
        };
        let test = self.function(at.fx).test;
        let live = |fx: &Fx| test || !self.function(*fx).test;
        if let [.., ty, _] = path.as_slice() {
            let ty = match &**ty {
                "Self" => self.function(at.fx).owner.as_ref(),
                text if text.starts_with(char::is_uppercase) => Some(ty),
                _ => None,
            };
            if let Some(ty) = ty {
                let ty = self.original(ty);
                let own = |fx: &Fx| self.function(*fx).owner.as_ref() == Some(ty) && arity(fx) && live(fx);
                let members =
                    Some(self.members(ty, name)).filter(|all| all.len() <= CROWD).unwrap_or_default();
                let found = members.iter().copied().filter(own).collect();
                return (self.own_krate(at.fx, found), true);
            }
        }
        let named = self.named(name);
        if named.len() > CROWD {
            return (Vec::new(), false);
        }
        let free =
            |fx: &Fx| self.function(*fx).owner.is_none() && arity(fx) && live(fx) && self.reaches(at.fx, *fx);
        let free: Vec<Fx> = named.iter().copied().filter(free).collect();
        if free.len() > AMBIGUOUS {
            return (Vec::new(), false);
        }
        (self.nearest(at.fx, free), true)
    }

    /// What callers pass for a parameter.
    #[must_use]
    pub fn arguments(&self, fx: Fx, index: usize) -> Vec<At> {
        let mut out = Vec::new();
        for caller in self.callers(fx) {
            let at = caller.at;
            let arg = match self.kind(at) {
                Kind::Method(_, _, args) => args.get(index),
                Kind::Call(_, args) => args.get(index + usize::from(self.function(fx).takes_self)),
                _ => None,
            };
            out.extend(arg.map(|id| At { id: *id, ..at }));
        }
        out
    }

    /// Of several functions of one name: those of the same file, else of the same crate, else all.
    fn nearest(&self, from: Fx, found: Vec<Fx>) -> Vec<Fx> {
        let file = |fx: &Fx| self.homes[fx.0 as usize];
        let same: Vec<Fx> = found.iter().copied().filter(|fx| file(fx) == file(&from)).collect();
        if same.is_empty() { self.own_krate(from, found) } else { same }
    }

    /// Of the methods of types of one name: those of the same crate, else all.
    fn own_krate(&self, from: Fx, found: Vec<Fx>) -> Vec<Fx> {
        let near: Vec<Fx> = found.iter().copied().filter(|fx| self.krate(*fx) == self.krate(from)).collect();
        if near.is_empty() { found } else { near }
    }

    /// Whether code of the one crate can mean a function of the other without knowing its type: it must name the crate.
    fn reaches(&self, from: Fx, to: Fx) -> bool {
        let (from, to) = (self.krate(from), self.krate(to));
        from == to || self.uses[from as usize].contains(&to)
    }
}

/// The folder above the last `src`: files below it belong to one crate.
pub(crate) fn krate_of(path: &std::path::Path) -> std::path::PathBuf {
    let parts: Vec<_> = path.components().collect();
    let src = parts.iter().rposition(|part| part.as_os_str() == "src").unwrap_or(0);
    parts[..src].iter().collect()
}
