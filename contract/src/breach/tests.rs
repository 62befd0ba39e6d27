//! The catalogue against itself, and against the page it is taken from where that is at hand.
//! Knows the page only as a table of ids, halves, bases and levels.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::*;
use crate::clause::Clause;

#[test]
fn ids_are_unique_found_and_spelled_alike() {
    let ids: BTreeSet<&str> = Breach::ALL.iter().map(|breach| breach.id()).collect();
    assert_eq!(ids.len(), Breach::ALL.len());
    for breach in Breach::ALL {
        assert_eq!(Breach::from_id(breach.id()), Some(*breach));
        assert!(
            breach
                .id()
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        );
        let line = breach.line();
        assert!(line.len() <= 90 && !line.ends_with('.'), "{line}");
        // A header's name keeps its capitals.
        assert!(line.starts_with(char::is_lowercase) || line.starts_with("Last-Event-ID"), "{line}");
    }
    assert_eq!(Breach::from_id("session_discarded"), None);
}

#[test]
fn a_half_sees_its_own_and_what_both_see() {
    assert!(
        Breach::SessionDiscarded.seen_by(Halves::Lint) && Breach::SessionDiscarded.seen_by(Halves::Audit)
    );
    assert!(!Breach::CursorRegressed.seen_by(Halves::Lint));
    assert!(!Breach::CursorNotPersisted.seen_by(Halves::Audit));
}

#[test]
fn exceptions_only_ever_lower_the_level_of_their_breach() {
    for breach in Breach::ALL {
        for (circumstance, level) in breach.exceptions() {
            assert!(*level < breach.level(), "{breach}");
            assert_eq!(breach.level_under(&[*circumstance]), *level);
            assert_eq!(breach.level_under(&[]), breach.level());
        }
    }
    assert_eq!(Breach::ReplayGap.level_under(&[Circumstance::StatelessUnproved]), Level::Deny);
}

#[test]
fn ranks_of_one_resume() {
    assert!(Breach::ResumeWithoutCursor.outranks(Breach::CursorRegressed));
    assert!(!Breach::CursorRegressed.outranks(Breach::ResumeWithoutCursor));
    assert!(Breach::ForeignReplay.outranks(Breach::EmptyResume));
    // Two parties: both are told.
    assert!(!Breach::ResumeWithoutCursor.outranks(Breach::EmptyResume));
    assert!(!Breach::SessionRewritten.outranks(Breach::CursorRegressed));
}

#[test]
fn every_procedure_has_a_breach() {
    let broken: BTreeSet<Clause> = Breach::ALL.iter().map(|breach| breach.clause()).collect();
    // Sections 4 and 5 are about reporting and cannot be broken.
    assert!(Clause::ALL[..8].iter().all(|clause| broken.contains(clause)));
}

/// The page beside the repository, where it is at hand.
fn page() -> Option<String> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let folder = std::env::var_os("UNBROKEN_SHARED").map_or(beside, PathBuf::from);
    std::fs::read_to_string(folder.join("contract.md")).ok()
}

#[test]
fn the_catalogue_is_the_page() {
    let Some(page) = page() else {
        eprintln!("skipped: contract.md is not beside the repository");
        return;
    };
    let section = page.split("## 4. Breaches").nth(1).expect("the page has a section 4");
    let rows: Vec<Vec<&str>> = section
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    assert_eq!(rows.len(), Breach::ALL.len());
    for (row, breach) in rows.iter().zip(Breach::ALL) {
        let [id, _, by, on, level] = row[..] else { panic!("{row:?}") };
        assert_eq!(id, format!("`{breach}`"));
        let halves = match by {
            "L A" => Halves::Both,
            "L" => Halves::Lint,
            _ => Halves::Audit,
        };
        let basis = match on {
            "M" => Basis::Must,
            "S" => Basis::Should,
            _ => Basis::Contract,
        };
        assert_eq!((breach.halves(), breach.basis()), (halves, basis), "{breach}");
        assert!(level.starts_with(breach.level().id()), "{breach}: {level}");
        let is_exceptional =
            level.contains("warn") && breach.level() != Level::Warn || row[1].contains(": note)");
        assert_eq!(!breach.exceptions().is_empty(), is_exceptional, "{breach}: {level}");
        assert_eq!(breach.once().is_some(), level.contains("once per"), "{breach}: {level}");
    }
}
