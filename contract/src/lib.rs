//! The contract of MCP sessions over Streamable HTTP, stated once, as pure functions.

pub mod action;
pub mod breach;
pub mod call;
pub mod canonical;
pub mod clause;
pub mod close;
pub mod cursor;
pub mod era;
pub mod event_log;
pub mod next;
pub mod pace;
pub mod resend;
pub mod resume;
mod sha256;
pub mod sse;
pub mod token;
pub mod verdict;

pub use action::{Action, Cancel, Outcome, Refusal};
pub use breach::{Basis, Breach, Halves, Level};
pub use close::{Close, Observation, Vantage, classify_close};
pub use era::{Era, EraFacts, era_of};
pub use next::{Awaited, Cursor, Session, Situation, next_action};
pub use pace::{Attempts, Pace, RetryPolicy, delay};
pub use resend::{FirstSend, Hints, Key, Permission, may_resend};
pub use resume::Rejection;
