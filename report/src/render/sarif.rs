//! SARIF 2.1.0, for code scanning: results with code flows made of the proof.
//! Knows no terminal; findings that are accepted or in the baseline never get here.

use super::voice::Voice;
use super::{Render, harmless};
use crate::exhibit::{Exhibit, Spot};
use crate::finding::{Finding, Step};
use crate::secrets::Secrets;
use crate::summary::{Problem, Summary};
use crate::verdict::Verdict;
use serde_json::{Value, json};
use std::io::{self, Write};
use unbroken_contract::{Breach, Level};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// Key of our fingerprint; a change of what it is made of gets another number.
const FINGERPRINT: &str = "unbroken/v1";

pub(super) struct Sarif {
    secrets: Secrets,
    begun: bool,
}

impl Sarif {
    pub(super) fn new(secrets: Secrets) -> Sarif {
        Sarif { secrets, begun: false }
    }

    /// What stands before the results. They are written as they come, so that a run of any size fits.
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if !self.begun {
            write!(out, "{{\"$schema\":\"{SCHEMA}\",\"version\":\"2.1.0\",\"runs\":[{{\"tool\":")?;
            harmless::value(&tool(), out)?;
            out.write_all(b",\"columnKind\":\"unicodeCodePoints\",\"results\":[")?;
            self.begun = true;
            return Ok(());
        }
        out.write_all(b",")
    }
}

impl Render for Sarif {
    fn finding(&mut self, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
        self.begin(out)?;
        harmless::value(&result(finding, &Voice::of(finding, &self.secrets)), out)
    }

    fn finish(&mut self, summary: &Summary, verdict: Verdict, out: &mut dyn Write) -> io::Result<()> {
        if !self.begun {
            self.begin(out)?;
        }
        out.write_all(b"],\"invocations\":[")?;
        let invocation = json!({
            "executionSuccessful": matches!(verdict, Verdict::Clean | Verdict::Found),
            "exitCode": verdict.exit_code(),
            "toolExecutionNotifications": summary.problems.iter().map(notification).collect::<Vec<_>>(),
        });
        harmless::value(&invocation, out)?;
        out.write_all(b"]}]}\n")
    }
}

fn tool() -> Value {
    let rule = |breach: &Breach| {
        json!({
            "id": breach.id(),
            "shortDescription": { "text": breach.line() },
            "help": { "text": format!("unbroken explain {}", breach.id()) },
            "defaultConfiguration": { "level": level(breach.level()) },
        })
    };
    json!({ "driver": {
        "name": "unbroken",
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "informationUri": env!("CARGO_PKG_REPOSITORY"),
        "rules": Breach::ALL.iter().map(rule).collect::<Vec<_>>(),
    }})
}

fn result(finding: &Finding, voice: &Voice<'_>) -> Value {
    let mut properties =
        json!({ "certainty": finding.certainty.id(), "help": voice.exact_text(&finding.help) });
    let more = [
        ("subject", voice.subject(finding)),
        ("tool", finding.tool.as_deref().map(|tool| voice.exact_text(tool))),
        ("missing", finding.missing.as_deref().map(|fact| voice.exact_text(fact))),
        ("sameBy", finding.same_by.map(str::to_owned)),
    ];
    for (key, value) in more {
        if let Some(value) = value {
            properties[key] = Value::String(value);
        }
    }
    let index = Breach::ALL.iter().position(|breach| *breach == finding.breach);
    let mut result = json!({
        "ruleId": finding.breach.id(),
        "ruleIndex": index,
        "level": level(finding.level),
        "message": { "text": voice.exact(&finding.message) },
        "locations": finding.place.iter().map(|place| location(Some(place), None)).collect::<Vec<_>>(),
        "partialFingerprints": { FINGERPRINT: finding.fingerprint },
        "properties": properties,
    });
    if !finding.proof.is_empty() {
        let steps: Vec<Value> =
            finding.proof.iter().enumerate().map(|(index, step)| flow(index, step, voice)).collect();
        result["codeFlows"] = json!([{ "threadFlows": [{ "locations": steps }] }]);
    }
    result
}

fn flow(index: usize, step: &Step, voice: &Voice<'_>) -> Value {
    let mut flow = json!({
        "executionOrder": index + 1,
        "location": location(step.exhibit.as_ref(), Some(voice.exact(&step.words))),
        "kinds": [step.role.id()],
    });
    if let Some(at) = step.at {
        flow["executionTimeUtc"] = Value::String(super::moment::rfc3339(at));
    }
    flow
}

fn location(exhibit: Option<&Exhibit>, message: Option<String>) -> Value {
    let mut location = json!({});
    if let Some(exhibit) = exhibit {
        location["physicalLocation"] = physical(exhibit);
    }
    if let Some(text) = message {
        location["message"] = json!({ "text": text });
    }
    location
}

fn physical(exhibit: &Exhibit) -> Value {
    let mut physical = json!({ "artifactLocation": artifact(&exhibit.path) });
    match exhibit.spot {
        Spot::Whole => {}
        Spot::Line(line) => physical["region"] = json!({ "startLine": line }),
        Spot::Range(range) => {
            physical["region"] = json!({
                "startLine": range.line,
                "startColumn": range.column,
                "endLine": range.end_line,
                "endColumn": range.end_column,
            });
        }
        // A document has entries, not lines; SARIF has no region for them.
        Spot::Entry(entry) => physical["properties"] = json!({ "entry": entry }),
    }
    physical
}

/// A relative path is one below the root of the sources; an absolute one is a `file:` URI.
fn artifact(path: &str) -> Value {
    let mut uri = String::with_capacity(path.len());
    for byte in path.trim_start_matches("./").bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/+@".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    if uri.starts_with('/') {
        json!({ "uri": format!("file://{uri}") })
    } else {
        json!({ "uri": uri, "uriBaseId": "%SRCROOT%" })
    }
}

fn notification(problem: &Problem) -> Value {
    json!({
        "level": if problem.lost { "error" } else { "note" },
        "message": { "text": format!("{}; {}", problem.message, problem.help) },
        "locations": [location(Some(&problem.exhibit), None)],
    })
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Deny => "error",
        Level::Warn => "warning",
        Level::Note => "note",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_uri_below_the_root_or_a_file() {
        assert_eq!(artifact("./a b/ü.rs"), json!({ "uri": "a%20b/%C3%BC.rs", "uriBaseId": "%SRCROOT%" }));
        assert_eq!(artifact("/var/log/a#1"), json!({ "uri": "file:///var/log/a%231" }));
        assert_eq!(artifact("x:y"), json!({ "uri": "x%3Ay", "uriBaseId": "%SRCROOT%" }));
    }
}
