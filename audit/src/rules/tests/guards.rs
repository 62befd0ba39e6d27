//! Stories beside a breach, one for each condition that keeps a rule from telling of it.

use super::{breaches, notation};
use crate::event::{Arguments, Body, Cause, Event, Message, RpcId, ToolCall, Unreadable, What};
use crate::verdict::judge;

const OPENED: &str = "0.0-0.1 POST initialize #0 -> 200 opens S1\n";

/// Each story goes on after the session was opened; with what may be said of it.
const STORIES: &[(&str, &str, &[&str])] = &[
    (
        "a request that went through shows that the client had its session still",
        "1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 sse cut
         3.0-4.0 POST S1 list #3 -> 200 answers #3
         5.0-5.1 POST initialize #0 -> 200 opens S2",
        &["response-undelivered"],
    ),
    (
        "the end of a listening stream alone is daily business",
        "1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 answers #2
         3.0-9.0 GET S1 -> 200 sse cut
         10.0-10.1 POST initialize #0 -> 200 opens S2",
        &[],
    ),
    (
        "a server that refused in its own words",
        "1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 sse cut
         2.5-2.6 POST S1 list #3 -> 403
         3.0-3.1 POST initialize #0 -> 200 opens S2",
        &["response-undelivered"],
    ),
    (
        "a call that was answered on a resumed stream is no loss",
        "1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 sse id e1 cut
         2.5-3.0 GET S1 after e1 -> 200 sse answers #2 ends
         4.0-4.1 POST initialize #0 -> 200 opens S2",
        &[],
    ),
    (
        "a capture sees when its client leaves: what was sent before that was sent beside it",
        "1.0-9.0 POST S1 call pay #2 {\"amount\":40} -> 200 sse closed
         2.0-2.1 POST initialize #0 -> 200 opens S2
         2.5-3.0 POST S2 call pay #1 {\"amount\":40} -> 200 answers #1",
        &["orphaned-session"],
    ),
    (
        "404, once more the dead id, then initialize",
        "1.0-1.1 POST S1 list #1 -> 404
         3.0-3.1 POST S1 list #2 -> 404
         5.0-5.1 POST initialize #0 -> 200 opens S2",
        &[],
    ),
    (
        "the 404 after a DELETE of one's own",
        "1.0-1.1 DELETE S1 -> 200
         30.0-30.1 POST S1 list #1 -> 404
         60.0-60.1 POST S1 list #2 -> 404",
        &[],
    ),
    (
        "an id whose first request was refused",
        "1.0-1.1 POST S1 call pay #2 {\"amount\":40} -> 401
         2.0-2.1 POST S1 list #2 -> 200 answers #2",
        &[],
    ),
    (
        "one request sent twice under its id",
        "1.0-1.1 POST S1 list #2 -> 200 answers #2
         2.0-2.1 POST S1 list #2 -> 200 answers #2",
        &[],
    ),
    (
        "a listening stream resumed, and nothing to tell",
        "1.0-2.0 GET S1 -> 200 sse progress 1 ends
         3.0-4.0 GET S1 after 1 -> 200 sse ends",
        &[],
    ),
    (
        "a session ended after a cut, and another opened much later",
        "1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 sse cut
         3.0-3.1 DELETE S1 -> 200
         200.0-200.1 POST initialize #0 -> 200 opens S2",
        &["response-undelivered"],
    ),
    (
        "a stream opened again beside the one that goes on",
        "1.0-9.0 GET S1 -> 200 sse progress 1 retry 4000 ends
         5.0-9.5 GET S1 after 1 -> 200 sse progress 2 ends",
        &[],
    ),
    (
        "a session left with a call, and another opened in the next shift",
        "1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 sse closed
         4000.0-4000.1 POST initialize #0 -> 200 opens S2",
        &[],
    ),
    (
        "a session that was open beside the one whose call was cut is another window's",
        "0.5-0.6 POST initialize #0 -> 200 opens S2
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 sse cut
         3.0-4.0 POST S2 call pay #2 {\"amount\":40} -> 200 answers #2",
        &["response-undelivered"],
    ),
    (
        "a session that goes on beside the one opened after its cut",
        "1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 sse cut
         2.5-2.6 POST initialize #0 -> 200 opens S2
         3.0-3.1 POST S2 list #1 -> 200 answers #1
         4.0-4.1 POST S1 list #3 -> 200 answers #3",
        &["response-undelivered"],
    ),
    (
        "an equal call on the same session, after more than an hour",
        "1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 sse cut
         3700.0-3701.0 POST S1 call pay #3 {\"amount\":40} -> 200 answers #3",
        &["response-undelivered"],
    ),
    (
        "a call that reached no server, sent again",
        "1.0-1.1 POST S1 call pay #2 {\"amount\":40} -> 502 refused a
         2.0-2.1 POST S1 call pay #3 {\"amount\":40} -> 200 answers #3",
        &[],
    ),
    (
        "a call sent again that reached no server the second time",
        "1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 sse cut
         3.0-3.1 POST S1 call pay #3 {\"amount\":40} -> 502 refused a",
        &["response-undelivered"],
    ),
    (
        "a call that was cut, and an equal one of another era",
        "0.5-0.6 POST S1 list #1 -> 200 tools pay:destructiveHint
         1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 sse cut
         3.0-4.0 POST call pay #3 {\"amount\":40} version 2026-07-28 -> 200 answers #3",
        &["response-undelivered"],
    ),
    (
        "a DELETE that was not accepted ends nothing: another session at once",
        "1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 sse closed
         2.5-2.6 DELETE S1 -> 405
         3.0-3.1 POST initialize #0 -> 200 opens S2",
        &["orphaned-session"],
    ),
    (
        "a DELETE that was not accepted ends nothing: the session goes on",
        "1.0-1.1 DELETE S1 -> 405
         10.0-10.1 POST S1 list #2 -> 200 answers #2",
        &[],
    ),
    (
        "a DELETE that was not accepted ends nothing: its stream is resumed",
        "1.0-2.0 GET S1 -> 200 sse progress 1 ends
         3.0-3.1 DELETE S1 -> 405
         10.0-11.0 GET S1 after 1 -> 200 sse progress 2 ends",
        &[],
    ),
    (
        "another version asked for in an initialize is none that the session goes on under",
        "1.0-1.1 POST S1 list #1 version 2025-11-25 -> 200 answers #1
         2.0-2.1 POST S1 initialize #2 version 2025-06-18 -> 200 answers #2
         3.0-3.1 POST S1 list #3 version 2025-11-25 -> 200 answers #3",
        &[],
    ),
    (
        "a request under another version that was refused",
        "1.0-1.1 POST S1 list #1 version 2025-11-25 -> 200 answers #1
         2.0-2.1 POST S1 list #2 version 2025-06-18 -> 400",
        &[],
    ),
    (
        "an initialize that is given the same session again",
        "1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 sse cut
         3.0-3.1 POST initialize #0 -> 200 opens S1",
        &["response-undelivered"],
    ),
];

