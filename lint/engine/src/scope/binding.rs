//! What a local name stands for at a place: lexical scoping over the tree.
//! Knows no types and follows no value.

use super::{Fx, Scope};
use crate::facts::ir::{Body, Head, Id, Kind, PatId, PatKind, Sort};
use crate::index::ByName;

/// Where a name was bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// Parameter by position, `self` not counted.
    Param(usize),
    /// `let pattern = init`, or `let pattern = init else`.
    Let {
        /// The pattern.
        pat: PatId,
        /// The value.
        init: Option<Id>,
    },
    /// `if let`, `while let`, a `match` arm, or a `select!` arm: the pattern and what it is matched against.
    Match {
        /// The pattern.
        pat: PatId,
        /// The value.
        value: Id,
    },
    /// `for pattern in iterator`.
    For {
        /// The pattern.
        pat: PatId,
        /// The iterator.
        iter: Id,
    },
    /// Parameter of a closure.
    Closure {
        /// The closure.
        closure: Id,
    },
}

impl Scope {
    /// Notes which statements bind which names, so that a name is found without reading what stands before it.
    pub(super) fn index_lets(&mut self) {
        let lets_of = |fx: Fx| {
            let body = self.body(fx);
            let mut lets: ByName<Vec<Id>> = ByName::default();
            for pat in body.pats.iter() {
                if let PatKind::Bind(name, _) = &pat.kind {
                    lets.or_default(name);
                }
            }
            for id in body.of(Sort::Let) {
                if let Kind::Let(pat, ..) = body.kind(*id) {
                    for name in body.bound(*pat) {
                        lets.or_default(name).push(*id);
                    }
                }
            }
            lets
        };
        self.lets = self.all().map(lets_of).collect();
    }

    /// What `name` stands for at `at`; `None` for constants, statics and names from outside.
    #[must_use]
    pub fn binding(&self, fx: Fx, name: &str, at: Id) -> Option<Binding> {
        let body = self.body(fx);
        // What no pattern binds stands for nothing here.
        let lets = self.lets[fx.0 as usize].get(name)?;
        let binds = |pat: PatId| body.binds(pat, name);
        for (parent, child) in body.ancestors(at) {
            match body.kind(parent) {
                Kind::Block(..) => {
                    // Parts come before what they are part of, and statements in order: ids tell what was before.
                    let before = &lets[..lets.partition_point(|at| *at < child)];
                    let found = before.iter().rev().find(|at| body.node(**at).parent == Some(parent));
                    if let Some(Kind::Let(pat, init, _)) = found.map(|at| body.kind(*at)) {
                        return Some(Binding::Let { pat: *pat, init: *init });
                    }
                }
                Kind::If(cond, then, _) if child == *then => {
                    if let Some(found) = in_condition(body, *cond, &binds) {
                        return Some(found);
                    }
                }
                Kind::And(left, right) if child == *right => {
                    if let Some(found) = in_condition(body, *left, &binds) {
                        return Some(found);
                    }
                }
                Kind::Match(value, arms) => {
                    let arm = arms.iter().find(|arm| arm.body == child || arm.guard == Some(child));
                    if let Some(arm) = arm.filter(|arm| binds(arm.pat)) {
                        return Some(Binding::Match { pat: arm.pat, value: *value });
                    }
                }
                Kind::Select(arms) => {
                    let arm = arms.iter().find(|arm| arm.body == child);
                    if let Some((arm, value)) =
                        arm.filter(|arm| binds(arm.pat)).and_then(|arm| Some((arm, arm.future?)))
                    {
                        return Some(Binding::Match { pat: arm.pat, value });
                    }
                }
                Kind::Loop(head, inside, _) if child == *inside => match head {
                    Head::Forever => {}
                    Head::While(cond) => {
                        if let Some(found) = in_condition(body, *cond, &binds) {
                            return Some(found);
                        }
                    }
                    Head::For(pat, iter) if binds(*pat) => {
                        return Some(Binding::For { pat: *pat, iter: *iter });
                    }
                    Head::For(..) => {}
                },
                Kind::Closure(pats, _) if pats.iter().any(|pat| binds(*pat)) => {
                    return Some(Binding::Closure { closure: parent });
                }
                _ => {}
            }
        }
        let params = &self.function(fx).params;
        params.iter().position(|param| param.names.iter().any(|bound| &**bound == name)).map(Binding::Param)
    }
}

fn in_condition(body: &Body, cond: Id, binds: &impl Fn(PatId) -> bool) -> Option<Binding> {
    match body.kind(cond) {
        Kind::And(left, right) => {
            in_condition(body, *right, binds).or_else(|| in_condition(body, *left, binds))
        }
        Kind::LetCond(pat, value) if binds(*pat) => Some(Binding::Match { pat: *pat, value: *value }),
        _ => None,
    }
}
