//! Findings that a project has decided to live with for now, by fingerprint.
//! Knows no reason for any of them: an acceptance has one; a baseline has none.

use crate::finding::{Certainty, Finding};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use unbroken_contract::Level;

/// The version of the file's shape.
const FORMAT: &str = "unbroken.baseline/1";

/// A set of fingerprints, each with what a reader of the file needs to recognise it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    entries: BTreeMap<String, Known>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    breach: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// As what the finding is known. An entry of a file that does not say it stands for any.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "word")]
    certainty: Option<Certainty>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "word")]
    level: Option<Level>,
}

/// Certainties and levels as the words that every output has for them.
mod word {
    use super::{Certainty, Level};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) trait Word: Copy + 'static {
        const ALL: &'static [Self];
        fn id(self) -> &'static str;
    }

    impl Word for Certainty {
        const ALL: &'static [Self] = &[Certainty::Possible, Certainty::Likely, Certainty::Proved];
        fn id(self) -> &'static str {
            Certainty::id(self)
        }
    }

    impl Word for Level {
        const ALL: &'static [Self] = &[Level::Note, Level::Warn, Level::Deny];
        fn id(self) -> &'static str {
            Level::id(self)
        }
    }

    pub(super) fn serialize<T: Word, S: Serializer>(value: &Option<T>, to: S) -> Result<S::Ok, S::Error> {
        value.map(Word::id).serialize(to)
    }

    pub(super) fn deserialize<'de, T: Word, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
        let Some(word) = Option::<String>::deserialize(from)? else { return Ok(None) };
        let known = T::ALL.iter().copied().find(|value| value.id() == word);
        let all = || T::ALL.iter().map(|value| value.id()).collect::<Vec<_>>().join(", ");
        known.map(Some).ok_or_else(|| D::Error::custom(format!("{word:?} is none of {}", all())))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    findings: BTreeMap<String, Known>,
}

/// Why a baseline file is not one.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// Not JSON of the documented shape.
    #[error("the baseline is not readable: {0}")]
    Malformed(#[from] serde_json::Error),
    /// Another version.
    #[error("the baseline has the format {0:?}, not {FORMAT:?}")]
    Format(String),
}

impl Baseline {
    /// Reads the text of a baseline file.
    ///
    /// # Errors
    /// [`BaselineError`], with line and column where the text is not JSON.
    pub fn parse(text: &str) -> Result<Baseline, BaselineError> {
        let file: File = serde_json::from_str(text)?;
        if file.format != FORMAT {
            return Err(BaselineError::Format(file.format));
        }
        Ok(Baseline { entries: file.findings })
    }

    /// The text of the file: sorted by fingerprint, so that two branches merge line by line.
    #[must_use]
    pub fn write(&self) -> String {
        let file = File { format: FORMAT.to_owned(), findings: self.entries.clone() };
        let mut text =
            serde_json::to_string_pretty(&file).expect("strings and maps of strings always serialise");
        text.push('\n');
        text
    }

    /// Takes a finding in, as sure and as bad as it is now.
    pub fn add(&mut self, finding: &Finding) {
        let path = finding.place.as_ref().map(|place| place.path.clone());
        let breach = finding.breach.id().to_owned();
        let (certainty, level) = (Some(finding.certainty), Some(finding.level));
        self.entries.insert(finding.fingerprint.clone(), Known { breach, path, certainty, level });
    }

    /// Whether the finding is known, as sure and as bad as it is now.
    #[must_use]
    pub fn holds(&self, finding: &Finding) -> bool {
        self.entries.contains_key(&finding.fingerprint) && self.outgrown(finding).is_none()
    }

    /// As what the finding is known and what it is now, where it has become surer or, at the same certainty, worse: nobody
    /// has decided to live with that.
    #[must_use]
    pub fn outgrown(&self, finding: &Finding) -> Option<(&'static str, &'static str)> {
        let known = self.entries.get(&finding.fingerprint)?;
        let surer = known.certainty.filter(|known| *known < finding.certainty);
        let worse = known.level.filter(|known| *known < finding.level);
        let surer = surer.map(|known| (known.id(), finding.certainty.id()));
        surer.or_else(|| worse.map(|known| (known.id(), finding.level.id())))
    }

