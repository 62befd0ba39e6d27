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

/// Bytes that are gathered before they are written.
const STEP: usize = 1 << 20;

/// The file, made when it is first needed.
#[derive(Debug, Default)]
pub(super) struct Spill {
    file: Option<File>,
    /// Bytes in the file.
    written: u64,
    /// Bytes that are to be written behind them.
    pending: Vec<u8>,
    /// Bytes that are still wanted; at none the file starts over.
    wanted: u64,
    broken: Option<Error>,
}

impl Spill {
    /// Puts bytes aside. An error is kept, and nothing is put aside any more.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<Piece, ()> {
        if self.broken.is_some() || self.pending.len() >= STEP && self.flush().is_err() {
            return Err(());
        }
        let at = self.written + self.pending.len() as u64;
        let piece = Piece { at, length: u32::try_from(bytes.len()).map_err(|_| ())? };
        self.pending.extend_from_slice(bytes);
        self.wanted += u64::from(piece.length);
        Ok(piece)
    }

    /// Writes what was gathered. What cannot be written stays in memory, where it can be taken back.
    pub(super) fn flush(&mut self) -> Result<(), ()> {
        if self.broken.is_some() {
            return Err(());
        }
        match self.write() {
            Ok(()) => {
                self.written += self.pending.len() as u64;
                self.pending = Vec::new();
                Ok(())
            }
            Err(error) => {
                self.broken = Some(error);
                Err(())
            }
        }
    }

    fn write(&mut self) -> Result<(), Error> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(tempfile::tempfile()?),
        };
        file.seek(SeekFrom::Start(self.written))?;
        file.write_all(&self.pending)
    }

    /// Takes back pieces in the order in which they were put, with `tail` behind them; each is read from its own start.
    pub(super) fn take(&mut self, pieces: &mut Vec<Piece>, tail: Vec<u8>) -> Vec<Vec<u8>> {
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
            self.written = 0;
            self.pending.clear();
        }
        taken.push(tail);
        taken
    }

    fn read(&mut self, piece: Piece, into: &mut Vec<u8>) -> Result<(), Error> {
        let length = piece.length as usize;
        if piece.at >= self.written {
            let from = (piece.at - self.written) as usize;
            into.extend_from_slice(&self.pending[from..from + length]);
            return Ok(());
        }
        let file = self.file.as_mut().ok_or_else(|| Error::other("there is no temporary file"))?;
        file.seek(SeekFrom::Start(piece.at))?;
        let read = file.take(u64::from(piece.length)).read_to_end(into)?;
        if read == length { Ok(()) } else { Err(std::io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Why it could not be used, if it could not.
    pub(super) fn broken(self) -> Option<Error> {
        self.broken
    }
}
