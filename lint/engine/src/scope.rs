//! The crate as a whole: every function and type by name, constants, who calls whom, and what values come from.
//! Knows names and shapes; which of them mean a session is said in `client`.

mod binding;
mod call;
mod origin;
mod types;

pub use binding::Binding;
pub use call::Caller;
pub(crate) use call::krate_of;

use crate::facts::ir::{Body, Id, Kind, Name, Sort};
use crate::facts::{FileFacts, Function};
use crate::finding::Range;
use crate::index::{ByName, Index};
use crate::sdk::{self, Sdk};
use std::collections::{BTreeMap, BTreeSet};

/// A function of the crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fx(pub u32);

/// A node of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct At {
    /// The function.
    pub fx: Fx,
    /// The node.
    pub id: Id,
}

/// All facts of a crate (or of the crates of a workspace), with the indexes that rules need.
pub struct Scope {
    /// The files, sorted by path, their functions taken out.
    pub files: Vec<FileFacts>,
    /// The functions of all files, in order; a slice in a box is indexed in few instructions where nothing is optimised.
    functions: Box<[Function]>,
    /// The file of each function.
    homes: Box<[u32]>,
    by_name: ByName<Vec<Fx>>,
    free: ByName<Fx>,
    mates: Index<(u32, Name), Vec<Fx>>,
    /// Methods by name, and by their number of arguments.
    methods: ByName<Vec<(usize, Vec<Fx>)>>,
    /// Functions by the type or the trait they belong to, and name.
    members: Index<(Name, Name), Vec<Fx>>,
    /// The crate of each file, as a number.
    krates: Vec<u32>,
    /// For each crate, the crates that it names.
    uses: Vec<BTreeSet<u32>>,
    types: ByName<Vec<(u32, u32)>>,
    /// String constants: file, text.
    consts: ByName<Vec<(u32, Name)>>,
    traits: ByName<Vec<Name>>,
    renames: ByName<Name>,
    /// The SDKs and HTTP stacks that the crate names.
    pub sdks: Vec<&'static Sdk>,
    /// For each function, the names that its patterns bind, with the `let` statements among them, in order.
    lets: Box<[ByName<Vec<Id>>]>,
    /// Resolved callees of every call node.
    callees: Index<At, Vec<Fx>>,
    callers: Vec<Vec<Caller>>,
    /// Where a variant is built (or named) outside patterns: variant → places.
    built: ByName<Vec<At>>,
    /// What `flow::cause` has found out, so that nothing is judged twice and recursion ends.
    pub(crate) found: crate::flow::cause::Found,
}

impl Scope {
    /// Indexes the files. Their order does not matter.
    #[must_use]
    pub fn new(mut files: Vec<FileFacts>) -> Scope {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let (mut functions, mut homes) = (Vec::new(), Vec::new());
        for (at, file) in files.iter_mut().enumerate() {
            functions.append(&mut file.functions);
            homes.resize(functions.len(), at as u32);
        }
        let mut scope = Scope {
            functions: functions.into(),
            homes: homes.into(),
            by_name: ByName::default(),
            free: ByName::default(),
            mates: Index::default(),
            methods: ByName::default(),
            members: Index::default(),
            krates: Vec::new(),
            uses: Vec::new(),
            types: ByName::default(),
            consts: ByName::default(),
            traits: ByName::default(),
            renames: ByName::default(),
            sdks: Vec::new(),
            lets: Box::default(),
            callees: Index::default(),
            callers: Vec::new(),
            built: ByName::default(),
            found: Default::default(),
            files,
        };
        scope.index();
        scope.index_lets();
        scope.link();
        scope
    }

