//! The sentences of one finding as they may be said: secrets hidden, session ids masked wherever they hide.
//! Knows no format.

use crate::finding::{Finding, Subject};
use crate::secrets::Secrets;
use crate::unprintable::escape;
use crate::words::{Piece, Words};

/// Most characters of one name or sentence out of a log; what is longer says how long it was. A real tool name has tens.
const MOST: usize = 512;

/// Says what a finding holds.
pub(crate) struct Voice<'a> {
    secrets: &'a Secrets,
    sessions: Vec<&'a str>,
}

impl<'a> Voice<'a> {
    pub(crate) fn of(finding: &'a Finding, secrets: &'a Secrets) -> Voice<'a> {
        Voice { secrets, sessions: finding.sessions() }
    }

    /// Words with their characters as they are, for formats that escape by themselves.
    pub(crate) fn exact(&self, words: &Words) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Foreign(text) => self.exact_text(text),
            _ => self.secrets.piece(piece),
        };
        let said: String = words.0.iter().map(piece).collect();
        self.secrets.mask(&said, &self.sessions)
    }

    /// Text with its characters as they are, for formats that escape by themselves.
    pub(crate) fn exact_text(&self, text: &str) -> String {
        // Masked first: half a session id is still half a bearer token.
        clip(self.secrets.mask(text, &self.sessions))
    }

    /// Words fit to be read: unprintable characters spelled out.
    pub(crate) fn say(&self, words: &Words) -> String {
        escape(&self.exact(words)).into_owned()
    }

    /// Text fit to be read: unprintable characters spelled out.
    pub(crate) fn text(&self, text: &str) -> String {
        escape(&self.exact_text(text)).into_owned()
    }

    /// A session id.
    pub(crate) fn session(&self, id: &str) -> String {
        self.secrets.session(id)
    }

    /// What the finding is about, where that is known: a function, or a session.
    pub(crate) fn subject(&self, finding: &Finding) -> Option<String> {
        match &finding.subject {
            Subject::Item(item) => Some(self.text(item)).filter(|item| !item.is_empty()),
            Subject::Session(id) => id.as_deref().map(|id| self.text(&self.session(id))),
        }
    }
}

/// `text` up to [`MOST`] characters, with its whole length where it is cut.
fn clip(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MOST) {
        let rest = text[end..].chars().count();
        text.truncate(end);
        text.push_str(&format!("… ({} characters)", MOST + rest));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_any_length_is_said_in_a_line_or_two() {
        assert_eq!(clip("é".repeat(MOST)), "é".repeat(MOST));
        assert_eq!(clip("é".repeat(9_000)), format!("{}… (9000 characters)", "é".repeat(MOST)));
    }
}
