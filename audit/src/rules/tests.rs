mod delivery;
mod guards;
mod identity;

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
fn a_long_chain_is_hashed_once_and_not_for_each_of_its_sends() {
    let hashed = |sends: u64| {
        let mut story = "0.0-0.1 POST initialize #0 -> 200 opens S1\n".to_owned();
        for at in 1..=sends {
            story += &format!("{at}.0-{at}.5 POST S1 call pay #{at} {{\"amount\":40}} -> 200 sse cut\n");
        }
        let before = crate::proof::HASHED.get();
        let (findings, _) = judge(notation::read(&story).events, &["story".to_owned()]);
        let undelivered = findings.iter().filter(|finding| finding.breach.0.id() == "response-undelivered");
        assert_eq!(undelivered.count() as u64, sends);
        crate::proof::HASHED.get() - before
    };
    let (short, long) = (hashed(50), hashed(200));
    assert!(short > 0 && long < short * 5, "{short} and {long} bytes");
}

#[test]
fn many_resumes_from_one_cursor_are_looked_at_once() {
    let looks = |resumes: u64| {
        let mut story = "0.0-0.1 POST initialize #0 -> 200 opens S1
            1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 sse progress s2_1 progress s2_2 progress s2_3 cut\n"
            .to_owned();
        for at in 3..resumes + 3 {
            story += &format!("{at}.0-{at}.5 GET S1 after s2_3 -> 200 sse progress s2_5 cut\n");
        }
        super::replay_gap::LOOKS.set(0);
        let (findings, _) = judge(notation::read(&story).events, &["story".to_owned()]);
        assert!(findings.iter().any(|finding| finding.breach.0 == Breach::ReplayGap));
        super::replay_gap::LOOKS.get()
    };
    let (few, many) = (looks(50), looks(400));
    assert!(few > 0 && many < few * 9, "{few} and {many}");
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

/// Stories of contract section 5 and of field.md, section (c), by number, with what may be said of them (mostly nothing).
const TRAPS: &[(&str, &str, &[&str])] = &[
    (
        "5: a polling close (field.md 1)",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-1.2 POST S1 call pay #2 {\"amount\":40} -> 200 sse id e1 retry 400 ends
         1.7-2.0 GET S1 after e1 -> 200 sse answers #2 ends",
        &[],
    ),
    (
        "5: several polling closes of one stream",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-1.2 POST S1 call pay #2 {\"amount\":40} -> 200 sse id e1 retry 400 ends
         1.7-2.0 GET S1 after e1 -> 200 sse id e2 ends
         2.5-2.7 GET S1 after e2 -> 200 sse id e3 ends
         3.2-3.5 GET S1 after e3 -> 200 sse answers #2 ends",
        &[],
    ),
    (
        "5: the end after the response, cut by the client (field.md 2)",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 sse id e1 answers #2 closed
         3.0-3.5 POST S1 call pay #3 {\"amount\":40} -> 200 answers #3",
        &[],
    ),
    (
        "5: a needless GET with the cursor of an answered stream (field.md 2)",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 sse id e1 answers #2 ends
         2.5-9.0 GET S1 after e1 -> 200 sse closed",
        &[],
    ),
    (
        "5: the first GET has no cursor",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         0.5-0.9 POST S1 list #1 -> 200 sse id e1 answers #1 ends
         1.0-9.0 GET S1 -> 200 sse closed",
        &[],
    ),
    (
        "5: a stream whose server never issued ids (field.md 10)",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         0.5-9.0 GET S1 -> 200 sse cut
         10.0-19.0 GET S1 -> 200 sse cut
         20.0-29.0 GET S1 -> 200 sse closed",
        &[],
    ),
    (
        "5: holes in event numbers (field.md 11)",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 sse progress 1 progress 2 progress 3 cut
         2.5-3.0 GET S1 after 3 -> 200 sse progress 9 answers #2 ends",
        &[],
    ),
    (
        "5: 404, then initialize, then the same call (field.md 3)",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-1.1 POST S1 call pay #2 {\"amount\":40} -> 404
         1.2-1.3 POST initialize #0 -> 200 opens S2
         1.4-2.0 POST S2 call pay #2 {\"amount\":40} -> 200 answers #2",
        &[],
    ),
    (
        "5: a send that never left (field.md 4)",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-1.1 POST S1 call pay #2 {\"amount\":40} -> 502 refused a
         1.2-2.0 POST S1 call pay #3 {\"amount\":40} -> 200 answers #3 by a",
        &[],
    ),
    (
        "5: 503 and 429 before dispatch (field.md 4)",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-1.1 POST S1 call pay #2 {\"amount\":40} -> 429
         1.5-1.6 POST S1 call pay #3 {\"amount\":40} -> 503
         2.2-3.0 POST S1 call pay #4 {\"amount\":40} -> 200 answers #4",
        &[],
    ),
    (
        "5: a token refresh (field.md 20)",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-1.1 POST S1 call pay #2 {\"amount\":40} -> 401
         1.2-1.9 POST S1 call pay #2 {\"amount\":40} -> 200 answers #2",
        &[],
    ),
    (
        "5: an invalid call corrected",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-1.1 POST S1 call pay #2 {\"amount\":40} -> 400 fails #2 -32602
         1.2-1.9 POST S1 call pay #3 {\"amount\":40} -> 200 answers #3",
        &[],
    ),
    (
        "5: URL elicitation required, then the same call",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-1.1 POST S1 call pay #2 {\"amount\":40} -> 200 fails #2 -32042
         9.2-9.9 POST S1 call pay #3 {\"amount\":40} -> 200 answers #3",
        &[],
    ),
    (
        "5: a redirect gives two POSTs (field.md 20)",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-1.1 POST S1 call pay #2 {\"amount\":40} -> 308
         1.1-1.9 POST S1 call pay #2 {\"amount\":40} -> 200 answers #2",
        &[],
    ),
    (
        "5: a retry after an error result (field.md 5)",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 fails #2 -32603
         2.5-3.0 POST S1 call pay #3 {\"amount\":40} -> 200 answers #3",
        &[],
    ),
    (
        "5: parallel equal calls (field.md 5)",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-3.0 POST S1 call pay #2 {\"amount\":40} -> 200 answers #2
         1.01-3.1 POST S1 call pay #3 {\"amount\":40} -> 200 answers #3",
        &[],
    ),
    (
        "5: a person repeats a call that was answered (field.md 5)",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 answers #2
         60.0-61.0 POST S1 call pay #3 {\"amount\":40} -> 200 answers #3",
        &[],
    ),
    (
        "5: a tool that says it is idempotent (field.md 8)",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         0.2-0.3 POST S1 list #1 -> 200 tools pay:idempotentHint
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 sse idle
         2.5-3.0 POST S1 call pay #3 {\"amount\":40} -> 200 answers #3",
        &["response-undelivered"],
    ),
    (
        "5: a tool that only reads (field.md 8)",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         0.2-0.3 POST S1 list #1 -> 200 tools pay:readOnlyHint
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 sse idle
         2.5-3.0 POST S1 call pay #3 {\"amount\":40} -> 200 answers #3",
        &["response-undelivered"],
    ),
    (
        "5: one idempotency key (field.md 8)",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} key k -> 200 sse idle
         2.5-3.0 POST S1 call pay #3 {\"amount\":40} key k -> 200 answers #3",
        &["response-undelivered"],
    ),
    (
        "5: a line that the shipper delivered twice",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 answers #2
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 answers #2",
        &[],
    ),
    (
        "5: one exchange seen at two vantages",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 answers #2
         1.0-2.0 bare POST S1 call pay #2 {\"amount\":40} -> 200 by a",
        &[],
    ),
    (
        "5: one session per call by design (field.md 12)",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         0.2-1.0 POST S1 call pay #1 {\"amount\":40} -> 200 answers #1
         2.0-2.1 POST initialize #0 -> 200 opens S2
         2.2-3.0 POST S2 call pay #1 {\"amount\":40} -> 200 answers #1
         4.0-4.1 POST initialize #0 -> 200 opens S3",
        &[],
    ),
    (
        "5: a server without session ids (field.md 9)",
        "0.0-0.1 POST initialize #0 -> 200
         1.0-2.0 POST call pay #2 {\"amount\":40} version 2025-11-25 -> 200 answers #2
         3.0-4.0 POST call pay #3 {\"amount\":40} version 2025-11-25 -> 200 answers #3",
        &[],
    ),
    (
        "5: no listening stream is offered (field.md 9)",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         0.2-0.3 GET S1 -> 405
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 answers #2
         3.0-3.1 DELETE S1 -> 405",
        &[],
    ),
    (
        "5: DELETE, then initialize (field.md 13)",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 answers #2
         2.1-2.2 DELETE S1 -> 200
         2.3-2.4 POST initialize #0 -> 200 opens S2",
        &[],
    ),
    (
        "5: DELETE answered 405, then a new session (field.md 13)",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 answers #2
         2.1-2.2 DELETE S1 -> 405
         2.3-2.4 POST initialize #0 -> 200 opens S2",
        &[],
    ),
    (
        "5: DELETE answered 404 (field.md 13)",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 answers #2
         2.1-2.2 DELETE S1 -> 404",
        &[],
    ),
    (
        "5: use within seconds of a DELETE",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-1.1 DELETE S1 -> 200
         1.5-1.6 POST S1 list #1 -> 400",
        &[],
    ),
    (
        "5: different ids per hop (field.md 15)",
        "0.0-0.1 POST initialize #0 as r1 -> 200 opens S1
         0.0-0.1 bare POST initialize #0 as r1 -> 200 opens S7
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} as r2 -> 200 answers #2
         1.0-2.0 bare POST S7 call pay #2 {\"amount\":40} as r2 -> 200",
        &[],
    ),
    (
        "5: a GET's 404 while POST still works (field.md 21)",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         0.2-0.3 GET S1 -> 404
         1.0-1.5 POST S1 call pay #2 {\"amount\":40} -> 200 answers #2",
        &[],
    ),
    (
        "5: version probing (field.md 18)",
        "0.0-0.1 POST list #0 version 2026-07-28 -> 400 fails #0 -32022
         0.2-0.3 POST initialize #0 -> 200 opens S1
         1.0-1.5 POST S1 call pay #2 {\"amount\":40} -> 200 answers #2",
        &[],
    ),
    (
        "5: a wave of 404 after a deploy (field.md 14)",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         0.5-0.6 POST initialize #0 client two -> 200 opens S2
         9.0-9.1 POST S1 list #1 -> 404
         9.0-9.1 POST S2 list #1 client two -> 404
         9.2-9.3 POST initialize #0 -> 200 opens S3
         9.2-9.3 POST initialize #0 client two -> 200 opens S4",
        &[],
    ),
    (
        "field.md 16: a tolerant client before a server that answers 400: the server's breach alone",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-1.1 POST S1 call pay #2 {\"amount\":40} -> 400 unknown #2
         1.2-1.3 POST initialize #0 -> 200 opens S2
         1.4-2.0 POST S2 call pay #2 {\"amount\":40} -> 200 answers #2",
        &["unknown-session-not-404"],
    ),
    (
        "field.md 17: 409 on the listening GET while POST works",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         0.2-0.3 GET S1 -> 409
         0.5-0.6 GET S1 -> 409
         1.0-1.5 POST S1 call pay #2 {\"amount\":40} -> 200 answers #2
         2.0-2.1 POST initialize #0 -> 200 opens S2",
        &[],
    ),
    (
        "field.md 7: pings, listings and initialize repeated",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-1.1 POST S1 list #1 -> 200 answers #1
         31.0-31.1 POST S1 list #2 -> 200 answers #2
         61.0-61.1 POST S1 list #3 -> 200 answers #3",
        &[],
    ),
    (
        "field.md 24: one id on two sessions means nothing",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         0.2-0.3 POST initialize #0 client two -> 200 opens S2
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 answers #2
         1.5-2.5 POST S2 call pay #2 {\"amount\":40} client two -> 200 answers #2",
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
    (
        "a job that runs again an hour later is no repeat of the cut run",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 sse cut
         3500.0-3500.1 POST initialize #0 -> 200 opens S2
         3501.0-3501.5 POST S2 call pay #1 {\"amount\":40} -> 200 answers #1",
        &["response-undelivered"],
    ),
    (
        "a call after the answer to a repeat is a new wish",
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 answers #2
         3.0-4.0 POST S1 call pay #3 {\"amount\":40} -> 200 answers #3
         5.0-6.0 POST S1 call pay #4 {\"amount\":40} -> 200 answers #4",
        &[],
    ),
];