    /// Drops what is not among `fingerprints` any more; gives the number dropped.
    pub fn prune(&mut self, fingerprints: &BTreeSet<String>) -> usize {
        let before = self.entries.len();
        self.entries.retain(|fingerprint, _| fingerprints.contains(fingerprint));
        before - self.entries.len()
    }

    /// How many findings it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Certainty, Subject};
    use unbroken_contract::{Breach, Level};

    fn finding(fingerprint: &str) -> Finding {
        Finding {
            breach: Breach::BlindRetry,
            level: Level::Deny,
            certainty: Certainty::Proved,
            place: None,
            subject: Subject::Item("Client::call".into()),
            client: None,
            tool: None,
            message: "sent again".into(),
            help: String::new(),
            proof: Vec::new(),
            sends: Vec::new(),
            same_by: None,
            missing: None,
            linked: Vec::new(),
            fingerprint: fingerprint.into(),
        }
    }

    #[test]
    fn what_is_written_is_read_back_whatever_the_order_of_the_findings() {
        let (mut one, mut other) = (Baseline::default(), Baseline::default());
        ["b", "a"].iter().for_each(|id| one.add(&finding(id)));
        ["a", "b"].iter().for_each(|id| other.add(&finding(id)));
        assert_eq!(one.write(), other.write());
        assert_eq!(Baseline::parse(&one.write()).expect("our own file"), one);
    }

    #[test]
    fn pruning_keeps_what_is_still_found() {
        let mut baseline = Baseline::default();
        ["a", "b", "c"].iter().for_each(|id| baseline.add(&finding(id)));
        assert_eq!(baseline.prune(&["b".to_owned()].into()), 2);
        assert!(baseline.holds(&finding("b")) && !baseline.holds(&finding("a")));
    }

    #[test]
    fn what_became_surer_or_worse_is_not_what_was_lived_with() {
        let (sure, bad) = (Certainty::Likely, Level::Warn);
        let as_now = |certainty, level| Finding { certainty, level, ..finding("a") };
        let mut known = Baseline::default();
        known.add(&as_now(sure, bad));
        let baseline = Baseline::parse(&known.write()).expect("our own file");
        for (certainty, level, outgrown) in [
            (sure, bad, None),
            (Certainty::Possible, Level::Note, None),
            (Certainty::Proved, bad, Some(("likely", "proved"))),
            (sure, Level::Deny, Some(("warn", "deny"))),
            (Certainty::Proved, Level::Deny, Some(("likely", "proved"))),
        ] {
            let now = as_now(certainty, level);
            assert_eq!(baseline.outgrown(&now), outgrown, "{certainty:?} {level:?}");
            assert_eq!(baseline.holds(&now), outgrown.is_none(), "{certainty:?} {level:?}");
        }
        assert_eq!(baseline.outgrown(&finding("b")), None, "it is new");
    }

    #[test]
    fn an_entry_that_says_neither_certainty_nor_level_stands_for_any() {
        let text = r#"{"format":"unbroken.baseline/1","findings":{"a":{"breach":"blind-retry"}}}"#;
        let baseline = Baseline::parse(text).expect("a file of before");
        assert!(baseline.holds(&finding("a")) && !baseline.holds(&finding("b")));
        assert!(!baseline.write().contains("certainty"), "nothing is made up for it");
        let wrong = text.replace("\"blind-retry\"", "\"blind-retry\",\"certainty\":\"sure\"");
        let refused = Baseline::parse(&wrong).expect_err("no certainty").to_string();
        assert!(refused.contains("possible, likely, proved"), "{refused}");
    }

    #[test]
    fn a_foreign_file_is_refused_with_a_place() {
        let malformed = Baseline::parse("{\n  nonsense").expect_err("not JSON").to_string();
        assert!(malformed.contains("line 2"), "{malformed}");
        let other = Baseline::parse(r#"{"format":"x/9","findings":{}}"#).expect_err("another format");
        assert!(matches!(other, BaselineError::Format(format) if format == "x/9"));
    }
}
