//! A proof as a sequence diagram: who stands where, what went from whom to whom, in which row.
//! Knows no markup and no colour.

use super::cast::{Cast, recorded_with};
use crate::finding::{Finding, Role, Step};
use crate::render::moment;
use crate::render::voice::Voice;
use std::collections::BTreeMap;

/// Units between two rows.
const ROW: u32 = 38;
/// Where the first row's arrow lies.
const TOP: u32 = 74;
/// Where the client's lane lies, right of the times.
pub(super) const CLIENT: u32 = 150;
/// Where the last server's lane lies.
pub(super) const LAST: u32 = 610;
/// Units of the whole drawing across.
pub(super) const WIDTH: u32 = 760;
/// Units of ten letters of a label.
const LETTERS: u32 = 62;
/// Rows drawn; a longer story is drawn by its beginning and its end.
const MOST_ROWS: usize = 40;
/// Streams drawn side by side on the client's lane.
const MOST_BARS: u32 = 4;

/// A drawing.
pub(super) struct Diagram {
    pub(super) height: u32,
    pub(super) lanes: Vec<Lane>,
    pub(super) bars: Vec<Bar>,
    pub(super) rows: Vec<Row>,
}

/// Somebody who takes part.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lane {
    pub(super) x: u32,
    pub(super) name: String,
}

/// An exchange from its request to its last step, beside the client's lane.
pub(super) struct Bar {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) height: u32,
    pub(super) session: usize,
}

/// What is drawn in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// From one lane to another.
    Arrow,
    /// From the server's side, and broken before it arrives.
    Cut,
    /// On one lane.
    Box,
    /// Steps that are left out.
    Gap,
}

/// One step.
pub(super) struct Row {
    pub(super) shape: Shape,
    /// Number of the step in the list below the drawing.
    pub(super) number: usize,
    pub(super) role: &'static str,
    pub(super) y: u32,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) time: String,
    pub(super) label: Label,
    /// Everything that the label may have lost.
    pub(super) full: String,
    /// Which of the story's sessions, for the colour: 0 is none.
    pub(super) session: usize,
}

/// What happened, as the drawing has room for it.
pub(super) struct Label {
    pub(super) text: String,
    /// Its middle, or its start.
    pub(super) x: u32,
    pub(super) from_start: bool,
    /// Units that it takes.
    pub(super) width: u32,
}

impl Label {
    /// In the middle between two lanes where it fits there; else it starts at the left one and may go on to the edge. One
    /// that stands on a lane stays in the middle of it.
    fn place(full: &str, from: u32, to: u32) -> Label {
        let width =
            |text: &str| u32::try_from(text.chars().count()).unwrap_or(u32::MAX / LETTERS) * LETTERS / 10;
        let cut = |room: u32| short(full, (room * 10 / LETTERS) as usize);
        let (x, from_start, text) = if from == to {
            (from, false, cut(2 * (WIDTH - LAST) - 28))
        } else if width(full) <= from.abs_diff(to) {
            (from.midpoint(to), false, full.to_owned())
        } else {
            let start = from.min(to) + 6;
            (start, true, cut(WIDTH - 4 - start))
        };
        Label { width: width(&text), text, x, from_start }
    }
}

impl Row {
    /// Middle between its ends.
    pub(super) fn middle(&self) -> u32 {
        self.from.midpoint(self.to)
    }
}

/// The drawing of a finding in traffic; `None` where no step is one of traffic.
pub(super) fn draw(finding: &Finding, voice: &Voice<'_>) -> Option<Diagram> {
    let steps: Vec<(usize, &Step)> =
        finding.proof.iter().enumerate().filter(|(_, step)| traffic(step.role)).collect();
    if steps.is_empty() {
        return None;
    }
    let cast = Cast::of(&steps);
    let sessions = sessions(&steps);
    let mut rows: Vec<Row> = Vec::new();
    let hidden = steps.len().saturating_sub(MOST_ROWS);
    for (index, (number, step)) in steps.iter().enumerate() {
        let kept = hidden == 0 || !(MOST_ROWS / 2..MOST_ROWS / 2 + hidden).contains(&index);
        let y = TOP + u32::try_from(rows.len()).unwrap_or(u32::MAX / ROW) * ROW;
        if kept {
            let label = label(finding, step, voice);
            rows.push(row(index, *number, step, (y, label), (&cast, sessions[index])));
        } else if index == MOST_ROWS / 2 {
            rows.push(gap(hidden, y));
        }
    }
    let bars = bars(&steps, &rows);
    let height = TOP + u32::try_from(rows.len()).unwrap_or(0) * ROW;
    Some(Diagram { height, lanes: cast.lanes(), bars, rows })
}

