//! One Rust file: whether it can matter, whether it is safe to parse, and its syntax tree.
//! Reads no disk; knows no fact.

mod nesting;

use crate::facts::{FileFacts, lower_file};
use crate::finding::{Problem, Range};
use nesting::Nesting;
use std::path::PathBuf;

/// A file to be checked.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its path, relative to the root that is linted.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// What the byte search finds in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signs {
    /// The session header, an SDK's client side, or a mark: the crate may be a client.
    pub anchor: bool,
    /// The protocol's name.
    pub mcp: bool,
    /// The cursor header, or the media type of an event stream: with the protocol's name, the crate may be a client.
    pub stream: bool,
    /// Words of a client's state, its calls and its transport.
    pub client: bool,
}

impl Signs {
    /// Whether something in the file can bear on a session.
    #[must_use]
    pub fn any(self) -> bool {
        self.anchor || self.mcp || self.stream || self.client
    }

    /// Whether the file matters wherever it stands; else only beside one that speaks of the protocol.
    #[must_use]
    pub fn telling(self) -> bool {
        self.anchor || self.mcp || self.stream
    }

    /// Both files taken together.
    #[must_use]
    pub fn with(self, other: Signs) -> Signs {
        Signs {
            anchor: self.anchor || other.anchor,
            mcp: self.mcp || other.mcp,
            stream: self.stream || other.stream,
            client: self.client || other.client,
        }
    }

    /// Whether files with these signs together may hold an MCP client.
    #[must_use]
    pub fn concern(self) -> bool {
        self.anchor || self.mcp && self.stream
    }
}

/// Beyond this figure a file is parsed on a stack of its own.
const CALM: usize = 200;
/// Beyond this one an item is not parsed where it stands, on the stack of a compiler.
const CALM_ITEM: usize = 1_000;
/// What one token of depth takes of a stack: half of this at most, measured; several times as much without optimisation.
const STACK_EACH: usize = if cfg!(debug_assertions) { 32 << 10 } else { 8 << 10 };
const STACK_BASE: usize = 64 << 20;

/// What can be told of a file without parsing it.
#[must_use]
pub fn signs(text: &str) -> Signs {
    let mut seen = Signs::default();
    let bytes = text.as_bytes();
    let lower = |at: usize| bytes.get(at).map_or(0, u8::to_ascii_lowercase);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'm' | b'M' if lower(at + 1) == b'c' && lower(at + 2) == b'p' => {
                seen.mcp = true;
                seen.anchor |= starts(bytes, at, b"mcp-session-id") || starts(bytes, at, b"mcp-method");
            }
            b'l' | b'L' if lower(at + 1) == b'a' && lower(at + 4).is_ascii_punctuation() => {
                seen.stream |= starts(bytes, at, b"last-event-id") || starts(bytes, at, b"last_event_id");
            }
            b'e' | b'E' if lower(at + 1) == b'v' && lower(at + 5).is_ascii_punctuation() => {
                seen.stream |= starts(bytes, at, b"event-stream") || starts(bytes, at, b"event_stream");
            }
            b's' | b'S' if lower(at + 1) == b'e' && starts(bytes, at, b"session") => seen.client = true,
            b'R' if starts(bytes, at, b"runningservice") => seen.stream = true,
            b'c' | b'C' if lower(at + 1) == b'a' && starts(bytes, at, b"call_tool") => seen.client = true,
            b't' if starts(bytes, at, b"tools/call") => seen.client = true,
            b'T' if starts(bytes, at, b"transport") => seen.client = true,
            // A mark says that the code is a client's, whatever it is called.
            b'u' if bytes[at..].starts_with(b"unbroken::") => seen.anchor = true,
            b'r' if starts(bytes, at, b"reconnect") => seen.client = true,
            b'r' if bytes[at..].starts_with(b"rmcp::") => seen.anchor = true,
            _ => {}
        }
        if seen.anchor && seen.mcp {
            break;
        }
    }
    seen
}

fn starts(bytes: &[u8], at: usize, word: &[u8]) -> bool {
    bytes.get(at..at + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word))
}

/// Whether a text is nested more deeply than a thread's ordinary stack can bear to parse.
#[must_use]
pub fn deep(text: &str) -> bool {
    Nesting::of(text).depth > CALM_ITEM
}

