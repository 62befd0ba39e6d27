//! No output gives a session id or an argument away unless it is asked to.

use super::command::{View, audit, secrets, shipped};
use super::pass::{Told, hold_all, hold_shipped};
use std::path::Path;

/// No text that a run left behind has a secret of the recording.
pub(crate) fn keeps_its_secrets(run: &Path, told: &Told) {
    let secrets = secrets(run);
    assert!(!secrets.is_empty(), "there are no secrets to look for");
    for (format, text) in &told.texts {
        for secret in &secrets {
            if memchr::memmem::find(text.as_bytes(), secret.as_bytes()).is_some() {
                let leak = text.lines().find(|line| line.contains(secret));
                panic!("{:?} {format} shows {secret}: {leak:?}", told.view);
            }
        }
    }
}

#[test]
fn shipped_recordings_keep_their_secrets() {
    hold_shipped("secrets");
}

#[test]
fn all_recordings_keep_their_secrets() {
    hold_all("secrets");
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
