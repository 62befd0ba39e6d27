//! What a person's terminal gets: links, colours and box-drawing characters where it has them, ASCII where it has not.
//! The terminal is a real one, made by util-linux's `script`.

mod command;

use command::root;
use std::process::Command;

const TRAFFIC: &str = "audit fixtures/logs/captures/s02d_cut_after_effect__naive-discard__ts1/capture.har.gz";
/// A log whose last lines say what clients, tools and timeouts there were.
const ACCESS: &str =
    "audit fixtures/logs/captures/s02d_cut_after_effect__naive-discard__ts1/nginx-access.jsonl.gz";
const CODE: &str = "lint fixtures/clients/naive";

/// What the command writes to a terminal of 100 columns whose environment is `set` and nothing else.
fn on_terminal(arguments: &str, set: &[(&str, &str)]) -> Option<String> {
    let line = format!("stty cols 100; {} {arguments}", env!("CARGO_BIN_EXE_unbroken"));
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).current_dir(root()).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.envs(set.iter().copied()).stdin(std::process::Stdio::null());
    match command.output() {
        Ok(output) if cfg!(target_os = "linux") => {
            let text = String::from_utf8(output.stdout).expect("output is UTF-8");
            assert!(text.contains("finding"), "{text}");
            Some(text)
        }
        _ => {
            eprintln!("skipped: there is no `script` of util-linux that makes a terminal");
            None
        }
    }
}

const LINK: &str = "\u{1b}]8;;file:///";

#[test]
fn a_terminal_with_links_gets_links_to_files_that_are_there() {
    let known = [("TERM", "xterm-256color"), ("VTE_VERSION", "7000"), ("LANG", "C.UTF-8")];
    for arguments in [TRAFFIC, CODE] {
        let Some(shown) = on_terminal(arguments, &known) else { return };
        let targets: Vec<&str> = shown
            .split("\u{1b}]8;;file://")
            .skip(1)
            .filter_map(|rest| rest.split("\u{1b}\\").next())
            .collect();
        assert!(targets.len() > 1, "{shown}");
        for target in targets {
            assert!(std::path::Path::new(target).exists(), "{target} leads nowhere");
        }
        assert!(shown.contains("\u{1b}[31m") && shown.contains("╭─["), "{shown}");
    }
}

#[test]
fn no_terminal_is_sent_links_that_it_may_not_know_or_that_nobody_wants() {
    let cases: [&[(&str, &str)]; 4] = [
        &[("TERM", "xterm-256color"), ("LANG", "C.UTF-8")],
        &[("TERM", "dumb"), ("VTE_VERSION", "7000"), ("LANG", "C.UTF-8")],
        &[("TERM", "xterm-256color"), ("VTE_VERSION", "7000"), ("NO_COLOR", "1"), ("LANG", "C.UTF-8")],
        &[("TERM", "xterm-256color"), ("VTE_VERSION", "7000"), ("FORCE_HYPERLINK", "0")],
    ];
    for set in cases {
        let Some(shown) = on_terminal(TRAFFIC, set) else { return };
        assert!(!shown.contains("\u{1b}]8"), "{set:?}");
    }
    // Not to a pipe either, whatever terminal it hangs on.
    let piped = [("TERM", "xterm-256color"), ("VTE_VERSION", "7000")];
    let Some(shown) = on_terminal(&format!("{TRAFFIC} | cat"), &piped) else { return };
    assert!(!shown.contains('\u{1b}'), "{shown}");
    let Some(shown) = on_terminal(TRAFFIC, &[("TERM", "xterm"), ("FORCE_HYPERLINK", "1")]) else { return };
    assert!(shown.contains(LINK), "{shown}");
}

#[test]
fn a_locale_without_unicode_gets_plain_ascii() {
    for set in [
        [("TERM", "xterm-256color"), ("LC_ALL", "C")],
        [("TERM", "dumb"), ("LANG", "C.UTF-8")],
        [("TERM", "xterm"), ("LANG", "de_DE.ISO-8859-1")],
    ] {
        for arguments in [TRAFFIC, ACCESS, CODE] {
            let Some(shown) = on_terminal(arguments, &set) else { return };
            let foreign: Vec<&str> = shown.lines().filter(|line| !line.is_ascii()).collect();
            assert!(foreign.is_empty(), "{set:?}: {foreign:?}");
            assert!(shown.contains(",-["), "{shown}");
        }
    }
}
