//! Shapes of retries after a failure that may be a 404: in the session that failed, or in a new one.

use super::found;

/// A client that asks in a session; `METHODS` is for how it asks again.
const CLIENT: &str = r#"struct Client { http: reqwest::Client, session: Option<String> }
impl Client {
    fn initialize(&mut self) -> Result<(), Failure> {
        let response = self.http.post("/mcp").json(r"{"jsonrpc":"2.0","id":0,"method":"initialize"}").send()?;
        if response.status >= 400 { return Err(Failure::Refused); }
        self.session = response.session;
        Ok(())
    }
    fn request(&self, body: &str) -> Result<Response, Failure> {
        let mut request = self.http.post("/mcp").json(body);
        if let Some(id) = &self.session { request = request.header("Mcp-Session-Id", id); }
        let response = request.send()?;
        if response.status >= 400 { return Err(Failure::Status(response.status)); }
        Ok(response)
    }
    fn reset(&mut self) { self.session = None; }
    fn forget(&mut self) { if let Ok(mut log) = self.log.lock() { log.clear(); } self.reset(); }
    fn judge(&mut self, failure: &Failure) { if failure.is_timeout() { self.session = None; } }
    fn ensure(&mut self) -> Result<(), Failure> { if self.session.is_some() { return Ok(()); } self.initialize() }
METHODS
}
"#;

/// How often the rule speaks of a session that is kept.
fn kept(methods: &str) -> usize {
    let code = CLIENT.replace("METHODS", methods).replace("r\"{", "r#\"{").replace("}\").send", "}\"#).send");
    found(&code).iter().filter(|it| it.starts_with("expired-session-kept@")).count()
}

/// A call in a loop; `head` begins each round, `error` is done with a failure of the call.
fn in_loop(around: &str, head: &str, error: &str) -> String {
    format!(
        "    fn call(&mut self, body: &str) -> Result<Response, Failure> {{
        {around} {{
            {head}
            match self.request(body) {{
                Ok(response) => return Ok(response),
                Err(failure) => {{ eprintln!(\"{{failure:?}}\"); {error} }}
            }}
        }}
        Err(Failure::Refused)
    }}"
    )
}

#[test]
fn a_retry_in_a_new_session_keeps_none() {
    for error in [
        "self.reset(); self.initialize()?; sleep(DELAY);",
        "self.session = None; self.initialize()?;",
        "self.reset();",
        "self.forget();",
        "self.initialize()?;",
        "self.session.take();",
    ] {
        for around in ["for _ in 0..3", "while self.tries < 3", "loop"] {
            assert_eq!(kept(&in_loop(around, "", error)), 0, "{around}: {error}");
        }
    }
    assert_eq!(kept(&in_loop("loop", "self.initialize()?;", "")), 0, "each round begins one");
    let last = "if self.tries > 3 { return Err(Failure::Refused); } self.reset();";
    assert_eq!(
        kept(&in_loop("loop", "", last)),
        1,
        "the rounds keep none, the last failure does: told where it is made"
    );
}

#[test]
fn a_retry_in_the_same_session_keeps_it() {
    for error in [
        "sleep(DELAY);",
        "self.judge(&failure);",
        "self.ensure()?;",
        "if failure.is_timeout() { self.reset(); }",
        "if self.tries > 3 { continue; } self.reset();",
    ] {
        for around in ["for _ in 0..3", "while self.tries < 3"] {
            assert_ne!(kept(&in_loop(around, "", error)), 0, "{around}: {error}");
        }
    }
    assert_ne!(kept(&in_loop("loop", "self.ensure()?;", "")), 0, "none is made where one is held");
    let outside = in_loop("loop", "", "").replace("loop {", "self.reset(); self.initialize().ok(); loop {");
    assert_ne!(kept(&outside), 0, "before the rounds");
}

#[test]
fn a_caller_that_forgets_the_session_by_a_helper_keeps_none() {
    let once = |error: &str| {
        format!(
            "    fn call(&mut self, body: &str) -> Result<Response, Failure> {{
        match self.request(body) {{
            Ok(response) => Ok(response),
            Err(failure) => {{ {error} Err(failure) }}
        }}
    }}"
        )
    };
    assert_eq!(kept(&once("self.session = None;")), 0);
    assert_eq!(kept(&once("self.reset();")), 0);
    assert_eq!(kept(&once("self.forget();")), 0);
    assert_ne!(kept(&once("self.judge(&failure);")), 0);
    assert_ne!(kept(&once("")), 0);
}
