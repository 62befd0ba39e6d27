//! A call reached a server and its response was never delivered.
//!
//! # What happens
//! The stream of a `tools/call` ended before the response, and no later stream delivered it. The tool may have run; the
//! client does not know.
//!
//! # Why it matters
//! Contract section 1: the outcome of a call is known only when its response was delivered. Whatever the client does
//! next rests on a guess.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse cut
//! ```
//!
//! # Accepted
//! The response came on the resumed stream; the client itself gave the call up.
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse id e1 cut
//! 2.5-3.0 GET S1 after e1 -> 200 sse answers #2 ends
//! ```
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse closed
//! 2.0-2.1 POST S1 cancel #2 -> 202
//! ```
//!
//! # Instead
//! Server: send an event with an id at once and keep events, so that a stream can be resumed. Client: resume with
//! `Last-Event-ID`. Proxy: raise the idle timeout of streams, or let the server send keep-alives.
//!
//! # Limits
//! A capture does not always tell who closed a stream; then the finding is *likely*. Without response bodies it rests on
//! byte counts and on the proxy's word for how the stream ended; where nothing but a length like that of a usual idle timeout
//! speaks for a cut, it is *possible*. A call whose stream the client itself closed, or that it cancelled, and that it
//! never sent again, is not reported, also where the server's log shows that the tool finished: it may have been given
//! up on purpose. Sent again within the time that `duplicate-invocation` allows, it is reported.

use crate::quick::HashMap;
use super::Case;
use super::call_retried_by_proxy::deliveries;
use super::duplicate_invocation::{self, is_duplicate};
use crate::event::Cause;
use crate::finding::{Certainty, Role, Step};
use crate::proof::{Court, Draft, Print, cut, foreign, plain, request, who_ended};
use crate::timeline::close::{by_length_alone, id_text};
use crate::timeline::unseen::Unsent;
use crate::timeline::{Answered, Reached, Run, Send};
use unbroken_contract::breach::Breach;

pub(super) const BREACH: Breach = Breach::ResponseUndelivered;
const HELP: &str = "make the stream resumable and resume it, and keep proxies from cutting idle streams";

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    // The duplicate that a chain is, by the chain's place: a chain is looked at once, not once for each of its sends.
    let mut duplicates: HashMap<usize, Option<String>> = HashMap::default();
    for (at, send) in case.timeline.sends.iter().enumerate() {
        let chain = case.chain_of.get(&at).copied();
        let repeated = chain.is_some_and(|chain| case.chains[chain].sends.last() != Some(&at));
        if !is_undelivered(case, send, repeated) {
            continue;
        }
        let duplicate = |chain| duplicates.entry(chain).or_insert_with(|| duplicate(case, chain)).clone();
        let duplicate = chain.and_then(duplicate);
        let mut draft = draft(case, send, repeated, court);
        if repeated && duplicate.is_some() {
            let words = vec![plain("the call was sent again: duplicate-invocation tells that part of the story")];
            draft.proof.push(Step { exhibit: None, at: None, role: Role::Conclude, words });
        }
        draft.linked.extend(duplicate);
        court.report(draft);
    }
    for unsent in &case.timeline.unseen.unsent {
        court.report(nobody_there(unsent, court));
    }
}

/// The finding that a chain is, if it is a duplicate.
fn duplicate(case: &Case<'_>, chain: usize) -> Option<String> {
    let chain = &case.chains[chain];
    is_duplicate(case.timeline, chain).then(|| {
        let mut print = Print::default();
        duplicate_invocation::print(case.timeline, chain, &mut print);
        print.finish(Breach::DuplicateInvocation)
    })
}

/// A server's own word that a response had nobody to go to.
fn nobody_there(unsent: &Unsent, court: &Court<'_>) -> Draft {
    let mut message = vec![plain("a response")];
    if let Some(id) = &unsent.id {
        message.extend([plain(" to JSON-RPC id "), foreign(id_text(id))]);
    }
    message.push(plain(" was ready and nobody was connected to take it"));
    let mut draft = Draft::new(BREACH, Certainty::Likely, message.clone(), HELP);
    draft.session.clone_from(&unsent.session);
    let exhibit = Some(court.exhibit(unsent.origin));
    draft.proof.push(Step { exhibit, at: Some(unsent.at), role: Role::Run, words: message });
    draft.missing = Some("a log of the exchanges would show whether a resumed stream delivered it later");
    draft.print.text(unsent.session.as_deref().unwrap_or_default());
    draft.print.text(unsent.id.as_ref().map_or("", id_text)).text(&unsent.at.to_string());
    draft
}

pub(super) fn is_undelivered(case: &Case<'_>, send: &Send, repeated: bool) -> bool {
    let contact = &case.timeline.contacts[send.contact];
    // What the client gave up on purpose it does not miss; one that sends the call again shows that it did miss it.
    let given_up = (send.aborted || send.cancelled.is_some()) && !repeated;
    // A stream of which nothing tells that it ended may still be going on when the log ends.
    let over = contact.exchange.end.cause != Cause::Unknown || contact.end.is_some();
    send.era.is_some()
        && send.reached == Reached::Yes
        && send.answered == Answered::Never
        && !given_up
        && over
        && deliveries(contact).is_none()
}

fn draft(case: &Case<'_>, send: &Send, repeated: bool, court: &Court<'_>) -> Draft {
    let timeline = case.timeline;
    let contact = &timeline.contacts[send.contact];
    let ran = send.run.as_ref().is_some_and(Run::executed);
    let message = vec![
        plain("the response to "),
        // A log may cut a call off before its tool.
        if send.call.tool.is_empty() { plain("a tool call") } else { foreign(&send.call.tool) },
        plain(if ran { " was never delivered although it ran" } else { " was never delivered" }),
    ];
    let known = !matches!(contact.exchange.end.cause, Cause::UnknownCut | Cause::Unknown);
    let certainty = match known && contact.tells_bodies() {
        true => Certainty::Proved,
        // A client that sends the call again says itself that it missed the response.
        false if !repeated && by_length_alone(contact, send.id.as_ref()) => Certainty::Possible,
        false => Certainty::Likely,
    };
    let mut draft = Draft::new(BREACH, certainty, message, HELP);
    draft.session = send.session.map(|at| timeline.sessions[at].id.clone());
    draft.tool = Some(send.call.tool.clone());
    draft.proof = duplicate_invocation::story(timeline, send, court);
    if let Some(cancelled) = send.cancelled {
        let contact = &timeline.contacts[cancelled];
        draft.proof.push(court.step(contact, Role::Send, request(contact)));
    }
    draft.proof.push(Step {
        exhibit: None,
        at: None,
        role: Role::Conclude,
        words: vec![plain(format!("{}: no later stream delivered it", cut(contact)))],
    });
    draft.missing = match (known, contact.tells_bodies()) {
        (false, _) => Some(who_ended(contact)),
        (true, false) => Some("a log with response bodies would show what was delivered"),
        (true, true) => None,
    };
    print(case, send, &mut draft.print);
    draft
}

/// The fingerprint's facts: the send.
pub(super) fn print(case: &Case<'_>, send: &Send, print: &mut Print) {
    print.contact(case.timeline, send.contact, send.id.as_ref());
}