#[test]
fn what_stands_beside_a_breach_is_none() {
    let told = |(name, text, expected): &(&str, &str, &[&str])| {
        let found = breaches(notation::read(&format!("{OPENED}{text}")));
        (found != *expected).then(|| format!("{name}: {found:?}"))
    };
    let wrong: Vec<String> = STORIES.iter().filter_map(told).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// How many findings of one breach a story has.
fn count(breach: &str, text: &str) -> usize {
    let (findings, _) = judge(notation::read(&format!("{OPENED}{text}")).events, &["story".to_owned()]);
    findings.iter().filter(|finding| finding.breach.0.id() == breach).count()
}

#[test]
fn sessions_that_were_good_for_something_are_dropped_each_for_itself() {
    let between = |between: &str, at: u32| {
        format!(
            "1.0-2.0 POST S1 call pay #2 {{\"amount\":40}} -> 200 sse cut
             2.5-2.6 POST initialize #0 -> 200 opens S2
             {between}
             {at}.0-{at}.9 POST S2 call pay #3 {{\"amount\":41}} -> 200 sse cut
             {}.0-{0}.1 POST initialize #0 -> 200 opens S3",
            at + 1
        )
    };
    let answered = "3.0-4.0 POST S2 call pay #2 {\"amount\":42} -> 200 answers #2";
    assert_eq!(count("session-discarded", &between("", 5)), 1, "one loop");
    assert_eq!(count("session-discarded", &between(answered, 5)), 2, "it brought an answer");
    assert_eq!(count("session-discarded", &between("", 400)), 2, "another day's work");
}

/// A stream that is opened again twelve times, by the gap before each and what it is answered with.
fn opened(gap: impl Fn(u32) -> u32, reply: impl Fn(u32) -> String) -> Vec<String> {
    let mut at = 1;
    let mut text = OPENED.to_owned();
    for n in 0..12 {
        at += gap(n);
        text += &format!("{at}.0-{}\n", reply(n).replace("AT", &at.to_string()));
    }
    breaches(notation::read(&text))
}

#[test]
fn a_stream_that_brings_something_or_waits_longer_may_be_opened_as_often_as_its_client_likes() {
    let refused = |_| "AT.1 GET S1 -> 503".to_owned();
    assert_eq!(opened(|_| 2, refused), ["unbounded-reconnect"]);
    let none: [&str; 0] = [];
    assert_eq!(opened(|n| 1 << n, refused), none, "the delay grows");
    let brings = |n: u32| match n {
        0 => "AT.1 GET S1 -> 200 sse progress 0 ends".to_owned(),
        n => format!("AT.1 GET S1 after {} -> 200 sse progress {n} ends", n - 1),
    };
    assert_eq!(opened(|_| 2, brings), none, "each brings an event");
    let lasts = |n: u32| format!("{}.5 GET S1 -> 200 sse cut", n * 40 + 72);
    assert_eq!(opened(|_| 40, lasts), none, "each lasts");
}

fn calls(events: &mut [Event]) -> impl Iterator<Item = &mut ToolCall> {
    events.iter_mut().filter_map(|event| {
        let What::Exchange(exchange) = &mut event.what else { return None };
        let Body::Messages(messages) = &mut exchange.request.body else { return None };
        let Some(Message::Request(request)) = messages.first_mut() else { return None };
        request.call.as_mut()
    })
}

/// A call that was cut and sent again, with `change` made to the story.
fn changed(change: impl FnOnce(&mut Vec<Event>)) -> Vec<String> {
    let mut story = notation::read(&format!(
        "{OPENED}1.0-2.0 POST S1 call pay #2 {{\"amount\":40}} -> 200 sse cut
         2.5-2.6 POST S1 call other #3 -> 200 answers #3
         3.0-4.0 POST S1 call pay #4 {{\"amount\":40}} -> 200 answers #4"
    ));
    change(&mut story.events);
    breaches(story)
}

#[test]
fn calls_that_are_not_known_to_be_the_same_are_none() {
    assert_eq!(changed(|_| {}), ["duplicate-invocation", "response-undelivered"]);
    let undelivered = ["response-undelivered"];
    let round = |events: &mut Vec<Event>| calls(events).last().expect("a call").round = Some([7; 16]);
    assert_eq!(changed(round), undelivered, "the next round of a multi-round request");
    let all = |arguments: Arguments| {
        move |events: &mut Vec<Event>| calls(events).for_each(|call| call.arguments = arguments.clone())
    };
    assert_eq!(changed(all(Arguments::Unreadable(Unreadable::Truncated))), undelivered, "cut off");
    assert_eq!(changed(all(Arguments::Absent)), undelivered, "not logged, and another call between");
}

#[test]
fn a_stream_of_which_no_end_is_told_may_still_be_going_on() {
    let mut story = notation::read(&format!("{OPENED}1.0 POST S1 call pay #2 {{\"amount\":40}} -> 200 sse"));
    let Some(What::Exchange(exchange)) = story.events.last_mut().map(|event| &mut event.what) else {
        panic!("an exchange")
    };
    exchange.end.cause = Cause::Unknown;
    assert!(breaches(story).is_empty());
}

#[test]
fn two_equal_calls_of_one_batch_are_no_repeat() {
    let mut story = notation::read(&format!(
        "{OPENED}1.0-1.0 POST S1 call pay #2 {{\"amount\":40}} version 2025-03-26 -> 200 sse cut"
    ));
    let Some(What::Exchange(exchange)) = story.events.last_mut().map(|event| &mut event.what) else {
        panic!("an exchange")
    };
    let Body::Messages(messages) = &mut exchange.request.body else { panic!("messages") };
    let mut second = messages[0].clone();
    let Message::Request(request) = &mut second else { panic!("a request") };
    request.id = Some(RpcId::Number("3".into()));
    messages.push(second);
    assert!(!breaches(story).contains(&"duplicate-invocation".to_owned()));
}

#[test]
fn a_line_that_was_delivered_twice_is_one() {
    let text = "1.0-2.0 POST S1 call pay #2 {\"amount\":40} -> 200 answers #2";
    let calls = |change: fn(&mut [Event])| {
        let mut story = notation::read(&format!("{OPENED}{text}\n{text}"));
        change(&mut story.events[1..]);
        judge(story.events, &["story".to_owned()]).1.calls
    };
    assert_eq!(calls(|_| {}), 1, "it says the same at the same moment");
    assert_eq!(calls(|events| name(events, ["a", "a"])), 1, "by one delivery");
    assert_eq!(calls(|events| name(events, ["a", "b"])), 2, "by two");
}

/// Gives events the ids of their deliveries.
fn name(events: &mut [Event], ids: [&str; 2]) {
    events.iter_mut().zip(ids).for_each(|(event, id)| event.keys.shipper = Some(id.into()));
}

#[test]
fn two_calls_of_one_moment_in_two_pieces_of_one_log_are_two() {
    let mut story = notation::read(&format!(
        "{OPENED}1.0-1.2 bare POST S1 call pay #2 {{\"amount\":40}} -> 200 sse cut
         1.0-1.2 bare POST S1 call pay #2 {{\"amount\":41}} -> 200 sse cut"
    ));
    story.events[2].origin.file = 1;
    let (_, counts) = judge(story.events, &["one".to_owned(), "two".to_owned()]);
    assert_eq!(counts.calls, 2);
}
