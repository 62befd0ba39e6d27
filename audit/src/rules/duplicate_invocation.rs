//! A tool call that had reached a server was sent again with its outcome unknown.
//!
//! # What happens
//! A stream is cut while a tool works. The client takes the cut for a failure and sends the call again, on the same
//! session or on a new one. The first call goes on all the same.
//!
//! # Why it matters
//! Contract 3.6: after a cut the outcome is unknown, and only the same declared idempotency key, `readOnlyHint` or
//! `idempotentHint` makes a second send safe. Everything else may run twice: a card charged twice, a mail sent twice.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40,"to":"a"} -> 200 sse cut
//! 2.5-2.6 POST initialize #0 -> 200 opens S2
//! 2.7-3.0 POST S2 call pay #1 {"to":"a","amount":40} -> 200 answers #1
//! also response-undelivered, session-discarded
//! ```
//!
//! # Accepted
//! A refused call never ran; a call whose response came on a resumed stream is settled, and the next one is meant.
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-1.1 POST S1 call pay #2 {"amount":40} -> 404
//! 1.2-1.3 POST initialize #0 -> 200 opens S2
//! 1.4-1.9 POST S2 call pay #1 {"amount":40} -> 200 answers #1
//! ```
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse id e1 cut
//! 2.5-3.0 GET S1 after e1 -> 200 sse answers #2 ends
//! 5.0-5.5 POST S1 call pay #3 {"amount":40} -> 200 answers #3
//! ```
//! Equal calls at the same time are two wishes.
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 answers #2
//! 1.1-2.1 POST S1 call pay #3 {"amount":40} -> 200 answers #3
//! ```
//!
//! # Instead
//! Resume the stream with `Last-Event-ID` and wait for the response. Where that is impossible, ask what became of the
//! call before sending it again, or give every call an idempotency key that the server honours.
//!
//! # Limits
//! Without a server's completion records the second *send* is proved, not the second *run*. Across sessions two clients
//! behind one address with one program look like one client; `same_by` names what the finding rests on. Calls whose
//! arguments were cut off or redacted are never compared.
//!
//! How late an equal call still counts as a repeat: on another session within 300 s of the cut, and after 120 s it is
//! *possible* only; the same session, or an authenticated subject that names the client on both, makes it an hour from
//! send to send. Of a story of several sends the first cut counts for the 300 s; where a log does not tell how the
//! exchange ended, 120 s are added to the last moment at which it is known to have gone on. What comes later is taken for
//! a new wish and not reported. Calls of which only the tool is recorded are joined within 10 s, with no other call
//! between. Equal calls less than 50 ms apart, the first with no recorded end, are taken for parallel ones.

mod rerun;

use super::Case;
use super::response_undelivered::{self, is_undelivered};
use crate::event::{Arguments, Cause, Vantage};
use crate::finding::{Certainty, Role, SameBy, Step, Words};
use crate::pair::{Chain, Closeness, closeness};
use crate::proof::{Court, Draft, Print, answer, cut, foreign, plain, request};
use crate::timeline::close::id_text;
use crate::timeline::{Answered, Reached, Run, Send, Timeline};
use unbroken_contract::breach::{Breach, Level};
use unbroken_contract::era::Era;

pub(super) const BREACH: Breach = Breach::DuplicateInvocation;
const HELP: &str = "resume the stream, or ask for the outcome, before sending a call again";

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    for chain in case.chains.iter().filter(|chain| is_duplicate(case.timeline, chain)) {
        let mut draft = draft(case.timeline, chain, court);
        draft.linked = undelivered(case, chain);
        court.report(draft);
    }
    rerun::check(&case.timeline.unseen, court);
}

/// Whether an earlier send than the last is shown to have reached a server.
pub(super) fn is_duplicate(timeline: &Timeline, chain: &Chain) -> bool {
    let (_, earlier) = chain.sends.split_last().unwrap_or((&0, &[]));
    earlier.iter().any(|at| timeline.sends[*at].reached == Reached::Yes)
}

