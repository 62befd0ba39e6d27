//! The procedures against recorded traffic: what a correct client did next is what the contract says it may do.
//! Knows the recordings as wire logs only, and skips where they are not at hand.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;
use unbroken_contract::canonical::{Canonicalizer, canonical};
use unbroken_contract::close::{Delivery, End, Media, Request, SessionSent};
use unbroken_contract::resend::{FirstSend, Hints, Key};
use unbroken_contract::sse::StreamCursor;
use unbroken_contract::*;

/// The folder with the recordings, where it is at hand.
fn captures() -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let folder = std::env::var_os("UNBROKEN_SHARED").map_or(beside, PathBuf::from).join("captures");
    if !folder.is_dir() {
        eprintln!("skipped: the recordings are not beside the repository");
        return None;
    }
    Some(folder)
}

/// The lines of a log, plain or gzipped.
fn lines(run: &Path, name: &str) -> Vec<Value> {
    let mut text = String::new();
    if let Ok(file) = std::fs::File::open(run.join(format!("{name}.gz"))) {
        flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).expect("a whole gzip");
    } else if let Ok(plain) = std::fs::read_to_string(run.join(name)) {
        text = plain;
    }
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn runs(captures: &Path, of: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(captures).expect("a folder");
    let mut runs: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    runs.retain(|run| run.is_dir() && run.to_string_lossy().contains(of));
    runs.sort();
    runs
}

/// One exchange under way.
struct Flow {
    request: Request,
    session: Option<String>,
    /// The JSON-RPC id waited for, as JSON; a GET may bring the answer to any.
    awaited: Option<Value>,
    calls: bool,
    status: Option<u16>,
    media: Media,
    cursor: StreamCursor,
    body: String,
}

impl Flow {
    fn new(request: &Value) -> Flow {
        let header = |name: &str| request["headers"][name].as_str().map(str::to_owned);
        let last_event_id = header("last-event-id");
        let body: Value =
            serde_json::from_str(request["body"].as_str().unwrap_or_default()).unwrap_or_default();
        let awaited = body["method"].as_str().and(body.get("id")).cloned();
        let request = match (request["method"].as_str(), &last_event_id) {
            (Some("GET"), Some(_)) => Request::Resume,
            (Some("GET"), None) => Request::Listen,
            (Some("DELETE"), _) => Request::Delete,
            _ if awaited.is_some() => Request::Ask,
            _ => Request::Tell,
        };
        Flow {
            request,
            session: header("mcp-session-id"),
            awaited,
            calls: body["method"] == "tools/call",
            status: Some(0),
            media: Media::Empty,
            cursor: last_event_id.map_or_else(StreamCursor::new, |id| StreamCursor::resumed(&id)),
            body: String::new(),
        }
    }

    fn headers(&mut self, response: &Value) {
        self.status = response["status"].as_u64().and_then(|status| status.try_into().ok());
        self.media = match response["headers"]["content-type"].as_str() {
            Some(kind) if kind.starts_with("text/event-stream") => Media::EventStream,
            Some(kind) if kind.starts_with("application/json") => Media::Json,
            Some(_) => Media::Other,
            None => Media::Empty,
        };
    }

    fn chunk(&mut self, data: &str) {
        self.body.push_str(data);
        if self.media == Media::EventStream {
            self.cursor.read(data.as_bytes());
        }
    }

    fn answered(&self) -> bool {
        let mut messages = self.body.lines().filter_map(|line| {
            serde_json::from_str::<Value>(line.strip_prefix("data: ").unwrap_or(line)).ok()
        });
        messages.any(|message| {
            message.get("method").is_none()
                && self.awaited.as_ref().is_none_or(|id| message.get("id") == Some(id))
        })
    }

    fn closed(&self, end: End) -> Close<'static> {
        classify_close(
            Vantage::Client,
            &Observation {
                session: if self.session.is_some() { SessionSent::Held } else { SessionSent::None },
                delivery: if self.answered() { Delivery::All } else { Delivery::Missing },
                status: self.status,
                media: self.media,
                end,
                ..Observation::of(Era::Sessioned, self.request)
            },
        )
    }
}

fn end_of(step: &Value) -> Option<End> {
    match step["event"].as_str()? {
        "response_complete" => Some(End::Clean),
        "error" if step["error"].as_str() == Some("Client disconnected.") => Some(End::Own),
        "error" => Some(End::Cut),
        _ => None,
    }
}

/// Every resume of a client known to be right was allowed by the contract at a close before it, with that very cursor
/// in that very session.
#[test]
fn a_correct_client_resumes_as_the_contract_says() {
    let Some(captures) = captures() else { return };
    let mut resumes = 0;
    for run in runs(&captures, "__naive-correct__") {
        let mut flows: BTreeMap<u64, Flow> = BTreeMap::new();
        let mut allowed: BTreeSet<(Option<String>, String)> = BTreeSet::new();
        for step in lines(&run, "wire.jsonl") {
            let number = step["flow"].as_u64().unwrap();
            if step["event"] == "request" {
                let flow = Flow::new(&step);
                if flow.request == Request::Resume {
                    let cursor = flow.cursor.last_event_id().unwrap().to_owned();
                    let key = (flow.session.clone(), cursor);
                    assert!(
                        allowed.contains(&key),
                        "{}: flow {number}, {key:?} of {allowed:?}",
                        run.display()
                    );
                    resumes += 1;
                }
                flows.insert(number, flow);
                continue;
            }
            let Some(flow) = flows.get_mut(&number) else { continue };
            match step["event"].as_str() {
                Some("response_headers") => flow.headers(&step),
                Some("chunk") => flow.chunk(step["data"].as_str().unwrap_or_default()),
                _ => {}
            }
            let Some(end) = end_of(&step) else { continue };
            let permission = may_resend(FirstSend::Unknown, Key::None, &Hints::default());
            let awaited = match flow.request {
                Request::Listen => Awaited::Listening,
                Request::Ask if !flow.calls => Awaited::Answers,
                _ => Awaited::Call(permission),
            };
            let situation = Situation {
                session: flow
                    .session
                    .as_deref()
                    .map_or(Session::NeverIssued, |id| Session::Held(SessionId(id))),
                cursor: flow.cursor.last_event_id().map_or(Cursor::NeverIssued, Cursor::InMemory),
                ..Situation::of(flow.closed(end), Era::Sessioned, awaited)
            };
            if let Ok(Action::Resume { session, last_event_id, .. }) = next_action(&situation) {
                allowed.insert((session.map(|id| id.0.to_owned()), last_event_id.to_owned()));
            }
        }
    }
    assert!(resumes > 20, "only {resumes} resumes were seen");
}

/// Every JSON body of the recordings has one canonical form, which says the same.
#[test]
fn recorded_messages_have_one_form() {
    let Some(captures) = captures() else { return };
    let mut writer = Canonicalizer::new();
    let mut messages = 0;
    for run in runs(&captures, "s0") {
        for step in lines(&run, "wire.jsonl") {
            let Some(body) = step["body"].as_str().filter(|body| !body.is_empty()) else { continue };
            let mut form = Vec::new();
            writer.write(body.as_bytes(), &mut form).unwrap();
            let again: Value = serde_json::from_slice(&form).unwrap();
            assert_eq!(again, serde_json::from_str::<Value>(body).unwrap());
            assert_eq!(canonical(again.to_string().as_bytes()).unwrap(), form);
            messages += 1;
        }
    }
    assert!(messages > 500, "only {messages} messages were seen");
}
