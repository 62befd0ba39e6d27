//! Which lines changed since a revision, by asking `git`.
//! Knows the shape of a unified diff, no finding and no rule.

use super::Misuse;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Changed and new lines of Rust files, by absolute path.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    lines: BTreeMap<PathBuf, Vec<RangeInclusive<u32>>>,
}

impl Changes {
    /// What differs between `revision` and the working tree around `cwd`, files that git does not know yet included.
    ///
    /// # Errors
    /// [`Misuse`], when there is no git, no repository or no such revision; in a shallow clone it says how to get it.
    pub(super) fn since(revision: &str, cwd: &Path) -> Result<Changes, Misuse> {
        let top = git(cwd, ["rev-parse", "--show-toplevel"]).map_err(|reason| Misuse {
            message: format!("--since needs a git repository: {reason}"),
            help: "run it inside the work tree of a clone".to_owned(),
        })?;
        let top = PathBuf::from(String::from_utf8_lossy(&top).trim_end_matches(['\r', '\n']));
        let commit = resolve(revision, cwd)?;
        let run = |arguments: &[&str]| {
            git(&top, arguments).map_err(|reason| Misuse {
                message: format!("git could not compare with {revision:?}: {reason}"),
                help: "check the repository with `git fsck`".to_owned(),
            })
        };
        let diff = run(&[
            "-c",
            "core.quotepath=off",
            "diff",
            "--unified=0",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            &commit,
            "--",
            "*.rs",
        ])?;
        let untracked = run(&["ls-files", "-z", "--others", "--exclude-standard", "--", "*.rs"])?;
        let mut changes = Changes { lines: hunks(&diff, &top) };
        for name in untracked.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            changes.lines.insert(top.join(path(name)), vec![1..=u32::MAX]);
        }
        Ok(changes)
    }

    /// Whether one of the lines `from..=to` of the file changed.
    pub(super) fn touch(&self, file: &Path, from: u32, to: u32) -> bool {
        self.lines
            .get(file)
            .is_some_and(|ranges| ranges.iter().any(|range| *range.start() <= to && from <= *range.end()))
    }
}

fn resolve(revision: &str, cwd: &Path) -> Result<String, Misuse> {
    let wanted = format!("{revision}^{{commit}}");
    match git(cwd, ["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted]) {
        Ok(hash) => Ok(String::from_utf8_lossy(&hash).trim().to_owned()),
        Err(_) if git(cwd, ["rev-parse", "--is-shallow-repository"]).is_ok_and(|said| said.starts_with(b"true")) => {
            Err(Misuse {
                message: format!("this clone is shallow and does not hold {revision:?}"),
                help: "run `git fetch --unshallow` first; in CI, check out with the whole history (fetch-depth: 0)"
                    .to_owned(),
            })
        }
        Err(_) => Err(Misuse {
            message: format!("git knows no revision {revision:?}"),
            help: "name a commit, a tag or a branch, as in --since origin/main".to_owned(),
        }),
    }
}

/// Standard output of git, or the first line of what it complained about.
fn git<S: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = S>) -> Result<Vec<u8>, String> {
    let done = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .env("LC_ALL", "C")
        .output()
        .map_err(|error| format!("git did not start: {}", error.kind()))?;
    if done.status.success() {
        return Ok(done.stdout);
    }
    let said = String::from_utf8_lossy(&done.stderr);
    Err(said.lines().next().unwrap_or("git failed").trim_start_matches("fatal: ").to_owned())
}

fn hunks(diff: &[u8], top: &Path) -> BTreeMap<PathBuf, Vec<RangeInclusive<u32>>> {
    let mut lines: BTreeMap<PathBuf, Vec<RangeInclusive<u32>>> = BTreeMap::new();
    let mut file = None;
    // Body lines of a hunk may look like headers; its counts say how many they are.
    let mut body = 0_u64;
    for line in diff.split(|byte| *byte == b'\n') {
        if body > 0 && matches!(line.first(), Some(b'+' | b'-' | b' ')) {
            body -= 1;
        } else if let Some(name) = line.strip_prefix(b"+++ ") {
            file = unquoted(name).strip_prefix(b"b/").map(|name| top.join(path(name)));
        } else if let Some((removed, start, added)) = hunk(line) {
            body = u64::from(removed) + u64::from(added);
            // Lines that were only removed leave a seam between two lines.
            let (first, last) = if added == 0 { (start, start + 1) } else { (start, start + (added - 1)) };
            if let Some(file) = &file {
                lines.entry(file.clone()).or_default().push(first..=last);
            }
        }
    }
    lines
}

