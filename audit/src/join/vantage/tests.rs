use super::super::join;
use super::*;
use crate::event::Event;
use crate::rules::notation;

/// One line of a story as a record of a log of its own.
fn record(file: u32, line: &str) -> Event {
    let mut event = notation::read(line).events.remove(0);
    event.origin.file = file;
    event
}

fn exchanges(lines: &[&str]) -> usize {
    let records = lines.iter().enumerate().map(|(file, line)| record(file as u32, line));
    join(records.collect()).contacts.len()
}

const CALL: &str = r#"POST S1 call pay #2 {"amount":40} version 2025-11-25 as r1 -> 200"#;

#[test]
fn a_request_id_makes_two_records_one_where_nothing_contradicts_it() {
    for [near, far] in [["hop", "hop"], ["", "hop"], ["hop", "bare"]] {
        assert_eq!(exchanges(&[&format!("1.0-1.2 {near} {CALL}"), &format!("1.1-1.2 {far} {CALL}")]), 1);
    }
    let untold = r#"1.1-1.2 hop POST S1 call pay #2 {"amount":40} as r1 -> 200"#;
    assert_eq!(exchanges(&[&format!("1.0-1.2 hop {CALL}"), untold]), 1, "a version that one leaves out");
}

#[test]
fn no_request_id_makes_one_of_what_contradicts_itself() {
    for (fact, told, other) in [
        ("session", "POST S1", "POST"),
        ("JSON-RPC id", "#2", "#3"),
        ("HTTP method", "POST", "GET"),
        ("tool", "pay", "refund"),
        ("arguments", "40", "41"),
        ("protocol version", "2025-11-25", "2025-06-18"),
        ("JSON-RPC method", r#"call pay #2 {"amount":40}"#, "list #2"),
    ] {
        let changed = CALL.replacen(told, other, 1);
        for [near, far] in [["hop", "hop"], ["", "hop"]] {
            let lines = [format!("1.0-1.2 {near} {CALL}"), format!("1.1-1.2 {far} {changed}")];
            assert_eq!(exchanges(&[&lines[0], &lines[1]]), 2, "{fact}, {near} and {far}");
        }
    }
}

#[test]
fn a_session_is_rewritten_between_two_places_and_never_at_one() {
    let near = |place: &str| format!("1.0-1.2 {place} {CALL}");
    let far = format!("1.1-1.2 hop {}", CALL.replace("S1", "S2"));
    assert_eq!(exchanges(&[&near("hop"), &far]), 2, "one place");
    assert_eq!(exchanges(&[&near(""), &far]), 1, "two places");
    assert_eq!(
        exchanges(&[&near(""), &far, &far.replace("1.1-", "1.11-")]),
        1,
        "a second log of the far one"
    );
}

#[test]
fn a_request_id_that_a_log_beside_uses_too_still_joins_its_own() {
    let near = format!("1.0-1.2 {CALL}");
    let beside = format!("1.05-1.2 hop {}", CALL.replace("S1", "S2").replace("#2", "#7"));
    let far = format!("1.1-1.2 hop {CALL}");
    assert_eq!(exchanges(&[&near, &beside, &far]), 2);
}

#[test]
fn a_gateway_asks_behind_it_in_its_own_session_for_the_same() {
    let of = |file, line: &str, vantage| Event { vantage, ..record(file, line) };
    let near = of(0, &format!("1.0-1.2 hop {CALL}"), Vantage::Gateway);
    let behind = CALL.replace("S1", "S9").replace("#2", "#17");
    let one = |behind: &str| {
        let far = of(1, &format!("1.01-1.2 hop {behind}"), Vantage::ServerHttp);
        join(vec![near.clone(), far]).contacts.len()
    };
    assert_eq!(one(&behind), 1);
    assert_eq!(one(&behind.replace("40", "41")), 2, "other arguments");
}
