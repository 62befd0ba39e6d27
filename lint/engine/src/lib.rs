//! Source → facts → flow → rules.

pub mod finding;
