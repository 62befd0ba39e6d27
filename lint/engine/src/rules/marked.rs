//! Tests that marks, and the contract itself, decide where names and headers say nothing, through the same stages as any file.
//! Knows no rule by its inside.

use crate::{Settings, SourceFile, check_crate};
use unbroken_contract::Breach;

fn found(code: &str) -> Vec<(Breach, u32)> {
    let file = SourceFile { path: "src/lib.rs".into(), text: code.to_owned() };
    let outcome = check_crate(vec![file], &Settings::default());
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
    outcome.findings.into_iter().map(|finding| (finding.breach, finding.range.line)).collect()
}

#[test]
fn a_marked_call_is_a_tool_call_whatever_its_name() {
    let code = "\
impl Agent {
    #[CHECK]
    async fn act(&self, order: &Order) -> Result<Receipt, Error> {
        for _ in 0..3 {
            match self.desk.place(order.clone()).await {
                Ok(receipt) => return Ok(receipt),
                Err(error) => log::warn!(\"{error}\"),
            }
        }
        Err(Error::GaveUp)
    }
}";
    assert_eq!(
        found(&code.replace("#[CHECK]", "#[unbroken::check(call = place)]")),
        [(Breach::BlindRetry, 5)]
    );
    assert_eq!(
        found(&code.replace("#[CHECK]", "#[unbroken::check]")),
        [],
        "unmarked, nothing says that it calls a tool"
    );
}

#[test]
fn a_marked_store_keeps_the_cursor() {
    let code = "\
#[unbroken::check(cursor = seen, STORE)]
async fn listen(http: &reqwest::Client, session: &str, book: &Book) {
    let mut seen: Option<String> = None;
    loop {
        let mut request = http.get(\"/mcp\").header(\"Mcp-Session-Id\", session);
        if let Some(id) = &seen {
            request = request.header(\"Last-Event-ID\", id);
        }
        let mut events = request.send().await.unwrap().bytes_stream().eventsource();
        while let Some(Ok(event)) = events.next().await {
            seen = Some(event.id);
            book.enter(&seen);
        }
    }
}";
    let persisted =
        |code: &str| found(code).into_iter().any(|(breach, _)| breach == Breach::CursorNotPersisted);
    assert!(persisted(&code.replace(", STORE", "")), "`enter` says nothing by itself");
    assert!(!persisted(&code.replace("STORE", "store = enter")), "the mark says that it stores");
}

#[test]
fn a_loop_that_asks_the_contract_is_right_by_construction() {
    let code = "\
IMPORT
async fn listen(http: &reqwest::Client, session: &str, mut state: State) {
    loop {
        let request = http.get(\"/mcp\").header(\"Mcp-Session-Id\", session).header(\"Last-Event-ID\", &state.cursor);
        let mut events = request.send().await.unwrap().bytes_stream().eventsource();
        while let Some(Ok(event)) = events.next().await {
            state.cursor = event.id;
        }
        match next_action(&state.situation()) {
            Ok(action) => tokio::time::sleep(PAUSE).await,
            Err(refusal) => return,
        }
    }
}";
    assert_eq!(found(&code.replace("IMPORT", "use unbroken_contract::next_action;")), []);
    let own = found(
        &code.replace("IMPORT", "fn next_action(of: &Situation) -> Result<Action, Refusal> { todo!() }"),
    );
    assert!(
        own.iter().any(|(breach, _)| *breach == Breach::UnboundedReconnect),
        "another's function proves nothing: {own:?}"
    );
}
