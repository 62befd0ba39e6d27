//! How secrets are shown: as short keyed digests, or as they are where that was asked for.
//! Knows no renderer and never stores a secret.
//!
//! A session id is a bearer token and arguments hold personal data, yet a reader must be able to see
//! that two lines speak of the same session. So each is shown as a kind and 48 bits of keyed BLAKE3:
//! `S-3fa9c1d204b7`, `args-…`, `client-…`. The same input gives the same digest, in every run. The key is fixed unless
//! the operator sets one: with the fixed key a digest of something guessable (an account number, an
//! address) can be found by trying; with a key of one's own it cannot.

use crate::unprintable::escape;
use crate::words::{Piece, Words};

/// Domain of the fixed key, which keeps digests apart from BLAKE3 over the same text elsewhere.
const DEFAULT_KEY: &str = "unbroken 2026 report digest, fixed key";
/// Domain of a key that an operator brings.
const OWN_KEY: &str = "unbroken 2026 report digest, operator key";

/// The decision how secrets are shown.
#[derive(Clone)]
pub struct Secrets {
    key: [u8; 32],
    reveal: bool,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secrets").field("reveal", &self.reveal).finish_non_exhaustive()
    }
}

impl Default for Secrets {
    fn default() -> Secrets {
        Secrets { key: blake3::derive_key(DEFAULT_KEY, b""), reveal: false }
    }
}

impl Secrets {
    /// Digests under a key derived from `material`, any bytes of the operator's own.
    #[must_use]
    pub fn keyed(material: &[u8]) -> Secrets {
        Secrets { key: blake3::derive_key(OWN_KEY, material), reveal: false }
    }

    /// Shows secrets as they are, unprintable characters escaped.
    #[must_use]
    pub fn revealed(mut self) -> Secrets {
        self.reveal = true;
        self
    }

    /// Shows secrets as digests, whatever was asked for before.
    #[must_use]
    pub fn hiding(mut self) -> Secrets {
        self.reveal = false;
        self
    }

    /// Whether secrets are shown as they are.
    #[must_use]
    pub fn reveals(&self) -> bool {
        self.reveal
    }

    /// A session id as it may be shown.
    #[must_use]
    pub fn session(&self, id: &str) -> String {
        self.show("S", id)
    }

    /// One piece as it may be shown. Unprintable characters are left: see [`Secrets::text`].
    #[must_use]
    pub fn piece(&self, piece: &Piece) -> String {
        match piece {
            Piece::Plain(text) | Piece::Foreign(text) => text.clone(),
            Piece::Session(id) => self.show("S", id),
            Piece::Arguments(text) => self.show("args", text),
            Piece::Identity(text) => self.show("client", text),
        }
    }

    /// A sentence as it may be stored: secrets hidden, characters as they are.
    #[must_use]
    pub fn words(&self, words: &Words) -> String {
        words.0.iter().map(|piece| self.piece(piece)).collect()
    }

    /// A sentence as it may be shown to a person: secrets hidden, unprintable characters spelled out.
    #[must_use]
    pub fn text(&self, words: &Words) -> String {
        escape(&self.words(words)).into_owned()
    }

    /// `text` with every occurrence of one of `ids` hidden: servers build event ids, tool names and
    /// error texts out of session ids, and those are bearer tokens there too.
    #[must_use]
    pub fn mask(&self, text: &str, ids: &[&str]) -> String {
        // Shorter ids would hit ordinary words; a bearer token that short is no secret.
        const SHORTEST: usize = 8;
        let mut shown = text.to_owned();
        if self.reveal {
            return shown;
        }
        for id in ids.iter().filter(|id| id.len() >= SHORTEST) {
            if shown.contains(*id) {
                shown = shown.replace(*id, &self.session(id));
            }
        }
        shown
    }

    fn show(&self, kind: &str, secret: &str) -> String {
        if self.reveal {
            return secret.to_owned();
        }
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(kind.as_bytes());
        hasher.update(&[0]);
        hasher.update(secret.as_bytes());
        format!("{kind}-{}", &hasher.finalize().to_hex()[..12])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Words {
        Words::plain("sent ")
            .and(Piece::Arguments("{\"account\":\"DE02\"}".into()))
            .and(Piece::Plain(" on ".into()))
            .and(Piece::Session("5f1a9c0e-secret".into()))
            .and(Piece::Plain(" from ".into()))
            .and(Piece::Identity("10.0.0.7".into()))
    }

    #[test]
    fn secrets_are_digests_unless_revealed() {
        let shown = Secrets::default().text(&words());
        for secret in ["DE02", "5f1a9c0e", "10.0.0.7"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        assert!(shown.starts_with("sent args-") && shown.contains(" on S-"), "{shown}");
        let revealed = Secrets::default().revealed().text(&words());
        assert_eq!(revealed, "sent {\"account\":\"DE02\"} on 5f1a9c0e-secret from 10.0.0.7");
    }

    #[test]
    fn a_digest_depends_on_key_and_kind_and_on_nothing_else() {
        let (fixed, own) = (Secrets::default(), Secrets::keyed(b"k"));
        assert_eq!(fixed.session("abc"), Secrets::default().session("abc"));
        assert_ne!(fixed.session("abc"), own.session("abc"));
        let argument = fixed.piece(&Piece::Arguments("abc".into()));
        assert_ne!(fixed.session("abc").rsplit('-').next(), argument.rsplit('-').next());
    }

    #[test]
    fn an_event_id_made_of_the_session_id_gives_it_not_away() {
        let secrets = Secrets::default();
        let shown = secrets.mask("5f1a9c0e-secret_7", &["5f1a9c0e-secret"]);
        assert!(!shown.contains("5f1a9c0e") && shown.ends_with("_7"), "{shown}");
        assert_eq!(secrets.mask("abc_7", &["abc"]), "abc_7");
    }

    #[test]
    fn revealed_text_is_still_harmless() {
        let words = Words(vec![Piece::Session("a\u{1b}]0;x\u{7}".into())]);
        assert_eq!(Secrets::default().revealed().text(&words), "a\\u{1b}]0;x\\u{7}");
    }
}
