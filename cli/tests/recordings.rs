//! The shipped recordings, and all of them where they are: what is reported, and that every proof stands where it says.

mod command;
#[path = "recordings/formats.rs"]
mod formats;
#[path = "recordings/pass.rs"]
mod pass;
#[path = "recordings/privacy.rs"]
mod privacy;
#[path = "recordings/truth.rs"]
mod truth;

use command::{View, audit, command, findings, ran, root, shipped};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

#[test]
fn every_shipped_recording_tells_what_it_told_before() {
    let mut told = String::new();
    for run in shipped() {
        let _ = writeln!(told, "{}", run.file_name().and_then(|name| name.to_str()).expect("a plain name"));
        for view in View::EACH {
            let out = audit("json", &view.files(&run), &[]);
            let mut counts: BTreeMap<String, u64> = BTreeMap::new();
            for finding in findings(&out.out) {
                let word = |key: &str| finding[key].as_str().expect("text").to_owned();
                let sends = finding["sends"]
                    .as_array()
                    .map_or_else(String::new, |sends| format!(", {} sends", sends.len()));
                *counts
                    .entry(format!("{} {} {}{sends}", word("level"), word("breach"), word("certainty")))
                    .or_default() += 1;
            }
            let list: Vec<String> =
                counts.into_iter().map(|(what, count)| format!("{count} x {what}")).collect();
            let _ = writeln!(
                told,
                "  {:<5} exit {}  {}",
                format!("{view:?}").to_lowercase(),
                out.code,
                list.join("; ")
            );
        }
    }
    insta::assert_snapshot!(told);
}

/// The README's command: what a newcomer sees first.
#[test]
fn the_first_audit_of_the_readme() {
    let run = "fixtures/logs/captures/s02_idle_cut__naive-no-cursor__ts1";
    let readme = fs::read_to_string(root().join("README.md")).expect("there is a README");
    assert!(
        readme.contains(&format!("cargo run --release -- audit {run}/*.jsonl*")),
        "the README runs another command"
    );
    let entries =
        root().join(run).read_dir().expect("it is shipped").map(|entry| entry.expect("an entry").file_name());
    let names =
        entries.map(|name| name.into_string().expect("a plain name")).filter(|name| name.contains(".jsonl"));
    let files = names.map(|name| format!("{run}/{name}"));
    let shown = ran(command().arg("audit").args(files).output().expect("the binary was built for this test"));
    assert_eq!(shown.code, 1, "{}", shown.err);
    for line in excerpt(&readme, "deny[duplicate-invocation]").lines() {
        assert!(
            shown.out.contains(line.trim_end()),
            "the README shows a line that is not printed: {line:?}\n{}",
            shown.out
        );
    }
    insta::assert_snapshot!(shown.out);
}

#[test]
fn the_first_lint_of_the_readme() {
    let readme = fs::read_to_string(root().join("README.md")).expect("there is a README");
    assert!(
        readme.contains("cargo run --release -- lint fixtures/clients/naive"),
        "the README runs another command"
    );
    let shown = ran(command()
        .args(["lint", "fixtures/clients/naive"])
        .output()
        .expect("the binary was built for this test"));
    assert_eq!(shown.code, 1, "{}", shown.err);
    for line in excerpt(&readme, "deny[session-discarded]").lines() {
        assert!(
            shown.out.contains(line.trim_end()),
            "the README shows a line that is not printed: {line:?}\n{}",
            shown.out
        );
    }
}

/// The fenced block of the README that begins with these words.
fn excerpt<'a>(readme: &'a str, begins: &str) -> &'a str {
    let block = readme.split("```\n").find(|block| block.starts_with(begins));
    block.unwrap_or_else(|| panic!("the README shows no output that begins with {begins:?}"))
}
