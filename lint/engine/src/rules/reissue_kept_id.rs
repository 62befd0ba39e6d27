//! A stateless request is sent again with the id of one that is still unanswered.
//!
//! # What happens
//!
//! A client of the stateless revision posts a request, its stream ends or fails without the answer, and the client posts the
//! same message once more: with the same JSON-RPC id.
//!
//! # Why it matters
//!
//! The first request may still run, and both answers would carry one id. A request that is sent again after its stream was
//! closed has a new JSON-RPC id (contract 2); whether it may be sent again at all is another question (contract 3.6).
//!
//! # Flagged
//!
//! ```flagged
//! impl Client {
//!     async fn ask(&self, request: JsonRpcRequest) -> Result<Value, Error> {
//!         for _ in 0..3 {
//!             let sent = self.http.post(&self.url).header("Mcp-Method", request.method.as_str()).json(&request).send().await;
//!             if let Ok(response) = sent {
//!                 return Ok(response.json().await?);
//!             }
//!         }
//!         Err(Error::GaveUp)
//!     }
//! }
//! ```
//!
//! # Accepted
//!
//! ```accepted
//! impl Client {
//!     async fn ask(&self, mut request: JsonRpcRequest) -> Result<Value, Error> {
//!         for _ in 0..3 {
//!             request.id = self.ids.fetch_add(1, Ordering::Relaxed);
//!             let sent = self.http.post(&self.url).header("Mcp-Method", request.method.as_str()).json(&request).send().await;
//!             if let Ok(response) = sent {
//!                 return Ok(response.json().await?);
//!             }
//!         }
//!         Err(Error::GaveUp)
//!     }
//! }
//! ```
//!
//! # Instead
//!
//! Build the message anew for each send, with the next id of the process.
//!
//! # Limits
//!
//! Only functions that set the `Mcp-Method` header are judged, which no sessioned revision knows. A retry that stands around
//! the function, or an id that a callee sets, is not seen.

use super::{Claim, Report};
use crate::client::{Client, Deeds};
use crate::facts::ir::{Body, Head, Id, Kind};
use crate::finding::Certainty;
use crate::flow::loops;
use crate::scope::{At, Fx};
use unbroken_contract::Breach;

pub(super) fn check(client: &Client<'_>, report: &mut Report) {
    for fx in client.functions().filter(|fx| stateless(client, *fx)) {
        let body = client.scope.body(fx);
        for id in body.ids() {
            if !posts(client, At { fx, id }) || !repeats(body, id) {
                continue;
            }
            report.claim(Claim {
                breach: Breach::ReissueKeptId,
                certainty: Certainty::Likely,
                at: At { fx, id },
                message: "a stateless request is sent again with the id of its first send".into(),
                help: "give each send of a request a JSON-RPC id of its own",
                here: "the same message, and the same id, in every round".into(),
                story: Vec::new(),
                client,
            });
        }
    }
}

/// A function that speaks the stateless revision: it names the method in a header, and no session.
fn stateless(client: &Client<'_>, fx: Fx) -> bool {
    let says = |id: Id| client.scope.text(At { fx, id }).is_some_and(|text| text.eq_ignore_ascii_case("mcp-method"));
    client.own(fx).has(Deeds::SENDS) && !client.own(fx).has(Deeds::SESSION) && client.ids(fx).any(says)
}

/// `request.….json(&message).send()`.
fn posts(client: &Client<'_>, at: At) -> bool {
    matches!(client.scope.kind(at), Kind::Method(_, name, args) if &**name == "send" && args.is_empty())
}

/// Whether a loop that counts, or never ends, sends what was made before it and sets no id.
fn repeats(body: &Body, id: Id) -> bool {
    let Some(outer) = loops(body, id).first().copied() else { return false };
    let Kind::Loop(head, inside, _) = body.kind(outer) else { return false };
    let again = match head {
        Head::Forever => true,
        Head::For(_, iter) => matches!(body.kind(*iter), Kind::Other(parts) if parts.len() == 2),
        Head::While(_) => true,
    };
    let nodes = body.inside(*inside);
    let renews = nodes.iter().any(|id| match body.kind(*id) {
        Kind::Assign(left, _) => matches!(body.kind(body.peel(*left)), Kind::Field(_, name) if &**name == "id"),
        Kind::Struct(_, fields, _) => fields.iter().any(|(name, _)| &**name == "id"),
        Kind::Method(_, name, _) => name.contains("next_id") || name.contains("with_id") || name.contains("new_id") || &**name == "fetch_add" || name.starts_with("recv"),
        Kind::Call(callee, _) => body.last_segment(*callee).is_some_and(|name| name.contains("next_id") || name.contains("new_v4") || name.contains("generate_id")),
        Kind::Macro(name, parts) => &**name == "json" && !parts.is_empty(),
        _ => false,
    });
    let carries = nodes.iter().any(|id| matches!(body.kind(*id), Kind::Method(_, name, args) if matches!(&**name, "json" | "body") && args.len() == 1));
    again && carries && !renews
}
