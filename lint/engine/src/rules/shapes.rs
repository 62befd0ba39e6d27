//! Shapes of real clients that were judged wrongly once: each with every finding it must give, and no other.

mod certainty;
mod dropped;
mod exchange;
mod handle;

use crate::{Settings, SourceFile, check_crate};

/// The findings as `rule@line`.
fn found(code: &str) -> Vec<String> {
    let file = SourceFile { path: "src/lib.rs".into(), text: code.to_owned() };
    let outcome = check_crate(vec![file], &Settings::default());
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
    outcome.findings.iter().map(|finding| format!("{}@{}", finding.breach, finding.range.line)).collect()
}

#[track_caller]
fn gives(code: &str, expected: &[&str]) {
    assert_eq!(found(code), expected, "in\n{code}");
}

#[test]
fn reading_a_field_in_the_loop_opens_no_stream() {
    gives(
        r#"async fn listen(http: &reqwest::Client, session: &str, attempts: u32) {
    for attempt in 0..attempts {
        let request = http.get("/mcp").header("Accept", "text/event-stream").header("Mcp-Session-Id", session);
        if let Ok(response) = request.send().await {
            let mut events = response.bytes_stream().eventsource();
            while let Some(Ok(event)) = events.next().await {
                let message: Value = serde_json::from_str(&event.data).unwrap_or_default();
                if message.get("method").is_some() && message.get("id").is_some() {
                    handle(message);
                }
            }
        }
        tokio::time::sleep(DELAY * attempt).await;
    }
}
"#,
        &["resume-without-cursor@3"],
    );
}

#[test]
fn a_delete_that_is_built_in_steps_keeps_no_session() {
    gives(
        r#"struct Client { inner: Sender }
impl Client {
    async fn delete_session(&self, session: &str, token: Option<String>) -> Result<(), Error> {
        let mut request = self.inner.delete("/mcp");
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        let response = request.header("Mcp-Session-Id", session).send().await?;
        response.error_for_status()?;
        Ok(())
    }
}
"#,
        &[],
    );
}

#[test]
fn a_refused_handshake_has_no_session_to_keep() {
    gives(
        r#"async fn call(http: &reqwest::Client, body: Value) -> Result<Value, Error> {
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize" });
    let opened = http.post("/mcp").json(&hello).send().await?;
    if !opened.status().is_success() {
        return Err(Error::Http(opened.status().to_string()));
    }
    let session = opened.headers().get("Mcp-Session-Id").and_then(|id| id.to_str().ok()).map(str::to_owned);
    let mut request = http.post("/mcp").json(&body);
    if let Some(session) = &session {
        request = request.header("Mcp-Session-Id", session);
    }
    let response = request.send().await?;
    if !response.status().is_success() {
        return Err(Error::Http(response.status().to_string()));
    }
    response.json().await
}
"#,
        &["expired-session-kept@13"],
    );
}

#[test]
fn a_session_dropped_for_every_refusal_is_dropped_for_a_404_too() {
    gives(
        r#"struct Client { http: reqwest::Client, session: Option<String> }
impl Client {
    async fn post(&mut self, body: String) -> Result<Response, Error> {
        let response = self.http.post("/mcp").header("Mcp-Session-Id", self.session.clone()).body(body).send().await?;
        if response.status().is_client_error() {
            self.session = None;
            return Err(Error::Refused);
        }
        Ok(response)
    }
}
"#,
        &["session-discarded@6"],
    );
}

#[test]
fn a_refusal_in_the_other_branch_is_one_failure_among_others() {
    gives(
        r#"struct Client { http: reqwest::Client, session: String }
impl Client {
    async fn notify(&self, body: String) -> Result<(), Error> {
        let response = self.http.post("/mcp").header("Mcp-Session-Id", &self.session).body(body).send().await?;
        if response.status().is_success() {
            Ok(())
        } else {
            let text = response.text().await.unwrap_or_default();
            Err(Error::Refused(text))
        }
    }
}
"#,
        &["expired-session-kept@5"],
    );
}

#[test]
fn an_arm_for_all_other_answers_is_one_failure_among_others() {
    gives(
        r#"async fn listen(http: &reqwest::Client, session: &str) -> Option<Response> {
    match http.get("/mcp").header("Mcp-Session-Id", session).send().await {
        Ok(response) if response.status().is_success() => Some(response),
        Ok(response) => {
            warn!("refused with {}", response.status());
            None
        }
        Err(error) => {
            warn!("{error}");
            None
        }
    }
}
"#,
        &["expired-session-kept@4"],
    );
}

#[test]
fn an_error_named_in_a_format_string_is_handed_on() {
    gives(
        r#"struct Client { http: reqwest::Client, session: String }
impl Client {
    async fn run(&self, mut inbox: Receiver<String>) {
        while let Some(body) = inbox.recv().await {
            match self.post(body).await {
                Ok(response) => handle(response),
                Err(error) => self.fail(format!("the post failed: {error}")).await,
            }
        }
    }
    async fn post(&self, body: String) -> Result<Response, Error> {
        Ok(self.http.post("/mcp").header("Mcp-Session-Id", &self.session).body(body).send().await?)
    }
}
"#,
        &[],
    );
}

