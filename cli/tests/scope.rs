//! Which findings are reported: by time, session, client and tool, and without those that are accepted.

mod command;

use command::{Ran, View, audit, command, findings, ran, shipped, summary};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Recordings with several clients and sessions, all in one run of the audit.
fn logs() -> Vec<PathBuf> {
    let all: Vec<PathBuf> = shipped().iter().flat_map(|run| View::Wire.files(run)).collect();
    assert!(all.len() > 5, "{all:?}");
    all
}

fn fingerprints(found: &[Value]) -> BTreeSet<String> {
    found.iter().map(|one| one["fingerprint"].as_str().expect("a text").to_owned()).collect()
}

fn notices(ran: &Ran) -> Vec<String> {
    let told = summary(&ran.out);
    let problems = told["problems"].as_array().expect("a list").clone();
    problems
        .iter()
        .map(|p| {
            format!("{}: {}", p["path"].as_str().expect("a path"), p["message"].as_str().expect("a text"))
        })
        .collect()
}

#[test]
fn a_session_is_asked_for_by_its_id_or_by_its_digest() {
    let all = findings(&audit("json", &logs(), &[]).out);
    let revealed = findings(&audit("json", &logs(), &["--reveal"]).out);
    let at = all.iter().position(|one| one["session"].is_string()).expect("one has a session");
    let (digest, id) =
        (all[at]["session"].as_str().expect("a text"), revealed[at]["session"].as_str().expect("a text"));
    assert_ne!(digest, id);
    let by_digest = audit("json", &logs(), &["--session", digest]);
    let by_id = audit("json", &logs(), &["--session", id]);
    assert_eq!(by_digest.out, by_id.out);
    let some = findings(&by_id.out);
    assert!(!some.is_empty() && some.len() < all.len());
    assert!(some.iter().all(|one| one.to_string().contains(digest)), "{some:?}");
    assert!(all.iter().filter(|one| one["session"] == digest).all(|one| some.contains(one)));
    let told = summary(&by_id.out);
    assert_eq!(told["out_of_scope"], all.len() - some.len());
    assert_eq!(
        told["seen"],
        summary(&audit("json", &logs(), &[]).out)["seen"],
        "everything is analysed all the same"
    );
    assert!(!by_id.out.contains(id), "an id that was asked for is a secret as any other");
}

#[test]
fn times_divide_the_findings_by_what_happened_in_them() {
    let all = findings(&audit("json", &logs(), &[]).out);
    let mut times: Vec<&str> = all
        .iter()
        .flat_map(|one| one["proof"].as_array().expect("a list"))
        .filter_map(|step| step["time"].as_str())
        .collect();
    times.sort_unstable();
    let middle = times[times.len() / 2];
    let before = fingerprints(&findings(&audit("json", &logs(), &["--to", middle]).out));
    let after = fingerprints(&findings(&audit("json", &logs(), &["--from", middle]).out));
    assert_eq!(before.union(&after).cloned().collect::<BTreeSet<_>>(), fingerprints(&all));
    assert!(!before.is_empty() && before.len() < all.len() && !after.is_empty() && after.len() < all.len());
    for one in &all {
        let stands = |is: &dyn Fn(&str) -> bool| {
            one["proof"].as_array().expect("a list").iter().filter_map(|step| step["time"].as_str()).any(is)
        };
        let print = one["fingerprint"].as_str().expect("a text");
        assert_eq!(before.contains(print), stands(&|time| time < middle), "{one}");
        assert_eq!(after.contains(print), stands(&|time| time >= middle), "{one}");
    }
    let refused = audit("json", &logs(), &["--from", "yesterday"]);
    assert_eq!((refused.code, refused.err.contains("2026-08-14T09:00:00Z")), (2, true), "{}", refused.err);
    let none = audit("json", &logs(), &["--from", "2026-08-15", "--to", "2026-08-14"]);
    assert_eq!((none.code, none.err.contains("no time lies between")), (2, true), "{}", none.err);
}

