//! Small files that the user names beside the input: configuration, baselines, mappings, keys.
//! Knows nothing of what they hold.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Most bytes of such a file. A baseline of a hundred thousand findings has ten million.
const MOST: u64 = 64 << 20;

/// Reads a regular file of at most 64 MiB.
///
/// # Errors
/// Those of opening and reading; that `path` is a pipe, a device or a folder, which could go on for ever; that it is larger.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    // Asked before it is opened: opening a pipe that nobody writes waits.
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("it is a folder, a pipe or a device, and no file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(io::Error::other("it is larger than 64 MiB"));
    }
    Ok(bytes)
}

/// Reads such a file as UTF-8.
///
/// # Errors
/// Those of [`read`], and that it is not UTF-8.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|_| io::Error::other("it is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_go_on_for_ever_is_not_opened() {
        for endless in [Path::new("/dev/zero"), Path::new("/")] {
            let why = read(endless).expect_err("refused").to_string();
            assert_eq!(why, "it is a folder, a pipe or a device, and no file");
        }
        assert!(read_text(Path::new("Cargo.toml")).is_ok_and(|text| text.contains("[package]")));
    }
}
