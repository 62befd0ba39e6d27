//! Real output against the schemas: our own for `json`, OASIS's for `sarif`; and that other readers take it.

mod command;

use command::{View, audit, audit_in_every_format, findings, root, shipped, unbroken};
use serde_json::Value;
use std::path::Path;

fn schema(path: &str) -> jsonschema::Validator {
    let text = std::fs::read_to_string(root().join(path)).expect("the schema is shipped");
    jsonschema::validator_for(&serde_json::from_str(&text).expect("a schema is JSON"))
        .expect("a schema is valid itself")
}

fn hold(validator: &jsonschema::Validator, value: &Value, what: &Path) {
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{}: {errors:#?}\n{value}", what.display());
}

#[test]
fn json_lines_have_the_documented_shape() {
    let validator = schema("docs/schema/json.schema.json");
    let mut held = 0;
    for run in shipped() {
        for view in View::EACH {
            for line in audit("json", &view.files(&run), &[]).out.lines() {
                hold(&validator, &serde_json::from_str(line).expect("every line is JSON"), &run);
                held += 1;
            }
        }
    }
    for line in unbroken(["lint", "--format", "json", "fixtures/clients/naive"]).out.lines() {
        hold(&validator, &serde_json::from_str(line).expect("every line is JSON"), Path::new("naive"));
        held += 1;
    }
    assert!(held > 2 * shipped().len() * View::EACH.len(), "there are findings to hold against it");
}

#[test]
fn the_schema_refuses_what_is_not_documented() {
    let validator = schema("docs/schema/json.schema.json");
    let run = shipped()
        .into_iter()
        .find(|run| run.ends_with("s02d_cut_after_effect__naive-discard__ts1"))
        .expect("it is shipped");
    let mut line = findings(&audit("json", &View::Wire.files(&run), &[]).out).remove(0);
    assert!(validator.is_valid(&line));
    line["surprise"] = Value::Bool(true);
    assert!(!validator.is_valid(&line));
}

#[test]
fn sarif_is_what_oasis_says() {
    let validator = schema("fixtures/schema/sarif-2.1.0.json");
    for run in shipped() {
        let text = audit("sarif", &View::All.files(&run), &[]).out;
        hold(&validator, &serde_json::from_str(&text).expect("one JSON document"), &run);
    }
    let text = unbroken(["lint", "--format", "sarif", "fixtures/clients/naive"]).out;
    let mut document: Value = serde_json::from_str(&text).expect("one JSON document");
    hold(&validator, &document, Path::new("naive"));
    let results = document["runs"][0]["results"].as_array().expect("a list");
    assert!(!results.is_empty(), "{text}");
    for result in results {
        let uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str();
        assert!(uri.is_some_and(|uri| uri.starts_with("fixtures/clients/naive/src/")), "{result}");
        assert!(result["codeFlows"][0]["threadFlows"][0]["locations"].is_array(), "{result}");
    }
    document["runs"][0]["results"][0]["level"] = "deny".into();
    assert!(!validator.is_valid(&document), "a level that is none of SARIF's is refused");
}

/// What Python's own readers make of the JUnit file and the table: their totals, and whether every line has every field.
const READ: &str = "\
import csv, json, sys, xml.etree.ElementTree as tree
top = tree.parse(sys.argv[1]).getroot()
cases = list(top.iter('testcase'))
said = lambda name: sum(int(suite.get(name, 0)) for suite in top.iter('testsuite'))
told = lambda name: sum(1 for case in cases if case.find(name) is not None)
rows = list(csv.reader(open(sys.argv[2], newline='')))
print(json.dumps({
    'top': [int(top.get('tests')), int(top.get('failures')), int(top.get('errors'))],
    'said': [said('tests'), said('failures'), said('errors')],
    'told': [len(cases), told('failure'), told('error')],
    'rows': len(rows) - 1, 'even': len({len(row) for row in rows}) == 1,
    'formulas': sum(1 for row in rows for field in row if field[:1] in ('=', '+', '-', '@')),
}))";

#[test]
fn other_readers_take_the_junit_file_and_the_table() {
    let there = std::process::Command::new("python3").arg("--version").output();
    if !there.is_ok_and(|python| python.status.success()) {
        eprintln!("skipped: python3 is not installed");
        return;
    }
    let mut failures = 0;
    for run in shipped() {
        let mut files = View::All.files(&run);
        files.push(root().join("README.md"));
        let (_, texts) = audit_in_every_format(&files);
        let text = |format| &texts.iter().find(|(of, _)| *of == format).expect("every format is written").1;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let place = |format| folder.path().join(format);
        for format in ["junit", "csv"] {
            std::fs::write(place(format), text(format)).expect("it can be written");
        }
        let mut python = std::process::Command::new("python3");
        let read = python.args(["-c", READ]).arg(place("junit")).arg(place("csv")).output();
        let read = command::ran(read.expect("python starts"));
        assert_eq!(read.code, 0, "{}: {}", run.display(), read.err);
        let read: Value = serde_json::from_str(&read.out).expect("JSON");
        assert_eq!(read["top"], read["told"], "{}: {read}", run.display());
        assert_eq!(read["said"], read["told"], "{}: {read}", run.display());
        assert_eq!(read["told"][2], 1, "what could not be read is an error: {read}");
        let found = findings(text("json"));
        let failing = found.iter().filter(|finding| finding["level"] != "note").count();
        assert_eq!(read["told"][1], failing, "{}", run.display());
        assert_eq!((&read["rows"], &read["even"]), (&found.len().into(), &true.into()), "{read}");
        assert_eq!(read["formulas"], 0, "{}", run.display());
        failures += failing;
    }
    assert!(failures > 10, "there are findings to read: {failures}");
}
