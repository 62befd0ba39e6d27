//! One pass over recordings for all that is held of each: to start the command costs more than to judge what it left behind.
//! Knows what is held by name; a test asks for one, and whichever comes first makes the pass.

use super::command::{FORMATS, View, all_recordings, audit, audit_in_every_format, each, shipped};
use super::{formats, privacy, truth};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

/// What a run of the audit over one view of a recording left behind.
pub(crate) struct Told {
    pub(crate) view: View,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) code: i32,
    /// The text of each format, and what was told on the error stream.
    pub(crate) texts: Vec<(&'static str, String)>,
}

impl Told {
    fn of(run: &Path, view: View) -> Told {
        let files = view.files(run);
        let (code, texts) = match View::EACH.contains(&view) {
            true => audit_in_every_format(&files),
            false => {
                let ran = audit("json", &files, &[]);
                (ran.code, vec![("json", ran.out), ("standard error", ran.err)])
            }
        };
        Told { view, files, code, texts }
    }

    pub(crate) fn text(&self, format: &str) -> &str {
        &self.texts.iter().find(|(of, _)| *of == format).expect("the format is written").1
    }
}

/// By the name of what is held: the recordings of which it does not hold, each with why; none where it holds of all.
type Failures = BTreeMap<&'static str, Vec<String>>;

/// Which formats are also written alone.
#[derive(Clone, Copy)]
enum Alone {
    /// Every format of every recording.
    Every,
    /// One of each recording, by turns.
    InTurn,
}

fn pass(runs: &[PathBuf], which: Alone) -> Failures {
    let failures = Mutex::new(Failures::new());
    let hold = |name: &'static str, run: &Path, judge: &dyn Fn()| {
        let judged = catch_unwind(AssertUnwindSafe(judge));
        let mut failures = failures.lock().expect("nobody panics with it");
        let failures = failures.entry(name).or_default();
        let Err(why) = judged else { return };
        let why = why.downcast_ref::<String>().map(String::as_str).or(why.downcast_ref::<&str>().copied());
        let why = format!("{} {}", run.display(), why.unwrap_or_default());
        failures.push(why);
    };
    each(runs, |run| {
        let at = runs.iter().position(|one| one == run).expect("it is one of them");
        for view in View::JUDGED {
            let told = Told::of(run, view);
            hold("truth", run, &|| truth::stands(run, &told));
            if View::EACH.contains(&view) {
                hold("secrets", run, &|| privacy::keeps_its_secrets(run, &told));
                hold("formats", run, &|| formats::agree(&told));
            }
            if view == View::All {
                let turn = FORMATS[at % FORMATS.len()];
                for format in
                    FORMATS.iter().filter(|format| matches!(which, Alone::Every) || **format == turn)
                {
                    hold("alone", run, &|| formats::alone(&told, format));
                }
            }
        }
    });
    failures.into_inner().expect("nobody panicked with it")
}

fn nothing_fails(failures: &Failures, name: &str) {
    let failed = failures.get(name).expect("the pass holds the recordings to it");
    assert!(failed.is_empty(), "{} fail:\n{}", failed.len(), failed.join("\n"));
}

/// Holds the shipped recordings to what is named.
pub(crate) fn hold_shipped(name: &str) {
    static PASS: OnceLock<Failures> = OnceLock::new();
    nothing_fails(PASS.get_or_init(|| pass(&shipped(), Alone::Every)), name);
}

/// Holds all recordings to what is named, where they are.
pub(crate) fn hold_all(name: &str) {
    static PASS: OnceLock<Failures> = OnceLock::new();
    let Some(runs) = all_recordings() else { return };
    nothing_fails(PASS.get_or_init(|| pass(&runs, Alone::InTurn)), name);
}
