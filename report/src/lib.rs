//! What a finding is, and every way to show it.
//! Knows neither the lint nor the audit: both hand their findings over in this crate's terms.
//!
//! A finding is data ([`finding::Finding`]); words are made of pieces of which some are secrets
//! ([`words::Piece`]), and [`secrets::Secrets`] decides how those are shown. A renderer
//! ([`render::Render`]) takes findings one by one and the [`summary::Summary`] at the end; what the
//! run is worth as a whole is the [`verdict::Verdict`].

pub mod baseline;
pub mod exhibit;
pub mod finding;
pub mod overview;
pub mod render;
pub mod secrets;
pub mod summary;
pub mod unprintable;
pub mod verdict;
pub mod words;

pub use baseline::Baseline;
pub use exhibit::{Exhibit, Range, Spot};
pub use finding::{Certainty, Finding, Role, Scene, Sent, Step, Subject};
pub use overview::Overview;
pub use secrets::Secrets;
pub use summary::{Charts, Input, Problem, Seen, Summary};
pub use verdict::{FailOn, Verdict};
pub use words::{Piece, Words};
