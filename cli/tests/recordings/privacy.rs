//! No output gives a session id or an argument away unless it is asked to.

mod command;

use command::{View, all_recordings, audit, audit_in_every_format, each, secrets, shipped};
use std::path::PathBuf;

fn nothing_leaks(runs: &[PathBuf]) {
    each(runs, |run| {
        let secrets = secrets(run);
        assert!(!secrets.is_empty(), "{} holds secrets to look for", run.display());
        for view in View::EACH {
            for (format, text) in audit_in_every_format(&view.files(run)).1 {
                for secret in &secrets {
                    let leak = text.lines().find(|line| line.contains(secret));
                    assert!(leak.is_none(), "{} {view:?} {format} shows {secret}: {leak:?}", run.display());
                }
            }
        }
    });
}

#[test]
fn shipped_recordings_keep_their_secrets() {
    nothing_leaks(&shipped());
}

#[test]
fn all_recordings_keep_their_secrets() {
    if let Some(runs) = all_recordings() {
        nothing_leaks(&runs);
    }
}

#[test]
fn revealing_shows_them() {
    let runs = shipped();
    let run = runs
        .iter()
        .find(|run| run.ends_with("s02d_cut_after_effect__naive-discard__ts1"))
        .expect("it is shipped");
    let shown = audit("json", &View::Wire.files(run), &["--reveal"]).out;
    assert!(secrets(run).iter().any(|secret| shown.contains(secret)), "{shown}");
}
