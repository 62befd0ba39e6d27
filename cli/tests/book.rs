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
    generated(&docs().join("rules/index.md"), &list);
}

/// A page with every shown file as the file is now: a comment `<!-- shows FILE -->`, then a fenced block with its text.
fn with_files(page: &str, folder: &Path) -> String {
    replaced(page, |name| read(&folder.join(name)).trim_end().to_owned())
}

/// A page with another text for every shown file.
fn replaced(page: &str, text: impl Fn(&str) -> String) -> String {
    let mut parts = page.split("<!-- shows ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let shown = part.split_once(" -->\n\n```").and_then(|(name, rest)| {
            let (kind, rest) = rest.split_once('\n')?;
            Some((name, kind, rest.split_once("```\n")?.1))
        });
        let (name, kind, rest) = shown.expect("a shown file is a comment, an empty line and a fenced block");
        out.push_str(&format!("<!-- shows {name} -->\n\n```{kind}\n{}\n```\n{rest}", text(name)));
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
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { page.clone() } else { folder.join(file) };
            assert!(file.exists(), "{} leads to {target}", page.display());
            let found = heading.is_empty() || headings(&read(&file)).iter().any(|known| known == heading);
            assert!(found, "{} leads to {target}, a heading that is not there", page.display());
        }
    }
}

/// The headings of a page as links name them.
fn headings(page: &str) -> Vec<String> {
    let titles =
        page.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    titles
        .map(|title| title.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-"))
        .collect()
}

#[test]
fn mdbook_builds_the_book_without_a_warning() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let build =
        std::process::Command::new("mdbook").arg("build").arg(docs()).arg("-d").arg(folder.path()).output();
    let Ok(build) = build else {
        eprintln!("skipped: mdbook is not installed (cargo install mdbook --locked)");
        return;
    };
    let built = ran(build);
    let told = built.out + &built.err;
    assert!(built.code == 0 && !told.contains("WARN") && !told.contains("ERROR"), "{told}");
    for page in pages().iter().filter(|page| !page.ends_with("SUMMARY.md")) {
        let name = page.strip_prefix(docs()).expect("it lies below").with_extension("html");
        let name = if name.ends_with("README.html") { name.with_file_name("index.html") } else { name };
        let page = folder.path().join(&name);
        assert!(page.is_file(), "the book has no {}", name.display());
        // mdBook renames some pages and not the links to them.
        let html = read(&page);
        for target in html.split(" href=\"").skip(1).filter_map(|rest| rest.split(['"', '#']).next()) {
            let there = target.contains(':') || page.parent().expect("it has one").join(target).exists();
            assert!(there, "{} leads to {target}", page.display());
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

/// The fenced blocks of a kind, in the order of the page.
fn blocks(page: &str, kind: &str) -> Vec<String> {
    let fence = format!("\n```{kind}\n");
    let all = page.split(&fence).skip(1).filter_map(|rest| rest.split("\n```").next());
    all.map(str::to_owned).collect()
}

#[test]
fn what_the_compiler_is_shown_to_say_it_says() {
    let page = read(&docs().join("configure.md"));
    let case = |ending: &str| {
        let name = format!("lint/macro/tests/ui/fail/session_discarded.{ending}");
        // A test of the macro holds both files to the compiler.
        read(&root().join(name))
    };
    let code = &blocks(&page, "rust")[0];
    assert!(case("rs").contains(code.as_str()), "the macro's test has no such code:\n{code}");
    let said = case("stderr");
    for line in blocks(&page, "text")[0].lines() {
        assert!(said.lines().any(|is| is == line), "the compiler says no line {line:?}");
    }
}

#[test]
fn the_shown_configuration_is_one() {
    let page = read(&docs().join("configure.md"));
    let shown = blocks(&page, "toml").into_iter().find(|block| block.starts_with("# unbroken.toml"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (config, code) = (folder.path().join("unbroken.toml"), folder.path().join("lib.rs"));
    let shown = shown.expect("the page shows one");
    std::fs::write(&code, "fn nothing() {}\n").expect("it can be written");
    let checked = |text: &str| {
        std::fs::write(&config, text).expect("it can be written");
        unbroken(["lint".as_ref(), "--config".as_ref(), config.as_os_str(), code.as_os_str()])
    };
    let taken = checked(&shown);
    assert_eq!(taken.code, 0, "{}{}", taken.out, taken.err);
    let refused = checked(&shown.replace("handles", "handels"));
    assert!(refused.code == 2 && refused.err.contains("did you mean `handles`?"), "{}", refused.err);
}

#[test]
fn commands_elsewhere_name_what_there_is() {
    let known: BTreeSet<&str> =
        ["lint", "audit", "explain", "rules", "baseline", "mapping", "completions", "man"].into();
    for page in pages() {
        let text = replaced(&read(&page), |_| String::new());
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
