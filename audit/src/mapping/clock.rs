//! Timestamps as logs write them, in nanoseconds since the epoch.
//! Knows formats; refuses to guess a unit where magnitudes do not tell it apart.

use crate::event::Nanos;

/// Nanoseconds in a second.
pub const SECOND: Nanos = 1_000_000_000;

/// RFC 3339 and its kin (`T` or a blank, any fraction, `Z`, an offset, or no zone): time, and whether it had a zone.
pub fn rfc3339(text: &str) -> Option<(Nanos, bool)> {
    let (b, rest) = text.as_bytes().split_first_chunk::<19>()?;
    let dashes = b[4] == b'-' && b[7] == b'-' && b[13] == b':' && b[16] == b':';
    if !dashes || !matches!(b[10], b'T' | b't' | b' ') {
        return None;
    }
    let year = two(b[0], b[1])? * 100 + two(b[2], b[3])?;
    let day = days(year, two(b[5], b[6])?, two(b[8], b[9])?)?;
    let clock = seconds(two(b[11], b[12])?, two(b[14], b[15])?, two(b[17], b[18])?)?;
    let (fraction, rest) = fraction(rest)?;
    let (offset, zoned) = zone(rest)?;
    Some((at(day, clock - offset, fraction)?, zoned))
}

/// The common log format's `14/Aug/2026:09:00:05 +0000`, HAProxy's with a fraction and no zone: time, and whether it had a zone.
pub fn clf(text: &str) -> Option<(Nanos, bool)> {
    let b = text.trim_start_matches('[').trim_end_matches(']').as_bytes();
    if b.len() < 20 || b[2] != b'/' || b[6] != b'/' || b[11] != b':' {
        return None;
    }
    let day = days(number(&b[7..11])?, month(&b[3..6])?, number(&b[0..2])?)?;
    let clock = seconds(number(&b[12..14])?, number(&b[15..17])?, number(&b[18..20])?)?;
    let (fraction, rest) = fraction(&b[20..])?;
    let (offset, zoned) = zone(rest.trim_ascii_start())?;
    Some((at(day, clock - offset, fraction)?, zoned))
}

/// nginx's error log: `2026/11/29 14:08:44`, local time without a zone; Envoy's documentation has it with `T` and a zone.
pub fn slashed(text: &str) -> Option<(Nanos, bool)> {
    let b = text.as_bytes();
    if b.len() < 19 || b[4] != b'/' || b[7] != b'/' || !matches!(b[10], b' ' | b'T') {
        return None;
    }
    let day = days(number(&b[0..4])?, number(&b[5..7])?, number(&b[8..10])?)?;
    let clock = seconds(number(&b[11..13])?, number(&b[14..16])?, number(&b[17..19])?)?;
    let (fraction, rest) = fraction(&b[19..])?;
    let (offset, zoned) = zone(rest.trim_ascii_start())?;
    Some((at(day, clock - offset, fraction)?, zoned))
}

/// A decimal number of units of `unit` nanoseconds since the epoch, read exactly, not as a float.
pub fn epoch(text: &str, unit: Nanos) -> Option<Nanos> {
    let text = text.trim();
    if let Some(nanos) = plain(text, unit) {
        return Some(nanos);
    }
    if let Some((digits, power)) = text.split_once(['e', 'E']) {
        return scientific(digits, power.parse().ok()?, unit);
    }
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() || !whole.bytes().chain(part.bytes()).all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mut nanos = whole.parse::<i64>().ok()?.checked_mul(unit)?;
    let mut place = unit;
    for digit in part.bytes() {
        place /= 10;
        nanos = nanos.checked_add(place * i64::from(digit - b'0'))?;
    }
    Some(if negative { -nanos } else { nanos })
}

