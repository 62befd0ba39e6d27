//! The state between exports: put in place whole, refused when it is none, and nobody else's to read.

mod command;

use command::{Ran, command, findings, ran, root, summary};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn log() -> Vec<String> {
    let path = root().join("fixtures/logs/samples/nginx_json.jsonl");
    fs::read_to_string(path).expect("the sample is shipped").lines().map(|line| format!("{line}\n")).collect()
}

fn export(folder: &Path, name: &str, lines: &[String]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, lines.concat()).expect("there is room");
    path
}

fn audit(state: &Path, file: &Path, more: &[&str]) -> Ran {
    let mut command = command();
    command
        .args(["audit", "--format", "json", "--fail-on", "never", "--state"])
        .arg(state)
        .arg(file)
        .args(more);
    ran(command.output().expect("the binary was built for this test"))
}

fn prints(found: &[Value]) -> Vec<String> {
    let mut prints: Vec<String> = found.iter().map(|one| one["fingerprint"].to_string()).collect();
    prints.sort();
    prints
}

#[test]
fn two_exports_tell_what_one_does_and_nothing_twice() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let lines = log();
    let whole = export(folder.path(), "whole.jsonl", &lines);
    let all = findings(&audit(&folder.path().join("other.state"), &whole, &["--last"]).out);
    assert!(!all.is_empty());
    let state = folder.path().join("state");
    for cut in 1..lines.len() {
        let _ = fs::remove_file(&state);
        let first = audit(&state, &export(folder.path(), "first.jsonl", &lines[..cut]), &[]);
        let told = summary(&first.out);
        let waits = told["problems"]
            .as_array()
            .expect("a list")
            .iter()
            .any(|p| p["message"].as_str().is_some_and(|m| m.contains("wait for the next export")));
        assert!(waits, "{told}");
        // That nothing is over yet is no failure of the hour.
        assert_eq!(first.code, 0, "{}", first.out);
        let second = audit(&state, &export(folder.path(), "second.jsonl", &lines[cut..]), &["--last"]);
        let mut both = findings(&first.out);
        both.extend(findings(&second.out));
        assert_eq!(prints(&both), prints(&all), "cut behind line {cut}");
        // What is told is not told again, also where the export comes once more.
        let again = audit(&state, &folder.path().join("second.jsonl"), &["--last"]);
        let known = prints(&both);
        assert!(prints(&findings(&again.out)).iter().all(|print| !known.contains(print)), "{}", again.out);
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 5, "nothing is left beside the files");
}

#[test]
fn a_state_that_is_none_is_refused_and_stays_as_it_is() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let whole = export(folder.path(), "whole.jsonl", &log());
    let state = folder.path().join("state");
    audit(&state, &whole, &[]);
    let good = fs::read(&state).expect("it was written");
    for bad in [&b"{}"[..], b"unbroken-state 99\n", &good[..good.len() / 2]] {
        fs::write(&state, bad).expect("there is room");
        let refused = audit(&state, &whole, &[]);
        assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{}", refused.err);
        assert!(refused.err.contains("state") && refused.err.contains("help:"), "{}", refused.err);
        assert_eq!(fs::read(&state).expect("it is there"), bad);
    }
    let without = audit(&folder.path().join("nowhere/state"), &whole, &[]);
    assert_eq!(without.code, 2, "{}", without.err);
}

#[cfg(unix)]
#[test]
fn session_ids_stand_in_it_so_nobody_else_reads_it() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let state = folder.path().join("state");
    audit(&state, &export(folder.path(), "whole.jsonl", &log()), &[]);
    let mode = fs::metadata(&state).expect("it was written").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn what_waits_is_not_called_nothing_and_makes_no_acceptance_stale() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let config = folder.path().join("unbroken.toml");
    let accept =
        "[[accept]]\nrule = \"duplicate-invocation\"\ntool = \"charge_card\"\nreason = \"a trial\"\n";
    fs::write(&config, accept).expect("there is room");
    let file = export(folder.path(), "first.jsonl", &log()[..4]);
    let human = |more: &[&str]| {
        let mut command = command();
        command.args(["audit", "--config"]).arg(&config).arg(&file).args(more);
        ran(command.output().expect("the binary was built for this test"))
    };
    let state = folder.path().join("state");
    let waits = human(&["--state", state.to_str().expect("a plain name")]);
    assert_eq!(waits.code, 0, "{}", waits.out);
    assert!(waits.out.contains("no findings yet"), "{}", waits.out);
    assert!(!waits.out.contains("meant by the acceptance"), "{}", waits.out);
    assert!(human(&[]).out.contains("meant by the acceptance"));
}
