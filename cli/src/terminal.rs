//! What standard output can show: colours, box-drawing characters, how many columns.
//! Knows no content. What is no terminal always gets the same bytes: no colours, 100 columns.

use crate::args::ColorArg;
use std::env;
use std::io::{IsTerminal, stdout};

/// Columns where there is no terminal to ask.
const COLUMNS: usize = 100;

/// What an output can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terminal {
    pub(crate) color: bool,
    pub(crate) unicode: bool,
    pub(crate) width: usize,
}

impl Terminal {
    /// A file.
    pub(crate) const fn file() -> Terminal {
        Terminal { color: false, unicode: true, width: COLUMNS }
    }

    /// Standard output, as asked and as found.
    pub(crate) fn stdout(color: ColorArg) -> Terminal {
        let tty = stdout().is_terminal();
        let columns =
            env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).filter(|columns| *columns > 0);
        let asked = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let width = columns.or_else(|| tty.then(asked).flatten()).unwrap_or(COLUMNS);
        Terminal { color: colored(color, tty, set), unicode: !tty || unicode(set), width }
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
