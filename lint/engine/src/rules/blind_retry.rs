//! A tools/call is sent again although its first outcome is unknown.
//!
//! # What happens
//!
//! A retry loop, a retry combinator, or the arm of an error, sends a tool call again (or a request whose method nothing looks
//! at) after an error that says nothing of what the server did. Or a request whose send failed is put into a buffer that is
//! sent after the reconnect.
//!
//! # Why it matters
//!
//! The first call may have run, or may still run: the second repeats its effect, a payment or a mail, without anybody
//! noticing (contract 3.6).
//!
//! # Flagged
//!
//! ```flagged
//! use rmcp::service::RunningService;
//! struct Host { client: RunningService<RoleClient, ()> }
//! impl Host {
//!     async fn call(&self, params: CallToolRequestParam) -> Result<CallToolResult, Error> {
//!         for attempt in 1..=3 {
//!             match self.client.call_tool(params.clone()).await {
//!                 Ok(result) => return Ok(result),
//!                 Err(error) => log::warn!("attempt {attempt}: {error}"),
//!             }
//!         }
//!         Err(Error::GaveUp)
//!     }
//! }
//! ```
//!
//! ```flagged
//! use rmcp::service::RunningService;
//! struct Host { client: RunningService<RoleClient, ()> }
//! impl Host {
//!     async fn call(&self, params: CallToolRequestParam) -> Result<CallToolResult, Error> {
//!         (|| async { self.client.call_tool(params.clone()).await }).retry(ExponentialBuilder::default()).await
//!     }
//! }
//! ```
//!
//! ```flagged
//! use rmcp::service::RunningService;
//! struct Host { client: RunningService<RoleClient, ()> }
//! impl Host {
//!     async fn call(&mut self, params: CallToolRequestParam) -> Result<CallToolResult, Error> {
//!         match self.client.call_tool(params.clone()).await {
//!             Ok(result) => Ok(result),
//!             Err(_) => {
//!                 self.client = connect().await?;
//!                 Ok(self.client.call_tool(params).await?)
//!             }
//!         }
//!     }
//! }
//! ```
//!
//! ```flagged
//! struct Client { http: reqwest::Client, session: Option<String> }
//! impl Client {
//!     async fn call(&mut self, name: &str, arguments: Value) -> Result<Value, Error> {
//!         let params = json!({ "name": name, "arguments": arguments });
//!         match self.request("tools/call", params.clone()).await {
//!             Ok(result) => Ok(result),
//!             Err(_) => self.request("tools/call", params).await,
//!         }
//!     }
//!     async fn request(&mut self, method: &str, params: Value) -> Result<Value, Error> {
//!         let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
//!         self.http.post("/mcp").header("Mcp-Session-Id", self.session.clone()).json(&body).send().await?.json().await
//!     }
//! }
//! ```
//!
//! ```flagged
//! struct Client { http: reqwest::Client, session: Option<String> }
//! impl Client {
//!     async fn call(&self, name: &str, arguments: Value) -> Result<Response, Error> {
//!         let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "arguments": arguments } });
//!         let mut attempt = 0;
//!         loop {
//!             match self.http.post("/mcp").header("Mcp-Session-Id", self.session.clone()).json(&body).send().await {
//!                 Ok(response) => return Ok(response),
//!                 Err(error) if attempt == 3 => return Err(error.into()),
//!                 Err(_) => attempt += 1,
//!             }
//!         }
//!     }
//! }
//! ```
//!
//! ```flagged
//! use rmcp::service::RunningService;
//! async fn call(client: &RunningService<RoleClient, ()>, name: String, arguments: JsonObject) -> Result<CallToolResult, Error> {
//!     match client.call_tool(CallToolRequestParams::new(name.clone()).with_arguments(arguments.clone())).await {
//!         Ok(result) => Ok(result),
//!         Err(_) => Ok(client.call_tool(CallToolRequestParams::new(name).with_arguments(arguments)).await?),
//!     }
//! }
//! ```
//!
//! # Accepted
//!
//! ```accepted
//! struct Client { http: reqwest::Client, session: Option<String> }
//! impl Client {
//!     async fn tools(&mut self) -> Result<Value, Error> {
//!         match self.request("tools/list", json!({})).await {
//!             Ok(result) => Ok(result),
//!             Err(_) => self.request("tools/list", json!({})).await,
//!         }
//!     }
//!     async fn call(&mut self, params: Value) -> Result<Value, Error> {
//!         match self.request("tools/call", params.clone()).await {
//!             Err(Error::SessionExpired) => {
//!                 self.session = None;
//!                 self.initialize().await?;
//!                 self.request("tools/call", params).await
//!             }
//!             other => other,
//!         }
//!     }
//! }
//! ```
//!
//! ```accepted
//! use rmcp::service::RunningService;
//! struct Host { client: RunningService<RoleClient, ()> }
//! impl Host {
//!     async fn call(&self, tool: &Tool, params: CallToolRequestParam) -> Result<CallToolResult, Error> {
//!         for _ in 1..=3 {
//!             match self.client.call_tool(params.clone()).await {
//!                 Ok(result) => return Ok(result),
//!                 Err(error) if !tool.annotations.read_only_hint => return Err(error),
//!                 Err(_) => {}
//!             }
//!         }
//!         Err(Error::GaveUp)
//!     }
//!     async fn tools(&self) -> Result<Vec<Tool>, Error> {
//!         (|| async { self.client.list_all_tools().await }).retry(ExponentialBuilder::default()).await
//!     }
//! }
//! ```
//!
//! ```accepted
//! use rmcp::service::RunningService;
//! struct Host { client: RunningService<RoleClient, ()> }
//! impl Host {
//!     async fn each(&self, params: Vec<CallToolRequestParam>) -> Result<Vec<CallToolResult>, Error> {
//!         let mut results = Vec::new();
//!         for attempt in 0..params.len() {
//!             results.push(self.client.call_tool(params[attempt].clone()).await?);
//!         }
//!         return Ok(results);
//!     }
//! }
//! ```
//!
//! # Instead
//!
//! Send it again only where the first send is known not to have left, where the tool is declared read-only or idempotent, or
//! with the same idempotency key; else say that the outcome is unknown.
//!
//! # Limits
//!
//! A loop over several different calls is told from a retry by the returned success. Whether the method of a request is
//! `tools/call` is often not to be told; a request of any method counts then, and the finding says *possible*.

