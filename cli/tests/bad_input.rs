//! Input that is none: each kind is named with file and place, the rest is read, and the exit code is 4.

mod command;

use command::{Ran, View, audit, shipped, summary, unbroken};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Audits `bad` beside a good log: the good one is read, the bad one is told.
fn named(bad: &Path) -> Ran {
    let good = View::Wire.files(&shipped()[0]);
    let files: Vec<PathBuf> = good.iter().cloned().chain([bad.to_owned()]).collect();
    let alone = summary(&audit("json", &good, &[]).out);
    let human = audit("human", &files, &["--fail-on", "never"]);
    let json = audit("json", &files, &["--fail-on", "never"]);
    assert_eq!((human.code, json.code), (4, 4), "{}\n{}{}", bad.display(), human.out, human.err);
    let told = summary(&json.out);
    assert_eq!(told["seen"]["exchanges"], alone["seen"]["exchanges"], "the good log is read all the same");
    assert!(told["unreadable"].as_u64() > Some(0), "{told}");
    let name = bad.file_name().and_then(|name| name.to_str()).expect("a plain name");
    let problems = told["problems"].as_array().expect("a list");
    let lost: Vec<_> = problems.iter().filter(|problem| problem["lost"] == true).collect();
    assert!(!lost.is_empty(), "{told}");
    for problem in lost {
        assert!(problem["path"].as_str().is_some_and(|path| path.ends_with(name)), "{problem}");
        let message = problem["message"].as_str().unwrap_or_default();
        assert!(!message.is_empty() && !message.ends_with('.'), "{problem}");
        assert!(!problem["help"].as_str().unwrap_or_default().is_empty(), "{problem}");
    }
    assert!(human.out.contains(name) && human.err.is_empty(), "{}{}", human.out, human.err);
    human
}

struct Bench(tempfile::TempDir);

impl Bench {
    fn new() -> Bench {
        Bench(tempfile::tempdir().expect("a temporary folder"))
    }

    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, content).expect("it can be written");
        path
    }
}

fn nginx_line() -> String {
    let path = command::root().join("fixtures/logs/samples/nginx_json.jsonl");
    let text = fs::read_to_string(path).expect("the sample is shipped");
    text.lines().next().expect("it has lines").to_owned()
}

#[test]
fn a_truncated_gzip() {
    let whole = fs::read(command::root().join("fixtures/logs/samples/nginx_json.jsonl.gz"))
        .expect("the sample is shipped");
    let bench = Bench::new();
    // Cut within the compressed data: what came before the cut may be read, so only the problem is checked.
    let cut = bench.file("cut.jsonl.gz", &whole[..whole.len() / 2]);
    let ran = audit("json", &[cut], &["--fail-on", "never"]);
    assert_eq!(ran.code, 4, "{}", ran.out);
    assert!(summary(&ran.out)["problems"][0]["message"].as_str().is_some_and(|text| !text.is_empty()));
}

#[test]
fn a_truncated_har() {
    let plain = fs::read(command::root().join("fixtures/logs/samples/har_chrome.har"))
        .expect("the sample is shipped");
    let bench = Bench::new();
    let cut = bench.file("cut.har", &plain[..plain.len() / 2]);
    let ran = audit("json", &[cut], &["--fail-on", "never"]);
    assert_eq!(ran.code, 4, "{}", ran.out);
    let told = summary(&ran.out);
    assert!(told["seen"]["exchanges"].as_u64() > Some(0), "the entries before the cut are read: {told}");
}

#[test]
fn invalid_utf8() {
    let bench = Bench::new();
    let line = nginx_line();
    let mut bytes = format!("{line}\n").into_bytes();
    bytes.extend(b"{\"ts\":\"\xff\xfe\"}\n");
    bytes.extend(format!("{line}\n").into_bytes());
    let path = bench.file("latin.jsonl", &bytes);
    let ran = audit("json", &[path], &["--fail-on", "never"]);
    let told = summary(&ran.out);
    assert_eq!(ran.code, 4, "{told}");
    assert_eq!(told["problems"][0]["line"], 2, "{told}");
}

#[test]
fn a_line_of_200_megabytes() {
    let bench = Bench::new();
    let path = bench.0.path().join("long.jsonl");
    let mut file = fs::File::create(&path).expect("it can be written");
    let line = nginx_line();
    writeln!(file, "{line}").expect("there is room");
    let block = vec![b'x'; 1 << 20];
    file.write_all(b"{\"ts\":\"").expect("there is room");
    (0..200).for_each(|_| file.write_all(&block).expect("there is room"));
    writeln!(file, "\"}}\n{line}").expect("there is room");
    drop(file);
    let ran = audit("json", &[path], &["--fail-on", "never"]);
    let told = summary(&ran.out);
    assert_eq!(ran.code, 4, "{told}");
    assert_eq!(told["problems"][0]["line"], 2, "{told}");
    assert_eq!(told["inputs"][0]["events"], 2, "the lines around it are read: {told}");
}

#[test]
fn json_nested_100_000_deep() {
    let bench = Bench::new();
    let deep = format!("{{\"ts\":{}{}}}\n", "[".repeat(100_000), "]".repeat(100_000));
    named(&bench.file("deep.jsonl", deep.as_bytes()));
}

#[test]
fn an_empty_file() {
    named(&Bench::new().file("empty.log", b""));
}

#[test]
fn a_file_that_is_no_log() {
    named(
        &Bench::new()
            .file("novel.txt", "It was a dark and stormy night.\nNobody logged it.\n".repeat(40).as_bytes()),
    );
    named(&Bench::new().file("image.bin", &(0..=255).cycle().take(4096).collect::<Vec<u8>>()));
}

