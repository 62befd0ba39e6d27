//! The sentences of one finding as they may be said: secrets hidden, session ids masked wherever they hide.
//! Knows no format.

use crate::finding::{Finding, Subject};
use crate::secrets::Secrets;
use crate::unprintable::escape;
use crate::words::Words;

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
        self.exact_text(&self.secrets.words(words))
    }

    /// Text with its characters as they are, for formats that escape by themselves.
    pub(crate) fn exact_text(&self, text: &str) -> String {
        self.secrets.mask(text, &self.sessions)
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
