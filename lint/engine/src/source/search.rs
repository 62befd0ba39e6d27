//! The byte search: whether a file, or the crate around it, can hold an MCP client at all.
//! Knows words, no syntax.

use memchr::{memchr2_iter, memmem};

/// What the byte search finds in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signs {
    /// The session header, an SDK's client side, or a mark: the crate may be a client.
    pub anchor: bool,
    /// The protocol's name.
    pub mcp: bool,
    /// The cursor header, or the media type of an event stream: with the protocol's name, the crate may be a client.
    pub stream: bool,
}

impl Signs {
    /// Whether the file matters wherever it stands; else only beside one that speaks of the protocol, and if it
    /// [speaks as a client](speaks_as_client).
    #[must_use]
    pub fn telling(self) -> bool {
        self.anchor || self.mcp || self.stream
    }

    /// Both files taken together.
    #[must_use]
    pub fn with(self, other: Signs) -> Signs {
        Signs {
            anchor: self.anchor || other.anchor,
            mcp: self.mcp || other.mcp,
            stream: self.stream || other.stream,
        }
    }

    /// Whether files with these signs together may hold an MCP client.
    #[must_use]
    pub fn concern(self) -> bool {
        self.anchor || self.mcp && self.stream
    }
}

/// What can be told of a file without parsing it. After an anchor nothing more is looked for.
#[must_use]
pub fn signs(text: &str) -> Signs {
    let bytes = text.as_bytes();
    let mut seen = Signs::default();
    // Each word is found by its rarest letter.
    for at in memchr2_iter(b'p', b'P', bytes) {
        if at >= 2 && starts(bytes, at - 2, b"mc") {
            seen.mcp = true;
            let crate_path = bytes[..at - 2].ends_with(b"r") && bytes[at - 2..].starts_with(b"mcp::");
            if crate_path || starts(bytes, at - 2, b"mcp-session-id") || starts(bytes, at - 2, b"mcp-method")
            {
                seen.anchor = true;
                return seen;
            }
        }
    }
    // A mark says that the code is a client's, whatever it is called.
    seen.anchor = memmem::find(bytes, b"unbroken::").is_some();
    seen.stream = !seen.anchor && memchr2_iter(b'v', b'V', bytes).any(|at| names_stream(bytes, at));
    seen
}

/// Whether an item that is seen alone can be a client's at all, so that a rule may have business with it: it names a
/// header or an SDK itself, or speaks of this check. What other items name is not seen there.
#[must_use]
pub fn item_matters(text: &str) -> bool {
    let bytes = text.as_bytes();
    let word = |at: usize, back: usize, word: &str| at >= back && starts(bytes, at - back, word.as_bytes());
    let root = |at: usize, part: &str| {
        sdk_roots().any(|root| root.find(part).is_some_and(|back| word(at, back + part.len() - 1, root)))
    };
    let (mut json, mut stream) = (false, false);
    // By hand and each word by its rarest letter: a macro asks this of every item, where nothing is optimised.
    let (mut at, mut last) = (0, 0);
    while at < bytes.len() {
        let letter = bytes[at] | 0x20;
        let found = match (last, letter) {
            (b'c', b'p') => word(at, 2, "mcp-session-id") || word(at, 2, "mcp-method") || root(at, "mcp"),
            (b'e', b'v') => {
                stream = stream || word(at, 6, "text/event-stream");
                word(at, 6, "last-event-id") || root(at, "ev")
            }
            (b'o', b'k') => word(at, 5, "unbroken"),
            (_, b'j') => {
                json = json || word(at, 12, "application/json");
                false
            }
            _ => false,
        };
        if found || json && stream {
            return true;
        }
        last = letter;
        at += 1;
    }
    false
}

/// The names that code calls the SDKs by that speak MCP: each has `mcp` or `ev` in it.
fn sdk_roots() -> impl Iterator<Item = &'static str> {
    let speaking = crate::sdk::ALL.iter().filter(|sdk| sdk.speaks_mcp());
    speaking.flat_map(|sdk| sdk.roots).copied()
}

/// Whether the letter is that of an event stream, of a cursor, or of an SDK's handle.
fn names_stream(bytes: &[u8], at: usize) -> bool {
    let word = |back: usize, word: &[u8]| at >= back && starts(bytes, at - back, word);
    word(1, b"event-stream")
        || word(1, b"event_stream")
        || word(6, b"last-event-id")
        || word(6, b"last_event_id")
        || word(11, b"runningservice") && bytes[at - 11] == b'R'
}

/// Whether the file has words of a client's state, its calls or its transport.
#[must_use]
pub fn speaks_as_client(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().any(|(at, byte)| match byte {
        b's' | b'S' => starts(bytes, at, b"session"),
        b'c' | b'C' => starts(bytes, at, b"call_tool"),
        b't' => starts(bytes, at, b"tools/call"),
        b'T' => starts(bytes, at, b"transport"),
        b'r' => starts(bytes, at, b"reconnect"),
        _ => false,
    })
}

fn starts(bytes: &[u8], at: usize, word: &[u8]) -> bool {
    bytes.get(at..at + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_matters_by_any_of_its_words_wherever_it_stands() {
        let words = ["mcp-session-id", "last-event-id", "mcp-method", "unbroken"];
        for word in words.into_iter().chain(sdk_roots()) {
            for text in [word.to_owned(), word.to_uppercase(), format!("fn f() {{ {word}::g() }}")] {
                assert!(item_matters(&text), "{text}");
            }
            assert!(!item_matters(&word[1..]) || sdk_roots().any(|root| word[1..].contains(root)), "{word}");
        }
        assert!(item_matters("\"Application/JSON, text/event-stream\""));
        for text in
            ["\"application/json\"", "\"text/event-stream\"", "", "mcp", "vkjp", "self.session_id = None"]
        {
            assert!(!item_matters(text), "{text}");
        }
    }
}
