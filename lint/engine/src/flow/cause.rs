//! Why control came to a place, in the words of the contract: the session is known to be gone, or something else happened.
//! Knows status codes, error variants and phrases; knows no rule.

use super::stream::{deadline, reads_stream};
use super::words::{by_name, named_status, phrase};
use super::{Known, known};
use crate::facts::ir::{Id, Kind, Name, Op, PatId, PatKind};
use crate::index::Index;
use crate::scope::{At, Binding, Fx, Scope};
use crate::sdk::{self, Meaning};
use std::cell::RefCell;

/// What a condition says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Nothing about the session.
    Unknown,
    /// The server ended the session: a 404, a variant built for nothing else, a phrase that says so (contract 3.1).
    Gone(At),
    /// Something that says nothing of the session: a status, an error, an end, a timeout.
    Other(At, Why),
    /// Both, in one test: the place is the wrong half.
    Mixed(At, Why),
    /// This side stops on purpose.
    Leaving,
}

/// What the other thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// An HTTP status other than 404.
    Status,
    /// An error of a request or stream, whatever it was.
    Error,
    /// The stream ended.
    End,
    /// A deadline passed.
    Timeout,
    /// A JSON-RPC error code.
    Code,
    /// A phrase in an error's text.
    Text,
}

impl Why {
    /// As words in a message: `an HTTP status`.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Why::Status => "an HTTP status other than 404",
            Why::Error => "an error that is no 404",
            Why::End => "the end of a stream",
            Why::Timeout => "a timeout",
            Why::Code => "a JSON-RPC error",
            Why::Text => "a phrase in an error's text",
        }
    }
}

const DEPTH: u8 = 24;

/// Causes that were found before: of places, of predicates, of variants. A predicate that is being judged says nothing.
#[derive(Default)]
pub(crate) struct Found {
    places: RefCell<Index<At, Cause>>,
    predicates: RefCell<Index<Fx, Cause>>,
    variants: RefCell<Index<(Name, Name), Option<Cause>>>,
}

/// The cause at a place: all that is known on the way to it, taken together.
#[must_use]
pub fn cause(scope: &Scope, at: At) -> Cause {
    if let Some(found) = scope.found.places.borrow().get(&at) {
        return *found;
    }
    let judge = Judge { scope };
    let facts = known(scope.body(at.fx), at.id);
    let out = facts.into_iter().fold(Cause::Unknown, |out, fact| both(out, judge.fact(at, fact, DEPTH)));
    scope.found.places.borrow_mut().insert(at, out);
    out
}

/// What a boolean expression says when it is true.
#[must_use]
pub fn when_true(scope: &Scope, at: At) -> Cause {
    Judge { scope }.holds(at, DEPTH)
}

/// What a match says.
#[must_use]
pub fn when_is(scope: &Scope, at: At, pat: PatId) -> Cause {
    Judge { scope }.is(at, pat, DEPTH)
}

struct Judge<'a> {
    scope: &'a Scope,
}

