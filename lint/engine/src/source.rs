//! One Rust file: whether it can matter, whether it is safe to parse, and its syntax tree.
//! Reads no disk; knows no fact.

use crate::facts::{FileFacts, lower_file};
use crate::finding::{Problem, Range};
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

/// Brackets deeper than this are refused; rustc itself gives up at 128 levels of expansion.
const DEPTH_LIMIT: usize = 256;
/// Operators, calls and `else if`s in a row that are refused; a syntax tree of such a chain is as deep as it is long.
const CHAIN_LIMIT: usize = 20_000;
/// Beyond these a file is parsed on a stack of its own.
const CALM_DEPTH: usize = 48;
const CALM_CHAIN: usize = 400;
const BIG_STACK: usize = 512 << 20;

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
    let (depth, chain, place) = nesting(&file.text);
    if depth > DEPTH_LIMIT || chain > CHAIN_LIMIT {
        facts.problems.push(Problem {
            path: file.path,
            range: Some(place),
            message: "nested too deeply to be parsed safely".into(),
            help: "Exclude the file, or flatten the expression; the rest of the crate was checked.".into(),
        });
        return facts;
    }
    if depth <= CALM_DEPTH && chain <= CALM_CHAIN {
        return parse(&file, facts);
    }
    let spare = facts.clone();
    let path = file.path.clone();
    let worker = std::thread::Builder::new().stack_size(BIG_STACK).spawn(move || parse(&file, facts));
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(facts)) => facts,
        _ => {
            let mut facts = spare;
            facts.problems.push(Problem {
                path,
                range: None,
                message: "the parser stopped on this file".into(),
                help: "Exclude the file and report it; the rest of the crate was checked.".into(),
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
                help: "Mend the syntax, or exclude the file if it is not meant to be Rust.".into(),
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

/// The deepest nesting of brackets, the longest run of chained operators, and the place of the worse one.
///
/// Rough on purpose: text in strings and comments counts too, which can only raise the figures.
fn nesting(text: &str) -> (usize, usize, Range) {
    let (mut depth, mut deepest, mut line) = (0_usize, 0_usize, 1_u32);
    // Bytes of operators since the last separator, for each open bracket.
    let mut chains = vec![0_usize];
    let (mut longest, mut place) = (0_usize, Range::default());
    for byte in text.bytes() {
        match byte {
            b'\n' => line += 1,
            b'(' | b'[' | b'{' => {
                depth += 1;
                if chains.len() <= DEPTH_LIMIT + 1 {
                    chains.push(0);
                }
            }
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if chains.len() > 1 && chains.len() > depth + 1 {
                    chains.pop();
                }
            }
            b';' | b',' => *chains.last_mut().expect("the outermost chain is never popped") = 0,
            b'+' | b'-' | b'*' | b'&' | b'|' | b'!' | b'.' | b'=' | b'<' | b'?' | b'^' | b'%' => {
                let chain = chains.last_mut().expect("the outermost chain is never popped");
                *chain += 1;
                if *chain > longest {
                    longest = *chain;
                    if longest > CHAIN_LIMIT {
                        place.line = line;
                    }
                }
            }
            _ => {}
        }
        if depth > deepest {
            deepest = depth;
            if deepest == DEPTH_LIMIT + 1 {
                place.line = line;
            }
        }
    }
    place.line = place.line.max(1);
    (deepest, longest, Range { column: 1, end_line: place.line, end_column: 1, ..place })
}
