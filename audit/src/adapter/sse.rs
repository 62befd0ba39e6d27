//! Server-sent events as MCP streams carry them: bytes of a response body in, complete events out.
//! Knows the framing alone (contract section 1); what an event means for a call is not its business.

use super::rpc::{self, Keep};
use crate::event::{Nanos, SseEvent};

/// Most bytes of one event's data that are kept for parsing; longer data still counts as data, its message is unread.
const MOST_DATA: usize = 16 << 20;

/// Reads every complete event of a whole body. An event cut off before its blank line moves nothing and is left out.
#[must_use]
pub fn read_events(body: &[u8], keep: Keep) -> Vec<SseEvent> {
    let mut parser = Parser::new(keep);
    let mut events = Vec::new();
    parser.push(body, None, &mut events);
    events
}

/// Whether anything is left of `body` after its last complete event: the stream ended inside an event.
#[must_use]
pub fn ends_inside_event(body: &[u8]) -> bool {
    let mut parser = Parser::new(Keep::default());
    parser.push(body, None, &mut Vec::new());
    parser.inside()
}

/// An incremental reader for bodies that come in pieces.
#[derive(Debug)]
pub struct Parser {
    keep: Keep,
    line: Vec<u8>,
    after_cr: bool,
    first_line: bool,
    open: bool,
    id: Option<Box<str>>,
    retry: Option<Nanos>,
    data: Vec<u8>,
    has_field: bool,
    lines_of_data: u32,
}

impl Parser {
    /// A reader at the start of a body.
    #[must_use]
    pub fn new(keep: Keep) -> Parser {
        Parser {
            keep,
            line: Vec::new(),
            after_cr: false,
            first_line: true,
            open: false,
            id: None,
            retry: None,
            data: Vec::new(),
            has_field: false,
            lines_of_data: 0,
        }
    }

    /// Takes a piece that arrived `at` and appends the events it completes to `events`.
    pub fn push(&mut self, piece: &[u8], at: Option<Nanos>, events: &mut Vec<SseEvent>) {
        let mut rest = piece;
        // CR, LF and CR LF all end a line; a CR LF may be split between two pieces.
        if self.after_cr && rest.first() == Some(&b'\n') {
            rest = &rest[1..];
        }
        if !piece.is_empty() {
            self.after_cr = false;
        }
        while let Some(end) = memchr::memchr2(b'\r', b'\n', rest) {
            self.take(&rest[..end]);
            self.end_line(at, events);
            let cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
            if cr {
                match rest.first() {
                    Some(b'\n') => rest = &rest[1..],
                    None => self.after_cr = true,
                    Some(_) => {}
                }
            }
        }
        self.take(rest);
    }

    /// Whether an event has begun that no blank line has ended.
    #[must_use]
    pub fn inside(&self) -> bool {
        self.open || !self.line.is_empty()
    }

    fn take(&mut self, bytes: &[u8]) {
        let room = MOST_DATA.saturating_sub(self.line.len());
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn end_line(&mut self, at: Option<Nanos>, events: &mut Vec<SseEvent>) {
        let mut line = std::mem::take(&mut self.line);
        let text: &[u8] =
            if self.first_line { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line) } else { &line };
        self.first_line = false;
        if text.is_empty() {
            self.end_event(at, events);
        } else {
            self.field(text);
        }
        line.clear();
        self.line = line;
    }

    fn field(&mut self, line: &[u8]) {
        self.open = true;
        let (name, value) = match memchr::memchr(b':', line) {
            Some(0) => return,
            Some(colon) => {
                (&line[..colon], line[colon + 1..].strip_prefix(b" ").unwrap_or(&line[colon + 1..]))
            }
            None => (line, &[][..]),
        };
        match name {
            b"id" if !value.contains(&0) => {
                self.id = Some(String::from_utf8_lossy(value).into());
                self.has_field = true;
            }
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let millis = std::str::from_utf8(value).ok().and_then(|text| text.parse::<i64>().ok());
                self.retry = millis.and_then(|millis| millis.checked_mul(1_000_000));
                self.has_field = true;
            }
            b"data" => {
                if self.lines_of_data > 0 && self.data.len() < MOST_DATA {
                    self.data.push(b'\n');
                }
                let room = MOST_DATA.saturating_sub(self.data.len());
                self.data.extend_from_slice(&value[..value.len().min(room)]);
                self.lines_of_data += 1;
                self.has_field = true;
            }
            _ => {}
        }
    }

    fn end_event(&mut self, at: Option<Nanos>, events: &mut Vec<SseEvent>) {
        self.open = false;
        // A block of comments alone (a keep-alive) or of unknown fields is no event and moves no cursor.
        if !std::mem::take(&mut self.has_field) {
            return;
        }
        let data = self.data.trim_ascii();
        events.push(SseEvent {
            id: self.id.take(),
            retry: self.retry.take(),
            at,
            message: if data.is_empty() { None } else { rpc::read_message(data, self.keep).ok() },
            has_data: !data.is_empty(),
            data_hash: if data.is_empty() { 0 } else { rapidhash::v3::rapidhash_v3(data) },
        });
        self.data.clear();
        self.lines_of_data = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Vec<SseEvent> {
        read_events(text.as_bytes(), Keep::default())
    }

    #[test]
    fn a_priming_event_has_an_id_and_no_data() {
        let events = read("id: a-1\r\ndata: \r\nretry: 400\r\n\r\n");
        assert_eq!(events.len(), 1);
        assert_eq!(
            (events[0].id.as_deref(), events[0].retry, events[0].has_data),
            (Some("a-1"), Some(400_000_000), false)
        );
    }

    #[test]
    fn an_event_cut_before_its_blank_line_moves_nothing() {
        assert!(read("id: 7\ndata: {\"jsonrpc\":\"2.0\"").is_empty());
        assert!(read("id: 7\ndata: x\n").is_empty());
        assert!(ends_inside_event(b"id: 7\ndata: x\n") && !ends_inside_event(b"id: 7\ndata: x\n\n"));
    }

    #[test]
    fn an_id_with_nul_is_ignored_and_an_empty_one_clears() {
        let events = read("id: a\0b\ndata: x\n\nid:\ndata: x\n\ndata: x\n\n");
        let ids: Vec<_> = events.iter().map(|event| event.id.as_deref()).collect();
        assert_eq!(ids, [None, Some(""), None]);
    }

    #[test]
    fn retry_counts_only_if_all_digits() {
        let events = read("retry: 12s\ndata: x\n\nretry: 12\ndata: x\n\n");
        assert_eq!((events[0].retry, events[1].retry), (None, Some(12_000_000)));
    }

    #[test]
    fn keep_alive_comments_are_no_events() {
        assert!(read(": ping\n\n: ping\n\n").is_empty());
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_events(text in "[a:\\r\\n id0]{0,60}", cuts in proptest::collection::vec(0usize..60, 0..6)) {
            let whole = read(&text);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.push(text.len());
            cuts.sort_unstable();
            let (mut parser, mut pieces, mut from) = (Parser::new(Keep::default()), Vec::new(), 0);
            for cut in cuts {
                parser.push(&text.as_bytes()[from..cut], None, &mut pieces);
                from = cut;
            }
            prop_assert_eq!(whole, pieces);
        }
    }
}
