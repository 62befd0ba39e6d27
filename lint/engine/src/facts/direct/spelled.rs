//! What a number, an escaped text or a keyword spells.
//! Knows letters, no places.

use super::token::Word;
use super::{Read, Stop};

/// The value of decimal digits, with underscores and a suffix of an integer; `None` for everything else.
pub(super) fn integer(digits: &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    let mut at = 0;
    while at < digits.len() {
        match digits[at] {
            byte @ b'0'..=b'9' => value = value.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?,
            b'_' => {}
            _ => break,
        }
        at += 1;
    }
    let suffix = &digits[at..];
    let known = matches!(
        suffix,
        b"" | b"u8"
            | b"u16"
            | b"u32"
            | b"u64"
            | b"u128"
            | b"usize"
            | b"i8"
            | b"i16"
            | b"i32"
            | b"i64"
            | b"i128"
            | b"isize"
    );
    known.then_some(value)
}

/// The text that a literal stands for.
pub(super) fn unescaped(text: &str, bytes: bool) -> Read<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let (letter, width) = match after.as_bytes().first() {
            Some(b'n') => ('\n', 1),
            Some(b'r') => ('\r', 1),
            Some(b't') => ('\t', 1),
            Some(b'0') => ('\0', 1),
            Some(b'\\') => ('\\', 1),
            Some(b'"') => ('"', 1),
            Some(b'\'') => ('\'', 1),
            Some(b'u') if !bytes => {
                let digits =
                    after.strip_prefix("u{").and_then(|it| it.split_once('}')).ok_or(Stop::Unknown)?.0;
                let code = u32::from_str_radix(digits, 16).map_err(|_| Stop::Unknown)?;
                (char::from_u32(code).ok_or(Stop::Unknown)?, digits.len() + 3)
            }
            Some(b'\n') => {
                rest = after.trim_start_matches([' ', '\n', '\t', '\r']);
                continue;
            }
            _ => return Err(Stop::Unknown),
        };
        out.push(letter);
        rest = &after[width..];
    }
    out.push_str(rest);
    Ok(out)
}

pub(super) fn keyword(word: &[u8]) -> Option<Word> {
    Some(match word {
        b"as" => Word::As,
        b"async" => Word::Async,
        b"await" => Word::Await,
        b"break" => Word::Break,
        b"const" => Word::Const,
        b"continue" => Word::Continue,
        b"crate" => Word::Crate,
        b"dyn" => Word::Dyn,
        b"else" => Word::Else,
        b"false" => Word::False,
        b"fn" => Word::Fn,
        b"for" => Word::For,
        b"if" => Word::If,
        b"impl" => Word::Impl,
        b"in" => Word::In,
        b"let" => Word::Let,
        b"loop" => Word::Loop,
        b"match" => Word::Match,
        b"move" => Word::Move,
        b"mut" => Word::Mut,
        b"pub" => Word::Pub,
        b"ref" => Word::Ref,
        b"return" => Word::Return,
        b"self" => Word::Own,
        b"Self" => Word::OwnType,
        b"super" => Word::Super,
        b"true" => Word::True,
        b"type" => Word::Type,
        b"_" => Word::Underscore,
        b"unsafe" => Word::Unsafe,
        b"where" => Word::Where,
        b"while" => Word::While,
        b"abstract" | b"become" | b"box" | b"do" | b"enum" | b"extern" | b"final" | b"macro" | b"mod"
        | b"override" | b"priv" | b"static" | b"struct" | b"trait" | b"try" | b"typeof" | b"unsized"
        | b"use" | b"virtual" | b"yield" => Word::Other,
        _ => return None,
    })
}
