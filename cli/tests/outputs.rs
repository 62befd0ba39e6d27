//! Where findings go: several outputs of one run, closed pipes, and the order of the files.

mod command;

use command::{FORMATS, View, audit, command, findings, ran, root, shipped, summary, unbroken};
use std::path::PathBuf;
use std::process::Stdio;

fn broken_run(view: View) -> Vec<PathBuf> {
    let runs = shipped();
    let run = runs
        .iter()
        .find(|run| run.ends_with("s02d_cut_after_effect__naive-discard__ts1"))
        .expect("it is shipped");
    view.files(run)
}

#[test]
fn one_run_fills_every_output_as_if_it_were_the_only_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (json, brief) = (folder.path().join("a.json"), folder.path().join("b.txt"));
    let outputs = [format!("json={}", json.display()), format!("brief={}", brief.display())];
    let human = audit("human", &broken_run(View::Wire), &["--output", &outputs[0], "--output", &outputs[1]]);
    let read = |path| std::fs::read_to_string(path).expect("it was written");
    assert_eq!(human.out, audit("human", &broken_run(View::Wire), &[]).out);
    assert_eq!(read(&json), audit("json", &broken_run(View::Wire), &[]).out);
    assert_eq!(read(&brief), audit("brief", &broken_run(View::Wire), &[]).out);
    assert!(!findings(&read(&json)).is_empty());
}

#[test]
fn two_outputs_into_one_file_are_refused_before_anything_is_lost() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("a");
    let twice = [format!("json={}", file.display()), format!("brief={}/./a", folder.path().display())];
    let refused = audit("human", &broken_run(View::Wire), &["--output", &twice[0], "--output", &twice[1]]);
    assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{}", refused.err);
}

#[test]
fn a_reader_that_has_seen_enough_ends_nothing() {
    let mut child = command()
        .args(["audit", "--format", "json"])
        .args(broken_run(View::Wire))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary was built for this test");
    drop(child.stdout.take());
    let ended = ran(child.wait_with_output().expect("it ends"));
    assert_eq!((ended.code, ended.err.as_str()), (1, ""));
}

#[test]
fn threads_and_the_order_of_files_change_no_byte() {
    for run in shipped() {
        for view in View::EACH {
            let files = view.files(&run);
            let mut reversed = files.clone();
            reversed.reverse();
            reversed.push(files[0].clone());
            let first = audit("json", &files, &["--threads", "1"]);
            let second = audit("json", &reversed, &["--threads", "2"]);
            assert_eq!(first.out, second.out, "{} {view:?}", run.display());
            assert_eq!(first.code, second.code);
        }
    }
}

#[test]
fn a_baseline_leaves_out_what_it_holds_and_nothing_else() {
    let found = findings(&audit("json", &broken_run(View::Wire), &[]).out);
    let known = &found[0];
    let folder = tempfile::tempdir().expect("a temporary folder");
    let baseline = folder.path().join("baseline.json");
    let held = serde_json::json!({
        "format": "unbroken.baseline/1",
        "findings": { known["fingerprint"].as_str().expect("text"): { "breach": known["breach"] } },
    });
    std::fs::write(&baseline, held.to_string()).expect("it can be written");
    let rest =
        audit("json", &broken_run(View::Wire), &["--baseline", baseline.to_str().expect("a plain path")]);
    assert_eq!(findings(&rest.out), found[1..]);
    assert_eq!(summary(&rest.out)["baselined"], 1);
}

#[test]
fn what_is_left_out_is_in_no_format() {
    let found = findings(&audit("json", &broken_run(View::Wire), &[]).out);
    let prints: Vec<&str> =
        found.iter().map(|finding| finding["fingerprint"].as_str().expect("text")).collect();
    assert!(!prints.is_empty());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let baseline = folder.path().join("baseline.json");
    let entries: serde_json::Map<_, _> = found
        .iter()
        .zip(&prints)
        .map(|(finding, print)| ((*print).to_owned(), serde_json::json!({ "breach": finding["breach"] })))
        .collect();
    let held = serde_json::json!({ "format": "unbroken.baseline/1", "findings": entries });
    std::fs::write(&baseline, held.to_string()).expect("it can be written");
    let more = ["--baseline", baseline.to_str().expect("a plain path")];
    for format in FORMATS {
        let rest = audit(format, &broken_run(View::Wire), &more);
        assert_eq!(rest.code, 0, "{format}");
        for print in &prints {
            assert!(!rest.out.contains(print), "{format} tells {print}");
        }
        for sign in ["\"ruleId\"", "::error", "<failure"] {
            assert!(!rest.out.contains(sign), "{format} has {sign}");
        }
    }
}

