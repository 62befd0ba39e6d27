//! How control comes to a place that drops the session: the ways up through callers, states and messages, to the decisions.
//! Knows which decision counts as wrong; words nothing.

use super::act::{Act, is_handle};
use super::arm;
use super::purpose::{Purpose, purpose};
use crate::client::{Client, Deeds, Slot};
use crate::facts::ir::{Body, Id, Kind};
use crate::flow::cause::{Cause, Why, cause};
use crate::flow::{Known, known};
use crate::scope::{At, Fx};
use std::collections::BTreeSet;

/// Callers that are followed from a place.
const DEPTH: u8 = 5;
/// More ways to one place than this are not followed.
const WAYS: usize = 512;

/// One wrong way to the place.
pub(in crate::rules) struct Way {
    /// The place, the call that leads there, and so on up to the decision.
    pub(in crate::rules) links: Vec<At>,
    /// The condition that decides.
    pub(in crate::rules) cause: At,
    pub(in crate::rules) why: Why,
    /// Whether every link is told by types, not by names alone, and is no choice among implementations.
    pub(in crate::rules) sure: bool,
    /// Whether the decision travels through a stored state.
    pub(in crate::rules) by_state: bool,
}

impl Way {
    /// The place where the decision is taken.
    pub(in crate::rules) fn trigger(&self) -> At {
        *self.links.last().expect("a way starts with the place itself")
    }
}

/// Every way to one place.
#[derive(Default)]
pub(in crate::rules) struct Ways {
    pub(in crate::rules) wrong: Vec<Way>,
    /// Whether some way is right: after a 404, or on purpose.
    pub(in crate::rules) right: bool,
}

/// Follows every way to `place`.
pub(in crate::rules) fn ways(client: &Client<'_>, act: Act, place: At) -> Ways {
    let mut search = Search { client, act, seen: BTreeSet::new(), links: Vec::new(), ways: Ways::default() };
    search.follow(place, DEPTH, Link { sure: true, by_state: false });
    search.ways
}

#[derive(Clone, Copy)]
struct Link {
    sure: bool,
    by_state: bool,
}

struct Search<'a> {
    client: &'a Client<'a>,
    act: Act,
    seen: BTreeSet<At>,
    links: Vec<At>,
    ways: Ways,
}

