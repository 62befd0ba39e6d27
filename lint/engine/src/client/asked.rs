//! Answers about whole functions, found when first asked: places of one function ask the same again and again.
//! Knows no rule; an answer depends on the crate alone, never on who asked before.

use super::{Client, Deeds};
use crate::facts::ir::{Id, Kind};
use crate::finding::Certainty;
use crate::index::Index;
use crate::scope::{At, Fx};
use std::cell::RefCell;
use std::rc::Rc;

/// The answers so far.
#[derive(Default)]
pub(super) struct Asked {
    makers: RefCell<Index<Fx, Rc<[Id]>>>,
    sessionless: RefCell<Index<Fx, Rc<[Id]>>>,
    sends: RefCell<Index<At, Option<Certainty>>>,
}

impl Client<'_> {
    /// How sure it is that the call sends a `tools/call`, as `find` tells when it is first asked.
    pub(crate) fn sends(&self, at: At, find: impl FnOnce() -> Option<Certainty>) -> Option<Certainty> {
        if let Some(known) = self.asked.sends.borrow().get(&at) {
            return *known;
        }
        let found = find();
        self.asked.sends.borrow_mut().insert(at, found);
        found
    }

    /// The nodes of a function that make a session and call no tool.
    pub(crate) fn makers(&self, fx: Fx) -> Rc<[Id]> {
        let makes = |id: &Id| {
            let deeds = self.deeds_of(At { fx, id: *id });
            deeds.has(Deeds::INITIALISES) && !deeds.has(Deeds::CALLS)
        };
        let find = || self.ids(fx).filter(makes).collect();
        self.asked.makers.borrow_mut().entry(fx).or_insert_with(find).clone()
    }

    /// The nodes of a function that name a revision without sessions, in order of their ids.
    pub(crate) fn sessionless(&self, fx: Fx) -> Rc<[Id]> {
        let body = self.scope.body(fx);
        let names = |id: &Id| {
            let name = match body.kind(*id) {
                Kind::Path(path) => path.last(),
                Kind::Method(_, name, _) | Kind::Field(_, name) => Some(name),
                _ => None,
            };
            name.is_some_and(|name| {
                let name = name.to_lowercase();
                ["stateless", "sessionless", "modern", "draft"].iter().any(|word| name.contains(word))
            })
        };
        let find = || self.ids(fx).filter(names).collect();
        self.asked.sessionless.borrow_mut().entry(fx).or_insert_with(find).clone()
    }
}
