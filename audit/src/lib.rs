//! Logs → events → sessions → timelines → findings.

pub mod adapter;
pub mod event;
pub mod finding;
pub mod mapping;
pub mod run;
pub mod source;
