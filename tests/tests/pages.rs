//! Every rule has a page with all its parts, and every breach has a rule in each half that can see it, or is listed as waiting for one.

use std::collections::BTreeSet;
use unbroken_contract::{Breach, Halves};

/// The parts of a page, in their order.
const PARTS: [&str; 6] = ["What happens", "Why it matters", "Flagged", "Accepted", "Instead", "Limits"];

/// Breaches that a half does not check yet. A rule that is added is taken off here: the test below insists.
const NOT_YET_IN_CODE: &[Breach] = &[];
const NOT_YET_IN_TRAFFIC: &[Breach] = &[];

fn page(half: Halves, breach: Breach) -> Option<String> {
    let page = match half {
        Halves::Lint => unbroken_lint::rules::page(breach),
        Halves::Audit => unbroken_audit::rules::page(breach),
        Halves::Both => None,
    }?;
    Some(
        page.lines()
            .map(|line| line.trim_start_matches("//!").trim_start_matches(' ').to_owned() + "\n")
            .collect(),
    )
}

fn rules() -> Vec<(Halves, Breach, String)> {
    let halves = [Halves::Lint, Halves::Audit];
    let each = halves.into_iter().flat_map(|half| Breach::ALL.iter().map(move |breach| (half, *breach)));
    each.filter_map(|(half, breach)| Some((half, breach, page(half, breach)?))).collect()
}

#[test]
fn every_page_has_all_parts_in_order() {
    let rules = rules();
    assert!(rules.len() > 10, "there are rules in both halves");
    for (half, breach, page) in rules {
        let first = page.lines().next().unwrap_or_default();
        assert!(
            first.ends_with('.') && first.len() <= 120,
            "{half:?} {breach}: a page begins with one line: {first:?}"
        );
        let mut rest = page.as_str();
        for part in PARTS {
            let heading = format!("# {part}\n");
            let at = rest
                .find(&heading)
                .unwrap_or_else(|| panic!("{half:?} {breach}: {part:?} is missing or out of order"));
            rest = &rest[at + heading.len()..];
            let body = rest.split("\n# ").next().unwrap_or_default().trim();
            assert!(body.len() > 20, "{half:?} {breach}: {part:?} says nothing");
        }
        for fence in ["```flagged", "```accepted"] {
            assert!(page.contains(fence), "{half:?} {breach}: no {fence} block that a test could run");
        }
        assert_eq!(page.matches("```").count() % 2, 0, "{half:?} {breach}: a fence is left open");
    }
}

#[test]
fn a_page_rests_on_the_contract_or_the_specification() {
    for (half, breach, page) in rules() {
        let why = page
            .split("# Why it matters\n")
            .nth(1)
            .and_then(|rest| rest.split("\n# ").next())
            .unwrap_or_default();
        let rests = ["contract", "Contract", "specification", "MUST", "SHOULD", "RFC", "MCP, ", "MCP 20"]
            .iter()
            .any(|word| why.contains(word));
        assert!(rests, "{half:?} {breach}: {why}");
    }
}

#[test]
fn every_breach_has_a_rule_in_each_half_that_sees_it_or_waits_for_one() {
    for (half, waiting) in [(Halves::Lint, NOT_YET_IN_CODE), (Halves::Audit, NOT_YET_IN_TRAFFIC)] {
        let seen: BTreeSet<Breach> =
            Breach::ALL.iter().copied().filter(|breach| breach.seen_by(half)).collect();
        let ruled: BTreeSet<Breach> =
            rules().into_iter().filter(|(of, ..)| *of == half).map(|(_, breach, _)| breach).collect();
        let waiting: BTreeSet<Breach> = waiting.iter().copied().collect();
        let strays: Vec<_> = ruled.difference(&seen).collect();
        assert!(
            strays.is_empty(),
            "{half:?} has rules for what the catalogue says it cannot see: {strays:?}"
        );
        let both: Vec<_> = ruled.intersection(&waiting).collect();
        assert!(both.is_empty(), "{half:?} checks these now, take them off the list: {both:?}");
        let missing: Vec<_> =
            seen.iter().filter(|breach| !ruled.contains(breach) && !waiting.contains(breach)).collect();
        assert!(missing.is_empty(), "{half:?} has no rule and no note for {missing:?}");
    }
}
