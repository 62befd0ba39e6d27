//! The cursor never reaches storage, so a restart loses it.
//!
//! # What happens
//!
//! The id of the last event lives in a local variable or a field and is written nowhere.
//!
//! # Why it matters
//!
//! After a restart the client holds no cursor: resuming is impossible, and a blind retry may repeat a side effect (contract
//! 3.2: `CursorNeverPersisted`).
//!
//! # Flagged
//!
//! ```flagged
//! async fn listen(http: &reqwest::Client, session: &str) {
//!     let mut cursor: Option<String> = None;
//!     loop {
//!         let mut request = http.get("/mcp").header("Mcp-Session-Id", session);
//!         if let Some(id) = &cursor {
//!             request = request.header("Last-Event-ID", id);
//!         }
//!         let mut events = request.send().await.unwrap().bytes_stream().eventsource();
//!         while let Some(Ok(event)) = events.next().await {
//!             cursor = Some(event.id);
//!         }
//!     }
//! }
//! ```
//!
//! # Accepted
//!
//! ```accepted
//! async fn listen(http: &reqwest::Client, session: &str, store: &Store) {
//!     let mut cursor: Option<String> = store.load();
//!     loop {
//!         let mut request = http.get("/mcp").header("Mcp-Session-Id", session);
//!         if let Some(id) = &cursor {
//!             request = request.header("Last-Event-ID", id);
//!         }
//!         let mut events = request.send().await.unwrap().bytes_stream().eventsource();
//!         while let Some(Ok(event)) = events.next().await {
//!             cursor = Some(event.id);
//!             store.save_cursor(&cursor);
//!         }
//!     }
//! }
//! ```
//!
//! # Instead
//!
//! Write session id, stream and cursor as one token after each event, or give the application a callback that does.
//!
//! # Limits
//!
//! One finding per cursor, at its declaration where the function that sets it does not resume itself. A write is told by the name of what the cursor is given to: save, store, persist and the like, or a
//! function marked with `store = …`. A client that never resumes at all is `resume-without-cursor`'s matter.

use super::unchecked_resume::{is_cursor, resumes};
use super::{Claim, Report};
use crate::client::{Client, Header, Slot};
use crate::facts::ir::{Id, Kind, Name, PatKind, Sort};
use crate::finding::Certainty;
use crate::scope::{At, Binding};
use std::collections::BTreeSet;
use unbroken_contract::Breach;

pub(super) fn check(client: &Client<'_>, report: &mut Report) {
    let mut found: Vec<(At, At, Kept)> = Vec::new();
    for fx in client.functions() {
        let reopens = resumes(client, fx);
        for id in client.scope.body(fx).of(Sort::Assign) {
            let at = At { fx, id: *id };
            let Kind::Assign(left, right) = client.scope.kind(at) else { continue };
            // A cursor that is let go of needs no storage (contract 3.2: it goes with its session).
            if client.scope.body(fx).is_none(*right) {
                continue;
            }
            let (left, right) = (At { id: *left, ..at }, At { id: *right, ..at });
            if let Some(kept) = kept(client, left, reopens).filter(|_| !stored(client, left, right)) {
                found.push((at, left, kept));
            }
        }
    }
    // The place that resumes tells more than a field that several functions share.
    found.sort_by_key(|(.., kept)| matches!(kept, Kept::Field(..)));
    let mut seen = BTreeSet::new();
    for (at, left, kept) in found {
        if seen.insert(root(client, left)) {
            state(client, at, kept, report);
        }
    }
}

/// Where a cursor is kept, in the words of the reader: the place that one finding stands at.
#[derive(Debug)]
enum Kept {
    At(At),
    Field(Name, Name),
}

fn state(client: &Client<'_>, set: At, kept: Kept, report: &mut Report) {
    let at = match &kept {
        Kept::At(at) => *at,
        Kept::Field(..) => set,
    };
    let declared = match &kept {
        Kept::At(_) => None,
        Kept::Field(ty, field) => client.scope.field_place(ty, field),
    };
    let claim = Claim {
        breach: Breach::CursorNotPersisted,
        certainty: Certainty::Likely,
        at,
        message: "the cursor lives only in memory; a restart loses it".into(),
        help: "hand each new cursor to storage, together with its session and stream",
        here: "this cursor is written nowhere".into(),
        story: if at == set { Vec::new() } else { vec![(set, "it is set here".to_owned())] },
        client,
    };
    match declared {
        Some((path, range)) => report.claim_declared(claim, path, range, "it is set here"),
        None => report.claim(claim),
    }
}

/// Where the cursor that an assignment sets is kept, if it is one that a stream of the session is resumed with.
fn kept(client: &Client<'_>, left: At, reopens: bool) -> Option<Kept> {
    if reopens && is_cursor(client, left) {
        return Some(Kept::At(declared(client, left)));
    }
    match client.slot(left)? {
        slot @ Slot::Field(..) if client.cursors.contains(&slot) => {
            let Slot::Field(ty, field) = slot else { return None };
            Some(Kept::Field(ty, field))
        }
        // A shared cell that is handed in: the function that resumes with it is the place to mend.
        Slot::Param(fx, index) => client.scope.arguments(fx, index).into_iter().find_map(|arg| {
            let slot = client.slot(arg).filter(|slot| client.cursors.contains(slot))?;
            match slot {
                Slot::Field(ty, field) => Some(Kept::Field(ty, field)),
                _ => Some(Kept::At(sent(client, arg))),
            }
        }),
        _ => None,
    }
}

