//! Which code is an MCP client, where it keeps its session and cursor, and what each function does to them.
//! Knows the protocol's header names and methods; decides nothing about right and wrong.

mod asked;
mod deed;
mod header;
mod keeper;
mod pipe;
mod resume;
mod slot;
mod state;
mod touch;

pub use deed::Deeds;
pub use header::{Header, HeaderUse};
pub(crate) use resume::{called, session_word};
pub use slot::Slot;

use crate::facts::ir::{Id, Kind, Name};
use crate::scope::{At, Fx, Scope};
use crate::sdk::Sdk;
use std::collections::{BTreeMap, BTreeSet};

/// The crate read as an MCP client.
pub struct Client<'a> {
    /// The crate.
    pub scope: &'a Scope,
    /// What each function does itself.
    own: Vec<Deeds>,
    /// What each function does, its callees included.
    all: Vec<Deeds>,
    /// Uses of the session and cursor headers, by function.
    headers: Vec<Vec<HeaderUse>>,
    /// Where session ids are kept.
    pub(crate) sessions: BTreeSet<Slot>,
    /// Where cursors are kept.
    pub(crate) cursors: BTreeSet<Slot>,
    /// Where handles are kept.
    pub(crate) handles: BTreeSet<Slot>,
    /// The SDKs among those of the scope that speak MCP themselves.
    speaking_sdks: Vec<&'static Sdk>,
    /// Where Streamable HTTP is spoken.
    speaking: Speaking,
    /// Where fields are assigned or stored to, by the field's name.
    writes: BTreeMap<Name, Vec<At>>,
    /// Types that own a session.
    pub(crate) handle_types: BTreeSet<Name>,
    /// The folders of the crates that serve MCP sessions.
    pub(crate) serving: BTreeSet<std::path::PathBuf>,
    asked: asked::Asked,
}

/// What the methods of each type do, by crate, and the files that speak Streamable HTTP.
#[derive(Default)]
struct Speaking {
    types: BTreeMap<(u32, Name), Deeds>,
    files: BTreeSet<u32>,
}

impl<'a> Client<'a> {
    /// Reads the crate.
    #[must_use]
    pub fn new(scope: &'a Scope) -> Client<'a> {
        let mut client = Client {
            scope,
            own: Vec::new(),
            all: Vec::new(),
            headers: Vec::new(),
            speaking_sdks: scope.sdks.iter().copied().filter(|sdk| sdk.speaks_mcp()).collect(),
            sessions: BTreeSet::new(),
            cursors: BTreeSet::new(),
            handles: BTreeSet::new(),
            speaking: Speaking::default(),
            writes: BTreeMap::new(),
            handle_types: BTreeSet::new(),
            serving: BTreeSet::new(),
            asked: asked::Asked::default(),
        };
        client.find_headers();
        client.find_handle_types();
        client.find_deeds();
        client.find_speaking();
        client.find_writes();
        client.find_serving();
        client.find_slots();
        client
    }

    /// Whether the crate has any business with MCP sessions: without it no rule runs.
    #[must_use]
    pub fn concerns(&self) -> bool {
        let names = |text: &Name| {
            text.eq_ignore_ascii_case("mcp-session-id") || text.eq_ignore_ascii_case("last-event-id")
        };
        let stateless = |fx: Fx| {
            self.ids(fx).any(|id| {
                self.scope.text(At { fx, id }).is_some_and(|text| text.eq_ignore_ascii_case("mcp-method"))
            })
        };
        self.uses_headers()
            || !self.handle_types.is_empty()
            || self.own.iter().any(|deeds| deeds.has(Deeds::STREAMABLE))
            || self.scope.files.iter().flat_map(|file| &file.consts).any(|(_, text)| names(text))
            || self.scope.all().any(stateless)
            || self.scope.all().any(|fx| self.marked(fx))
    }

    /// Whether the function asks `unbroken_contract::next_action` what it may do: it is right by construction.
    fn asks_contract(&self, fx: Fx) -> bool {
        let file = self.scope.file(fx);
        let ours = |root: &str| root == "unbroken_contract";
        if !file.crates.iter().any(|root| ours(root)) {
            return false;
        }
        let body = self.scope.body(fx);
        body.ids().any(|id| match body.kind(id) {
            Kind::Call(callee, _) => match body.kind(*callee) {
                Kind::Path(path) if path.last().is_some_and(|last| &**last == "next_action") => {
                    let first = &path[0];
                    ours(first) || file.imports.iter().any(|(name, root)| name == first && ours(root))
                }
                _ => false,
            },
            _ => false,
        })
    }

    /// Whether marks name what the function keeps or calls: then it is a client's, whatever else it says.
    fn marked(&self, fx: Fx) -> bool {
        let marks = &self.scope.function(fx).marks;
        !(marks.session.is_empty() && marks.cursor.is_empty() && marks.call.is_empty())
    }

    /// The functions to be judged: not test code, not a server's.
    pub fn functions(&self) -> impl Iterator<Item = Fx> + '_ {
        self.scope
            .all()
            .filter(|fx| !self.scope.function(*fx).test && !self.serves(*fx) && !self.asks_contract(*fx))
    }

