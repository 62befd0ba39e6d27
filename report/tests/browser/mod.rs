//! A headless Chromium: opens a page, tells what it became, what it said and whom it asked.
//! Knows nothing of the page.
#![allow(dead_code, reason = "every test file uses its own part of this bench")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

pub(crate) struct Browser {
    program: PathBuf,
}

pub(crate) struct Shown {
    /// The document as it stands after its scripts ran.
    pub(crate) dom: String,
    /// What it wrote to the console.
    pub(crate) console: Vec<String>,
    /// Addresses it asked for, other than its own.
    pub(crate) requests: Vec<String>,
}

impl Browser {
    /// The browser there is, or the reason why there is none, printed.
    pub(crate) fn find() -> Option<Browser> {
        let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
        let usual =
            ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].map(PathBuf::from);
        let program = named.into_iter().chain(usual).find(|path| path.is_file());
        if program.is_none() {
            eprintln!(
                "skipped: there is no Chromium; install Debian's package or set CHROMIUM to the program"
            );
        }
        program.map(|program| Browser { program })
    }

    /// Opens a page, at a fragment or none.
    pub(crate) fn open(&self, page: &str, fragment: &str) -> Shown {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("page.html");
        std::fs::write(&file, page).expect("the page can be written");
        let log = folder.path().join("net.json");
        let output = self
            .quiet(folder.path())
            .arg(format!("--log-net-log={}", log.display()))
            .args(["--enable-logging=stderr", "--virtual-time-budget=4000", "--dump-dom"])
            .arg(format!("file://{}{fragment}", file.display()))
            .output()
            .expect("the browser starts");
        let said = String::from_utf8_lossy(&output.stderr);
        let console = said.lines().filter(|line| line.contains(":CONSOLE")).map(str::to_owned).collect();
        let net = std::fs::read_to_string(&log).expect("the browser logs what it asks for");
        Shown { dom: String::from_utf8_lossy(&output.stdout).into_owned(), console, requests: requests(&net) }
    }

    /// How long it takes from the start of the browser until the page is painted.
    pub(crate) fn paint(&self, page: &str) -> Duration {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("page.html");
        std::fs::write(&file, page).expect("the page can be written");
        let picture = folder.path().join("page.png");
        let begun = Instant::now();
        let output = self
            .quiet(folder.path())
            .arg(format!("--screenshot={}", picture.display()))
            .arg(format!("file://{}", file.display()))
            .output()
            .expect("the browser starts");
        assert!(picture.is_file(), "{}", String::from_utf8_lossy(&output.stderr));
        begun.elapsed()
    }

    /// The browser with everything off that it does on its own account.
    fn quiet(&self, profile: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ]);
        command.arg(format!("--user-data-dir={}", profile.join("profile").display()));
        command
    }
}

/// Every address on some network that a page asked for. What the browser asks for on its own account has no origin.
fn requests(log: &str) -> Vec<String> {
    let text = |entry: &str, name: &str| {
        entry
            .split(&format!("\"{name}\":\""))
            .nth(1)
            .and_then(|rest| rest.split('"').next())
            .map(str::to_owned)
    };
    let mut asked: Vec<String> = log
        .lines()
        .filter(|entry| text(entry, "initiator").is_some_and(|initiator| initiator != "not an origin"))
        .filter_map(|entry| text(entry, "url"))
        .filter(|url| !url.starts_with("file:") && !url.starts_with("data:"))
        .collect();
    asked.sort();
    asked.dedup();
    asked
}
