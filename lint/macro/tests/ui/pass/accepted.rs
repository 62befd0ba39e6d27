//! An acceptance with a reason silences its rule, on the item and on one statement or arm.
#![deny(warnings)]

struct Http;

struct Request;

struct Response(u16);

struct Failure;

impl Http {
    fn post(&self, _url: &str) -> Request {
        Request
    }
}

impl Request {
    fn header(self, _name: &str, _value: &str) -> Request {
        self
    }

    fn send(self) -> Result<Response, Failure> {
        Ok(Response(200))
    }
}

impl Response {
    fn status(&self) -> u16 {
        self.0
    }
}

struct Client {
    http: Http,
    session_id: Option<String>,
}

#[unbroken::check(allow(session_discarded, reason = "this server forgets sessions on errors"))]
impl Client {
    fn whole_item(&mut self) -> Result<Response, Failure> {
        let mut request = self.http.post("/mcp");
        if let Some(id) = &self.session_id {
            request = request.header("Mcp-Session-Id", id);
        }
        match request.send() {
            Ok(response) => Ok(response),
            Err(failure) => {
                self.session_id = None;
                Err(failure)
            }
        }
    }
}

#[unbroken::check]
impl Client {
    fn one_arm(&mut self) -> Result<Response, Failure> {
        let mut request = self.http.post("/mcp");
        if let Some(id) = &self.session_id {
            request = request.header("Mcp-Session-Id", id);
        }
        match request.send() {
            Ok(response) => Ok(response),
            #[cfg_attr(any(), unbroken::allow(session_discarded, reason = "this server forgets sessions on errors"))]
            Err(failure) => {
                self.session_id = None;
                Err(failure)
            }
        }
    }

    fn one_statement(&mut self) -> Result<Response, Failure> {
        let mut request = self.http.post("/mcp");
        if let Some(id) = &self.session_id {
            request = request.header("Mcp-Session-Id", id);
        }
        match request.send() {
            Ok(response) => Ok(response),
            Err(failure) => {
                #[cfg_attr(any(), unbroken::allow(session-discarded, reason = "this server forgets sessions on errors"))]
                {
                    self.session_id = None;
                }
                Err(failure)
            }
        }
    }
}

fn main() {
    let mut client = Client { http: Http, session_id: Some("a".into()) };
    let sent = [client.whole_item(), client.one_arm(), client.one_statement()];
    assert!(sent.into_iter().flatten().all(|response| response.status() == 200));
}
