//! What `unbroken.toml` says: levels per rule, which paths are checked, and SDKs that the built-in table lacks.
//! Knows the file's grammar; what follows from a setting is decided where it is used.

mod accept;
mod sdk;
mod table;

pub(crate) use accept::Accept;

use super::Misuse;
use super::package::Target;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use table::{Table, Wrong};
use unbroken_contract::{Breach, Level};
use unbroken_lint::sdk::Sdk;

/// The name that is looked for, from the working directory upwards.
pub(super) const FILE: &str = "unbroken.toml";

/// The configuration of a lint run.
#[derive(Clone, Debug, Default)]
pub(super) struct Config {
    /// The level of a rule's findings; `None`: they are not shown.
    pub(super) levels: BTreeMap<Breach, Option<Level>>,
    /// Kinds of targets that are checked too.
    pub(super) include: Vec<Target>,
    /// Patterns, as in a `.gitignore`, relative to `folder`, of what is left out.
    pub(super) exclude: Vec<String>,
    /// SDKs besides the built-in ones.
    pub(super) sdks: Vec<&'static Sdk>,
    /// Findings in traffic that are accepted.
    pub(super) accepts: Vec<Accept>,
    /// The file as output shows it.
    pub(super) shown: String,
    /// The folder of the file.
    pub(super) folder: PathBuf,
}

impl Config {
    /// Reads `path`, or else the nearest `unbroken.toml` above `cwd`, or else gives the defaults.
    pub(super) fn find(path: Option<&Path>, cwd: &Path) -> Result<Config, Misuse> {
        let found = match path {
            Some(path) => Some(cwd.join(path)),
            None => cwd.ancestors().map(|folder| folder.join(FILE)).find(|file| file.is_file()),
        };
        let Some(file) = found else { return Ok(Config::default()) };
        let shown = path.unwrap_or_else(|| file.strip_prefix(cwd).unwrap_or(&file)).display().to_string();
        let text = crate::side::read_text(&file).map_err(|error| Misuse {
            message: format!("{shown}: cannot be read: {error}"),
            help: "name an existing file of UTF-8 text with --config".to_owned(),
        })?;
        let mut config = Config::parse(&text).map_err(|wrong| wrong.at(&shown, &text))?;
        config.shown = shown;
        config.folder = file.parent().map(Path::to_owned).unwrap_or_default();
        // Refused here, before anything is walked.
        let _ = config.excluded()?;
        Ok(config)
    }

    fn parse(text: &str) -> Result<Config, Wrong> {
        let mut config = Config::default();
        let root = Table::parse(text)?;
        root.only(&["rules", "lint", "sdk", "accept"])?;
        if let Some(rules) = root.table("rules")? {
            config.levels = levels(&rules)?;
        }
        if let Some(lint) = root.table("lint")? {
            lint.only(&["include", "exclude"])?;
            config.include = lint.strings("include")?.into_iter().map(target).collect::<Result<_, _>>()?;
            config.exclude = lint.strings("exclude")?.into_iter().map(|(text, _)| text).collect();
        }
        config.accepts =
            root.tables("accept")?.iter().map(|table| accept::read(table, text)).collect::<Result<_, _>>()?;
        config.sdks = root.tables("sdk")?.iter().map(sdk::read).collect::<Result<_, _>>()?;
        Ok(config)
    }

    /// A test for absolute paths that the configuration leaves out.
    pub(super) fn excluded(&self) -> Result<impl Fn(&Path) -> bool + use<>, Misuse> {
        let mut builder = ignore::gitignore::GitignoreBuilder::new(&self.folder);
        for pattern in &self.exclude {
            builder.add_line(None, pattern).map_err(|error| Misuse {
                message: format!("{FILE}: `exclude` holds a pattern that is none: {error}"),
                help: "write patterns as in a .gitignore, such as \"generated/\" or \"**/bindings.rs\""
                    .to_owned(),
            })?;
        }
        let matcher = builder.build().map_err(|error| Misuse {
            message: format!("{FILE}: `exclude` cannot be used: {error}"),
            help: "write patterns as in a .gitignore".to_owned(),
        })?;
        let folder = self.folder.clone();
        Ok(move |path: &Path| {
            path.strip_prefix(&folder)
                .is_ok_and(|inside| matcher.matched_path_or_any_parents(inside, false).is_ignore())
        })
    }
}

