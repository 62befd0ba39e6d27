//! The same recording gives the same findings however its files are ordered, doubled or split.
//! Knows the recordings that the project ships; the whole collection is read where `UNBROKEN_SHARED` names it.

mod known;

use known::options;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use unbroken_audit::finding::Finding;
use unbroken_audit::run::{Options, run};

fn recordings() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut runs = folders(&root.join("fixtures/logs/captures"));
    match std::env::var_os("UNBROKEN_SHARED") {
        // Every eighth of the whole collection is enough to find what the shipped ones do not show.
        Some(shared) => runs.extend(folders(&Path::new(&shared).join("captures")).into_iter().step_by(8)),
        None => eprintln!("UNBROKEN_SHARED is not set: only the shipped recordings are read"),
    }
    assert!(!runs.is_empty(), "no recording was found");
    runs
}

fn folders(of: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(of).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn logs(run: &Path) -> Vec<PathBuf> {
    let known = ["capture.har", "nginx-", "haproxy-", "caddy-", "client", "server-"];
    let mut files: Vec<PathBuf> = std::fs::read_dir(run)
        .expect("a recording is a folder")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            known.iter().any(|start| name.starts_with(start))
        })
        .collect();
    files.sort();
    files
}

fn findings(files: &[PathBuf], threads: usize) -> Vec<Finding> {
    let mut found = Vec::new();
    run(files, &Options { threads, ..options() }, &mut |finding| found.push(finding));
    found
}

/// What must not depend on how the input is cut: which findings, how sure, and how many sends.
fn essence(findings: &[Finding]) -> Vec<(String, String, usize)> {
    let tell = |finding: &Finding| {
        (finding.fingerprint.clone(), format!("{:?}", finding.certainty), finding.sends.len())
    };
    findings.iter().map(tell).collect()
}

fn text(path: &Path) -> Vec<u8> {
    let raw = std::fs::read(path).expect("a recording can be read");
    if !raw.starts_with(&[0x1f, 0x8b]) {
        return raw;
    }
    let mut text = Vec::new();
    flate2::read::MultiGzDecoder::new(&raw[..]).read_to_end(&mut text).expect("a recording is whole");
    text
}

#[test]
fn neither_order_nor_threads_change_a_byte() {
    for run in recordings() {
        let mut files = logs(&run);
        let one = serde_json::to_string(&findings(&files, 1)).expect("findings are data");
        files.reverse();
        let two = serde_json::to_string(&findings(&files, 2)).expect("findings are data");
        assert_eq!(one, two, "{}", run.display());
    }
}

#[test]
fn doubled_files_add_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for run in recordings() {
        let files = logs(&run);
        let mut doubled = files.clone();
        for (at, file) in files.iter().enumerate() {
            let copy = folder.path().join(format!("copy-{at}"));
            std::fs::write(&copy, text(file)).expect("a copy can be written");
            doubled.push(copy);
        }
        assert_eq!(essence(&findings(&files, 1)), essence(&findings(&doubled, 1)), "{}", run.display());
    }
}

#[test]
fn split_logs_give_the_findings_of_the_whole() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for run in recordings() {
        let files = logs(&run);
        let mut parts = Vec::new();
        for (at, file) in files.iter().enumerate() {
            let text = text(file);
            if file.to_string_lossy().contains(".har") {
                parts.push(file.clone());
                continue;
            }
            let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
            for (half, lines) in lines.chunks(lines.len().div_ceil(2).max(1)).enumerate() {
                let part = folder.path().join(format!("part-{at}-{half}"));
                std::fs::write(&part, lines.concat()).expect("a part can be written");
                parts.push(part);
            }
        }
        assert_eq!(essence(&findings(&files, 1)), essence(&findings(&parts, 1)), "{}", run.display());
    }
}

#[test]
fn lines_of_a_log_in_another_order_give_the_same_findings() {
    let mut compared = 0;
    for run in recordings() {
        // Steps of a capture too: what belongs together may stand far apart.
        for log in logs(&run).into_iter().chain(Some(run.join("wire.jsonl.gz"))).filter(|log| log.exists()) {
            let all = text(&log);
            let mut lines: Vec<&[u8]> = all.split_inclusive(|byte| *byte == b'\n').collect();
            // A document is read as one.
            if !lines.iter().all(|line| line.starts_with(b"{") && line.ends_with(b"}\n")) || is_tied(&lines) {
                continue;
            }
            let folder = tempfile::tempdir().expect("a folder can be made");
            let path = folder.path().join("log.jsonl");
            std::fs::write(&path, lines.concat()).expect("a disk with room");
            let whole = findings(std::slice::from_ref(&path), 1);
            for stride in [7, 97] {
                mix(&mut lines, stride);
                std::fs::write(&path, lines.concat()).expect("a disk with room");
                let mixed = findings(std::slice::from_ref(&path), 1);
                assert_eq!(essence(&mixed), essence(&whole), "{} by {stride}", log.display());
            }
            compared += whole.len();
        }
    }
    assert!(compared > 0, "no log told of anything");
}

/// Puts lines in another order that is the same each time.
fn mix(lines: &mut [&[u8]], stride: usize) {
    let mut seed = stride as u64;
    for at in (1..lines.len()).rev() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        lines.swap(at, (seed >> 33) as usize % (at + 1));
    }
}

/// Whether two pieces of one body have one time, so that nothing but their places tells which came first.
fn is_tied(lines: &[&[u8]]) -> bool {
    let mut moments: Vec<(String, String)> = Vec::new();
    for line in lines {
        let Ok(step) = serde_json::from_slice::<serde_json::Value>(line) else { continue };
        if step["event"] == "chunk" {
            moments.push((step["flow"].to_string(), step["ts"].to_string()));
        }
    }
    moments.sort();
    moments.windows(2).any(|two| two[0] == two[1])
}

#[test]
fn findings_of_one_recording_have_fingerprints_of_their_own() {
    for run in recordings() {
        let found = findings(&logs(&run), 1);
        let distinct: BTreeSet<&str> = found.iter().map(|finding| finding.fingerprint.as_str()).collect();
        assert_eq!(distinct.len(), found.len(), "{}", run.display());
    }
}
