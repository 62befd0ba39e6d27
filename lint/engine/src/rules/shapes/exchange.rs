//! Shapes of single exchanges: what becomes of a refusal, of a body that breaks off, and of a call that is sent twice.

use super::gives;

#[test]
fn nobody_hears_of_a_refusal_from_a_task_that_gives_nothing_back() {
    gives(
        r#"struct Client { http: reqwest::Client, session: Option<String> }
impl Client {
    async fn send(&mut self, body: String) -> Result<(), Error> {
        let response = self.http.post("/mcp").header("Mcp-Session-Id", self.session.clone()).body(body).send().await?;
        if response.status() == StatusCode::NOT_FOUND {
            return Err(Error::SessionExpired);
        }
        self.listen();
        Ok(())
    }
    fn listen(&self) {
        let (http, session) = (self.http.clone(), self.session.clone().unwrap_or_default());
        tokio::spawn(async move { events(http, session).await });
    }
}
async fn events(http: reqwest::Client, session: String) {
    let response = match http.get("/mcp").header("Mcp-Session-Id", &session).send().await {
        Ok(response) if response.status().is_success() => response,
        Ok(response) => {
            warn!("refused with {}", response.status());
            return;
        }
        Err(error) => {
            warn!("{error}");
            return;
        }
    };
    forward(response).await;
}
"#,
        &["expired-session-kept@19"],
    );
}

#[test]
fn a_helper_that_lets_a_response_through_has_looked_at_its_status() {
    gives(
        r#"struct Client { http: reqwest::Client, session: String }
impl Client {
    async fn ask(&self, body: String) -> Result<Value, Error> {
        let sent = self.http.post("/mcp").header("Mcp-Session-Id", &self.session).body(body).send().await?;
        let answer = checked(sent).await?;
        answer.json().await
    }
}
async fn checked(answer: Response) -> Result<Response, Error> {
    let status = answer.status();
    if !status.is_success() {
        return Err(Error::Refused(status.to_string()));
    }
    Ok(answer)
}
"#,
        &["expired-session-kept@5"],
    );
}

#[test]
fn a_kind_of_request_that_carries_no_session_has_none_to_keep() {
    gives(
        r#"enum For { Listening, Request { method: &'static str } }
struct Remote { http: reqwest::Client, session: Option<String> }
impl Remote {
    async fn endpoint(&self) -> Result<Response, Error> {
        let response = self.http.get("/sse").headers(self.headers(For::Listening)).send().await?;
        if !response.status().is_success() {
            return Err(Error::Refused);
        }
        Ok(response)
    }
    async fn post(&self, body: String) -> Result<Response, Error> {
        let response = self.http.post("/mcp").headers(self.headers(For::Request { method: "ping" })).body(body).send().await?;
        if !response.status().is_success() {
            return Err(Error::Refused);
        }
        Ok(response)
    }
    fn headers(&self, purpose: For) -> HeaderMap {
        let mut headers = HeaderMap::new();
        match purpose {
            For::Request { method } => {
                debug!("{method}");
                headers.insert("Mcp-Session-Id", value(&self.session));
            }
            For::Listening => {}
        }
        headers
    }
}
"#,
        &["expired-session-kept@13"],
    );
}

#[test]
fn a_body_that_breaks_off_is_no_empty_answer() {
    gives(
        r#"struct Client { http: reqwest::Client, session: String, inbox: Sender<Message> }
impl Client {
    async fn send(&self, body: String) -> Result<(), Error> {
        let response = self.http.post("/mcp").header("Mcp-Session-Id", &self.session).body(body).send().await?;
        if response.status() == StatusCode::NOT_FOUND {
            return Err(Error::SessionExpired);
        }
        if !response.status().is_success() {
            let text = response.text().await.unwrap_or_default();
            return Err(parse_error(&text));
        }
        let inbox = self.inbox.clone();
        tokio::spawn(async move {
            let text = response.text().await.unwrap_or_default();
            let mut parser = EventParser::new();
            for event in parser.feed(&text) {
                if let Ok(message) = serde_json::from_str(&event.data) {
                    let _ = inbox.send(message);
                }
            }
        });
        Ok(())
    }
    async fn ask(&self, body: String) -> Result<Value, Error> {
        let response = self.http.post("/mcp").header("Mcp-Session-Id", &self.session).body(body).send().await?;
        if response.status() == StatusCode::NOT_FOUND {
            return Err(Error::SessionExpired);
        }
        let text = response.text().await.unwrap_or_default();
        Ok(serde_json::from_str(&text)?)
    }
}
"#,
        &["eof-taken-as-completion@14"],
    );
}

