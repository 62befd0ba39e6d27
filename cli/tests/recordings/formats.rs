//! That all formats tell the same, beside each other and alone.

use super::command::{audit, findings, summary};
use super::pass::{Told, hold_all, hold_shipped};
use serde_json::Value;
use std::collections::BTreeSet;

/// Fingerprints that a format shows.
fn fingerprints(format: &str, out: &str) -> BTreeSet<String> {
    let text = |value: &Value| value.as_str().expect("a fingerprint is text").to_owned();
    match format {
        "json" => findings(out).iter().map(|finding| text(&finding["fingerprint"])).collect(),
        "sarif" => {
            let document: Value = serde_json::from_str(out).expect("one JSON document");
            let results = document["runs"][0]["results"].as_array().expect("a list").clone();
            results.iter().map(|result| text(&result["partialFingerprints"]["unbroken/v1"])).collect()
        }
        "junit" => out
            .lines()
            .filter(|line| line.contains("<testcase") && line.contains("classname="))
            .filter_map(|line| {
                line.split("name=\"").nth(1)?.split('"').next()?.rsplit(' ').next().map(str::to_owned)
            })
            .collect(),
        "html" => out
            .split(" id=\"f-")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .map(str::to_owned)
            .collect(),
        "csv" => out.lines().skip(1).filter_map(|line| line.split(',').next()).map(str::to_owned).collect(),
        other => panic!("{other} shows no fingerprints"),
    }
}

/// All formats of one run tell the same findings, and the run ends as each of them says.
pub(crate) fn agree(told: &Told) {
    let (what, code) = (format!("{:?}", told.view), told.code);
    let text = |format| told.text(format);
    let found = findings(text("json"));
    let expected = fingerprints("json", text("json"));
    assert_eq!(expected.len(), found.len(), "{what}: a fingerprint is there twice");
    assert_eq!(summary(text("json"))["exit_code"], code, "{what}");
    for format in ["sarif", "junit", "html", "csv"] {
        assert_eq!(fingerprints(format, text(format)), expected, "{what} {format}");
    }
    let lines =
        |format| text(format).lines().filter(|line| line.ends_with(')') && line.contains(": ")).count();
    assert_eq!(lines("brief"), found.len(), "{what}");
    let logged = text("github").lines().filter(|line| !line.starts_with("::") && line.ends_with(')')).count();
    assert_eq!(logged, found.len() + usize::from(!found.is_empty()), "{what}: a line each, and the headline");
    let annotated = text("github").lines().filter(|line| line.starts_with("::")).count();
    assert!(annotated <= 10 && annotated >= found.len().min(10), "{what}: {annotated} annotations");
    let diagnostics = text("cargo").lines().filter(|line| line.contains("\"code\":\"unbroken::")).count();
    assert_eq!(diagnostics, found.len(), "{what}");
    let told = text("human").matches("  more: unbroken explain").count();
    assert_eq!(told, found.len().min(50), "{what}");
    // Of many findings some formats tell the first in full and count the rest: the count is the same.
    let headline = text("human").lines().next_back().expect("the last line of a run");
    for format in ["brief", "github", "junit", "markdown", "html"] {
        assert!(text(format).contains(headline), "{what} {format}: no {headline:?}");
    }
}

/// What a format tells may not depend on which formats are written beside it.
pub(crate) fn alone(told: &Told, format: &str) {
    let ran = audit(format, &told.files, &[]);
    assert_eq!((ran.code, ran.err.as_str()), (told.code, told.text("standard error")), "{format}");
    assert!(
        ran.out == told.text(format),
        "{format} alone tells\n{}\nand beside others\n{}",
        ran.out,
        told.text(format)
    );
}

#[test]
fn every_format_tells_the_same_findings() {
    hold_shipped("formats");
}

#[test]
fn every_format_agrees_over_all_recordings() {
    hold_all("formats");
}

#[test]
fn a_format_alone_tells_what_it_tells_beside_others() {
    hold_shipped("alone");
}

#[test]
fn a_format_alone_tells_the_same_over_all_recordings() {
    hold_all("alone");
}
