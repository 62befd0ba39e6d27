//! Whether code renews, empties or takes what a slot keeps, here, in what it calls, or in all that call it.
//! Knows writes; judges nothing.

use super::{Client, Slot};
use crate::facts::ir::{Id, Kind, Sort};
use crate::scope::{At, Fx};

impl Client<'_> {
    /// Whether the function, something it calls, or every caller of it writes to the slot.
    #[must_use]
    pub fn renews(&self, fx: Fx, slot: &Slot) -> bool {
        if self.renews_within(fx, slot, 3) {
            return true;
        }
        let live = |at: &At| !self.scope.function(at.fx).test;
        let mut callers = self.scope.callers(fx).iter().map(|caller| caller.at).filter(live).peekable();
        callers.peek().is_some() && callers.all(|at| self.renews_within(at.fx, slot, 2))
    }

    fn renews_within(&self, fx: Fx, slot: &Slot, depth: u8) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let within = |callee: &Fx| *callee != fx && self.renews_within(*callee, slot, depth);
        let body = self.scope.body(fx);
        let renews = |id: &Id| self.renewed(At { fx, id: *id }).as_ref() == Some(slot);
        body.of(Sort::Assign).iter().any(renews)
            || body
                .of(Sort::Call)
                .iter()
                .any(|id| renews(id) || self.scope.callees(At { fx, id: *id }).iter().any(within))
    }

    /// The slot that a node writes to, empties or takes.
    fn renewed(&self, at: At) -> Option<Slot> {
        let target = match self.scope.kind(at) {
            Kind::Assign(left, _) => *left,
            Kind::Method(receiver, name, _) => match &**name {
                "take" | "clear" | "drain" | "store" | "set" | "retain" | "replace" | "remove" | "swap" => {
                    *receiver
                }
                _ => return None,
            },
            Kind::Call(callee, args) => match &**self.scope.body(at.fx).last_segment(*callee)? {
                "take" | "replace" => *args.first()?,
                _ => return None,
            },
            _ => return None,
        };
        self.slot(At { id: target, ..at })
    }
}
