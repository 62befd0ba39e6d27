//! Source → facts → flow → rules.

pub mod finding;
pub mod sdk;
