//! The pages of the breaches, and the list of them.
//! Knows no finding.

use crate::fault::Fault;
use std::io::{self, ErrorKind, Write};
use unbroken_contract::{Basis, Breach, Halves};

/// Prints the page or pages of a breach: one per half that sees it.
///
/// An id may be written as the macro writes it, with `_`: a path of Rust holds no `-`.
pub(crate) fn explain(id: &str) -> Result<u8, Fault> {
    let breach = Breach::from_id(&id.replace('_', "-"))
        .ok_or_else(|| Fault::UnknownBreach { id: id.to_owned(), nearest: nearest(id) })?;
    let mut text = format!("# {}\n\n{}.\n\n", breach.id(), capitalised(breach.line()));
    text.push_str(&format!(
        "Default level: {}. Rests on {}. Seen {}.\n",
        breach.level(),
        basis(breach),
        halves(breach)
    ));
    for (title, page) in pages(breach) {
        text.push_str(&format!("\n## {title}\n\n{}\n", page.trim()));
    }
    print(&text)
}

/// Prints every breach with its level, the halves that see it, and the mistake in one line.
pub(crate) fn rules() -> Result<u8, Fault> {
    let width = Breach::ALL.iter().map(|breach| breach.id().len()).max().unwrap_or(0);
    let mut text = String::new();
    for breach in Breach::ALL {
        let seen = [(Halves::Lint, "lint"), (Halves::Audit, "audit")]
            .map(|(half, word)| if breach.seen_by(half) { word } else { "" });
        text.push_str(&format!(
            "{:<width$}  {:<4}  {:<4}  {:<5}  {}\n",
            breach.id(),
            breach.level().id(),
            seen[0],
            seen[1],
            breach.line()
        ));
    }
    print(&text)
}

/// The pages there are, with their titles.
fn pages(breach: Breach) -> impl Iterator<Item = (&'static str, String)> {
    let code = unbroken_lint::rules::page(breach).map(|page| ("In code", plain(page)));
    let traffic = unbroken_audit::rules::page(breach).map(|page| ("In traffic", plain(page)));
    code.into_iter().chain(traffic)
}

/// A page without its comment marks, its headings one step below ours.
fn plain(page: &str) -> String {
    let mut fenced = false;
    let line = |line: &str| {
        let text = line.strip_prefix("//!").unwrap_or(line);
        let text = text.strip_prefix(' ').unwrap_or(text);
        fenced ^= text.starts_with("```");
        let deeper = if !fenced && text.starts_with('#') { "##" } else { "" };
        format!("{deeper}{text}\n")
    };
    page.lines().map(line).collect()
}

fn nearest(id: &str) -> Option<&'static str> {
    // Beyond half of its letters a word is another word.
    let bound = |candidate: &str| candidate.len().max(id.len()) / 2;
    Breach::ALL
        .iter()
        .map(|breach| (strsim::damerau_levenshtein(id, breach.id()), breach.id()))
        .filter(|(distance, candidate)| *distance <= bound(candidate))
        .min()
        .map(|(_, candidate)| candidate)
}

fn basis(breach: Breach) -> &'static str {
    match breach.basis() {
        Basis::Must => "a MUST of the specification",
        Basis::Should => "a SHOULD of the specification",
        Basis::Contract => "the contract",
    }
}

fn halves(breach: Breach) -> &'static str {
    match breach.halves() {
        Halves::Lint => "in code",
        Halves::Audit => "in traffic",
        Halves::Both => "in code and in traffic",
    }
}

fn capitalised(line: &str) -> String {
    let mut chars = line.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Prints a text; a reader that closes its end is no error.
pub(crate) fn print(text: &str) -> Result<u8, Fault> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(source) if source.kind() != ErrorKind::BrokenPipe => {
            Err(Fault::Output { name: "standard output".to_owned(), source })
        }
        _ => Ok(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_shown_without_marks_and_below_our_headings() {
        let page = "//! One line.\n//!\n//! # Flagged\n//!\n//! ```flagged\n//! #[derive(Debug)]\n//!     x\n//! ```";
        assert_eq!(plain(page), "One line.\n\n### Flagged\n\n```flagged\n#[derive(Debug)]\n    x\n```\n");
    }

    #[test]
    fn a_typo_finds_its_breach_and_nonsense_finds_none() {
        assert_eq!(nearest("duplicate-invocaton"), Some("duplicate-invocation"));
        assert_eq!(nearest("session_discardet"), Some("session-discarded"));
        assert_eq!(nearest("xyzzy"), None);
    }
}
