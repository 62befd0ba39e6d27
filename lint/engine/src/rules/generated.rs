//! Code that a macro of the same file writes is judged like any other, at the place where it is written.

use crate::{Settings, SourceFile, check_crate};

fn found(code: &str) -> Vec<String> {
    let file = SourceFile { path: "src/lib.rs".into(), text: code.to_owned() };
    let outcome = check_crate(vec![file], &Settings::default());
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
    outcome.findings.iter().map(|finding| format!("{}@{}", finding.breach, finding.range.line)).collect()
}

#[test]
fn a_method_that_a_macro_generates_is_judged_once_for_all_its_uses() {
    let code = r#"use rmcp::service::RunningService;
macro_rules! retrying {
    ($($name:ident => $result:ty),* $(,)?) => {
        $(pub async fn $name(&mut self, params: CallToolRequestParam) -> Result<$result, Error> {
            match self.client.call_tool(params.clone()).await {
                Ok(result) => Ok(result.into()),
                Err(_) => Ok(self.client.call_tool(params).await?.into()),
            }
        })*
    };
}
struct Host { client: RunningService<RoleClient, ()> }
impl Host {
    retrying!(call => CallToolResult, ask => Answer);
}
"#;
    assert_eq!(found(code), ["blind-retry@7"]);
}

#[test]
fn a_macro_inside_a_function_is_read_where_it_is_used() {
    let code = |test: &str| {
        format!(
            r#"struct Client {{ http: reqwest::Client, session: Option<String> }}
macro_rules! forget {{
    ($self:ident, $status:expr) => {{
        if $status {test} {{
            $self.session = None;
        }}
    }};
}}
impl Client {{
    async fn post(&mut self, body: String) -> Result<Response, Error> {{
        let response = self.http.post("/mcp").header("Mcp-Session-Id", self.session.clone()).body(body).send().await?;
        forget!(self, response.status());
        Ok(response)
    }}
}}
"#
        )
    };
    assert!(found(&code(".is_server_error()")).contains(&"session-discarded@5".to_owned()));
    assert_eq!(found(&code("== StatusCode::NOT_FOUND")), Vec::<String>::new());
}
