//! What the type of an error says: whether the crate builds its variants after a 404 alone.
//! Knows enums of the crate; a type that is no enum, or another crate's, says nothing.

use super::super::known;
use super::super::words::by_name;
use super::{Cause, Judge, Why, both};
use crate::facts::ir::{Kind, Name, downcasts};
use crate::scope::{At, Binding};

/// Why the variants of an enum are built, all places taken together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Builds {
    /// Some place is reached after a 404.
    gone: bool,
    /// Some place is reached otherwise.
    other: bool,
}

impl Judge<'_> {
    /// What it says that a value is there which is, or comes of, `error.downcast_ref::<E>()`.
    pub(super) fn downcast(&self, at: At, depth: u8) -> Cause {
        let body = self.scope.body(at.fx);
        let Some(depth) = depth.checked_sub(1) else { return Cause::Unknown };
        match body.kind(body.peel(at.id)) {
            Kind::Method(_, name, args) if downcasts(name) => match args.as_slice() {
                [ty] => body.last_segment(*ty).map_or(Cause::Unknown, |on| self.kind(at, on, depth)),
                _ => Cause::Unknown,
            },
            Kind::Path(path) if path.len() == 1 => match self.scope.binding(at.fx, &path[0], at.id) {
                Some(Binding::Let { init: Some(init), .. }) => self.downcast(At { id: init, ..at }, depth),
                _ => Cause::Unknown,
            },
            _ => Cause::Unknown,
        }
    }

    /// What it says that an error is of the type `on`.
    fn kind(&self, at: At, on: &Name, depth: u8) -> Cause {
        let on = self.scope.original(on);
        if self.scope.defs(on).next().is_none() {
            return Cause::Unknown;
        }
        match self.builds(on, depth) {
            Builds { gone: true, other: false } => Cause::Gone(at),
            Builds { gone: true, other: true } => Cause::Mixed(at, Why::Kind),
            Builds { gone: false, .. } => Cause::Unknown,
        }
    }

    fn builds(&self, on: &Name, depth: u8) -> Builds {
        if let Some(found) = self.scope.found.kinds.borrow().get(on) {
            return *found;
        }
        let mut out = Builds::default();
        self.scope.found.kinds.borrow_mut().insert(on.clone(), out);
        for (at, variant) in self.scope.builds_any(on) {
            let facts = known(self.scope.body(at.fx), at.id).into_iter();
            let cause = facts.fold(Cause::Unknown, |cause, fact| both(cause, self.shallow(at, fact, depth)));
            let cause = if cause == Cause::Unknown { by_name(variant, at) } else { cause };
            out.gone |= matches!(cause, Cause::Gone(_) | Cause::Mixed(..));
            out.other |= !matches!(cause, Cause::Gone(_));
        }
        self.scope.found.kinds.borrow_mut().insert(on.clone(), out);
        out
    }
}
