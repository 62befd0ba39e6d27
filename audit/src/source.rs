//! Files as records: opening, decompression, framing, wrappers, hard bounds on what one record may take.
//! Knows no log format; what stands in a record is the adapters' affair.
//!
//! ```text
//! let mut source = Source::open(path, file_index, &Limits::default())?;   // Err(Problem): the file cannot be read at all
//! while let Some(batch) = source.next_batch() {                           // in the order of the file, owned, Send
//!     for record in batch.records() { /* record.origin, record.bytes, record.shipped */ }
//! }
//! let problems = source.problems();                                       // what was skipped or broken, with its place
//! ```

mod record;

pub use record::{Batch, Record, Shipped};
