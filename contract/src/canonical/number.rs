//! JSON numbers as ECMAScript prints the double (RFC 8785 section 3.2.2.3), where a double holds them.
//! Knows no rounding that loses a digit: a number whose decimal value a double would change stays as written.

use std::io::Write;

use super::{NotJson, Problem, Reader};

/// No double needs more digits to be told from its neighbours.
const MOST_DIGITS: usize = 17;
/// Bytes of a number that is no smaller than any double, however many zeros stand behind its point.
const MOST_PLAIN: usize = 64;

/// Of a number without exponent whose digits make a smaller number than this, a double keeps every digit: one step of its
/// last digit is then more than the distance between doubles there, so that no other number with as few digits is as near.
const SURE: u64 = 1 << 52;

/// Appends the number at the reader's place.
pub(super) fn write(reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<(), NotJson> {
    let start = reader.at;
    let Form { digits, whole_end, has_exponent } = scan(reader)?;
    let written = &reader.json[start..reader.at];
    if !has_exponent && digits < SURE && written.len() <= MOST_PLAIN {
        let (whole, fraction) = written.split_at(whole_end - start);
        match (digits, fraction) {
            (0, _) => out.push(b'0'),
            (_, []) => out.extend_from_slice(whole),
            // From six zeros on it is written with an exponent.
            (_, [b'.', b'0', b'0', b'0', b'0', b'0', b'0', ..]) if matches!(whole, b"0" | b"-0") => {
                Decimal::of(written).iter().for_each(|decimal| decimal.print(out));
            }
            (_, fraction) => {
                let zeros = fraction.iter().rev().take_while(|byte| **byte == b'0').count();
                let kept = &fraction[..fraction.len() - zeros];
                out.extend_from_slice(whole);
                out.extend_from_slice(if kept == b"." { b"" } else { kept });
            }
        }
        return Ok(());
    }
    match Decimal::of(written) {
        Some(decimal) if decimal.survives_a_double(written) => decimal.print(out),
        _ => out.extend_from_slice(written),
    }
    Ok(())
}

/// How a number is written.
struct Form {
    /// All its digits as one number; the largest if they are more than fit.
    digits: u64,
    /// Where what stands before its point ends.
    whole_end: usize,
    has_exponent: bool,
}

/// Moves past a number of the JSON grammar.
fn scan(reader: &mut Reader<'_>) -> Result<Form, NotJson> {
    if reader.peek() == Some(b'-') {
        reader.at += 1;
    }
    let mut digits = 0;
    if reader.peek() == Some(b'0') {
        reader.at += 1;
        if matches!(reader.peek(), Some(b'0'..=b'9')) {
            return Err(reader.error(Problem::BadNumber));
        }
    } else {
        digits = run(reader, 0)?;
    }
    let whole_end = reader.at;
    if reader.peek() == Some(b'.') {
        reader.at += 1;
        digits = run(reader, digits)?;
    }
    let has_exponent = matches!(reader.peek(), Some(b'e' | b'E'));
    if has_exponent {
        reader.at += 1;
        if matches!(reader.peek(), Some(b'+' | b'-')) {
            reader.at += 1;
        }
        run(reader, 0)?;
    }
    Ok(Form { digits, whole_end, has_exponent })
}

/// Moves past digits, at least one, and gives `before` with them behind it.
fn run(reader: &mut Reader<'_>, before: u64) -> Result<u64, NotJson> {
    let start = reader.at;
    let mut digits = before;
    while let Some(byte @ b'0'..=b'9') = reader.peek() {
        digits = digits.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
        reader.at += 1;
    }
    match reader.peek() {
        _ if reader.at > start => Ok(digits),
        None => Err(reader.error(Problem::Ended)),
        Some(_) => Err(reader.error(Problem::BadNumber)),
    }
}

/// A decimal value `0.d1d2d3… × 10^point`, without zeros at either end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: [u8; MOST_DIGITS],
    count: usize,
    point: i64,
}

impl Decimal {
    /// The value of a number as written; `None` if it has more digits than any double.
    fn of(written: &[u8]) -> Option<Decimal> {
        let exponent_at = written.iter().position(|byte| matches!(byte, b'e' | b'E'));
        let mantissa = &written[..exponent_at.unwrap_or(written.len())];
        let all = || mantissa.iter().copied().filter(u8::is_ascii_digit);
        let total = all().count();
        let leading = all().take_while(|&digit| digit == b'0').count();
        let trailing =
            mantissa.iter().rev().filter(|b| b.is_ascii_digit()).take_while(|&&b| b == b'0').count();
        let mut decimal = Decimal {
            negative: written.first() == Some(&b'-'),
            digits: [b'0'; MOST_DIGITS],
            count: 0,
            point: 0,
        };
        if leading == total {
            return Some(decimal);
        }
        decimal.count = total - leading - trailing;
        if decimal.count > MOST_DIGITS {
            return None;
        }
        for (slot, digit) in decimal.digits.iter_mut().zip(all().skip(leading).take(decimal.count)) {
            *slot = digit;
        }
        let before_point = mantissa.iter().take_while(|&&b| b != b'.').filter(|b| b.is_ascii_digit()).count();
        let exponent = exponent_at.map_or(0, |at| parse_exponent(&written[at + 1..]));
        decimal.point = exponent.saturating_add(before_point as i64).saturating_sub(leading as i64);
        Some(decimal)
    }

    /// Whether the shortest text of the nearest double is this same decimal value.
    fn survives_a_double(&self, written: &[u8]) -> bool {
        let value: f64 =
            std::str::from_utf8(written).ok().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN);
        if !value.is_finite() {
            return false;
        }
        let mut buffer = [0_u8; 32];
        let mut free = &mut buffer[..];
        if write!(free, "{value:e}").is_err() {
            return false;
        }
        let left = free.len();
        let shortest = &buffer[..buffer.len() - left];
        Decimal::of(shortest).is_some_and(|held| held == *self)
    }

    /// ECMAScript's `Number::toString`; zero has no sign.
    fn print(&self, out: &mut Vec<u8>) {
        let digits = &self.digits[..self.count];
        let zeros = |out: &mut Vec<u8>, count: i64| out.extend((0..count).map(|_| b'0'));
        let count = self.count as i64;
        if count == 0 {
            return out.push(b'0');
        }
        if self.negative {
            out.push(b'-');
        }
        match self.point {
            point if point > 21 || point <= -6 => {
                out.push(digits[0]);
                if count > 1 {
                    out.push(b'.');
                    out.extend_from_slice(&digits[1..]);
                }
                let exponent = point - 1;
                out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
                out.extend_from_slice(exponent.unsigned_abs().to_string().as_bytes());
            }
            point if point >= count => {
                out.extend_from_slice(digits);
                zeros(out, point - count);
            }
            point if point > 0 => {
                let (whole, fraction) = digits.split_at(point as usize);
                out.extend_from_slice(whole);
                out.push(b'.');
                out.extend_from_slice(fraction);
            }
            point => {
                out.extend_from_slice(b"0.");
                zeros(out, -point);
                out.extend_from_slice(digits);
            }
        }
    }
}

/// An exponent of any length; what no double reaches saturates.
fn parse_exponent(text: &[u8]) -> i64 {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let value = digits
        .iter()
        .fold(0_i64, |value, &digit| value.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    if negative { -value } else { value }
}
