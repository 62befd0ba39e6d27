//! A finding in code: the lines that matter with labels in the order of the story, drawn by miette.
//! Knows no log and reads no file itself.

use super::ink;
use crate::exhibit::Range;
use crate::finding::{Finding, Step, Subject};
use crate::render::Sources;
use crate::render::paint::Paint;
use crate::unprintable::{blot, escape};
use crate::words::Piece;
use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents,
    Severity, SourceCode, SourceSpan, SpanContents,
};
use std::fmt;
use unbroken_contract::Level;

/// Unlabelled lines that are shown between two labels rather than left out.
const MOST_BETWEEN: usize = 6;
/// Lines of a labelled range that are shown; of a longer one the label stands on its first line.
const MOST_LABELLED: u32 = 12;

/// Draws a finding of the lint, without the advice that ends it.
pub(super) fn draw(finding: &Finding, paint: Paint, sources: &Sources) -> String {
    let Some(place) = &finding.place else { return plain(finding, paint) };
    let Some(source) = sources(&place.path) else { return plain(finding, paint) };
    let source = blot(&source).into_owned();
    let steps: Vec<&Step> = finding.proof.iter().collect();
    let story = Story {
        code: header(finding),
        message: text(&finding.message.0),
        severity: severity(finding.level),
        labels: labels(finding, &steps, &place.path, &source),
        source: Excerpt { name: escape(&place.path).into_owned(), text: source },
    };
    let theme = match (paint.color, paint.unicode) {
        (true, true) => GraphicalTheme::unicode(),
        (false, true) => GraphicalTheme::unicode_nocolor(),
        (true, false) => {
            GraphicalTheme { characters: miette::ThemeCharacters::ascii(), ..GraphicalTheme::unicode() }
        }
        (false, false) => GraphicalTheme::none(),
    };
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(paint.width)
        .with_links(false)
        .with_context_lines(1);
    let mut out = String::new();
    if handler.render_report(&mut out, &story).is_err() {
        // miette refuses spans outside of the source: the file changed since it was checked.
        return plain(finding, paint);
    }
    let mut out = linked(&out, &place.path, paint);
    elsewhere(&steps, &place.path, paint, &mut out);
    out
}

/// The drawing with a link on the place in each frame's first line: miette links documentation only.
fn linked(drawing: &str, path: &str, paint: Paint) -> String {
    let open = paint.either("╭─[", ",-[");
    let mut out = String::with_capacity(drawing.len());
    for line in drawing.split_inclusive('\n') {
        // Before a frame stands nothing; colours may. Source comes after its number, so it cannot pass for one.
        let frame = line.find(open).filter(|at| bare(&line[..*at]).trim().is_empty());
        let place = frame
            .map(|at| at + open.len())
            .and_then(|start| Some((start, line.rfind(']').filter(|end| *end >= start)?)));
        match place {
            Some((start, end)) => {
                out.extend([&line[..start], &paint.link(&line[start..end], path), &line[end..]]);
            }
            None => out.push_str(line),
        }
    }
    out
}

/// Text without the escapes that set colours.
fn bare(text: &str) -> String {
    let mut pieces = text.split('\u{1b}');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |all, piece| all + piece.split_once('m').map_or("", |(_, rest)| rest))
}

/// `deny[session-discarded], proved, in Client::read`: what it is before what happened.
fn header(finding: &Finding) -> String {
    let item = match &finding.subject {
        Subject::Item(item) if !item.is_empty() => format!(", in {}", escape(item)),
        _ => String::new(),
    };
    format!("{}[{}], {}{item}", finding.level, finding.breach, finding.certainty.id())
}

/// The labels in the offending file, numbered where there are several: the order of the story is
/// seldom that of the lines.
fn labels(finding: &Finding, steps: &[&Step], path: &str, source: &str) -> Vec<LabeledSpan> {
    let starts = line_starts(source);
    let mut labels: Vec<LabeledSpan> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        let Some(range) = step
            .exhibit
            .as_ref()
            .filter(|exhibit| exhibit.path == path)
            .and_then(|exhibit| exhibit.spot.range())
        else {
            continue;
        };
        let Some((start, length)) = span(source, &starts, shortened(range)) else { continue };
        let label = Some(number(index, steps.len(), &text(&step.words.0)));
        labels.push(if index == 0 {
            LabeledSpan::new_primary_with_span(label, (start, length))
        } else {
            LabeledSpan::new_with_span(label, (start, length))
        });
    }
    if labels.is_empty() {
        let range = finding.place.as_ref().and_then(|place| place.spot.range());
        if let Some(at) = range.and_then(|range| span(source, &starts, shortened(range))) {
            labels.push(LabeledSpan::new_primary_with_span(None, at));
        }
    }
    labels
}

