//! A file as a stream of plain bytes: kinds of file, compression told by magic numbers, peeled to a fixed point.
//! Knows nothing of lines or records.

use super::members::Members;
use super::nature::{self, Nature};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};

/// Bytes by which a compression is told.
const HEAD: usize = 512;
/// Compressions may be nested (a gzip of a gzip happens when a shipper compresses rotated logs); deeper is a trap.
const MOST_LAYERS: usize = 4;
/// Read and hand-over size: large enough that system calls vanish, small beside the memory bound.
const STEP: usize = 256 * 1024;

/// Why a file cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unopenable {
    /// The system refuses.
    #[error("the file cannot be opened: {0}")]
    Io(io::Error),
    /// Not a regular file.
    #[error("this is {0}, not a file")]
    Kind(&'static str),
    /// A folder in which nothing is to be read.
    #[error("this folder holds no file that is not hidden")]
    Folder,
    /// Compressed too often.
    #[error("this is compressed more than {MOST_LAYERS} times over")]
    Deep,
    /// Something that is not read.
    #[error("this is {}", .0.what)]
    Other(Nature),
}

/// Plain bytes of a file. Compressed input is decoded in a thread of its own.
pub(crate) struct ByteStream {
    inner: Box<dyn Read + Send>,
    /// Compressions that were peeled, outermost first.
    pub(crate) layers: Vec<&'static str>,
    ended: bool,
    /// What ended it, if it was not its end.
    broken: Option<io::Error>,
}

impl ByteStream {
    /// Opens `path`, a regular file.
    ///
    /// # Errors
    /// [`Unopenable`]: missing, unreadable, a directory, FIFO, socket or device, or packed in a way that is not unpacked here.
    pub(crate) fn open(path: &Path) -> Result<Self, Unopenable> {
        // Asked before opening: opening a FIFO without a writer blocks for ever.
        let kind = std::fs::metadata(path).map_err(Unopenable::Io)?;
        if kind.is_dir() {
            std::fs::read_dir(path).map_err(Unopenable::Io)?;
            return Err(if super::folder::is_bare(path) {
                Unopenable::Folder
            } else {
                Unopenable::Kind("a directory")
            });
        }
        if !kind.is_file() {
            return Err(Unopenable::Kind(kind_of(&kind)));
        }
        let mut file = File::open(path).map_err(Unopenable::Io)?;
        // What is not compressed is read from the file itself, which writes into memory as it is.
        let (head, broken) = peek(&mut file, HEAD);
        if broken.is_none() && magic(&head)?.is_none() && file.rewind().is_ok() {
            let inner = Box::new(file);
            return Ok(ByteStream { inner, layers: Vec::new(), ended: false, broken: None });
        }
        Self::over(Box::new(io::Cursor::new(head).chain(AfterHead { broken, inner: Box::new(file) })))
    }

    /// Peels the compressions of `inner`.
    ///
    /// # Errors
    /// As [`ByteStream::open`].
    pub(crate) fn over(mut inner: Box<dyn Read + Send>) -> Result<Self, Unopenable> {
        let mut layers = Vec::new();
        loop {
            let (head, broken) = peek(&mut inner, HEAD);
            let rest = io::Cursor::new(head.clone()).chain(AfterHead { broken, inner });
            let Some(layer) = magic(&head)? else {
                return Ok(ByteStream { inner: Box::new(rest), layers, ended: false, broken: None });
            };
            if layers.len() == MOST_LAYERS {
                return Err(Unopenable::Deep);
            }
            layers.push(layer);
            inner = Box::new(Threaded::spawn(decoder(layer, Box::new(rest))?));
        }
    }

    /// Appends up to `most` bytes to `to`; 0: the end. After an error the stream is at its end.
    ///
    /// # Errors
    /// What the system or a decoder says (a truncated gzip, a checksum that does not fit).
    pub(crate) fn fill(&mut self, to: &mut Vec<u8>, most: usize) -> io::Result<usize> {
        if let Some(e) = self.broken.take() {
            return Err(e);
        }
        if self.ended {
            return Ok(0);
        }
        let before = to.len();
        to.reserve(most);
        // Reads into what was reserved, without writing zeros there first.
        let read = (&mut self.inner).take(most as u64).read_to_end(to);
        let n = to.len() - before;
        self.ended = n < most;
        // What came before an error is given; the error comes with the next call.
        match read {
            Err(e) if n == 0 => Err(e),
            Err(e) => {
                self.broken = Some(e);
                Ok(n)
            }
            Ok(_) => Ok(n),
        }
    }
}

/// What was read for a peek, then the error that ended the peek (once), then the rest.
struct AfterHead {
    broken: Option<io::Error>,
    inner: Box<dyn Read + Send>,
}

impl Read for AfterHead {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.broken.take() {
            Some(e) => Err(e),
            None => self.inner.read(buf),
        }
    }
}

fn peek(inner: &mut dyn Read, n: usize) -> (Vec<u8>, Option<io::Error>) {
    let mut head = vec![0; n];
    let mut have = 0;
    while have < n {
        match inner.read(&mut head[have..]) {
            Ok(0) => break,
            Ok(k) => have += k,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => {
                head.truncate(have);
                return (head, Some(e));
            }
        }
    }
    head.truncate(have);
    (head, None)
}

/// Magic numbers as in formats.md section 5.
fn magic(head: &[u8]) -> Result<Option<&'static str>, Unopenable> {
    Ok(match head {
        [0x1f, 0x8b, ..] => Some("gzip"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("zstd"),
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some("zstd"),
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..] => Some("bzip2"),
        _ => match nature::of_bytes(head) {
            Some(nature) => return Err(Unopenable::Other(nature)),
            None => None,
        },
    })
}

fn decoder(layer: &str, from: Box<dyn Read + Send>) -> Result<Box<dyn Read + Send>, Unopenable> {
    let from = BufReader::with_capacity(STEP, from);
    Ok(match layer {
        "gzip" => Box::new(Members::<flate2::bufread::GzDecoder<_>>::new(from)),
        "bzip2" => Box::new(Members::<bzip2::bufread::BzDecoder<_>>::new(from)),
        _ => Box::new(zstd::stream::read::Decoder::with_buffer(from).map_err(Unopenable::Io)?),
    })
}

#[cfg(unix)]
fn kind_of(kind: &std::fs::Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    let kind = kind.file_type();
    if kind.is_dir() {
        "a directory"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn kind_of(kind: &std::fs::Metadata) -> &'static str {
    if kind.is_dir() { "a directory" } else { "something special" }
}

/// A reader that works ahead in a thread, two steps at most.
struct Threaded {
    steps: Receiver<io::Result<Vec<u8>>>,
    now: io::Cursor<Vec<u8>>,
}

impl Threaded {
    fn spawn(mut from: Box<dyn Read + Send>) -> Self {
        let (give, steps) = sync_channel(2);
        std::thread::spawn(move || {
            loop {
                let (step, broken) = peek(&mut *from, STEP);
                let done = step.len() < STEP;
                // A closed channel means that nobody reads on: the file was given up.
                if !step.is_empty() && give.send(Ok(step)).is_err() {
                    return;
                }
                if let Some(e) = broken {
                    let _ = give.send(Err(e));
                    return;
                }
                if done {
                    return;
                }
            }
        });
        Threaded { steps, now: io::Cursor::new(Vec::new()) }
    }
}

impl Read for Threaded {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.now.read(buf)?;
            if n > 0 || buf.is_empty() {
                return Ok(n);
            }
            match self.steps.recv() {
                Ok(step) => self.now = io::Cursor::new(step?),
                Err(_) => return Ok(0),
            }
        }
    }
}
