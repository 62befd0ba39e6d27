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

#[unbroken::check]
impl Client {
    fn post(&mut self) -> Result<Response, Failure> {
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

impl Client {
    #[unbroken::check(session = session_id)]
    fn again(&mut self) -> Result<Response, Failure> {
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

fn main() {
    let mut client = Client { http: Http, session_id: None };
    let _ = (client.post(), client.again());
}
