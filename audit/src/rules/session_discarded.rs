//! A session is dropped although the server never ended it.
//!
//! # What happens
//! A stream or request fails: a cut, a clean end before the response, a 5xx, a timeout. The client throws the session
//! away and sends `initialize`, although no 404, no DELETE and no rejected resume said that the session was over.
//!
//! # Why it matters
//! Contract section 1: a dropped connection says nothing about the session. With the session the client drops its
//! cursor and the only way to learn what became of the calls in flight; a repeat of them may run twice.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse id e1 cut
//! 2.5-2.6 POST initialize #0 -> 200 opens S2
//! also response-undelivered
//! ```
//!
//! A client that tries again and again, each time on a new session, is one story:
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse id e1 cut
//! 2.5-2.6 POST initialize #0 -> 200 opens S2
//! 3.0-4.0 POST S2 call pay #2 {"amount":40} -> 200 sse id e1 cut
//! 4.5-4.6 POST initialize #0 -> 200 opens S3
//! also response-undelivered, duplicate-invocation
//! ```
//!
//! # Accepted
//! The server ended it, or the client did; a client that opens a session per call suffered nothing.
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-1.1 POST S1 call pay #2 {"amount":40} -> 404
//! 1.2-1.3 POST initialize #0 -> 200 opens S2
//! ```
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-1.5 POST S1 call pay #2 {"amount":40} -> 200 answers #2
//! 2.0-2.1 POST initialize #0 -> 200 opens S2
//! ```
//!
//! # Instead
//! Keep the session id and the cursor through every transport failure; resume with `Last-Event-ID`. Initialize again only
//! on a 404 to a request that carried the id.
//!
//! # Limits
//! A client that died and started anew looks like one that dropped its session where the log does not tell who closed:
//! then the finding is *possible*. A new `initialize` of another user behind the same address looks the same too.
//! The `initialize` counts within 300 s of the cut, or within an hour of the request that was cut where an authenticated
//! subject names the client; after 120 s the finding is *possible* only. Where a log does not tell how the stream ended,
//! 120 s are added to the last moment at which it is known to have gone on. A client that comes back later is not reported.

use super::Case;
use crate::event::{Cause, Method, Nanos};
use crate::finding::{Certainty, Role, Step};
use crate::pair::{Closeness, HORIZON, PATIENCE, closeness_of};
use crate::proof::{Court, Draft, allowed, answer, cut, plain, request, session, who_ended};
use crate::quick::{HashMap, HashSet};
use crate::timeline::close::{behind_a_limit, classify};
use crate::timeline::{Answered, Session, Timeline};
use unbroken_contract::breach::Breach;
use unbroken_contract::close::Close;
use unbroken_contract::era::Era;

pub(super) const BREACH: Breach = Breach::SessionDiscarded;
/// Sessions of one loop that a proof shows, beside the last.
const MOST_SHOWN: usize = 4;
const HELP: &str = "keep the session through transport failures and initialize again only after a 404";

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    let tries = Tries::of(timeline);
    for story in stories(&tries, discards(timeline)) {
        let draft = draft(&tries, &story, court);
        court.report(draft);
    }
}

/// A session that was dropped, as indexes.
#[derive(Clone, Copy, Debug)]
struct Discard {
    session: usize,
    /// The contact whose close the client suffered.
    suffered: usize,
    /// The `initialize` after it.
    next: usize,
}

fn discards(timeline: &Timeline) -> Vec<Discard> {
    let of = |(session, held): (usize, &Session)| {
        let next = replacement(timeline, held)?;
        let suffered = suffered(timeline, held, timeline.contacts[next].start)?;
        Some(Discard { session, suffered, next })
    };
    timeline.sessions.iter().enumerate().filter_map(of).collect()
}

