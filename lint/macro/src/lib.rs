//! `#[unbroken::check]`: the session rules of MCP, checked where the code is compiled.
//! Knows how to read an item and where to say something about it; every rule is the lint engine's.
//!
//! ```ignore
//! #[unbroken::check(session = session_id)]
//! impl Client {
//!     async fn poll(&mut self) -> Result<(), Error> { /* … */ }
//! }
//! ```

mod emission;
mod item;
mod place;

use proc_macro::TokenStream;

/// Checks a function, an `impl`, a trait or an inline module for lost sessions, lost cursors and calls that are sent
/// twice.
///
/// A finding of level `deny` is a compile error at the offending place, one of level `warn` an ordinary compiler
/// warning there. The item itself is passed on token for token; only a function with something to say gets that said
/// at the head of its body. One item is seen, and nothing else of the crate: `unbroken lint` sees the rest.
///
/// # Arguments
///
/// Each any number of times, separated by commas:
///
/// - `session = field`: the field or variable that holds the session id, or the handle that owns the session;
/// - `cursor = field`: the one that holds the last event id;
/// - `call = function`: a function that sends a `tools/call`;
/// - `store = function`: a function that writes to storage;
/// - `allow(rule, reason = "…")`: findings of the rule are right in this item, and why. A reason is required, and an
///   acceptance that accepts nothing is warned of. The rule is named `session_discarded`, or by its id `session-discarded`.
///
/// Inside the item, `#[cfg_attr(any(), unbroken::allow(rule, reason = "…"))]` on a statement, a match arm or an inner
/// item accepts there; the compiler drops it, the check reads it. An assignment takes no attribute, braces around it do.
/// The bare `#[unbroken::allow(…)]` does not compile: there is no such attribute, and stable Rust takes none of a macro's
/// on statements.
///
/// # Levels
///
/// A level that `unbroken.toml` sets, `expired-session-kept = "warn"`, holds for `unbroken lint` alone: the macro reads no
/// file, since what it says must follow from the item. Here a rule has the level it is listed with by `unbroken rules`,
/// and all there is to change is `allow(expired_session_kept, reason = "…")`, in the attribute or where the finding
/// stands; that holds for `unbroken lint` too.
///
/// # Warnings
///
/// Stable Rust lets a macro raise no warning of its own, so each one is the use of a deprecated constant named after
/// the rule. `#![deny(warnings)]` and `-D warnings` make it an error, as they do with any warning. A crate-wide
/// `#![allow(deprecated)]` does not silence it, since the lint is set to warn at that very place; `allow(rule, …)`
/// does, and `#![allow(warnings)]`, which silences everything. Under `#![forbid(deprecated)]` the compiler also
/// complains that the lint was set at all.
#[proc_macro_attribute]
pub fn check(arguments: TokenStream, item: TokenStream) -> TokenStream {
    item::check(arguments.into(), item.into()).into()
}
