//! A sentence in pieces, each of which says whether it is a secret.
//! Knows no way to show them: `secrets` decides that.

/// A piece of a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Plain words of the program itself.
    Plain(String),
    /// A session id: a bearer token.
    Session(String),
    /// A tool call's arguments, or a value out of them: personal data.
    Arguments(String),
    /// Who a client is: subject, address.
    Identity(String),
    /// Text from outside that is no secret but may hold anything: tool names, event ids, user agents.
    Foreign(String),
}

/// A sentence: lower-case start, no full stop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Words(pub Vec<Piece>);

impl Words {
    /// Words of the program itself.
    pub fn plain(text: impl Into<String>) -> Words {
        Words(vec![Piece::Plain(text.into())])
    }

    /// The same words with one piece more at the end.
    #[must_use]
    pub fn and(mut self, piece: Piece) -> Words {
        self.0.push(piece);
        self
    }

    /// The session ids among the pieces.
    pub fn sessions(&self) -> impl Iterator<Item = &str> {
        self.0
            .iter()
            .filter_map(|piece| if let Piece::Session(id) = piece { Some(id.as_str()) } else { None })
    }
}

impl From<&str> for Words {
    fn from(text: &str) -> Words {
        Words::plain(text)
    }
}
