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
//! One finding per cursor. A write is told by the name of what the cursor is given to: save, store, persist and the like, or a
//! function marked with `store = …`. A client that never resumes at all is `resume-without-cursor`'s matter.

use super::unchecked_resume::{is_cursor, resumes};
use super::{Claim, Report};
use crate::client::{Client, Slot};
use crate::facts::ir::{Kind, PatKind};
use crate::finding::Certainty;
use crate::scope::{At, Binding};
use std::collections::BTreeSet;
use unbroken_contract::Breach;

pub(super) fn check(client: &Client<'_>, report: &mut Report) {
    let mut seen = BTreeSet::new();
    for fx in client.functions() {
        if !resumes(client, fx) {
            continue;
        }
        for id in client.ids(fx) {
            let at = At { fx, id };
            let Kind::Assign(left, _) = client.scope.kind(at) else { continue };
            let left = At { id: *left, ..at };
            if !is_cursor(client, left) || !seen.insert(key(client, left)) || stored(client, left) {
                continue;
            }
            report.claim(Claim {
                breach: Breach::CursorNotPersisted,
                certainty: Certainty::Likely,
                at: declared(client, left),
                message: "the cursor lives only in memory; a restart loses it".into(),
                help: "Hand each new cursor to storage, together with its session and stream.",
                here: "this cursor is written nowhere".into(),
                story: vec![(at, "it is set here".to_owned())],
                client,
            });
        }
    }
}

/// One cursor: a field of a type, or a local of a function.
fn key(client: &Client<'_>, at: At) -> String {
    match client.slot(at) {
        Some(Slot::Field(ty, field)) => format!("{ty}.{field}"),
        _ => format!("{} {}", client.scope.file(at.fx).path.display(), client.scope.function(at.fx).item()),
    }
}

/// The `let` of a local, else the place itself.
fn declared(client: &Client<'_>, at: At) -> At {
    let body = client.scope.body(at.fx);
    let Some(name) = body.local(body.peel(at.id)) else { return at };
    let Some(Binding::Let { pat, .. }) = client.scope.binding(at.fx, name, at.id) else { return at };
    let is = |id: &crate::facts::ir::Id| matches!(body.kind(*id), Kind::Let(found, ..) if *found == pat);
    let plain = matches!(body.pat(pat).kind, PatKind::Bind(_, None));
    body.ids().find(is).filter(|_| plain).map_or(at, |id| At { id, ..at })
}

/// Whether the cursor, here or in a function of the same type, is given to something that keeps it.
fn stored(client: &Client<'_>, at: At) -> bool {
    let mates = client.scope.mates(at.fx).iter().copied().filter(|fx| *fx != at.fx).chain([at.fx]);
    mates.into_iter().any(|fx| {
        let marks = &client.scope.function(fx).marks.store;
        client.ids(fx).any(|id| {
            let body = client.scope.body(fx);
            let (name, args) = match body.kind(id) {
                Kind::Method(_, name, args) => (name, args),
                Kind::Call(callee, args) => match body.last_segment(*callee) {
                    Some(name) => (name, args),
                    None => return false,
                },
                _ => return false,
            };
            let lower = name.to_lowercase();
            let keeps = marks.contains(name)
                || ["save", "persist", "store_", "write_", "checkpoint", "upsert", "resumption"].iter().any(|word| lower.contains(word));
            keeps && args.iter().any(|arg| body.inside(*arg).into_iter().any(|id| is_cursor(client, At { fx, id })))
        })
    })
}
