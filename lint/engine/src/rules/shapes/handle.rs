//! Shapes of handles, pools and records of sessions, and of the ways that lead to their loss.

use super::gives;

#[test]
fn a_pool_of_handles_under_another_name_keeps_sessions() {
    gives(
        r#"use rmcp::service::RunningService as Upstream;
use rmcp::transport::StreamableHttpClientTransport;
struct CachedClient { client: Arc<Upstream<RoleClient, ()>>, last_used: Instant }
struct Gateway { clients: Mutex<HashMap<String, CachedClient>> }
impl Gateway {
    fn clients(&self) -> &Mutex<HashMap<String, CachedClient>> {
        &self.clients
    }
    async fn client(&self, key: &str) -> Result<Arc<Upstream<RoleClient, ()>>, Error> {
        {
            let mut clients = self.clients().lock().await;
            if let Some(held) = clients.get_mut(key) {
                if held.last_used.elapsed() < TTL && !held.client.is_closed() {
                    return Ok(held.client.clone());
                }
                clients.remove(key);
            }
        }
        let client = Arc::new(().serve(StreamableHttpClientTransport::from_uri(URI)).await?);
        self.clients().lock().await.insert(key.to_owned(), CachedClient { client: client.clone(), last_used: Instant::now() });
        Ok(client)
    }
    async fn call(&self, key: &str, params: CallToolRequestParams) -> Result<CallToolResult, Error> {
        let client = self.client(key).await?;
        match client.peer().call_tool(params).await {
            Ok(result) => Ok(result),
            Err(error) => {
                self.clients().lock().await.remove(key);
                Err(error.into())
            }
        }
    }
}
"#,
        &["session-discarded@28"],
    );
}

#[test]
fn with_a_record_in_a_map_goes_its_session() {
    gives(
        r#"struct Held { session_id: Option<String>, since: Instant }
struct Gateway { http: reqwest::Client, sessions: Mutex<HashMap<String, Held>> }
impl Gateway {
    async fn session(&self, key: &str) -> Result<Option<String>, Error> {
        if let Some(held) = self.sessions.lock().await.get(key) {
            return Ok(held.session_id.clone());
        }
        let opened = self.open().await?;
        self.sessions.lock().await.insert(key.to_owned(), Held { session_id: opened.clone(), since: Instant::now() });
        Ok(opened)
    }
    async fn open(&self) -> Result<Option<String>, Error> {
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize" });
        let response = self.http.post("/mcp").json(&hello).send().await?;
        Ok(response.headers().get("Mcp-Session-Id").and_then(|id| id.to_str().ok()).map(str::to_owned))
    }
    async fn post(&self, session: Option<&str>, body: &Value) -> Result<Response, Error> {
        let mut request = self.http.post("/mcp").json(body);
        if let Some(session) = session {
            request = request.header("Mcp-Session-Id", session);
        }
        Ok(request.send().await?)
    }
    async fn ask(&self, key: &str, body: &Value) -> Result<Response, Error> {
        let session = self.session(key).await?;
        let answer = self.post(session.as_deref(), body).await?;
        if !answer.status().is_success() {
            self.sessions.lock().await.remove(key);
            return Err(Error::Refused);
        }
        Ok(answer)
    }
}
"#,
        &["session-discarded@28"],
    );
}

#[test]
fn a_new_handle_that_fails_is_not_the_one_that_its_caller_lost() {
    gives(
        r#"use rmcp::service::RunningService;
trait McpClient { fn ping(&self) -> Pong; fn tools(&self) -> Tools; fn shutdown(&self) -> Done; }
struct RmcpClient { service: Mutex<Option<RunningService<RoleClient, ()>>> }
impl McpClient for RmcpClient {
    fn ping(&self) -> Pong {
        Box::pin(async move { self.service.lock().await.as_ref().ok_or(Error::Down)?.send_request(ping()).await })
    }
    fn tools(&self) -> Tools {
        Box::pin(async move { self.service.lock().await.as_ref().ok_or(Error::Down)?.list_all_tools().await })
    }
    fn shutdown(&self) -> Done {
        Box::pin(async move { drop(self.service.lock().await.take()) })
    }
}
struct Runtime { clients: RwLock<HashMap<String, Arc<dyn McpClient>>> }
impl Runtime {
    async fn start(&self, name: &str) -> Result<(), Error> {
        let service = ().serve(StreamableHttpClientTransport::from_uri(URI)).await?;
        let client = Arc::new(RmcpClient { service: Mutex::new(Some(service)) });
        if let Err(error) = client.tools().await {
            client.shutdown().await;
            return Err(error);
        }
        self.clients.write().await.insert(name.to_owned(), client);
        Ok(())
    }
    async fn tick(&self, name: &str) {
        let Some(client) = self.clients.read().await.get(name).cloned() else { return };
        if client.ping().await.is_ok() {
            return;
        }
        self.clients.write().await.remove(name);
        let _ = self.start(name).await;
    }
}
"#,
        &["session-discarded@32"],
    );
}

