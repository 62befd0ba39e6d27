//! The contract of MCP sessions over Streamable HTTP, stated once, as pure functions.

pub mod breach;

pub use breach::{Basis, Breach, Halves, Level};
