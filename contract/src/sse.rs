//! Where the cursor of an event stream stands, byte by byte (contract 1, the paragraph on SSE).
//! Knows no message: data is noticed, never kept, so that its memory does not grow with an event.

use std::time::Duration;

/// Longest id that is kept, in bytes; a longer one fits no header and is refused.
pub const MAX_ID: usize = 8 * 1024;

/// An event that a blank line has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ended<'a> {
    /// Its own `id:`, if it had one; empty: it cleared the cursor.
    pub id: Option<&'a str>,
    /// Whether its data is not empty.
    pub has_data: bool,
}

/// Follows one stream's bytes and tells its cursor.
///
/// ```
/// use unbroken_contract::sse::StreamCursor;
/// let mut cursor = StreamCursor::new();
/// cursor.read(b"id: 7\ndata:\n\nid: 8\ndata: cut o");
/// assert_eq!(cursor.last_event_id(), Some("7")); // the event with id 8 never ended
/// ```
#[derive(Clone, Debug, Default)]
pub struct StreamCursor {
    committed: Option<String>,
    issued: bool,
    pending: Pending,
    line: Line,
    retry: Option<Duration>,
    refused: u64,
    /// The last byte was CR, so a LF belongs to it.
    after_cr: bool,
    started: bool,
}

/// The event under way.
#[derive(Clone, Debug, Default)]
struct Pending {
    id: Option<String>,
    has_data: bool,
    has_field: bool,
}

/// The line under way. Only as much is kept as a field that matters can need.
#[derive(Clone, Debug, Default)]
struct Line {
    kept: Vec<u8>,
    is_too_long: bool,
}

/// Field name, colon, space, and an id.
const LINE_KEPT: usize = "retry: ".len() + MAX_ID;

impl StreamCursor {
    /// At the start of a stream that was opened without cursor.
    #[must_use]
    pub fn new() -> StreamCursor {
        StreamCursor::default()
    }

    /// At the start of a stream that was resumed after `last_event_id`.
    #[must_use]
    pub fn resumed(last_event_id: &str) -> StreamCursor {
        let committed = (!last_event_id.is_empty()).then(|| last_event_id.to_owned());
        StreamCursor { committed, issued: true, ..StreamCursor::default() }
    }

    /// The cursor: the last id of an ended event. `None`: none was issued, or the last one was the empty id.
    #[must_use]
    pub fn last_event_id(&self) -> Option<&str> {
        self.committed.as_deref()
    }

    /// Whether any ended event had an id, though the cursor may have been cleared since.
    #[must_use]
    pub const fn issued_ids(&self) -> bool {
        self.issued
    }

    /// The last `retry:` that was all digits.
    #[must_use]
    pub const fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// How many ids were longer than [`MAX_ID`]. Such an id clears the cursor, for the one before it is overtaken.
    #[must_use]
    pub const fn refused_ids(&self) -> u64 {
        self.refused
    }

    /// The stream ended: an event cut off before its blank line moves nothing, and what follows is another stream.
    pub fn cut(&mut self) {
        self.pending = Pending::default();
        self.line = Line::default();
        self.after_cr = false;
        self.started = false;
    }

    /// Reads on; parts may be cut anywhere.
    pub fn read(&mut self, bytes: &[u8]) {
        self.read_each(bytes, |_| {});
    }

