//! How sure a finding is: what rests on one of several implementations, on an error of several kinds, on a guess.

use super::gives;
use crate::{Settings, SourceFile, check_crate};

/// The findings as `rule@line certainty`.
fn sure(code: &str) -> Vec<String> {
    let file = SourceFile { path: "src/lib.rs".into(), text: code.to_owned() };
    let outcome = check_crate(vec![file], &Settings::default());
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
    let text = |it: &crate::Finding| format!("{}@{} {:?}", it.breach, it.range.line, it.certainty);
    outcome.findings.iter().map(text).collect()
}

/// A transport behind a trait; `PIPE` is for a second one, `ERR` for what is done with an error of a send.
const DISPATCHED: &str = r#"trait Link { async fn post(&self, body: String) -> Result<Response>; async fn forget(&self); }
struct Http { http: reqwest::Client, session: Mutex<Option<String>> }
enum Lost { Stale { status: u16 }, Swept { status: u16 }, CLOSED }
impl Link for Http {
    async fn post(&self, body: String) -> Result<Response> {
        let response = self.http.post("/mcp").header("Mcp-Session-Id", self.session.lock().clone()).body(body).send().await?;
        if response.status() == StatusCode::NOT_FOUND {
            return Err(Lost::Stale { status: 404 }.into());
        }
        if let Some(reason) = response.headers().get("reason") {
            if response.status().as_u16() == 404 { return Err(Lost::Swept { status: 404 }.into()); }
            MORE
        }
        Ok(response)
    }
    async fn forget(&self) {
        *self.session.lock() = None;
    }
}
PIPE
struct Client { link: Box<dyn Link> }
impl Client {
    async fn call(&self, body: String) -> Result<Response> {
        match self.link.post(body).await {
            Ok(response) => Ok(response),
            Err(error) => { ERR Err(error) }
        }
    }
}
"#;

fn dispatched(pipe: &str, more: &str, err: &str) -> String {
    let closed = if more.is_empty() { "" } else { "Closed" };
    DISPATCHED.replace("CLOSED", closed).replace("PIPE", pipe).replace("MORE", more).replace("ERR", err)
}

#[test]
fn a_call_of_one_of_several_implementations_proves_nothing() {
    let forget = "self.link.forget().await;";
    assert_eq!(sure(&dispatched("", "", forget)), ["session-discarded@26 Proved"], "there is but one");
    let pipe = "struct Pipe { child: Child } impl Link for Pipe { async fn post(&self, body: String) -> Result<Response> { self.child.write(body).await } async fn forget(&self) {} }";
    assert_eq!(sure(&dispatched(pipe, "", forget)), ["session-discarded@26 Likely"]);
}

#[test]
fn a_downcast_says_what_the_variants_are_built_for() {
    let closed = "if reason.is_empty() { return Err(Lost::Closed.into()); }";
    for test in [
        "error.downcast_ref::<Lost>().is_some()",
        "error.is::<Lost>()",
        "error.downcast::<Lost>().is_ok()",
        "!error.downcast_ref::<Lost>().is_none()",
        "let Some(lost) = error.downcast_ref::<Lost>()",
        "let Ok(lost) = error.downcast::<Lost>()",
    ] {
        let code = |more| dispatched("", more, &format!("if {test} {{ self.link.forget().await; }}"));
        assert_eq!(sure(&code("")), [""; 0], "every variant is built after a 404: {test}");
        assert_eq!(sure(&code(closed)), ["session-discarded@26 Possible"], "one is not: {test}");
    }
    for test in [
        "matches!(error.downcast_ref(), Some(Lost::Stale { .. } | Lost::Swept { .. }))",
        "matches!(error.downcast_ref::<Lost>(), Some(Lost::Stale { .. }))",
    ] {
        gives(&dispatched("", closed, &format!("if {test} {{ self.link.forget().await; }}")), &[]);
    }
    let known = "let known = error.downcast_ref::<Lost>().is_some(); if known && self.tries < 3 { self.link.forget().await; }";
    assert_eq!(sure(&dispatched("", "", known)), [""; 0]);
    let other = "if error.is::<std::io::Error>() { self.link.forget().await; }";
    assert_eq!(sure(&dispatched("", "", other)), ["session-discarded@26 Proved"], "a type of another crate");
}

#[test]
fn a_delay_that_doubles_without_a_cap_is_no_storm() {
    let code = r#"async fn post(http: &reqwest::Client, session: &str) { http.post("/mcp").header("Mcp-Session-Id", session).send().await; }
struct Doubling { max_times: Option<usize>, base: Duration }
impl Default for Doubling {
    fn default() -> Self { Self { max_times: None, base: Duration::from_secs(1) } }
}
impl RetryPolicy for Doubling {
    fn retry(&self, times: usize) -> Option<Duration> {
        if self.max_times.is_some_and(|max| times >= max) { return None; }
        Some(self.base * 2u32.pow(times as u32))
    }
}
"#;
    assert_eq!(sure(code), ["unbounded-reconnect@9 Possible"]);
    gives(&code.replace("2u32.pow(times as u32)", "2u32.pow(times.min(6) as u32)"), &[]);
}

#[test]
fn a_call_that_is_sent_again_by_a_new_authorization_may_have_been_refused() {
    let code = |between: &str, second: &str| {
        format!(
            r#"use rmcp::service::RunningService;
async fn call(client: RunningService<RoleClient, ()>, params: CallToolRequestParams) -> Result<CallToolResult, Error> {{
    match client.call_tool(params.clone()).await {{
        Ok(result) => Ok(result),
        Err(_) => {{
            {between}
            Ok({second}.call_tool(params).await?)
        }}
    }}
}}
"#
        )
    };
    let steps = "let mut state = OAuthState::new(URI, None).await?; state.start_authorization(SCOPES).await?;
            let manager = state.into_authorization_manager()?;
            let again = ().serve(StreamableHttpClientTransport::with_client(AuthClient::new(manager), URI)).await?;";
    let blind = |code: &str| sure(code).into_iter().filter(|it| it.starts_with("blind")).collect::<Vec<_>>();
    assert_eq!(blind(&code(steps, "again")), ["blind-retry@9 Possible"]);
    assert_eq!(blind(&code("client.refresh_token().await?;", "client")), ["blind-retry@7 Possible"]);
    assert_eq!(blind(&code("", "client")), ["blind-retry@7 Likely"]);
    assert_eq!(blind(&code(steps, "client")), ["blind-retry@9 Likely"], "it feeds another client");
    let perhaps = "if stale { client.refresh_token().await?; }";
    assert_eq!(blind(&code(perhaps, "client")), ["blind-retry@7 Likely"], "it may not have run");
}