/// A whole number, however it is written: `200`, `+200`, `200.0`, `2e2`, `2.00E+2`; none if it is none, or too large.
pub fn whole(text: &str) -> Option<u64> {
    let text = text.trim();
    let text = text.strip_prefix('+').unwrap_or(text);
    let (digits, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
    if before.is_empty() || !before.bytes().chain(after.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let power: i64 = power.parse().ok().filter(|power| (-40..=40).contains(power))?;
    let point = before.len() as i64 + power;
    let (mut number, mut rest) = (0_u64, false);
    for (at, digit) in (0..).zip(before.bytes().chain(after.bytes())) {
        if at < point {
            number = number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
        } else {
            rest |= digit != b'0';
        }
    }
    for _ in (before.len() + after.len()) as i64..point {
        number = number.checked_mul(10)?;
    }
    (!rest).then_some(number)
}

/// Digits with at most one point among them, as nearly all numbers are written; none for every other way to write one.
fn plain(text: &str, unit: Nanos) -> Option<Nanos> {
    let (nanos, rest) = digits(text.as_bytes());
    let whole = text.len() - rest.len();
    if whole == 0 || whole > 18 {
        return None;
    }
    let nanos = nanos.checked_mul(unit)?;
    let [b'.', part @ ..] = rest else { return rest.is_empty().then_some(nanos) };
    let (decimals, []) = digits(part) else { return None };
    // Digits beyond a nanosecond are dropped.
    match TENS.get(part.len()).filter(|ten| unit % **ten == 0) {
        Some(ten) => nanos.checked_add(decimals.checked_mul(unit / ten)?),
        None => {
            let mut place = unit;
            part.iter().try_fold(nanos, |nanos, digit| {
                place /= 10;
                nanos.checked_add(place * i64::from(digit - b'0'))
            })
        }
    }
}

/// The digits that a text begins with, as a number (of more than 18 digits: any), and what stands behind them.
#[inline]
fn digits(text: &[u8]) -> (i64, &[u8]) {
    let (mut number, mut rest) = (0i64, text);
    while let [byte, behind @ ..] = rest
        && byte.is_ascii_digit()
    {
        number = number.wrapping_mul(10).wrapping_add(i64::from(byte - b'0'));
        rest = behind;
    }
    (number, rest)
}

/// `1.786698065E9`, as some JSON encoders write large floats.
fn scientific(digits: &str, power: i32, unit: Nanos) -> Option<Nanos> {
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let power = usize::try_from(power).ok().filter(|p| *p <= 20)?;
    let mut all = format!("{whole}{part:0<power$}");
    all.insert(whole.len() + power, '.');
    epoch(&all, unit)
}

/// A number whose unit its magnitude tells (formats.md section 8.5), or a time in letters.
pub fn any(text: &str) -> Option<Nanos> {
    if text.starts_with(|c: char| c.is_ascii_digit()) && !text.contains(['-', '/', ':']) {
        return epoch(text, epoch_unit(text)?);
    }
    any_dated(text).map(|(at, _)| at)
}

/// A time in letters, and whether it had a zone.
pub fn any_dated(text: &str) -> Option<(Nanos, bool)> {
    rfc3339(text).or_else(|| clf(text)).or_else(|| slashed(text))
}

/// The unit of an epoch number: 1e9 seconds, 1e12 milliseconds, 1e15 microseconds, 1e18 nanoseconds.
pub fn epoch_unit(text: &str) -> Option<Nanos> {
    let (whole, _) = text.split_once(['.', 'e', 'E']).unwrap_or((text, ""));
    let digits = match text.split_once(['e', 'E']) {
        Some((_, power)) => power.parse::<usize>().ok()? + 1,
        None => whole.len(),
    };
    match digits {
        9..=11 => Some(SECOND),
        12..=14 => Some(1_000_000),
        15..=17 => Some(1_000),
        18..=19 => Some(1),
        _ => None,
    }
}

/// A duration as Go (`1m0.02s`, `60020ms`) and protobuf (`60.02s`) write it.
pub fn span(text: &str) -> Option<Nanos> {
    let (mut rest, mut total) = (text.trim(), 0i64);
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').filter(|n| *n > 0)?;
        let unit =
            rest[digits..].find(|c: char| c.is_ascii_digit() || c == '.').map_or(rest.len(), |n| n + digits);
        total = total.checked_add(epoch(&rest[..digits], unit_of(&rest[digits..unit])?)?)?;
        rest = &rest[unit..];
    }
    Some(total)
}

/// A duration as zap's encoders write it: text, seconds as a float, or whole milliseconds or nanoseconds. A float of
/// measured seconds has decimals, and no request through a proxy takes less than a tenth of a millisecond.
pub fn zap_span(text: &str) -> Option<Nanos> {
    if text.ends_with(|c: char| c.is_ascii_alphabetic()) {
        return span(text);
    }
    let whole = text.bytes().all(|b| b.is_ascii_digit());
    let unit = match text.len() {
        _ if !whole => SECOND,
        0..=5 => 1_000_000,
        _ => 1,
    };
    epoch(text, unit)
}

/// Nanoseconds of a unit's name.
pub fn unit_of(name: &str) -> Option<Nanos> {
    Some(match name {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => SECOND,
        "m" => 60 * SECOND,
        "h" => 3600 * SECOND,
        _ => return None,
    })
}

fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0i64, |n, d| d.is_ascii_digit().then(|| n * 10 + i64::from(d - b'0')))
}

