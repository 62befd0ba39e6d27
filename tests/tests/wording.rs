//! How the program speaks: the house's rules for messages and help, over the catalogue and over real findings.

use std::path::{Path, PathBuf};
use unbroken_audit::finding::Piece;
use unbroken_audit::run::{Options, run};
use unbroken_contract::Breach;

fn message_is_well_formed(message: &str, what: &str) {
    let first = message.chars().next();
    assert!(
        first.is_some_and(|first| !first.is_uppercase()
            || message.starts_with("Last-Event-ID")
            || is_name(message)),
        "{what}: upper-case start: {message:?}"
    );
    assert!(
        !message.ends_with(['.', '!', ' ', ':']),
        "{what}: ends like a sentence or not at all: {message:?}"
    );
    assert!(!message.starts_with(' ') && !message.contains("  "), "{what}: stray spaces: {message:?}");
}

/// An abbreviation keeps its capitals at the start: `GET`, `POST`, `JSON`.
fn is_name(message: &str) -> bool {
    message
        .split([' ', '-'])
        .next()
        .is_some_and(|word| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase()))
}

/// Help is one sentence that says what to do, written as messages are: so it reads on after `help:` in every format.
fn help_is_well_formed(help: &str, what: &str) {
    let first = help.chars().next();
    assert!(
        first.is_some_and(|first| !first.is_uppercase())
            || help.starts_with("Last-Event-ID")
            || is_name(help),
        "{what}: upper-case start: {help:?}"
    );
    assert!(!help.ends_with(['.', '!', ' ', ':']), "{what}: ends with a stop: {help:?}");
    assert!(help.len() > 15, "{what}: help that says nothing: {help:?}");
    assert!(!help.trim_end_matches('.').contains(". "), "{what}: more than one sentence: {help:?}");
}

#[test]
fn the_catalogue_speaks_in_one_line_each() {
    for breach in Breach::ALL {
        message_is_well_formed(breach.line(), breach.id());
        assert!(
            breach.line().chars().count() <= 90,
            "{breach}: {} characters",
            breach.line().chars().count()
        );
    }
}

#[test]
fn ids_are_words_with_dashes_and_come_back() {
    for breach in Breach::ALL {
        assert!(breach.id().split('-').all(
            |word| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        ));
        assert_eq!(Breach::from_id(breach.id()), Some(*breach));
    }
}

fn recordings() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/logs/captures");
    let mut files: Vec<PathBuf> = Vec::new();
    for run in folder.read_dir().expect("recordings are shipped") {
        let run = run.expect("an entry").path();
        let entries =
            run.read_dir().expect("a run can be listed").map(|entry| entry.expect("an entry").path());
        files.extend(entries.filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with("capture.har") || name.contains("-access")
        }));
    }
    files.sort();
    files
}

/// As long as a message may be once digests stand for what they hide.
fn shown(pieces: &[Piece]) -> String {
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Plain(text) | Piece::Foreign(text) => text.as_str(),
            Piece::Session(_) => "S-0123456789ab",
            Piece::Arguments(_) | Piece::Identity(_) => "args-0123456789ab",
        })
        .collect()
}

#[test]
fn findings_in_traffic_speak_as_the_house_does() {
    let mut spoken = 0;
    for file in recordings() {
        let _ = run(std::slice::from_ref(&file), &Options::default(), &mut |finding| {
            spoken += 1;
            let what = format!("{} in {}", finding.breach.0, file.display());
            let message = shown(&finding.message);
            message_is_well_formed(&message, &what);
            assert!(
                message.chars().count() <= 120,
                "{what}: {} characters: {message}",
                message.chars().count()
            );
            help_is_well_formed(&finding.help, &what);
            let asks = finding.missing.as_deref().unwrap_or_default();
            let proxy = file.to_string_lossy().contains("-access");
            assert!(!(proxy && asks.contains("a proxy's log")), "{what}: asks for what it has: {asks}");
            assert!(!finding.proof.is_empty(), "{what}: no proof");
            for step in &finding.proof {
                message_is_well_formed(&shown(&step.words), &what);
            }
            assert!(
                finding.proof.iter().any(|step| step.exhibit.is_some()),
                "{what}: no step stands in a log"
            );
        });
    }
    assert!(spoken > 20, "the recordings hold findings: {spoken}");
}

/// The examples that every rule's page says are flagged.
fn flagged() -> Vec<(Breach, String)> {
    let mut examples = Vec::new();
    for breach in Breach::ALL {
        let Some(page) = unbroken_lint::rules::page(*breach) else { continue };
        let lines = page.lines().map(|line| line.trim_start_matches("//!"));
        let page: String =
            lines.map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned() + "\n").collect();
        let blocks = page.split("```flagged\n").skip(1).filter_map(|rest| rest.split("\n```").next());
        examples.extend(blocks.map(|block| (*breach, block.to_owned())));
    }
    examples
}

#[test]
fn findings_in_code_speak_as_the_house_does() {
    let examples = flagged();
    assert!(examples.len() > 20, "the pages have examples: {}", examples.len());
    for (breach, text) in examples {
        let file = unbroken_lint::SourceFile { path: "src/lib.rs".into(), text };
        let outcome = unbroken_lint::check_crate(vec![file], &unbroken_lint::Settings::default());
        assert!(!outcome.findings.is_empty(), "{breach}: the example is not flagged");
        for finding in outcome.findings {
            let what = finding.breach.id();
            message_is_well_formed(&finding.message, what);
            assert!(finding.message.chars().count() <= 120, "{what}: a long message: {}", finding.message);
            help_is_well_formed(&finding.help, what);
            for label in &finding.labels {
                message_is_well_formed(&label.text, what);
            }
        }
    }
}

#[test]
fn what_cannot_be_read_is_told_as_the_house_does() {
    let broken = [("src/lib.rs", "fn send( {"), ("src/deep.rs", &"(".repeat(100_000))];
    for (path, text) in broken {
        let file =
            unbroken_lint::SourceFile { path: path.into(), text: format!("// mcp-session-id\n{text}") };
        let outcome = unbroken_lint::check_crate(vec![file], &unbroken_lint::Settings::default());
        assert!(!outcome.problems.is_empty(), "{path} can be read");
        for problem in outcome.problems {
            message_is_well_formed(&problem.message, path);
            help_is_well_formed(&problem.help, path);
        }
    }
    let missing = [PathBuf::from("no/such.log"), PathBuf::from(".")];
    let summary = run(&missing, &Options::default(), &mut |_| {});
    // A folder is told of file by file.
    assert!(summary.problems.len() > missing.len(), "{:?}", summary.problems);
    for problem in summary.problems {
        message_is_well_formed(&problem.message, &problem.path);
        help_is_well_formed(&problem.help, &problem.path);
    }
}

#[test]
fn no_secret_hides_in_plain_words() {
    for file in recordings() {
        let _ = run(
            std::slice::from_ref(&file),
            &Options { keep_arguments: true, ..Options::default() },
            &mut |finding| {
                let mut ids: Vec<String> = finding.session.iter().cloned().collect();
                ids.extend(finding.sends.iter().filter_map(|sent| sent.session.clone()));
                let words = finding.proof.iter().map(|step| &step.words).chain([&finding.message]);
                let plain = words
                    .flatten()
                    .filter_map(|piece| if let Piece::Plain(text) = piece { Some(text) } else { None });
                for text in plain.chain(finding.missing.iter()).chain([&finding.help]) {
                    assert!(!ids.iter().any(|id| text.contains(id.as_str())), "{}: {text}", file.display());
                }
            },
        );
    }
}
