//! Points in time and stretches of it, as people and programs read them; always UTC.
//! Knows no clock.

use jiff::Timestamp;
use jiff::fmt::temporal::DateTimePrinter;

/// RFC 3339 with the digits there are: `2026-07-14T10:00:01.25Z`.
pub(crate) fn rfc3339(nanos: i64) -> String {
    timestamp(nanos).to_string()
}

/// The day: `2026-07-14`.
pub(crate) fn day(nanos: i64) -> String {
    rfc3339(nanos).chars().take_while(|c| *c != 'T').collect()
}

/// The time of day to the millisecond: `10:00:01.250`.
pub(crate) fn time_of_day(nanos: i64) -> String {
    let text = DateTimePrinter::new().precision(Some(3)).timestamp_to_string(&timestamp(nanos));
    text.chars().skip_while(|c| *c != 'T').skip(1).take_while(|c| *c != 'Z').collect()
}

/// A stretch of time in the two units that matter: `850 ms`, `2.6 s`, `4 min 10 s`, `3 h 2 min`, `2 d 4 h`.
pub(crate) fn stretch(nanos: i64) -> String {
    let (millis, seconds) = (nanos / 1_000_000, nanos / 1_000_000_000);
    match seconds {
        ..1 => format!("{millis} ms"),
        1..60 => format!("{}.{} s", seconds, millis % 1000 / 100),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

fn timestamp(nanos: i64) -> Timestamp {
    Timestamp::from_nanosecond(i128::from(nanos))
        .expect("every i64 of nanoseconds lies between the years 1677 and 2262")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_as_utc() {
        let at = 1_784_023_201_250_000_000;
        assert_eq!(rfc3339(at), "2026-07-14T10:00:01.25Z");
        assert_eq!((day(at).as_str(), time_of_day(at).as_str()), ("2026-07-14", "10:00:01.250"));
        for at in [i64::MIN, -1, 0, i64::MAX] {
            assert!(rfc3339(at).ends_with('Z') && time_of_day(at).len() == 12, "{at}");
        }
    }

    #[test]
    fn a_stretch_has_the_units_that_matter() {
        let second = 1_000_000_000;
        let shown = [second / 2, 2 * second + second / 2, 250 * second, 10_920 * second, 187_200 * second]
            .map(stretch);
        assert_eq!(shown, ["500 ms", "2.5 s", "4 min 10 s", "3 h 2 min", "2 d 4 h"]);
    }
}