    /// Reads on and calls `each` with every event that a blank line ends.
    pub fn read_each(&mut self, bytes: &[u8], mut each: impl FnMut(Ended<'_>)) {
        for &byte in bytes {
            let follows_cr = std::mem::replace(&mut self.after_cr, byte == b'\r');
            match byte {
                b'\n' if follows_cr => {}
                b'\n' | b'\r' => self.end_line(&mut each),
                _ if self.line.kept.len() < LINE_KEPT => self.line.kept.push(byte),
                _ => self.line.is_too_long = true,
            }
        }
    }

    fn end_line(&mut self, each: &mut impl FnMut(Ended<'_>)) {
        let mut line = std::mem::take(&mut self.line);
        let kept = line.kept.as_slice();
        let kept = if self.started { kept } else { kept.strip_prefix(b"\xef\xbb\xbf").unwrap_or(kept) };
        self.started = true;
        if kept.is_empty() {
            self.end_event(each);
        } else {
            let colon = kept.iter().position(|&byte| byte == b':');
            let (name, value) = colon.map_or((kept, &b""[..]), |at| (&kept[..at], &kept[at + 1..]));
            let value = value.strip_prefix(b" ").unwrap_or(value);
            self.field(name, value, line.is_too_long);
        }
        line.kept.clear();
        line.is_too_long = false;
        self.line = line;
    }

    fn field(&mut self, name: &[u8], value: &[u8], is_too_long: bool) {
        match name {
            b"data" => self.pending.has_data |= !value.is_empty(),
            // An id with NUL is ignored.
            b"id" if value.contains(&0) => {}
            b"id" if is_too_long || value.len() > MAX_ID => {
                self.refused = self.refused.saturating_add(1);
                self.pending.id = Some(String::new());
            }
            b"id" => self.pending.id = Some(String::from_utf8_lossy(value).into_owned()),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let text = std::str::from_utf8(value).unwrap_or_default();
                // More digits than a u64 holds: the longest wait there is.
                self.retry = Some(Duration::from_millis(text.parse().unwrap_or(u64::MAX)));
            }
            // Comments (an empty name) and unknown fields make no event.
            _ => return,
        }
        self.pending.has_field = true;
    }

    fn end_event(&mut self, each: &mut impl FnMut(Ended<'_>)) {
        let pending = std::mem::take(&mut self.pending);
        if !pending.has_field {
            return;
        }
        each(Ended { id: pending.id.as_deref(), has_data: pending.has_data });
        // An event without id keeps the last one.
        if let Some(id) = pending.id {
            self.issued |= !id.is_empty();
            self.committed = (!id.is_empty()).then_some(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn after(bytes: &[u8]) -> StreamCursor {
        let mut cursor = StreamCursor::new();
        cursor.read(bytes);
        cursor
    }

    fn id(bytes: &[u8]) -> Option<String> {
        after(bytes).last_event_id().map(str::to_owned)
    }

    #[test]
    fn the_cursor_moves_at_the_blank_line() {
        assert_eq!(id(b"id: 1\ndata: x\n"), None);
        assert_eq!(id(b"id: 1\ndata: x\n\n").as_deref(), Some("1"));
        assert_eq!(id(b"id: 1\ndata: x\n\nid: 2\ndata: y").as_deref(), Some("1"));
    }

    #[test]
    fn empty_data_moves_it_too() {
        assert_eq!(id(b"id: 1\ndata:\n\n").as_deref(), Some("1"));
        assert_eq!(id(b"id: 1\n\n").as_deref(), Some("1"));
    }

    #[test]
    fn an_event_without_id_keeps_the_last_one() {
        assert_eq!(id(b"id: 1\n\ndata: x\n\n: comment\n\n").as_deref(), Some("1"));
    }

    #[test]
    fn an_empty_id_clears_it() {
        for clear in [&b"id:\n\n"[..], b"id\n\n", b"id: \n\n"] {
            let cursor = after(&[b"id: 1\n\n", clear].concat());
            assert_eq!(cursor.last_event_id(), None);
            assert!(cursor.issued_ids());
        }
    }

    #[test]
    fn an_id_with_nul_is_ignored() {
        assert_eq!(id(b"id: 1\n\nid: 2\0\n\n").as_deref(), Some("1"));
    }

    #[test]
    fn retry_counts_only_if_all_digits() {
        assert_eq!(after(b"retry: 1500\n").retry(), Some(Duration::from_millis(1500)));
        for bad in [&b"retry: 15s\n"[..], b"retry: -1\n", b"retry:\n", b"retry: +1\n", b"retry: 1 \n"] {
            assert_eq!(after(bad).retry(), None);
        }
        assert!(after(&[&b"retry: "[..], &[b'9'; 30], b"\n"].concat()).retry().is_some());
    }

    #[test]
    fn line_ends_and_byte_order_mark() {
        for stream in ["id: 1\r\n\r\n", "id: 1\r\r", "\u{feff}id: 1\n\n", "id:1\r\n\n"] {
            assert_eq!(id(stream.as_bytes()).as_deref(), Some("1"), "{stream:?}");
        }
        assert_eq!(id(b"id:  1\n\n").as_deref(), Some(" 1"));
        assert_eq!(id("x\n\u{feff}id: 1\n\n".as_bytes()), None);
    }

    #[test]
    fn a_line_feed_after_a_carriage_return_ends_no_second_line() {
        assert_eq!(id(b"id: 1\r\ndata: cut off\r\n"), None);
        let mut cursor = after(b"id: 1\r");
        cursor.read(b"\ndata: cut off\r");
        assert_eq!(cursor.last_event_id(), None);
        cursor.read(b"\n\r\n");
        assert_eq!(cursor.last_event_id(), Some("1"));
    }

    #[test]
    fn an_id_too_long_is_refused_and_counted() {
        let mut cursor = after(b"id: 1\n\nid: ");
        for _ in 0..100 {
            cursor.read(&[b'x'; 1000]);
            assert!(cursor.line.kept.capacity() <= 2 * LINE_KEPT);
        }
        cursor.read(b"\n\n");
        assert_eq!((cursor.last_event_id(), cursor.refused_ids()), (None, 1));
        let fits = [&b"id: "[..], &[b'x'; MAX_ID], b"\n\n"].concat();
        assert_eq!(after(&fits).last_event_id().map(str::len), Some(MAX_ID));
    }

    #[test]
    fn data_is_noticed_and_events_are_told() {
        let mut told = Vec::new();
        let stream = b"id: 1\ndata:\n\ndata: x\n\nevent: e\n\nid:\ndata: y\ndata:\n\n";
        StreamCursor::new().read_each(stream, |e| told.push((e.id.map(str::to_owned), e.has_data)));
        let expected = [(Some("1".to_owned()), false), (None, true), (Some(String::new()), true)];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_resumed_stream_starts_at_its_cursor() {
        let mut cursor = StreamCursor::resumed("7");
        assert_eq!(cursor.last_event_id(), Some("7"));
        cursor.read(b"id: 8\n\n");
        assert_eq!(cursor.last_event_id(), Some("8"));
        assert_eq!(StreamCursor::resumed("").last_event_id(), None);
    }

    proptest! {
        #[test]
        fn cuts_between_reads_do_not_matter(
            stream in "(id: ?[0-9]{0,2}|data: ?x?|retry: 5|\n|\r|\r\n|:c|\u{feff}){0,24}",
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..4),
        ) {
            let bytes = stream.as_bytes();
            let whole = after(bytes);
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            places.sort_unstable();
            let mut parts = StreamCursor::new();
            let mut from = 0;
            for place in places.into_iter().chain([bytes.len()]) {
                parts.read(&bytes[from..place]);
                from = place;
            }
            prop_assert_eq!(parts.last_event_id(), whole.last_event_id());
            prop_assert_eq!(parts.retry(), whole.retry());
            prop_assert_eq!(parts.issued_ids(), whole.issued_ids());
        }
    }
}
