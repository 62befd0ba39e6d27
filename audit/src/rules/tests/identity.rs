//! How sure a finding may be of who a client is.

use super::notation;
use crate::finding::{Certainty, SameBy};
use crate::verdict::judge;
use unbroken_contract::breach::Breach;

/// Two sessions, a cut call on the first and the same call on the second, as `at` would have seen them.
fn across(at: &str, address: bool, subject: bool) -> (Option<SameBy>, Certainty) {
    let mut story = notation::read(&format!(
        "0.0-0.1 {at} POST initialize #0 client agent -> 200 opens S1
         0.2-0.3 {at} POST S1 list #1 client agent -> 200 tools pay:destructiveHint
         1.0-2.0 {at} POST S1 call pay #2 {{\"amount\":40}} client agent -> 200 sse cut
         2.5-2.6 {at} POST initialize #0 client agent -> 200 opens S2
         2.7-3.0 {at} POST S2 call pay #2 {{\"amount\":40}} client agent -> 200 answers #2"
    ));
    for event in &mut story.events {
        if !address {
            event.identity.remote_addr = None;
        }
        event.identity.subject = subject.then(|| "one".into());
    }
    let (findings, _) = judge(story.events, &["story".to_owned()]);
    let twice = findings.into_iter().find(|finding| finding.breach.0 == Breach::DuplicateInvocation);
    twice.map(|finding| (finding.same_by, finding.certainty)).expect("the call was sent twice")
}

#[test]
fn an_address_and_a_program_prove_no_client() {
    // Two people behind one address, with one program.
    assert_eq!(across("hop", true, false), (Some(SameBy::Address), Certainty::Likely));
    assert_eq!(across("", true, false), (Some(SameBy::Address), Certainty::Likely));
}

#[test]
fn a_log_without_addresses_proves_no_client_unless_it_stands_beside_one() {
    assert_eq!(across("hop", false, false), (Some(SameBy::OnlyClient), Certainty::Likely));
    assert_eq!(across("", false, false).1, Certainty::Proved);
}

#[test]
fn a_subject_proves_a_client() {
    assert_eq!(across("hop", true, true), (Some(SameBy::Subject), Certainty::Proved));
}