/// Two digits as a number.
#[inline]
fn two(tens: u8, ones: u8) -> Option<i64> {
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    (tens < 10 && ones < 10).then(|| i64::from(tens * 10 + ones))
}

fn month(name: &[u8]) -> Option<i64> {
    const NAMES: [&[u8; 3]; 12] =
        [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];
    let lower = name.to_ascii_lowercase();
    NAMES.iter().position(|n| lower == n[..]).map(|i| i as i64 + 1)
}

/// Days since the epoch (Hinnant's civil calendar).
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    const LENGTH: [i64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = *LENGTH.get(usize::try_from(month - 1).ok()?)? + i64::from(leap && month == 2);
    if !(1..=last).contains(&day) {
        return None;
    }
    let y = if month <= 2 { year - 1 } else { year };
    let of_era = y.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(y.div_euclid(400) * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// A leap second counts as the next second's start.
fn seconds(hour: i64, minute: i64, second: i64) -> Option<i64> {
    (hour < 24 && minute < 60 && second <= 60).then(|| hour * 3600 + minute * 60 + second)
}

fn at(day: i64, clock: i64, fraction: Nanos) -> Option<Nanos> {
    day.checked_mul(86_400)?.checked_add(clock)?.checked_mul(SECOND)?.checked_add(fraction)
}

/// `.123456789` or `,123`; finer digits are dropped.
#[inline]
fn fraction(b: &[u8]) -> Option<(Nanos, &[u8])> {
    let Some((b'.' | b',', digits)) = b.split_first() else { return Some((0, b)) };
    let (mut value, mut count) = (0, 0);
    while let Some(digit) = digits.get(count).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10)
    {
        if count < 9 {
            value = value * 10 + i64::from(digit);
        }
        count += 1;
    }
    (count > 0).then(|| (value * TENS[9 - count.min(9)], &digits[count..]))
}

/// Powers of ten.
pub(super) const TENS: [i64; 10] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// Offset in seconds, and whether there was one.
fn zone(b: &[u8]) -> Option<(i64, bool)> {
    match b {
        [] => Some((0, false)),
        [b'Z' | b'z'] | b" UTC" | b"UTC" => Some((0, true)),
        [sign @ (b'+' | b'-'), rest @ ..] => {
            let (h, m) = match rest {
                [h @ .., b':', m1, m2] if h.len() == 2 => (number(h)?, number(&[*m1, *m2])?),
                [h1, h2, m1, m2] => (number(&[*h1, *h2])?, number(&[*m1, *m2])?),
                [h1, h2] => (number(&[*h1, *h2])?, 0),
                _ => return None,
            };
            if h >= 24 || m >= 60 {
                return None;
            }
            let offset = h * 3600 + m * 60;
            Some((if *sign == b'-' { -offset } else { offset }, true))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::field::common_log_time;

    #[test]
    fn offsets_that_no_clock_has_are_none() {
        for (zone, is_one) in [
            ("+0200", true),
            ("-2359", true),
            ("+9999", false),
            ("+2400", false),
            ("+0060", false),
            ("+-1-1", false),
        ] {
            let local = format!("14/Aug/2026:09:00:05 {zone}");
            assert_eq!(clf(&local).is_some(), is_one, "{zone}");
            assert_eq!(common_log_time(&local).is_some(), is_one, "{zone}");
            assert_eq!(slashed(&format!("2026/08/14 09:00:05 {zone}")).is_some(), is_one, "{zone}");
        }
    }

    #[test]
    fn decimals_are_read_exactly() {
        for (text, unit, nanos) in [
            ("198.102", 1_000_000, Some(198_102_000)),
            ("0.5", SECOND, Some(500_000_000)),
            ("1.", SECOND, Some(SECOND)),
            ("1.23456789012", SECOND, Some(1_234_567_890)),
            ("7.9", 1, Some(7)),
            ("0.1234567890123456789012", 60 * SECOND, Some(7_407_407_340)),
            ("9223372036.9", SECOND, None),
            ("1.2.3", SECOND, None),
            ("", SECOND, None),
        ] {
            assert_eq!(epoch(text, unit), nanos, "{text}");
        }
    }

    #[test]
    fn whole_numbers_are_read_to_the_end() {
        for (text, number) in [
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("0.0", Some(0)),
            ("1.5e1", Some(15)),
            ("1.55e1", None),
            ("5e-1", None),
            ("", None),
            (".5", None),
            ("1e", None),
            ("1e9999999999", None),
        ] {
            assert_eq!(whole(text), number, "{text}");
        }
    }
}
