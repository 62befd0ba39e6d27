//! The lint as a command, over the shipped clients and over whatever else it may be given.
//! Knows exit codes and output; the rules have tests of their own.

use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

struct Run {
    code: i32,
    findings: Vec<Value>,
    summary: Value,
    stderr: String,
}

impl Run {
    fn breaches(&self) -> Vec<String> {
        let mut ids: Vec<String> = self
            .findings
            .iter()
            .map(|finding| finding["breach"].as_str().expect("an id").to_owned())
            .collect();
        ids.dedup();
        ids
    }

    fn paths(&self) -> Vec<&str> {
        let mut paths: Vec<&str> =
            self.findings.iter().map(|finding| finding["path"].as_str().expect("a path")).collect();
        paths.dedup();
        paths
    }
}

fn lint(folder: &Path, arguments: &[&str], stdin: &str) -> Run {
    let mut run = Command::new(env!("CARGO_BIN_EXE_unbroken"))
        .current_dir(folder)
        .args(["lint", "--format", "json"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    // A run that asks for no names may end before they are given.
    let _ = run.stdin.take().expect("it is piped").write_all(stdin.as_bytes());
    let done = run.wait_with_output().expect("it ends");
    let stdout = String::from_utf8(done.stdout).expect("UTF-8");
    let mut lines: Vec<Value> =
        stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let summary = lines.pop().unwrap_or_default();
    Run {
        code: done.status.code().expect("no signal"),
        findings: lines,
        summary,
        stderr: String::from_utf8_lossy(&done.stderr).into_owned(),
    }
}

fn clients() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/clients")
}

const CLEAN: &str = "pub fn add(a: u8, b: u8) -> u8 { a + b }\n";
const DISCARDS: &str = r#"
struct Client { http: reqwest::Client, session_id: Option<String> }
impl Client {
    async fn post(&mut self) -> Result<Response, Error> {
        let mut request = self.http.post("/mcp");
        if let Some(id) = &self.session_id {
            request = request.header("Mcp-Session-Id", id);
        }
        match request.send().await {
            Ok(response) => Ok(response),
            Err(error) => {
                self.session_id = None;
                Err(error)
            }
        }
    }
}
"#;

fn crate_with(sources: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("Cargo.toml"), "[package]\nname = \"c\"\n").expect("written");
    for (path, text) in sources {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }
    folder
}

#[test]
fn the_naive_client_is_wrong_in_many_ways_the_steady_one_in_none() {
    let naive = lint(&clients(), &["naive"], "");
    assert_eq!(naive.code, 1);
    for breach in ["session-discarded", "resume-without-cursor", "blind-retry", "eof-taken-as-completion"] {
        assert!(naive.breaches().iter().any(|id| id == breach), "{breach}: {:?}", naive.breaches());
    }
    assert_eq!(naive.paths(), ["naive/src/listen.rs", "naive/src/send.rs"]);
    let app = lint(&clients(), &["app"], "");
    assert_eq!((app.code, app.paths()), (1, vec!["app/src/lib.rs"]));
    let steady = lint(&clients(), &["steady"], "");
    let denied: Vec<&Value> = steady.findings.iter().filter(|finding| finding["level"] == "deny").collect();
    assert_eq!((steady.code, denied.len()), (0, 0), "{denied:?}");
}

#[test]
fn one_file_is_judged_with_its_crate_and_shown_alone() {
    let header = "pub const SESSION: &str = \"Mcp-Session-Id\";\n";
    let user = DISCARDS.replace("\"Mcp-Session-Id\"", "crate::names::SESSION");
    let folder =
        crate_with(&[("src/names.rs", header), ("src/client.rs", &user), ("src/other.rs", DISCARDS)]);
    let run = lint(folder.path(), &["src/client.rs"], "");
    assert_eq!(run.paths(), ["src/client.rs"], "the constant is in another file: {}", run.stderr);
    let listed = lint(folder.path(), &["--files-from", "-"], "src/client.rs\nREADME.md\nsrc/names.rs\n");
    assert_eq!(listed.paths(), ["src/client.rs"]);
    let fingerprint = |run: &Run| run.findings[0]["fingerprint"].clone();
    let from_inside = lint(&folder.path().join("src"), &["client.rs"], "");
    assert_eq!(fingerprint(&run), fingerprint(&from_inside), "wherever the user stands");
}

#[test]
fn crates_of_one_workspace_are_judged_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    };
    write("Cargo.toml", "[workspace]\nmembers = [\"names\", \"client\"]\n");
    write("names/Cargo.toml", "[package]\nname = \"names\"\n");
    write("names/src/lib.rs", "pub const SESSION: &str = \"Mcp-Session-Id\";\n");
    write("client/Cargo.toml", "[package]\nname = \"client\"\n");
    let user = DISCARDS.replace("\"Mcp-Session-Id\"", "names::SESSION");
    write("client/src/lib.rs", &format!("// Mcp-Session-Id\n{user}"));
    assert_eq!(lint(folder.path(), &[], "").paths(), ["client/src/lib.rs"]);
    fs::remove_file(folder.path().join("Cargo.toml")).expect("removed");
    assert_eq!(lint(folder.path(), &[], "").paths(), Vec::<&str>::new(), "no workspace, no constant");
}