impl Judge<'_> {
    fn fact(&self, at: At, fact: Known, depth: u8) -> Cause {
        match fact {
            Known::True(id) => self.holds(At { id, ..at }, depth),
            Known::False(id) => self.fails(At { id, ..at }, depth),
            Known::Is(pat, id) => self.is(At { id, ..at }, pat, depth),
            Known::Not(pat, id) => self.not(At { id, ..at }, pat),
            Known::Failed(id) => self.error(At { id, ..at }),
        }
    }

    /// The cause behind an error of this value: none when the value has nothing to do with the server.
    fn error(&self, at: At) -> Cause {
        if deadline(self.scope, at) {
            return Cause::Other(at, Why::Timeout);
        }
        if self.local_only(at) { Cause::Unknown } else { Cause::Other(at, Why::Error) }
    }

    /// Locks, channels, conversions: errors of this process alone.
    fn local_only(&self, at: At) -> bool {
        let body = self.scope.body(at.fx);
        let id = body.peel(at.id);
        match body.kind(id) {
            Kind::Method(receiver, name, args) => match &**name {
                "lock" | "read" | "write" | "try_lock" | "parse" | "to_str" | "try_into" | "downcast"
                | "recv" | "try_recv" | "downcast_ref" | "elapsed" | "set" | "acquire" | "changed"
                | "wait_for" | "swap" | "try_from" | "get" | "join_next" | "as_object" | "wait" => true,
                // A channel's `send(value)`; an HTTP `send()` takes nothing, and a transport's is told by its type.
                "send" | "try_send" | "blocking_send" => {
                    args.len() == 1 && !self.transport(At { id: *receiver, ..at })
                }
                "map_err" | "context" | "with_context" | "map" | "and_then" | "as_ref" | "ok_or"
                | "ok_or_else" => self.local_only(At { id: *receiver, ..at }),
                _ => false,
            },
            Kind::Call(callee, _) => body.last_segment(*callee).is_some_and(|name| {
                matches!(
                    &**name,
                    "from_str"
                        | "from_value"
                        | "from_slice"
                        | "to_string"
                        | "to_value"
                        | "var"
                        | "try_from"
                        | "from_utf8"
                        | "spawn_blocking"
                        | "to_vec"
                )
            }),
            Kind::Path(path) if path.len() == 1 => match self.scope.binding(at.fx, &path[0], id) {
                Some(Binding::Let { init: Some(init), .. }) => self.local_only(At { id: init, ..at }),
                _ => false,
            },
            Kind::Str(_) | Kind::Int(_) => true,
            _ => false,
        }
    }

    fn transport(&self, at: At) -> bool {
        let Some(ty) = self.scope.type_of(at) else { return false };
        if sdk::role(self.scope.sdks.iter().copied(), &ty).is_some() {
            return true;
        }
        let lower = ty.to_lowercase();
        lower.contains("transport") || (lower.contains("client") && !lower.contains("sender"))
    }

    fn holds(&self, at: At, depth: u8) -> Cause {
        let Some(depth) = depth.checked_sub(1) else { return Cause::Unknown };
        let body = self.scope.body(at.fx);
        let to = |id| At { id, ..at };
        match body.kind(at.id) {
            Kind::And(a, b) => both(self.holds(to(*a), depth), self.holds(to(*b), depth)),
            Kind::Or(a, b) => either(self.holds(to(*a), depth), self.holds(to(*b), depth)),
            Kind::Not(a) => self.fails(to(*a), depth),
            Kind::Ref(a) | Kind::Deref(a) | Kind::Await(a) | Kind::Try(a) => self.holds(to(*a), depth),
            Kind::LetCond(pat, value) => self.is(to(*value), *pat, depth),
            Kind::Binary(op @ (Op::Eq | Op::Greater | Op::Less), a, b) => self.compared(at, *op, *a, *b),
            Kind::Method(receiver, name, args) => self.method(at, *receiver, name, args, depth),
            Kind::Call(_, args) => self.predicate(at, args, depth),
            Kind::Closure(_, inner) | Kind::Async(inner) => self.holds(to(*inner), depth),
            Kind::Block(stmts, true) => {
                stmts.last().map_or(Cause::Unknown, |last| self.holds(to(*last), depth))
            }
            Kind::If(cond, then, Some(other)) => {
                let then = both(self.holds(to(*cond), depth), self.holds(to(*then), depth));
                either_of(body, [(*then_id(body, at.id), then), (*other, self.holds(to(*other), depth))])
            }
            Kind::Match(value, arms) => {
                let all = arms.iter().map(|arm| {
                    let mut cause = self.holds(to(arm.body), depth);
                    if matches!(body.kind(arm.body), Kind::Bool(true)) {
                        cause = both(cause, self.is(to(*value), arm.pat, depth));
                        if let Some(guard) = arm.guard {
                            cause = both(cause, self.holds(to(guard), depth));
                        }
                    }
                    (arm.body, cause)
                });
                either_of(body, all)
            }
            Kind::Path(path) if path.len() == 1 => match self.scope.binding(at.fx, &path[0], at.id) {
                Some(Binding::Let { init: Some(init), .. }) => self.holds(to(init), depth),
                _ => Cause::Unknown,
            },
            Kind::Return(Some(value)) => self.holds(to(*value), depth),
            _ => Cause::Unknown,
        }
    }

    fn fails(&self, at: At, depth: u8) -> Cause {
        let Some(depth) = depth.checked_sub(1) else { return Cause::Unknown };
        let body = self.scope.body(at.fx);
        let to = |id| At { id, ..at };
        match body.kind(at.id) {
            Kind::Not(a) => self.holds(to(*a), depth),
            Kind::Or(a, b) => both(self.fails(to(*a), depth), self.fails(to(*b), depth)),
            Kind::And(a, b) => either(self.fails(to(*a), depth), self.fails(to(*b), depth)),
            Kind::Ref(a) | Kind::Deref(a) | Kind::Await(a) | Kind::Try(a) => self.fails(to(*a), depth),
            Kind::LetCond(pat, value) => self.not(to(*value), *pat),
            Kind::Binary(Op::Ne, a, b) => self.compared(at, Op::Eq, *a, *b),
            Kind::Method(receiver, name, args) => match &**name {
                "is_success" | "is_ok_and" => Cause::Other(at, Why::Status),
                "is_ok" => self.error(to(*receiver)),
                "contains" if ranges(body, *receiver) => Cause::Other(at, Why::Status),
                "is_some" => self.ended(to(*receiver)),
                "unwrap_or" | "unwrap_or_default" | "unwrap_or_else" if args.len() <= 1 => {
                    self.fails(to(*receiver), depth)
                }
                _ => Cause::Unknown,
            },
            Kind::Path(path) if path.len() == 1 => match self.scope.binding(at.fx, &path[0], at.id) {
                Some(Binding::Let { init: Some(init), .. }) => self.fails(to(init), depth),
                _ => Cause::Unknown,
            },
            _ => Cause::Unknown,
        }
    }

    fn method(&self, at: At, receiver: Id, name: &Name, args: &[Id], depth: u8) -> Cause {
        let body = self.scope.body(at.fx);
        let to = |id| At { id, ..at };
        match &**name {
            "is_client_error" | "is_server_error" => return Cause::Other(at, Why::Status),
            "is_err" => return self.error(to(receiver)),
            "is_none" => return self.ended(to(receiver)),
            "is_timeout" | "is_elapsed" => return Cause::Other(at, Why::Timeout),
            "is_connect" | "is_closed" | "is_disconnected" if args.is_empty() => {
                return Cause::Other(at, Why::Error);
            }
            "is_cancelled" | "is_shutdown" => return Cause::Leaving,
            "contains" | "starts_with" | "ends_with" | "eq_ignore_ascii_case" | "eq" => {
                if let Some(text) = args.first().and_then(|arg| self.scope.text(to(*arg))) {
                    return phrase(text, at);
                }
            }
            "is_some_and" | "is_ok_and" | "any" | "is_none_or" | "map" | "then" | "filter" | "is_err_and"
            | "map_or_else" => {
                if let Some(closure) = args.iter().find(|arg| matches!(body.kind(**arg), Kind::Closure(..))) {
                    return self.holds(to(*closure), depth);
                }
                if let Some(found) = args.first().map(|arg| self.named_predicate(to(*arg), depth)) {
                    return found;
                }
            }
            "map_or" => {
                if let Some(closure) = args.get(1) {
                    return self.holds(to(*closure), depth);
                }
            }
            "unwrap_or" | "unwrap_or_default" | "unwrap_or_else" | "unwrap" => {
                return self.holds(to(receiver), depth);
            }
            _ => {}
        }
        self.predicate(at, args, depth)
    }

    /// `values.any(is_gone)`: a predicate given by name.
    fn named_predicate(&self, at: At, depth: u8) -> Cause {
        let Some(name) = self.scope.body(at.fx).last_segment(at.id) else { return Cause::Unknown };
        let found = self.scope.named(name).iter().map(|fx| self.returned(*fx, depth));
        found.reduce(either).unwrap_or(Cause::Unknown)
    }

    /// A call of the crate's own predicate: what its body says when it returns true.
    fn predicate(&self, at: At, _args: &[Id], depth: u8) -> Cause {
        let callees = self.scope.callees(at);
        let found = callees
            .iter()
            .filter(|fx| self.scope.function(**fx).ret.has("bool"))
            .map(|fx| self.returned(*fx, depth));
        found.reduce(either).unwrap_or(Cause::Unknown)
    }

    /// What a predicate says when it returns true.
    fn returned(&self, fx: Fx, depth: u8) -> Cause {
        if let Some(found) = self.scope.found.predicates.borrow().get(&fx) {
            return *found;
        }
        self.scope.found.predicates.borrow_mut().insert(fx, Cause::Unknown);
        let out = self.returns(fx, depth.min(16));
        self.scope.found.predicates.borrow_mut().insert(fx, out);
        out
    }

    fn returns(&self, fx: Fx, depth: u8) -> Cause {
        let body = self.scope.body(fx);
        let Some(root) = body.root() else { return Cause::Unknown };
        let mut out = self.holds(At { fx, id: root }, depth);
        for id in body.ids() {
            let Kind::Return(Some(value)) = body.kind(id) else { continue };
            let mut cause = self.holds(At { fx, id: *value }, depth);
            if matches!(body.kind(*value), Kind::Bool(true)) {
                cause = known(body, id)
                    .into_iter()
                    .map(|fact| self.fact(At { fx, id }, fact, depth))
                    .fold(cause, both);
            }
            if !matches!(body.kind(*value), Kind::Bool(false)) {
                out = if out == Cause::Unknown { cause } else { either(out, cause) };
            }
        }
        out
    }

    /// `status == 404`, `code == -32600`, `status >= 500`.
    fn compared(&self, at: At, op: Op, a: Id, b: Id) -> Cause {
        let body = self.scope.body(at.fx);
        for side in [a, b] {
            let side = body.peel(side);
            if let Some(status) = self.status(At { id: side, ..at }) {
                return if op == Op::Eq && status == 404 {
                    Cause::Gone(at)
                } else if status >= 400 {
                    Cause::Other(at, Why::Status)
                } else {
                    Cause::Unknown
                };
            }
            if let Kind::Other(parts) = body.kind(side)
                && let [part] = parts.as_slice()
                && let Kind::Int(code) = body.kind(*part)
            {
                // -32700, -32600..-32603: the peer answered, and the session is alive (contract 3.1).
                return if matches!(code, 32700 | 32600..=32603) {
                    Cause::Other(at, Why::Code)
                } else {
                    Cause::Unknown
                };
            }
            if op == Op::Eq
                && let Some(text) = self.scope.text(At { id: side, ..at })
            {
                return phrase(text, at);
            }
        }
        Cause::Unknown
    }

    /// The status an expression names: `StatusCode::NOT_FOUND`, `NOT_FOUND.as_u16()`, `404`.
    fn status(&self, at: At) -> Option<u16> {
        let body = self.scope.body(at.fx);
        match body.kind(at.id) {
            Kind::Int(code @ 200..=599) => Some(*code as u16),
            Kind::Path(path) => named_status(path.last()?),
            Kind::Method(receiver, name, _) if &**name == "as_u16" => self.status(At { id: *receiver, ..at }),
            Kind::Call(_, args) if args.len() == 1 => self.status(At { id: body.peel(args[0]), ..at }),
            _ => None,
        }
    }

    fn is(&self, at: At, pat: PatId, depth: u8) -> Cause {
        let body = self.scope.body(at.fx);
        match &body.pat(pat).kind {
            PatKind::Wild => Cause::Unknown,
            PatKind::Bind(_, sub) => sub.map_or(Cause::Unknown, |sub| self.is(at, sub, depth)),
            PatKind::Value(id) => match body.kind(*id) {
                Kind::Int(404) => Cause::Gone(at),
                Kind::Int(400..=599) => Cause::Other(at, Why::Status),
                Kind::Bool(flag) => self.answered(at, *flag, depth),
                Kind::Str(text) => phrase(text, at),
                Kind::Other(parts)
                    if parts.iter().any(|part| matches!(body.kind(*part), Kind::Int(400..=599))) =>
                {
                    Cause::Other(at, Why::Status)
                }
                _ => Cause::Unknown,
            },
            PatKind::Or(subs) => {
                subs.iter().map(|sub| self.is(at, *sub, depth)).reduce(either).unwrap_or(Cause::Unknown)
            }
            PatKind::Tuple(subs) => {
                subs.iter().map(|sub| self.inner(at, *sub, depth)).fold(Cause::Unknown, both)
            }
            PatKind::Variant(path, subs, _) => self.variant(at, path, subs, depth),
        }
    }

    /// A boolean that a call of the crate gives back, perhaps inside `Some` or `Ok`: why it gives this one.
    fn answered(&self, at: At, flag: bool, depth: u8) -> Cause {
        let direct = if flag { self.holds(at, depth) } else { self.fails(at, depth) };
        let Some(depth) = depth.checked_sub(4) else { return direct };
        if direct != Cause::Unknown {
            return direct;
        }
        let mut out = Cause::Unknown;
        for origin in self.scope.origins(at) {
            for fx in self.scope.callees(origin) {
                let body = self.scope.body(*fx);
                for id in
                    body.ids().filter(|id| matches!(body.kind(*id), Kind::Bool(found) if *found == flag))
                {
                    let facts = known(body, id);
                    let cause = facts.into_iter().fold(Cause::Unknown, |out, fact| {
                        both(out, self.fact(At { fx: *fx, id }, fact, depth))
                    });
                    out = if out == Cause::Unknown { cause } else { either(out, cause) };
                }
            }
        }
        out
    }

    /// A pattern inside another: errors and ends there are not those of the value itself.
    fn inner(&self, at: At, pat: PatId, depth: u8) -> Cause {
        self.is(at, pat, depth)
    }

    fn variant(&self, at: At, path: &[Name], subs: &[PatId], depth: u8) -> Cause {
        let Some(name) = path.last() else { return Cause::Unknown };
        let inside = || subs.iter().map(|sub| self.inner(at, *sub, depth)).fold(Cause::Unknown, both);
        match &**name {
            "Ok" | "Some" | "Ready" => {
                // What is inside the outcome of a deadline failed by itself, in time.
                return match inside() {
                    Cause::Other(place, Why::Timeout) if deadline(self.scope, at) => {
                        Cause::Other(place, Why::Error)
                    }
                    cause => cause,
                };
            }
            "Err" | "Error" if path.len() == 1 => {
                let inner = inside();
                return if inner == Cause::Unknown { self.error(at) } else { inner };
            }
            "None" => return self.ended(at),
            _ => {}
        }
        if let Some(status) = named_status(name) {
            return if status == 404 {
                Cause::Gone(at)
            } else if status >= 400 {
                Cause::Other(at, Why::Status)
            } else {
                Cause::Unknown
            };
        }
        let on = path.len().checked_sub(2).and_then(|at| path.get(at));
        match both(inside(), self.meaning(at, on, name, depth)) {
            Cause::Unknown => Cause::Unknown,
            cause => cause,
        }
    }

    /// What an error variant says: by the SDK's table, else by where the crate builds it, else by its name.
    fn meaning(&self, at: At, on: Option<&Name>, name: &Name, depth: u8) -> Cause {
        let own = on.is_some_and(|on| self.scope.defs(on).next().is_some());
        if !own {
            let on = on.map(|on| &**self.scope.original(on));
            let known = sdk::meaning(self.scope.sdks.iter().copied(), on, name);
            match known {
                Some(Meaning::SessionGone) => return Cause::Gone(at),
                Some(Meaning::Transport | Meaning::Mixed) => return Cause::Other(at, Why::Error),
                Some(Meaning::Timeout) => return Cause::Other(at, Why::Timeout),
                Some(Meaning::Cancelled) => return Cause::Leaving,
                Some(Meaning::Answered) => return Cause::Other(at, Why::Code),
                Some(Meaning::Status | Meaning::NotSent | Meaning::Unauthorized | Meaning::Protocol) => {
                    return Cause::Unknown;
                }
                None => {}
            }
        }
        match self.built(on, name, depth) {
            Some(cause) => cause,
            None => by_name(name, at),
        }
    }

    /// Where the crate builds the variant, and why; `None` when it does not, or says nothing there.
    fn built(&self, on: Option<&Name>, name: &Name, depth: u8) -> Option<Cause> {
        let depth = depth.checked_sub(3)?;
        let on = on?;
        self.scope.defs(on).next()?;
        let key = (on.clone(), name.clone());
        if let Some(found) = self.scope.found.variants.borrow().get(&key) {
            return *found;
        }
        self.scope.found.variants.borrow_mut().insert(key.clone(), None);
        let mut out: Option<Cause> = None;
        for at in self.scope.builds(on, name) {
            let facts = known(self.scope.body(at.fx), at.id);
            let cause = facts
                .into_iter()
                .fold(Cause::Unknown, |cause, fact| both(cause, self.shallow(at, fact, depth)));
            out = Some(out.map_or(cause, |out| either(out, cause)));
        }
        let out = out.filter(|cause| *cause != Cause::Unknown);
        self.scope.found.variants.borrow_mut().insert(key, out);
        out
    }

    fn shallow(&self, at: At, fact: Known, depth: u8) -> Cause {
        match fact {
            Known::True(id) => self.holds(At { id, ..at }, depth),
            Known::False(id) => self.fails(At { id, ..at }, depth),
            Known::Is(pat, id) => self.is(At { id, ..at }, pat, depth),
            Known::Not(..) | Known::Failed(_) => Cause::Unknown,
        }
    }

    fn not(&self, at: At, pat: PatId) -> Cause {
        let body = self.scope.body(at.fx);
        match &body.pat(pat).kind {
            PatKind::Variant(path, subs, _) => match path.last().map(|name| &**name) {
                Some("Ok") if subs.iter().all(|sub| plain(body, *sub)) => self.error(at),
                Some("Some") if subs.iter().all(|sub| plain(body, *sub)) => self.ended(at),
                _ => Cause::Unknown,
            },
            _ => Cause::Unknown,
        }
    }

    /// `None` of a stream's `next()` is its end; of anything else it says nothing.
    fn ended(&self, at: At) -> Cause {
        if reads_stream(self.scope, at) { Cause::Other(at, Why::End) } else { Cause::Unknown }
    }
}

