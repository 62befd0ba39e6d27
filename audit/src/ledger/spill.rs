//! The temporary files that waiting records go to when memory is full.
//! Knows bytes; the files have no names, so they are gone with the process, however that ends.

use std::fs::File;
use std::io::{Error, Read, Seek, SeekFrom, Write};

/// Bytes in a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    file: usize,
    at: u64,
    length: u32,
}

/// Bytes that are gathered before they are written.
const STEP: usize = 1 << 20;
/// Bytes of one file. What waits is fetched back within a few horizons, and with the last of its bytes a file goes.
const FILE: u64 = 64 << 20;

/// One temporary file.
#[derive(Debug, Default)]
struct Sheet {
    file: Option<File>,
    /// Bytes in it.
    written: u64,
    /// Bytes that are still wanted, those that are to be written included.
    wanted: u64,
}

/// The files, made when they are first needed.
#[derive(Debug, Default)]
pub(super) struct Spill {
    sheets: Vec<Sheet>,
    /// The file that is written to.
    now: usize,
    /// Bytes that are to be written to it.
    pending: Vec<u8>,
    broken: Option<Error>,
}

impl Spill {
    /// Puts bytes aside. An error is kept, and nothing is put aside any more.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<Piece, ()> {
        if self.broken.is_some() || self.pending.len() >= STEP && self.flush().is_err() {
            return Err(());
        }
        let length = u32::try_from(bytes.len()).map_err(|_| ())?;
        if self.sheets.is_empty() || self.pending.is_empty() && self.sheets[self.now].written >= FILE {
            self.turn();
        }
        let sheet = &mut self.sheets[self.now];
        let piece = Piece { file: self.now, at: sheet.written + self.pending.len() as u64, length };
        sheet.wanted += u64::from(length);
        self.pending.extend_from_slice(bytes);
        Ok(piece)
    }

    /// Goes on in a file of which nothing is wanted.
    fn turn(&mut self) {
        self.now = self.sheets.iter().position(|sheet| sheet.wanted == 0).unwrap_or_else(|| {
            self.sheets.push(Sheet::default());
            self.sheets.len() - 1
        });
        self.sheets[self.now].written = 0;
    }

    /// Writes what was gathered. What cannot be written stays in memory, where it can be taken back.
    pub(super) fn flush(&mut self) -> Result<(), ()> {
        if self.broken.is_some() {
            return Err(());
        }
        match self.write() {
            Ok(()) => Ok(()),
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
        let sheet = &mut self.sheets[self.now];
        let file = match &mut sheet.file {
            Some(file) => file,
            None => sheet.file.insert(tempfile::tempfile()?),
        };
        file.seek(SeekFrom::Start(sheet.written))?;
        file.write_all(&self.pending)?;
        sheet.written += self.pending.len() as u64;
        self.pending = Vec::new();
        Ok(())
    }

    /// Takes back pieces in the order in which they were put, with `tail` behind them; each is read from its own start.
    pub(super) fn take(&mut self, pieces: &mut Vec<Piece>, tail: Vec<u8>) -> Vec<Vec<u8>> {
        let mut taken = Vec::with_capacity(pieces.len() + 1);
        for piece in pieces.drain(..) {
            let mut bytes = Vec::with_capacity(piece.length as usize);
            match self.read(piece, &mut bytes) {
                Ok(()) => taken.push(bytes),
                Err(error) => _ = self.broken.get_or_insert(error),
            }
            let sheet = &mut self.sheets[piece.file];
            sheet.wanted -= u64::from(piece.length);
            if sheet.wanted == 0 && piece.file != self.now {
                // Its room on the disk goes back with it.
                *sheet = Sheet::default();
            }
        }
        taken.push(tail);
        taken
    }

    fn read(&mut self, piece: Piece, into: &mut Vec<u8>) -> Result<(), Error> {
        let length = piece.length as usize;
        let sheet = &mut self.sheets[piece.file];
        if piece.file == self.now && piece.at >= sheet.written {
            let from = (piece.at - sheet.written) as usize;
            into.extend_from_slice(&self.pending[from..from + length]);
            return Ok(());
        }
        let file = sheet.file.as_mut().ok_or_else(|| Error::other("there is no temporary file"))?;
        file.seek(SeekFrom::Start(piece.at))?;
        let read = file.take(u64::from(piece.length)).read_to_end(into)?;
        if read == length { Ok(()) } else { Err(std::io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Why they could not be used, if they could not.
    pub(super) fn broken(self) -> Option<Error> {
        self.broken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_back_in_their_order_and_files_are_used_again() {
        let mut spill = Spill::default();
        let block = |n: u8| vec![n; 3 << 20];
        for round in 0..3 {
            let mut pieces: Vec<Piece> =
                (0..50).map(|n| spill.put(&block(n)).expect("there is room")).collect();
            let mut first: Vec<Piece> = pieces.drain(..25).collect();
            let taken = spill.take(&mut first, vec![round]);
            assert_eq!(taken.len(), 26);
            assert!((0..25).all(|n| taken[n] == block(n as u8)) && taken[25] == [round]);
            let taken = spill.take(&mut pieces, Vec::new());
            assert!((25..50).all(|n| taken[n - 25] == block(n as u8)));
        }
        assert!(spill.sheets.len() <= 4, "{}", spill.sheets.len());
        assert!(spill.sheets.iter().all(|sheet| sheet.wanted == 0));
    }
}
