//! The documentation holds: pages of rules are those of the rules, commands do what is shown, links lead somewhere.
//!
//! `UNBROKEN_BLESS=1` writes the generated pages anew.

mod command;

use command::{ran, root, unbroken};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use unbroken_contract::Breach;

fn docs() -> PathBuf {
    root().join("docs")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Holds a generated file to what it should be, or writes it.
fn generated(path: &Path, expected: &str) {
    if std::env::var_os("UNBROKEN_BLESS").is_some() {
        std::fs::write(path, expected).expect("the page can be written");
    }
    let is = std::fs::read_to_string(path).unwrap_or_default();
    assert!(is == expected, "{} is out of date: run this test with UNBROKEN_BLESS=1", path.display());
}

fn has_page(breach: Breach) -> bool {
    unbroken_lint::rules::page(breach).is_some() || unbroken_audit::rules::page(breach).is_some()
}

#[test]
fn every_rule_has_the_page_that_explain_shows() {
    for breach in Breach::ALL {
        let page = unbroken(["explain", breach.id()]).out;
        let (code, traffic) = page.split_at(page.find("\n## In traffic").unwrap_or(page.len()));
        // The examples of the lint are Rust, those of the audit are timelines.
        let fenced = |text: &str, kind: &str| {
            text.replace("```flagged\n", &format!("```{kind}\n"))
                .replace("```accepted\n", &format!("```{kind}\n"))
        };
        let mut page = fenced(code, "rust,ignore") + &fenced(traffic, "text");
        if !has_page(*breach) {
            page.push_str("\nThe contract names this mistake; no rule looks for it yet.\n");
        }
        generated(&docs().join(format!("rules/{}.md", breach.id())), &page);
    }
}

#[test]
fn the_list_of_rules_is_the_catalogue() {
    let mut list = String::from(
        "# Rules\n\nEvery mistake there is. *Level* is how bad one is unless told otherwise; *seen in* names the halves whose \
         rule is written.\n\n| mistake | level | seen in | in one line |\n| --- | --- | --- | --- |\n",
    );
    for breach in Breach::ALL {
        let code = unbroken_lint::rules::page(*breach).map(|_| "code");
        let traffic = unbroken_audit::rules::page(*breach).map(|_| "traffic");
        let halves: Vec<&str> = code.into_iter().chain(traffic).collect();
        let halves = if halves.is_empty() { "not yet".to_owned() } else { halves.join(", ") };
        list.push_str(&format!(
            "| [{0}]({0}.md) | {1} | {halves} | {2} |\n",
            breach.id(),
            breach.level(),
            breach.line()
        ));
    }
    generated(&docs().join("rules/README.md"), &list);
}

/// A page with every shown file as the file is now: a comment `<!-- shows FILE -->`, then a fenced block with its text.
fn with_files(page: &str, folder: &Path) -> String {
    let mut parts = page.split("<!-- shows ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let shown = part.split_once(" -->\n\n```").and_then(|(name, rest)| {
            let (kind, rest) = rest.split_once('\n')?;
            Some((name, kind, rest.split_once("```\n")?.1))
        });
        let (name, kind, rest) = shown.expect("a shown file is a comment, an empty line and a fenced block");
        let text = read(&folder.join(name));
        out.push_str(&format!("<!-- shows {name} -->\n\n```{kind}\n{}\n```\n{rest}", text.trim_end()));
    }
    out
}

/// Pages are read where nobody puts files into them, so the files' text stands in the page.
#[test]
fn shown_files_are_as_they_are() {
    let mut shown = 0;
    for path in pages() {
        let page = read(&path);
        assert!(!page.contains("{{#"), "{} asks mdBook for text", path.display());
        shown += page.matches("<!-- shows ").count();
        generated(&path, &with_files(&page, path.parent().expect("it has one")));
    }
    assert!(shown >= 9, "{shown} files are shown");
    let page = "a\n<!-- shows book.toml -->\n\n```toml\nold\n```\nb\n";
    let whole = with_files(page, &docs());
    assert!(
        whole.starts_with("a\n") && whole.contains("title = \"Unbroken\"\n") && whole.ends_with("```\nb\n")
    );
}

fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for folder in ["", "rules", "formats"] {
        let entries = docs().join(folder).read_dir().expect("the folder can be listed");
        let files = entries.map(|entry| entry.expect("an entry").path());
        pages.extend(files.filter(|path| path.extension().is_some_and(|ext| ext == "md")));
    }
    pages.sort();
    pages
}

#[test]
fn the_summary_lists_every_page() {
    let summary = read(&docs().join("SUMMARY.md"));
    for page in pages().iter().filter(|page| !page.ends_with("SUMMARY.md")) {
        let name = page.strip_prefix(docs()).expect("it lies below").display().to_string();
        assert!(summary.contains(&format!("({name})")), "SUMMARY.md does not list {name}");
    }
}

#[test]
fn links_lead_somewhere() {
    for page in pages() {
        let (text, folder) = (read(&page), page.parent().expect("it has one"));
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in links.filter(|target| !target.contains("://") && !target.contains(' ')) {
            let file = target.split('#').next().unwrap_or_default();
            assert!(file.is_empty() || folder.join(file).exists(), "{} leads to {target}", page.display());
        }
    }
}

/// A command of a `console` block: what follows `$ `, the lines that must be in its output, its exit code.
struct Shown {
    line: String,
    output: Vec<String>,
    code: Option<i32>,
}

fn commands(page: &str) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    for block in page.split("```console\n").skip(1) {
        for line in block.split("\n```").next().unwrap_or_default().lines() {
            let code = line.strip_prefix("[exit ").and_then(|rest| rest.strip_suffix(']')?.parse().ok());
            match (line.strip_prefix("$ "), all.last_mut()) {
                (Some(command), _) => {
                    all.push(Shown { line: command.to_owned(), output: Vec::new(), code: None })
                }
                (None, Some(shown)) if code.is_some() => shown.code = code,
                (None, Some(shown)) if line != "…" => shown.output.push(line.to_owned()),
                _ => {}
            }
        }
    }
    all
}

#[test]
fn commands_do_what_is_shown() {
    let binary = Path::new(env!("CARGO_BIN_EXE_unbroken")).parent().expect("it lies in a folder");
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(binary.to_owned()).chain(std::env::split_paths(&rest)));
    let path = path.expect("plain paths");
    std::fs::create_dir_all(root().join("target")).expect("outputs of examples go there");
    let mut tried = 0;
    for page in pages() {
        for shown in commands(&read(&page)) {
            let mut shell = std::process::Command::new("bash");
            shell
                .args(["-c", &shown.line])
                .current_dir(root())
                .env("PATH", &path)
                .env_remove("UNBROKEN_DIGEST_KEY");
            let ran = ran(shell.output().expect("bash starts"));
            let what = format!("{}: {}\n{}{}", page.display(), shown.line, ran.out, ran.err);
            for line in &shown.output {
                assert!(ran.out.lines().any(|is| is == line), "{what}\nshows no line {line}");
            }
            if let Some(code) = shown.code {
                assert_eq!(ran.code, code, "{what}");
            }
            assert!(!ran.out.is_empty() || shown.code == Some(2), "{what}\nshows nothing");
            tried += 1;
        }
    }
    assert!(tried >= 8, "only {tried} commands were found");
}

#[test]
fn commands_elsewhere_name_what_there_is() {
    let known: BTreeSet<&str> =
        ["lint", "audit", "explain", "rules", "baseline", "mapping", "completions", "man"].into();
    for page in pages() {
        let text = read(&page);
        for rest in
            text.split(['`', '\n', '"']).filter_map(|part| part.trim_start().strip_prefix("unbroken "))
        {
            let word: String = rest.chars().take_while(|c| c.is_ascii_lowercase()).collect();
            let plain = rest.chars().nth(word.len()).is_none_or(|c| c == ' ' || c == '|');
            if !word.is_empty() && plain {
                assert!(known.contains(word.as_str()), "{}: unbroken {word}", page.display());
            }
        }
    }
}
