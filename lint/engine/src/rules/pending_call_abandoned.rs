//! The session is given up while calls wait for their answers, and nobody tells them.
//!
//! # What happens
//!
//! The client keeps a table of calls that wait for a response. It forgets its session, or starts a new one, and leaves the table
//! as it is: the responses will never come, and the callers wait until their own deadline, or for ever.
//!
//! # Why it matters
//!
//! The outcome of each of these calls is unknown, and only the client knows that (contract 3.2: `Reinitialize` reconciles what was
//! in flight). A caller that is not told cannot ask what became of its call (contract 3.6).
//!
//! # Flagged
//!
//! ```flagged
//! struct Client { http: reqwest::Client, session: Option<String>, pending: HashMap<u64, oneshot::Sender<Response>> }
//! impl Client {
//!     async fn post(&mut self, body: String) -> Result<(), Error> {
//!         let response = self.http.post("/mcp").header("Mcp-Session-Id", self.session.clone()).body(body).send().await?;
//!         if response.status() == StatusCode::NOT_FOUND {
//!             self.session = None;
//!             return self.initialize().await;
//!         }
//!         Ok(())
//!     }
//! }
//! ```
//!
//! # Accepted
//!
//! ```accepted
//! struct Client { http: reqwest::Client, session: Option<String>, pending: HashMap<u64, oneshot::Sender<Response>> }
//! impl Client {
//!     async fn post(&mut self, body: String) -> Result<(), Error> {
//!         let response = self.http.post("/mcp").header("Mcp-Session-Id", self.session.clone()).body(body).send().await?;
//!         if response.status() == StatusCode::NOT_FOUND {
//!             self.session = None;
//!             for (_, waiting) in self.pending.drain() {
//!                 let _ = waiting.send(Response::outcome_unknown());
//!             }
//!             return self.initialize().await;
//!         }
//!         Ok(())
//!     }
//! }
//! ```
//!
//! # Instead
//!
//! Wherever the session is given up, drain the table and answer every waiting call with an error that says its outcome is unknown.
//!
//! # Limits
//!
//! Only a table of one-shot senders in a field of the same type as the session id is seen; a table that another task drains when a
//! channel closes is not.

use super::session_discarded::{Act, act, purpose};
use super::{Claim, Report};
use crate::client::{Client, Slot};
use crate::facts::ir::Name;
use crate::finding::Certainty;
use crate::scope::At;
use std::collections::BTreeSet;
use unbroken_contract::Breach;

pub(super) fn check(client: &Client<'_>, report: &mut Report) {
    let tables: Vec<Slot> = client.scope.all_types().flat_map(|(_, def)| tables(def)).collect();
    if tables.is_empty() {
        return;
    }
    let mut told = BTreeSet::new();
    for fx in client.functions() {
        let Some(owner) = &client.scope.function(fx).owner else { continue };
        let of_type = |slot: &&Slot| matches!(slot, Slot::Field(ty, _) if ty == owner);
        let Some(Slot::Field(_, table)) = tables.iter().filter(of_type).find(|slot| !client.renews(fx, slot)) else {
            continue;
        };
        for id in client.ids(fx) {
            let at = At { fx, id };
            if gives_up(client, at) && told.insert(owner.clone()) {
                state(client, at, table, report);
            }
        }
    }
}

/// The fields of a type that keep calls until their answers come.
fn tables(def: &crate::facts::TypeDef) -> Vec<Slot> {
    let map = |name: &Name| matches!(&**name, "HashMap" | "BTreeMap" | "DashMap" | "IndexMap");
    let fields = def.fields.iter().filter(|field| {
        let text = &field.ty;
        !def.test && text.0.iter().any(map) && text.has("oneshot") && text.has("Sender")
    });
    fields.map(|field| Slot::Field(def.name.clone(), field.name.clone())).collect()
}

fn gives_up(client: &Client<'_>, at: At) -> bool {
    matches!(act(client, at), Some(act @ (Act::Cleared | Act::Ended)) if purpose(client, act, at).is_none())
}

fn state(client: &Client<'_>, at: At, table: &Name, report: &mut Report) {
    report.claim(Claim {
        breach: Breach::PendingCallAbandoned,
        certainty: Certainty::Possible,
        at,
        message: super::short(format!("the session is given up, the calls in `{table}` go on waiting")),
        help: "answer every waiting call with an error that says its outcome is unknown",
        here: "the session is given up".into(),
        story: Vec::new(),
        client,
    });
}
