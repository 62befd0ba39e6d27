//! A resume skips an event that is proved to exist.
//!
//! # What happens
//! The client resumes after an event. The first event that comes is not the next one: another resume from the same place
//! brought one between, or the stream's numbers show that one is missing.
//!
//! # Why it matters
//! MCP, transports, resumability: the server replays the messages that would have been sent after the last event id. What
//! falls into the gap is lost, and the client cannot know it.
//!
//! # Flagged
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse progress s2_1 progress s2_2 progress s2_3 cut
//! 2.5-3.0 GET S1 after s2_3 -> 200 sse progress s2_5 answers #2 ends
//! ```
//! ```flagged
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse progress ea cut
//! 2.5-3.0 GET S1 after ea -> 200 sse progress ec cut
//! 3.5-4.0 GET S1 after ea -> 200 sse progress eb progress ec answers #2 ends
//! also cursor-regressed
//! ```
//!
//! # Accepted
//! Holes in numbers that several streams share are daily business.
//! ```accepted
//! 0.0-0.1 POST initialize #0 -> 200 opens S1
//! 1.0-2.0 POST S1 call pay #2 {"amount":40} -> 200 sse progress 1 progress 2 progress 3 cut
//! 2.5-3.0 GET S1 after 3 -> 200 sse progress 7 answers #2 ends
//! ```
//!
//! # Instead
//! Keep every event until no client can ask for it any more, and reject a cursor whose followers are gone.
//!
//! # Limits
//! Numbers prove a gap only where the rest of the id names the stream and the numbers had no hole before; even then the
//! number may have been given to an event that was never sent: *likely*.

use super::Case;
use crate::finding::{Certainty, Role};
use crate::proof::{Court, Draft, foreign, plain, request};
use crate::timeline::{Opening, Stream, Timeline};
use unbroken_contract::breach::Breach;

pub(super) const BREACH: Breach = Breach::ReplayGap;
const HELP: &str = "replay every event after the cursor, or reject the cursor";

/// Ids with numbers one after the other, before they count as dense.
const DENSE: usize = 3;

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    for (index, stream) in timeline.streams.iter().enumerate() {
        for (at, opening) in stream.openings.iter().enumerate() {
            let Some(cursor) = opening.presented.as_deref() else { continue };
            let Some(first) = first_id(timeline, opening) else { continue };
            let shown = shown_by_another(timeline, stream, at, cursor, first);
            let found = match shown {
                Some((missing, by)) => Some((missing, Some(by), Certainty::Proved)),
                None => by_number(timeline, index, stream, opening, cursor, first)
                    .map(|missing| (missing, None, Certainty::Likely)),
            };
            let Some((missing, by, certainty)) = found else { continue };
            if court.resumes.insert(opening.contact) {
                report(timeline, opening, first, (&missing, by, certainty), court);
            }
        }
    }
}

/// The id of the first event with data that an opening delivered.
fn first_id<'a>(timeline: &'a Timeline, opening: &Opening) -> Option<&'a str> {
    let mut events = timeline.contacts[opening.contact].events().iter();
    events.find(|event| event.has_data).and_then(|event| event.id.as_deref())
}

/// An event that another resume from the same cursor delivered before `first`.
fn shown_by_another(
    timeline: &Timeline,
    stream: &Stream,
    at: usize,
    cursor: &str,
    first: &str,
) -> Option<(String, usize)> {
    let others = stream
        .openings
        .iter()
        .enumerate()
        .filter(|(other, opening)| *other != at && opening.presented.as_deref() == Some(cursor));
    others.map(|(_, opening)| opening).find_map(|opening| {
        let events = timeline.contacts[opening.contact].events();
        let ids: Vec<&str> = events.iter().filter(|e| e.has_data).filter_map(|e| e.id.as_deref()).collect();
        let place = ids.iter().position(|id| *id == first)?;
        let between = ids[..place].iter().find(|id| **id != cursor)?;
        Some(((*between).to_owned(), opening.contact))
    })
}