/// The findings that tell of the sends' responses (`response-undelivered`).
fn undelivered(case: &Case<'_>, chain: &Chain) -> Vec<String> {
    let last = chain.sends.last();
    let sends = chain.sends.iter().map(|at| (&case.timeline.sends[*at], last != Some(at)));
    let undelivered = sends.filter(|(send, repeated)| is_undelivered(case, send, *repeated));
    let print = |(send, _): (&Send, bool)| {
        let mut print = Print::default();
        response_undelivered::print(case, send, &mut print);
        print.finish(Breach::ResponseUndelivered)
    };
    undelivered.map(print).collect()
}

/// The fingerprint's facts: the same call, and every send of it.
pub(super) fn print(timeline: &Timeline, chain: &Chain, print: &mut Print) {
    let first = &timeline.sends[chain.sends[0]];
    print.text(&first.call.tool);
    if let Arguments::Canonical { digest, .. } = &first.call.arguments {
        print.text(&blake3::Hash::from_bytes(wide(digest)).to_hex());
    }
    for at in &chain.sends {
        let send = &timeline.sends[*at];
        print.contact(timeline, send.contact, send.id.as_ref());
    }
}

fn wide(digest: &[u8; 16]) -> [u8; 32] {
    let mut wide = [0; 32];
    wide[..16].copy_from_slice(digest);
    wide
}

fn draft(timeline: &Timeline, chain: &Chain, court: &Court<'_>) -> Draft {
    let sends: Vec<&Send> = chain.sends.iter().map(|at| &timeline.sends[*at]).collect();
    let first = sends[0];
    let ran = sends.iter().filter(|send| send.run.as_ref().is_some_and(Run::executed)).count();
    let mut message = vec![foreign(&first.call.tool)];
    message.push(plain(match ran {
        0 | 1 => {
            format!(" was sent again while the outcome of the first send was unknown ({} sends)", sends.len())
        }
        _ => format!(" was executed {ran} times for one call, sent {} times", sends.len()),
    }));
    let same_by = same_by(timeline, &sends);
    let (certainty, missing) = certainty(timeline, &sends, same_by);
    let mut draft = Draft::new(BREACH, certainty, message, HELP);
    // Stateless: a client must send again under a new id; the breach is that the first send may have run (contract 4). It
    // may be so where the revision is not told.
    if first.era.is_none_or(|era| era == Era::Stateless) && ran < 2 {
        draft.level = Some(Level::Warn);
    }
    draft.session = first.session.map(|at| timeline.sessions[at].id.clone());
    draft.tool = Some(first.call.tool.clone());
    draft.proof = sends.iter().flat_map(|send| story(timeline, send, court)).collect();
    draft.sends = sends.iter().map(|send| court.sent(timeline, send)).collect();
    draft.same_by = Some(same_by);
    draft.missing =
        missing.or((ran < 2).then_some("completion records of the server would show whether both ran"));
    print(timeline, chain, &mut draft.print);
    draft
}

fn same_by(timeline: &Timeline, sends: &[&Send]) -> SameBy {
    let session = sends[0].session;
    if session.is_some() && sends.iter().all(|send| send.session == session) {
        return SameBy::Session;
    }
    let trace = |send: &Send| timeline.contacts[send.contact].keys.trace.clone();
    let first = trace(sends[0]);
    if first.is_some() && sends.iter().all(|send| trace(send) == first) {
        return SameBy::Trace;
    }
    timeline.client.same_by()
}

