//! What a lint run looks at: the files asked for, and the rest of their crates, which gives them their meaning.
//! Knows folders and crates; reads no Rust.

use super::package::{Packages, Target};
use super::walk::{Obstacle, Walked, is_rust, walk};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A crate, or a folder of sources that belong to none.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// Its name: of the crate, or of the folder.
    pub(super) name: String,
    /// Absolute folder.
    pub(super) home: PathBuf,
    /// The root of its workspace: crates of one root are judged together.
    pub(super) root: PathBuf,
    /// Its files, by absolute path.
    pub(super) files: BTreeMap<PathBuf, Reason>,
}

/// Why a file is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    /// Only because files of its crate were asked for: findings in it are not shown.
    Context,
    /// It lies in a folder that was asked for.
    Asked,
    /// It was named itself, so it is checked whatever kind of target it belongs to.
    Named,
}

/// Everything a run looks at.
#[derive(Debug, Default)]
pub(super) struct Selection {
    /// By folder.
    pub(super) units: Vec<Unit>,
    pub(super) problems: Vec<Obstacle>,
    pub(super) notices: Vec<Obstacle>,
    /// Rust files that were left out because of their target.
    pub(super) apart: u64,
}

/// What decides whether a file below a named folder is taken.
pub(super) struct Wanted<'a> {
    pub(super) include: &'a [Target],
    /// Of the configuration: paths, relative to its folder, that are left out.
    pub(super) excluded: &'a dyn Fn(&Path) -> bool,
}

/// Finds the crates and files that the absolute paths `named` lead to.
pub(super) fn select(named: &[PathBuf], wanted: &Wanted<'_>) -> Selection {
    let mut selection = Selection::default();
    let mut packages = Packages::default();
    let mut reasons: BTreeMap<PathBuf, Reason> = BTreeMap::new();
    let mut covered = BTreeSet::new();
    for path in named {
        match std::fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                let files = gather(path, &mut selection);
                take(path, files, wanted, &mut packages, &mut reasons, &mut selection.apart);
                covered.insert(path.clone());
            }
            Ok(found) if found.is_file() => drop(reasons.insert(path.clone(), Reason::Named)),
            Ok(_) => selection.problems.push(Obstacle::new(
                path,
                "not a regular file",
                "name a file or a folder; use `-` to read one source from the standard input",
            )),
            Err(error) => selection.problems.push(Obstacle::new(
                path,
                format!("cannot be read: {}", error.kind()),
                "check that the path exists and that you may read it",
            )),
        }
    }
    add_context(&mut reasons, &covered, wanted, &mut packages);
    selection.units = grouped(reasons, &covered, &mut packages);
    selection
}

fn gather(folder: &Path, selection: &mut Selection) -> BTreeSet<PathBuf> {
    let mut walked = Walked::default();
    walk(folder, &mut walked);
    selection.problems.append(&mut walked.problems);
    selection.notices.append(&mut walked.notices);
    walked.files
}

fn take(
    asked: &Path,
    files: BTreeSet<PathBuf>,
    wanted: &Wanted<'_>,
    packages: &mut Packages,
    reasons: &mut BTreeMap<PathBuf, Reason>,
    apart: &mut u64,
) {
    for file in files {
        let home = packages.home(&file);
        let target = packages.target(&file, home.as_deref(), asked);
        if target.is_some_and(|target| !wanted.include.contains(&target)) {
            *apart += 1;
        } else if !(wanted.excluded)(&file) {
            reasons.entry(file).or_insert(Reason::Asked);
        }
    }
}

/// Reads in the rest of each crate of which only a part was asked for. What stands in its way is not named: the user
/// did not ask for it.
fn add_context(
    reasons: &mut BTreeMap<PathBuf, Reason>,
    covered: &BTreeSet<PathBuf>,
    wanted: &Wanted<'_>,
    packages: &mut Packages,
) {
    let homes: BTreeSet<PathBuf> = reasons.keys().filter_map(|file| packages.home(file)).collect();
    for home in homes.iter().filter(|home| !covered.iter().any(|asked| home.starts_with(asked))) {
        let mut walked = Walked::default();
        walk(home, &mut walked);
        let mut context = BTreeMap::new();
        take(home, walked.files, wanted, packages, &mut context, &mut 0);
        for file in context.into_keys().filter(|file| is_rust(file)) {
            reasons.entry(file).or_insert(Reason::Context);
        }
    }
}

