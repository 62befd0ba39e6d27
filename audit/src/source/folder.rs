//! Folders as the files in them.
//! Knows names alone; whether a file is a log shows when it is read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Folders within folders that are followed.
const DEEPEST: usize = 64;

/// A file to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Where it is.
    pub path: PathBuf,
    /// It was not named itself but found in a folder that was: if it is no log, nothing is lost.
    pub found: bool,
}

/// The files that `paths` stand for: of a folder all files in it and below, by name, but for hidden ones; everything
/// else, also what is not there, as it is. A file that is named and found is named.
///
/// A folder that is a link is followed where it is named, not where it is found, so that no way leads in a circle.
pub fn inputs(paths: &[PathBuf]) -> Vec<Input> {
    let mut inputs: Vec<Input> = Vec::new();
    let mut at = BTreeMap::new();
    let mut add = |path: PathBuf, found: bool| match at.get(&path) {
        Some(known) => {
            let known: &mut Input = &mut inputs[*known];
            known.found &= found;
        }
        None => {
            at.insert(path.clone(), inputs.len());
            inputs.push(Input { path, found });
        }
    };
    for path in paths {
        let mut within = Vec::new();
        if !super::is_stdin(path) && path.is_dir() {
            walk(path, DEEPEST, &mut within);
            // One that holds nothing is told when it is opened.
            if !within.is_empty() {
                within.into_iter().for_each(|path| add(path, true));
                continue;
            }
        }
        add(path.clone(), false);
    }
    inputs
}

/// Whether nothing is to be read in a folder and below.
pub(super) fn is_bare(folder: &Path) -> bool {
    let mut files = Vec::new();
    walk(folder, DEEPEST, &mut files);
    files.is_empty()
}

fn walk(folder: &Path, deeper: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        // Opening it tells why.
        files.push(folder.to_owned());
        return;
    };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && deeper > 0 => walk(&entry.path(), deeper - 1, files),
            Ok(kind) if kind.is_symlink() && entry.path().is_dir() => {}
            _ => files.push(entry.path()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_folder_is_its_files_by_name_and_a_named_one_stays_named() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("b/deep")).unwrap();
        std::fs::create_dir(at("c.empty")).unwrap();
        for name in ["z.log", "b/deep/2.log", "b/1.log", ".hidden", "b/.git", "a.log"] {
            std::fs::write(at(name), "x").unwrap();
        }
        let given = [folder.path().to_owned(), at("z.log"), at("none"), at("c.empty"), PathBuf::from("-")];
        let told: Vec<(PathBuf, bool)> =
            inputs(&given).into_iter().map(|input| (input.path, input.found)).collect();
        let expected = [
            (at("a.log"), true),
            (at("b/1.log"), true),
            (at("b/deep/2.log"), true),
            (at("z.log"), false),
            (at("none"), false),
            (at("c.empty"), false),
            (PathBuf::from("-"), false),
        ];
        assert_eq!(told, expected);
    }

    #[cfg(unix)]
    #[test]
    fn a_circle_of_links_ends() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("again")).unwrap();
        std::fs::write(folder.path().join("a.log"), "x").unwrap();
        assert_eq!(inputs(&[folder.path().to_owned()]).len(), 1);
    }
}