fn plain(body: &crate::facts::ir::Body, pat: PatId) -> bool {
    matches!(body.pat(pat).kind, PatKind::Wild | PatKind::Bind(_, None))
}

fn then_id(body: &crate::facts::ir::Body, id: Id) -> &Id {
    match body.kind(id) {
        Kind::If(_, then, _) => then,
        _ => unreachable!("only asked for conditionals"),
    }
}

fn ranges(body: &crate::facts::ir::Body, id: Id) -> bool {
    matches!(body.kind(id), Kind::Other(parts) if parts.iter().any(|part| matches!(body.kind(*part), Kind::Int(200..=299))))
}

/// Both hold.
fn both(a: Cause, b: Cause) -> Cause {
    match (a, b) {
        (Cause::Gone(at), _) | (_, Cause::Gone(at)) => Cause::Gone(at),
        (Cause::Leaving, _) | (_, Cause::Leaving) => Cause::Leaving,
        (Cause::Mixed(at, why), _) | (_, Cause::Mixed(at, why)) => Cause::Mixed(at, why),
        (Cause::Other(at, why), _) | (_, Cause::Other(at, why)) => Cause::Other(at, why),
        (Cause::Unknown, Cause::Unknown) => Cause::Unknown,
    }
}

/// One of them holds.
fn either(a: Cause, b: Cause) -> Cause {
    match (a, b) {
        (Cause::Mixed(at, why), _) | (_, Cause::Mixed(at, why)) => Cause::Mixed(at, why),
        (Cause::Gone(_), Cause::Other(at, why)) | (Cause::Other(at, why), Cause::Gone(_)) => {
            Cause::Mixed(at, why)
        }
        (Cause::Gone(at), _) | (_, Cause::Gone(at)) => Cause::Gone(at),
        (Cause::Other(at, why), _) | (_, Cause::Other(at, why)) => Cause::Other(at, why),
        (Cause::Leaving, Cause::Leaving) => Cause::Leaving,
        _ => Cause::Unknown,
    }
}

/// One of several branches gave `true`; branches that are the literal `false` gave nothing.
fn either_of(body: &crate::facts::ir::Body, all: impl IntoIterator<Item = (Id, Cause)>) -> Cause {
    let live = all.into_iter().filter(|(id, _)| !is_false(body, *id)).map(|(_, cause)| cause);
    live.reduce(either).unwrap_or(Cause::Unknown)
}

fn is_false(body: &crate::facts::ir::Body, id: Id) -> bool {
    match body.kind(id) {
        Kind::Bool(false) => true,
        Kind::Block(stmts, true) if stmts.len() == 1 => is_false(body, stmts[0]),
        Kind::Return(Some(value)) => is_false(body, *value),
        _ => false,
    }
}
