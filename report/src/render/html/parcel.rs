//! Stories that nobody has opened yet: deflated by the hundred and written as Base64, which a page may hold.
//! Knows not what a story says.

use flate2::{Compression, write::DeflateEncoder};
use std::io::{self, Write};

/// Stories in one parcel. More compress better, fewer are opened faster.
pub(super) const STORIES: usize = 100;
/// Stands between two stories. No text in a page holds it: characters that cannot be read are spelled out.
const BETWEEN: u8 = 0x1e;
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Parcels, the last of them still open.
#[derive(Default)]
pub(super) struct Parcels {
    closed: Vec<String>,
    open: Option<DeflateEncoder<Vec<u8>>>,
    stories: usize,
}

impl Parcels {
    /// Adds a story.
    pub(super) fn put(&mut self, story: &str) -> io::Result<()> {
        let open = self.open.get_or_insert_with(|| DeflateEncoder::new(Vec::new(), Compression::default()));
        if self.stories > 0 {
            open.write_all(&[BETWEEN])?;
        }
        open.write_all(story.as_bytes())?;
        self.stories += 1;
        if self.stories == STORIES { self.end() } else { Ok(()) }
    }

    /// All parcels, in order.
    pub(super) fn close(mut self) -> io::Result<Vec<String>> {
        self.end()?;
        Ok(self.closed)
    }

    fn end(&mut self) -> io::Result<()> {
        if let Some(open) = self.open.take() {
            self.closed.push(base64(&open.finish()?));
        }
        self.stories = 0;
        Ok(())
    }
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits =
            three.iter().enumerate().fold(0_u32, |bits, (at, byte)| bits | u32::from(*byte) << (16 - 8 * at));
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at)) as usize & 63];
            text.push(if at <= three.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_rfc() {
        let vectors = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        for (length, expected) in vectors.iter().enumerate() {
            assert_eq!(base64(&b"foobar"[..length]), *expected);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xbf]), "+/+/");
    }

    #[test]
    fn a_parcel_is_full_at_its_number_and_none_is_empty() {
        let mut parcels = Parcels::default();
        for story in 0..=STORIES {
            parcels.put(&format!("story {story}")).expect("memory takes everything");
        }
        assert_eq!(parcels.close().expect("memory takes everything").len(), 2);
        assert!(Parcels::default().close().expect("memory takes everything").is_empty());
    }
}