/// How many sends the one duplicate of a story has.
fn sends(text: &str) -> usize {
    let paths = vec!["story".to_owned()];
    let (findings, _) = crate::verdict::judge(notation::read(text).events, &paths);
    let twice = findings.iter().find(|found| found.breach.0 == Breach::DuplicateInvocation);
    twice.map_or(0, |found| found.sends.len())
}

#[test]
fn what_each_try_of_a_loop_was_allowed_is_said_once() {
    let story = notation::read(
        "0.0-0.1 POST initialize #0 -> 200 opens S1
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 sse cut
         2.5-2.6 POST initialize #0 -> 200 opens S2
         3.0-4.0 POST S2 call pay #2 {\"amount\":40} -> 200 sse cut
         4.5-4.6 POST initialize #0 -> 200 opens S3",
    );
    let (findings, _) = judge(story.events, &["story".to_owned()]);
    let discarded = findings.into_iter().find(|finding| finding.breach.0 == Breach::SessionDiscarded);
    let steps = discarded.expect("sessions were dropped").proof;
    let said = |words: &str| steps.iter().filter(|step| format!("{:?}", step.words).contains(words)).count();
    assert_eq!((said("sent initialize"), said("the contract allowed")), (2, 1), "{steps:#?}");
}

#[test]
fn an_answered_send_ends_the_story() {
    let cut_then_answered = "0.0-0.1 POST initialize #0 -> 200 opens S1
        1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 sse cut
        3.0-4.0 POST S1 call pay #3 {\"amount\":40} -> 200 answers #3
        5.0-6.0 POST S1 call pay #4 {\"amount\":40} -> 200 answers #4
        7.0-8.0 POST S1 call pay #5 {\"amount\":40} -> 200 answers #5";
    assert_eq!(sends(cut_then_answered), 2);
    // A log without bodies: an exchange that ended in order may have had its answer.
    assert_eq!(sends(&cut_then_answered.replace("POST S1", "bare POST S1")), 2);
}

#[test]
fn weak_identities_hold_no_story_longer_than_a_client_waits() {
    let restarts: String = (0..10)
        .map(|n| {
            let at = n * 100;
            format!(
                "{at}.0-{at}.1 POST initialize #0 -> 200 opens S{n}
                 {at}.5-{at}.9 POST S{n} call pay #2 {{\"amount\":40}} -> 200 sse cut\n"
            )
        })
        .collect();
    // 300 s of patience after the first: three more.
    assert_eq!(sends(&restarts), 4);
}

#[test]
fn traps_are_not_reported() {
    let wrong: Vec<String> = TRAPS
        .iter()
        .filter_map(|(name, text, expected)| {
            let found = breaches(notation::read(text));
            (found != *expected).then(|| format!("{name}: {found:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
