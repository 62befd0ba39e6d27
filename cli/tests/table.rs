//! Sessions and calls as Parquet, read back by DuckDB. Runs with `--features parquet`.
#![cfg(feature = "parquet")]

mod command;

use command::{View, ran, secrets, shipped, summary, unbroken};
use std::path::Path;
use std::process::{Command, Stdio};

/// What DuckDB answers to a query over a file, as JSON; or nothing and a word why, where there is no DuckDB.
fn duckdb(query: &str) -> Option<serde_json::Value> {
    let there = Command::new("python3").args(["-c", "import duckdb"]).stderr(Stdio::null()).status();
    if !there.is_ok_and(|status| status.success()) {
        eprintln!("skipped: python3 has no module duckdb");
        return None;
    }
    let script = "import duckdb,json,sys; r=duckdb.sql(sys.argv[1]); \
                  print(json.dumps([dict(zip(r.columns,row)) for row in r.fetchall()],default=str))";
    let ran = ran(Command::new("python3").args(["-c", script, query]).output().expect("python starts"));
    assert_eq!(ran.code, 0, "{query}: {}", ran.err);
    Some(serde_json::from_str(&ran.out).expect("JSON"))
}

fn tables(run: &Path, folder: &Path) -> serde_json::Value {
    let mut arguments = vec!["audit".into(), "--format".into(), "json".into(), "--tables".into()];
    arguments.push(folder.as_os_str().to_owned());
    arguments.extend(View::All.files(run).into_iter().map(Into::into));
    summary(&unbroken(arguments).out)
}

#[test]
fn duckdb_reads_what_the_summary_counts() {
    for run in shipped() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let seen = tables(&run, folder.path());
        let at = |name: &str| folder.path().join(name).display().to_string();
        let Some(sessions) =
            duckdb(&format!("select count(*) n, sum(exchanges)::int e from '{}'", at("sessions.parquet")))
        else {
            return;
        };
        assert_eq!(sessions[0]["n"], seen["seen"]["sessions"], "{}", run.display());
        let calls =
            duckdb(&format!("select count(*) n from '{}'", at("calls.parquet"))).expect("it is there");
        assert_eq!(calls[0]["n"], seen["seen"]["calls"], "{}", run.display());
        for name in ["sessions.parquet", "calls.parquet"] {
            let bytes = std::fs::read(folder.path().join(name)).expect("it was written");
            for secret in secrets(&run) {
                assert!(
                    !bytes.windows(secret.len()).any(|part| part == secret.as_bytes()),
                    "{name} shows {secret}"
                );
            }
        }
    }
}

#[test]
fn a_duplicate_can_be_asked_for() {
    let runs = shipped();
    let run = runs
        .iter()
        .find(|run| run.ends_with("s04c_504_executed__py2+retry-same__py1"))
        .expect("it is shipped");
    let folder = tempfile::tempdir().expect("a temporary folder");
    tables(run, folder.path());
    let query = format!(
        "select tool, count(*) n, count(*) filter (executed) ran, min(sent) < max(sent) later \
         from '{}' where tool = 'charge_card' group by tool",
        folder.path().join("calls.parquet").display()
    );
    let Some(rows) = duckdb(&query) else { return };
    assert_eq!(rows[0], serde_json::json!({ "tool": "charge_card", "n": 2, "ran": 2, "later": true }));
}

#[test]
fn the_order_of_files_changes_no_byte() {
    let runs = shipped();
    let (one, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let mut files = View::All.files(&runs[0]);
    for folder in [one.path(), other.path()] {
        let mut arguments = vec!["audit".into(), "--tables".into(), folder.as_os_str().to_owned()];
        arguments.extend(files.iter().map(|file| file.as_os_str().to_owned()));
        unbroken(arguments);
        files.reverse();
    }
    for name in ["sessions.parquet", "calls.parquet"] {
        let read = |folder: &Path| std::fs::read(folder.join(name)).expect("it was written");
        assert_eq!(read(one.path()), read(other.path()));
    }
}