#[test]
fn what_was_asked_for_and_met_nothing_is_told() {
    let all = findings(&audit("json", &logs(), &[]).out);
    let tool = all.iter().find_map(|one| one["tool"].as_str()).expect("one has a tool");
    let some = audit("json", &logs(), &["--tool", tool, "--tool", "no-such-tool"]);
    let expected = all.iter().filter(|one| one["tool"] == tool).count();
    assert_eq!(findings(&some.out).len(), expected);
    assert_eq!(notices(&some), ["--tool no-such-tool: no finding is about it"]);
    let none = audit(
        "json",
        &logs(),
        &["--client", "nobody", "--session", "secret-session-id", "--to", "2020-01-01"],
    );
    assert_eq!((findings(&none.out).len(), none.code), (0, 0));
    let told = notices(&none);
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(!none.out.contains("secret-session-id"), "{told:?}");
    let human = audit("human", &logs(), &["--tool", "no-such-tool"]);
    assert!(human.out.contains("no finding is about it") && human.out.contains(tool), "{}", human.out);
}

fn accepting(folder: &Path, text: &str, more: &[&str]) -> Ran {
    let config = folder.join("unbroken.toml");
    std::fs::write(&config, text).expect("there is room");
    let mut command = command();
    command.args(["audit", "--format", "json", "--config"]).arg(config).args(logs()).args(more);
    ran(command.output().expect("the binary was built for this test"))
}

#[test]
fn a_finding_is_accepted_by_its_fingerprint_or_by_what_it_is_about() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let all = findings(&audit("json", &logs(), &[]).out);
    let one = all.iter().find(|one| one["tool"].is_string()).expect("one has a tool");
    let (print, breach, tool) = (one["fingerprint"].as_str(), one["breach"].as_str(), one["tool"].as_str());
    let (print, breach, tool) = (print.expect("a text"), breach.expect("a text"), tool.expect("a text"));
    let accepted = |text: &str| {
        let ran = accepting(folder.path(), text, &[]);
        let told = summary(&ran.out);
        let left = findings(&ran.out);
        assert_eq!(
            left.len() as u64 + told["accepted"].as_u64().expect("a number"),
            all.len() as u64,
            "{text}"
        );
        (left, notices(&ran))
    };
    let (left, told) = accepted(&format!("[[accept]]\nfingerprint = \"{print}\"\nreason = \"known\"\n"));
    assert_eq!((left.len(), told.len()), (all.len() - 1, 0), "{told:?}");
    assert!(!fingerprints(&left).contains(print));
    let rule = format!("[[accept]]\nrule = \"{breach}\"\ntool = \"{tool}\"\nreason = \"known\"\n");
    let (left, told) = accepted(&rule);
    assert!(
        left.iter().all(|one| one["breach"] != breach || one["tool"] != tool) && told.is_empty(),
        "{told:?}"
    );
    assert!(left.len() < all.len());
    // Over: told, and reported again. Not over yet: as if there were no date.
    assert_eq!(accepted(&format!("{rule}until = 2999-12-31\n")), (left, Vec::new()));
    let (left, told) = accepted(&format!("{rule}until = 2020-12-31\n"));
    assert_eq!(left, all);
    assert!(told.len() == 1 && told[0].contains("ended with 2020-12-31"), "{told:?}");
    // Stale: told with its line.
    let (left, told) =
        accepted("# a comment\n[[accept]]\nfingerprint = \"0000000000000000\"\nreason = \"known\"\n");
    assert_eq!(left, all);
    assert!(told.len() == 1 && told[0].contains("no finding of this input"), "{told:?}");
    let stale = summary(
        &accepting(
            folder.path(),
            "# a comment\n[[accept]]\nfingerprint = \"0000000000000000\"\nreason = \"known\"\n",
            &[],
        )
        .out,
    );
    assert_eq!(stale["problems"][0]["line"], 2, "{stale}");
}

#[test]
fn an_acceptance_without_a_reason_is_refused_before_anything_is_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ran = accepting(folder.path(), "[[accept]]\nfingerprint = \"0000000000000000\"\n", &[]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("unbroken.toml:1:1") && ran.err.contains("reason"), "{}", ran.err);
}
