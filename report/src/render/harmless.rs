//! JSON whose bytes act on no terminal and hide nothing from a reader, while the values stay exact.
//! Knows no shape.

use crate::unprintable::{is_plain, is_unprintable};
use serde::Serialize;
use serde_json::ser::Formatter;
use std::io::{self, Write};

/// Writes a value.
pub(crate) fn value(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(out, Harmless);
    value.serialize(&mut serializer).map_err(io::Error::from)
}

/// Writes a value and ends the line.
pub(crate) fn line(it: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    value(it, out)?;
    out.write_all(b"\n")
}

/// Compact JSON in which unprintable characters are `\uXXXX`: the value is exact, the bytes act on no terminal.
struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        if is_plain(fragment) {
            return writer.write_all(fragment.as_bytes());
        }
        let mut units = [0; 2];
        let mut plain = 0;
        for (at, c) in fragment.char_indices().filter(|(_, c)| is_unprintable(*c)) {
            writer.write_all(&fragment.as_bytes()[plain..at])?;
            for unit in c.encode_utf16(&mut units) {
                write!(writer, "\\u{unit:04x}")?;
            }
            plain = at + c.len_utf8();
        }
        writer.write_all(&fragment.as_bytes()[plain..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_text_is_exact_and_harmless() {
        let text = "a\u{1b}[1m\u{202e}b\u{7f}\u{9b}\u{e0041}é\n";
        let mut out = Vec::new();
        line(&text, &mut out).expect("a Vec takes everything");
        let shown = String::from_utf8(out).expect("JSON is UTF-8");
        assert!(!shown.trim_end_matches('\n').chars().any(is_unprintable), "{shown:?}");
        assert_eq!(serde_json::from_str::<String>(&shown).expect("valid JSON"), text);
    }
}
