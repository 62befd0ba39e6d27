//! Compressed members, one behind the other, as one stream of plain bytes.
//! Knows where a member ends; what is packed in it is the decoder's affair.

use std::io::{self, BufRead, Read};

/// A decoder of one member.
pub(super) trait Member: Read {
    /// What it reads from.
    type From: BufRead;

    /// Whether a member can begin with this byte: none does with a zero.
    const MAGIC: u8;

    /// Begins a member.
    fn begin(from: Self::From) -> Self;

    /// Gives back what follows the member, once that was read to its end.
    fn end(self) -> Self::From;
}

impl<R: BufRead> Member for flate2::bufread::GzDecoder<R> {
    type From = R;
    const MAGIC: u8 = 0x1f;

    fn begin(from: R) -> Self {
        flate2::bufread::GzDecoder::new(from)
    }

    fn end(self) -> R {
        self.into_inner()
    }
}

impl<R: BufRead> Member for bzip2::bufread::BzDecoder<R> {
    type From = R;
    const MAGIC: u8 = b'B';

    fn begin(from: R) -> Self {
        bzip2::bufread::BzDecoder::new(from)
    }

    fn end(self) -> R {
        self.into_inner()
    }
}

/// Members, one behind the other. Zeros between and behind them say nothing: tapes, block devices and files of a fixed size
/// are filled up with them, and gzip and bzip2 leave them out as well.
pub(super) struct Members<M> {
    now: Option<M>,
    done: bool,
}

impl<M: Member> Members<M> {
    pub(super) fn new(from: M::From) -> Self {
        Members { now: Some(M::begin(from)), done: false }
    }
}

impl<M: Member> Read for Members<M> {
    /// # Errors
    /// What the decoder says; `InvalidData` if something stands behind a member that is neither a member nor zeros.
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        while let Some(member) = self.now.as_mut().filter(|_| !self.done) {
            let read = member.read(buf)?;
            if read > 0 {
                return Ok(read);
            }
            let Some(member) = self.now.take() else { break };
            let mut from = member.end();
            self.done = true;
            if let Some(byte) = next_but_zeros(&mut from)? {
                if byte != M::MAGIC {
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidData,
                        "what stands behind the compressed data is no part of it",
                    ));
                }
                (self.now, self.done) = (Some(M::begin(from)), false);
            }
        }
        Ok(0)
    }
}

/// The next byte that is no zero, which is left to be read; none at the end.
fn next_but_zeros(from: &mut impl BufRead) -> io::Result<Option<u8>> {
    loop {
        let waiting = match from.fill_buf() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            waiting => waiting?,
        };
        if waiting.is_empty() {
            return Ok(None);
        }
        let (zeros, found) = match waiting.iter().position(|byte| *byte != 0) {
            Some(at) => (at, Some(waiting[at])),
            None => (waiting.len(), None),
        };
        from.consume(zeros);
        if found.is_some() {
            return Ok(found);
        }
    }
}