    fn index(&mut self) {
        let mut roots = BTreeMap::new();
        let mut krates = BTreeMap::new();
        let mut fx = 0;
        for (at, file) in self.files.iter().enumerate() {
            let next = krates.len() as u32;
            self.krates.push(*krates.entry(krate_of(&file.path)).or_insert(next));
            let from = fx;
            while fx < self.homes.len() && self.homes[fx] == at as u32 {
                fx += 1;
            }
            for (index, function) in self.functions[from..fx].iter().enumerate() {
                let fx = Fx((from + index) as u32);
                self.by_name.or_default(&function.name).push(fx);
                if function.takes_self && function.owner.is_some() {
                    let args = function.params.len();
                    let shapes = self.methods.or_default(&function.name);
                    match shapes.iter_mut().find(|(taken, _)| *taken == args) {
                        Some((_, all)) => all.push(fx),
                        None => shapes.push((args, vec![fx])),
                    }
                }
                match &function.owner {
                    None => drop(self.free.or_insert_with(&function.name, || fx)),
                    Some(owner) => {
                        let krate = self.krates[at];
                        self.mates.entry((krate, owner.clone())).or_default().push(fx);
                    }
                }
                let of = function.of_trait.iter().filter(|of| Some(*of) != function.owner.as_ref());
                for of in function.owner.iter().chain(of) {
                    self.members.entry((of.clone(), function.name.clone())).or_default().push(fx);
                }
            }
            for (index, ty) in file.types.iter().enumerate() {
                self.types.or_default(&ty.name).push((at as u32, index as u32));
            }
            for (name, above) in &file.traits {
                self.traits.or_default(name).extend(above.iter().cloned());
            }
            for (name, text) in &file.consts {
                self.consts.or_default(name).push((at as u32, text.clone()));
            }
            for (new, old) in &file.renames {
                self.renames.or_insert_with(new, || old.clone());
            }
            for root in &file.crates {
                if let Some(sdk) = sdk::by_root(root) {
                    roots.insert(sdk.krate, sdk);
                }
            }
        }
        self.sdks = roots.into_values().collect();
        self.index_uses(krates);
    }

    /// Notes which crates name which: `names` are the folders, the last part of which is the crate's name.
    fn index_uses(&mut self, krates: BTreeMap<std::path::PathBuf, u32>) {
        let ident = |path: &std::path::Path| Some(path.file_name()?.to_str()?.replace('-', "_"));
        let numbers: Index<String, u32> =
            krates.iter().filter_map(|(path, number)| Some((ident(path)?, *number))).collect();
        self.uses = vec![BTreeSet::new(); krates.len()];
        for (file, krate) in self.files.iter().zip(&self.krates) {
            let named = file.crates.iter().filter_map(|root| numbers.get(&**root).copied());
            self.uses[*krate as usize].extend(named);
        }
    }

    /// Every function, in the order of files and places.
    pub fn all(&self) -> impl Iterator<Item = Fx> + use<> {
        (0..self.functions.len() as u32).map(Fx)
    }

    /// The function.
    #[must_use]
    pub fn function(&self, fx: Fx) -> &Function {
        &self.functions[fx.0 as usize]
    }

    /// The file a function stands in.
    #[must_use]
    pub fn file(&self, fx: Fx) -> &FileFacts {
        &self.files[self.homes[fx.0 as usize] as usize]
    }

    /// The functions of a file, by its place in [`Scope::files`].
    #[must_use]
    pub fn of_file(&self, file: u32) -> &[Function] {
        let first = self.homes.partition_point(|home| *home < file);
        let count = self.homes[first..].partition_point(|home| *home == file);
        &self.functions[first..first + count]
    }

    /// The body of a function.
    #[must_use]
    pub fn body(&self, fx: Fx) -> &Body {
        &self.functions[fx.0 as usize].body
    }

    /// What a node is.
    #[must_use]
    pub fn kind(&self, at: At) -> &Kind {
        &self.functions[at.fx.0 as usize].body.nodes[at.id.0 as usize].kind
    }

    /// Where a node stands.
    #[must_use]
    pub fn range(&self, at: At) -> Range {
        self.body(at.fx).range(at.id)
    }

    /// The functions of this name.
    #[must_use]
    pub fn named(&self, name: &str) -> &[Fx] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// The functions of the same type in the same crate, itself among them; a free function stands alone.
    #[must_use]
    pub fn mates(&self, fx: Fx) -> &[Fx] {
        let Some(owner) = &self.function(fx).owner else { return &[] };
        self.mates.get(&(self.krate(fx), owner.clone())).map_or(&[], Vec::as_slice)
    }

    /// The first free function of this name.
    #[must_use]
    pub fn free(&self, name: &str) -> Option<Fx> {
        self.free.get(name).copied()
    }

