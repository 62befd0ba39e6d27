//! Reads the registry's copies of the crates and asks them whether every row is still true of them.
//! Knows no row by heart, and skips with a printed reason the crates that are not on this machine.

use super::{ALL, Role, Sdk};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders of unpacked crates below cargo's registry.
fn unpacked() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")));
    let Some(sources) = home.map(|home| home.join("registry").join("src")) else { return Vec::new() };
    let listed = |path: &Path| -> Vec<PathBuf> {
        fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    listed(&sources).iter().flat_map(|index| listed(index)).collect()
}

/// All Rust text of the copies of a crate (and of the crates whose roots the row names) in the named versions; what is
/// missing, if one of the versions is: a row may be true of that one alone.
fn text_of(sdk: &Sdk, crates: &[PathBuf]) -> Result<String, String> {
    let mut text = String::new();
    let copies: Vec<(String, String, &PathBuf)> = crates
        .iter()
        .filter_map(|folder| {
            let name = folder.file_name()?.to_string_lossy().into_owned();
            let (krate, version) = split_version(&name)?;
            Some((krate.replace('-', "_"), version.to_owned(), folder))
        })
        .collect();
    let own = sdk.krate.replace('-', "_");
    // Not every release has every crate that another re-exports.
    if let Some(root) = sdk.roots.iter().find(|root| !copies.iter().any(|(krate, ..)| krate == *root)) {
        return Err((*root).to_owned());
    }
    for wanted in sdk.versions.split(", ") {
        let of = |version: &str| version == wanted || version.starts_with(&format!("{wanted}."));
        if !copies.iter().any(|(krate, version, _)| *krate == own && of(version)) {
            return Err(format!("{} {wanted}", sdk.krate));
        }
        let named = |krate: &String| *krate == own || sdk.roots.contains(&krate.as_str());
        for (_, _, folder) in copies.iter().filter(|(krate, version, _)| named(krate) && of(version)) {
            gather(&folder.join("src"), &mut text);
        }
    }
    Ok(text)
}

/// `rust-mcp-sdk-0.8.3` is `rust-mcp-sdk` and `0.8.3`.
fn split_version(folder: &str) -> Option<(&str, &str)> {
    let at = folder.match_indices('-').map(|(at, _)| at).find(|at| {
        folder[at + 1..].starts_with(|first: char| first.is_ascii_digit()) && folder[at + 1..].contains('.')
    })?;
    Some((&folder[..at], &folder[at + 1..]))
}

fn gather(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            gather(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(&path).unwrap_or_default());
        }
    }
}

fn has_word(text: &str, word: &str) -> bool {
    let part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    text.match_indices(word).any(|(at, _)| {
        !part(at.checked_sub(1).and_then(|before| text.as_bytes().get(before)))
            && !part(text.as_bytes().get(at + word.len()))
    })
}

fn declares_type(text: &str, name: &str) -> bool {
    ["struct ", "enum ", "trait ", "type "].iter().any(|keyword| has_word(text, &format!("{keyword}{name}")))
}

/// The body of the first `enum NAME`, up to the brace that closes it.
fn enum_bodies<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let head = format!("enum {name}");
    let starts = text.match_indices(&head).filter(|(at, _)| {
        text.as_bytes()
            .get(at + head.len())
            .is_some_and(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
    });
    starts.filter_map(|(at, _)| text[at..].find("\n}").map(|end| &text[at..at + end])).collect()
}

fn wrong_rows(sdk: &Sdk, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for known in sdk.types.iter().filter(|known| !declares_type(text, known.name)) {
        wrong.push(format!("{}: no type {}", sdk.krate, known.name));
    }
    for function in sdk.functions {
        let declared = has_word(text, &format!("fn {}", function.name))
            || has_word(text, &format!("peer_req {}", function.name))
            || has_word(text, &format!("pub {}", function.name));
        if !declared || function.on.is_some_and(|on| !declares_type(text, on)) {
            wrong.push(format!("{}: no function {:?}::{}", sdk.krate, function.on, function.name));
        }
    }
    for row in sdk.variants {
        if !enum_bodies(text, row.on).iter().any(|body| has_word(body, row.name)) {
            wrong.push(format!("{}: no variant {}::{}", sdk.krate, row.on, row.name));
        }
    }
    for row in sdk.settings {
        if !declares_type(text, row.on) || !(row.name.is_empty() || has_word(text, row.name)) {
            wrong.push(format!("{}: no setting {}.{}", sdk.krate, row.on, row.name));
        }
    }
    wrong
}

#[test]
fn every_row_names_something_that_the_crate_declares() {
    let crates = unpacked();
    let mut wrong = Vec::new();
    for sdk in ALL {
        let text = match text_of(sdk, &crates) {
            Ok(text) => text,
            Err(missing) => {
                eprintln!("skipped: {missing} is not in this machine's registry");
                continue;
            }
        };
        wrong.extend(wrong_rows(sdk, &text));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_row_that_the_source_does_not_bear_out_is_caught() {
    let text =
        "pub struct Client;\nimpl Client { pub fn call_tool(&self) {} }\npub enum Error {\n    Gone,\n}\n";
    const ROW: Sdk = Sdk {
        krate: "invented",
        versions: "1.0.0",
        roots: &["invented"],
        types: &[super::ty("Client", Role::Handle), super::ty("Clien", Role::Handle)],
        functions: &[
            super::method("Client", "call_tool", super::Deed::CallTool),
            super::method("Client", "tool", super::Deed::CallTool),
        ],
        variants: &[
            super::variant("Error", "Gone", super::Meaning::SessionGone),
            super::variant("Error", "Gon", super::Meaning::Mixed),
        ],
        settings: &[],
    };
    let wrong = wrong_rows(&ROW, text);
    assert_eq!(wrong.len(), 3, "{wrong:#?}");
}

#[test]
fn a_name_with_two_meanings_is_answered_only_with_its_type() {
    assert_eq!(super::deed(ALL, Some("McpClient"), "shut_down"), Some(super::Deed::End));
    assert_eq!(super::deed(ALL, None, "call_tool"), Some(super::Deed::CallTool));
    assert_eq!(super::deed(ALL, None, "connect"), None, "tower-mcp connects, neva initialises");
    assert_eq!(
        super::meaning(ALL, Some("StreamableHttpError"), "SessionExpired"),
        Some(super::Meaning::SessionGone)
    );
    assert_eq!(super::meaning(ALL, None, "Transport"), None);
}