#[test]
fn what_is_less_certain_than_asked_for_is_in_no_format_and_fails_nothing() {
    let files = broken_run(View::Proxy);
    let rank = |finding: &serde_json::Value| {
        ["possible", "likely", "proved"]
            .iter()
            .position(|word| finding["certainty"] == *word)
            .expect("a word")
    };
    let all = findings(&audit("json", &files, &[]).out);
    assert!(all.iter().any(|finding| rank(finding) < 2), "the proxy alone proves not everything");
    for (least, word) in ["possible", "likely", "proved"].iter().enumerate() {
        let expected: Vec<_> = all.iter().filter(|finding| rank(finding) >= least).cloned().collect();
        let out = audit("json", &files, &["--min-certainty", word]);
        assert_eq!(findings(&out.out), expected, "{word}");
        assert_eq!(summary(&out.out)["less_certain"], all.len() - expected.len(), "{word}");
        let fails = expected.iter().any(|finding| finding["level"] == "deny");
        for format in FORMATS {
            let ran = audit(format, &files, &["--min-certainty", word]);
            assert_eq!(ran.code, i32::from(fails), "{format} {word}");
            for finding in all.iter().filter(|finding| rank(finding) < least) {
                let print = finding["fingerprint"].as_str().expect("text");
                assert!(!ran.out.contains(print), "{format} {word} tells {print}");
            }
        }
    }
}

#[test]
fn a_baseline_forgets_nothing_for_being_less_certain() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let baseline = folder.path().join("baseline.json");
    let change = |action: &str, certainty: &str| {
        let mut command = command();
        command.args(["baseline", action, "--min-certainty", certainty, "--baseline"]).arg(&baseline);
        let changed = ran(command.arg("audit").args(broken_run(View::Proxy)).output().expect("it was built"));
        assert_eq!(changed.code, 0, "{}", changed.err);
        std::fs::read_to_string(&baseline).expect("it was written")
    };
    let sure = change("write", "proved");
    let all = change("write", "possible");
    assert!(sure.len() < all.len(), "{sure}");
    assert_eq!(change("prune", "proved"), all);
}

#[test]
fn a_baseline_hides_nothing_that_another_log_proves() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("baseline.json");
    let baseline = path.to_str().expect("a plain path");
    let mut write = command();
    write.args(["baseline", "write", "--baseline", baseline, "audit"]).args(broken_run(View::Proxy));
    assert_eq!(ran(write.output().expect("it was built")).code, 0);
    let again = audit("json", &broken_run(View::Proxy), &["--baseline", baseline]);
    assert!(again.code == 0 && findings(&again.out).is_empty(), "{}", again.out);

    let more = audit("json", &broken_run(View::All), &["--baseline", baseline]);
    let told = findings(&more.out);
    assert!(!told.is_empty() && told.iter().all(|finding| finding["certainty"] == "proved"), "{}", more.out);
    assert!(summary(&more.out)["baselined"].as_u64() > Some(0), "what is as sure as before stays hidden");
    let notes = summary(&more.out)["problems"].to_string();
    let said = "response-undelivered was baselined as likely, is proved now";
    assert!(notes.contains(said), "{notes}");
}

#[test]
fn a_log_beside_that_numbers_its_requests_alike_hides_no_finding() {
    let samples = root().join("fixtures/logs/samples");
    let own = samples.join("nginx_json.jsonl");
    let beside = samples.join("stateless_2026_07_28_nginx.jsonl");
    let twice = |files: &[PathBuf]| {
        let told = findings(&audit("json", files, &[]).out);
        let twice = told.into_iter().filter(|finding| finding["breach"] == "duplicate-invocation");
        let of = |finding: &serde_json::Value| finding["fingerprint"].to_string();
        twice.map(|finding| of(&finding)).collect::<Vec<_>>()
    };
    let (alone, other) = (twice(std::slice::from_ref(&own)), twice(std::slice::from_ref(&beside)));
    assert_eq!((alone.len(), other.len()), (1, 1));
    let together = twice(&[own, beside]);
    assert!(alone.iter().chain(&other).all(|print| together.contains(print)), "{together:?}");
}

