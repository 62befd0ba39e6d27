//! Decisions that travel through a stored state: who writes the value that a condition asks for.
//! Knows fields and values; judges nothing.

use super::Client;
use crate::facts::ir::{Body, Id, Kind, Name, Op, Sort};
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
            let places = self.writes.get(&field.1).into_iter().flatten().copied();
            self.take(at, places.filter(|at| self.brings(*at, &field, &value)), &mut out);
        }
        out
    }

    /// The places that send the message which `at` answers: `commands.send(Command::Reset)`, where `at` stands in the arm of
    /// `Command::Reset`.
    #[must_use]
    pub fn sent(&self, at: At) -> Vec<At> {
        let body = self.scope.body(at.fx);
        let mut out = Vec::new();
        for fact in known(body, at.id) {
            let Known::Is(pat, _) = fact else { continue };
            for path in body.variants(pat) {
                let [.., ty, name] = path else { continue };
                let ty = if &**ty == "Self" {
                    self.scope.function(at.fx).owner.as_ref().unwrap_or(ty)
                } else {
                    ty
                };
                if self.scope.defs(ty).next().is_none() {
                    continue;
                }
                let places = self.scope.builds(ty, name).filter(|at| is_sent(self.scope.body(at.fx), at.id));
                self.take(at, places, &mut out);
            }
        }
        out
    }

    /// As many of the places as are followed.
    fn take(&self, at: At, mut places: impl Iterator<Item = At>, out: &mut Vec<At>) {
        out.extend(places.by_ref().take(WRITERS));
        if places.next().is_some() {
            self.cut(at);
        }
    }

    /// Notes every assignment to a field, so that no question walks the whole crate.
    pub(super) fn find_writes(&mut self) {
        for fx in self.scope.all().filter(|fx| !self.scope.function(*fx).test) {
            let body = self.scope.body(fx);
            let stores = |id: &&Id| matches!(body.kind(**id), Kind::Method(_, name, _) if &**name == "store");
            let mut places = body.of(Sort::Assign).to_vec();
            places.extend(body.of(Sort::Call).iter().filter(stores));
            places.sort_unstable();
            for id in places {
                let at = At { fx, id };
                if let Some((target, _)) = self.write(at)
                    && let Some(name) = field_name(body, target)
                {
                    self.writes.entry(name.clone()).or_default().push(at);
                }
            }
        }
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
            Kind::Method(receiver, name, _) if opens(name) => self.field(At { id: *receiver, ..at }),
            _ => None,
        }
    }

    /// What is written to, and the value.
    fn write(&self, at: At) -> Option<(Id, Id)> {
        match self.scope.kind(at) {
            Kind::Assign(left, right) => Some((*left, *right)),
            Kind::Method(receiver, name, args) if &**name == "store" => Some((*receiver, *args.first()?)),
            _ => None,
        }
    }

    fn brings(&self, at: At, field: &(Name, Name), value: &Value) -> bool {
        let body = self.scope.body(at.fx);
        let Some((target, written)) = self.write(at) else { return false };
        let fits = match (body.kind(written), value) {
            (Kind::Path(path), Value::Variant(name)) => path.last() == Some(name),
            (Kind::Bool(flag), Value::Flag(asked)) => flag == asked,
            _ => false,
        };
        fits && self.field(At { id: target, ..at }).as_ref() == Some(field)
    }
}

/// More writers of one state than this are not followed.
const WRITERS: usize = 64;

/// Whether a value goes into a channel.
fn is_sent(body: &Body, id: Id) -> bool {
    body.ancestors(id).take(4).any(|(parent, child)| match body.kind(parent) {
        Kind::Method(_, name, args) => {
            args.contains(&child)
                && matches!(
                    &**name,
                    "send" | "try_send" | "blocking_send" | "unbounded_send" | "send_async" | "start_send"
                )
        }
        _ => false,
    })
}

/// Methods between a field and the value that it keeps.
fn opens(name: &str) -> bool {
    matches!(name, "load" | "lock" | "read" | "write" | "unwrap" | "borrow" | "clone" | "swap")
}

/// The name of the field that an expression reads or writes.
fn field_name(body: &Body, id: Id) -> Option<&Name> {
    let id = body.peel(id);
    match body.kind(id) {
        Kind::Field(_, name) => Some(name),
        Kind::Method(receiver, name, _) if opens(name) => field_name(body, *receiver),
        _ => None,
    }
}