#[test]
fn a_header_fills_a_session_that_is_empty() {
    gives(
        r#"struct Client { http: reqwest::Client, session: Option<String> }
impl Client {
    async fn post(&mut self, body: String) -> Result<(), Error> {
        let response = self.http.post("/mcp").header("Mcp-Session-Id", self.session.clone()).body(body).send().await?;
        if response.status() == StatusCode::NOT_FOUND {
            return Err(Error::SessionExpired);
        }
        if self.session.is_none() {
            self.session = response.headers().get("Mcp-Session-Id").and_then(|id| id.to_str().ok()).map(str::to_owned);
        }
        Ok(())
    }
}
"#,
        &[],
    );
}

#[test]
fn a_relay_hands_a_404_to_its_own_caller() {
    gives(
        r#"async fn forward(state: &State, body: Bytes, session: &str) -> axum::response::Response {
    let answer = match state.http.post("/mcp").header("Mcp-Session-Id", session).body(body).send().await {
        Ok(answer) => answer,
        Err(error) => return bad_gateway(error),
    };
    if answer.status().is_success() {
        return accepted();
    }
    from_backend(answer)
}
fn from_backend(answer: reqwest::Response) -> axum::response::Response {
    (answer.status(), Body::from_stream(answer.bytes_stream())).into_response()
}
"#,
        &[],
    );
}

#[test]
fn a_new_handle_that_fails_at_once_is_no_lost_session() {
    gives(
        r#"use rmcp::service::RunningService;
struct RemoteClient { service: RunningService<RoleClient, ()> }
impl RemoteClient {
    async fn shutdown(&self) {
        self.service.cancellation_token().cancel();
    }
}
async fn start(config: &Config) -> Result<RemoteClient, Error> {
    let service = match config.kind {
        Kind::Stdio => ().serve(stdio(config)).await?,
        Kind::Http => ().serve(StreamableHttpClientTransport::from_uri(config.url.clone())).await?,
        Kind::Sse => return Err(Error::Unsupported),
    };
    let remote = RemoteClient { service };
    match remote.service.list_all_tools().await {
        Ok(_) => Ok(remote),
        Err(error) => {
            remote.shutdown().await;
            Err(error)
        }
    }
}
"#,
        &[],
    );
}

/// A pool that drops its handle after a failed call and after a deadline, over a transport.
fn pool(transport: &str) -> String {
    format!(
        r#"use rmcp::{{RoleClient, ServiceExt, service::RunningService}};
struct Pool {{ slot: Mutex<Option<RunningService<RoleClient, ()>>>, model: reqwest::Client }}
impl Pool {{
    async fn start(&self) -> Result<(), Error> {{
        *self.slot.lock().await = Some(().serve({transport}).await?);
        Ok(())
    }}
    async fn search(&self, query: &str) -> Result<Outcome, Error> {{
        let mut slot = self.slot.lock().await;
        let Some(handle) = slot.as_ref() else {{ return Err(Error::Down) }};
        match tokio::time::timeout(LIMIT, handle.call_tool(params(query))).await {{
            Ok(Ok(outcome)) => Ok(outcome.into()),
            Ok(Err(error)) => {{
                *slot = None;
                Err(error.into())
            }}
            Err(_) => {{
                slot.take();
                Err(Error::Timeout)
            }}
        }}
    }}
}}
"#
    )
}

#[test]
fn a_child_process_has_no_session_to_lose() {
    gives(&pool("TokioChildProcess::new(Command::new(PROGRAM))?"), &[]);
}

#[test]
fn what_fails_within_a_deadline_is_no_timeout() {
    let code = pool("StreamableHttpClientTransport::from_uri(URI)");
    gives(&code, &["session-discarded@14", "session-discarded@18"]);
    let file = SourceFile { path: "src/lib.rs".into(), text: code };
    let outcome = check_crate(vec![file], &Settings::default());
    let told: Vec<&str> = outcome.findings.iter().map(|finding| &*finding.message).collect();
    assert_eq!(
        told,
        [
            "the session is forgotten after an error that is no 404",
            "the session is forgotten after a timeout"
        ]
    );
}

#[test]
fn a_handshake_reads_its_own_refusal() {
    gives(
        r#"struct Client { http: reqwest::Client, session: Option<String> }
impl Client {
    async fn open(&mut self) -> Result<(), Error> {
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize" });
        let response = self.http.post("/mcp").json(&hello).send().await?;
        if let Some(session) = response.headers().get("Mcp-Session-Id").and_then(|id| id.to_str().ok()) {
            let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            self.http.post("/mcp").header("Mcp-Session-Id", session).json(&ready).send().await?;
            self.session = Some(session.to_owned());
            Ok(())
        } else {
            let text = response.text().await.unwrap_or_default();
            Err(Error::Refused(text))
        }
    }
}
"#,
        &[],
    );
}
