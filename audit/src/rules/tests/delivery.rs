//! What counts as a delivered response where a record tells that its client had left.

use super::{breaches, notation};

/// A call whose exchange the client left, and the same call again.
fn twice(first: &str) -> Vec<String> {
    breaches(notation::read(&format!(
        "0.0-0.1 bare POST initialize #0 -> 200 opens S1
         1.0-1.2 {first}
         5.0-5.2 bare POST S1 call pay #3 {{\"amount\":40}} -> 200"
    )))
}

#[test]
fn a_json_response_that_its_client_broke_off_is_not_delivered() {
    let told = ["duplicate-invocation", "response-undelivered"];
    assert_eq!(twice("bare POST S1 call pay #2 {\"amount\":40} -> 200 closed"), told, "without bodies");
    assert_eq!(
        twice("hop POST S1 call pay #2 {\"amount\":40} -> 200 answers #2 closed"),
        told,
        "with bodies"
    );
}

#[test]
fn a_response_that_was_there_before_the_client_left_is_delivered() {
    let none: [&str; 0] = [];
    for first in [
        "hop POST S1 call pay #2 {\"amount\":40} -> 200 sse answers #2 closed",
        "bare POST S1 call pay #2 {\"amount\":40} -> 200",
        "hop POST S1 call pay #2 {\"amount\":40} -> 200 answers #2",
    ] {
        assert_eq!(twice(first), none, "{first}");
    }
    // What a capture beside the client holds has arrived there.
    let captured = "0.0-0.1 POST initialize #0 -> 200 opens S1
        1.0-1.2 POST S1 call pay #2 {\"amount\":40} -> 200 answers #2 closed
        5.0-5.2 POST S1 call pay #3 {\"amount\":40} -> 200 answers #3";
    assert_eq!(breaches(notation::read(captured)), none);
}

#[test]
fn the_shortest_answer_of_a_json_body_is_an_answer() {
    use crate::event::{Bytes, Counts, What};
    let mut story = notation::read(
        "0.0-0.1 bare POST initialize #0 -> 200 opens S1
         1.0-1.2 bare POST S1 call pay #2 {\"amount\":40} -> 200
         5.0-5.2 bare POST S1 call pay #3 {\"amount\":40} -> 200",
    );
    let least = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#.len() as u64;
    let mut set = |count: u64| {
        let What::Exchange(exchange) = &mut story.events[1].what else { panic!("an exchange") };
        exchange.response.bytes = Some(Bytes { count, counts: Counts::Body });
        breaches(notation::Story { events: story.events.clone(), also: Vec::new() })
    };
    assert!(set(least).is_empty());
    assert_eq!(set(least - 1), ["duplicate-invocation", "response-undelivered"]);
}
