//! A token as text for any storage, and back.
//! Knows no file; refuses a text it did not write rather than guess.

use std::fmt;

use super::{Fingerprint, IdOrder, Owner, ResumeToken};

const FORM: &str = "unbroken-token-1";

/// Why a text is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BadToken {
    /// Not written by this version of the form.
    Form,
    /// A field is cut off or malformed; its number from 0.
    Field(u8),
}

impl fmt::Display for BadToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadToken::Form => f.write_str("not a resume token of a known form"),
            BadToken::Field(number) => write!(f, "field {number} of the resume token is malformed"),
        }
    }
}

impl std::error::Error for BadToken {}

impl ResumeToken {
    /// The token as one line of text. It holds the session id: store it as the secret it is.
    #[must_use]
    pub fn to_text(&self) -> String {
        let (kind, owner, client) = match self.owner() {
            Owner::Session(id) => ("session", id, ""),
            Owner::Endpoint { endpoint, client } => ("endpoint", endpoint, client),
        };
        let order = match self.order {
            IdOrder::Opaque => "opaque",
            IdOrder::TrailingNumber => "trailing-number",
            IdOrder::LeadingNumber => "leading-number",
        };
        let fingerprint = self.fingerprint.to_string();
        let fields = [kind, owner, client, &self.stream, &self.cursor, &fingerprint, order];
        fields.iter().fold(FORM.to_owned(), |text, field| format!("{text} {}:{field}", field.len()))
    }

    /// Reads what [`ResumeToken::to_text`] wrote.
    ///
    /// # Errors
    ///
    /// [`BadToken`] for anything else.
    pub fn from_text(text: &str) -> Result<ResumeToken, BadToken> {
        let mut rest = text.strip_prefix(FORM).ok_or(BadToken::Form)?;
        let mut fields = [""; 7];
        for (number, field) in (0_u8..).zip(&mut fields) {
            (*field, rest) = take_field(rest).ok_or(BadToken::Field(number))?;
        }
        let [kind, owner, client, stream, cursor, fingerprint, order] = fields;
        if !rest.is_empty() {
            return Err(BadToken::Field(7));
        }
        let session = match kind {
            "session" => Owner::Session(owner),
            "endpoint" => Owner::Endpoint { endpoint: owner, client },
            _ => return Err(BadToken::Field(0)),
        };
        let fingerprint = read_fingerprint(fingerprint).ok_or(BadToken::Field(5))?;
        let order = match order {
            "opaque" => IdOrder::Opaque,
            "trailing-number" => IdOrder::TrailingNumber,
            "leading-number" => IdOrder::LeadingNumber,
            _ => return Err(BadToken::Field(6)),
        };
        Ok(ResumeToken::new(session, stream, cursor, fingerprint).ordered(order))
    }
}

/// The field `" <length>:<text>"` at the start, and what follows it.
fn take_field(text: &str) -> Option<(&str, &str)> {
    let (length, rest) = text.strip_prefix(' ')?.split_once(':')?;
    rest.split_at_checked(length.parse().ok()?)
}

fn read_fingerprint(hex: &str) -> Option<Fingerprint> {
    if hex.len() != 64 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; 32];
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(Fingerprint(bytes))
}
