//! What the lint found: a breach at a place, with the places that tell the story.
//! Knows no renderer.

use std::path::PathBuf;
use unbroken_contract::{Breach, Level};

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// Rests on a guess by name alone.
    Possible,
    /// Rests on a union over implementations, or on a callee known only by name and arity.
    Likely,
    /// Follows from the code as written.
    Proved,
}

/// A range of source text. Lines from 1, columns from 1, in characters.
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

/// One labelled place, in the order of the story.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label {
    /// File, relative to the root that was linted.
    pub path: PathBuf,
    /// Where.
    pub range: Range,
    /// What stands there, lower-case, no final stop.
    pub text: String,
}

/// A breach that was found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Finding {
    /// Which.
    pub breach: Breach,
    /// How bad.
    pub level: Level,
    /// How sure.
    pub certainty: Certainty,
    /// File, relative to the root that was linted.
    pub path: PathBuf,
    /// The offending place: the narrowest expression or arm.
    pub range: Range,
    /// The item it stands in, as `Type::method` or `function`.
    pub item: String,
    /// What happened, lower-case, at most 90 characters, no final stop.
    pub message: String,
    /// What to do, one sentence.
    pub help: String,
    /// The proof, in the order of the story; the first is the offending place itself.
    pub labels: Vec<Label>,
    /// Stable over moved lines and renames of other items: from breach, path, item and the normalised text of the place.
    pub fingerprint: String,
}

/// A file, or a part of one, that could not be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// File, relative to the root that was linted.
    pub path: PathBuf,
    /// Where, if known.
    pub range: Option<Range>,
    /// What happened.
    pub message: String,
    /// What to do.
    pub help: String,
}
