//! An SDK described in the configuration, as a row of the lint's own table.
//! Knows how the table's rows are written down, not what the rules make of them.

use super::table::{Table, Wrong};
use unbroken_lint::sdk::{Deed, Function, Meaning, Role, Sdk, Type, Variant};

/// The keys of an `[[sdk]]`.
pub(super) const KEYS: [&str; 13] = [
    "crate",
    "roots",
    "handles",
    "peers",
    "transports",
    "servers",
    "initialise",
    "call-tool",
    "request",
    "safe-request",
    "end",
    "expired",
    "transport-errors",
];

/// The rows live as long as the process: the table's lists are static so that the built-in part needs no copying,
/// and a configuration is read once.
pub(super) fn read(table: &Table<'_>) -> Result<&'static Sdk, Wrong> {
    table.only(&KEYS)?;
    let Some((krate, _)) = table.string("crate")? else {
        let help = "add `crate = \"name\"`, the crate's name in the registry";
        return Err(Wrong::new("an SDK has no `crate`", help, table.span()));
    };
    let mut roots: Vec<&'static str> =
        table.strings("roots")?.into_iter().map(|(root, _)| kept(root)).collect();
    if roots.is_empty() {
        roots.push(kept(krate.replace('-', "_")));
    }
    let mut types = Vec::new();
    for (key, is) in [
        ("handles", Role::Handle),
        ("peers", Role::Peer),
        ("transports", Role::Transport),
        ("servers", Role::Server),
    ] {
        types.extend(table.strings(key)?.into_iter().map(|(name, _)| Type { name: kept(name), is }));
    }
    let mut functions = Vec::new();
    for (key, does) in [
        ("initialise", Deed::Initialise),
        ("call-tool", Deed::CallTool),
        ("request", Deed::Request),
        ("safe-request", Deed::SafeRequest),
        ("end", Deed::End),
    ] {
        functions.extend(table.strings(key)?.into_iter().map(|(path, _)| {
            let (on, name) = halves(&path);
            Function { on, name, does }
        }));
    }
    let mut variants = Vec::new();
    for (key, means) in [("expired", Meaning::SessionGone), ("transport-errors", Meaning::Transport)] {
        for (path, span) in table.strings(key)? {
            let (Some(on), name) = halves(&path) else {
                let help = "write the enum too, as in \"ClientError::SessionExpired\"";
                return Err(Wrong::new(format!("`{key}` names a variant without its enum"), help, span));
            };
            variants.push(Variant { on, name, means });
        }
    }
    Ok(Box::leak(Box::new(Sdk {
        krate: kept(krate),
        versions: "as configured",
        roots: roots.leak(),
        types: types.leak(),
        functions: functions.leak(),
        variants: variants.leak(),
        settings: &[],
    })))
}

/// `Type::name`, or a free `name`.
fn halves(path: &str) -> (Option<&'static str>, &'static str) {
    match path.rsplit_once("::") {
        Some((on, name)) => {
            let on = on.rsplit("::").next().unwrap_or(on);
            (Some(kept(on.trim().to_owned())), kept(name.trim().to_owned()))
        }
        None => (None, kept(path.trim().to_owned())),
    }
}

fn kept(text: String) -> &'static str {
    text.leak()
}
