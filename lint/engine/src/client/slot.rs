//! Where session ids, cursors and handles are kept: found by following values from the headers, and types from the SDKs.
//! Knows storage, not what is done with it.

use super::pipe::piped;
use super::{Client, Header, HeaderUse};
use crate::facts::ir::{Id, Kind, Name, Sort};
use crate::facts::{FileFacts, Function, TypeText};
use crate::index::Index;
use crate::scope::{At, Binding, Fx};
use crate::sdk::{self, Role};
use std::collections::BTreeSet;

/// More values than this, from all headers together, are not followed to where they are kept.
const VALUES: usize = 20_000;

/// A place that keeps a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// A field of a type.
    Field(Name, Name),
    /// A local variable.
    Local(Fx, Name),
    /// A parameter, by position.
    Param(Fx, usize),
}

impl Client<'_> {
    pub(super) fn find_handle_types(&mut self) {
        let sdks: Vec<_> = self.scope.sdks.iter().copied().filter(|sdk| sdk.speaks_mcp()).collect();
        if self.pipes_only(&sdks) {
            return;
        }
        for sdk in &sdks {
            for ty in sdk.types.iter().filter(|ty| matches!(ty.is, Role::Handle)) {
                self.handle_types.insert(ty.name.into());
            }
        }
        if self.handle_types.is_empty() {
            return;
        }
        let transports: BTreeSet<&str> = sdks
            .iter()
            .flat_map(|sdk| sdk.types)
            .filter(|ty| matches!(ty.is, Role::Transport) && !piped(ty.name))
            .map(|ty| ty.name)
            .collect();
        for _ in 0..3 {
            let mut found = Vec::new();
            for (file, def) in
                self.scope.all_types().filter(|(_, def)| !def.test && !self.handle_types.contains(&def.name))
            {
                let holds = def.fields.iter().any(|field| {
                    let text = &field.ty;
                    let sdk = text.0.iter().any(|name| transports.contains(&**name));
                    (self.holds_handle(file, text) || sdk)
                        && !text.has("HashMap")
                        && !text.has("Vec")
                        && !text.has("DashMap")
                });
                if holds
                    && (connection_word(&def.name) || def.fields.iter().any(|field| field.name.is_empty()))
                {
                    found.push(def.name.clone());
                }
            }
            if found.is_empty() {
                break;
            }
            self.handle_types.extend(found);
        }
        let spoken = self.traits_of(&self.handle_types).into_iter().filter(|name| connection_word(name));
        let spoken: Vec<Name> = spoken.collect();
        self.handle_types.extend(spoken);
    }

    /// Whether a value of this type, as written in this file, owns a session.
    #[must_use]
    pub fn holds_handle(&self, file: &FileFacts, text: &TypeText) -> bool {
        let foreign = |at: usize, name: &Name| {
            // `Client` alone means an SDK's client only where it is imported from, or named under, an SDK.
            let qualified = at
                .checked_sub(1)
                .map(|before| &text.0[before])
                .filter(|before| before.starts_with(char::is_lowercase));
            let root =
                qualified.or_else(|| file.imports.iter().find(|(new, _)| new == name).map(|(_, root)| root));
            let own = self.scope.defs(name).next().is_some();
            !own && !root.is_some_and(|root| sdk::by_root(root).is_some_and(sdk::Sdk::speaks_mcp))
        };
        let handle = |(at, name): (usize, &Name)| {
            self.handle_types.contains(self.scope.original(name))
                && !(&**name == "Client" && foreign(at, name))
        };
        !text.has("RoleServer") && text.0.iter().enumerate().any(handle)
    }

    pub(super) fn find_slots(&mut self) {
        for (file, def) in self.scope.all_types().filter(|(_, def)| !def.test) {
            let holding = def
                .fields
                .iter()
                .filter(|field| self.holds_handle(file, &field.ty) && !field.name.is_empty());
            let holding: Vec<Slot> =
                holding.map(|field| Slot::Field(def.name.clone(), field.name.clone())).collect();
            self.handles.extend(holding);
        }
        let mut open: Vec<(Header, At)> = Vec::new();
        for fx in self.scope.all() {
            if self.serves(fx) {
                continue;
            }
            let mcp = self.in_scope(fx);
            // Other event streams have cursors too (contract 5).
            let uses = self.headers(fx).iter().filter(|used| used.header == Header::Session || mcp);
            let (set, read): (Vec<&HeaderUse>, Vec<&HeaderUse>) = uses.partition(|used| used.value.is_some());
            open.extend(set.iter().filter_map(|used| Some((used.header, At { fx, id: used.value? }))));
            open.extend(self.kept(fx, &read));
            let function = self.scope.function(fx);
            self.sessions.extend(function.marks.session.iter().flat_map(|name| marked(function, fx, name)));
            self.cursors.extend(function.marks.cursor.iter().flat_map(|name| marked(function, fx, name)));
        }
        let mut seen = BTreeSet::new();
        while let Some((header, at)) = open.pop() {
            if !seen.insert((header, at)) {
                continue;
            }
            if seen.len() > VALUES {
                self.cut(at);
                continue;
            }
            for (slot, more) in self.slots_behind(at) {
                open.extend(more.into_iter().map(|at| (header, at)));
                match header {
                    Header::Session => self.sessions.insert(slot),
                    Header::Cursor => self.cursors.insert(slot),
                };
            }
        }
        self.find_keepers();
    }

    /// The places that the values of these headers are put into: `*slot = value`, `map.insert(key, value)`,
    /// `slot.set(value)`.
    fn kept(&self, fx: Fx, read: &[&HeaderUse]) -> Vec<(Header, At)> {
        let body = self.scope.body(fx);
        let mut out = Vec::new();
        if read.is_empty() {
            return out;
        }
        let headers: Index<At, Header> = read.iter().map(|used| (used.at, used.header)).collect();
        for id in body.ids() {
            let (target, values): (Id, &[Id]) = match body.kind(id) {
                Kind::Assign(left, right) => (*left, std::slice::from_ref(right)),
                Kind::Method(receiver, name, args)
                    if matches!(&**name, "insert" | "store" | "set" | "replace") =>
                {
                    (*receiver, args)
                }
                _ => continue,
            };
            let Some(value) = values.last() else { continue };
            let origins = self.scope.origins(At { fx, id: *value });
            let found = origins.iter().filter_map(|origin| headers.get(origin));
            out.extend(found.map(|header| (*header, At { fx, id: target })));
        }
        out
    }

    /// The slots that a value comes from, and the values that go into them elsewhere.
    fn slots_behind(&self, at: At) -> Vec<(Slot, Vec<At>)> {
        let mut out = Vec::new();
        out.extend(self.variable(at).map(|name| (Slot::Local(at.fx, name), Vec::new())));
        for origin in self.scope.origins(at) {
            self.behind(origin, 4, &mut out);
        }
        out
    }

    fn behind(&self, origin: At, depth: u8, out: &mut Vec<(Slot, Vec<At>)>) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let body = self.scope.body(origin.fx);
        match body.kind(origin.id) {
            Kind::Field(..) => {
                if let Some(slot) = self.field_slot(origin) {
                    out.push((slot, Vec::new()));
                }
            }
            Kind::Path(path) if path.len() == 1 => {
                if let Some(Binding::Param(index)) = self.scope.binding(origin.fx, &path[0], origin.id) {
                    out.push((Slot::Param(origin.fx, index), self.scope.arguments(origin.fx, index)));
                }
            }
            Kind::Call(..) => {
                for root in self.given_back(origin) {
                    self.behind(root, depth, out);
                }
            }
            Kind::Method(receiver, name, _) => {
                let callees = self.scope.callees(origin);
                for root in self.given_back(origin) {
                    self.behind(root, depth, out);
                }
                if callees.is_empty()
                    && matches!(
                        &**name,
                        "get" | "get_mut" | "remove" | "entry" | "and_then" | "map" | "is_some"
                    )
                {
                    for root in self.scope.origins(At { id: *receiver, ..origin }) {
                        self.behind(root, depth, out);
                    }
                }
            }
            _ => {}
        }
    }

    /// Where the values come from that a call of the crate's own gives back: its callees' last ones, and those returned early.
    fn given_back(&self, call: At) -> Vec<At> {
        let values = |fx: &Fx| {
            let body = self.scope.body(*fx);
            let early = body.of(Sort::Return).iter().filter_map(|id| match body.kind(*id) {
                Kind::Return(Some(value)) => Some(*value),
                _ => None,
            });
            let all: Vec<At> = early.chain(body.root()).map(|id| At { fx: *fx, id }).collect();
            all
        };
        let callees = self.scope.callees(call);
        callees.iter().flat_map(values).flat_map(|at| self.scope.origins(at)).collect()
    }

    /// The local variable that a value is read from, if the function assigns it anew.
    fn variable(&self, at: At) -> Option<Name> {
        let body = self.scope.body(at.fx);
        let mut id = at.id;
        for _ in 0..12 {
            id = body.peel(id);
            id = match body.kind(id) {
                Kind::Method(receiver, ..) => *receiver,
                Kind::Path(path) if path.len() == 1 && &*path[0] != "self" => {
                    if self.reassigned(at.fx, &path[0]) {
                        return Some(path[0].clone());
                    }
                    match self.scope.binding(at.fx, &path[0], id)? {
                        Binding::Let { init: Some(init), .. } => init,
                        Binding::Match { value, .. } => value,
                        _ => return None,
                    }
                }
                Kind::Call(_, args) if args.len() == 1 => args[0],
                _ => return None,
            };
        }
        None
    }

    fn reassigned(&self, fx: Fx, name: &Name) -> bool {
        let body = self.scope.body(fx);
        body.of(Sort::Assign).iter().any(|id| match body.kind(*id) {
            Kind::Assign(left, _) => body.local(body.peel(*left)) == Some(name),
            _ => false,
        })
    }

    fn field_slot(&self, at: At) -> Option<Slot> {
        let Kind::Field(base, name) = self.scope.kind(at) else { return None };
        let ty = self.scope.type_of(At { id: *base, ..at })?;
        self.scope.field_type(&ty, name)?;
        Some(Slot::Field(ty, name.clone()))
    }

    /// The slot that an lvalue, a guard or a receiver stands for.
    #[must_use]
    pub fn slot(&self, at: At) -> Option<Slot> {
        self.slot_within(at, 8)
    }

    /// Whether anything inside the node stands for a slot that keeps a session id or a handle.
    #[must_use]
    pub fn holds_session(&self, at: At) -> bool {
        let keeps = |id: Id| self.slot(At { id, ..at }).is_some_and(|slot| self.keeps_session(&slot));
        let body = self.scope.body(at.fx);
        // What is only around one of these, `&slot`, is seen with it.
        [Sort::Field, Sort::Path, Sort::Call].into_iter().any(|sort| body.any_of(sort, at.id, keeps))
    }

    fn slot_within(&self, at: At, depth: u8) -> Option<Slot> {
        let depth = depth.checked_sub(1)?;
        let body = self.scope.body(at.fx);
        let id = body.peel(at.id);
        let to = |id| At { id, ..at };
        match body.kind(id) {
            Kind::Field(base, name) => {
                if let Some(slot) = self.field_slot(to(id)) {
                    return Some(slot);
                }
                if self.scope.type_of(to(*base)).is_some() {
                    return None;
                }
                // The base's type cannot be told: the field's name decides if exactly one slot has it.
                let mut named = self
                    .sessions
                    .iter()
                    .chain(&self.handles)
                    .filter(|slot| matches!(slot, Slot::Field(_, field) if field == name));
                let first = named.next()?;
                named.next().is_none().then(|| first.clone())
            }
            Kind::Method(receiver, name, _) if guards(name) => self.slot_within(to(*receiver), depth),
            Kind::Method(_, _, args) if args.is_empty() => self.behind_accessor(to(id), depth),
            Kind::Path(path) if path.len() == 1 => {
                let local = Slot::Local(at.fx, path[0].clone());
                if self.sessions.contains(&local) || self.cursors.contains(&local) {
                    return Some(local);
                }
                match self.scope.binding(at.fx, &path[0], id)? {
                    Binding::Let { init: Some(init), .. } => self.slot_within(to(init), depth),
                    Binding::Match { value, .. } => self.slot_within(to(value), depth),
                    Binding::Param(index) => Some(Slot::Param(at.fx, index)),
                    _ => None,
                }
            }
            Kind::Call(callee, args)
                if args.len() == 1 && body.last_segment(*callee).is_some_and(|name| &**name == "clone") =>
            {
                self.slot_within(to(args[0]), depth)
            }
            _ => None,
        }
    }

    /// The field that a method without arguments only hands out: `fn clients(&self) -> &Mutex<…> { &self.clients }`.
    fn behind_accessor(&self, at: At, depth: u8) -> Option<Slot> {
        let [fx] = self.scope.callees(at) else { return None };
        let body = self.scope.body(*fx);
        let mut id = body.root()?;
        while let Kind::Block(stmts, true) = body.kind(id)
            && let [only] = stmts.as_slice()
        {
            id = *only;
        }
        matches!(body.kind(body.peel(id)), Kind::Field(..))
            .then(|| self.slot_within(At { fx: *fx, id }, depth))?
    }

    /// Whether the slot keeps a session id or a handle.
    #[must_use]
    pub fn keeps_session(&self, slot: &Slot) -> bool {
        if self.sessions.contains(slot) || self.handles.contains(slot) {
            return true;
        }
        match slot {
            Slot::Param(fx, index) => {
                let param = &self.scope.function(*fx).params[*index];
                self.holds_handle(self.scope.file(*fx), &param.ty)
                    && (param.ty.has("Option") || param.ty.has("Mutex") || param.ty.has("RwLock"))
            }
            _ => false,
        }
    }

    /// The role a type plays in the SDKs the crate uses.
    #[must_use]
    pub fn role(&self, ty: &str) -> Option<Role> {
        sdk::role(self.scope.sdks.iter().copied(), ty)
    }
}