/// Stage one: everything one file says. Pure; may run on any thread.
///
/// A file that cannot be read in full yields its path and a [`Problem`], never a panic.
#[must_use]
pub fn lower(file: SourceFile) -> FileFacts {
    let mut facts = FileFacts { path: file.path.clone(), ..FileFacts::default() };
    if !signs(&file.text).any() {
        return facts;
    }
    facts.parsed = true;
    let bound = Nesting::of(&file.text);
    if bound.depth > nesting::LIMIT {
        let place = Range { line: bound.line, column: 1, end_line: bound.line, end_column: 1 };
        facts.problems.push(Problem {
            path: file.path,
            range: Some(place),
            message: "nested too deeply to be parsed safely".into(),
            help: "exclude the file, or flatten the expression; the rest of the crate was checked".into(),
        });
        return facts;
    }
    if bound.depth <= CALM {
        return parse(&file, facts);
    }
    let stack = STACK_BASE + bound.depth * STACK_EACH;
    let spare = facts.clone();
    let path = file.path.clone();
    let worker = std::thread::Builder::new().stack_size(stack).spawn(move || parse(&file, facts));
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(facts)) => facts,
        _ => {
            let mut facts = spare;
            facts.problems.push(Problem {
                path,
                range: None,
                message: "the parser stopped on this file".into(),
                help: "exclude the file and report it; the rest of the crate was checked".into(),
            });
            facts
        }
    }
}

fn parse(file: &SourceFile, mut facts: FileFacts) -> FileFacts {
    match syn::parse_file(&file.text) {
        Ok(tree) => lower_file(&tree, &mut facts),
        Err(error) => {
            let (start, end) = (error.span().start(), error.span().end());
            facts.problems.push(Problem {
                path: file.path.clone(),
                range: Some(Range {
                    line: start.line as u32,
                    column: start.column as u32 + 1,
                    end_line: end.line as u32,
                    end_column: end.column as u32 + 1,
                }),
                message: short(&format!("cannot be parsed: {error}")),
                help: "mend the syntax, or exclude the file if it is not meant to be Rust".into(),
            });
        }
    }
    // Without this every text ever parsed on the thread would stay in memory, for its line numbers.
    proc_macro2::extra::invalidate_current_thread_spans();
    facts
}

fn short(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() <= 90 { line.into() } else { line.chars().take(89).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: String) -> Vec<String> {
        let text = format!("// mcp-session-id\n{text}");
        let facts = lower(SourceFile { path: "a.rs".into(), text });
        facts.problems.into_iter().map(|problem| problem.message).collect()
    }

    #[test]
    fn repetition_without_brackets_is_named_however_long() {
        let ways =
            ["x()", " return", "&", "!", "a+", "if a {} else ", "a=", "|a, b|", "x.y::<A, B>().", "match "];
        for way in ways {
            let text = |times: usize| format!("fn f() {{ {} 1; }}", way.repeat(times));
            assert_eq!(problems(text(100_000)), ["nested too deeply to be parsed safely"], "{way}");
            // Parsed, or refused as no Rust: the stack holds.
            assert!(problems(text(4_000)).iter().all(|it| !it.contains("stopped")), "{way}");
        }
        assert_eq!(problems(format!("use {}b;", "a::".repeat(100_000))).len(), 1);
    }

    #[test]
    fn a_deep_function_is_named_and_the_rest_is_read() {
        let text = format!("// mcp-session-id\nfn f() {{ {}x; }}\nfn g() {{ h(); }}", "!".repeat(3_000));
        let facts = lower(SourceFile { path: "a.rs".into(), text });
        assert_eq!(facts.problems[0].message, "a function nested too deeply to be judged");
        assert_eq!(facts.problems[0].range.map(|range| range.line), Some(2));
        let read: Vec<usize> = facts.functions.iter().map(|function| function.body.nodes.len()).collect();
        assert!(read[0] == 0 && read[1] > 0, "{read:?}");
    }

    #[test]
    fn long_is_not_deep() {
        let many = |part: &str| part.repeat(50_000);
        let list = format!("fn f() {{ g(&[{}]); }}", many("1 << 3, \"(((\", "));
        let arms = format!("fn f() {{ match x {{ {} }} }}", many("A | B => {} "));
        let items = many("fn f() {} ");
        let said = format!("{} fn f() {{}}", many("//// (((\n/* --- { */ "));
        for text in [list, arms, items, said] {
            assert!(Nesting::of(&text).depth < CALM, "{}", &text[..40]);
        }
    }
}