/// Labels that stand in other files, one line each.
fn elsewhere(steps: &[&Step], path: &str, paint: Paint, out: &mut String) {
    for (index, step) in steps.iter().enumerate() {
        if let Some(exhibit) = step.exhibit.as_ref().filter(|exhibit| exhibit.path != path) {
            let head =
                format!("  {} {} ", paint.either("·", "-"), paint.place(&exhibit.to_string(), Some(exhibit)));
            let used = 5 + exhibit.to_string().chars().count();
            let words = format!("({}) {}", index + 1, text(&step.words.0));
            paint.wrap(out, &head, "      ", used.min(paint.width / 2), &words);
        }
    }
}

/// Without the source: the places alone.
fn plain(finding: &Finding, paint: Paint) -> String {
    let mut out = format!("{}\n\n", paint.ink(ink(finding.level), &header(finding)));
    paint.wrap(&mut out, "  x ", "    ", 4, &text(&finding.message.0));
    for (index, step) in finding.proof.iter().enumerate() {
        let place = step.exhibit.as_ref().map(ToString::to_string).unwrap_or_default();
        paint.wrap(
            &mut out,
            "    ",
            "      ",
            6,
            &format!("{place} {}", number(index, finding.proof.len(), &text(&step.words.0))),
        );
    }
    out
}

fn number(index: usize, of: usize, text: &str) -> String {
    if of > 1 { format!("{}. {text}", index + 1) } else { text.to_owned() }
}

/// Words of the lint hold no secrets, only text of the source.
fn text(pieces: &[Piece]) -> String {
    let joined: String = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Plain(text) | Piece::Foreign(text) => text.as_str(),
            Piece::Session(_) | Piece::Arguments(_) | Piece::Identity(_) => "(hidden)",
        })
        .collect();
    escape(&joined).into_owned()
}

fn severity(level: Level) -> Severity {
    match level {
        Level::Deny => Severity::Error,
        Level::Warn => Severity::Warning,
        Level::Note => Severity::Advice,
    }
}

fn line_starts(source: &str) -> Vec<usize> {
    std::iter::once(0).chain(source.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

/// A range of many lines, cut at the end of its first: miette prints every line of a label.
fn shortened(range: Range) -> Range {
    if range.end_line.saturating_sub(range.line) < MOST_LABELLED {
        return range;
    }
    Range { end_line: range.line, end_column: u32::MAX, ..range }
}

/// Byte offset and length of a range, cut at the end of the source; `None` where it starts beyond.
fn span(source: &str, starts: &[usize], range: Range) -> Option<(usize, usize)> {
    let offset = |line: u32, column: u32| -> Option<usize> {
        let start = *starts.get(usize::try_from(line).ok()?.checked_sub(1)?)?;
        let line = source[start..].split('\n').next().unwrap_or_default();
        let within = line
            .char_indices()
            .nth(usize::try_from(column).ok()?.saturating_sub(1))
            .map_or(line.len(), |(at, _)| at);
        Some(start + within)
    };
    let start = offset(range.line, range.column)?;
    let end = offset(range.end_line, range.end_column).unwrap_or(source.len()).max(start);
    Some((start, end - start))
}

/// The source as miette reads it, so that labels far apart are drawn in frames of their own.
#[derive(Debug)]
struct Excerpt {
    name: String,
    text: String,
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let read = self.text.read_span(span, before, after)?;
        // miette draws what lies between two labels if the first one's lines reach the second one's, and counts them
        // from the start of the file.
        let lines = read.data().iter().filter(|byte| **byte == b'\n').count() + MOST_BETWEEN - 2;
        let (data, span, line, column) = (read.data(), *read.span(), read.line(), read.column());
        Ok(Box::new(MietteSpanContents::new_named(self.name.clone(), data, span, line, column, lines)))
    }
}

#[derive(Debug)]
struct Story {
    code: String,
    message: String,
    severity: Severity,
    labels: Vec<LabeledSpan>,
    source: Excerpt,
}

impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Story {}

impl Diagnostic for Story {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(&self.code))
    }

    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }
}
