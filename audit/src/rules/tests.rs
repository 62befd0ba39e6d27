use super::notation;
use super::*;
use crate::verdict::judge;

fn breaches(story: notation::Story) -> Vec<String> {
    let (findings, _) = judge(story.events, &["story".to_owned()]);
    let mut found: Vec<String> = findings.iter().map(|finding| finding.breach.0.id().to_owned()).collect();
    found.sort();
    found.dedup();
    found
}

fn blocks(page: &str, kind: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut inside: Option<String> = None;
    for line in page.lines() {
        match (&mut inside, line.strip_prefix("```")) {
            (None, Some(info)) if info.trim() == kind => inside = Some(String::new()),
            (Some(_), Some(_)) => blocks.extend(inside.take()),
            (Some(block), None) => {
                block.push_str(line);
                block.push('\n');
            }
            _ => {}
        }
    }
    blocks
}

#[test]
fn every_page_has_its_parts() {
    for rule in ALL {
        let page = page(rule.breach).expect("every rule has a page");
        for part in ["# What happens", "# Why it matters", "# Flagged", "# Accepted", "# Instead", "# Limits"]
        {
            assert!(page.contains(part), "{}: {part}", rule.breach);
        }
        assert!(!page.lines().next().expect("a first line").is_empty(), "{}", rule.breach);
    }
}

#[test]
fn flagged_stories_hold_their_breach_and_no_other() {
    for rule in ALL {
        let stories = blocks(page(rule.breach).expect("a page"), "flagged");
        assert!(!stories.is_empty(), "{}", rule.breach);
        for text in stories {
            let story = notation::read(&text);
            let mut expected = story.also.clone();
            expected.push(rule.breach.id().to_owned());
            expected.sort();
            assert_eq!(breaches(story), expected, "{}:\n{text}", rule.breach);
        }
    }
}

#[test]
fn accepted_stories_hold_no_breach() {
    for rule in ALL {
        let stories = blocks(page(rule.breach).expect("a page"), "accepted");
        assert!(!stories.is_empty(), "{}", rule.breach);
        for text in stories {
            let story = notation::read(&text);
            let mut expected = story.also.clone();
            expected.sort();
            assert_eq!(breaches(story), expected, "{}:\n{text}", rule.breach);
        }
    }
}

#[test]
fn pages_are_named_after_their_breach() {
    for rule in ALL {
        let file = rule.breach.id().replace('-', "_");
        assert!(
            rule.source.starts_with("//!")
                && std::path::Path::new("src/rules").join(format!("{file}.rs")).exists()
        );
    }
}

/// Stories of contract section 5, with what may be said of them (mostly nothing).
const TRAPS: &[(&str, &str, &[&str])] = &[
    (
        "a polling close",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-1.2 POST S1 call pay #2 {\"amount\":40} -> 200 sse id e1 retry 400 ends
         1.7-2.0 GET S1 after e1 -> 200 sse answers #2 ends",
        &[],
    ),
    (
        "a token refresh",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-1.1 POST S1 call pay #2 {\"amount\":40} -> 401
         1.2-1.9 POST S1 call pay #2 {\"amount\":40} -> 200 answers #2",
        &[],
    ),
    (
        "a tool that says it is idempotent",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         0.2-0.3 POST S1 list #0 -> 200 tools pay:idempotentHint
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 sse idle
         2.5-3.0 POST S1 call pay #3 {\"amount\":40} -> 200 answers #3",
        &["response-undelivered"],
    ),
    (
        "one idempotency key",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} key k -> 200 sse idle
         2.5-3.0 POST S1 call pay #3 {\"amount\":40} key k -> 200 answers #3",
        &["response-undelivered"],
    ),
    (
        "a retry after an error result",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 fails #2 -32603
         2.5-3.0 POST S1 call pay #3 {\"amount\":40} -> 200 answers #3",
        &[],
    ),
    (
        "no listening stream is offered",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         0.2-0.3 GET S1 -> 405
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 answers #2",
        &[],
    ),
    (
        "DELETE answered 405, then a new session",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 answers #2
         2.1-2.2 DELETE S1 -> 405
         2.3-2.4 POST initialize #0 -> 200 opens S2",
        &[],
    ),
    (
        "two clients, one wish each",
        "0.0-0.1 POST initialize #0 client one -> 200 opens S1
         0.2-0.3 POST initialize #0 client two -> 200 opens S2
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} client one -> 200 sse closed
         2.5-3.0 POST S2 call pay #3 {\"amount\":40} client two -> 200 answers #3",
        &[],
    ),
];

#[test]
fn traps_are_not_reported() {
    for (name, text, expected) in TRAPS {
        assert_eq!(breaches(notation::read(text)), *expected, "{name}");
    }
}
