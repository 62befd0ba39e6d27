//! Which token of the item stands at a place that the engine names by line and column.
//! Knows tokens and their positions, not what they mean.

use proc_macro2::{LineColumn, Span, TokenStream, TokenTree};
use std::collections::BTreeMap;
use unbroken_lint::finding::Range;

/// Where each token begins and ends. Places outside the item (the arguments of the attribute) may be added.
pub(crate) struct Places {
    starts: BTreeMap<(usize, usize), Span>,
    ends: BTreeMap<(usize, usize), Span>,
}

/// First and last token of a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    pub(crate) first: Span,
    pub(crate) last: Span,
}

impl Stretch {
    pub(crate) fn of(span: Span) -> Stretch {
        Stretch { first: span, last: span }
    }
}

impl Places {
    pub(crate) fn of(tokens: &TokenStream, more: impl IntoIterator<Item = Span>) -> Places {
        let mut places = Places { starts: BTreeMap::new(), ends: BTreeMap::new() };
        places.gather(tokens.clone());
        more.into_iter().for_each(|span| places.add(span));
        places
    }

    fn gather(&mut self, tokens: TokenStream) {
        for token in tokens {
            if let TokenTree::Group(group) = token {
                self.add(group.span_open());
                self.gather(group.stream());
                self.add(group.span_close());
            } else {
                self.add(token.span());
            }
        }
    }

    fn add(&mut self, span: Span) {
        let key = |at: LineColumn| (at.line, at.column);
        self.starts.entry(key(span.start())).or_insert(span);
        self.ends.insert(key(span.end()), span);
    }

    /// The tokens from the one that begins at the place (or is the last to begin before it) to the one that ends it.
    /// A place before every token is that of the whole attribute.
    pub(crate) fn at(&self, range: Range) -> Stretch {
        let from = (range.line as usize, (range.column as usize).saturating_sub(1));
        let to = (range.end_line as usize, (range.end_column as usize).saturating_sub(1));
        let Some((_, first)) = self.starts.range(..=from).next_back() else {
            return Stretch::of(Span::call_site());
        };
        let last = self.ends.range(from..=to).next_back().map_or(*first, |(_, span)| *span);
        Stretch { first: *first, last }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, range: Range) -> (String, String) {
        let tokens: TokenStream = text.parse().expect("tokens");
        let stretch = Places::of(&tokens, []).at(range);
        let said = |span: Span| span.source_text().unwrap_or_default();
        (said(stretch.first), said(stretch.last))
    }

    #[test]
    fn a_range_is_found_by_its_first_and_last_token() {
        let text = "fn f(s: &mut S) {\n    s.id = None;\n}";
        let at = |line, column, end_line, end_column| Range { line, column, end_line, end_column };
        assert_eq!(found(text, at(2, 5, 2, 16)), ("s".into(), "None".into()));
        assert_eq!(found(text, at(1, 17, 3, 2)), ("{".into(), "}".into()));
        assert_eq!(found(text, at(2, 8, 2, 9)), ("id".into(), "id".into()), "inside a token");
    }
}
