//! The built command as a user runs it, and the recordings it is run on.
//! Knows nothing of the code behind it.
#![allow(dead_code, reason = "every test file uses its own part of this bench")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Every format there is.
pub(crate) const FORMATS: [&str; 10] =
    ["human", "brief", "json", "sarif", "github", "junit", "markdown", "html", "cargo", "csv"];

/// What a run left behind.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs `unbroken` in the repository's root, with nothing of the caller's environment that shapes output.
pub(crate) fn unbroken<S: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = S>) -> Ran {
    ran(command().args(arguments).output().expect("the binary was built for this test"))
}

pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unbroken"));
    command.current_dir(root());
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "UNBROKEN_DIGEST_KEY", "RUST_BACKTRACE"]
    {
        command.env_remove(name);
    }
    command
}

pub(crate) fn ran(output: Output) -> Ran {
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8 whatever the input was");
    Ran {
        code: output.status.code().expect("no run ends by a signal"),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in the workspace").to_owned()
}

/// The shipped recordings, sorted.
pub(crate) fn shipped() -> Vec<PathBuf> {
    runs_below(&root().join("fixtures/logs/captures"))
}

/// Every recording of the full collection, or the reason why there is none, printed.
pub(crate) fn all_recordings() -> Option<Vec<PathBuf>> {
    let shared = std::env::var_os("UNBROKEN_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    let captures = shared.join("captures");
    if !captures.is_dir() {
        eprintln!(
            "skipped: {} is not there; set UNBROKEN_SHARED to the folder that holds captures/",
            captures.display()
        );
        return None;
    }
    Some(runs_below(&captures))
}

fn runs_below(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().expect("the folder of recordings can be listed");
    let mut runs: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.join("truth.json").is_file())
        .collect();
    runs.sort();
    assert!(!runs.is_empty(), "{} holds no recordings", folder.display());
    runs
}

/// Tries every run, on as many threads as there are cores; a failure of one fails the test.
pub(crate) fn each(runs: &[PathBuf], attempt: impl Fn(&Path) + Sync) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for first in 0..threads {
            let attempt = &attempt;
            scope.spawn(move || runs.iter().skip(first).step_by(threads).for_each(|run| attempt(run)));
        }
    });
}

/// What one place of observation recorded of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    Wire,
    Proxy,
    All,
    /// All, and the capture once more in its other format.
    Everything,
}

impl View {
    pub(crate) const EACH: [View; 3] = [View::Wire, View::Proxy, View::All];
    /// The views of which the truth of a recording speaks.
    pub(crate) const JUDGED: [View; 4] = [View::Wire, View::Proxy, View::All, View::Everything];

    pub(crate) fn files(self, run: &Path) -> Vec<PathBuf> {
        let of = |starts: &[&str]| -> Vec<PathBuf> {
            let entries =
                run.read_dir().expect("a run can be listed").map(|entry| entry.expect("an entry").path());
            let named = |path: &PathBuf| {
                path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned()
            };
            let mut files: Vec<PathBuf> =
                entries.filter(|path| starts.iter().any(|start| named(path).starts_with(start))).collect();
            files.sort();
            files
        };
        match self {
            View::Wire => of(&["capture.har"]),
            View::Proxy => {
                of(&["nginx-access", "nginx-error", "haproxy-access", "caddy-access", "caddy-error"])
            }
            View::Everything => {
                let mut files = View::All.files(run);
                files.extend(of(&["wire.jsonl", "ledger.jsonl"]));
                files
            }
            View::All => of(&[
                "capture.har",
                "nginx-access",
                "nginx-error",
                "haproxy-access",
                "caddy-",
                "client",
                "server-",
            ]),
        }
    }
}

/// Runs the audit on files in a format.
pub(crate) fn audit(format: &str, files: &[PathBuf], more: &[&str]) -> Ran {
    let mut command = command();
    command.args(["audit", "--format", format]).args(files).args(more);
    ran(command.output().expect("the binary was built for this test"))
}

/// One run of the audit that writes every format: its exit code, and the text of each, what was told on the error stream last.
pub(crate) fn audit_in_every_format(files: &[PathBuf]) -> (i32, Vec<(&'static str, String)>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = command();
    command.arg("audit").args(files);
    for format in FORMATS {
        command.arg("--output").arg(format!("{format}={}", folder.path().join(format).display()));
    }
    let ran = ran(command.output().expect("the binary was built for this test"));
    let read =
        |format| std::fs::read_to_string(folder.path().join(format)).expect("it was written, in UTF-8");
    let mut texts: Vec<(&str, String)> = FORMATS.into_iter().map(|format| (format, read(format))).collect();
    texts.push(("standard error", ran.err));
    (ran.code, texts)
}

/// The findings of json output, without the summary.
pub(crate) fn findings(out: &str) -> Vec<serde_json::Value> {
    lines(out).into_iter().filter(|line| line.get("breach").is_some()).collect()
}

/// The summary of json output: its last line.
pub(crate) fn summary(out: &str) -> serde_json::Value {
    lines(out).pop().expect("there is always a summary")
}

fn lines(out: &str) -> Vec<serde_json::Value> {
    out.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// Every secret of a recording: its session ids, and the argument values of its calls.
pub(crate) fn secrets(run: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(run.join("truth.json")).expect("every run has its truth");
    let truth: serde_json::Value = serde_json::from_str(&text).expect("the truth is JSON");
    let mut secrets = BTreeSet::new();
    collect(&truth, "", &mut secrets);
    secrets
}

fn collect(value: &serde_json::Value, key: &str, secrets: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, key, secrets)),
        serde_json::Value::Object(fields) => fields.iter().for_each(|(name, item)| match item {
            serde_json::Value::Object(values) if name == "args" => {
                secrets.extend(values.values().filter_map(|value| value.as_str()).map(str::to_owned));
            }
            _ => collect(item, name, secrets),
        }),
        // A dash stands for an absent session.
        serde_json::Value::String(text)
            if matches!(key, "session" | "old" | "new" | "sessions") && text.len() > 8 =>
        {
            secrets.insert(text.clone());
        }
        _ => {}
    }
}