fn grouped(
    reasons: BTreeMap<PathBuf, Reason>,
    covered: &BTreeSet<PathBuf>,
    packages: &mut Packages,
) -> Vec<Unit> {
    let mut units: BTreeMap<PathBuf, Unit> = BTreeMap::new();
    for (file, reason) in reasons {
        let package = packages.home(&file);
        let home = package.clone().unwrap_or_else(|| loose_home(&file, covered));
        let unit = units.entry(home.clone()).or_insert_with(|| {
            let root = packages.workspace(&home);
            let name = package.map_or_else(String::new, |home| packages.name(&home));
            Unit { name, home, root, files: BTreeMap::new() }
        });
        unit.files.insert(file, reason);
    }
    units.into_values().filter(|unit| unit.files.values().any(|reason| *reason > Reason::Context)).collect()
}

/// Sources without a manifest are read together with those of the folder that was named: they may be its modules.
fn loose_home(file: &Path, covered: &BTreeSet<PathBuf>) -> PathBuf {
    let named = covered.iter().find(|folder| file.starts_with(folder)).map(PathBuf::as_path);
    named.or(file.parent()).unwrap_or(file).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn laid_out() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("real");
        for (path, text) in [
            ("a/Cargo.toml", "[package]\nname = 'a'\n"),
            ("a/src/lib.rs", ""),
            ("a/src/wire.rs", ""),
            ("a/tests/all.rs", ""),
            ("b/Cargo.toml", "[package]\nname = 'b'\n"),
            ("b/src/lib.rs", ""),
            ("loose/one.rs", ""),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        }
        (folder, root)
    }

    fn selected(root: &Path, named: &[&str], include: &[Target]) -> (Vec<String>, Selection) {
        let named: Vec<_> = named.iter().map(|name| root.join(name)).collect();
        let selection = select(&named, &Wanted { include, excluded: &|_| false });
        let mut lines = Vec::new();
        for unit in &selection.units {
            for (file, reason) in &unit.files {
                lines.push(format!(
                    "{} {} {reason:?}",
                    unit.name,
                    file.strip_prefix(root).expect("below").display()
                ));
            }
        }
        (lines, selection)
    }

    #[test]
    fn a_folder_gives_its_crates_and_leaves_tests_apart() {
        let (_folder, root) = laid_out();
        let (lines, selection) = selected(&root, &[""], &[]);
        assert_eq!(
            lines,
            [" loose/one.rs Asked", "a a/src/lib.rs Asked", "a a/src/wire.rs Asked", "b b/src/lib.rs Asked"]
        );
        assert_eq!(selection.apart, 1);
        let (lines, _) = selected(&root, &["a"], &[Target::Tests]);
        assert_eq!(lines.last().map(String::as_str), Some("a a/tests/all.rs Asked"));
    }

    #[test]
    fn one_file_is_read_with_its_crate_but_only_it_was_asked_for() {
        let (_folder, root) = laid_out();
        let (lines, _) = selected(&root, &["a/src/wire.rs"], &[]);
        assert_eq!(lines, ["a a/src/lib.rs Context", "a a/src/wire.rs Named"]);
        let (lines, _) = selected(&root, &["a/tests/all.rs"], &[]);
        assert!(lines.contains(&"a a/tests/all.rs Named".to_owned()), "named, so wanted: {lines:?}");
        let (lines, _) = selected(&root, &["a/tests"], &[]);
        assert!(lines.contains(&"a a/tests/all.rs Asked".to_owned()), "named, so wanted: {lines:?}");
    }

    #[test]
    fn a_path_that_is_not_there_is_named_and_the_rest_is_read() {
        let (_folder, root) = laid_out();
        let (lines, selection) = selected(&root, &["nowhere", "b"], &[]);
        assert_eq!(lines, ["b b/src/lib.rs Asked"]);
        assert_eq!(selection.problems.len(), 1);
    }
}
