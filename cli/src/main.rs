//! The `unbroken` command.
fn main() {}