/// Puts the tries of one loop together: a session that took the place of a dropped one, and was dropped in its turn before it
/// had brought anything.
fn stories(tries: &Tries<'_>, mut discards: Vec<Discard>) -> Vec<Vec<Discard>> {
    let mut stories: Vec<Vec<Discard>> = Vec::new();
    // The story that goes on with the session which this `initialize` opened.
    let mut open: HashMap<usize, usize> = HashMap::default();
    discards.sort_by_key(|discard| discard.next);
    for discard in discards {
        let opened = tries.timeline.sessions[discard.session].opened.filter(|_| tries.holds(discard));
        let story = opened.and_then(|at| open.get(&at).copied());
        let story = story.unwrap_or_else(|| {
            stories.push(Vec::new());
            stories.len() - 1
        });
        stories[story].push(discard);
        open.insert(discard.next, story);
    }
    stories
}

/// Which sessions are but one more try of their client.
struct Tries<'t> {
    timeline: &'t Timeline,
    /// Sessions on which a call was answered, or may have been.
    fruitful: HashSet<usize>,
}

impl Tries<'_> {
    fn of(timeline: &Timeline) -> Tries<'_> {
        let answered = timeline.sends.iter().filter(|send| !send.unanswered());
        Tries { timeline, fruitful: answered.filter_map(|send| send.session).collect() }
    }

    /// It brought no answer to a call, and failed within the time that one wish lasts.
    fn holds(&self, discard: Discard) -> bool {
        let failed = self.timeline.contacts[discard.suffered].start;
        let first = self.timeline.sessions[discard.session].first;
        !self.fruitful.contains(&discard.session) && failed - first <= PATIENCE
    }
}

/// The `initialize` after which the client went on without the session held: nothing but streams, cancellations and a
/// DELETE uses it afterwards. A session that goes on beside another belongs to another worker of the client.
fn replacement(timeline: &Timeline, held: &Session) -> Option<usize> {
    let used = |at: &&usize| {
        let contact = &timeline.contacts[**at];
        contact.exchange.method == Method::Post && contact.cancels().next().is_none()
    };
    let last = *held.contacts.iter().rev().find(used)?;
    let after = timeline.initializes.partition_point(|at| *at <= last);
    timeline.initializes.get(after).copied().filter(|at| timeline.contacts[*at].session() != Some(&*held.id))
}

/// The close that the client suffered before `moment`, if the session was still its own and nothing made up for it.
fn suffered(timeline: &Timeline, held: &Session, moment: Nanos) -> Option<usize> {
    if held.healed {
        return None;
    }
    let mut suffered = None;
    for at in held.contacts.iter().copied().filter(|at| timeline.contacts[*at].start < moment) {
        let contact = &timeline.contacts[at];
        let Some(era) = timeline.eras[at].filter(|era| *era == Era::Sessioned) else { continue };
        if contact.session_in().is_none() {
            continue;
        }
        match classify(contact, era, true) {
            // The server or the client ended it, or the server refused in words of its own (contract section 5: a
            // tolerant client before a faulty server is no breach).
            Close::SessionTerminated
            | Close::Ended { .. }
            | Close::ResumeRejected { .. }
            | Close::EventsLost { .. } => {
                return None;
            }
            Close::Refused if contact.exchange.method == Method::Post => return None,
            // At a usual idle limit a hop that lost its client may stand behind one that cut both sides.
            Close::Abandoned if behind_a_limit(contact) && hurts(timeline, at) => suffered = Some(at),
            Close::Transport if hurts(timeline, at) && contact.known_until() <= moment => suffered = Some(at),
            // A request that went through shows that the client had its session still.
            Close::Completed if contact.requests().next().is_some() => suffered = None,
            _ => {}
        }
    }
    suffered.filter(|at| {
        let close = &timeline.contacts[*at];
        moment - close.start <= HORIZON && closeness_of(timeline, false, close, moment) != Closeness::Apart
    })
}

/// Whether a client loses something by this close: a request without its response, or a stream that it had to resume.
/// The end of a listening stream alone is daily business.
fn hurts(timeline: &Timeline, at: usize) -> bool {
    let contact = &timeline.contacts[at];
    match contact.exchange.method {
        Method::Post => {
            let mut calls = timeline.sends.iter().filter(|send| send.contact == at).peekable();
            match calls.peek() {
                Some(_) => {
                    calls.any(|send| !matches!(send.answered, Answered::Own(_) | Answered::Later { .. }))
                }
                None => true,
            }
        }
        Method::Get => !contact.accepted(),
        _ => false,
    }
}