/// `@@ -12,3 +14,2 @@`: lines removed, first new line, lines added.
fn hunk(line: &[u8]) -> Option<(u32, u32, u32)> {
    let text = std::str::from_utf8(line.get(..line.len().min(80))?).ok()?;
    let mut parts = text.strip_prefix("@@ -")?.split(' ');
    let (_, removed) = pair(parts.next()?)?;
    let (start, added) = pair(parts.next()?.strip_prefix('+')?)?;
    Some((removed, start, added))
}

fn pair(text: &str) -> Option<(u32, u32)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

/// The bytes of a name that git put in quotes, C escapes undone; another name as it is, without the tab git adds
/// behind one with a space.
fn unquoted(name: &[u8]) -> Vec<u8> {
    let name = name.strip_suffix(b"\r").unwrap_or(name);
    let name = name.strip_suffix(b"\t").unwrap_or(name);
    let Some(inner) = name.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")) else {
        return name.to_vec();
    };
    let mut plain = Vec::with_capacity(inner.len());
    let mut bytes = inner.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            plain.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'n') => plain.push(b'\n'),
            Some(b't') => plain.push(b'\t'),
            Some(b'r') => plain.push(b'\r'),
            Some(digit @ b'0'..=b'3') => {
                let rest = [bytes.next(), bytes.next()]
                    .map(|next| u32::from(next.unwrap_or(b'0').wrapping_sub(b'0')));
                let value = u32::from(digit - b'0') * 64 + rest[0] * 8 + rest[1];
                plain.push(u8::try_from(value & 0xff).expect("masked to a byte"));
            }
            Some(other) => plain.push(other),
            None => {}
        }
    }
    plain
}

#[cfg(unix)]
fn path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_are_read_and_body_lines_that_look_like_headers_are_not() {
        let diff = b"diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n@@ -3 +3,2 @@ fn x()\n-old\n+new\n+++ b/y.rs\n\
@@ -9,2 +10,0 @@\n-a\n-b\ndiff --git \"a/\\303\\244 b.rs\" b/q.rs\n--- /dev/null\n+++ \"b/\\303\\244 b.rs\"\n@@ -0,0 +1,4 @@\n+1\n";
        let lines = hunks(diff, Path::new("/r"));
        assert_eq!(lines[Path::new("/r/x.rs")], [3..=4, 10..=11]);
        assert_eq!(lines[Path::new("/r/ä b.rs")], [1..=4]);
        assert_eq!(lines.len(), 2, "`+++ b/y.rs` is a line of text");
    }

    fn run(folder: &Path, arguments: &[&str]) {
        let fixed = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"];
        git(folder, fixed.iter().chain(arguments)).expect("git works");
    }

    #[test]
    fn changed_lines_and_new_files_are_touched_and_a_shallow_clone_says_what_to_do() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("real");
        run(&root, &["init", "-q", "-b", "main"]);
        std::fs::write(root.join("a.rs"), "one\ntwo\nthree\n").expect("written");
        run(&root, &["add", "."]);
        run(&root, &["commit", "-q", "-m", "first"]);
        std::fs::write(root.join("a.rs"), "one\ntwo!\nthree\n").expect("written");
        std::fs::write(root.join("b.rs"), "new\n").expect("written");
        let changes = Changes::since("HEAD", &root).expect("a repository");
        let (a, b) = (root.join("a.rs"), root.join("b.rs"));
        assert!(changes.touch(&a, 1, 2) && !changes.touch(&a, 1, 1) && !changes.touch(&a, 3, 9));
        assert!(changes.touch(&b, 1, 1));
        let unknown = Changes::since("nowhere", &root).expect_err("no such revision");
        assert!(unknown.message.contains("no revision"));
        assert!(Changes::since("--output=x", &root).is_err(), "an option is no revision");

        run(&root, &["add", "."]);
        run(&root, &["commit", "-q", "-m", "second"]);
        let clone = tempfile::tempdir().expect("a folder");
        let from = format!("file://{}", root.display());
        run(clone.path(), &["clone", "-q", "--depth", "1", &from, "c"]);
        let shallow = Changes::since("HEAD~1", &clone.path().join("c")).expect_err("not there");
        assert!(shallow.help.contains("--unshallow"), "{}", shallow.message);
        assert!(Changes::since("HEAD", Path::new("/")).is_err(), "no repository");
    }
}
