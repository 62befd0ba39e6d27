//! Cuts a long text between its items.
//! Knows how lines begin and end, no syntax: what is cut elsewhere does not parse, and is then parsed whole.

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part<'a> {
    pub(super) text: &'a str,
    /// How many lines of the whole stand before it.
    pub(super) lines_before: usize,
}

/// Words that begin an item, at the start of a line.
const HEADS: [&str; 14] = [
    "fn ", "pub ", "pub(", "impl", "mod ", "struct ", "enum ", "trait ", "use ", "const ", "static ",
    "type ", "#[", "async ",
];

/// The text in parts of at least `least` bytes, the last one apart.
pub(super) fn of(text: &str, least: usize) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut from, mut lines_before, mut lines) = (0, 0, 0);
    let (mut at, mut ended) = (0, false);
    for line in text.split_inclusive('\n') {
        if ended && at - from >= least && HEADS.iter().any(|head| line.starts_with(head)) {
            parts.push(Part { text: &text[from..at], lines_before });
            (from, lines_before) = (at, lines);
        }
        let code = line.trim_end();
        // A blank line changes nothing about what ended before it.
        ended = code.ends_with(['}', ';']) || ended && code.is_empty();
        at += line.len();
        lines += 1;
    }
    parts.push(Part { text: &text[from..], lines_before });
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_before_items_and_nowhere_else() {
        let text =
            "use a;\nfn f() {\n    x();\n}\n\n#[test]\nfn g() {}\nconst X: u8 =\n    1;\n  fn h() {}\n";
        let parts = of(text, 1);
        assert_eq!(parts.iter().map(|part| part.text).collect::<String>(), text);
        let heads: Vec<_> = parts.iter().map(|part| (part.text.lines().next(), part.lines_before)).collect();
        let expected = [("use a;", 0), ("fn f() {", 1), ("#[test]", 5), ("const X: u8 =", 7)];
        assert_eq!(heads, expected.map(|(line, before)| (Some(line), before)));
        assert_eq!(of(text, 1_000).len(), 1);
        assert_eq!(of("", 1).len(), 1);
    }
}