/// How sure it is that the session was dropped, and whether who ended the exchange is told.
fn certainty(timeline: &Timeline, discard: Discard) -> (Certainty, bool) {
    let (close, again) = (&timeline.contacts[discard.suffered], &timeline.contacts[discard.next]);
    let dark = matches!(close.exchange.end.cause, Cause::UnknownCut | Cause::Unknown) && close.accepted();
    let told = !dark && !behind_a_limit(close);
    let near = closeness_of(timeline, false, close, again.start) == Closeness::Near;
    (if told && near { Certainty::Likely } else { Certainty::Possible }, told)
}

fn draft(tries: &Tries<'_>, story: &[Discard], court: &Court<'_>) -> Draft {
    let timeline = tries.timeline;
    let first = story[0];
    let held = &timeline.sessions[first.session];
    let mut message =
        vec![plain("session "), session(&held.id), plain(" was dropped although the server never ended it")];
    match story.len() - 1 {
        0 => {}
        1 => message.push(plain(", and one more after it")),
        more => message.push(plain(format!(", and {more} more after it"))),
    }
    // The story is as sure as its surest part.
    let surest = story.iter().rev().max_by_key(|discard| certainty(timeline, **discard).0);
    let surest = *surest.unwrap_or(&first);
    let (certainty, told) = certainty(timeline, surest);
    let mut draft = Draft::new(BREACH, certainty, message, HELP);
    draft.session = Some(held.id.clone());
    if let Some(opened) = held.opened {
        let contact = &timeline.contacts[opened];
        draft.proof.push(court.step(
            contact,
            Role::Initialize,
            vec![plain("session "), session(&held.id), plain(" was opened")],
        ));
    }
    for (at, discard) in story.iter().enumerate() {
        if at < MOST_SHOWN || at + 1 == story.len() {
            steps(timeline, *discard, court, &mut draft);
        } else if at == MOST_SHOWN {
            let more = format!("{} more were opened and dropped in the same way", story.len() - 1 - at);
            draft.proof.push(Step { exhibit: None, at: None, role: Role::Conclude, words: vec![plain(more)] });
        }
    }
    draft.same_by = Some(timeline.client.same_by());
    draft.missing = Some(if told {
        "the client's own log would show that it still ran"
    } else {
        who_ended(&timeline.contacts[surest.suffered])
    });
    draft.print.text(&held.id);
    draft.part_of = tries.holds(first).then(|| part(&held.id));
    let opened = story.iter().filter_map(|discard| timeline.contacts[discard.next].session());
    draft.parts = opened.map(part).collect();
    draft
}

/// By what a later part of the story is known as one: the session that took a dropped one's place.
fn part(session: &str) -> String {
    format!("{} {session}", BREACH.id())
}

/// One session's part of the proof.
fn steps(timeline: &Timeline, discard: Discard, court: &Court<'_>, draft: &mut Draft) {
    let (close, again) = (&timeline.contacts[discard.suffered], &timeline.contacts[discard.next]);
    draft.proof.push(court.step(close, Role::Send, request(close)));
    let ended = match close.exchange.status {
        None => format!("the exchange was {}", cut(close)),
        Some(_) if close.accepted() => format!("the stream was {}", cut(close)),
        Some(_) => answer(close),
    };
    let mut step = court.step(close, Role::Cut, vec![plain(ended)]);
    step.at = Some(close.known_until());
    draft.proof.push(step);
    draft.proof.extend(court.noted(close));
    draft.proof.push(court.step(
        again,
        Role::Initialize,
        vec![plain("the same client sent initialize, with no 404, DELETE or rejected resume between")],
    ));
    // Of a loop of tries, each may have been allowed the same.
    let said = |step: &Step| draft.proof.iter().any(|other| other.words == step.words);
    let step = allowed(timeline, discard.next).filter(|step| !said(step));
    draft.proof.extend(step);
}
