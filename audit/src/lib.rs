//! Logs → events → sessions → timelines → findings.

pub mod event;
pub mod finding;
pub mod run;