#[test]
fn a_log_may_come_by_the_standard_input() {
    let file = &broken_run(View::Wire)[0];
    let piped = |files: &[&str]| {
        let mut command = command();
        command.args(["audit", "--format", "json"]).args(files);
        command.stdin(std::fs::File::open(file).expect("it is shipped"));
        ran(command.output().expect("it was built"))
    };
    let (named, piped_in) = (audit("json", std::slice::from_ref(file), &[]), piped(&["-"]));
    assert_eq!(piped_in.out, named.out.replace(&file.display().to_string(), "<stdin>"));
    assert_eq!((piped_in.code, piped_in.err.as_str()), (1, ""));
    assert_eq!(piped(&["-", "-"]).out, piped_in.out, "it is read once");
    let proxy = broken_run(View::Proxy)[0].display().to_string();
    let beside = summary(&piped(&[&proxy, "-"]).out);
    assert!(
        beside["inputs"].as_array().is_some_and(|inputs| inputs.iter().all(|input| input["read"] == true))
    );
    let guessed = ran(command().args(["mapping", "guess", "-"]).output().expect("it was built"));
    assert!(guessed.code == 2 && guessed.err.contains("give a file"), "{}", guessed.err);
}

#[test]
fn the_list_of_rules_has_every_breach_once() {
    let listed = unbroken(["rules"]);
    let ids: Vec<&str> = listed.out.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let all: Vec<&str> = unbroken_contract::Breach::ALL.iter().map(|breach| breach.id()).collect();
    assert_eq!((listed.code, ids), (0, all));
}

#[test]
fn cargo_finds_the_command_too() {
    let mut cargo = std::process::Command::new(env!("CARGO_BIN_EXE_cargo-unbroken"));
    let listed = ran(cargo.args(["unbroken", "rules"]).output().expect("the binary was built for this test"));
    assert_eq!((listed.code, listed.out), (0, unbroken(["rules"]).out));
}

#[test]
fn a_written_baseline_silences_and_a_pruned_one_forgets_what_is_gone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (from, to) = (root().join("fixtures/clients/naive"), folder.path());
    std::fs::create_dir(to.join("src")).expect("it can be made");
    std::fs::copy(from.join("Cargo.toml"), to.join("Cargo.toml")).expect("it can be written");
    for entry in from.join("src").read_dir().expect("the client is shipped") {
        let path = entry.expect("an entry").path();
        std::fs::copy(&path, to.join("src").join(path.file_name().expect("a name")))
            .expect("it can be written");
    }
    let here = |arguments: &[&str]| {
        ran(command().current_dir(to).args(arguments).output().expect("the binary was built"))
    };
    let found = here(&["lint"]);
    assert_eq!(found.code, 1, "{}{}", found.out, found.err);
    assert_eq!(here(&["baseline", "write", "lint"]).code, 0);
    let silenced = here(&["lint", "--baseline", "unbroken-baseline.json"]);
    assert_eq!(silenced.code, 0, "{}", silenced.out);
    // A slip of the hand forgets nothing.
    for of in [["lint", "wrong/path"], ["audit", "wrong.jsonl"], ["audit", "Cargo.toml"]] {
        let slipped = here(&[&["baseline", "write"], &of[..]].concat());
        assert!(slipped.code == 4 && slipped.err.contains("was not written"), "{of:?}: {}", slipped.err);
    }
    assert_eq!(here(&["lint", "--baseline", "unbroken-baseline.json"]).code, 0, "what was written stays");

    let source = to.join("src/send.rs");
    let text = std::fs::read_to_string(&source).expect("it was copied");
    let mended = text.replace("self.session_id = None;", "");
    assert_ne!(mended, text);
    std::fs::write(&source, mended).expect("it can be written");
    let pruned = here(&["baseline", "prune", "lint"]);
    assert!(pruned.code == 0 && pruned.err.contains("1 gone"), "{}", pruned.err);
    std::fs::write(&source, &text).expect("it can be written");
    assert_eq!(here(&["lint", "--baseline", "unbroken-baseline.json"]).code, 1, "what is forgotten is new");
}
