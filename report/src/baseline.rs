//! Findings that a project has decided to live with for now, by fingerprint.
//! Knows no reason for any of them: an acceptance has one; a baseline has none.

use crate::finding::Finding;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

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

    /// Takes a finding in.
    pub fn add(&mut self, finding: &Finding) {
        let path = finding.place.as_ref().map(|place| place.path.clone());
        self.entries
            .insert(finding.fingerprint.clone(), Known { breach: finding.breach.id().to_owned(), path });
    }

    /// Whether the finding is known.
    #[must_use]
    pub fn holds(&self, finding: &Finding) -> bool {
        self.entries.contains_key(&finding.fingerprint)
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
    fn a_foreign_file_is_refused_with_a_place() {
        let malformed = Baseline::parse("{\n  nonsense").expect_err("not JSON").to_string();
        assert!(malformed.contains("line 2"), "{malformed}");
        let other = Baseline::parse(r#"{"format":"x/9","findings":{}}"#).expect_err("another format");
        assert!(matches!(other, BaselineError::Format(format) if format == "x/9"));
    }
}
