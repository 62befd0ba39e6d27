//! The temporary file that waiting events go to when memory is full.
//! Knows bytes; the file has no name, so it is gone with the process, however that ends.

use std::fs::File;
use std::io::{Error, Read, Seek, SeekFrom, Write};

/// Bytes in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    at: u64,
    length: u32,
}

/// The file, made when it is first needed.
#[derive(Debug, Default)]
pub(super) struct Spill {
    file: Option<File>,
    end: u64,
    /// Bytes that are still wanted; at none the file starts over.
    wanted: u64,
    broken: Option<Error>,
}

impl Spill {
    /// Puts bytes aside. An error is kept, and nothing is put aside any more.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<Piece, ()> {
        if self.broken.is_some() {
            return Err(());
        }
        let piece = Piece { at: self.end, length: u32::try_from(bytes.len()).map_err(|_| ())? };
        match self.write(bytes) {
            Ok(()) => {
                self.end += u64::from(piece.length);
                self.wanted += u64::from(piece.length);
                Ok(piece)
            }
            Err(error) => {
                self.broken = Some(error);
                Err(())
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(tempfile::tempfile()?),
        };
        file.seek(SeekFrom::Start(self.end))?;
        file.write_all(bytes)
    }

    /// Takes back pieces in the order in which they were put, with `tail` behind them; each is read from its own start.
    pub(super) fn take(&mut self, pieces: &mut Vec<Piece>, tail: &mut Vec<u8>) -> Vec<Vec<u8>> {
        let mut taken = Vec::with_capacity(pieces.len() + 1);
        for piece in pieces.drain(..) {
            self.wanted -= u64::from(piece.length);
            let mut bytes = Vec::with_capacity(piece.length as usize);
            match self.read(piece, &mut bytes) {
                Ok(()) => taken.push(bytes),
                Err(error) => _ = self.broken.get_or_insert(error),
            }
        }
        if self.wanted == 0 {
            self.end = 0;
        }
        taken.push(std::mem::take(tail));
        taken
    }

    fn read(&mut self, piece: Piece, into: &mut Vec<u8>) -> Result<(), Error> {
        let file = self.file.as_mut().ok_or_else(|| Error::other("there is no temporary file"))?;
        file.seek(SeekFrom::Start(piece.at))?;
        let read = file.take(u64::from(piece.length)).read_to_end(into)?;
        if read == piece.length as usize { Ok(()) } else { Err(std::io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Why it could not be used, if it could not.
    pub(super) fn broken(self) -> Option<Error> {
        self.broken
    }
}
