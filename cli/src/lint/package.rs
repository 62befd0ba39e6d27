//! Which crate a Rust file belongs to, and to which kind of target in it.
//! Knows manifests and cargo's layout, not the module tree and no Rust.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The kind of target that a file belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// Integration tests (`tests/`), and code under `#[cfg(test)]`
    Tests,
    /// Examples (`examples/`)
    Examples,
    /// Benchmarks (`benches/`)
    Benches,
    /// Build scripts (`build.rs`)
    Build,
}

/// A crate: the folder of its manifest, and the targets that the manifest moves elsewhere.
#[derive(Debug)]
struct Package {
    name: String,
    moved: Vec<(PathBuf, Target)>,
    build: Option<PathBuf>,
}

/// Manifests that were looked at, by folder.
#[derive(Debug, Default)]
pub(super) struct Packages {
    seen: BTreeMap<PathBuf, Option<Package>>,
    /// Whether the folder's manifest is the root of a workspace.
    roots: BTreeMap<PathBuf, bool>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Manifest {
    package: Option<Named>,
    test: Vec<Moved>,
    example: Vec<Moved>,
    bench: Vec<Moved>,
}

#[derive(Deserialize)]
struct Named {
    name: Option<String>,
    build: Option<toml::Value>,
}

#[derive(Deserialize)]
struct Moved {
    path: Option<PathBuf>,
}

impl Packages {
    /// The folder of the crate that `file` (absolute) lies in: the nearest one above it whose manifest has a package.
    pub(super) fn home(&mut self, file: &Path) -> Option<PathBuf> {
        file.ancestors().skip(1).find(|folder| self.package(folder).is_some()).map(Path::to_owned)
    }

    /// The root of the workspace that the crate at `home` belongs to, or `home` itself. Members that a workspace excludes
    /// are taken for its own: they are built from the same sources.
    pub(super) fn workspace(&mut self, home: &Path) -> PathBuf {
        let root = home.ancestors().find(|folder| self.is_root(folder));
        root.unwrap_or(home).to_owned()
    }

    fn is_root(&mut self, folder: &Path) -> bool {
        if let Some(known) = self.roots.get(folder) {
            return *known;
        }
        let text = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        let root = text.lines().any(|line| line.trim_start().starts_with("[workspace"));
        self.roots.insert(folder.to_owned(), root);
        root
    }

    /// The crate's name, or that of its folder where the manifest does not tell.
    pub(super) fn name(&mut self, home: &Path) -> String {
        self.package(home).map(|package| package.name.clone()).unwrap_or_default()
    }

    /// The kind of target of `file` in the crate at `home`, when `asked` is the folder the user named: a crate that
    /// lies in an `examples` folder is an example unless the user named it or something in it. `None`: ordinary code.
    pub(super) fn target(&mut self, file: &Path, home: Option<&Path>, asked: &Path) -> Option<Target> {
        let above = home.map_or(file.parent().unwrap_or(asked), |home| home);
        let outer = above.strip_prefix(asked).ok().and_then(|between| {
            between.components().find_map(|part| folder_target(part.as_os_str().to_str().unwrap_or_default()))
        });
        let names_a_target = |home: &&Path| {
            let first = asked.strip_prefix(home).ok().and_then(|inside| inside.components().next());
            first.and_then(|first| folder_target(first.as_os_str().to_str()?)).is_some()
        };
        let home = home.filter(|home| !names_a_target(home));
        outer.or_else(|| home.and_then(|home| self.inner_target(file, home)))
    }

    fn inner_target(&mut self, file: &Path, home: &Path) -> Option<Target> {
        let within = file.strip_prefix(home).ok()?;
        let package = self.package(home)?;
        if package.build.as_deref() == Some(within) {
            return Some(Target::Build);
        }
        if let Some((_, target)) = package.moved.iter().find(|(path, _)| path == within) {
            return Some(*target);
        }
        let mut parts = within.components();
        let first = parts.next()?.as_os_str().to_str()?;
        parts.next().and(folder_target(first))
    }

    fn package(&mut self, folder: &Path) -> Option<&Package> {
        self.seen.entry(folder.to_owned()).or_insert_with(|| Package::read(folder)).as_ref()
    }
}

fn folder_target(name: &str) -> Option<Target> {
    match name {
        "tests" => Some(Target::Tests),
        "examples" => Some(Target::Examples),
        "benches" => Some(Target::Benches),
        _ => None,
    }
}

impl Package {
    /// A manifest that cargo would refuse still marks a crate if it has a `[package]` line.
    fn read(folder: &Path) -> Option<Package> {
        let text = std::fs::read_to_string(folder.join("Cargo.toml")).ok()?;
        let fallback = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Ok(manifest) = toml::from_str::<Manifest>(&text) else {
            let marked = text.lines().any(|line| line.trim() == "[package]");
            return marked.then(|| Package {
                name: fallback,
                moved: Vec::new(),
                build: Some("build.rs".into()),
            });
        };
        let named = manifest.package?;
        let tables = [
            (manifest.test, Target::Tests),
            (manifest.example, Target::Examples),
            (manifest.bench, Target::Benches),
        ];
        let moved = tables
            .into_iter()
            .flat_map(|(rows, target)| rows.into_iter().filter_map(move |row| Some((row.path?, target))))
            .collect();
        let build = match named.build {
            None | Some(toml::Value::Boolean(true)) => Some(PathBuf::from("build.rs")),
            Some(toml::Value::String(path)) => Some(PathBuf::from(path)),
            Some(_) => None,
        };
        Some(Package { name: named.name.unwrap_or(fallback), moved, build })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn laid_out(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("real");
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        }
        (folder, root)
    }

    #[test]
    fn a_file_belongs_to_the_nearest_package_and_to_a_target_of_it() {
        let (_folder, root) = laid_out(&[
            ("Cargo.toml", "[workspace]\nmembers = ['client', 'examples/chat']\n"),
            (
                "client/Cargo.toml",
                "[package]\nname = 'client'\n[[test]]\nname = 'odd'\npath = 'odd/place.rs'\n",
            ),
            ("examples/chat/Cargo.toml", "[package]\nname = 'chat'\n"),
        ]);
        let mut packages = Packages::default();
        for (file, home, target) in [
            ("client/src/lib.rs", Some("client"), None),
            ("client/src/tests/wire.rs", Some("client"), None),
            ("client/tests/wire.rs", Some("client"), Some(Target::Tests)),
            ("client/odd/place.rs", Some("client"), Some(Target::Tests)),
            ("client/benches/speed.rs", Some("client"), Some(Target::Benches)),
            ("client/build.rs", Some("client"), Some(Target::Build)),
            ("examples/chat/src/main.rs", Some("examples/chat"), Some(Target::Examples)),
            ("examples/loose.rs", None, Some(Target::Examples)),
        ] {
            let path = root.join(file);
            let found = packages.home(&path).filter(|found| found.starts_with(&root));
            assert_eq!(found, home.map(|home| root.join(home)), "{file}");
            assert_eq!(packages.target(&path, found.as_deref(), &root), target, "{file}");
        }
        let main = root.join("examples/chat/src/main.rs");
        let chat = root.join("examples/chat");
        assert_eq!(packages.target(&main, Some(&chat), &chat), None, "named by the user, so wanted");
        assert_eq!(packages.name(&chat), "chat");
    }

    #[test]
    fn a_broken_manifest_still_marks_its_crate() {
        let (_folder, root) = laid_out(&[("Cargo.toml", "[package]\nname = \n"), ("src/lib.rs", "")]);
        assert_eq!(Packages::default().home(&root.join("src/lib.rs")), Some(root));
    }
}
