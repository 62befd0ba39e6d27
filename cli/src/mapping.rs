//! `unbroken mapping`: propose a mapping file for a log, and show what a mapping makes of one.
//! Knows no format; the audit's mapping engine does.

use crate::fault::Fault;
use crate::side;
use clap::{Args, Subcommand};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use unbroken_audit::adapter::formats::Formats;
use unbroken_audit::adapter::intake::{self, Taken};
use unbroken_audit::adapter::rpc::Keep;
use unbroken_audit::event::{Body, Event, Message, What};
use unbroken_audit::mapping::coverage::Coverage;
use unbroken_audit::mapping::guess::Keys;
use unbroken_audit::source::{Limits, Source};

/// Records that a proposal rests on.
const SAMPLE: u32 = 200;
/// Mapped records that are shown.
const SHOWN: usize = 3;

/// What to do with mapping files.
#[derive(Subcommand, Debug)]
pub(crate) enum MappingCommand {
    /// Propose a mapping file for a log, and show three records as it maps them
    Guess(GuessArgs),
    /// Show how often each fact is there, and which findings the log cannot support
    Test(TestArgs),
}

/// `mapping guess`.
#[derive(Args, Debug)]
pub(crate) struct GuessArgs {
    /// The log
    #[arg(value_name = "LOG")]
    log: PathBuf,
}

/// `mapping test`.
#[derive(Args, Debug)]
pub(crate) struct TestArgs {
    /// The logs
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<PathBuf>,
    /// The mapping file; without it the shipped formats are tried
    #[arg(long, value_name = "FILE")]
    mapping: Vec<PathBuf>,
}

/// Answers `unbroken mapping …`.
pub(crate) fn answer(command: &MappingCommand) -> Result<u8, Fault> {
    let mut text = String::new();
    let code = match command {
        MappingCommand::Guess(args) => guess(&args.log, &mut text)?,
        MappingCommand::Test(args) => test(args, &mut text)?,
    };
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(source) if source.kind() != io::ErrorKind::BrokenPipe => {
            Err(Fault::Output { name: "standard output".to_owned(), source })
        }
        _ => Ok(code),
    }
}

fn guess(log: &Path, out: &mut String) -> Result<u8, Fault> {
    if unbroken_audit::source::is_stdin(log) {
        return Err(Fault::Unguessable {
            log: "<stdin>".into(),
            why: "the proposal is tried on the log it rests on, so it is read twice",
            advice: "give a file",
        });
    }
    let mut source = match Source::open(log, 0, &Limits::default()) {
        Ok(source) => source,
        Err(refusal) => {
            let source = io::Error::other(refusal.problem.message);
            return Err(Fault::Unreadable { path: log.to_owned(), source });
        }
    };
    let mut keys = Keys::default();
    'sample: while let Some(batch) = source.next_batch() {
        for record in batch.records() {
            keys.look(record.bytes);
            if keys.records() >= SAMPLE {
                break 'sample;
            }
        }
    }
    if keys.records() == 0 {
        return Err(Fault::Unguessable {
            log: log.to_owned(),
            why: "no record of it is a JSON object",
            advice: "write a mapping file with `[input] pattern` by hand, see docs/mapping.md",
        });
    }
    let name = log.file_stem().map_or_else(|| "log".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let proposal = keys.propose(&name);
    out.push_str(&proposal);
    show(log, &name, &proposal, out);
    Ok(0)
}

/// Three records as the proposal maps them, as comments, so that the output is a mapping file as it is.
fn show(log: &Path, name: &str, proposal: &str, out: &mut String) {
    let formats = match Formats::load(&[(name.to_owned(), proposal.to_owned())]) {
        Ok(formats) => formats,
        Err((_, why)) => {
            out.push_str(&format!("# the proposal cannot be used yet: {}\n", one_line(&why.to_string())));
            return;
        }
    };
    let mut shown = Vec::new();
    let taken = intake::read(log, 0, &formats, &Limits::default(), Keep::default(), &mut |event| {
        if shown.len() < SHOWN {
            shown.push(described(&event));
        }
    });
    out.push_str(&format!(
        "# {} give {}, the first of them:\n",
        counted(taken.summary.records, "record"),
        counted(taken.summary.events, "event")
    ));
    for line in shown {
        out.push_str(&format!("# {line}\n"));
    }
    if taken.summary.events == 0 {
        out.push_str("# none: no record shows a session id, a protocol version or a message of MCP\n");
        out.push_str("# if the log holds them, name their keys under [request], see docs/mapping.md\n");
    }
}

