//! Which Rust files lie below the paths that were named.
//! Knows no crate and reads no file; what it does not follow or cannot enter it names.

use ignore::{DirEntry, WalkBuilder};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What a walk came across.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// Absolute paths of Rust sources, each once, in byte order.
    pub(super) files: BTreeSet<PathBuf>,
    /// Absolute paths of folders that hold a `Cargo.toml`.
    pub(super) manifests: BTreeSet<PathBuf>,
    /// What could not be entered or read.
    pub(super) problems: Vec<Obstacle>,
    /// What was left out on purpose, where the user may have wanted it.
    pub(super) notices: Vec<Obstacle>,
}

/// A place where the walk did not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Obstacle {
    pub(super) path: PathBuf,
    pub(super) message: String,
    pub(super) help: &'static str,
}

impl Obstacle {
    pub(super) fn new(path: &Path, message: impl Into<String>, help: &'static str) -> Obstacle {
        Obstacle { path: path.to_owned(), message: message.into(), help }
    }
}

/// Walks below `root`, an absolute folder. `.gitignore` and `.ignore` hold, hidden folders, build output and vendored
/// crates stay out. Links are not followed: one into `root` is met where it leads, one out of it is named.
pub(super) fn walk(root: &Path, walked: &mut Walked) {
    let mut builder = WalkBuilder::new(root);
    // The user's global excludes would make the result depend on the machine.
    builder
        .require_git(false)
        .git_global(false)
        .git_exclude(false)
        .filter_entry(|entry| !is_built_or_vendored(entry));
    for entry in builder.build() {
        match entry {
            Ok(entry) => take(root, &entry, walked),
            Err(error) => walked.problems.push(unreachable(root, &error)),
        }
    }
}

/// Build output carries cargo's cache tag, a vendored crate its checksums.
fn is_built_or_vendored(entry: &DirEntry) -> bool {
    entry.depth() > 0
        && entry.file_type().is_some_and(|kind| kind.is_dir())
        && (entry.path().join("CACHEDIR.TAG").is_file()
            || entry.path().join(".cargo-checksum.json").is_file())
}

fn take(root: &Path, entry: &DirEntry, walked: &mut Walked) {
    if let Some(error) = entry.error() {
        walked.notices.push(Obstacle::new(
            entry.path(),
            format!("an ignore file was not understood: {error}"),
            "mend the pattern; the other patterns of the file still hold",
        ));
    }
    let Some(kind) = entry.file_type() else { return };
    let path = entry.path();
    if kind.is_symlink() {
        take_link(root, path, walked);
    } else if kind.is_dir() {
    } else if entry.file_name() == "Cargo.toml" {
        walked.manifests.extend(path.parent().map(Path::to_owned));
    } else if is_rust(path) {
        take_file(path, kind.is_file(), walked);
    }
}

fn take_file(path: &Path, regular: bool, walked: &mut Walked) {
    if regular {
        walked.files.insert(path.to_owned());
    } else {
        walked.problems.push(Obstacle::new(
            path,
            "not a regular file",
            "remove it or name the sources themselves; pipes and devices are not read",
        ));
    }
}

fn take_link(root: &Path, path: &Path, walked: &mut Walked) {
    let target = match path.canonicalize() {
        Ok(target) => target,
        // A dead link to something else than a source is none of the lint's business; a loop may hide a folder.
        Err(error) if !is_rust(path) && error.kind() == std::io::ErrorKind::NotFound => return,
        Err(error) => {
            let message = format!("a symbolic link leads nowhere: {}", error.kind());
            walked.problems.push(Obstacle::new(path, message, "mend or remove the link; the rest was read"));
            return;
        }
    };
    let home = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let inside = target.starts_with(&home);
    if target.is_dir() {
        if path
            .parent()
            .and_then(|parent| parent.canonicalize().ok())
            .is_some_and(|parent| parent.starts_with(&target))
        {
            let help = "remove the link; the folder it leads back to was read once";
            walked.problems.push(Obstacle::new(
                path,
                "a symbolic link leads back to a folder it lies in",
                help,
            ));
        } else if !inside {
            let help = "name the folder on the command line to have it checked";
            walked.notices.push(Obstacle::new(
                path,
                "a symbolic link out of the folder was not followed",
                help,
            ));
        }
    } else if is_rust(path) && !(inside && is_rust(&target)) {
        take_file(path, target.is_file(), walked);
    }
}

fn unreachable(root: &Path, error: &ignore::Error) -> Obstacle {
    let mut path = root.to_owned();
    let mut cause = error;
    loop {
        cause = match cause {
            ignore::Error::WithPath { path: at, err } => {
                path.clone_from(at);
                err
            }
            ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => err,
            _ => break,
        };
    }
    let message = match cause {
        ignore::Error::Io(error) => format!("cannot be read: {}", error.kind()),
        other => format!("cannot be read: {other}"),
    };
    Obstacle::new(&path, message, "check that the path exists and that you may read it")
}

pub(super) fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn walked(root: &Path) -> Walked {
        let mut walked = Walked::default();
        walk(root, &mut walked);
        walked
    }

    fn names(walked: &Walked, root: &Path) -> Vec<String> {
        walked
            .files
            .iter()
            .map(|file| file.strip_prefix(root).expect("below root").display().to_string())
            .collect()
    }

    #[test]
    fn ignored_built_vendored_and_hidden_files_stay_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("real");
        for (path, text) in [
            ("Cargo.toml", "[package]"),
            ("src/lib.rs", ""),
            ("src/secret.rs", ""),
            (".gitignore", "secret.rs\n"),
            ("out/CACHEDIR.TAG", ""),
            ("out/made.rs", ""),
            ("vendor/dep/.cargo-checksum.json", "{}"),
            ("vendor/dep/src/lib.rs", ""),
            (".hidden/lib.rs", ""),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        }
        let walked = walked(&root);
        assert_eq!(names(&walked, &root), ["src/lib.rs"]);
        assert_eq!(walked.manifests, BTreeSet::from([root]));
        assert!(walked.problems.is_empty(), "{:?}", walked.problems);
    }

    #[cfg(unix)]
    #[test]
    fn loops_dead_links_and_links_out_are_named_and_the_rest_is_read() {
        let (folder, elsewhere) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("another"));
        let root = folder.path().canonicalize().expect("real");
        fs::write(root.join("lib.rs"), "").expect("written");
        fs::write(elsewhere.path().join("far.rs"), "").expect("written");
        let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, root.join(name)).expect("linked");
        link(&root, "again");
        link(&root.join("lib.rs"), "twice.rs");
        link(&root.join("gone.rs"), "dead.rs");
        link(&root.join("round.rs"), "round.rs");
        link(elsewhere.path(), "out");
        link(&elsewhere.path().join("far.rs"), "far.rs");
        let walked = walked(&root);
        assert_eq!(names(&walked, &root), ["far.rs", "lib.rs"]);
        let mut named: Vec<_> =
            walked.problems.iter().map(|it| it.path.strip_prefix(&root).expect("below").to_owned()).collect();
        named.sort();
        assert_eq!(named, ["again", "dead.rs", "round.rs"].map(PathBuf::from));
        assert_eq!(walked.notices.len(), 1);
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let missing = folder.path().join("nowhere");
        let walked = walked(&missing);
        assert_eq!(walked.problems.len(), 1);
        assert_eq!(walked.problems[0].path, missing);
    }
}
