//! A cursor is kept although the session that issued it was given up.
//!
//! # What happens
//!
//! The client forgets its session id, and the next request starts a new session, but the `Last-Event-ID` of the old one stays
//! where it was and goes out with the next GET.
//!
//! # Why it matters
//!
//! Session id and cursor were issued together and are dropped together (contract 3.2: `Reinitialize`). A server that is shown a
//! cursor it never issued refuses the stream, or replays events of somebody else's.
//!
//! # Flagged
//!
//! ```flagged
//! struct Client { http: reqwest::Client, session: Option<String>, last_event_id: Option<String> }
//! impl Client {
//!     async fn listen(&mut self) -> Result<(), Error> {
//!         let mut request = self.http.get("/mcp").header("Mcp-Session-Id", self.session.clone());
//!         if let Some(cursor) = &self.last_event_id {
//!             request = request.header("Last-Event-ID", cursor);
//!         }
//!         let response = request.send().await?;
//!         if response.status() == StatusCode::NOT_FOUND {
//!             self.session = None;
//!             return Err(Error::SessionExpired);
//!         }
//!         self.read(response).await
//!     }
//! }
//! ```
//!
//! # Accepted
//!
//! ```accepted
//! struct Client { http: reqwest::Client, session: Option<String>, last_event_id: Option<String> }
//! impl Client {
//!     async fn listen(&mut self) -> Result<(), Error> {
//!         let mut request = self.http.get("/mcp").header("Mcp-Session-Id", self.session.clone());
//!         if let Some(cursor) = &self.last_event_id {
//!             request = request.header("Last-Event-ID", cursor);
//!         }
//!         let response = request.send().await?;
//!         if response.status() == StatusCode::NOT_FOUND {
//!             self.session = None;
//!             self.last_event_id = None;
//!             return Err(Error::SessionExpired);
//!         }
//!         self.read(response).await
//!     }
//! }
//! ```
//!
//! # Instead
//!
//! Keep session id and cursor in one value, so that dropping the one drops the other.
//!
//! # Limits
//!
//! Only a cursor in a field of the same type as the session id is seen; one in a local, a map or another type is not.

use super::session_discarded::{Act, Purpose, clears, purpose};
use super::{Claim, Report};
use crate::client::{Client, Slot};
use crate::facts::ir::{Id, Kind, Sort};
use crate::finding::Certainty;
use crate::scope::At;
use std::collections::BTreeSet;
use unbroken_contract::Breach;

pub(super) fn check(client: &Client<'_>, report: &mut Report) {
    let mut told = BTreeSet::new();
    if !client.cursors.iter().any(|slot| matches!(slot, Slot::Field(..))) {
        return;
    }
    for fx in client.functions() {
        let body = client.scope.body(fx);
        let clears = |id: &&Id| clears(client, At { fx, id: **id });
        let mut places: Vec<Id> = body.of(Sort::Assign).iter().chain(body.of(Sort::Call)).filter(clears).copied().collect();
        places.sort_unstable();
        for id in places {
            let at = At { fx, id };
            if purpose(client, Act::Cleared, at) == Some(Purpose::Ends) {
                continue;
            }
            let Some(Slot::Field(ty, _)) = cleared(client, at) else { continue };
            let mut cursors = client.cursors.iter().filter(|slot| matches!(slot, Slot::Field(of, _) if *of == ty));
            // One report for each type: every place that forgets the session forgets the same cursor.
            if let Some(Slot::Field(_, cursor)) = cursors.find(|slot| !client.renews(fx, slot))
                && told.insert((ty, cursor.clone()))
            {
                report.claim(Claim {
                    breach: Breach::CursorOutlivesSession,
                    certainty: Certainty::Likely,
                    at,
                    message: super::short(format!("the session is forgotten, its cursor `{cursor}` is kept")),
                    help: "drop the cursor wherever the session id is dropped; they were issued together",
                    here: "only the session id is forgotten".into(),
                    story: Vec::new(),
                    client,
                });
            }
        }
    }
}

/// The slot that a clearing node clears.
fn cleared(client: &Client<'_>, at: At) -> Option<Slot> {
    let target = match client.scope.kind(at) {
        Kind::Assign(left, _) => *left,
        Kind::Method(receiver, ..) => *receiver,
        Kind::Call(_, args) => *args.first()?,
        _ => return None,
    };
    client.slot(At { id: target, ..at }).filter(|slot| client.sessions.contains(slot))
}