#[test]
fn a_directory_and_a_file_that_is_not_there() {
    let bench = Bench::new();
    let folder = bench.0.path().join("folder.log");
    fs::create_dir(&folder).expect("it can be made");
    let told = named(&folder);
    assert!(told.out.contains("this folder holds no file"), "{}", told.out);
    named(&bench.0.path().join("gone.log"));
}

#[test]
fn a_bound_of_nothing_is_refused_and_not_taken_for_the_default() {
    let log = command::root().join("fixtures/logs/samples/nginx_json.jsonl");
    for (option, nothing) in
        [("--horizon", "0s"), ("--disorder", "0m"), ("--memory", "0MiB"), ("--max-record", "0")]
    {
        let run = audit("json", std::slice::from_ref(&log), &[option, nothing]);
        assert_eq!(run.code, 2, "{option}: {}", run.err);
        assert!(run.err.contains(option) && run.err.contains("more than nothing"), "{}", run.err);
    }
}

#[test]
fn what_is_no_log_is_called_what_it_is_and_no_mapping_is_advised() {
    let bench = Bench::new();
    let pretty = "{\n  \"title\": \"what happened\",\n  \"count\": 3\n}\n";
    for (name, content, what) in [
        (
            "nginx.conf",
            "worker_processes 1;\nhttp {\n  server {\n    listen 80;\n  }\n}\n",
            "a configuration",
        ),
        ("truth.json", pretty, "a JSON document that lists no records"),
        ("page.html", "<!DOCTYPE html>\n<html><body>x</body></html>\n", "an XML or HTML document"),
        ("photo.png", "\u{89}PNG", "an image"),
        ("table.parquet", "PAR1....PAR1", "a Parquet file"),
    ] {
        let bytes: Vec<u8> = content.chars().map(|c| c as u8).collect();
        let told = named(&bench.file(name, &bytes)).out;
        assert!(told.contains(&format!("this is {what}")) && !told.contains("mapping"), "{name}: {told}");
    }
    let csv = bench.file("own.csv", b"who,what\nme,this\nyou,that\n");
    assert!(named(&csv).out.contains("mapping guess"), "a table's columns can be mapped");
}

#[test]
fn a_folder_is_read_and_what_is_no_log_in_it_is_skipped() {
    let run = &shipped()[0];
    let logs: Vec<PathBuf> = fs::read_dir(run)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl" || end == "gz" || end == "log"))
        .collect();
    assert!(logs.len() > 3 && run.join("truth.json").is_file());
    let (one, all) = (audit("json", std::slice::from_ref(run), &[]), audit("json", &logs, &[]));
    assert_eq!(one.code, all.code, "{}", one.out);
    let findings = |out: &str| -> Vec<String> {
        out.lines().filter(|line| line.contains("\"breach\"")).map(str::to_owned).collect()
    };
    assert_eq!(findings(&one.out), findings(&all.out));
    let told = summary(&one.out);
    let problems = told["problems"].as_array().expect("a list");
    let of =
        |name: &str| problems.iter().find(|p| p["path"].as_str().is_some_and(|path| path.ends_with(name)));
    assert_eq!(of("truth.json").expect("it is named")["lost"], false, "{told}");
    assert!(problems.iter().all(|problem| problem["lost"] == false), "{told}");
    // A log that nobody can read is another matter, wherever it was found.
    let bench = Bench::new();
    bench.file("a.log", format!("{}\n", nginx_line()).as_bytes());
    bench.file(".hidden", b"\x89PNG");
    assert_eq!(audit("json", &[bench.0.path().to_owned()], &[]).code, 0);
    bench.file("b.jsonl", b"{\"some\":1,\"keys\":2}\n{\"some\":1,\"keys\":2}\n");
    assert_eq!(audit("json", &[bench.0.path().to_owned()], &[]).code, 4);
}

#[cfg(unix)]
#[test]
fn a_fifo_that_nobody_writes_to() {
    let bench = Bench::new();
    let fifo = bench.0.path().join("pipe.log");
    let made =
        std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo is there on every unix");
    assert!(made.success());
    named(&fifo);
}

#[test]
fn rust_that_does_not_parse_and_syntax_newer_than_the_parser() {
    let bench = Bench::new();
    fs::write(
        bench.0.path().join("Cargo.toml"),
        "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
    )
    .expect("it can be written");
    fs::create_dir(bench.0.path().join("src")).expect("it can be made");
    fs::write(bench.0.path().join("src/lib.rs"), "mod broken;\nmod newer;\n").expect("it can be written");
    // The session header is named, so that no pre-filter may skip the files unread.
    let header = "const H: &str = \"Mcp-Session-Id\";\n";
    fs::write(bench.0.path().join("src/broken.rs"), format!("{header}fn f( {{\n"))
        .expect("it can be written");
    fs::write(bench.0.path().join("src/newer.rs"), format!("{header}fn g() {{ yonder x {{}} }}\n"))
        .expect("it can be written");
    let ran = unbroken(["lint", "--format", "json", bench.0.path().to_str().expect("a plain path")]);
    let told = summary(&ran.out);
    assert_eq!(ran.code, 4, "{told}{}", ran.err);
    let problems = told["problems"].as_array().expect("a list");
    let of = |name: &str| {
        problems.iter().find(|problem| problem["path"].as_str().is_some_and(|path| path.ends_with(name)))
    };
    // An unclosed delimiter is told where it opens or where the file ends.
    assert!(
        of("broken.rs").expect("it is named")["line"].as_u64().is_some_and(|line| (2..=3).contains(&line)),
        "{told}"
    );
    assert_eq!(of("newer.rs").expect("it is named")["line"], 2, "{told}");
}