fn traffic(role: Role) -> bool {
    !matches!(role, Role::Offence | Role::Context | Role::Conclude)
}

/// Per step: the number of its session in the story, from 1. A step that names none has the one of its exchange.
fn sessions(steps: &[(usize, &Step)]) -> Vec<usize> {
    let mut order: Vec<&str> = Vec::new();
    let mut of: Vec<usize> = Vec::with_capacity(steps.len());
    for (index, (_, step)) in steps.iter().enumerate() {
        let inherited = || steps[..index].iter().rposition(|(_, other)| recorded_with(other, step));
        let number = match step.words.sessions().next() {
            Some(id) => {
                let at = order.iter().position(|other| *other == id).unwrap_or_else(|| {
                    order.push(id);
                    order.len() - 1
                });
                at + 1
            }
            None => inherited().map_or(0, |at| of[at]),
        };
        of.push(number);
    }
    of
}

fn row(index: usize, number: usize, step: &Step, drawn: (u32, String), of: (&Cast, usize)) -> Row {
    let (y, full) = drawn;
    let (cast, session) = of;
    let (near, server) = (cast.near(index), cast.server(index));
    let (shape, from, to) = match step.role {
        Role::Deliver | Role::Refuse => (Shape::Arrow, server, near),
        Role::Cut => (Shape::Cut, server, near),
        Role::Run => (Shape::Box, server, server),
        _ => (Shape::Arrow, near, server),
    };
    Row {
        shape,
        number: number + 1,
        role: step.role.id(),
        y,
        from,
        to,
        time: step.at.map_or_else(String::new, moment::time_of_day),
        label: Label::place(&full, from, to),
        full,
        session,
    }
}

fn gap(hidden: usize, y: u32) -> Row {
    let full = format!("{hidden} further steps");
    let (role, label, time) = ("gap", Label::place(&full, CLIENT, LAST), String::new());
    Row { shape: Shape::Gap, number: 0, role, y, from: CLIENT, to: LAST, time, label, full, session: 0 }
}

/// `first send: POST tools/call …` for the sends of a repeated call, else what happened.
fn label(finding: &Finding, step: &Step, voice: &Voice<'_>) -> String {
    let said = voice.say(&step.words);
    let send = finding
        .sends
        .iter()
        .position(|sent| step.role == Role::Send && step.exhibit.as_ref() == Some(&sent.exhibit));
    match send {
        Some(at) => format!("send {}: {said}", at + 1),
        None => said,
    }
}

/// One bar per exchange that has several steps, beside each other where they overlap.
fn bars(steps: &[(usize, &Step)], rows: &[Row]) -> Vec<Bar> {
    let by_number: BTreeMap<usize, &Row> = rows.iter().map(|row| (row.number, row)).collect();
    let mut spans: Vec<(u32, u32, usize)> = Vec::new();
    for (index, (number, step)) in steps.iter().enumerate() {
        if step.exhibit.is_none() || steps[..index].iter().any(|(_, other)| recorded_with(other, step)) {
            continue;
        }
        let last = steps.iter().rfind(|(_, other)| recorded_with(other, step)).map_or(*number, |last| last.0);
        if let (Some(first), Some(last)) = (by_number.get(&(number + 1)), by_number.get(&(last + 1)))
            && last.y > first.y
        {
            spans.push((first.y, last.y, first.session));
        }
    }
    let mut ends = [0_u32; MOST_BARS as usize];
    let mut bars = Vec::new();
    for (y, end, session) in spans {
        let free = ends.iter().position(|taken| *taken < y).unwrap_or(ends.len() - 1);
        ends[free] = end;
        let x = CLIENT - 4 - 7 * u32::try_from(free).unwrap_or(0);
        bars.push(Bar { x, y, height: end - y, session });
    }
    bars
}

/// `text` in at most `most` letters, the loss marked.
pub(super) fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}