fn guards(name: &str) -> bool {
    matches!(
        name,
        "lock"
            | "write"
            | "read"
            | "borrow_mut"
            | "borrow"
            | "get_mut"
            | "as_mut"
            | "unwrap"
            | "expect"
            | "blocking_lock"
            | "blocking_write"
            | "try_lock"
            | "try_write"
            | "ok"
            | "clone"
            | "as_ref"
            | "map_err"
            | "lock_owned"
            | "write_owned"
            | "unwrap_or_else"
            | "entry"
            | "deref_mut"
    )
}

fn connection_word(name: &str) -> bool {
    let lower = name.to_lowercase();
    ["conn", "client", "service", "session", "transport", "mcp", "peer", "handle"]
        .iter()
        .any(|word| lower.contains(word))
        && !["config", "state", "manager", "registry", "app", "factory", "options", "params"]
            .iter()
            .any(|word| lower.contains(word))
}

/// The places that a mark on a function may name: a field of its type, a parameter, a variable.
fn marked(function: &Function, fx: Fx, name: &Name) -> Vec<Slot> {
    let field = function.owner.iter().map(|owner| Slot::Field(owner.clone(), name.clone()));
    let params = function.params.iter().enumerate().filter(|(_, param)| param.names.contains(name));
    let params = params.map(|(at, _)| Slot::Param(fx, at));
    field.chain(params).chain([Slot::Local(fx, name.clone())]).collect()
}
