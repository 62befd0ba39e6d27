//! A session is ended by DELETE because of an error that says nothing about it.
//!
//! # What happens
//!
//! An error arm, or the way to a reconnect, sends the DELETE that ends the session on the server.
//!
//! # Why it matters
//!
//! The session was alive, with the calls that run in it. After the DELETE nobody can learn their outcome, and the server may stop
//! them half-way (contract 3.2: a client that gives up keeps the session, and never sends DELETE).
//!
//! # Flagged
//!
//! ```flagged
//! struct Client { http: reqwest::Client, session: String }
//! impl Client {
//!     async fn end(&self) {
//!         let _ = self.http.delete("/mcp").header("Mcp-Session-Id", &self.session).send().await;
//!     }
//!     async fn post(&self, body: String) -> Result<Response, Error> {
//!         match self.http.post("/mcp").header("Mcp-Session-Id", &self.session).body(body).send().await {
//!             Ok(response) => Ok(response),
//!             Err(error) => {
//!                 self.end().await;
//!                 Err(error)
//!             }
//!         }
//!     }
//! }
//! ```
//!
//! # Accepted
//!
//! ```accepted
//! struct Client { http: reqwest::Client, session: String }
//! impl Client {
//!     async fn end(&self) {
//!         let _ = self.http.delete("/mcp").header("Mcp-Session-Id", &self.session).send().await;
//!     }
//!     async fn close(self) {
//!         self.end().await;
//!     }
//! }
//! ```
//!
//! # Instead
//!
//! Send DELETE only when the user is done: in `close`, on shutdown, when the handle is dropped. After an error, resume.
//!
//! # Limits
//!
//! A DELETE that an SDK sends when its handle is cancelled is `session-discarded`. Decisions more than five calls away are not seen.

use super::session_discarded::{Act, ways};
use super::{Claim, Report, short};
use crate::client::{Client, Deeds};
use crate::facts::ir::Kind;
use crate::finding::Certainty;
use crate::scope::At;
use unbroken_contract::Breach;

pub(super) fn check(client: &Client<'_>, report: &mut Report) {
    for fx in client.functions().filter(|fx| client.own(*fx).has(Deeds::DELETE.with(Deeds::SESSION))) {
        for at in client.ids(fx).map(|id| At { fx, id }).filter(|at| deletes(client, *at)) {
            for way in &ways(client, Act::Deleted, at).wrong {
                report.claim(Claim {
                    breach: Breach::SessionEndedOnTransient,
                    certainty: Certainty::Likely,
                    at: way.trigger(),
                    message: short(format!("the session is ended by DELETE after {}", way.why.words())),
                    help: "keep the session after an error and resume; end it only when the user is done",
                    here: "this ends the session".into(),
                    story: vec![(way.cause, format!("reached after {}", way.why.words()))],
                    client,
                });
            }
        }
    }
}

/// Whether the node is the DELETE itself.
fn deletes(client: &Client<'_>, at: At) -> bool {
    match client.scope.kind(at) {
        Kind::Method(_, name, args) => {
            &**name == "delete" && args.len() == 1 && client.scope.callees(at).is_empty()
        }
        Kind::Path(path) => matches!(path.as_slice(), [.., ty, name] if &**ty == "Method" && &**name == "DELETE"),
        _ => false,
    }
}
