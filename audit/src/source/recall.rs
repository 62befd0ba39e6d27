//! Records read a second time, by their place in a file.
//! Knows offsets and a hash of the bytes; a record that is no longer what it was is told, never guessed.

use crate::quick::HashMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Files that are open for a second look at a time.
const MOST_OPEN: usize = 64;

/// Files that can be read again.
pub(crate) struct Recall<'p> {
    paths: Vec<&'p PathBuf>,
    open: Mutex<HashMap<u32, Arc<File>>>,
    lost: Mutex<Vec<(u32, u64)>>,
}

impl<'p> Recall<'p> {
    /// For files by their numbers.
    pub(crate) fn new(paths: Vec<&'p PathBuf>) -> Self {
        Recall { paths, open: Mutex::default(), lost: Mutex::default() }
    }

    /// The bytes at an offset of a file; none if they are not those that `is` knows, which is told at the end of the run.
    pub(crate) fn read(
        &self,
        file: u32,
        offset: u64,
        length: u32,
        is: impl Fn(&[u8]) -> bool,
    ) -> Option<Vec<u8>> {
        let mut bytes = vec![0; length as usize];
        let read = self.file(file).and_then(|file| read_at(&file, &mut bytes, offset).ok());
        if read.is_some() && is(&bytes) {
            return Some(bytes);
        }
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).push((file, offset));
        None
    }

    /// Records that were not found again, as (file, how many).
    pub(crate) fn lost(self) -> Vec<(u32, u64)> {
        let mut lost = self.lost.into_inner().unwrap_or_else(PoisonError::into_inner);
        lost.sort_unstable();
        lost.dedup();
        let count = |run: &[(u32, u64)]| (run[0].0, run.len() as u64);
        lost.chunk_by(|a, b| a.0 == b.0).map(count).collect()
    }

    fn file(&self, file: u32) -> Option<Arc<File>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = open.get(&file) {
            return Some(Arc::clone(known));
        }
        if open.len() >= MOST_OPEN {
            open.clear();
        }
        let opened = Arc::new(File::open(self.paths.get(file as usize)?).ok()?);
        open.insert(file, Arc::clone(&opened));
        Some(opened)
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> std::io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !bytes.is_empty() {
        let read = file.seek_read(bytes, offset)?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        bytes = &mut bytes[read..];
        offset += read as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_known_again_and_one_that_changed_is_told() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let path = folder.path().join("log");
        std::fs::write(&path, "first\nsecond\n").expect("a disk with room");
        let recall = Recall::new(vec![&path]);
        let look = |length| recall.read(0, 6, length, |bytes| bytes == b"second");
        assert_eq!(look(6).as_deref(), Some(&b"second"[..]));
        // Written over, then cut off: neither is what was read.
        std::fs::write(&path, "first\nSECOND\n").expect("a disk with room");
        assert_eq!(look(6), None);
        std::fs::write(&path, "first\n").expect("a disk with room");
        assert_eq!(look(6), None);
        assert_eq!(recall.read(1, 0, 1, |_| true), None);
        assert_eq!(recall.lost(), [(0, 1), (1, 1)]);
    }
}
