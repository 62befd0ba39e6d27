//! Logs → events → sessions → timelines → findings.

pub mod adapter;
pub mod carry;
pub mod cost;
pub mod event;
pub mod finding;
pub mod given;
pub mod join;
mod ledger;
mod long;
pub mod mapping;
mod order;
pub mod pair;
pub mod proof;
mod quick;
mod reading;
pub mod rules;
pub mod run;
mod skim;
pub mod source;
pub mod spread;
pub mod table;
pub mod timeline;
pub mod verdict;
