//! What a match says: variants of errors and what every place that builds them had found out, statuses, answers.
//! Knows patterns; tests are another matter.

use super::super::stream::{deadline, reads_stream};
use super::super::words::{by_name, named_status, phrase};
use super::super::{Known, known};
use super::{Cause, Judge, Why, both, either};
use crate::facts::ir::{Body, Kind, Name, PatId, PatKind};
use crate::scope::At;
use crate::sdk::{self, Meaning};

impl Judge<'_> {
    pub(super) fn is(&self, at: At, pat: PatId, depth: u8) -> Cause {
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
    pub(super) fn answered(&self, at: At, flag: bool, depth: u8) -> Cause {
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
    pub(super) fn inner(&self, at: At, pat: PatId, depth: u8) -> Cause {
        self.is(at, pat, depth)
    }

    pub(super) fn variant(&self, at: At, path: &[Name], subs: &[PatId], depth: u8) -> Cause {
        let Some(name) = path.last() else { return Cause::Unknown };
        let inside = || subs.iter().map(|sub| self.inner(at, *sub, depth)).fold(Cause::Unknown, both);
        match &**name {
            "Ok" | "Some" | "Ready" => {
                // What is inside the outcome of a deadline failed by itself, in time.
                return match inside() {
                    Cause::Unknown => self.downcast(at, depth),
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
    pub(super) fn meaning(&self, at: At, on: Option<&Name>, name: &Name, depth: u8) -> Cause {
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
    pub(super) fn built(&self, on: Option<&Name>, name: &Name, depth: u8) -> Option<Cause> {
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

    pub(super) fn shallow(&self, at: At, fact: Known, depth: u8) -> Cause {
        match fact {
            Known::True(id) => self.holds(At { id, ..at }, depth),
            Known::False(id) => self.fails(At { id, ..at }, depth),
            Known::Is(pat, id) => self.is(At { id, ..at }, pat, depth),
            Known::Not(..) | Known::Failed(_) => Cause::Unknown,
        }
    }

    pub(super) fn not(&self, at: At, pat: PatId) -> Cause {
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
    pub(super) fn ended(&self, at: At) -> Cause {
        if reads_stream(self.scope, at) { Cause::Other(at, Why::End) } else { Cause::Unknown }
    }
}

fn plain(body: &Body, pat: PatId) -> bool {
    matches!(body.pat(pat).kind, PatKind::Wild | PatKind::Bind(_, None))
}