fn levels(rules: &Table<'_>) -> Result<BTreeMap<Breach, Option<Level>>, Wrong> {
    let known: Vec<&str> = Breach::ALL.iter().map(|breach| breach.id()).collect();
    rules.only(&known)?;
    let mut levels = BTreeMap::new();
    for breach in Breach::ALL {
        if let Some((word, span)) = rules.string(breach.id())? {
            let level = match word.as_str() {
                "deny" => Some(Level::Deny),
                "warn" => Some(Level::Warn),
                "note" => Some(Level::Note),
                "allow" => None,
                other => return Err(Wrong::word(other, span, "level", &["deny", "warn", "note", "allow"])),
            };
            levels.insert(*breach, level);
        }
    }
    Ok(levels)
}

fn target((word, span): (String, std::ops::Range<usize>)) -> Result<Target, Wrong> {
    match word.as_str() {
        "tests" => Ok(Target::Tests),
        "examples" => Ok(Target::Examples),
        "benches" => Ok(Target::Benches),
        "build" => Ok(Target::Build),
        other => Err(Wrong::word(other, span, "kind of target", &["tests", "examples", "benches", "build"])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unbroken_lint::sdk::{Deed, Meaning, Role};

    fn refused(text: &str) -> String {
        let misuse = Config::parse(text).expect_err(text).at(FILE, text);
        format!("{} | {}", misuse.message, misuse.help)
    }

    #[test]
    fn every_setting_is_read() {
        let config = Config::parse(
            r#"
            [rules]
            session-discarded = "warn"
            blind-retry = "allow"
            [lint]
            include = ["tests", "examples"]
            exclude = ["generated/"]
            [[accept]]
            fingerprint = "0123456789abcdef"
            reason = "known, ticket 12"
            [[accept]]
            rule = "blind-retry"
            tool = "search"
            client = "batch/2.1"
            server = "10.0.0.7:8000"
            reason = "searches may run twice"
            until = 2026-12-31
            [[sdk]]
            crate = "house-mcp"
            handles = ["HouseClient"]
            initialise = ["HouseClient::open", "open_house"]
            call-tool = ["HouseClient::run"]
            expired = ["HouseError::Gone"]
            "#,
        )
        .expect("well-formed");
        assert_eq!(config.levels[&Breach::SessionDiscarded], Some(Level::Warn));
        assert_eq!(config.levels[&Breach::BlindRetry], None);
        assert_eq!(config.include, [Target::Tests, Target::Examples]);
        let [one, other] = &config.accepts[..] else { panic!("two acceptances") };
        assert_eq!((one.fingerprint.as_deref(), one.until.as_deref()), (Some("0123456789abcdef"), None));
        assert_eq!((other.rule, other.until.as_deref()), (Some(Breach::BlindRetry), Some("2026-12-31")));
        assert_eq!(other.line, 11);
        let sdk = config.sdks[0];
        assert_eq!(sdk.roots, ["house_mcp"]);
        assert_eq!(unbroken_lint::sdk::role([sdk], "HouseClient"), Some(Role::Handle));
        assert_eq!(unbroken_lint::sdk::deed([sdk], None, "open_house"), Some(Deed::Initialise));
        assert_eq!(
            unbroken_lint::sdk::meaning([sdk], Some("HouseError"), "Gone"),
            Some(Meaning::SessionGone)
        );
    }

    #[test]
    fn what_is_unknown_is_refused_with_its_line_and_the_nearest_word() {
        let said = refused("[rules]\nsesion-discarded = \"deny\"\n");
        assert!(
            said.starts_with("unbroken.toml:2:1: ") && said.contains("did you mean `session-discarded`?"),
            "{said}"
        );
        assert!(refused("[rules]\nblind-retry = \"den\"").contains("did you mean `deny`?"));
        assert!(refused("[rule]").contains("did you mean `rules`?"));
        assert!(refused("[lint]\ninclude = [\"test\"]").contains("did you mean `tests`?"));
        assert!(refused("[lint]\ninclude = \"tests\"").contains("a list of strings"));
        assert!(refused("[[sdk]]\nhandles = []").contains("`crate`"));
        assert!(refused("[[sdk]]\ncrate = \"x\"\nhandels = []").contains("did you mean `handles`?"));
        assert!(refused("[rules\n").starts_with("unbroken.toml:1:"));
        for (accept, said) in [
            ("rule = \"blind-retry\"\ntool = \"pay\"", "no `reason`"),
            ("reason = \" \"\nfingerprint = \"x\"", "no `reason`"),
            ("reason = \"x\"\nrule = \"blind-retry\"", "does not say which"),
            ("reason = \"x\"\ntool = \"pay\"", "does not say which"),
            ("reason = \"x\"\nfingerprint = \"x\"\ntool = \"pay\"", "and more"),
            ("reason = \"x\"\nrule = \"blind-rety\"\ntool = \"pay\"", "Did you mean `blind-retry`?"),
            ("reason = \"x\"\nrule = \"blind-retry\"\ntools = \"pay\"", "Did you mean `tool`?"),
            ("reason = \"x\"\nfingerprint = \"x\"\nuntil = \"soon\"", "a day"),
            ("reason = \"x\"\nfingerprint = \"x\"\nuntil = 2026-13-01", "unbroken.toml:"),
        ] {
            let told = refused(&format!("[[accept]]\n{accept}"));
            assert!(told.to_lowercase().contains(&said.to_lowercase()), "{accept}: {told}");
        }
    }

    #[test]
    fn the_shipped_schema_knows_the_same_keys() {
        let schema: serde_json::Value =
            serde_json::from_str(include_str!("../../../docs/schema/unbroken.toml.json"))
                .expect("valid JSON");
        let keys = |pointer: &str| -> Vec<String> {
            let object = schema.pointer(pointer).and_then(|found| found.as_object()).expect(pointer);
            object.keys().cloned().collect()
        };
        assert_eq!(keys("/properties"), ["accept", "lint", "rules", "sdk"]);
        let mut known: Vec<&str> = accept::KEYS.to_vec();
        known.sort_unstable();
        assert_eq!(keys("/properties/accept/items/properties"), known);
        let mut breaches: Vec<String> = Breach::ALL.iter().map(|breach| breach.id().to_owned()).collect();
        breaches.sort();
        assert_eq!(keys("/properties/rules/properties"), breaches);
        assert_eq!(keys("/properties/lint/properties"), ["exclude", "include"]);
        let mut known: Vec<&str> = sdk::KEYS.to_vec();
        known.sort_unstable();
        assert_eq!(keys("/properties/sdk/items/properties"), known);
    }

    #[test]
    fn the_file_is_found_above_and_its_exclusions_are_relative_to_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("real");
        let inner = root.join("a/b");
        std::fs::create_dir_all(&inner).expect("made");
        std::fs::write(root.join(FILE), "[lint]\nexclude = [\"a/made/\", \"**/bindings.rs\"]\n")
            .expect("written");
        let config = Config::find(None, &inner).expect("well-formed");
        let excluded = config.excluded().expect("patterns");
        assert!(excluded(&root.join("a/made/x.rs")));
        assert!(excluded(&root.join("c/bindings.rs")));
        assert!(!excluded(&root.join("a/b/x.rs")));
        assert!(Config::find(Some(Path::new("none.toml")), &root).is_err());
    }
}