#[test]
fn one_source_is_read_from_the_standard_input() {
    let run = lint(Path::new("."), &["-"], DISCARDS);
    assert_eq!((run.code, run.breaches()), (1, vec!["session-discarded".to_owned()]));
}

#[test]
fn tests_stay_apart_unless_asked_for() {
    let lib = "#[cfg(test)]\nmod checks;\n";
    let folder = crate_with(&[("src/lib.rs", lib), ("src/checks.rs", DISCARDS), ("tests/all.rs", DISCARDS)]);
    let run = lint(folder.path(), &[], "");
    assert_eq!((run.code, run.findings.len()), (0, 0), "{:?}", run.findings);
    let run = lint(folder.path(), &["--include", "tests"], "");
    assert_eq!(run.paths(), ["src/checks.rs", "tests/all.rs"]);
}

#[test]
fn the_configuration_sets_levels_and_a_mistake_in_it_is_refused() {
    let folder = crate_with(&[("src/lib.rs", DISCARDS), ("src/made/lib.rs", DISCARDS)]);
    let configure = |text: &str| fs::write(folder.path().join("unbroken.toml"), text).expect("written");
    configure("[rules]\nsession-discarded = \"note\"\n[lint]\nexclude = [\"src/made/\"]\n");
    let run = lint(folder.path(), &[], "");
    assert_eq!((run.code, run.paths()), (0, vec!["src/lib.rs"]));
    assert_eq!(run.findings[0]["level"], "note");
    configure("[rules]\nsession-discarded = \"allow\"\n");
    assert_eq!(lint(folder.path(), &[], "").findings.len(), 0);
    configure("[rules]\nsesion-discarded = \"note\"\n");
    let run = lint(folder.path(), &[], "");
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("unbroken.toml:2:1") && run.stderr.contains("session-discarded"),
        "{}",
        run.stderr
    );
}

#[test]
fn an_acceptance_in_the_code_is_counted_and_a_stale_one_told() {
    let allow = "#[cfg_attr(any(), unbroken::allow(session_discarded, reason = \"by design\"))]";
    let accepted = DISCARDS.replace("Err(error) => {", &format!("{allow}\nErr(error) => {{"));
    let stale = format!("{allow}\nfn nothing() {{}}\n");
    let folder = crate_with(&[("src/lib.rs", &accepted), ("src/stale.rs", &stale)]);
    let run = lint(folder.path(), &[], "");
    assert_eq!((run.code, run.findings.len()), (0, 0), "{:?}", run.findings);
    let told = run.summary.to_string();
    assert!(told.contains("src/stale.rs") && told.contains("stale"), "{told}");
}

#[test]
fn broken_sources_are_named_and_the_rest_is_judged() {
    let deep = format!("const MCP: &str = \"mcp-session-id\"; fn f() {{ {} }}", "(".repeat(100_000));
    let long = "const S: &str = \"mcp-session-id\";\n".to_owned() + &"fn f() { g(S); }\n".repeat(100_000);
    let nested =
        format!("fn f() {{ let mcp_session_id = {}1{}; }}", "(".repeat(100_000), ")".repeat(100_000));
    let cyclic = "#[path = \"cyclic.rs\"]\nmod again;\nconst MCP_SESSION_ID: u8 = 1;\n";
    let folder = crate_with(&[
        ("src/lib.rs", DISCARDS),
        ("src/broken.rs", "fn mcp_session_id( {"),
        ("src/deep.rs", &deep),
        ("src/nested.rs", &nested),
        ("src/long.rs", &long),
        ("src/cyclic.rs", cyclic),
        ("src/clean.rs", CLEAN),
    ]);
    fs::write(folder.path().join("src/latin.rs"), b"// mcp-session-id\n// \xe9\n").expect("written");
    let run = lint(folder.path(), &[], "");
    assert_eq!((run.code, run.paths()), (1, vec!["src/lib.rs"]), "{}", run.stderr);
    let told = run.summary.to_string();
    for path in ["src/broken.rs", "src/deep.rs", "src/nested.rs", "src/latin.rs"] {
        assert!(told.contains(path), "{path}: {told}");
    }
    assert!(!told.contains("src/long.rs") && !told.contains("src/cyclic.rs"), "{told}");
    let run = lint(folder.path(), &["--fail-on", "never"], "");
    assert_eq!(run.code, 4);
}

#[test]
fn threads_and_the_order_of_paths_change_nothing() {
    let outputs: Vec<String> = [["naive", "app", "--threads=1"], ["app", "naive", "--threads=2"]]
        .iter()
        .map(|arguments| {
            let run = lint(&clients(), arguments, "");
            format!("{:?}{}", run.findings, run.summary)
        })
        .collect();
    assert_eq!(outputs[0], outputs[1]);
}
