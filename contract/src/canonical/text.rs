//! JSON strings with their escapes normalised (RFC 8785 section 3.2.2.2).
//! Knows no objects; a name and a value are the same to it.

use super::{NotJson, Problem, Reader};

/// Appends the string at the reader's place, with its quotes; whether it stands there as it was written, without escapes.
pub(super) fn write(reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<bool, NotJson> {
    // From its opening quote, or behind the last escape.
    let mut from = reader.at;
    reader.at += 1;
    let mut as_written = true;
    loop {
        reader.at += run(&reader.json[reader.at..]);
        match reader.peek() {
            Some(b'"') => {
                reader.at += 1;
                out.extend_from_slice(&reader.json[from..reader.at]);
                return Ok(as_written);
            }
            Some(b'\\') => {
                out.extend_from_slice(&reader.json[from..reader.at]);
                escape(reader, out)?;
                from = reader.at;
                as_written = false;
            }
            Some(_) => return Err(reader.error(Problem::ControlCharacter)),
            None => return Err(reader.error(Problem::Ended)),
        }
    }
}

/// How many bytes stand before the first quote, backslash or control character.
fn run(rest: &[u8]) -> usize {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // The high bit of the first byte that is below `bound`, and of none before it.
    let below = |bytes: u64, bound: u64| bytes.wrapping_sub(LOW * bound) & !bytes & HIGH;
    let (blocks, tail) = rest.as_chunks::<8>();
    for (at, block) in blocks.iter().enumerate() {
        let bytes = u64::from_le_bytes(*block);
        let ends = below(bytes, 0x20)
            | below(bytes ^ (LOW * u64::from(b'"')), 1)
            | below(bytes ^ (LOW * u64::from(b'\\')), 1);
        if ends != 0 {
            return at * 8 + ends.trailing_zeros() as usize / 8;
        }
    }
    let plain = tail.iter().take_while(|&&byte| byte >= 0x20 && byte != b'"' && byte != b'\\').count();
    rest.len() - tail.len() + plain
}

fn escape(reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<(), NotJson> {
    let Some(&kind) = reader.json.get(reader.at + 1) else {
        reader.at = reader.json.len();
        return Err(reader.error(Problem::Ended));
    };
    let character = match kind {
        b'"' | b'\\' | b'/' => kind as char,
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let unit = hex(reader, reader.at)?;
            reader.at += 6;
            unicode(unit, reader, out);
            return Ok(());
        }
        _ => return Err(reader.error(Problem::BadEscape)),
    };
    reader.at += 2;
    push(character, out);
    Ok(())
}

/// The code unit of the `\uXXXX` at `at`.
fn hex(reader: &Reader<'_>, at: usize) -> Result<u16, NotJson> {
    let digits = reader.json.get(at + 2..at + 6).ok_or(reader.error(Problem::Ended))?;
    digits.iter().try_fold(0_u16, |unit, &digit| match (digit as char).to_digit(16) {
        Some(value) => Ok(unit << 4 | value as u16),
        None => Err(NotJson { at, problem: Problem::BadEscape }),
    })
}

fn unicode(unit: u16, reader: &mut Reader<'_>, out: &mut Vec<u8>) {
    if let Some(character) = char::from_u32(unit.into()) {
        return push(character, out);
    }
    let follows = reader.json[reader.at..].starts_with(b"\\u");
    if let (true, Ok(low)) = (follows, hex(reader, reader.at))
        && let Some(Ok(character)) = char::decode_utf16([unit, low]).next()
    {
        reader.at += 6;
        return push(character, out);
    }
    // A lone surrogate has no UTF-8 form.
    push_unit(unit, out);
}

fn push(character: char, out: &mut Vec<u8>) {
    let short = match character {
        '"' => b'"',
        '\\' => b'\\',
        '\u{8}' => b'b',
        '\t' => b't',
        '\n' => b'n',
        '\u{c}' => b'f',
        '\r' => b'r',
        control if control < ' ' => return push_unit(control as u16, out),
        other => return out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
    };
    out.extend_from_slice(&[b'\\', short]);
}

fn push_unit(unit: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\\u");
    for shift in [12, 8, 4, 0] {
        out.push(b"0123456789abcdef"[usize::from(unit >> shift & 0xf)]);
    }
}
