//! An `[[accept]]`: findings in traffic that somebody has decided to live with, why, and until when.
//! Knows how it is written down; whether a finding is meant by it is decided where findings are shown.

use super::table::{Table, Wrong};
use unbroken_contract::Breach;

/// The keys of an `[[accept]]`.
pub(super) const KEYS: [&str; 7] = ["fingerprint", "rule", "tool", "client", "server", "reason", "until"];

/// One `[[accept]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Accept {
    /// The one finding that is meant.
    pub(crate) fingerprint: Option<String>,
    /// Or the breach, with at least one of the next three.
    pub(crate) rule: Option<Breach>,
    /// Tool, exactly.
    pub(crate) tool: Option<String>,
    /// Client: its name, or name and version.
    pub(crate) client: Option<String>,
    /// Server instance, as the log names it.
    pub(crate) server: Option<String>,
    /// Why.
    pub(crate) reason: String,
    /// The last day on which it holds (UTC), as `2026-12-31`.
    pub(crate) until: Option<String>,
    /// Where it begins in the file, as a line from 1.
    pub(crate) line: u64,
}

pub(super) fn read(table: &Table<'_>, text: &str) -> Result<Accept, Wrong> {
    table.only(&KEYS)?;
    let word = |key: &str| Ok(table.string(key)?.map(|(word, _)| word));
    let rule = match table.string("rule")? {
        Some((word, span)) => Some(Breach::from_id(&word).ok_or_else(|| {
            let known: Vec<&str> = Breach::ALL.iter().map(|breach| breach.id()).collect();
            Wrong::word(&word, span, "rule", &known)
        })?),
        None => None,
    };
    let before = text.get(..table.span().start).unwrap_or(text);
    let accept = Accept {
        fingerprint: word("fingerprint")?,
        rule,
        tool: word("tool")?,
        client: word("client")?,
        server: word("server")?,
        reason: word("reason")?.map(|reason| reason.trim().to_owned()).unwrap_or_default(),
        until: table.date("until")?,
        line: before.matches('\n').count() as u64 + 1,
    };
    if accept.reason.is_empty() {
        let help = "add `reason = \"…\"`: who reads it later must know why";
        return Err(Wrong::new("an acceptance has no `reason`", help, table.span()));
    }
    let narrowed = accept.tool.is_some() || accept.client.is_some() || accept.server.is_some();
    match (&accept.fingerprint, accept.rule, narrowed) {
        (Some(_), None, false) | (None, Some(_), true) => Ok(accept),
        (Some(_), ..) => {
            let help = "a fingerprint names one finding; take the other keys out";
            Err(Wrong::new("an acceptance has a `fingerprint` and more", help, table.span()))
        }
        _ => {
            let help = "write `fingerprint`, or `rule` with `tool`, `client` or `server`";
            Err(Wrong::new("an acceptance does not say which findings it means", help, table.span()))
        }
    }
}
