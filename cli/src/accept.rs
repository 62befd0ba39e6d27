//! Which findings in traffic are accepted by `unbroken.toml`, and which acceptances no longer mean anything.
//! Knows no configuration grammar and no renderer.

use crate::lint::Accept;
use crate::scope::is_client;
use unbroken_report::{Exhibit, Finding, Problem, Spot};

/// The acceptances of a run, and what they met.
#[derive(Debug)]
pub(crate) struct Acceptances {
    /// The configuration as output shows it.
    file: String,
    today: String,
    all: Vec<(Accept, u64)>,
}

impl Acceptances {
    /// `today` is the day of the run in UTC, as `2026-12-31`.
    pub(crate) fn new(file: String, all: Vec<Accept>, today: String) -> Acceptances {
        Acceptances { file, today, all: all.into_iter().map(|accept| (accept, 0)).collect() }
    }

    /// Whether a finding is accepted. All acceptances that mean it are in use by it.
    pub(crate) fn hold(&mut self, finding: &Finding) -> bool {
        let mut held = false;
        for (accept, met) in &mut self.all {
            if means(accept, finding) {
                *met += 1;
                held |= !expired(accept, &self.today);
            }
        }
        held
    }

    /// What is to be told of acceptances: those that are over, and those that mean nothing in this input, unless more of it
    /// is still to be judged.
    pub(crate) fn notices(self, goes_on: bool) -> Vec<Problem> {
        let mut notices = Vec::new();
        for (accept, met) in self.all {
            let over = expired(&accept, &self.today);
            let (message, help) = match (met, &accept.until) {
                (0, _) if goes_on => continue,
                (0, _) => (
                    "no finding of this input is meant by the acceptance".to_owned(),
                    "take it out once the cause is gone; other logs may still need it",
                ),
                (met, Some(until)) if over => {
                    let findings = if met == 1 { "finding is" } else { "findings are" };
                    (
                        format!("the acceptance ended with {until}: its {met} {findings} reported again"),
                        "mend the cause, or decide anew and move `until`",
                    )
                }
                _ => continue,
            };
            notices.push(Problem {
                exhibit: Exhibit { path: self.file.clone(), spot: Spot::Line(accept.line) },
                message,
                help: help.to_owned(),
                count: 1,
                lost: false,
            });
        }
        notices
    }
}

fn expired(accept: &Accept, today: &str) -> bool {
    // Days as `2026-12-31` compare as texts.
    accept.until.as_deref().is_some_and(|until| until < today)
}

fn means(accept: &Accept, finding: &Finding) -> bool {
    if let Some(fingerprint) = &accept.fingerprint {
        return *fingerprint == finding.fingerprint;
    }
    let server = |name: &String| {
        finding
            .proof
            .iter()
            .any(|step| step.scene.server.as_ref() == Some(name) || step.scene.alias.as_ref() == Some(name))
    };
    accept.rule == Some(finding.breach)
        && accept.tool.as_ref().is_none_or(|tool| finding.tool.as_ref() == Some(tool))
        && accept
            .client
            .as_deref()
            .is_none_or(|asked| finding.client.as_deref().is_some_and(|program| is_client(program, asked)))
        && accept.server.as_ref().is_none_or(server)
}
