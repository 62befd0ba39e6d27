//! Exit codes, as `unbroken --help` documents them: the same in every format.

mod command;

use command::{FORMATS, View, audit, shipped, unbroken};
use std::path::PathBuf;

fn broken_run() -> Vec<PathBuf> {
    let runs = shipped();
    let run = runs
        .iter()
        .find(|run| run.ends_with("s02d_cut_after_effect__naive-discard__ts1"))
        .expect("it is shipped");
    View::Wire.files(run)
}

fn quiet_run() -> Vec<PathBuf> {
    let runs = shipped();
    let run = runs.iter().find(|run| run.ends_with("s01_happy__ts2__ts2")).expect("it is shipped");
    View::Wire.files(run)
}

#[test]
fn findings_make_one_and_a_quiet_log_zero_in_every_format() {
    for format in FORMATS {
        assert_eq!(audit(format, &broken_run(), &[]).code, 1, "{format}");
        assert_eq!(audit(format, &broken_run(), &["--fail-on", "never"]).code, 0, "{format}");
        assert_eq!(audit(format, &quiet_run(), &["--fail-on", "note"]).code, 0, "{format}");
    }
}

#[test]
fn findings_outrank_unreadable_input_and_unreadable_input_an_empty_run() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cut = folder.path().join("cut.har");
    std::fs::write(&cut, "{\"log\":{\"entries\":[{\"request\"").expect("it can be written");
    let mut both = broken_run();
    both.push(cut.clone());
    for format in FORMATS {
        assert_eq!(audit(format, &both, &[]).code, 1, "{format}");
        assert_eq!(audit(format, &both, &["--fail-on", "never"]).code, 4, "{format}");
        assert_eq!(audit(format, std::slice::from_ref(&cut), &[]).code, 4, "{format}");
    }
}

#[test]
fn nothing_to_check_is_three() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().to_str().expect("a plain path");
    for format in FORMATS {
        assert_eq!(unbroken(["lint", "--format", format, path]).code, 3, "{format}");
    }
}

#[test]
fn a_wrong_command_line_is_two_and_says_what_to_do() {
    let nowhere = "no/such/folder/out.json";
    for arguments in [
        vec!["audit"],
        vec!["adit", "x"],
        vec!["audit", "x", "--format", "yaml"],
        vec!["audit", "x", "--output", "json"],
        vec!["audit", "x", "--fail-on", "fatal"],
        vec!["audit", "x", "--output", "json=no/such/folder/out.json"],
        vec!["audit", "x", "--baseline", nowhere],
        vec!["audit", "x", "--digest-key-file", nowhere],
        vec!["audit", "README.md", "--output", "json=README.md"],
        vec!["explain", "duplicate-invocaton"],
        vec!["lint", "--config", nowhere],
        vec!["lint", "--config", "Cargo.toml"],
        vec!["lint", "--files-from", nowhere],
        vec!["lint", "-", "cli"],
        vec!["lint", "--since", "no-such-revision", "cli"],
        vec!["mapping", "guess", "README.md"],
        vec!["mapping", "test", "x", "--mapping", "Cargo.toml"],
        vec!["baseline", "prune", "lint", "--baseline", nowhere],
    ] {
        let ran = unbroken(&arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.starts_with("error: ") && ran.out.is_empty(), "{arguments:?}: {}", ran.err);
        assert!(ran.err.contains("help") || ran.err.contains("tip"), "{arguments:?}: {}", ran.err);
        // One wording in the whole program: lower-case, no final stop.
        for help in ran.err.lines().filter_map(|line| line.strip_prefix("  help: ")) {
            let first = help.chars().next();
            assert!(first.is_some_and(|first| !first.is_uppercase()) && !help.ends_with('.'), "{help:?}");
        }
    }
    assert!(
        unbroken(["explain", "duplicate-invocaton"]).err.contains("unbroken explain duplicate-invocation")
    );
}

#[test]
fn a_breach_may_be_written_as_the_macro_writes_it() {
    let (path, id) = (unbroken(["explain", "session_discarded"]), unbroken(["explain", "session-discarded"]));
    assert_eq!((path.code, path.out), (0, id.out));
}

#[test]
fn help_and_version_are_zero_and_tell_the_exit_codes() {
    let help = unbroken(["--help"]);
    assert_eq!(help.code, 0);
    assert!(help.out.contains("Exit codes") && help.out.contains("--fail-on"), "{}", help.out);
    assert_eq!(unbroken(["--version"]).code, 0);
}
