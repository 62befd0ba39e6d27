//! What functions do, as a set of deeds, alone and with their callees.
//! Knows the names that HTTP stacks and SDKs give to these deeds.

use super::{Client, Header};
use crate::facts::ir::{Body, Id, Kind, Name, Op, Pat, PatKind};
use crate::flow::after_failure;
use crate::scope::{At, Fx};
use crate::sdk::{self, Deed};

/// A set of deeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deeds(u32);

impl Deeds {
    /// Attaches the session id to a request.
    pub const SESSION: Deeds = Deeds(1);
    /// Attaches the cursor to a request.
    pub const CURSOR: Deeds = Deeds(1 << 1);
    /// Sends an HTTP GET.
    pub const GET: Deeds = Deeds(1 << 2);
    /// Sends an HTTP POST.
    pub const POST: Deeds = Deeds(1 << 3);
    /// Sends an HTTP DELETE.
    pub const DELETE: Deeds = Deeds(1 << 4);
    /// Sends a request, whatever the method.
    pub const SENDS: Deeds = Deeds(1 << 5);
    /// Sends `initialize`.
    pub const INITIALISES: Deeds = Deeds(1 << 6);
    /// Sends a `tools/call`.
    pub const CALLS: Deeds = Deeds(1 << 7);
    /// Tells 404 from other failures.
    pub const TELLS_404: Deeds = Deeds(1 << 8);
    /// Looks at a response's status.
    pub const STATUS: Deeds = Deeds(1 << 9);
    /// Waits.
    pub const SLEEPS: Deeds = Deeds(1 << 10);
    /// Reads a stream.
    pub const READS: Deeds = Deeds(1 << 11);
    /// Asks for JSON and an event stream at once, as only Streamable HTTP does.
    pub const STREAMABLE: Deeds = Deeds(1 << 12);
    /// Uses a handle of an SDK.
    pub const USES_HANDLE: Deeds = Deeds(1 << 13);
    /// Reads the session id from a response.
    pub const LEARNS: Deeds = Deeds(1 << 14);
    /// Sends `initialize` on some way that no failed request leads to.
    pub const STARTS: Deeds = Deeds(1 << 15);

    /// Whether all deeds of `other` are in the set.
    #[must_use]
    pub const fn has(self, other: Deeds) -> bool {
        self.0 & other.0 == other.0
    }

    /// The union.
    #[must_use]
    pub const fn with(self, other: Deeds) -> Deeds {
        Deeds(self.0 | other.0)
    }

    /// The deeds that are not in the other set.
    const fn without(self, other: Deeds) -> Deeds {
        Deeds(self.0 & !other.0)
    }

    /// The deeds that are in both.
    #[must_use]
    pub const fn only(self, other: Deeds) -> Deeds {
        Deeds(self.0 & other.0)
    }
}

