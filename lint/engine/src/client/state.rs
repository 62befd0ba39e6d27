//! Decisions that travel through a stored state: who writes the value that a condition asks for.
//! Knows fields and values; judges nothing.

use super::Client;
use crate::facts::ir::{Id, Kind, Name, Op};
use crate::flow::{Known, known};
use crate::scope::{At, Fx};

/// The value a condition asks a field for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Variant(Name),
    Flag(bool),
}

impl Client<'_> {
    /// The places that bring about the stored states that must hold at `at`: `state = Disconnected`, `broken = true`.
    #[must_use]
    pub fn written(&self, at: At) -> Vec<At> {
        let body = self.scope.body(at.fx);
        let mut out = Vec::new();
        for fact in known(body, at.id) {
            let Some((field, value)) = self.asked(at.fx, fact) else { continue };
            for fx in self.scope.all() {
                if !self.scope.function(fx).test {
                    out.extend(
                        self.ids(fx).map(|id| At { fx, id }).filter(|at| self.writes(*at, &field, &value)),
                    );
                }
            }
        }
        out
    }

    fn asked(&self, fx: Fx, fact: Known) -> Option<((Name, Name), Value)> {
        let body = self.scope.body(fx);
        let (id, truth) = match fact {
            Known::True(id) => (id, true),
            Known::False(id) => (id, false),
            Known::Is(pat, id) => {
                let path = *body.variants(pat).first()?;
                return Some((self.field(At { fx, id })?, Value::Variant(path.last()?.clone())));
            }
            _ => return None,
        };
        match body.kind(id) {
            Kind::Binary(op @ (Op::Eq | Op::Ne), a, b) => {
                if (*op == Op::Eq) != truth {
                    return None;
                }
                let variant = |id: Id| match body.kind(id) {
                    Kind::Path(path) if path.len() > 1 => path.last().cloned(),
                    _ => None,
                };
                let (field, value) = match (variant(*a), variant(*b)) {
                    (None, Some(value)) => (*a, value),
                    (Some(value), None) => (*b, value),
                    _ => return None,
                };
                Some((self.field(At { fx, id: field })?, Value::Variant(value)))
            }
            Kind::Field(..) | Kind::Method(..) => Some((self.field(At { fx, id })?, Value::Flag(truth))),
            _ => None,
        }
    }

    fn field(&self, at: At) -> Option<(Name, Name)> {
        let body = self.scope.body(at.fx);
        let id = body.peel(at.id);
        match body.kind(id) {
            Kind::Field(base, name) => Some((self.scope.type_of(At { id: *base, ..at })?, name.clone())),
            Kind::Method(receiver, name, _)
                if matches!(
                    &**name,
                    "load" | "lock" | "read" | "write" | "unwrap" | "borrow" | "clone" | "swap"
                ) =>
            {
                self.field(At { id: *receiver, ..at })
            }
            _ => None,
        }
    }

    fn writes(&self, at: At, field: &(Name, Name), value: &Value) -> bool {
        let body = self.scope.body(at.fx);
        let (target, written) = match body.kind(at.id) {
            Kind::Assign(left, right) => (*left, *right),
            Kind::Method(receiver, name, args) if &**name == "store" => match args.first() {
                Some(arg) => (*receiver, *arg),
                None => return false,
            },
            _ => return false,
        };
        let fits = match (body.kind(written), value) {
            (Kind::Path(path), Value::Variant(name)) => path.last() == Some(name),
            (Kind::Bool(flag), Value::Flag(asked)) => flag == asked,
            _ => false,
        };
        fits && self.field(At { id: target, ..at }).as_ref() == Some(field)
    }
}
