//! Source → facts → flow → rules.

pub mod accept;
pub mod facts;
pub mod finding;
pub mod marks;
pub mod sdk;
pub mod source;
pub mod spelling;

pub use source::{SourceFile, lower};