fn certainty(timeline: &Timeline, sends: &[&Send], same_by: SameBy) -> (Certainty, Option<&'static str>) {
    let (last, earlier) = sends.split_last().unwrap_or((&sends[0], &[]));
    let bodies = earlier.iter().all(|send| timeline.contacts[send.contact].tells_bodies());
    let path = timeline.contacts[last.contact].exchange.path.as_deref();
    if sends.iter().any(|send| send.era.is_none()) {
        return (
            Certainty::Possible,
            Some("the protocol's revision, or a session, would show what the client had to do"),
        );
    }
    if timeline.client.is_nobody() && same_by == SameBy::OnlyClient {
        return (
            Certainty::Possible,
            Some("anything that names the client would show that one client sent both"),
        );
    }
    if last.call.arguments == Arguments::Absent {
        return (
            Certainty::Possible,
            Some("the arguments of both calls would show whether they are the same"),
        );
    }
    if sends.windows(2).any(|pair| closeness(timeline, pair[0], pair[1]) == Closeness::Far) {
        return (Certainty::Possible, Some("the client's own log would show that the last send is no new wish"));
    }
    // A capture beside a client has one; a log of a hop or a server that names nobody's address may have any number.
    let beside = |send: &&Send| {
        let nearest = timeline.contacts[send.contact].seen[0].vantage;
        matches!(nearest, Vantage::Client | Vantage::Capture)
    };
    let one = match same_by {
        SameBy::Session | SameBy::Subject | SameBy::Trace => true,
        SameBy::OnlyClient => sends.iter().all(beside),
        SameBy::Connection | SameBy::Client | SameBy::Address => false,
    };
    if !one {
        return (
            Certainty::Likely,
            Some("an authenticated subject or a trace id would show that one client sent both"),
        );
    }
    if !bodies {
        return (
            Certainty::Likely,
            Some("a log with response bodies would show that no response was delivered"),
        );
    }
    if !timeline.tools.listed(path, &last.call.tool) {
        return (
            Certainty::Likely,
            Some("the tool's hints (tools/list) would show whether a repeat is safe"),
        );
    }
    (Certainty::Proved, None)
}

/// What a handler did, and for which send: of several runs nobody could tell otherwise whose they are.
fn ran(send: &Send, what: &str) -> Words {
    let id = send.id.as_ref().map(|id| [plain(", for JSON-RPC id "), foreign(id_text(id))]);
    std::iter::once(plain(what)).chain(id.into_iter().flatten()).collect()
}

/// What happened to one send, in order.
pub(super) fn story(timeline: &Timeline, send: &Send, court: &Court<'_>) -> Vec<Step> {
    let contact = &timeline.contacts[send.contact];
    let mut steps = vec![court.step(contact, Role::Send, request(contact))];
    if let Some(run) = &send.run {
        for (moment, words) in [
            (run.effect, "the tool took effect"),
            (run.finished, "the tool finished"),
            (run.aborted, "the tool was stopped"),
        ] {
            if let Some((at, origin)) = moment {
                steps.push(Step {
                    exhibit: Some(court.exhibit(origin)),
                    at: Some(at),
                    role: Role::Run,
                    words: ran(send, words),
                });
            }
        }
    }
    let end = contact.end.or(contact.exchange.response.headers_at);
    let mut step = match send.answered {
        Answered::Own(_) => court.step(contact, Role::Deliver, vec![plain("its response was delivered")]),
        // A log without a status shows no refusal.
        _ if contact.exchange.status.is_none() => match contact.exchange.end.cause {
            Cause::Unknown => court.step(
                contact,
                Role::Deliver,
                vec![plain("what became of the exchange is not recorded")],
            ),
            _ => court.step(contact, Role::Cut, vec![plain(format!("the exchange was {}", cut(contact)))]),
        },
        _ if !contact.accepted() => court.step(contact, Role::Refuse, vec![plain(answer(contact))]),
        Answered::Unrecorded => court.step(
            contact,
            Role::Deliver,
            vec![plain("the exchange ended; whether with the response is not recorded")],
        ),
        _ => court.step(contact, Role::Cut, vec![plain(format!("the stream was {}", cut(contact)))]),
    };
    step.at = end.or(step.at);
    // How an exchange ended may be the word of another log than the one that tells of the exchange.
    steps.extend(court.noted(contact).filter(|_| step.role != Role::Deliver));
    steps.push(step);
    if let Answered::Later { contact: later, at, .. } = send.answered {
        let contact = &timeline.contacts[later];
        let mut step = court.step(contact, Role::Deliver, request(contact));
        step.words.push(plain(" delivered its response, too late"));
        step.at = Some(at);
        steps.push(step);
    }
    // A handler may run on after its stream was cut: the story is told in the order of time.
    steps.sort_by_key(|step| step.at);
    steps
}
