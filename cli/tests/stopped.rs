//! A run in bad company: no room for temporary files, a reader that leaves, signals. What was found is there and whole,
//! and no file stays behind.
#![cfg(unix)]

mod command;

use command::{Ran, command, ran};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Records of the log: more than are judged as a whole, so that the rest goes client by client.
const RECORDS: usize = 24_000;
/// One call in so many was cut and is sent again under a new session.
const EVERY: usize = 1_000;

/// A log of six hours and more of forty clients, with a call that was repeated after every thousandth record.
fn log() -> String {
    let mut text = String::new();
    let mut line = |at: usize,
                    client: usize,
                    session: &str,
                    given: &str,
                    status: &str,
                    body: &str,
                    answer: &str| {
        let stamp = format!("2026-03-02T{:02}:{:02}:{:02}.000Z", at / 3600, at / 60 % 60, at % 60);
        let quoted = |name: &str| if name.is_empty() { "null".to_owned() } else { format!("\"{name}\"") };
        let (end, media) = match answer {
            "" => ("client_abort", "text/event-stream"),
            _ => ("complete", "application/json"),
        };
        writeln!(
            text,
            r#"{{"ts":"{stamp}","remote_addr":"192.0.2.{client}","user_agent":"agent/1","method":"POST","path":"/mcp","status":{status},"req_headers":{{"mcp-session-id":{}}},"resp_headers":{{"mcp-session-id":{},"content-type":"{media}"}},"request_body":{},"response_events":[{answer}],"duration_ms":20.5,"termination":"{end}"}}"#,
            quoted(session),
            quoted(given),
            serde_json::Value::from(body),
        )
        .expect("a string takes all");
    };
    let answer = |id: usize| format!(r#"{{"id":null,"kind":"response","rpc_id":{id}}}"#);
    let open = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"agent","version":"1"}}}"#;
    for at in 0..RECORDS {
        let (client, call) = (at % 40, at % EVERY);
        let session = format!("s-{client}-{}", if at >= 40 { "b" } else { "a" });
        let pay = |id: usize| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"pay","arguments":{{"order":{}}}}}}}"#,
                at / EVERY
            )
        };
        let lost = format!("lost-{at}");
        match call {
            _ if at < 80 => line(at, client, "", &session, "200", open, &answer(0)),
            // Another client: opened, cut in the middle of a call, opened again; the call is sent again.
            500 => {
                line(at, 200, "", &lost, "200", open, &answer(0));
                line(at + 1, 200, &lost, "", "200", &pay(7), "");
                line(at + 2, 200, "", &format!("{lost}-again"), "200", open, &answer(0));
                line(at + 3, 200, &format!("{lost}-again"), "", "200", &pay(8), &answer(8));
            }
            _ => {
                let body = format!(
                    r#"{{"jsonrpc":"2.0","id":{at},"method":"tools/call","params":{{"name":"look","arguments":{{"n":{at}}}}}}}"#
                );
                line(at, client, &session, "", "200", &body, &answer(at));
            }
        }
    }
    text
}

struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Bench {
        Bench { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    fn log(&self) -> PathBuf {
        let path = self.folder.path().join("log.jsonl");
        std::fs::write(&path, log()).expect("a disk with room");
        path
    }

    fn temp(&self) -> PathBuf {
        let path = self.folder.path().join("temp");
        std::fs::create_dir_all(&path).expect("a disk with room");
        path
    }
}

/// The fingerprints of the calls that were repeated.
fn repeated(out: &str) -> Vec<String> {
    let objects = out.lines().map(|line| serde_json::from_str(line).expect("every line is whole JSON"));
    let findings = objects.filter(|object: &serde_json::Value| object["breach"] == "duplicate-invocation");
    let mut prints: Vec<String> =
        findings.map(|finding| finding["fingerprint"].as_str().expect("a text").to_owned()).collect();
    prints.sort();
    prints
}

fn audit(log: &Path) -> Command {
    let mut audit = command();
    audit.args(["audit", "--format", "json", "--fail-on", "never", "--memory", "64KiB"]).arg(log);
    audit
}

/// Sessions that the summary counts.
fn sessions(ran: &Ran) -> u64 {
    let summary: serde_json::Value =
        serde_json::from_str(ran.out.lines().last().expect("a summary")).expect("the summary is JSON");
    summary["seen"]["sessions"].as_u64().unwrap_or_else(|| panic!("{summary}"))
}

/// The problem that names the temporary folder.
fn told(ran: &Ran, folder: &Path) -> serde_json::Value {
    let last = ran.out.lines().last().expect("a summary");
    let summary: serde_json::Value = serde_json::from_str(last).expect("the summary is JSON");
    let problems = summary["problems"].as_array().expect("a list").clone();
    let shown = folder.to_string_lossy().into_owned();
    problems.into_iter().find(|problem| problem["path"] == *shown).unwrap_or_else(|| panic!("{summary}"))
}

#[test]
fn a_temporary_folder_that_is_not_there_is_told_and_the_calls_are_found() {
    let bench = Bench::new();
    let log = bench.log();
    let usual = ran(audit(&log).output().expect("it runs"));
    assert_eq!((usual.code, repeated(&usual.out).len()), (0, RECORDS / EVERY), "{}", usual.err);
    let nowhere = bench.folder.path().join("nowhere");
    let run = ran(audit(&log).env("TMPDIR", &nowhere).output().expect("it runs"));
    let problem = told(&run, &nowhere);
    assert_eq!((run.code, problem["lost"].as_bool()), (4, Some(true)), "{problem}");
    assert!(problem["help"].as_str().is_some_and(|help| help.contains("TMPDIR")), "{problem}");
    assert!(problem["message"].as_str().is_some_and(|told| told.contains("before their time")), "{problem}");
    assert!(!run.out.contains("after their last event"), "memory was the reason, and no silence");
    assert_eq!(sessions(&run), sessions(&usual));
    assert_eq!(repeated(&run.out), repeated(&usual.out));
}

#[test]
fn a_disk_that_fills_up_is_told_and_the_calls_are_found() {
    let bench = Bench::new();
    let (log, temp) = (bench.log(), bench.temp());
    let usual = ran(audit(&log).output().expect("it runs"));
    // A bound on the size of files stands for the end of the disk: writes fail in the same place.
    let mut shell = Command::new("sh");
    let bounded = audit(&log);
    shell.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh"]).arg(bounded.get_program());
    shell.args(bounded.get_args()).current_dir(command::root()).env("TMPDIR", &temp);
    let run = ran(shell.output().expect("it runs"));
    let problem = told(&run, &temp);
    assert_eq!((run.code, problem["lost"].as_bool()), (4, Some(true)), "{problem}");
    assert_eq!(repeated(&run.out), repeated(&usual.out));
    assert_eq!(std::fs::read_dir(&temp).expect("it is there").count(), 0);
}

#[test]
fn a_reader_that_leaves_ends_nothing() {
    let bench = Bench::new();
    let log = bench.log();
    let file = bench.folder.path().join("findings.json");
    let mut run = audit(&log);
    run.args(["--output", &format!("json={}", file.display())]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = run.spawn().expect("it runs");
    drop(child.stdout.take());
    let left = child.wait_with_output().expect("it ends");
    assert_eq!((left.status.code(), String::from_utf8_lossy(&left.stderr).as_ref()), (Some(0), ""));
    let written = std::fs::read_to_string(&file).expect("the other output is there");
    assert_eq!(repeated(&written).len(), RECORDS / EVERY);
}

/// A run that has found something and reads on, and what it has shown.
fn running(bench: &Bench) -> (Child, BufReader<std::process::ChildStdout>, String, impl Write + use<>) {
    let mut run = audit(Path::new("-"));
    run.env("TMPDIR", bench.temp()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = run.spawn().expect("it runs");
    let mut give = child.stdin.take().expect("it reads");
    give.write_all(log().as_bytes()).expect("it reads on");
    let mut shown = BufReader::new(child.stdout.take().expect("it writes"));
    let mut first = String::new();
    shown.read_line(&mut first).expect("it finds something before the end");
    (child, shown, first, give)
}

#[test]
fn a_signal_leaves_whole_findings_and_no_file() {
    use std::os::unix::process::ExitStatusExt;
    for (name, number) in [("INT", 2), ("TERM", 15), ("KILL", 9)] {
        // Whoever is started with a signal ignored cannot be ended by it, nor can what it starts: so with `nohup` and `&`.
        let itself = Command::new("sh").args(["-c", &format!("kill -{name} $$; sleep 1")]).status();
        if itself.expect("a shell starts").signal() != Some(number) {
            eprintln!("skipped: this run was started with SIG{name} ignored");
            continue;
        }
        let bench = Bench::new();
        let (mut child, mut shown, mut out, give) = running(&bench);
        let killed = Command::new("kill").args([format!("-{name}"), child.id().to_string()]).status();
        assert!(killed.is_ok_and(|status| status.success()), "{name}");
        let status = child.wait().expect("it ends");
        drop(give);
        shown.read_to_string(&mut out).expect("text");
        assert_eq!(status.signal(), Some(number), "{name}");
        assert!(!repeated(&out).is_empty(), "{name}: {out}");
        assert!(out.ends_with('\n'), "{name}");
        assert_eq!(std::fs::read_dir(bench.temp()).expect("it is there").count(), 0, "{name}");
    }
}
