//! What standard output can show: colours, links, box-drawing characters, how many columns.
//! Knows no content. What is no terminal always gets the same bytes: no colours, 100 columns.

use crate::args::ColorArg;
use std::env;
use std::fmt::Write;
use std::io::{IsTerminal, stdout};
use std::path::Path;

/// Columns where there is no terminal to ask.
const COLUMNS: usize = 100;

/// What an output can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terminal {
    pub(crate) color: bool,
    pub(crate) unicode: bool,
    pub(crate) links: bool,
    pub(crate) width: usize,
}

impl Terminal {
    /// A file.
    pub(crate) const fn file() -> Terminal {
        Terminal { color: false, unicode: true, links: false, width: COLUMNS }
    }

    /// Standard output, as asked and as found.
    pub(crate) fn stdout(color: ColorArg) -> Terminal {
        let tty = stdout().is_terminal();
        let columns =
            env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).filter(|columns| *columns > 0);
        let asked = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let width = columns.or_else(|| tty.then(asked).flatten()).unwrap_or(COLUMNS);
        let color = colored(color, tty, set);
        let links = linked(color, tty, set, supports_hyperlinks::supports_hyperlinks);
        Terminal { color, unicode: !tty || unicode(set), links, width }
    }
}

fn set(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// <https://no-color.org> and <https://bixense.com/clicolors>: what was asked for outranks the environment.
fn colored(asked: ColorArg, tty: bool, set: impl Fn(&str) -> Option<String>) -> bool {
    match asked {
        ColorArg::Always => true,
        ColorArg::Never => false,
        ColorArg::Auto if set("NO_COLOR").is_some() => false,
        ColorArg::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
        ColorArg::Auto => {
            tty && set("TERM").as_deref() != Some("dumb") && set("CLICOLOR").as_deref() != Some("0")
        }
    }
}

/// Whether paths are links. Who wants no colours wants no other escapes either; `FORCE_HYPERLINK` outranks the terminal.
fn linked(color: bool, tty: bool, set: impl Fn(&str) -> Option<String>, known: impl Fn() -> bool) -> bool {
    let forced = set("FORCE_HYPERLINK").is_some_and(|value| value != "0");
    forced || (color && tty && set("TERM").as_deref() != Some("dumb") && known())
}

/// The `file://` address of a path, from the current folder. No host: the terminal's machine need not know this one's name.
pub(crate) fn address(path: &str) -> Option<String> {
    let path = std::path::absolute(Path::new(path)).ok()?;
    let mut url = String::from("file://");
    for byte in path.to_str()?.replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~:@+,=".contains(&byte) {
            url.push(char::from(byte));
        } else {
            let _ = write!(url, "%{byte:02X}");
        }
    }
    Some(url)
}

/// Whether the locale says UTF-8; one that says nothing is taken for it.
fn unicode(set: impl Fn(&str) -> Option<String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(&set);
    let utf8 = locale.is_none_or(|locale| locale.to_ascii_lowercase().replace('-', "").contains("utf8"));
    utf8 && set("TERM").as_deref() != Some("dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(values: &'static [(&'static str, &'static str)]) -> impl Fn(&str) -> Option<String> {
        |name| values.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn colours_follow_the_request_then_the_environment_then_the_terminal() {
        assert!(colored(ColorArg::Always, false, with(&[("NO_COLOR", "1")])));
        assert!(!colored(ColorArg::Never, true, with(&[("CLICOLOR_FORCE", "1")])));
        assert!(!colored(ColorArg::Auto, true, with(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")])));
        assert!(colored(ColorArg::Auto, false, with(&[("CLICOLOR_FORCE", "1")])));
        assert!(!colored(ColorArg::Auto, false, with(&[])) && colored(ColorArg::Auto, true, with(&[])));
        assert!(!colored(ColorArg::Auto, true, with(&[("TERM", "dumb")])));
    }

    #[test]
    fn links_follow_the_terminal_and_end_with_the_colours() {
        assert!(linked(true, true, with(&[]), || true) && !linked(true, true, with(&[]), || false));
        assert!(!linked(false, true, with(&[]), || true) && !linked(true, false, with(&[]), || true));
        assert!(!linked(true, true, with(&[("TERM", "dumb")]), || true));
        assert!(linked(false, false, with(&[("FORCE_HYPERLINK", "1")]), || false));
        assert!(!linked(true, false, with(&[("FORCE_HYPERLINK", "0")]), || false));
    }

    #[test]
    fn an_address_is_absolute_and_printable() {
        assert_eq!(address("/a b/ü;\u{1b}.rs").as_deref(), Some("file:///a%20b/%C3%BC%3B%1B.rs"));
        let relative = address("src/client.rs").expect("the current folder has a path");
        assert!(relative.starts_with("file:///") && relative.ends_with("/src/client.rs"), "{relative}");
    }

    #[test]
    fn a_locale_without_utf8_gets_ascii() {
        assert!(
            unicode(with(&[("LANG", "de_DE.UTF-8")]))
                && unicode(with(&[("LANG", "C.utf8")]))
                && unicode(with(&[]))
        );
        assert!(!unicode(with(&[("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")])));
        assert!(!unicode(with(&[("TERM", "dumb")])));
    }
}
