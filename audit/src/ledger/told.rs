//! The findings that are out, so that none is told twice.
//! Knows fingerprints and the places of sends; not what a finding says.

use super::route;
use crate::finding::{Finding, Sent};
use crate::quick::{HashMap, HashSet};

/// Findings that are out.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) prints: HashSet<u64>,
    /// The finding that a send or another part of a story stands in, by what is known of it wherever it stands.
    pub(super) sends: HashMap<u64, u64>,
}

impl Told {
    /// Whether a finding is told for the first time, and not a part of one that is out: of a call that was sent three times
    /// one send may be done with when the others are looked at again, and a loop of tries can be longer than what is judged at a
    /// time.
    pub(super) fn is_news(&mut self, finding: &Finding) -> bool {
        let told = finding.part_of.as_ref().and_then(|part| self.sends.get(&route::hash(part)).copied());
        if let Some(story) = told {
            self.sends.extend(finding.parts.iter().map(|part| (route::hash(part), story)));
            return false;
        }
        let print = route::hash(&finding.fingerprint);
        let place = |sent: &Sent| {
            let of = |text: &Option<String>| text.as_deref().map_or(0, route::hash);
            let parts = [of(&finding.tool), of(&sent.session), of(&sent.rpc_id), sent.at as u64];
            parts
                .iter()
                .fold(0, |sum: u64, part| (sum ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29))
        };
        let mut stories = finding.sends.iter().map(|sent| self.sends.get(&place(sent)));
        let first = stories.next().flatten();
        let part = first.is_some() && stories.all(|story| story == first);
        if part || !self.prints.insert(print) {
            return false;
        }
        self.sends.extend(finding.sends.iter().map(|sent| (place(sent), print)));
        self.sends.extend(finding.parts.iter().map(|part| (route::hash(part), print)));
        true
    }
}