impl Client<'_> {
    pub(super) fn find_deeds(&mut self) {
        let own: Vec<Deeds> = self.scope.all().map(|fx| self.own_deeds(fx)).collect();
        self.own = own;
        let mut all = self.own.clone();
        // Four rounds reach callees four levels down; recursion only repeats what is there.
        for _ in 0..4 {
            let before = all.clone();
            for fx in self.scope.all() {
                for caller in self.scope.callers(fx) {
                    if !caller.sure && self.scope.callees(caller.at).len() > 2 {
                        continue;
                    }
                    let at = caller.at.fx.0 as usize;
                    let mut more = before[fx.0 as usize];
                    if !all[at].has(more) {
                        if more.has(Deeds::STARTS)
                            && after_failure(self.scope.body(caller.at.fx), caller.at.id)
                        {
                            more = more.without(Deeds::STARTS);
                        }
                        all[at] = all[at].with(more);
                    }
                }
            }
            if all == before {
                break;
            }
        }
        self.all = all;
    }

    fn own_deeds(&self, fx: Fx) -> Deeds {
        let mut deeds = Deeds::default();
        let mut add = |deed: Deeds| deeds = deeds.with(deed);
        for used in self.headers(fx) {
            match (used.header, used.value.is_some()) {
                (Header::Session, true) => add(Deeds::SESSION),
                (Header::Cursor, true) => add(Deeds::CURSOR),
                (Header::Session, false) => add(Deeds::LEARNS),
                (Header::Cursor, false) => {}
            }
        }
        let body = self.scope.body(fx);
        let mut accepts = false;
        for id in body.ids() {
            let at = At { fx, id };
            match body.kind(id) {
                Kind::Method(receiver, name, args) => {
                    add(self.method_deeds(at, *receiver, name, args));
                }
                Kind::Call(callee, _) => {
                    if let Some(name) = body.last_segment(*callee)
                        && matches!(&**name, "sleep" | "sleep_until" | "delay_for")
                    {
                        add(Deeds::SLEEPS);
                    }
                    add(self.sdk_deeds(at));
                }
                Kind::Path(path) => {
                    add(path_deeds(path));
                    accepts = accepts || self.scope.text(at).is_some_and(|text| names_both(text));
                }
                Kind::Str(text) => {
                    accepts |= names_both(text);
                    match &**text {
                        "initialize" => add(Deeds::INITIALISES),
                        "tools/call" if !compares(body, id) => add(Deeds::CALLS),
                        _ if text.len() > 12 && text.contains("\"initialize\"") => add(Deeds::INITIALISES),
                        _ => {}
                    }
                }
                Kind::Binary(op, a, b) => {
                    if let Some(deed) = compared(body, *op, *a, *b) {
                        add(deed);
                    }
                }
                Kind::Array(parts) | Kind::Macro(_, parts) => {
                    let says = |word: &str| {
                        parts.iter().any(|part| {
                            self.scope.text(At { id: *part, ..at }).is_some_and(|text| &**text == word)
                        })
                    };
                    accepts = accepts || says("application/json") && says("text/event-stream");
                }
                Kind::Struct(path, ..)
                    if path.last().is_some_and(|last| {
                        last.starts_with("InitializeRequest") || &**last == "InitializedNotification"
                    }) =>
                {
                    add(Deeds::INITIALISES);
                }
                Kind::Struct(path, ..) if path.last().is_some_and(|last| &**last == "CallToolRequest") => {
                    add(Deeds::CALLS);
                }
                _ => {}
            }
        }
        if self.scope.function(fx).marks.call.contains(&self.scope.function(fx).name) {
            add(Deeds::CALLS);
        }
        if tells_404(body) {
            deeds = deeds.with(Deeds::TELLS_404);
        }
        if deeds.has(Deeds::INITIALISES) {
            deeds = deeds.with(Deeds::STARTS);
        }
        if accepts && deeds.has(Deeds::SENDS) && !self.serves_by_type(fx) {
            deeds = deeds.with(Deeds::STREAMABLE);
        }
        deeds
    }

    fn serves_by_type(&self, fx: Fx) -> bool {
        let function = self.scope.function(fx);
        function.ret.has("IntoResponse") || function.params.iter().any(|param| param.ty.has("Parts"))
    }

    fn method_deeds(&self, at: At, receiver: Id, name: &Name, args: &[Id]) -> Deeds {
        let body = self.scope.body(at.fx);
        let mut deeds = self.sdk_deeds(at);
        let verb = match &**name {
            "get" => Deeds::GET,
            "post" => Deeds::POST,
            "delete" => Deeds::DELETE,
            _ => Deeds::default(),
        };
        if verb != Deeds::default() && args.len() == 1 && self.begins_request(at, receiver) {
            deeds = deeds.with(verb).with(Deeds::SENDS);
        }
        match &**name {
            "send" if args.is_empty() => deeds = deeds.with(Deeds::SENDS),
            "execute" if args.len() == 1 && is_http(body, receiver) => deeds = deeds.with(Deeds::SENDS),
            "is_success"
            | "is_client_error"
            | "is_server_error"
            | "error_for_status"
            | "error_for_status_ref" => {
                deeds = deeds.with(Deeds::STATUS);
            }
            "sleep" => deeds = deeds.with(Deeds::SLEEPS),
            "bytes_stream" | "eventsource" | "from_byte_stream" | "from_bytes_stream" => {
                deeds = deeds.with(Deeds::READS)
            }
            "contains" | "starts_with" | "ends_with" => {
                let says = args.first().and_then(|arg| self.scope.text(At { id: *arg, ..at }));
                if says.is_some_and(|text| text.contains("404")) {
                    deeds = deeds.with(Deeds::TELLS_404);
                }
            }
            _ => {}
        }
        deeds
    }

    /// Whether a method named like an HTTP method begins a request: on an HTTP client, or built up as one.
    pub(crate) fn begins_request(&self, at: At, receiver: Id) -> bool {
        self.http_receiver(at, receiver) || builds_request(self.scope.body(at.fx), at.id)
    }

    /// Whether the receiver is an HTTP client: by its name, or as `self` of one.
    fn http_receiver(&self, at: At, receiver: Id) -> bool {
        let body = self.scope.body(at.fx);
        let own = body.local(receiver).is_some_and(|name| &**name == "self");
        if own && self.scope.callees(at).is_empty() {
            return self.scope.function(at.fx).owner.as_ref().is_some_and(|owner| http_word(owner));
        }
        is_http(body, receiver)
    }

    /// What the SDK's table says of a call; by name alone only where the receiver's type is unknown and the crate uses the SDK.
    pub(super) fn sdk_deeds(&self, at: At) -> Deeds {
        if self.speaking_sdks.is_empty() {
            return Deeds::default();
        }
        let sdks = || self.speaking_sdks.iter().copied();
        let body = self.scope.body(at.fx);
        let deed = match body.kind(at.id) {
            Kind::Method(receiver, name, _) => {
                // The receiver's type is asked for only where some SDK has a function of this name.
                let known = sdks().flat_map(|sdk| sdk.functions).any(|known| *known.name == **name);
                if !known || !self.scope.callees(at).is_empty() {
                    return Deeds::default();
                }
                match self
                    .scope
                    .type_of(At { id: *receiver, ..at })
                    .map(|ty| self.scope.original(&ty).clone())
                {
                    Some(ty) if sdk::role(sdks(), &ty).is_some() => {
                        sdk::deed(sdks(), Some(&ty), name).or_else(|| sdk::deed(sdks(), None, name))
                    }
                    Some(ty) if self.scope.defs(&ty).next().is_some() && !self.handle_types.contains(&ty) => {
                        None
                    }
                    _ => sdk::deed(sdks(), None, name).filter(|_| telling(name)),
                }
            }
            Kind::Call(callee, _) => body
                .last_segment(*callee)
                .and_then(|name| sdk::deed(sdks(), None, self.scope.original(name)))
                .filter(|deed| *deed == Deed::Initialise),
            _ => None,
        };
        match deed {
            Some(Deed::Initialise) => Deeds::INITIALISES.with(Deeds::STARTS).with(Deeds::USES_HANDLE),
            Some(Deed::CallTool) => Deeds::CALLS.with(Deeds::USES_HANDLE),
            Some(Deed::Request | Deed::SafeRequest) => Deeds::USES_HANDLE,
            _ => Deeds::default(),
        }
    }
}