mod buffer;
mod combinator;
mod guard;
mod renewal;
mod repeat;
mod send;

use super::{Claim, Report};
use crate::client::Client;
use crate::facts::ir::Sort;
use crate::finding::Certainty;
use crate::scope::At;
use unbroken_contract::Breach;

pub(super) fn check(client: &Client<'_>, report: &mut Report) {
    for fx in client.functions() {
        let sending = send::sending(client, fx);
        let mut sending = sending.iter().copied().peekable();
        // Nothing else sends.
        for id in client.scope.body(fx).of(Sort::Call) {
            let at = At { fx, id: *id };
            let sends = sending.next_if(|(sends, _)| sends == id).map(|(_, certainty)| certainty);
            let (certainty, message, first) = if let Some(certainty) = combinator::retried(client, at) {
                (certainty, "a tool call is retried whatever became of the first send", None)
            } else if let Some(certainty) = sends.filter(|certainty| repeat::in_loop(client, at, *certainty)) {
                (certainty, "a tool call in a retry loop is sent again after any error", None)
            } else if let Some((first, certainty)) = sends.and_then(|second| repeat::after_failure(client, at, second)) {
                if renewal::between(client, first, at) {
                    (Certainty::Possible, "a tool call is sent again by a new authorization, whatever its failure was", Some(first))
                } else {
                    (certainty, "a tool call whose first send failed is sent once more", Some(first))
                }
            } else {
                continue;
            };
            // Few functions come as far as this.
            if guard::guarded(client, fx) {
                break;
            }
            let story = first.map(|first| (first, "the outcome of this send is unknown".to_owned()));
            report.claim(claim(client, at, certainty, message, story.into_iter().collect()));
        }
    }
    for (at, fill) in buffer::sent_again(client) {
        if !guard::guarded(client, at.fx) {
            let story = vec![(fill, "put there when its send had failed".to_owned())];
            report.claim(claim(client, at, Certainty::Likely, "a request whose first send failed is sent again from a buffer", story));
            let story = vec![(at, "it is sent again here".to_owned())];
            report.claim(claim(client, fill, Certainty::Likely, "a request whose send failed is kept to be sent again", story));
        }
    }
}

fn claim<'a>(client: &'a Client<'a>, at: At, certainty: Certainty, message: &str, story: Vec<(At, String)>) -> Claim<'a> {
    Claim {
        breach: Breach::BlindRetry,
        certainty,
        at,
        message: message.into(),
        help: "retry only a call that is known not to have left, is declared safe, or carries an idempotency key",
        here: "sent again with the first outcome unknown".into(),
        story,
        client,
    }
}
