//! A place that a finding rests on: a range of source, a line of a log, an entry of a document.
//! Knows not what stands there.

use std::fmt;

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Exhibit {
    /// Path as the user may open it.
    pub path: String,
    /// Where in it.
    pub spot: Spot,
}

/// Where in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Spot {
    /// The file as a whole.
    Whole,
    /// A line, from 1.
    Line(u64),
    /// An entry of a document (HAR, JSON array), from 1.
    Entry(u64),
    /// A range of source text.
    Range(Range),
}

/// A range of source text. Lines and columns from 1, columns in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Range {
    /// First line.
    pub line: u32,
    /// First column.
    pub column: u32,
    /// Last line.
    pub end_line: u32,
    /// Column after the last character.
    pub end_column: u32,
}

impl Spot {
    /// First line, where the place has one.
    #[must_use]
    pub fn line(self) -> Option<u64> {
        match self {
            Spot::Line(line) => Some(line),
            Spot::Range(range) => Some(u64::from(range.line)),
            Spot::Whole | Spot::Entry(_) => None,
        }
    }

    /// The range, where the place is one.
    #[must_use]
    pub fn range(self) -> Option<Range> {
        match self {
            Spot::Range(range) => Some(range),
            _ => None,
        }
    }

    /// The entry, where the place is one.
    #[must_use]
    pub fn entry(self) -> Option<u64> {
        match self {
            Spot::Entry(entry) => Some(entry),
            _ => None,
        }
    }
}

/// `:12`, `:12:5`, `#3`, or nothing: what editors and people append to a path.
impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spot::Whole => Ok(()),
            Spot::Line(line) => write!(f, ":{line}"),
            Spot::Entry(entry) => write!(f, "#{entry}"),
            Spot::Range(range) => write!(f, ":{}:{}", range.line, range.column),
        }
    }
}

impl fmt::Display for Exhibit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", crate::unprintable::escape(&self.path), self.spot)
    }
}