/// Method names that no other crate is likely to use for something else.
fn telling(name: &str) -> bool {
    matches!(
        name,
        "call_tool"
            | "list_tools"
            | "list_all_tools"
            | "list_all_resources"
            | "list_all_prompts"
            | "call_tool_once"
            | "serve"
    )
}

fn path_deeds(path: &[Name]) -> Deeds {
    let [.., ty, name] = path else { return Deeds::default() };
    match (&**ty, &**name) {
        ("Method", "GET") => Deeds::GET.with(Deeds::SENDS),
        ("Method", "POST") => Deeds::POST.with(Deeds::SENDS),
        ("Method", "DELETE") => Deeds::DELETE.with(Deeds::SENDS),
        ("Request", "get") => Deeds::GET.with(Deeds::SENDS),
        ("Request", "post") => Deeds::POST.with(Deeds::SENDS),
        ("Request", "delete") => Deeds::DELETE.with(Deeds::SENDS),
        (_, name) if name.starts_with("InitializeRequest") => Deeds::INITIALISES,
        _ => Deeds::default(),
    }
}

/// Whether a text names the two media types of Streamable HTTP: most are too short to be searched.
fn names_both(text: &str) -> bool {
    text.len() > 32 && text.contains("application/json") && text.contains("text/event-stream")
}

fn compared(body: &Body, op: Op, a: Id, b: Id) -> Option<Deeds> {
    let is_404 = |id: Id| {
        body.inside(id).iter().any(|id| match body.kind(*id) {
            Kind::Int(404) => true,
            Kind::Path(path) => path.last().is_some_and(|last| &**last == "NOT_FOUND"),
            _ => false,
        })
    };
    let is_status = |id: Id| match body.kind(body.peel(id)) {
        Kind::Method(_, name, args) => args.is_empty() && (&**name == "status" || &**name == "as_u16"),
        Kind::Path(path) => path.last().is_some_and(|last| &**last == "status"),
        Kind::Field(_, name) => &**name == "status",
        _ => false,
    };
    if matches!(op, Op::Eq | Op::Ne) && (is_404(a) || is_404(b)) {
        return Some(Deeds::TELLS_404.with(Deeds::STATUS));
    }
    (is_status(a) || is_status(b)).then_some(Deeds::STATUS)
}

/// Whether a text is only compared with another, by an operator or as a pattern: that sends nothing.
fn compares(body: &Body, text: Id) -> bool {
    let mut child = text;
    for (parent, _) in body.ancestors(text) {
        match body.kind(parent) {
            Kind::Binary(Op::Eq | Op::Ne, ..) => return true,
            Kind::Ref(_) | Kind::Deref(_) => child = parent,
            _ => return false,
        }
    }
    // The value of a pattern has no parent among the expressions.
    body.node(child).parent.is_none() && body.root() != Some(child)
}

