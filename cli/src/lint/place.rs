//! Where a path is, seen from where the user stands.
//! Knows the lexical form of paths and asks the disk only to undo `..` behind a folder that may be a link.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// The working directory, and how paths look from there.
#[derive(Clone, Debug)]
pub(super) struct Standpoint {
    cwd: PathBuf,
    /// Folders and files that were named by absolute paths: what lies below is shown that way too.
    named_absolutely: Vec<PathBuf>,
}

impl Standpoint {
    pub(super) fn here() -> std::io::Result<Standpoint> {
        Ok(Standpoint { cwd: std::env::current_dir()?, named_absolutely: Vec::new() })
    }

    #[cfg(test)]
    pub(super) fn at(cwd: &Path) -> Standpoint {
        Standpoint { cwd: cwd.to_owned(), named_absolutely: Vec::new() }
    }

    pub(super) fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The absolute, `.`-less form of a path that the user typed.
    pub(super) fn absolute(&mut self, typed: &Path) -> PathBuf {
        let clean = collapse(&self.cwd, typed);
        if typed.is_absolute() && !clean.starts_with(&self.cwd) {
            self.named_absolutely.push(clean.clone());
        }
        clean
    }

    /// How an absolute path is shown: from here where it lies below, absolute where the user wrote it so, else with
    /// `..`. Separators are `/`.
    pub(super) fn shown(&self, path: &Path) -> PathBuf {
        let seen = match path.strip_prefix(&self.cwd) {
            Ok(rest) if rest.as_os_str().is_empty() => PathBuf::from("."),
            Ok(rest) => rest.to_owned(),
            Err(_) if self.named_absolutely.iter().any(|root| path.starts_with(root)) => path.to_owned(),
            Err(_) => upwards(&self.cwd, path),
        };
        with_slashes(seen)
    }
}

/// `base` joined with `typed`, without `.` and with `..` undone: lexically while only `base` (a real path) is
/// undone, by the disk where a named folder is, since that may be a link.
fn collapse(base: &Path, typed: &Path) -> PathBuf {
    let undoes_a_name = typed
        .components()
        .skip_while(|part| !matches!(part, Component::Normal(_)))
        .any(|part| part == Component::ParentDir);
    if undoes_a_name && let Ok(real) = base.join(typed).canonicalize() {
        return real;
    }
    let mut clean = PathBuf::new();
    for part in base.join(typed).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

fn upwards(cwd: &Path, path: &Path) -> PathBuf {
    let shared = cwd.components().zip(path.components()).take_while(|(one, other)| one == other).count();
    let up = std::iter::repeat_n(Component::ParentDir, cwd.components().count() - shared);
    up.chain(path.components().skip(shared)).collect()
}

fn with_slashes(path: PathBuf) -> PathBuf {
    if std::path::MAIN_SEPARATOR == '/' {
        return path;
    }
    let text: OsString = path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/").into();
    PathBuf::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_from_where_the_user_stands() {
        let mut stand = Standpoint::at(Path::new("/home/ada/client"));
        for (typed, shown) in [
            (".", "."),
            ("./src/./lib.rs", "src/lib.rs"),
            ("/home/ada/client/src/lib.rs", "src/lib.rs"),
            ("../server/main.rs", "../server/main.rs"),
            ("/srv/other/main.rs", "/srv/other/main.rs"),
        ] {
            let absolute = stand.absolute(Path::new(typed));
            assert_eq!(stand.shown(&absolute), Path::new(shown), "{typed}");
        }
        assert_eq!(stand.shown(Path::new("/home/ada/lib.rs")), Path::new("../lib.rs"));
    }
}
