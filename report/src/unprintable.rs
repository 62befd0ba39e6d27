//! Characters that a terminal, a browser or a reader's eye would take for something else.
//! Knows no renderer; every renderer passes foreign text through here.
//!
//! Control characters and ANSI sequences drive terminals, bidi overrides and zero-width characters
//! reorder or hide what is read ("Trojan Source", CVE-2021-42574). All of them are shown as `\u{..}`.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether `c` would act on a terminal or hide itself instead of being seen as a character.
#[must_use]
pub fn is_unprintable(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    // std keeps the Unicode tables; `escape_debug` leaves printable characters alone, and combining
    // marks too as long as they are not the first thing in the text.
    let after_a_letter = String::from_iter(['a', c]);
    after_a_letter.escape_debug().nth(1) == Some('\\') || is_invisible(c)
}

/// Whether a text is of printable ASCII alone, as most are: one look at its bytes tells it.
#[must_use]
pub(crate) fn is_plain(text: &str) -> bool {
    // No early end, so that many bytes are looked at together.
    text.bytes().fold(true, |plain, byte| plain & (b' '..=b'~').contains(&byte))
}

/// Characters that are letters to Unicode and nothing to the eye.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// `text` with every unprintable character written as `\n`, `\r`, `\t` or `\u{hex}`.
#[must_use]
pub fn escape(text: &str) -> Cow<'_, str> {
    if is_plain(text) || !text.chars().any(is_unprintable) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_unprintable(c) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Source text fit to be shown line by line: line ends and tabs stay, every other unprintable
/// character becomes U+FFFD, one for one, so that columns counted in characters stay true.
#[must_use]
pub fn blot(source: &str) -> Cow<'_, str> {
    let acts = |c: char| c != '\n' && c != '\t' && is_unprintable(c);
    if !source.chars().any(acts) {
        return Cow::Borrowed(source);
    }
    let shown = |c: char| match c {
        '\r' => ' ',
        c if acts(c) => '\u{fffd}',
        c => c,
    };
    Cow::Owned(source.chars().map(shown).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_on_a_terminal_or_a_reader_is_spelled_out() {
        assert_eq!(escape("\u{1b}[31mred\u{7}"), "\\u{1b}[31mred\\u{7}");
        assert_eq!(escape("a\u{202e}b\u{2066}c\u{200b}d\u{9b}e"), "a\\u{202e}b\\u{2066}c\\u{200b}d\\u{9b}e");
        assert_eq!(escape("line\r\nnext\tcell"), "line\\r\\nnext\\tcell");
        assert_eq!(escape("\u{e0041}\u{feff}\u{ad}\u{3164}"), "\\u{e0041}\\u{feff}\\u{ad}\\u{3164}");
    }

    #[test]
    fn plain_is_what_holds_printable_ascii_alone() {
        for c in ('\0'..='\u{250}').chain(['\u{202e}', '🚀']) {
            let (long, text) = ("x".repeat(40), c.to_string());
            for text in [format!("{text}{long}"), format!("{long}{text}"), text] {
                assert_eq!(is_plain(&text), c.is_ascii() && !is_unprintable(c), "{text:?}");
            }
        }
    }

    #[test]
    fn letters_of_every_script_stay_as_they_are() {
        for text in
            ["plain \"quoted\" it's C:\\path", "Überweisung", "支払う", "दाखिला", "оплата", "e\u{301}", "🦀"]
        {
            assert_eq!(escape(text), text);
        }
    }

    #[test]
    fn blotted_source_keeps_its_columns() {
        let source = "let a = \"\u{202e}x\";\r\n\tb();\n";
        let shown = blot(source);
        assert_eq!(shown, "let a = \"\u{fffd}x\"; \n\tb();\n");
        assert_eq!(shown.chars().count(), source.chars().count());
    }
}
