//! Comma-separated values (RFC 4180, lines ended by LF) for spreadsheets: a header, one line per finding.
//! Knows no proof, and lets no field be taken for a formula.

use super::voice::Voice;
use super::{Render, moment};
use crate::finding::{Finding, Subject};
use crate::secrets::Secrets;
use crate::summary::Summary;
use crate::verdict::Verdict;
use std::borrow::Cow;
use std::io::{self, Write};

const HEADER: &str = "fingerprint,breach,level,certainty,path,line,entry,column,time,item,session,tool,client,sends,message,help,missing,linked\n";

pub(super) struct Csv {
    secrets: Secrets,
    begun: bool,
}

impl Csv {
    pub(super) fn new(secrets: Secrets) -> Csv {
        Csv { secrets, begun: false }
    }

    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if !self.begun {
            self.begun = true;
            out.write_all(HEADER.as_bytes())?;
        }
        Ok(())
    }
}

impl Render for Csv {
    fn finding(&mut self, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
        self.begin(out)?;
        let fields = fields(finding, &Voice::of(finding, &self.secrets));
        let line: Vec<String> = fields.iter().map(|text| field(text)).collect();
        writeln!(out, "{}", line.join(","))
    }

    fn finish(&mut self, _: &Summary, _: Verdict, out: &mut dyn Write) -> io::Result<()> {
        self.begin(out)
    }
}

fn fields(finding: &Finding, voice: &Voice<'_>) -> [String; 18] {
    let or_empty = |text: Option<String>| text.unwrap_or_default();
    let foreign = |text: &Option<String>| or_empty(text.as_deref().map(|text| voice.text(text)));
    let spot = finding.place.as_ref().map(|place| place.spot);
    let subject = or_empty(voice.subject(finding));
    let (item, session) = match finding.subject {
        Subject::Item(_) => (subject, String::new()),
        Subject::Session(_) => (String::new(), subject),
    };
    [
        finding.fingerprint.clone(),
        finding.breach.id().to_owned(),
        finding.level.id().to_owned(),
        finding.certainty.id().to_owned(),
        or_empty(finding.place.as_ref().map(|place| voice.text(&place.path))),
        or_empty(spot.and_then(|spot| spot.line()).map(|line| line.to_string())),
        or_empty(spot.and_then(|spot| spot.entry()).map(|entry| entry.to_string())),
        or_empty(spot.and_then(|spot| spot.range()).map(|range| range.column.to_string())),
        or_empty(finding.proof.iter().find_map(|step| step.at).map(moment::rfc3339)),
        item,
        session,
        foreign(&finding.tool),
        foreign(&finding.client),
        if finding.sends.is_empty() { String::new() } else { finding.sends.len().to_string() },
        voice.say(&finding.message),
        voice.text(&finding.help),
        foreign(&finding.missing),
        finding.linked.join(" "),
    ]
}

/// A field that a spreadsheet takes for text: one that would begin a formula gets an apostrophe in front
/// (<https://owasp.org/www-community/attacks/CSV_Injection>), blanks before it do not hide it.
fn field(text: &str) -> String {
    let begins = |c: char| {
        matches!(c, '=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '|' | '%' | '＝' | '＋' | '－' | '＠')
    };
    let text: Cow<'_, str> =
        if text.trim_start().starts_with(begins) { format!("'{text}").into() } else { text.into() };
    if text.contains(['"', ',', '\r', '\n', ';']) || text.starts_with(' ') || text.ends_with(' ') {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn no_field_is_a_formula() {
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "|calc", "＝1"] {
            assert!(field(formula).trim_start_matches('"').starts_with('\''), "{formula}");
        }
        assert_eq!(field("=HYPERLINK(\"http://x\",\"y\")"), "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"");
        assert_eq!(field("charge_card"), "charge_card");
        assert_eq!(field("a,b"), "\"a,b\"");
    }
}