#[test]
fn a_request_that_recovers_makes_no_session_where_it_is_called() {
    gives(
        r#"struct Client { transport: Arc<Shared>, http: reqwest::Client }
type Shared = Box<dyn Transport>;
trait Transport { async fn send(&self, request: Value) -> Result<Value, Failure>; fn forget(&self); }
struct Http { http: reqwest::Client, session: Mutex<Option<String>> }
struct Pipe { child: Child }
impl Transport for Pipe {
    async fn send(&self, request: Value) -> Result<Value, Failure> { self.child.exchange(request).await }
    fn forget(&self) {}
}
impl Transport for Http {
    async fn send(&self, request: Value) -> Result<Value, Failure> {
        let session = self.session.lock().clone();
        let response = self.http.post("/mcp").header("Mcp-Session-Id", session).json(&request).send().await?;
        if !response.status().is_success() {
            return Err(Failure::Status { status: response.status().as_u16() });
        }
        response.json().await
    }
    fn forget(&self) { *self.session.lock() = None; }
}
enum Failure { Status { status: u16 }, Answered { code: i32, message: String } }
impl Failure {
    fn expired(&self) -> bool { matches!(self, Self::Status { status: 404 }) }
    fn early(&self) -> bool {
        match self {
            Self::Answered { code, message } => *code == -32031 || message.contains("not initialized"),
            _ => false,
        }
    }
    fn passing(&self) -> bool { matches!(self, Self::Status { status: 500..=599 }) }
}
impl Client {
    async fn call_tool(&self, name: &str, arguments: Value) -> Result<Value, Failure> {
        let request = self.request("tools/call", json!({ "name": name, "arguments": arguments }));
        let first = self.ask(request.clone()).await;
        if matches!(&first, Err(Failure::Answered { code: 42, .. })) {
            self.list_tools().await?;
        }
        first
    }
    async fn list_tools(&self) -> Result<Value, Failure> {
        self.ask(self.request("tools/list", json!({}))).await
    }
    fn request(&self, method: &str, params: Value) -> Value {
        json!({ "jsonrpc": "2.0", "id": next(), "method": method, "params": params })
    }
    async fn connect(&self) -> Result<(), Failure> {
        self.transport.send(self.request("initialize", json!({}))).await.map(drop)
    }
    async fn ask(&self, request: Value) -> Result<Value, Failure> {
        for attempt in 0..self.attempts {
            match self.send_raw(request.clone()).await {
                Ok(answer) => return Ok(answer),
                Err(error) => {
                    if error.expired() {
                        self.transport.forget();
                        self.connect().await?;
                        continue;
                    }
                    if error.early() {
                        self.connect().await?;
                        return self.send_raw(request).await;
                    }
                    if !error.passing() {
                        return Err(error);
                    }
                }
            }
        }
        Err(Failure::Status { status: 500 })
    }
    async fn send_raw(&self, request: Value) -> Result<Value, Failure> {
        timeout(LIMIT, self.transport.send(request)).await?
    }
}
"#,
        &["blind-retry@52", "session-discarded@61", "blind-retry@62"],
    );
}

#[test]
fn a_helper_that_drops_and_makes_anew_is_named_where_it_does_both() {
    gives(
        r#"struct Server { transport: Arc<Http>, epoch: RwLock<u64> }
struct Http { http: reqwest::Client, session: Mutex<Option<String>> }
impl Http {
    async fn reset(&self) -> Result<(), Error> {
        *self.session.lock().await = None;
        Ok(())
    }
    async fn send(&self, request: &Value) -> Result<Value, Error> {
        let session = self.session.lock().await.clone();
        let response = self.http.post("/mcp").header("Mcp-Session-Id", session).json(request).send().await?;
        if response.status() == StatusCode::NOT_FOUND {
            return Err(Error::SessionExpired);
        }
        response.json().await
    }
}
impl Server {
    async fn dispatch(&self, request: &Value) -> Result<Value, Error> {
        match timeout(LIMIT, self.transport.send(request)).await {
            Err(_) => {
                self.spawn_recovery();
                Err(Error::OutcomeUnknown)
            }
            Ok(Err(error)) => {
                self.spawn_recovery();
                Err(error)
            }
            Ok(Ok(answer)) => Ok(answer),
        }
    }
    fn spawn_recovery(&self) {
        let server = self.clone();
        tokio::spawn(async move { server.reestablish().await });
    }
    async fn reestablish(&self) -> Result<(), Error> {
        self.transport.reset().await?;
        self.handshake().await
    }
    async fn handshake(&self) -> Result<(), Error> {
        self.transport.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize" })).await.map(drop)
    }
}
"#,
        &["session-discarded@5", "session-discarded@21", "session-discarded@25", "session-discarded@36"],
    );
}

#[test]
fn a_header_that_differs_is_not_compared_but_adopted() {
    gives(
        r#"struct Remote { http: reqwest::Client, session: Mutex<Option<String>> }
impl Remote {
    async fn post(&self, body: &Value) -> Result<Response, Error> {
        let session = self.session.lock().await.clone();
        let response = self.http.post("/mcp").header("Mcp-Session-Id", session).json(body).send().await?;
        if response.status() == StatusCode::NOT_FOUND {
            return Err(Error::SessionExpired);
        }
        if let Some(id) = response.headers().get("Mcp-Session-Id").and_then(|id| id.to_str().ok()) {
            let mut held = self.session.lock().await;
            if held.as_deref() != Some(id) {
                *held = Some(id.to_owned());
            }
        }
        Ok(response)
    }
}
"#,
        &["unchecked-resume@12"],
    );
}

#[test]
fn a_delete_ends_the_session_whatever_its_answer() {
    gives(
        r#"struct Remote { http: reqwest::Client, url: String, session_id: Option<String> }
impl Remote {
    async fn close(&mut self) -> Result<(), Error> {
        let Some(id) = self.session_id.take() else { return Ok(()) };
        let response = self.http.delete(&self.url).header("Mcp-Session-Id", id).send().await?;
        match response.status() {
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => Ok(()),
            status if status.is_success() => Ok(()),
            status => Err(Error::Status(status)),
        }
    }
}
"#,
        &[],
    );
}