/// An event in one line, without anything secret.
fn described(event: &Event) -> String {
    let known = |present: bool| if present { "yes" } else { "no" };
    let line = match &event.what {
        What::Exchange(x) => format!(
            "{:?} status {} {}; session in {}, out {}; cursor {}; ended {:?}; took {}",
            x.method,
            x.status.map_or_else(|| "unknown".to_owned(), |s| s.to_string()),
            body(&x.request.body),
            known(x.request.session.is_some()),
            known(x.response.session.is_some()),
            known(x.request.last_event_id.is_some()),
            x.end.cause,
            match (event.time.start, event.time.end) {
                (Some(start), Some(end)) => format!("{} ms", (end - start) / 1_000_000),
                _ => "unknown".to_owned(),
            },
        ),
        What::Message(m) => format!("message {}", body(&Body::Messages(vec![m.message.clone()]))),
        What::Lifecycle(l) => format!("step {:?}", l.step),
        What::Remark(r) => format!("remark on a {:?}: {:?}", r.method, r.end.cause),
    };
    one_line(&line)
}

fn body(body: &Body) -> String {
    match body {
        Body::Messages(messages) => {
            let names = messages.iter().map(|message| match message {
                Message::Request(r) => match &r.call {
                    Some(call) => format!("{} {}", r.method, call.tool),
                    None => r.method.to_string(),
                },
                Message::Notification(n) => n.method.to_string(),
                Message::Response(_) => "a response".to_owned(),
                Message::Unreadable(_) => "an unreadable message".to_owned(),
            });
            names.collect::<Vec<_>>().join(", ")
        }
        Body::Unknown => "body unknown".to_owned(),
        Body::Empty => "no body".to_owned(),
        Body::Unreadable(why) => format!("body unreadable ({why:?})").to_lowercase(),
    }
}

/// `1 record`, `2 records`.
fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Text from a log, fit for a terminal and a TOML comment.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The shipped formats beside those of the mapping files.
///
/// # Errors
/// [`Fault::Unreadable`], [`Fault::Mapping`]: a mapping is configuration, so a run with a wrong one does not begin.
pub(crate) fn load(paths: &[PathBuf]) -> Result<Formats, Fault> {
    let mut mappings = Vec::new();
    for path in paths {
        let text =
            side::read_text(path).map_err(|source| Fault::Unreadable { path: path.clone(), source })?;
        mappings.push((path.to_string_lossy().into_owned(), text));
    }
    Formats::load(&mappings).map_err(|(path, why)| Fault::Mapping { path: path.into(), why })
}

fn test(args: &TestArgs, out: &mut String) -> Result<u8, Fault> {
    let formats = load(&args.mapping)?;
    let (mut read, mut lost) = (false, false);
    for log in &args.logs {
        let mut coverage = Coverage::default();
        let taken = intake::read(log, 0, &formats, &Limits::default(), Keep::default(), &mut |event| {
            coverage.count(&event)
        });
        read |= taken.summary.read;
        lost |= taken.problems.iter().any(|p| p.lost);
        table(log, &taken, &coverage, out);
    }
    Ok(match (lost, read) {
        (true, _) => 4,
        (false, false) => 3,
        (false, true) => 0,
    })
}

fn table(log: &Path, taken: &Taken, coverage: &Coverage, out: &mut String) {
    let path = one_line(&unbroken_audit::source::shown(log));
    let s = &taken.summary;
    let (records, events) = (counted(s.records, "record"), counted(s.events, "event"));
    out.push_str(&format!("{path}: {}, {records}, {events}\n", one_line(&s.format)));
    for problem in &taken.problems {
        out.push_str(&format!("  problem: {} ({} times)\n", one_line(&problem.message), problem.count));
    }
    for fact in coverage.facts().iter().filter(|f| f.of > 0) {
        let percent = fact.present * 100 / fact.of;
        out.push_str(&format!("  {:<28} {:>8} of {:<8} {percent:>3} %\n", fact.name, fact.present, fact.of));
    }
    let limits = if coverage.events > 0 { coverage.limits() } else { Vec::new() };
    for limit in limits {
        let word = if limit.impossible { "impossible" } else { "less certain" };
        out.push_str(&format!("  {word}: {}\n    it lacks {}\n", limit.breaches, limit.missing));
    }
}
