//! Where a value comes from: back through bindings, adaptors and branches to the nodes that made it.
//! Knows no protocol; a value that comes from too many places comes from none.

use super::{At, Binding, Scope};
use crate::facts::ir::{Id, Kind, PatId, PatKind};

/// More origins than this say nothing.
const MANY: usize = 12;

impl Scope {
    /// The nodes a value comes from: fields, parameters, constants, literals, and calls that are no mere adaptors.
    #[must_use]
    pub fn origins(&self, at: At) -> Vec<At> {
        let mut out = Vec::new();
        self.trace(at, 24, &mut out);
        out.truncate(MANY);
        out
    }

    fn trace(&self, at: At, depth: u8, out: &mut Vec<At>) {
        let Some(depth) = depth.checked_sub(1) else { return };
        if out.len() >= MANY {
            return;
        }
        let body = self.body(at.fx);
        let go = |id: Id, out: &mut Vec<At>| self.trace(At { id, ..at }, depth, out);
        match body.kind(at.id) {
            Kind::Ref(a) | Kind::Deref(a) | Kind::Await(a) | Kind::Try(a) | Kind::Async(a) => go(*a, out),
            Kind::Path(path) if path.len() == 1 => match self.binding(at.fx, &path[0], at.id) {
                Some(Binding::Let { init: Some(init), pat }) => go(self.part(at, pat, &path[0], init), out),
                Some(Binding::Match { value, .. }) => go(value, out),
                Some(Binding::For { iter, .. }) => go(iter, out),
                _ => out.push(at),
            },
            Kind::Method(receiver, name, args) => {
                let maps = name.starts_with("map")
                    && args.len() == 1
                    && matches!(body.kind(args[0]), Kind::Closure(..) | Kind::Path(_));
                let passes = adapts(name)
                    && self.callees(at).is_empty()
                    && !(name.starts_with("get") && header_like(body, args));
                if maps || passes {
                    go(*receiver, out);
                } else {
                    out.push(at);
                }
            }
            Kind::Call(callee, args) if args.len() == 1 && self.callees(at).is_empty() => {
                let name = body.last_segment(*callee).map_or("", |name| name);
                if wraps(name) { go(args[0], out) } else { out.push(at) }
            }
            // A deadline around a future changes nothing about whose errors come out.
            Kind::Call(callee, args)
                if args.len() == 2
                    && body
                        .last_segment(*callee)
                        .is_some_and(|name| matches!(&**name, "timeout" | "timeout_at")) =>
            {
                go(args[1], out);
            }
            Kind::Block(stmts, true) => {
                if let Some(last) = stmts.last() {
                    go(*last, out);
                }
            }
            Kind::If(_, then, other) => {
                go(*then, out);
                other.iter().for_each(|other| go(*other, out));
            }
            Kind::Match(_, arms) => arms.iter().for_each(|arm| go(arm.body, out)),
            Kind::Return(_) | Kind::Break(..) | Kind::Continue(_) => {}
            _ => out.push(at),
        }
    }

    /// For `let (a, b) = (x, y)`: the part of the value that `name` gets.
    fn part(&self, at: At, pat: PatId, name: &str, init: Id) -> Id {
        let body = self.body(at.fx);
        let mut value = body.peel(init);
        if let Kind::Block(stmts, true) = body.kind(value) {
            value = *stmts.last().unwrap_or(&value);
        }
        if let (PatKind::Tuple(pats), Kind::Tuple(values)) = (&body.pat(pat).kind, body.kind(value)) {
            let place = pats.iter().position(|pat| body.bound(*pat).iter().any(|bound| &***bound == name));
            if let Some(value) = place.and_then(|place| values.get(place)) {
                return *value;
            }
        }
        init
    }
}

/// `headers.get(NAME)` is where a value comes from, `cell.get()` is not.
fn header_like(body: &crate::facts::ir::Body, args: &[Id]) -> bool {
    args.first()
        .is_some_and(|arg| !matches!(body.kind(*arg), Kind::Closure(..) | Kind::Int(_) | Kind::Bool(_)))
}

fn adapts(name: &str) -> bool {
    super::types::passes(name)
        || matches!(
            name,
            "and_then"
                | "map_or"
                | "or"
                | "or_else"
                | "then"
                | "to_vec"
                | "into_owned"
                | "into_bytes"
                | "parse"
                | "to_lowercase"
                | "to_ascii_lowercase"
                | "to_uppercase"
                | "is_some"
                | "is_none"
                | "is_some_and"
                | "flatten"
                | "inspect"
                | "inspect_err"
                | "try_into"
                | "as_slice"
                | "transpose"
        )
}

fn wraps(name: &str) -> bool {
    matches!(
        name,
        "Some"
            | "Ok"
            | "Arc"
            | "Box"
            | "from"
            | "new"
            | "clone"
            | "from_str"
            | "from_bytes"
            | "pin"
            | "from_maybe_shared"
            | "Owned"
    )
}
