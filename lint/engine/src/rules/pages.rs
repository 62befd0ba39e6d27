//! Checks that every rule's page is whole, and runs its examples.

use super::{ALL, page, text};
use crate::{Settings, SourceFile, check_crate};
use unbroken_contract::Breach;

/// The fenced blocks of a page with this info string.
fn blocks(page: &str, info: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut open: Option<String> = None;
    for line in page.lines() {
        match &mut open {
            Some(_) if line == "```" => out.extend(open.take()),
            Some(block) => *block += &format!("{line}\n"),
            None if line == format!("```{info}") => open = Some(String::new()),
            None => {}
        }
    }
    out
}

fn found(code: &str) -> Vec<(Breach, u32, String)> {
    let file = SourceFile { path: "src/lib.rs".into(), text: code.to_owned() };
    let outcome = check_crate(vec![file], &Settings::default());
    assert!(outcome.problems.is_empty(), "the example does not parse: {:?}\n{code}", outcome.problems);
    outcome
        .findings
        .into_iter()
        .map(|finding| (finding.breach, finding.range.line, finding.message))
        .collect()
}

#[test]
fn every_page_has_its_parts() {
    for breach in ALL {
        let page = text(page(*breach).expect("every rule has a page"));
        let first = page.lines().next().unwrap_or_default();
        assert!(!first.is_empty() && !first.starts_with('#'), "{breach}: the page starts with its one line");
        for part in ["What happens", "Why it matters", "Flagged", "Accepted", "Instead", "Limits"] {
            assert!(page.contains(&format!("\n# {part}\n")), "{breach}: no part {part}");
        }
        assert!(page.replace('\n', " ").contains("(contract "), "{breach}: no clause is named");
        assert!(!blocks(&page, "flagged").is_empty(), "{breach}: no flagged example");
        assert!(!blocks(&page, "accepted").is_empty(), "{breach}: no accepted example");
    }
}

#[test]
fn flagged_examples_are_flagged() {
    for breach in ALL {
        for code in blocks(&text(page(*breach).expect("every rule has a page")), "flagged") {
            let found = found(&code);
            let here = found.iter().filter(|(found, ..)| found == breach).count();
            assert_eq!(here, 1, "{breach} in\n{code}\nfound {found:?}");
        }
    }
}

#[test]
fn accepted_examples_are_clean_of_the_breach() {
    for breach in ALL {
        for code in blocks(&text(page(*breach).expect("every rule has a page")), "accepted") {
            let found = found(&code);
            assert!(found.iter().all(|(found, ..)| found != breach), "{breach} in\n{code}\nfound {found:?}");
        }
    }
}

#[test]
fn the_order_of_files_and_lines_above_change_nothing() {
    let one = "const SID: &str = \"MCP-Session-Id\";\n".to_owned();
    let two = blocks(&text(page(Breach::ExpiredSessionKept).expect("a rule")), "flagged")[0]
        .replace("\"Mcp-Session-Id\"", "SID");
    let run = |files: [(&str, &str); 2]| {
        let files = files.map(|(path, text)| SourceFile { path: path.into(), text: text.into() });
        check_crate(files.to_vec(), &Settings::default()).findings
    };
    let forth = run([("src/a.rs", &one), ("src/b.rs", &two)]);
    let back = run([("src/b.rs", &two), ("src/a.rs", &one)]);
    assert_eq!(forth, back);
    assert_eq!(forth.len(), 1, "the constant is resolved across files: {forth:?}");
    let moved = run([("src/a.rs", &one), ("src/b.rs", &format!("\n\n// moved\n{two}"))]);
    assert_eq!(moved[0].fingerprint, forth[0].fingerprint, "moved lines keep the fingerprint");
    assert_ne!(moved[0].range, forth[0].range);
}
