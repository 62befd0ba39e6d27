//! Wishes: the calls that a client's application asked for, and what it was told of them, by the client's own log.
//! Knows the client's word alone; whether that word was true is for the rules.

use super::Timeline;
use super::run::alike;
use crate::event::{LifecycleStep, Message, Nanos, Origin, ToolCall, Vantage};
use crate::join::Joined;
use crate::join::process::Processes;
use std::collections::BTreeMap;

/// One call that an application asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    /// The call.
    pub call: ToolCall,
    /// When it asked.
    pub at: Nanos,
    /// Where that is recorded.
    pub origin: Origin,
    /// When it was told a result; only where no other call of the process was open.
    /// Otherwise no log says which of them was meant.
    pub returned: Option<(Nanos, Origin)>,
    /// When it was told of a failure.
    pub failed: Option<(Nanos, Origin)>,
    /// The last word of the same process.
    pub alive_until: Nanos,
    /// How many of the process' wishes were never told an outcome, whichever those are.
    pub untold: usize,
}

/// What a client's log says, by process, in order.
enum Word<'a> {
    Asked(&'a ToolCall),
    Told { failed: bool },
    Other,
}

/// What each process said.
type Words<'a> = BTreeMap<usize, Vec<(Nanos, Origin, Word<'a>)>>;

/// Gathers the wishes of all clients' own logs, in order.
pub(super) fn gather(joined: &Joined) -> Vec<Wish> {
    let processes = Processes::of(joined);
    let mut by_process = Words::new();
    let client = |vantage: Vantage| vantage == Vantage::Client;
    for told in joined.messages.iter().filter(|told| client(told.vantage)) {
        let word = match &told.what.message {
            // A message with an id is the SDK's on the wire; the application asks before there is one.
            Message::Request(request) if request.id.is_none() => match &request.call {
                Some(call) => Word::Asked(call),
                None => Word::Other,
            },
            _ => Word::Other,
        };
        let key = processes.at(told.origin.file, &told.instance);
        by_process.entry(key).or_default().push((told.at, told.origin, word));
    }
    for told in joined.steps.iter().filter(|told| client(told.vantage)) {
        let word = match told.what.step {
            LifecycleStep::CallReturned => Word::Told { failed: false },
            LifecycleStep::CallFailed => Word::Told { failed: true },
            _ => Word::Other,
        };
        let key = processes.at(told.origin.file, &told.instance);
        by_process.entry(key).or_default().push((told.at, told.origin, word));
    }
    let mut wishes: Vec<Wish> = by_process.into_values().flat_map(of_process).collect();
    wishes.sort_by_key(|wish| wish.at);
    wishes
}

/// One process' wishes. Of several that are open at once no log says which of them an outcome is for.
fn of_process(mut words: Vec<(Nanos, Origin, Word<'_>)>) -> Vec<Wish> {
    // Sorting keeps the order of events for words of one moment: what was asked stands before what was told.
    words.sort_by_key(|(at, ..)| *at);
    settle_moments(&mut words);
    let alive_until = words.last().map_or(0, |(at, ..)| *at);
    let (mut wishes, mut open, mut told): (Vec<Wish>, Vec<usize>, usize) = (Vec::new(), Vec::new(), 0);
    for (at, origin, word) in words {
        match word {
            Word::Asked(call) => {
                open.push(wishes.len());
                let call = call.clone();
                wishes.push(Wish { call, at, origin, returned: None, failed: None, alive_until, untold: 0 });
            }
            Word::Told { failed } => {
                if let [only] = open[..] {
                    let slot = if failed { &mut wishes[only].failed } else { &mut wishes[only].returned };
                    *slot = Some((at, origin));
                    open.clear();
                }
                told += 1;
            }
            Word::Other => {}
        }
    }
    let untold = wishes.len().saturating_sub(told);
    wishes.iter_mut().for_each(|wish| wish.untold = untold);
    wishes
}

/// Puts words of one moment in an order that can be: where a call is open, its outcome was told before the next was asked.
fn settle_moments(words: &mut [(Nanos, Origin, Word<'_>)]) {
    let mut open = 0_usize;
    for group in words.chunk_by_mut(|one, other| one.0 == other.0) {
        let told_first = open > 0;
        group.sort_by_key(|(.., word)| match word {
            Word::Told { .. } => u8::from(!told_first) * 2,
            Word::Asked(_) => 1,
            Word::Other => 3,
        });
        for (.., word) in group.iter() {
            match word {
                Word::Asked(_) => open += 1,
                Word::Told { .. } => open = open.saturating_sub(1),
                Word::Other => {}
            }
        }
    }
}

/// How far an application's word and the request that follows it lie apart: connecting, queueing, clocks of one host.
const NEAR: Nanos = 2_000_000_000;

/// Gives every wish to the first send that fits and has none.
pub(super) fn assign(timelines: &mut [Timeline], wishes: Vec<Wish>) {
    for wish in wishes {
        let sends = timelines.iter_mut().flat_map(|timeline| &mut timeline.sends);
        let fitting = sends.filter(|send| {
            let near = (wish.at - NEAR..=wish.at + NEAR).contains(&send.start);
            near && send.wish.is_none() && send.call.tool == wish.call.tool && alike(&send.call, &wish.call)
        });
        if let Some(send) =
            fitting.min_by_key(|send| ((send.start - wish.at).abs(), send.start, send.contact))
        {
            send.wish = Some(wish);
        }
    }
}
