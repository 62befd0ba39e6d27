//! The check command that the book gives for rust-analyzer, run by rust-analyzer itself.
//! Skips where the toolchain has no rust-analyzer: `rustup component add rust-analyzer` installs it.

mod command;

use command::root;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Until the editor is ready and the check has run: most of it is the editor's own indexing.
const PATIENCE: Duration = Duration::from_secs(240);

/// A language server that is told what editors tell it.
struct Editor {
    server: Child,
    input: ChildStdin,
    said: Receiver<Value>,
}

impl Editor {
    /// Starts the server in a folder, or prints why there is none.
    fn find(folder: &Path) -> Option<Editor> {
        let there =
            Command::new("rust-analyzer").arg("--version").output().is_ok_and(|ran| ran.status.success());
        if !there {
            eprintln!("skipped: the toolchain has no rust-analyzer");
            return None;
        }
        let bin = Path::new(env!("CARGO_BIN_EXE_unbroken")).parent().expect("it lies in a folder").to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([bin].into_iter().chain(std::env::split_paths(&path)));
        let mut server = Command::new("rust-analyzer")
            .current_dir(folder)
            .env("PATH", path.expect("no folder has a colon in its name"))
            .env("CARGO_TARGET_DIR", folder.join("target"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it was started a moment ago");
        let input = server.stdin.take().expect("it is piped");
        let mut output = BufReader::new(server.stdout.take().expect("it is piped"));
        let (tell, said) = channel();
        std::thread::spawn(
            move || while let Some(true) = read(&mut output).map(|said| tell.send(said).is_ok()) {},
        );
        Some(Editor { server, input, said })
    }

    fn send(&mut self, message: Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("the server listens");
        self.input.flush().expect("the server listens");
    }

    fn next(&self) -> Value {
        self.said.recv_timeout(PATIENCE).expect("the server goes on until it has said what is asked for")
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// One message of the language server protocol.
fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim().split_once(": ") {
            Some(("Content-Length", number)) => length = number.parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut text = vec![0; length];
    output.read_exact(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// The check command in the book.
fn documented() -> Value {
    let page = std::fs::read_to_string(root().join("docs/ci.md")).expect("the page is there");
    let block = page
        .split("```json\n")
        .skip(1)
        .filter_map(|block| block.split("```").next())
        .find(|block| block.contains("overrideCommand"))
        .expect("the page gives the setting");
    let settings: Value = serde_json::from_str(block).expect("settings are JSON");
    settings["rust-analyzer.check.overrideCommand"].clone()
}

/// The shipped client without its dependencies, so that nothing has to be fetched and the compiler has something to say.
fn client(folder: &Path) {
    std::fs::create_dir_all(folder.join("src")).expect("a folder");
    for entry in root().join("fixtures/clients/naive/src").read_dir().expect("the client is shipped") {
        let path = entry.expect("an entry").path();
        std::fs::copy(&path, folder.join("src").join(path.file_name().expect("a file"))).expect("a copy");
    }
    let manifest =
        "[package]\nname = \"naive-client\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
    std::fs::write(folder.join("Cargo.toml"), manifest).expect("a file");
}

#[test]
fn rust_analyzer_shows_our_findings_beside_those_of_the_compiler() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    client(folder.path());
    let Some(mut editor) = Editor::find(folder.path()) else { return };
    let uri = format!("file://{}", folder.path().display());
    let file = format!("{uri}/src/send.rs");
    let settings = json!({ "check": { "overrideCommand": documented() }, "checkOnSave": true,
                           "procMacro": { "enable": false }, "cachePriming": { "enable": false } });
    editor.send(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "processId": std::process::id(), "rootUri": uri, "initializationOptions": settings,
        "capabilities": { "workspace": { "configuration": true },
                          "experimental": { "serverStatusNotification": true } } } }));
    let (mut saved, mut ours, mut theirs) = (false, false, false);
    while !(ours && theirs) {
        let said = editor.next();
        let method = said["method"].as_str().unwrap_or_default();
        match (method, said.get("id")) {
            ("", Some(id)) if *id == 1 => {
                editor.send(json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }));
            }
            ("workspace/configuration", Some(id)) => {
                let items = said["params"]["items"].as_array().map_or(1, Vec::len);
                editor.send(json!({ "jsonrpc": "2.0", "id": id, "result": vec![&settings; items] }));
            }
            (_, Some(id)) if !method.is_empty() => {
                editor.send(json!({ "jsonrpc": "2.0", "id": id, "result": null }));
            }
            ("experimental/serverStatus", _) if !saved && said["params"]["quiescent"] == true => {
                saved = true;
                let document = json!({ "textDocument": { "uri": file } });
                editor
                    .send(json!({ "jsonrpc": "2.0", "method": "textDocument/didSave", "params": document }));
            }
            ("textDocument/publishDiagnostics", _) => {
                for shown in said["params"]["diagnostics"].as_array().into_iter().flatten() {
                    ours |= shown["source"] == "unbroken" && shown["code"] == "resume-without-cursor";
                    theirs |= shown["source"] == "rustc";
                }
            }
            _ => {}
        }
    }
}
