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

use crate::quick::{HashMap, HashSet};
use super::Case;
use crate::finding::{Certainty, Role};
use crate::proof::{Court, Draft, foreign, plain, request};
use crate::timeline::{Opening, Stream, Timeline};
use std::cell::OnceCell;
use unbroken_contract::breach::Breach;

pub(super) const BREACH: Breach = Breach::ReplayGap;
const HELP: &str = "replay every event after the cursor, or reject the cursor";

/// Ids with numbers one after the other, before they count as dense.
const DENSE: usize = 3;

pub(super) fn check(case: &Case<'_>, court: &mut Court<'_>) {
    let timeline = case.timeline;
    let numbers = OnceCell::new();
    for (index, stream) in timeline.streams.iter().enumerate() {
        if stream.openings.iter().all(|opening| opening.presented.is_none()) {
            continue;
        }
        let shown = shown(timeline, stream);
        let dense = Dense::of(stream, index, &|| numbers.get_or_init(|| Numbers::of(timeline)));
        for opening in &stream.openings {
            let Some(cursor) = opening.presented.as_deref() else { continue };
            let Some(first) = first_id(timeline, opening) else { continue };
            let found = match shown.get(&(cursor, first)) {
                Some((missing, by)) => Some(((*missing).to_owned(), Some(*by), Certainty::Proved)),
                None => dense.missing(opening, cursor, first).map(|missing| (missing, None, Certainty::Likely)),
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

#[cfg(test)]
thread_local! {
    /// Ids that were looked at, to tell how much work that was.
    pub(super) static LOOKS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// By cursor and event: an event that a resume from the cursor delivered before that one, and the resume. Looked at once for all
/// resumes of a stream, since thousands may present one cursor.
fn shown<'t>(timeline: &'t Timeline, stream: &'t Stream) -> HashMap<(&'t str, &'t str), (&'t str, usize)> {
    let mut shown = HashMap::default();
    for opening in &stream.openings {
        let Some(cursor) = opening.presented.as_deref() else { continue };
        let mut between = None;
        let mut before: HashSet<&str> = HashSet::default();
        for id in timeline.contacts[opening.contact].events().iter().filter(|event| event.has_data) {
            let Some(id) = id.id.as_deref() else { continue };
            #[cfg(test)]
            LOOKS.set(LOOKS.get() + 1);
            // What counts is where an event was delivered first.
            if before.insert(id)
                && let Some(between) = between
            {
                shown.entry((cursor, id)).or_insert((between, opening.contact));
            }
            between = between.or((id != cursor).then_some(id));
        }
    }
    shown
}

/// A stream's own numbers, as far as they go up one by one from its first id.
struct Dense<'t> {
    stream: &'t Stream,
    /// The number between the first two ids.
    counter: Option<Counter<'t>>,
    /// How many ids go on with it without a hole.
    ids: usize,
    /// Words beside the number name the stream, and no other stream of the client has such ids.
    own: bool,
}

impl<'t> Dense<'t> {
    fn of<'n>(stream: &'t Stream, index: usize, numbers: &dyn Fn() -> &'n Numbers<'t>) -> Self
    where
        't: 'n,
    {
        let id = |at: usize| &*stream.ids[at].0;
        let counter = (stream.ids.len() >= 2).then(|| Counter::between(id(0), id(1))).flatten();
        let counter = counter.filter(|counter| counter.step == 1);
        let goes_on = |at: &usize| {
            #[cfg(test)]
            LOOKS.set(LOOKS.get() + 1);
            let next = Counter::between(id(*at - 1), id(*at));
            counter.as_ref().zip(next).is_some_and(|(own, next)| next.same_place(own) && next.step == 1)
        };
        let ids = counter.as_ref().map_or(0, |_| 1 + (1..stream.ids.len()).take_while(goes_on).count());
        // Without words that name the stream the numbers may be the session's, or the whole server's.
        let own = counter.as_ref().filter(|counter| ids >= DENSE && counter.names_a_stream());
        let own = own.is_some_and(|counter| numbers().only(counter) == Some(index));
        Dense { stream, counter, ids, own }
    }

    /// The number that the sequence lacks between `cursor` and `first`.
    fn missing(&self, opening: &Opening, cursor: &str, first: &str) -> Option<String> {
        let before = self.stream.ids.partition_point(|(_, at)| *at < opening.contact);
        let counter = self.counter.as_ref()?;
        if !self.own || before < DENSE || before > self.ids || &*self.stream.ids[before - 1].0 != cursor {
            return None;
        }
        let ahead = Counter::between(cursor, first)?;
        (ahead.same_place(counter) && ahead.step > 1).then(|| ahead.with(ahead.from + 1))
    }
}

/// Which stream has ids that count in one place, by the words around the number.
struct Numbers<'t>(HashMap<(&'t str, &'t str), Option<usize>>);

impl<'t> Numbers<'t> {
    fn of(timeline: &'t Timeline) -> Self {
        let mut numbers = HashMap::default();
        for (index, stream) in timeline.streams.iter().enumerate() {
            for (id, _) in &stream.ids {
                #[cfg(test)]
                LOOKS.set(LOOKS.get() + 1);
                for around in numbers_of(id) {
                    let only = numbers.entry(around).or_insert(Some(index));
                    *only = only.filter(|only| *only == index);
                }
            }
        }
        Numbers(numbers)
    }

    /// The only stream with such ids, if it is the only one.
    fn only(&self, counter: &Counter<'_>) -> Option<usize> {
        *self.0.get(&(counter.head, counter.tail))?
    }
}

/// What stands around each number of an id.
fn numbers_of(id: &str) -> impl Iterator<Item = (&str, &str)> {
    let digit = |at: usize| id.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let starts = (0..id.len()).filter(move |at| digit(*at) && (*at == 0 || !digit(at - 1)));
    starts.map(move |from| {
        let to = (from..).find(|at| !digit(*at)).unwrap_or(id.len());
        (&id[..from], &id[to..])
    })
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