/// The header that a function resumes with, else the place itself.
fn sent(client: &Client<'_>, at: At) -> At {
    let set = client.headers(at.fx).iter().find(|used| used.header == Header::Cursor && used.value.is_some());
    set.map_or(at, |used| used.at)
}

/// One cursor: a field of a type, or a local of a function; a cell that is handed in is its giver's.
fn root(client: &Client<'_>, at: At) -> String {
    let mut slot = client.slot(at);
    for _ in 0..4 {
        let Some(Slot::Param(fx, index)) = slot else { break };
        let given = client.scope.arguments(fx, index).into_iter().find_map(|arg| client.slot(arg));
        let Some(given) = given else { break };
        slot = Some(given);
    }
    match slot {
        Some(Slot::Field(ty, field)) => format!("{ty}.{field}"),
        _ => format!("{} {}", client.scope.file(at.fx).path.display(), client.scope.function(at.fx).item()),
    }
}

/// The `let` of a local, else the place itself.
fn declared(client: &Client<'_>, at: At) -> At {
    let body = client.scope.body(at.fx);
    let Some(name) = body.local(body.peel(at.id)) else { return at };
    let Some(Binding::Let { pat, .. }) = client.scope.binding(at.fx, name, at.id) else { return at };
    let is = |id: &Id| matches!(body.kind(*id), Kind::Let(found, ..) if *found == pat);
    let plain = matches!(body.pat(pat).kind, PatKind::Bind(_, None));
    body.of(Sort::Let).iter().copied().find(is).filter(|_| plain).map_or(at, |id| At { id, ..at })
}

/// Whether the cursor, here or in a function of the same type, is given to something that keeps it: itself, or the value
/// that is assigned to it.
fn stored(client: &Client<'_>, at: At, value: At) -> bool {
    let same = |id: Id| {
        let body = client.scope.body(value.fx);
        let bound = |id| body.local(id).and_then(|name| client.scope.binding(value.fx, name, id));
        bound(id).is_some_and(|one| body.any_of(Sort::Path, value.id, |id| bound(id) == Some(one)))
    };
    let mates = client.scope.mates(at.fx).iter().copied().filter(|fx| *fx != at.fx).chain([at.fx]);
    mates.into_iter().any(|fx| {
        let marks = &client.scope.function(fx).marks.store;
        let body = client.scope.body(fx);
        body.of(Sort::Call).iter().any(|id| {
            let (name, args, file) = match body.kind(*id) {
                Kind::Method(_, name, args) => (name, args, false),
                Kind::Call(callee, args) => match body.kind(*callee) {
                    Kind::Path(path) => match path.as_slice() {
                        [.., module, name] => (name, args, &**module == "fs" && &**name == "write"),
                        [name] => (name, args, false),
                        [] => return false,
                    },
                    _ => return false,
                },
                _ => return false,
            };
            let lower = name.to_lowercase();
            let keeps = marks.contains(name)
                || file
                || ["save", "persist", "store_", "write_", "checkpoint", "upsert", "resumption"]
                    .iter()
                    .any(|word| lower.contains(word));
            let given = |id: Id| is_cursor(client, At { fx, id }) || fx == value.fx && same(id);
            keeps && args.iter().any(|arg| body.any_inside(*arg, given))
        })
    })
}

#[cfg(test)]
mod tests {
    fn found(keep: &str) -> usize {
        let text = format!(
            r#"struct Client {{ http: reqwest::Client, last_event_id: Option<String> }}
impl Client {{
    async fn listen(&mut self) -> Result<(), Error> {{
        for _ in 0..8 {{
            let request = self.http.get("/mcp").header("Mcp-Session-Id", "s").header("Last-Event-ID", self.last_event_id.clone());
            let mut events = request.send().await?.bytes_stream().eventsource();
            while let Some(Ok(event)) = events.next().await {{
                {keep}
                self.last_event_id = Some(event.id);
            }}
        }}
        Err(Error::Ended)
    }}
}}
"#
        );
        let file = crate::SourceFile { path: "src/lib.rs".into(), text };
        let findings = crate::check_crate(vec![file], &crate::Settings::default()).findings;
        findings.iter().filter(|it| it.breach == unbroken_contract::Breach::CursorNotPersisted).count()
    }

    #[test]
    fn what_is_written_to_a_file_before_it_is_kept_is_persisted() {
        assert_eq!(found(""), 1);
        assert_eq!(found("let id = event.id; tracing::debug!(id);"), 1);
        assert_eq!(found("std::fs::write(CURSOR, &event.id)?;"), 0);
        assert_eq!(found("tokio::fs::write(CURSOR, other)?;"), 1);
    }
}
