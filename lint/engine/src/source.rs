//! One Rust file: whether it can matter, whether it is safe to parse, and its syntax tree.
//! Reads no disk; knows no fact.

mod aside;
mod nesting;
mod parts;
mod search;

use crate::facts::{FileFacts, Lowering};
use crate::finding::{Problem, Range};
pub(crate) use aside::is_test as is_test_condition;
use nesting::Nesting;
pub use search::{Signs, item_matters, signs, speaks_as_client};
use std::path::PathBuf;

/// A file to be checked.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its path, relative to the root that is linted.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// Up to this figure a file is parsed on the stack of any thread.
const CALM: usize = 200;
/// Beyond this one an item is not parsed where it stands, on the stack of a compiler.
const CALM_ITEM: usize = 1_000;
/// What one token of depth takes of a stack: half of this at most, measured; several times as much without optimisation.
const STACK_EACH: usize = if cfg!(debug_assertions) { 32 << 10 } else { 8 << 10 };
const STACK_BASE: usize = 64 << 20;
/// A longer text is parsed in parts: a tree takes a hundred times the memory of its text.
const LONG: usize = 1 << 20;
/// About how long a part is.
const PART: usize = 256 << 10;

/// Whether a text is nested more deeply than a thread's ordinary stack can bear to parse.
#[must_use]
pub fn deep(text: &str) -> bool {
    Nesting::of(text).depth > CALM_ITEM
}

/// How files are read.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Whether test code is to be judged too; else what stands in inline test modules is passed over.
    pub tests: bool,
    /// How many bytes of stack the thread has that reads.
    pub stack: usize,
}

impl Default for Reading {
    fn default() -> Reading {
        Reading { tests: false, stack: CALM * STACK_EACH * 4 / 3 }
    }
}

/// Stage one: everything one file says, or nothing where the byte search finds no sign. Pure; may run on any thread.
///
/// A file that cannot be read in full yields its path and a [`Problem`], never a panic.
#[must_use]
pub fn lower(file: SourceFile, reading: Reading) -> FileFacts {
    if signs(&file.text).telling() || speaks_as_client(&file.text) {
        return read(file, reading);
    }
    FileFacts { path: file.path, ..FileFacts::default() }
}

/// The same, whatever the byte search would say.
#[must_use]
pub fn read(mut file: SourceFile, reading: Reading) -> FileFacts {
    let mut facts = FileFacts { path: file.path.clone(), parsed: true, ..FileFacts::default() };
    let (bound, mut aside) = Nesting::and_aside(&file.text);
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
    if reading.tests {
        aside.retain(|stretch| file.text[stretch.clone()].starts_with('/'));
    }
    if !aside.is_empty() {
        file.text = aside::without(&file.text, &aside);
    }
    if bound.depth * STACK_EACH <= reading.stack / 4 * 3 {
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
    if file.text.len() > LONG
        && let Some(facts) = in_parts(&file.text, PART, facts.clone())
    {
        proc_macro2::extra::invalidate_current_thread_spans();
        return facts;
    }
    match syn::parse_file(&file.text) {
        Ok(tree) => {
            let mut lowering = Lowering::into(&mut facts);
            lowering.add(&tree);
            lowering.finish();
        }
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

/// Parses and lowers one part after the other, so that memory holds the tree of one; `None` where a part is no Rust of
/// its own.
fn in_parts(text: &str, least: usize, mut facts: FileFacts) -> Option<FileFacts> {
    let mut lowering = Lowering::into(&mut facts);
    for part in parts::of(text, least) {
        // The empty lines keep every place what it is in the file.
        let tree = syn::parse_file(&("\n".repeat(part.lines_before) + part.text)).ok()?;
        lowering.add(&tree);
    }
    lowering.finish();
    Some(facts)
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
        let facts = lower(SourceFile { path: "a.rs".into(), text }, Reading::default());
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
    fn a_long_text_says_the_same_in_parts_as_whole() {
        let item =
            "macro_rules! told { ($name:ident) => { fn $name() { self.session = None; } } }\ntold!(first);\n";
        let function = "impl S {\n    fn call(&self) -> u8 { \"é\"; self.id }\n}\n";
        let text = format!("{item}{}told!(last);\n", function.repeat(100));
        let said =
            |facts: &FileFacts| facts.functions.iter().map(|it| (it.item(), it.range)).collect::<Vec<_>>();
        assert!(parts::of(&text, 1_000).len() > 2);
        let long = in_parts(&text, 1_000, FileFacts::default()).expect("every part is Rust");
        let mut whole = FileFacts::default();
        Lowering::into(&mut whole).add(&syn::parse_file(&text).expect("Rust"));
        assert_eq!(said(&long), said(&whole));
        assert_eq!(whole.functions.len(), 102);
        // A cut within a string is no Rust: the file is parsed whole then.
        let odd = format!("{text}const X: &str = \"\n{}\";\n", "};\nfn f() {\n".repeat(1_000));
        assert!(syn::parse_file(&odd).is_ok() && in_parts(&odd, 1_000, FileFacts::default()).is_none());
    }

    #[test]
    fn a_deep_function_is_named_and_the_rest_is_read() {
        let text = format!("// mcp-session-id\nfn f() {{ {}x; }}\nfn g() {{ h(); }}", "!".repeat(3_000));
        let facts = lower(SourceFile { path: "a.rs".into(), text }, Reading::default());
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