impl Search<'_> {
    fn follow(&mut self, at: At, depth: u8, link: Link) {
        if self.seen.len() >= WAYS {
            return self.client.cut(self.links.first().copied().unwrap_or(at));
        }
        if !self.seen.insert(at) {
            return;
        }
        self.links.push(at);
        self.judge(at, depth, link);
        self.links.pop();
    }

    /// Judges the way to `at`; where nothing is known there, the ways to the callers.
    fn judge(&mut self, at: At, depth: u8, link: Link) {
        let found = purpose(self.client, self.act, at);
        if self.act == Act::Deleted && self.links.len() == 1 && found.is_some() {
            // The function that sends the DELETE does so for whoever calls it.
            return self.above(at, depth, link);
        }
        if let Some(purpose) = found {
            self.ways.right |= purpose == Purpose::Ends;
            return;
        }
        if self.act != Act::Rebuilt && self.fresh(at) {
            return;
        }
        let (place, why) = match cause(self.client.scope, at) {
            Cause::Gone(_) | Cause::Leaving => {
                self.ways.right = true;
                return;
            }
            Cause::Other(place, why) if self.counts(at, place, why) => (place, why),
            Cause::Mixed(place, why) => (place, why),
            Cause::Other(..) | Cause::Unknown => return self.above(at, depth, link),
        };
        let links = self.links.clone();
        self.ways.wrong.push(Way { links, cause: place, why, sure: link.sure, by_state: link.by_state });
    }

    fn above(&mut self, at: At, depth: u8, link: Link) {
        let Some(depth) = depth.checked_sub(1) else { return };
        for writer in self.client.written(at) {
            self.follow(writer, depth, Link { sure: false, by_state: true });
        }
        for sender in self.client.sent(at) {
            self.follow(sender, depth, Link { sure: false, ..link });
        }
        for caller in self.client.scope.callers(at.fx).to_vec() {
            if !self.client.scope.function(caller.at.fx).test {
                // Which of several implementations runs is not to be told.
                let one = self.client.scope.callees(caller.at).len() == 1;
                self.follow(caller.at, depth, Link { sure: link.sure && caller.sure && one, ..link });
            }
        }
    }

    /// Whether an error counts: it must come from the session's traffic, not from making the session.
    fn counts(&self, at: At, place: At, why: Why) -> bool {
        if self.connecting(at, place) {
            return false;
        }
        if matches!(why, Why::Status | Why::End | Why::Code) {
            return self.client.in_scope(place.fx);
        }
        let on_handle = |origin: &At| match self.client.scope.kind(*origin) {
            Kind::Method(receiver, ..) => is_handle(self.client, At { id: *receiver, ..*origin }),
            _ => false,
        };
        let of_session = |origin: &At| on_handle(origin) || self.traffic(*origin);
        let origins = self.client.scope.origins(place);
        // A predicate says what the error is; that it is the session's is said where the predicate is asked.
        if origins.iter().any(of_session) || place.fx != at.fx && self.failures(at).iter().any(of_session) {
            return true;
        }
        // An error that was handed in, or comes from a call that cannot be followed, of code that is about the session.
        let unknown = |origin: &At| match self.client.scope.kind(*origin) {
            Kind::Path(_) => true,
            Kind::Method(..) | Kind::Call(..) => self.client.scope.callees(*origin).is_empty(),
            _ => false,
        };
        self.act != Act::Rebuilt
            && (self.handles(at.fx) || self.client.in_scope(place.fx))
            && origins.iter().any(unknown)
    }

    /// What has failed where the place is reached, the making of a session left out.
    fn failures(&self, at: At) -> Vec<At> {
        let body = self.client.scope.body(at.fx);
        let failed = known(body, at.id).into_iter().filter_map(|fact| match fact {
            Known::Is(pat, value) if body.mentions(pat, "Err") => Some(value),
            Known::Not(pat, value) if body.mentions(pat, "Ok") => Some(value),
            Known::Failed(value) => Some(value),
            _ => None,
        });
        let origins = failed.flat_map(|id| self.client.scope.origins(At { id, ..at }));
        origins.filter(|origin| !self.client.makes_session(*origin)).collect()
    }

    /// Whether the value comes of the session's traffic: of a handle, or of a request by code that is about the session.
    fn traffic(&self, origin: At) -> bool {
        let client = self.client;
        let deeds = client.deeds_of(origin);
        if deeds.has(Deeds::USES_HANDLE) {
            return true;
        }
        let sends = deeds.only(Deeds::SENDS.with(Deeds::READS)) != Deeds::default();
        sends
            && (client.in_scope(origin.fx)
                || client.scope.callees(origin).iter().any(|fx| client.in_scope(*fx)))
    }

    /// Whether the function uses a handle's slot: there an error that cannot be followed is most likely the handle's.
    fn handles(&self, fx: Fx) -> bool {
        let owner = self.client.scope.function(fx).owner.clone();
        self.client
            .handles
            .iter()
            .any(|slot| matches!(slot, Slot::Field(ty, _) if Some(ty) == owner.as_ref()))
    }

    /// Whether the failing thing is the making of the session itself, or a fresh session's first use.
    fn connecting(&self, at: At, place: At) -> bool {
        let scope = self.client.scope;
        // A call that makes, uses and drops a session of its own leaves none that a new one could replace (contract 5).
        let own = |origin: At| {
            self.act == Act::Rebuilt
                && self.client.deeds_of(origin).has(Deeds::INITIALISES)
                && self.unconditional(origin)
        };
        scope.origins(place).into_iter().any(|origin| self.client.makes_session(origin) || own(origin)) || self.fresh(at)
    }

    /// Whether the session that is held at the place was made in the same branch before: no older one can be lost there.
    fn fresh(&self, at: At) -> bool {
        let body = self.client.scope.body(at.fx);
        self.client.makers(at.fx).iter().any(|id| {
            let before =
                body.range(*id) < body.range(at.id) && body.within(at.id, bound(body, arm(body, *id)));
            before && !body.within(at.id, *id) && self.unconditional(At { id: *id, ..at })
        })
    }

    /// Whether a call that makes a session does so whatever is held already.
    fn unconditional(&self, at: At) -> bool {
        let client = self.client;
        let asks =
            |fx: Fx, id: Id| {
                known(client.scope.body(fx), id).into_iter().any(|fact| {
                    let (Known::True(id)
                    | Known::False(id)
                    | Known::Is(_, id)
                    | Known::Not(_, id)
                    | Known::Failed(id)) = fact;
                    client.holds_session(At { fx, id })
                        || client.scope.origins(At { fx, id }).iter().any(|origin| {
                            client.slot(*origin).is_some_and(|slot| client.keeps_session(&slot))
                        })
                })
            };
        if asks(at.fx, at.id) {
            return false;
        }
        // One that is held already is given back before a new one is made: `get_or_connect`.
        !client.scope.callees(at).iter().any(|fx| {
            client.ids(*fx).any(|id| {
                let gives = matches!(client.scope.body(*fx).kind(id), Kind::Return(Some(_)));
                (gives || client.deeds_of(At { fx: *fx, id }).has(Deeds::INITIALISES)) && asks(*fx, id)
            })
        })
    }
}

/// Where the value of a branch is bound, `let handle = match kind { … }`: the arm that the binding stands in.
fn bound(body: &Body, branch: Id) -> Id {
    let mut child = branch;
    for (parent, _) in body.ancestors(branch) {
        match body.kind(parent) {
            Kind::Match(..) | Kind::If(..) | Kind::Try(_) | Kind::Await(_) | Kind::Block(_, true) => {
                child = parent
            }
            Kind::Let(_, Some(init), _) if *init == child => return bound(body, arm(body, parent)),
            _ => return branch,
        }
    }
    branch
}