/// The number that the stream's own dense sequence lacks between `cursor` and `first`.
fn by_number(
    timeline: &Timeline,
    index: usize,
    stream: &Stream,
    opening: &Opening,
    cursor: &str,
    first: &str,
) -> Option<String> {
    let before: Vec<&str> =
        stream.ids.iter().filter(|(_, at)| *at < opening.contact).map(|(id, _)| &**id).collect();
    if before.len() < DENSE || *before.last()? != cursor {
        return None;
    }
    let counter = Counter::between(before[before.len() - 2], cursor)?;
    let dense = before.windows(2).all(|pair| {
        Counter::between(pair[0], pair[1]).is_some_and(|c| c.same_place(&counter) && c.step == 1)
    });
    // Without words that name the stream the numbers may be the session's, or the whole server's.
    let own = counter.names_a_stream()
        && !timeline
            .streams
            .iter()
            .enumerate()
            .any(|(other, s)| other != index && s.ids.iter().any(|(id, _)| counter.counts(id)));
    let ahead = Counter::between(cursor, first)?;
    (dense && own && ahead.same_place(&counter) && ahead.step > 1).then(|| counter.with(ahead.from + 1))
}

/// The one number in which two ids differ, with what stands around it.
#[derive(Debug)]
struct Counter<'a> {
    head: &'a str,
    tail: &'a str,
    from: u64,
    step: u64,
}

impl<'a> Counter<'a> {
    fn between(a: &'a str, b: &str) -> Option<Counter<'a>> {
        let (mut same, bytes) = (a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count(), a.as_bytes());
        // The number begins where its digits do.
        while same > 0 && bytes[same - 1].is_ascii_digit() {
            same -= 1;
        }
        if !a.is_char_boundary(same) {
            return None;
        }
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let (rest, other) = (&a[same..], b.get(same..)?);
        let (n, m) = (digits(rest), digits(other));
        let (from, to): (u64, u64) = (rest[..n].parse().ok()?, other[..m].parse().ok()?);
        let step = to.checked_sub(from).filter(|step| *step > 0)?;
        (rest[n..] == other[m..]).then_some(Counter { head: &a[..same], tail: &rest[n..], from, step })
    }

    fn same_place(&self, other: &Counter<'_>) -> bool {
        self.head == other.head && self.tail == other.tail
    }

    fn names_a_stream(&self) -> bool {
        self.head.chars().chain(self.tail.chars()).any(char::is_alphanumeric)
    }

    fn counts(&self, id: &str) -> bool {
        let number = id.strip_prefix(self.head).and_then(|rest| rest.strip_suffix(self.tail));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    }

    fn with(&self, number: u64) -> String {
        format!("{}{number}{}", self.head, self.tail)
    }
}

fn report(
    timeline: &Timeline,
    opening: &Opening,
    first: &str,
    (missing, by, certainty): (&str, Option<usize>, Certainty),
    court: &mut Court<'_>,
) {
    let contact = &timeline.contacts[opening.contact];
    let message =
        vec![plain("a resume began with event "), foreign(first), plain(" and left out "), foreign(missing)];
    let mut draft = Draft::new(BREACH, certainty, message, HELP);
    draft.session = contact.session().map(Into::into);
    draft.proof.push(court.step(contact, Role::Resume, request(contact)));
    draft.proof.push(court.step(contact, Role::Deliver, vec![plain("the first event was "), foreign(first)]));
    if let Some(by) = by {
        let other = &timeline.contacts[by];
        let mut words = request(other);
        words.extend([plain(" delivered "), foreign(missing)]);
        draft.proof.push(court.step(other, Role::Deliver, words));
    } else {
        draft.missing = Some("the server's log would show whether an event had that number");
    }
    draft.print.text(missing).contact(timeline, opening.contact, None);
    court.report(draft);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_the_one_number_in_which_ids_differ() {
        let step = |a, b| Counter::between(a, b).map(|c| (c.step, c.names_a_stream()));
        assert_eq!(step("3/7", "4/7"), Some((1, true)));
        assert_eq!(step("s1_9", "s1_12"), Some((3, true)));
        assert_eq!(step("19", "20"), Some((1, false)));
        assert_eq!(step("4/7", "3/7"), None);
        assert_eq!(step("a", "b"), None);
        assert_eq!(step("é1", "è2"), None);
        assert_eq!(step("1", "1x"), None);
    }
}
