//! The contract of MCP sessions over Streamable HTTP, stated once, as pure functions.
//! Knows no I/O, no clock and no log: what happened comes in as arguments, and so does time.
//!
//! An MCP client on a dropped connection holds four things that are easily taken for one: a connection, a stream, a
//! session, and a call whose outcome it does not know. A drop says nothing about the last two. This crate answers the
//! questions that follow, for clients, servers and whoever reads their logs:
//!
//! | question | function | clause |
//! | --- | --- | --- |
//! | what did this side see? | [`classify_close`] | 3.1 |
//! | what may the client do now? | [`next_action`] | 3.2 |
//! | may this instance answer the resume? | [`authorize_resume`](resume::authorize_resume) | 3.3 |
//! | may the client believe the resume? | [`validate_resume`](token::validate_resume), [`judge_reconnect`](verdict::judge_reconnect) | 3.4 |
//! | where does the replay start? | [`resolve_cursor`](resume::resolve_cursor), [`resume_stream`](resume::resume_stream) | 3.5 |
//! | may a call be sent again? | [`may_resend`], [`same_call`](call::same_call) | 3.6 |
//!
//! # A client loop
//!
//! The transport is yours; the loop only asks. Here a scripted server cuts a call's stream, is busy once, and then
//! goes on where the client left off:
//!
//! ```
//! use unbroken_contract::close::{Delivery, End, Media, Request, SessionSent};
//! use unbroken_contract::cursor::IdOrder;
//! use unbroken_contract::resend::{FirstSend, Hints, Key};
//! use unbroken_contract::token::{Belief, Fingerprint, Owner, ResumeToken, Resumed, ResumedEvent, validate_resume};
//! use unbroken_contract::*;
//!
//! # use std::collections::VecDeque;
//! # struct Reply { status: u16, session: Option<&'static str>, body: &'static str, end: End }
//! # struct Server { script: VecDeque<Reply>, asked: Vec<String> }
//! # impl Server {
//! #     fn send(&mut self, asked: String) -> Reply {
//! #         self.asked.push(asked);
//! #         self.script.pop_front().expect("the script goes on")
//! #     }
//! # }
//! fn call(server: &mut Server, hold: &mut Hold) -> Result<String, String> {
//!     hold.opened();
//!     let mut reply = server.send(format!("POST tools/call in {:?}", hold.session()));
//!     let mut request = Request::Ask;
//!     loop {
//!         if request == Request::Resume && reply.status == 200 {
//!             check(hold, &reply)?;
//!         }
//!         hold.read(reply.body.as_bytes());
//!         let answer = reply.body.find("{\"jsonrpc\"").map(|at| &reply.body[at..]);
//!         let close = classify_close(Vantage::Client, &Observation {
//!             session: SessionSent::Held,
//!             delivery: if answer.is_some() { Delivery::All } else { Delivery::Missing },
//!             status: Some(reply.status),
//!             media: Media::EventStream,
//!             end: reply.end,
//!             ..Observation::of(Era::Sessioned, request)
//!         });
//!         if close == Close::Transport {
//!             hold.cut();
//!         }
//!         let permission = may_resend(FirstSend::Unknown, Key::None, &Hints::default());
//!         let situation = hold.situation(close, Era::Sessioned, Awaited::Call(permission));
//!         let action = next_action(&situation).map_err(|refusal| refusal.to_string())?;
//!         let effect = action.effect();
//!         // A real client sleeps for `action.delay()` here.
//!         reply = match action {
//!             Action::Done => return Ok(answer.unwrap_or_default().trim_end().to_owned()),
//!             Action::Resume { session, last_event_id, .. } => {
//!                 request = Request::Resume;
//!                 server.send(format!("GET after {last_event_id} in {:?}", session.map(|id| id.0)))
//!             }
//!             other => return Err(format!("cannot go on: {other:?}")),
//!         };
//!         hold.apply(effect);
//!     }
//! }
//!
//! /// A 200 is no proof of resumption: place the first event before acting on it.
//! fn check(hold: &Hold, reply: &Reply) -> Result<(), String> {
//!     let (Some(session), Some(cursor)) = (hold.session(), hold.cursor().held()) else { return Ok(()) };
//!     let token = ResumeToken::new(Owner::Session(session), "call", cursor, Fingerprint([0; 32]))
//!         .ordered(IdOrder::TrailingNumber);
//!     let id = reply.body.strip_prefix("id: ").and_then(|rest| rest.lines().next());
//!     let events = [ResumedEvent { id, has_data: true }];
//!     match validate_resume(&token, &Resumed { session: reply.session, events: &events, context: None }) {
//!         Belief::Failed(disproof) => Err(format!("not our stream: {disproof:?}")),
//!         Belief::Proved | Belief::Unproved(_) => Ok(()),
//!     }
//! }
//!
//! # let reply = |status, session, body, end| Reply { status, session, body, end };
//! let mut server = Server {
//!     asked: Vec::new(),
//!     script: [
//!         reply(200, Some("s-1"), "id: st2_1\ndata:\n\nid: st2_2\ndata: cut o", End::Cut),
//!         reply(503, None, "", End::Clean),
//!         reply(200, Some("s-1"), "id: st2_2\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n\n", End::Clean),
//!     ].into(),
//! };
//! let mut hold = Hold::new(RetryPolicy::DEFAULT);
//! hold.initialized(Some("s-1"));
//!
//! assert_eq!(call(&mut server, &mut hold)?, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
//! assert_eq!(server.asked, [
//!     "POST tools/call in Some(\"s-1\")",     // sent once,
//!     "GET after st2_1 in Some(\"s-1\")",     // and only its stream is asked for again,
//!     "GET after st2_1 in Some(\"s-1\")",     // in the same session, after the same event
//! ]);
//! # Ok::<(), String>(())
//! ```
//!
//! # What is held, and what is proved
//!
//! [`Hold`] keeps session id and cursor so that they can only be dropped together. [`token::ResumeToken`] is what
//! survives a restart. A server keeps an [`event_log::EventLog`], which refuses a cursor below its floor and never
//! clamps it. [`Breach`] is the catalogue of all ways to get this wrong.

pub mod action;
pub mod breach;
pub mod call;
pub mod canonical;
pub mod clause;
pub mod close;
pub mod cursor;
pub mod era;
pub mod event_log;
pub mod hold;
pub mod next;
pub mod pace;
pub mod resend;
pub mod resume;
mod sha256;
pub mod sse;
pub mod token;
pub mod verdict;

pub use action::{Action, Cancel, Outcome, Refusal, SessionId};
pub use breach::{Basis, Breach, Halves, Level};
pub use clause::Clause;
pub use close::{Close, Observation, Vantage, classify_close};
pub use era::{Era, EraFacts, era_of};
pub use hold::Hold;
pub use next::{Awaited, Cursor, Session, Situation, next_action};
pub use pace::{Attempts, Pace, RetryPolicy, delay};
pub use resend::{FirstSend, Hints, Key, Permission, may_resend};
pub use resume::Rejection;
