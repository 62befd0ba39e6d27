//! What an event id says besides being itself: to which session and stream it belongs, and what it comes after.
//! Knows no event and no log. MCP event ids are opaque; an order is only known where it is declared.

use std::cmp::Ordering;
use std::fmt;

use crate::sha256::Sha256;

/// How a server orders its event ids: declared by a client, learned by an observer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IdOrder {
    /// Not known: only equality can be told.
    #[default]
    Opaque,
    /// By the decimal number at the end, among ids that are equal before it (`7`, `stream-2_17`).
    TrailingNumber,
    /// By the decimal number at the start, among ids that are equal after it (`17/2`).
    LeadingNumber,
}

/// Where one event id stands relative to a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placement {
    /// Strictly after it.
    After,
    /// It is the cursor.
    Same,
    /// Before it.
    Before,
    /// Cannot be told.
    Unknown,
}

/// Places `id` against `cursor`. Numbers of any length are compared; total, allocates nothing.
#[must_use]
pub fn place(order: IdOrder, cursor: &str, id: &str) -> Placement {
    if cursor == id {
        return Placement::Same;
    }
    let split = match order {
        IdOrder::Opaque => return Placement::Unknown,
        IdOrder::TrailingNumber => split_trailing,
        IdOrder::LeadingNumber => split_leading,
    };
    let ((stream, at), (other, number)) = (split(cursor), split(id));
    if stream != other || at.is_empty() || number.is_empty() {
        return Placement::Unknown;
    }
    let (at, number) = (at.trim_start_matches('0'), number.trim_start_matches('0'));
    match number.len().cmp(&at.len()).then_with(|| number.cmp(at)) {
        Ordering::Greater => Placement::After,
        Ordering::Less => Placement::Before,
        // `07` and `7`: two ids with one number cannot be told apart in time.
        Ordering::Equal => Placement::Unknown,
    }
}

/// What stands before the number at the end, and the number.
fn split_trailing(id: &str) -> (&str, &str) {
    id.split_at(id.trim_end_matches(|c: char| c.is_ascii_digit()).len())
}

/// What stands after the number at the start, and the number.
fn split_leading(id: &str) -> (&str, &str) {
    let rest = id.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest, &id[..id.len() - rest.len()])
}

/// A short mark of a session, to stand in its event ids: the first eight bytes of the SHA-256 of the session id,
/// which is a secret and does not belong in a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionMark(pub u64);

impl SessionMark {
    /// The mark of this session id.
    #[must_use]
    pub fn of(session: &str) -> SessionMark {
        let mut hash = Sha256::new();
        hash.field(session.as_bytes());
        let digest = hash.finish();
        SessionMark(digest.iter().take(8).fold(0, |mark, &byte| mark << 8 | u64::from(byte)))
    }
}

/// An event id that a server following this contract issues: `<mark>-<stream>-<sequence>`, as in
/// `5feceb66ffc86f38-2-17`. Ids with fewer parts are read too; what they leave out is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId {
    /// The session that issued it.
    pub session: Option<SessionMark>,
    /// The stream it belongs to.
    pub stream: Option<u64>,
    /// Its number on that stream, from 1; 0 stands before the first event.
    pub sequence: u64,
}

impl EventId {
    /// Reads `17`, `2-17` or `5feceb66ffc86f38-2-17`; `None`: not an id of this form.
    #[must_use]
    pub fn parse(text: &str) -> Option<EventId> {
        // `u64::from_str` takes a leading plus, which no id is written with.
        let number = |text: &str| if text.starts_with('+') { None } else { text.parse::<u64>().ok() };
        let mut parts = text.rsplitn(3, '-');
        let sequence = number(parts.next()?)?;
        let stream = parts.next().map(|part| number(part).ok_or(())).transpose().ok()?;
        let session = match parts.next() {
            None => None,
            Some(mark) if mark.len() == 16 && !mark.starts_with('+') => {
                Some(SessionMark(u64::from_str_radix(mark, 16).ok()?))
            }
            Some(_) => return None,
        };
        Some(EventId { session, stream, sequence })
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.session, self.stream) {
            (Some(SessionMark(mark)), Some(stream)) => write!(f, "{mark:016x}-{stream}-{}", self.sequence),
            (_, Some(stream)) => write!(f, "{stream}-{}", self.sequence),
            (_, None) => write!(f, "{}", self.sequence),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn opaque_ids_are_only_equal_or_unknown() {
        assert_eq!(place(IdOrder::Opaque, "7", "8"), Placement::Unknown);
        assert_eq!(place(IdOrder::Opaque, "7", "7"), Placement::Same);
    }

    #[test]
    fn trailing_numbers_order_within_one_prefix() {
        let at = |cursor, id| place(IdOrder::TrailingNumber, cursor, id);
        assert_eq!(at("s_9", "s_10"), Placement::After);
        assert_eq!(at("s_10", "s_9"), Placement::Before);
        assert_eq!(at("s_9", "t_10"), Placement::Unknown);
        assert_eq!(at("s_9", "s_"), Placement::Unknown);
        assert_eq!(at("07", "7"), Placement::Unknown);
        assert_eq!(at("99999999999999999999999998", "99999999999999999999999999"), Placement::After);
        assert_eq!(at("0", "1"), Placement::After);
    }

    #[test]
    fn leading_numbers_order_within_one_suffix() {
        let at = |cursor, id| place(IdOrder::LeadingNumber, cursor, id);
        assert_eq!(at("9/2", "10/2"), Placement::After);
        assert_eq!(at("10/2", "9/2"), Placement::Before);
        assert_eq!(at("9/2", "10/3"), Placement::Unknown);
        assert_eq!(at("/2", "1/2"), Placement::Unknown);
        assert_eq!(at("9", "10"), Placement::After);
    }

    #[test]
    fn ids_are_read_as_they_are_written() {
        for text in ["17", "2-17", "5feceb66ffc86f38-2-17"] {
            assert_eq!(EventId::parse(text).map(|id| id.to_string()).as_deref(), Some(text));
        }
        for text in
            ["", "-", "a", "2-", "-17", "+1", "x-2-17", "5feceb66ffc86f38-2-17-", "18446744073709551616"]
        {
            assert_eq!(EventId::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_mark_hides_the_session_id() {
        // First bytes of the SHA-256 over eight length bytes and the id.
        assert_ne!(SessionMark::of("a"), SessionMark::of("b"));
        assert_eq!(SessionMark::of("a"), SessionMark::of("a"));
    }

    proptest! {
        #[test]
        fn placement_is_antisymmetric(a in "[a-c]?_?[0-9]{0,4}/?", b in "[a-c]?_?[0-9]{0,4}/?") {
            for order in [IdOrder::Opaque, IdOrder::TrailingNumber, IdOrder::LeadingNumber] {
                let flipped = match place(order, &a, &b) {
                    Placement::After => Placement::Before,
                    Placement::Before => Placement::After,
                    same_or_unknown => same_or_unknown,
                };
                prop_assert_eq!(place(order, &b, &a), flipped);
            }
        }
    }
}
