//! The text of a source file, or why there is none.
//! Knows bytes and their limits, no Rust.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A larger file is refused: its syntax tree would take gigabytes, and nobody wrote it by hand.
const LIMIT: u64 = 32 << 20;

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unread {
    #[error("cannot be read: {}", .0.kind())]
    Io(#[from] std::io::Error),
    #[error("larger than 32 MiB")]
    Large,
    #[error("not UTF-8 from line {line} on")]
    Encoding {
        /// From 1.
        line: u32,
    },
}

impl Unread {
    pub(super) fn help(&self) -> &'static str {
        match self {
            Unread::Io(_) => "check that the file exists and that you may read it",
            Unread::Large => "exclude it in unbroken.toml; generated sources of this size hold no client",
            Unread::Encoding { .. } => "save the file as UTF-8, as rustc demands, or exclude it",
        }
    }
}

pub(super) fn file(path: &Path) -> Result<String, Unread> {
    let file = File::open(path)?;
    let size = file.metadata().map_or(0, |about| about.len().min(LIMIT));
    // One byte more than it has: its end is found without another allocation.
    taken(file, size as usize + 1)
}

pub(super) fn text(source: impl Read) -> Result<String, Unread> {
    taken(source, 0)
}

/// All of the source, into a buffer that begins with this capacity.
fn taken(source: impl Read, capacity: usize) -> Result<String, Unread> {
    let mut bytes = Vec::with_capacity(capacity);
    source.take(LIMIT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LIMIT {
        return Err(Unread::Large);
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let lines = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        Unread::Encoding { line: u32::try_from(lines).unwrap_or(u32::MAX) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_refused_with_its_place() {
        assert_eq!(text(&b"fn main() {}"[..]).expect("text"), "fn main() {}");
        assert_eq!(text(&b"a\nb\n\xff"[..]).expect_err("no UTF-8").to_string(), "not UTF-8 from line 3 on");
        assert!(matches!(text(std::io::repeat(b' ')), Err(Unread::Large)));
        assert!(matches!(file(Path::new("/nowhere/x.rs")), Err(Unread::Io(_))));
    }
}
