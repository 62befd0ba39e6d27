//! Answers about whole functions, found when first asked: places of one function ask the same again and again.
//! Knows no rule; an answer depends on the crate alone, never on who asked before.

use super::{Client, Deeds};
use crate::facts::ir::{Id, Sort};
use crate::finding::{Certainty, Problem};
use crate::index::Index;
use crate::scope::{At, Fx};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;

/// The answers so far.
#[derive(Default)]
pub(super) struct Asked {
    makers: RefCell<Index<Fx, Rc<[Id]>>>,
    sends: RefCell<Index<Fx, Sending>>,
    cut: RefCell<BTreeSet<At>>,
}

/// Calls of a function that send a `tools/call`, in order of their ids, and how sure that is.
pub(crate) type Sending = Rc<[(Id, Certainty)]>;

impl Client<'_> {
    /// Notes that a search from the place ended at its bound: what is beyond was not judged.
    pub(crate) fn cut(&self, at: At) {
        self.asked.cut.borrow_mut().insert(at);
    }

    /// What was judged in part: once a file, at its first place, with the number of functions.
    pub(crate) fn judged_in_part(&self) -> Vec<Problem> {
        let mut files: BTreeMap<&Path, (At, BTreeSet<Fx>)> = BTreeMap::new();
        for at in self.asked.cut.borrow().iter() {
            let (_, functions) =
                files.entry(&self.scope.file(at.fx).path).or_insert_with(|| (*at, BTreeSet::new()));
            functions.insert(at.fx);
        }
        let problem = |(path, (at, functions)): (&Path, (At, BTreeSet<Fx>))| {
            let more = match functions.len() {
                1 => String::new(),
                count => format!(", in {count} functions of the file"),
            };
            Problem {
                path: path.to_owned(),
                range: Some(self.scope.range(at)),
                message: format!("more ways lead here than are followed{more}; judged in part"),
                help: "read by hand what leads here, or exclude the file".into(),
            }
        };
        files.into_iter().map(problem).collect()
    }

    /// The calls of a function that send a `tools/call`, and how sure that is, as `find` tells when it is first asked.
    pub(crate) fn sends(&self, fx: Fx, find: impl FnOnce() -> Sending) -> Sending {
        self.asked.sends.borrow_mut().entry(fx).or_insert_with(find).clone()
    }

    /// Whether the call makes a new session and calls no tool; where only a failed request makes one, that is decided inside.
    #[must_use]
    pub(crate) fn makes_session(&self, at: At) -> bool {
        let deeds = self.deeds_of(at);
        deeds.has(Deeds::STARTS) && !deeds.has(Deeds::CALLS)
    }

    /// Whether the function speaks of `initialize` itself, or has a function that sends nothing word it.
    #[must_use]
    pub(crate) fn greets(&self, fx: Fx) -> bool {
        if self.own(fx).has(Deeds::INITIALISES) {
            return true;
        }
        let words = |callee: Fx| {
            let own = self.own(callee);
            let sends = own.has(Deeds::SENDS) || own.has(Deeds::CALLS);
            own.has(Deeds::INITIALISES) && !sends && !self.scope.function(callee).ret.has("bool")
        };
        self.scope.called_by(fx).any(words)
    }

    /// The nodes of a function that make a session and call no tool.
    pub(crate) fn makers(&self, fx: Fx) -> Rc<[Id]> {
        let calls = || self.scope.body(fx).of(Sort::Call).iter().copied();
        let find = || calls().filter(|id| self.makes_session(At { fx, id: *id })).collect();
        self.asked.makers.borrow_mut().entry(fx).or_insert_with(find).clone()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_judged_in_part_is_named_once_for_each_file() {
        let found = |callers: usize| {
            let mut text = String::from(
                "struct Client { http: reqwest::Client, session: Option<String> }
impl Client {
    async fn post(&self) -> Result<Response, Error> {
        self.http.post(URL).header(\"Mcp-Session-Id\", self.session.clone()).send().await
    }
    fn forget(&mut self) {
        self.session = None;
    }
    fn lose(&mut self) {
        self.session.take();
    }
",
            );
            for at in 0..callers {
                text.push_str(&format!("    fn act_{at}(&mut self) {{ self.forget(); self.lose(); }}\n"));
            }
            text.push('}');
            let file = crate::SourceFile { path: "src/lib.rs".into(), text };
            let outcome = crate::check_crate(vec![file], &crate::Settings::default());
            outcome.problems.into_iter().map(|it| it.message).collect::<Vec<_>>()
        };
        assert!(found(100).is_empty());
        assert_eq!(
            found(700),
            ["more ways lead here than are followed, in 2 functions of the file; judged in part"]
        );
    }
}
