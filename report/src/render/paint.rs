//! Colours, links, rules and wrapping of text for a terminal.
//! Knows no finding.

use super::Address;
use crate::exhibit::Exhibit;
use std::fmt::Write;

/// How to write for this terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    pub(crate) color: bool,
    pub(crate) unicode: bool,
    pub(crate) width: usize,
    /// Where the terminal has hyperlinks: what they lead to.
    pub(crate) address: Option<Address>,
}

/// The colours there are, by what they say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    Deny,
    Warn,
    Note,
    Good,
    Place,
    Strong,
    Faint,
}

impl Paint {
    /// `text` in `ink`, where there are colours.
    pub(crate) fn ink(self, ink: Ink, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        let code = match ink {
            Ink::Deny => "31",
            Ink::Warn => "33",
            Ink::Note | Ink::Place => "36",
            Ink::Good => "32",
            Ink::Strong => "1",
            Ink::Faint => "2",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// A place in its colour, and a link to its file where the terminal has links. `text` is how it is shown.
    pub(crate) fn place(self, text: &str, exhibit: Option<&Exhibit>) -> String {
        self.link(&self.ink(Ink::Place, text), exhibit.map_or("", |exhibit| &exhibit.path))
    }

    /// `text` as a link to a file (OSC 8), where the terminal has links and the file an address.
    /// <https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda>
    pub(crate) fn link(self, text: &str, path: &str) -> String {
        let address = self.address.filter(|_| !text.is_empty() && !path.is_empty());
        match address.and_then(|address| address(path)) {
            // An address that could end the sequence early is none.
            Some(url) if url.bytes().all(|byte| byte.is_ascii_graphic()) => {
                format!("\u{1b}]8;;{url}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\")
            }
            _ => text.to_owned(),
        }
    }

    /// One of two spellings, by what the terminal can show.
    pub(crate) fn either(self, unicode: &'static str, ascii: &'static str) -> &'static str {
        if self.unicode { unicode } else { ascii }
    }

    /// Appends `text` to `out` after `head`, wrapped at the width; further lines start with `indent`.
    /// `used` is the visible width of `head` and of `indent`.
    pub(crate) fn wrap(self, out: &mut String, head: &str, indent: &str, used: usize, text: &str) {
        let room = self.width.saturating_sub(used).max(20);
        for (index, line) in lines(text, room).enumerate() {
            let _ = writeln!(out, "{}{line}", if index == 0 { head } else { indent });
        }
    }
}

/// `text` broken between words into lines of at most `room` characters; a longer word is cut.
pub(crate) fn lines(text: &str, room: usize) -> impl Iterator<Item = String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut rest: Vec<char> = word.chars().collect();
        loop {
            let line = lines.last_mut().expect("there is always a line");
            let taken = line.chars().count();
            let gap = usize::from(taken > 0);
            if taken + gap + rest.len() <= room {
                line.push_str(if gap == 1 { " " } else { "" });
                line.extend(rest);
                break;
            }
            if taken > 0 {
                lines.push(String::new());
                continue;
            }
            line.extend(rest.drain(..room));
            lines.push(String::new());
        }
    }
    lines.into_iter()
}

/// A count with its noun: `1 call`, `2 calls`, `0 calls`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let plural = match noun.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{noun}s"),
    };
    format!("{count} {}", if count == 1 { noun } else { &plural })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_between_words_and_loses_nothing() {
        let text = "a stream was cut before its response and averyveryveryverylongtoolname was sent again";
        let shown: Vec<String> = lines(text, 20).collect();
        assert!(shown.iter().all(|line| line.chars().count() <= 20), "{shown:?}");
        assert_eq!(shown.concat().replace(' ', ""), text.replace(' ', ""));
        assert_eq!(shown[0], "a stream was cut");
    }

    #[test]
    fn no_colour_means_no_escape() {
        let plain = Paint { color: false, unicode: false, width: 80, address: None };
        assert_eq!(plain.ink(Ink::Deny, "x"), "x");
        assert_eq!(Paint { color: true, ..plain }.ink(Ink::Deny, "x"), "\u{1b}[31mx\u{1b}[0m");
    }

    #[test]
    fn a_link_is_drawn_where_there_are_links_and_never_ends_early() {
        let plain = Paint { color: false, unicode: true, width: 80, address: None };
        let to = |address: Address| Paint { address: Some(address), ..plain }.link("a.rs:1", "a.rs");
        assert_eq!(plain.link("a.rs:1", "a.rs"), "a.rs:1");
        assert_eq!(
            to(|path| Some(format!("file:///x/{path}"))),
            "\u{1b}]8;;file:///x/a.rs\u{1b}\\a.rs:1\u{1b}]8;;\u{1b}\\"
        );
        assert_eq!(to(|_| Some("file:///x\u{1b}\\evil".into())), "a.rs:1");
        assert_eq!(to(|_| None), "a.rs:1");
    }

    #[test]
    fn counts_agree_with_their_nouns() {
        assert_eq!((counted(1, "call").as_str(), counted(2, "entry").as_str()), ("1 call", "2 entries"));
    }
}
