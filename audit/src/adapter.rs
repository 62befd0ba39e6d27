//! Log formats: one adapter per producer turns a record's bytes into events.
//! Knows no file, no compression and no rule; detection and framing belong to `source`.

use crate::event::Event;
pub use crate::source::Record;
use rpc::Keep;

pub mod access;
pub mod detect;
pub mod field;
pub mod formats;
pub mod haproxy;
pub mod har;
pub mod intake;
pub mod loose;
mod names;
pub mod nginx;
mod part;
pub mod rpc;
pub mod sse;
mod tshark;
mod unread;
pub mod wire;

/// Why a record gave no events.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordProblem {
    /// The record does not have the shape that the format promises.
    #[error("the record is no {format}: {why}")]
    Malformed {
        /// The format's name.
        format: &'static str,
        /// What is wrong, in the parser's words.
        why: String,
    },
    /// The record carries no usable time.
    #[error("the record has no time that can be read")]
    NoTime,
}

/// A format's reader. It holds no state between records, so records may be read in any order and on any thread.
pub trait Adapter: Send + Sync {
    /// The format's name as shown to people.
    fn name(&self) -> &'static str;

    /// Hands the events of one record to `sink`; a record of another protocol gives none and is no error.
    ///
    /// # Errors
    /// [`RecordProblem`] when the record cannot be read at all.
    fn read(&self, record: Record<'_>, keep: Keep, sink: &mut dyn FnMut(Event)) -> Result<(), RecordProblem>;
}

/// Reads the records of one file in order, for formats whose records depend on each other.
pub trait Reader: Send {
    /// The format's name as shown to people, where it differs from file to file.
    fn name(&self) -> Option<&'static str> {
        None
    }

    /// Reads one record; events may be held back until more was seen.
    ///
    /// # Errors
    /// [`RecordProblem`] when the record cannot be read at all.
    fn read(&mut self, record: Record<'_>, sink: &mut dyn FnMut(Event)) -> Result<(), RecordProblem>;

    /// Gives what was held back.
    fn finish(&mut self, sink: &mut dyn FnMut(Event));

    /// Gives up the steps whose other steps may stand in another file, so that nothing is held back of them.
    fn leave(&mut self) -> Vec<loose::Step> {
        Vec::new()
    }
}
