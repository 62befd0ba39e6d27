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
            let expected = story.also.clone();
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