    /// The functions of this name that belong to the type, or to the trait.
    #[must_use]
    pub fn members(&self, of: &Name, name: &Name) -> &[Fx] {
        if !self.by_name.contains_key(name) {
            return &[];
        }
        self.members.get(&(of.clone(), name.clone())).map_or(&[], Vec::as_slice)
    }

    /// The file that a function stands in, by its place in [`Scope::files`].
    #[must_use]
    pub fn file_index(&self, fx: Fx) -> u32 {
        self.homes[fx.0 as usize]
    }

    /// The crate that a function stands in, as a number of its own.
    #[must_use]
    pub fn krate(&self, fx: Fx) -> u32 {
        self.krates[self.file_index(fx) as usize]
    }

    /// The text of the constant that a name means in a function: of its file, else of its crate, else of any.
    fn constant(&self, fx: Fx, name: &Name) -> Option<&Name> {
        let found = self.consts.get(name)?;
        let (file, krate) = (self.file_index(fx), self.krate(fx));
        let same = found.iter().find(|(at, _)| *at == file);
        let near = || found.iter().find(|(at, _)| self.krates[*at as usize] == krate);
        same.or_else(near).or(found.first()).map(|(_, text)| text)
    }

    /// The calls of a function, in the order of their places.
    #[must_use]
    pub fn callers(&self, fx: Fx) -> &[Caller] {
        &self.callers[fx.0 as usize]
    }

    /// What a call may reach; empty when it leaves the crate or cannot be told.
    #[must_use]
    pub fn callees(&self, at: At) -> &[Fx] {
        // Asked for every call, and in a macro's item most often there are none.
        if self.callees.is_empty() {
            return &[];
        }
        self.callees.get(&at).map_or(&[], Vec::as_slice)
    }

    /// What the calls of a function may reach, in the order of the calls.
    pub fn called_by(&self, fx: Fx) -> impl Iterator<Item = Fx> + '_ {
        let calls: &[Id] = if self.callees.is_empty() { &[] } else { self.body(fx).of(Sort::Call) };
        calls.iter().flat_map(move |id| self.callees(At { fx, id: *id })).copied()
    }

    /// Where the crate builds the variant `name` of its own enum `on`, tests left out.
    pub fn builds<'a>(&'a self, on: &'a str, name: &str) -> impl Iterator<Item = At> + 'a {
        let places = self.built.get(name).map_or(&[][..], Vec::as_slice);
        places.iter().copied().filter(move |at| {
            let function = self.function(at.fx);
            let (Kind::Path(path) | Kind::Struct(path, ..)) = self.kind(*at) else { return false };
            let ty = path.len().checked_sub(2).map(|at| &path[at]);
            let own = |ty: &Name| &**ty == on || (&**ty == "Self" && function.owner.as_deref() == Some(on));
            !function.test && ty.is_some_and(own)
        })
    }

    /// Where the crate builds any variant of its own enum `on`, in order and with the variant's name, tests left out.
    #[must_use]
    pub fn builds_any(&self, on: &str) -> Vec<(At, &Name)> {
        let all = self.built.names().flat_map(|name| self.builds(on, name).map(move |at| (at, name)));
        let mut all: Vec<_> = all.collect();
        all.sort_unstable();
        all
    }

    /// The name an import renamed, or the name itself.
    #[must_use]
    pub fn original<'a>(&'a self, name: &'a Name) -> &'a Name {
        self.renames.get(name).unwrap_or(name)
    }

    /// The text of a node that is a string or a constant, through conversions and constructors around it.
    #[must_use]
    pub fn text(&self, at: At) -> Option<&Name> {
        let body = self.body(at.fx);
        let mut id = at.id;
        for _ in 0..8 {
            id = body.peel(id);
            match body.kind(id) {
                Kind::Str(text) => return Some(text),
                Kind::Path(path) => {
                    let last = path.last()?;
                    let constant =
                        self.constant(at.fx, last).or_else(|| self.constant(at.fx, self.original(last)));
                    if constant.is_some() || path.len() != 1 {
                        return constant;
                    }
                    let Some(Binding::Let { init: Some(init), .. }) = self.binding(at.fx, last, id) else {
                        return None;
                    };
                    id = init;
                }
                Kind::Method(receiver, _, args) if args.is_empty() => id = *receiver,
                Kind::Call(_, args) if args.len() == 1 => id = args[0],
                _ => return None,
            }
        }
        None
    }
}