    /// What the function does itself.
    #[must_use]
    pub fn own(&self, fx: Fx) -> Deeds {
        self.own[fx.0 as usize]
    }

    /// What the function does, its callees included.
    #[must_use]
    pub fn all(&self, fx: Fx) -> Deeds {
        self.all[fx.0 as usize]
    }

    /// What a call may do: the crate's callees, or the SDK's table.
    #[must_use]
    pub fn deeds_of(&self, at: At) -> Deeds {
        let mut deeds = self.sdk_deeds(at);
        for fx in self.scope.callees(at) {
            deeds = deeds.with(self.all(*fx));
        }
        deeds
    }

    /// Whether any function uses one of the headers.
    fn uses_headers(&self) -> bool {
        self.headers.iter().any(|uses| !uses.is_empty())
    }

    /// The header uses in a function.
    #[must_use]
    pub fn headers(&self, fx: Fx) -> &[HeaderUse] {
        // None have been found yet where this is asked first.
        self.headers.get(fx.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// Whether the function belongs to a server: it takes a request, or answers with a response, and sends none.
    #[must_use]
    pub fn serves(&self, fx: Fx) -> bool {
        let function = self.scope.function(fx);
        if self.own(fx).has(Deeds::SENDS) {
            return false;
        }
        let server = [
            "IntoResponse",
            "Extension",
            "Parts",
            "HttpResponse",
            "HttpRequest",
            "Incoming",
            "Next",
            "AxumState",
        ];
        let types = || function.params.iter().map(|param| &param.ty).chain([&function.ret]);
        if types().any(|ty| server.iter().any(|name| ty.has(name))) {
            return true;
        }
        let state =
            types().any(|ty| ty.has("State") && ty.0.first().is_some_and(|first| &**first == "State"));
        let owner = function.owner.as_ref().map(|owner| owner.to_lowercase()).unwrap_or_default();
        state || owner.contains("server") && !owner.contains("mcpserver") && !owner.contains("client")
    }

    /// Whether the function, its type, or the type's other methods have to do with an MCP session.
    #[must_use]
    pub fn in_scope(&self, fx: Fx) -> bool {
        let deeds = self.all(fx);
        // A cursor alone is no sign: other event streams have one too (contract 5).
        if deeds.has(Deeds::SESSION) || deeds.has(Deeds::STREAMABLE) || self.marked(fx) {
            return true;
        }
        if self.scope.called_by(fx).any(|callee| self.own(callee).has(Deeds::SESSION)) {
            return true;
        }
        let function = self.scope.function(fx);
        let of_type = function.owner.as_ref().map(|owner| (self.scope.krate(fx), owner.clone()));
        let of_type = of_type.and_then(|of| self.speaking.types.get(&of).copied()).unwrap_or_default();
        of_type.has(Deeds::SESSION)
            || of_type.has(Deeds::STREAMABLE)
            || self.speaking.files.contains(&self.scope.file_index(fx))
    }

    /// What the functions of the same type do themselves, taken together; of a free function, what it does.
    #[must_use]
    pub fn type_deeds(&self, fx: Fx) -> Deeds {
        let Some(owner) = &self.scope.function(fx).owner else { return self.own(fx) };
        self.speaking.types.get(&(self.scope.krate(fx), owner.clone())).copied().unwrap_or_default()
    }

    /// Notes what types do, and the files some function of which attaches the session id, or asks as only Streamable HTTP does.
    fn find_speaking(&mut self) {
        let mut found = Speaking::default();
        for fx in self.scope.all() {
            let own = self.own(fx);
            if own.has(Deeds::SESSION) || own.has(Deeds::STREAMABLE) {
                found.files.insert(self.scope.file_index(fx));
            }
            if let Some(owner) = self.scope.function(fx).owner.clone() {
                let all = found.types.entry((self.scope.krate(fx), owner)).or_default();
                *all = all.with(own);
            }
        }
        self.speaking = found;
    }

    /// The nearest enclosing call of a node: `tokio::spawn(f(x))` around `f(x)`.
    #[must_use]
    pub fn enclosing_call(&self, at: At) -> Option<(At, Name)> {
        let body = self.scope.body(at.fx);
        for (parent, _) in body.ancestors(at.id) {
            let name = match body.kind(parent) {
                Kind::Method(_, name, _) | Kind::Macro(name, _) => name.clone(),
                Kind::Call(callee, _) => body.last_segment(*callee)?.clone(),
                Kind::Await(_) | Kind::Async(_) | Kind::Try(_) | Kind::Ref(_) | Kind::Block(..) => continue,
                _ => return None,
            };
            return Some((At { id: parent, ..at }, name));
        }
        None
    }

    /// Every slot that keeps a session id, a handle or a cursor.
    #[must_use]
    pub fn sessions_list(&self) -> Vec<&Slot> {
        self.sessions.iter().chain(&self.handles).chain(&self.cursors).collect()
    }

    /// Every node of the function's body.
    pub fn ids(&self, fx: Fx) -> impl Iterator<Item = Id> + use<> {
        self.scope.body(fx).ids()
    }
}
