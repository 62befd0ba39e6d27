//! Which files are modules that exist only in tests.
//! Knows `mod` declarations by their text, not what the modules hold.

use std::path::{Path, PathBuf};

/// Stems of the out-of-line modules that `text`, the file at `file`, declares under `#[cfg(test)]`: the module is
/// `stem.rs`, or whatever lies in the folder `stem`.
pub(super) fn test_modules(file: &Path, text: &str) -> Vec<PathBuf> {
    let mut stems = Vec::new();
    for at in memchr::memmem::find_iter(text.as_bytes(), b"#[cfg(") {
        let condition = &text[at + "#[cfg(".len()..];
        if !condition.starts_with("test)]") && !condition.starts_with("all(test") {
            continue;
        }
        let Some((_, mut rest)) = condition.split_once(']') else { continue };
        let mut moved = None;
        loop {
            rest = rest.trim_start();
            if let Some(comment) = rest.strip_prefix("//") {
                rest = comment.split_once('\n').map_or("", |(_, rest)| rest);
            } else if let Some(attribute) = rest.strip_prefix("#[") {
                let Some((inner, after)) = attribute.split_once(']') else { break };
                if inner.trim_start().starts_with("path") {
                    moved = inner.split('"').nth(1);
                }
                rest = after;
            } else {
                break;
            }
        }
        if let Some(name) = declared(rest) {
            stems.push(match moved {
                Some(path) => file.with_file_name(path).with_extension(""),
                None => folder_of(file).join(name),
            });
        }
    }
    stems
}

/// Whether the file is one of the modules, or lies in one.
pub(super) fn holds(stems: &[PathBuf], file: &Path) -> bool {
    stems.iter().any(|stem| file.with_extension("") == *stem || file.starts_with(stem))
}

/// The name in `mod name;`, whatever its visibility.
fn declared(text: &str) -> Option<&str> {
    let text = match text.strip_prefix("pub") {
        Some(rest) if rest.trim_start().starts_with('(') => rest.split_once(')')?.1.trim_start(),
        Some(rest) => rest.trim_start(),
        None => text,
    };
    let rest = text.strip_prefix("mod ")?.trim_start();
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_')?;
    rest[end..].trim_start().starts_with(';').then(|| &rest[..end])
}

/// The folder that holds the modules of a file.
fn folder_of(file: &Path) -> PathBuf {
    let root = file.file_stem().is_some_and(|stem| stem == "mod" || stem == "lib" || stem == "main");
    if root { file.parent().map(Path::to_owned).unwrap_or_default() } else { file.with_extension("") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_modules_under_cfg_test_are_test_modules() {
        let text = "mod wire;\n#[cfg(test)]\n// why\n#[allow(dead_code)]\npub(crate) mod checks;\n#[cfg(test)]\nmod inline { }\n\
#[cfg(not(test))]\nmod real;\n#[cfg(test)]\n#[path = \"odd_tests.rs\"]\nmod t;\n#[cfg(all(test, unix))]\nmod unix_only;";
        let stems = test_modules(Path::new("/c/src/wire.rs"), text);
        assert_eq!(
            stems,
            ["/c/src/wire/checks", "/c/src/odd_tests", "/c/src/wire/unix_only"].map(PathBuf::from)
        );
        assert!(holds(&stems, Path::new("/c/src/wire/checks.rs")));
        assert!(holds(&stems, Path::new("/c/src/wire/checks/deep/mod.rs")));
        assert!(holds(&stems, Path::new("/c/src/odd_tests.rs")));
        assert!(!holds(&stems, Path::new("/c/src/wire.rs")));
        assert_eq!(
            test_modules(Path::new("/c/src/lib.rs"), "#[cfg(test)] mod t;"),
            [PathBuf::from("/c/src/t")]
        );
    }

    #[test]
    fn broken_text_declares_nothing() {
        for text in
            ["#[cfg(test)]", "#[cfg(test)] #[path", "#[cfg(test)] mod", "#[cfg(test)] pub(", "#[cfg(all(test"]
        {
            assert!(test_modules(Path::new("/lib.rs"), text).is_empty(), "{text}");
        }
    }
}
