//! Mapping files: how the records of a log state MCP facts, declared as data.
//! Knows no program's log; refuses keys that it does not know.

pub mod clock;
