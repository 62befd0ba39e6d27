//! What a test says: comparisons of a status, predicates by name and by what they return, and both sides of `&&` and `||`.
//! Knows values that are true or false; patterns are another matter.

use super::super::known;
use super::super::words::{named_status, phrase};
use super::{Cause, Judge, Why, both, either, either_of};
use crate::facts::ir::{Body, Id, Kind, Name, Op};
use crate::scope::{At, Binding, Fx};

impl Judge<'_> {
    pub(super) fn holds(&self, at: At, depth: u8) -> Cause {
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

    pub(super) fn fails(&self, at: At, depth: u8) -> Cause {
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
                "is_none" | "is_err" => self.downcast(to(*receiver), depth),
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

    pub(super) fn method(&self, at: At, receiver: Id, name: &Name, args: &[Id], depth: u8) -> Cause {
        let body = self.scope.body(at.fx);
        let to = |id| At { id, ..at };
        match &**name {
            "is_client_error" | "is_server_error" => return Cause::Other(at, Why::Status),
            "is_err" => return self.error(to(receiver)),
            "is_none" => return self.ended(to(receiver)),
            "is" => return self.downcast(at, depth),
            "is_some" | "is_ok" => match self.downcast(to(receiver), depth) {
                Cause::Unknown => {}
                cause => return cause,
            },
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
    pub(super) fn named_predicate(&self, at: At, depth: u8) -> Cause {
        let Some(name) = self.scope.body(at.fx).last_segment(at.id) else { return Cause::Unknown };
        let found = self.scope.named(name).iter().map(|fx| self.returned(*fx, depth));
        found.reduce(either).unwrap_or(Cause::Unknown)
    }

    /// A call of the crate's own predicate: what its body says when it returns true.
    pub(super) fn predicate(&self, at: At, _args: &[Id], depth: u8) -> Cause {
        let callees = self.scope.callees(at);
        let found = callees
            .iter()
            .filter(|fx| self.scope.function(**fx).ret.has("bool"))
            .map(|fx| self.returned(*fx, depth));
        found.reduce(either).unwrap_or(Cause::Unknown)
    }

    /// What a predicate says when it returns true.
    pub(super) fn returned(&self, fx: Fx, depth: u8) -> Cause {
        if let Some(found) = self.scope.found.predicates.borrow().get(&fx) {
            return *found;
        }
        self.scope.found.predicates.borrow_mut().insert(fx, Cause::Unknown);
        let out = self.returns(fx, depth.min(16));
        self.scope.found.predicates.borrow_mut().insert(fx, out);
        out
    }

    pub(super) fn returns(&self, fx: Fx, depth: u8) -> Cause {
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
    pub(super) fn compared(&self, at: At, op: Op, a: Id, b: Id) -> Cause {
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
    pub(super) fn status(&self, at: At) -> Option<u16> {
        let body = self.scope.body(at.fx);
        match body.kind(at.id) {
            Kind::Int(code @ 200..=599) => Some(*code as u16),
            Kind::Path(path) => named_status(path.last()?),
            Kind::Method(receiver, name, _) if &**name == "as_u16" => self.status(At { id: *receiver, ..at }),
            Kind::Call(_, args) if args.len() == 1 => self.status(At { id: body.peel(args[0]), ..at }),
            _ => None,
        }
    }
}

fn then_id(body: &Body, id: Id) -> &Id {
    match body.kind(id) {
        Kind::If(_, then, _) => then,
        _ => unreachable!("only asked for conditionals"),
    }
}

fn ranges(body: &Body, id: Id) -> bool {
    matches!(body.kind(id), Kind::Other(parts) if parts.iter().any(|part| matches!(body.kind(*part), Kind::Int(200..=299))))
}
