//! What one export leaves for the next: records that are not done with, and what was told already.
//! Knows its own form as bytes; not where they are kept.
//!
//! The form is a line with its version, then JSON in zstd with a checksum. A file of another version, or one that was cut off
//! or changed, is refused as a whole: half of it would be worse than none.

use crate::adapter::loose::Step;
use crate::event::{Event, Nanos, Text};
use crate::given::Given;
use crate::join::Known;
use crate::ledger::{Common, Passed, Ways};
use serde::{Deserialize, Serialize};

/// The first line. The number is raised with every change of the form, also of an event's.
const HEAD: &[u8] = b"unbroken-state 4\n";
/// What every version's first line begins with.
const ANY_HEAD: &[u8] = b"unbroken-state ";

/// What is carried from one export to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Carried {
    /// Paths of the files that the records' origins point to.
    pub(crate) paths: Vec<String>,
    /// Records that are not done with, in the order of time.
    pub(crate) records: Vec<Waits>,
    /// Clients that wait: the key of each, and when a part of it was judged last.
    pub(crate) clients: Vec<(u64, Nanos)>,
    /// What is known of them, where they all wait in one place.
    pub(crate) common: Option<Common>,
    /// Where else records find their client.
    pub(crate) ways: Ways,
    /// The log's time, and when it was last looked for clients whose time has come.
    pub(crate) clock: Option<(Nanos, Nanos)>,
    /// Fingerprints that are out, as hashes, with the log's time when they were told.
    pub(crate) told: Vec<(u64, Nanos)>,
    /// Sends that stand in a finding that is out, as hashes, with it and the log's time.
    pub(crate) sends: Vec<(u64, u64, Nanos)>,
    /// What tools declared of themselves.
    pub(crate) tools: Vec<Declared>,
    /// The time that second logs cover.
    pub(crate) remarked: Option<(Nanos, Nanos)>,
    /// There was more than one client.
    pub(crate) others: bool,
    /// How far the order of all has come, and the latest records, so that one that comes again is known.
    pub(crate) passed: Passed,
    /// Steps of exchanges that are going on.
    pub(crate) loose: Vec<Step>,
    /// The logs that there were.
    pub(crate) given: Given,
    /// What is known of clocks.
    pub(crate) clocks: Vec<Known>,
}

/// A record that waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Waits {
    pub(crate) event: Event,
    /// What is known of its calls, as a number.
    pub(crate) mark: u64,
    pub(crate) stage: Stage,
}

/// How far a record has come.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// Others may yet overtake it; with what it weighs and whether it was read as an ordinary one.
    Queued { weight: u32, ordinary: bool },
    /// It is one of a client's; `counted`: already, and it stays as the beginning of a session that goes on.
    Filed { client: u32, counted: bool },
}

/// What one tool declared at one path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Declared {
    pub(crate) path: Text,
    pub(crate) tool: Text,
    pub(crate) read_only: Option<bool>,
    pub(crate) idempotent: Option<bool>,
    pub(crate) destructive: Option<bool>,
    pub(crate) disputed: bool,
}

/// Why bytes are no state.
#[derive(Debug, thiserror::Error)]
pub enum CarryError {
    /// They begin in another way.
    #[error("it is no state of an audit")]
    Foreign,
    /// Written by another version.
    #[error("it was written by another version of unbroken")]
    Version,
    /// Cut off or changed.
    #[error("it is damaged: {0}")]
    Damaged(String),
}

impl Carried {
    /// Reads what [`Carried::bytes`] wrote.
    ///
    /// # Errors
    /// [`CarryError`].
    pub fn parse(bytes: &[u8]) -> Result<Carried, CarryError> {
        let Some(packed) = bytes.strip_prefix(HEAD) else {
            let known = bytes.starts_with(ANY_HEAD);
            return Err(if known { CarryError::Version } else { CarryError::Foreign });
        };
        let damaged = |why: &dyn std::fmt::Display| CarryError::Damaged(why.to_string());
        let json = zstd::decode_all(packed).map_err(|why| damaged(&why))?;
        serde_json::from_slice(&json).map_err(|why| damaged(&why))
    }

    /// The bytes to keep.
    ///
    /// # Errors
    /// The compressor's, for want of memory.
    pub fn bytes(&self) -> std::io::Result<Vec<u8>> {
        let mut packer = zstd::Encoder::new(HEAD.to_vec(), 3)?;
        packer.include_checksum(true)?;
        serde_json::to_writer(&mut packer, self)?;
        packer.finish()
    }

    /// Takes over steps of exchanges that are going on; `paths`: of the files that their origins point to.
    pub(crate) fn keep_loose(&mut self, open: &[Step], paths: &[String]) {
        for step in open {
            let path = &paths[step.origin.file as usize];
            let file = self.paths.iter().position(|known| known == path).unwrap_or_else(|| {
                self.paths.push(path.clone());
                self.paths.len() - 1
            });
            let mut step = step.clone();
            step.origin.file = file as u32;
            self.loose.push(step);
        }
    }

    /// Records that wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.records.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_whole_state_is_refused() {
        let carried = Carried { paths: vec!["a".into()], told: vec![(u64::MAX, -1)], ..Carried::default() };
        let bytes = carried.bytes().expect("there is memory");
        assert_eq!(Carried::parse(&bytes).expect("it is whole"), carried);
        for cut in 0..bytes.len() {
            assert!(Carried::parse(&bytes[..cut]).is_err(), "{cut}");
        }
        let mut changed = bytes.clone();
        let last = changed.len() - 1;
        changed[last] ^= 1;
        assert!(matches!(Carried::parse(&changed), Err(CarryError::Damaged(_))));
        assert!(matches!(Carried::parse(b"unbroken-state 99\n"), Err(CarryError::Version)));
        assert!(matches!(Carried::parse(b"{}"), Err(CarryError::Foreign)));
    }
}