/// Whether the receiver is an HTTP client by its name.
fn is_http(body: &Body, receiver: Id) -> bool {
    match body.kind(body.peel(receiver)) {
        Kind::Path(path) => path.last().is_some_and(|last| http_word(last)),
        Kind::Field(_, name) => http_word(name),
        Kind::Method(receiver, name, args) => {
            args.is_empty() && (http_word(name) || is_http(body, *receiver))
        }
        Kind::Call(callee, _) => {
            matches!(body.kind(*callee), Kind::Path(path) if path.iter().any(|part| &**part == "Client" || &**part == "client" || &**part == "Agent"))
        }
        _ => false,
    }
}

fn http_word(name: &str) -> bool {
    let lower = name.to_lowercase();
    ["http", "client", "reqwest", "agent", "backend"].iter().any(|word| lower.contains(word))
}

/// Whether the result of the call is built up as a request: `.header(…)`, `.send()`, `.json(…)` follow.
fn builds_request(body: &Body, id: Id) -> bool {
    let mut child = id;
    for (parent, _) in body.ancestors(id) {
        match body.kind(parent) {
            Kind::Method(receiver, name, _) if *receiver == child => match &**name {
                "header" | "headers" | "send" | "bearer_auth" | "body" | "json" | "send_json" | "set"
                | "timeout" => return true,
                "map_err" | "unwrap" | "expect" | "context" => {}
                _ => return false,
            },
            Kind::Try(_) | Kind::Await(_) => {}
            Kind::Let(pat, Some(init), _) if *init == child => {
                return body.bound(*pat).into_iter().any(|name| built_later(body, name));
            }
            _ => return false,
        }
        child = parent;
    }
    false
}

/// Whether a local variable is built up as a request, or sent as one, somewhere in the function.
fn built_later(body: &Body, name: &Name) -> bool {
    body.ids().any(|id| match body.kind(id) {
        Kind::Method(receiver, method, args) if body.local(*receiver) == Some(name) => match &**method {
            "header" | "headers" | "bearer_auth" | "basic_auth" | "json" | "body" => true,
            "send" => args.is_empty(),
            _ => false,
        },
        _ => false,
    })
}

/// Whether a pattern singles 404 out; one of many statuses in one pattern is no such thing.
fn tells_404(body: &Body) -> bool {
    let gone = |pat: &Pat| match &pat.kind {
        PatKind::Variant(path, ..) => path.last().is_some_and(|last| &**last == "NOT_FOUND"),
        PatKind::Value(id) => matches!(body.kind(*id), Kind::Int(404)),
        _ => false,
    };
    let mut crowd = Vec::new();
    for pat in body.pats.iter() {
        if let PatKind::Or(parts) = &pat.kind
            && parts.len() > 2
        {
            crowd.extend(parts.iter().map(|part| part.0 as usize));
        }
    }
    body.pats.iter().enumerate().any(|(at, pat)| gone(pat) && !crowd.contains(&at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::Scope;

    /// What the function `f` of the code does itself.
    fn deeds(code: &str) -> Deeds {
        let file = crate::SourceFile { path: "src/lib.rs".into(), text: format!("// mcp\n{code}") };
        let facts = crate::lower(file, crate::Reading::default());
        assert!(facts.problems.is_empty(), "{:?}", facts.problems);
        let scope = Scope::new(vec![facts]);
        let client = Client::new(&scope);
        client.own(scope.free("f").expect("the code has an `f`"))
    }

    #[test]
    fn a_text_that_is_compared_is_not_sent() {
        assert!(deeds("fn f() { post(\"tools/call\") }").has(Deeds::CALLS));
        assert!(deeds("fn f() -> &'static str { \"tools/call\" }").has(Deeds::CALLS));
        assert!(!deeds("fn f(method: &str) -> bool { method == \"tools/call\" }").has(Deeds::CALLS));
        assert!(!deeds("fn f(method: &str) -> bool { *method != *\"tools/call\" }").has(Deeds::CALLS));
        let matched = "fn f(method: &str) { match method { \"tools/call\" => {} _ => {} } }";
        assert!(!deeds(matched).has(Deeds::CALLS));
        assert!(!deeds("fn f(m: &str) -> bool { matches!(m, \"tools/call\" | \"x\") }").has(Deeds::CALLS));
    }

    #[test]
    fn what_is_built_of_the_protocol_is_sent() {
        assert!(deeds("fn f() { send(CallToolRequest { params }) }").has(Deeds::CALLS));
        let told = "fn f() { send(InitializedNotification { method: Default::default() }) }";
        assert!(deeds(told).has(Deeds::INITIALISES));
    }
}