#[test]
fn a_call_is_sent_again_on_another_path_or_after_a_refusal() {
    gives(
        r#"struct Gateway { http: reqwest::Client, kind: String }
impl Gateway {
    async fn call(&self, kind: &str, session: &str, request: &Value) -> Result<Response, Error> {
        if kind == "streamable" {
            match self.call_fast(session, request).await {
                Ok(answer) => return Ok(answer),
                Err(error) => warn!("falls back: {error}"),
            }
        }
        if kind == "sse" {
            return self.call_old(request).await;
        }
        let mut answer = self.call_direct(session, request).await?;
        if !answer.status().is_success() {
            let session = self.open().await?;
            answer = self.call_direct(&session, request).await?;
        }
        Ok(answer)
    }
    async fn call_fast(&self, session: &str, request: &Value) -> Result<Response, Error> {
        self.post(session, json!({ "id": 1, "method": "tools/call", "params": request })).await
    }
    async fn call_old(&self, request: &Value) -> Result<Response, Error> {
        self.post("", json!({ "id": 1, "method": "tools/call", "params": request })).await
    }
    async fn call_direct(&self, session: &str, request: &Value) -> Result<Response, Error> {
        self.post(session, json!({ "id": 2, "method": "tools/call", "params": request })).await
    }
    async fn post(&self, session: &str, body: Value) -> Result<Response, Error> {
        let response = self.http.post("/mcp").header("Mcp-Session-Id", session).json(&body).send().await?;
        if response.status() == StatusCode::NOT_FOUND {
            return Err(Error::SessionExpired);
        }
        Ok(response)
    }
}
"#,
        &["blind-retry@13", "blind-retry@16"],
    );
}

#[test]
fn a_step_that_is_chosen_anew_is_no_repeat() {
    gives(
        r#"struct User { http: reqwest::Client, session: String }
impl User {
    async fn run(&mut self, steps: &[Step], mut rng: Rng) -> Result<(), Error> {
        loop {
            if self.done() {
                return Ok(());
            }
            let chosen = rng.sample(steps.len());
            let step = &steps[chosen];
            let outcome = self.step(step).await;
            self.count(&outcome);
        }
    }
    async fn step(&mut self, step: &Step) -> Result<Value, Error> {
        let body = json!({ "id": 1, "method": "tools/call", "params": step.params });
        let response = self.http.post("/mcp").header("Mcp-Session-Id", &self.session).json(&body).send().await?;
        if response.status() == StatusCode::NOT_FOUND {
            return Err(Error::SessionExpired);
        }
        response.json().await
    }
}
"#,
        &[],
    );
}

#[test]
fn what_is_held_for_a_renewal_says_nothing_of_the_error() {
    gives(
        r#"use rmcp::service::RunningService;
struct Host { client: RunningService<RoleClient, ()>, auth: Option<Renewal> }
impl Host {
    async fn call(&self, params: CallToolRequestParam) -> Result<CallToolResult, Error> {
        match self.client.call_tool(params.clone()).await {
            Ok(result) => Ok(result),
            Err(error) => {
                if let Some(auth) = self.auth.as_ref() {
                    auth.renew().await?;
                    return Ok(self.client.call_tool(params).await?);
                }
                Err(error.into())
            }
        }
    }
    async fn ask(&self, params: CallToolRequestParam) -> Result<CallToolResult, Error> {
        match self.client.call_tool(params.clone()).await {
            Err(error) if is_unauthorized(&error) => Ok(self.client.call_tool(params).await?),
            other => Ok(other?),
        }
    }
}
"#,
        &["blind-retry@10"],
    );
}

#[test]
fn what_a_handshake_sends_by_helpers_is_no_lost_session() {
    gives(
        r#"struct Remote { http: reqwest::Client, session: Option<String> }
impl Remote {
    async fn connect(&mut self) -> Result<(), Error> {
        let hello = hello(1);
        let opened = self.post(&hello).await?;
        if !opened.status().is_success() {
            return Err(Error::Refused);
        }
        self.session = opened.headers().get("Mcp-Session-Id").and_then(|id| id.to_str().ok()).map(str::to_owned);
        self.announce().await
    }
    async fn announce(&self) -> Result<(), Error> {
        let answer = self.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
        if answer.status().is_success() { Ok(()) } else { Err(Error::Refused) }
    }
    async fn list(&self) -> Result<Value, Error> {
        let answer = self.post(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" })).await?;
        if !answer.status().is_success() {
            return Err(Error::Refused);
        }
        answer.json().await
    }
    async fn post(&self, body: &Value) -> Result<Response, Error> {
        let mut request = self.http.post("/mcp").json(body);
        if let Some(session) = &self.session {
            request = request.header("Mcp-Session-Id", session);
        }
        Ok(request.send().await?)
    }
}
fn hello(id: u64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "initialize" })
}
"#,
        &["expired-session-kept@18"],
    );
}

#[test]
fn the_end_of_a_channel_that_is_given_back_is_seen_by_the_caller() {
    gives(
        r#"struct Remote { http: reqwest::Client, session: String }
impl Remote {
    async fn subscribe(&self, body: &Value) -> Result<UnboundedReceiver<Value>, Error> {
        let response = self.http.post("/mcp").header("Mcp-Session-Id", &self.session).json(body).send().await?;
        if response.status() == StatusCode::NOT_FOUND {
            return Err(Error::SessionExpired);
        }
        let (out, inbox) = unbounded_channel();
        tokio::spawn(async move {
            let mut events = response.bytes_stream().eventsource();
            while let Some(Ok(event)) = events.next().await {
                let _ = out.send(serde_json::from_str(&event.data).unwrap_or_default());
            }
        });
        Ok(inbox)
    }
}
"#,
        &[],
    );
}
