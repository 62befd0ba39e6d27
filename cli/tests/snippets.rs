//! The configuration that the documentation shows is started as it stands there, a session goes through it, and the
//! audit reads what was written. What is not installed is skipped with a word.

mod command;

use command::{ran, root, summary, unbroken};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SESSION: &str = "5f1c2b7e-0a51-4c0e-9d61-7b6a1f0c9a01";

fn program(names: &[&str]) -> Option<PathBuf> {
    let found = names.iter().map(PathBuf::from).find(|path| path.is_file());
    if found.is_none() {
        eprintln!("skipped: none of {} is installed", names.join(", "));
    }
    found
}

fn snippet(name: &str) -> String {
    std::fs::read_to_string(root().join("docs/snippets").join(name)).expect("the snippet is shipped")
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("it has one").port()
}

/// A server that opens a session, answers a call and streams one event; it runs until the test ends.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("it has one").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream));
        }
    });
    port
}

fn answer(mut stream: TcpStream) {
    let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
    let (mut first, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((_, value)) = line.to_ascii_lowercase().split_once("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if first.is_empty() {
            first = line;
        }
    }
    let mut body = vec![0; length];
    let _ = reader.read_exact(&mut body);
    let body = String::from_utf8_lossy(&body).into_owned();
    let (kind, session, text) = if body.contains("\"initialize\"") {
        let result = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;
        ("application/json", format!("Mcp-Session-Id: {SESSION}\r\n"), result)
    } else if first.starts_with("GET") {
        (
            "text/event-stream",
            String::new(),
            "id: 8\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n",
        )
    } else if first.starts_with("POST") {
        (
            "application/json",
            String::new(),
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a result of some length"}]}}"#,
        )
    } else {
        ("text/plain", String::new(), "")
    };
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{session}Content-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
}

/// One request; the answer's head and body.
fn ask(port: u16, method: &str, headers: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the proxy listens");
    let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    write!(
        stream,
        "{method} /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUser-Agent: example-agent/1.0\r\nConnection: close\r\n\
         Content-Type: application/json\r\nMcp-Protocol-Version: 2025-11-25\r\n{headers}{length}\r\n{body}"
    )
    .expect("the proxy reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the proxy answers");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    answer
}

/// A whole session: opened, a call, a resumed stream, ended.
fn visit(port: u16) {
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    assert!(ask(port, "POST", "", initialize).to_ascii_lowercase().contains("mcp-session-id"));
    let session = format!("Mcp-Session-Id: {SESSION}\r\n");
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_balance","arguments":{"account":"a, \"b\""}}}"#;
    ask(port, "POST", &session, call);
    ask(port, "GET", &format!("{session}Last-Event-ID: 7\r\n"), "");
    ask(port, "DELETE", &session, "");
}

/// A proxy that is ended with the test.
struct Proxy(Child);

impl Proxy {
    fn start(command: &mut Command, port: u16) -> Proxy {
        let proxy = Proxy(command.stdin(Stdio::null()).spawn().expect("the proxy starts"));
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(20), "the proxy does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        proxy
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the audit sees in the log, once it has all four exchanges.
fn audited(log: &Path) -> Value {
    let begun = Instant::now();
    loop {
        let ran = unbroken(["audit".as_ref(), "--format".as_ref(), "json".as_ref(), log.as_os_str()]);
        let seen = (!ran.out.is_empty()).then(|| summary(&ran.out));
        if let Some(seen) = seen.filter(|seen| seen["seen"]["exchanges"] == 4) {
            return seen;
        }
        let written = std::fs::read_to_string(log).unwrap_or_default();
        assert!(begun.elapsed() < Duration::from_secs(20), "{}{}\n{written}", ran.out, ran.err);
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn nginx_logs_what_an_audit_needs() {
    let Some(nginx) = program(&["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx"]) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (at, port) = (folder.path().display().to_string(), free_port());
    let location = snippet("nginx-location.conf").replace("/var/log/nginx", &at);
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path {at}/{kind};"))
        .concat();
    let config = format!(
        "daemon off; master_process off; pid {at}/pid; error_log {at}/error.log info; events {{}}\n\
         http {{ {temporary} access_log off;\n{}\nupstream mcp {{ server 127.0.0.1:{}; }}\n\
         server {{ listen 127.0.0.1:{port};\n{location}\n}} }}\n",
        snippet("nginx-log.conf"),
        server()
    );
    let file = folder.path().join("nginx.conf");
    std::fs::write(&file, config).expect("it can be written");
    let _proxy = Proxy::start(Command::new(nginx).args(["-p", &at, "-c"]).arg(&file), port);
    visit(port);
    let seen = audited(&folder.path().join("mcp-access.jsonl"));
    let facts = ["sessions", "calls", "resumes"].map(|fact| seen["seen"][fact].as_u64());
    assert_eq!(facts, [Some(1), Some(1), Some(1)], "{seen}");
    assert_eq!(seen["inputs"][0]["format"], "nginx-json", "{seen}");
}

#[test]
fn haproxy_logs_what_an_audit_needs() {
    let Some(haproxy) = program(&["/usr/sbin/haproxy", "/usr/bin/haproxy", "/usr/local/sbin/haproxy"]) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let port = free_port();
    let config = format!(
        "global\n  log stdout len 16384 format raw local0 info\n\
         defaults\n  mode http\n  log global\n  option dontlognull\n  timeout connect 5s\n  timeout client 30s\n  timeout server 30s\n\
         frontend fe\n  bind 127.0.0.1:{port}\n{}\n  default_backend mcp\n\
         backend mcp\n  server a 127.0.0.1:{}\n",
        snippet("haproxy-frontend.cfg"),
        server()
    );
    let (file, log) = (folder.path().join("haproxy.cfg"), folder.path().join("mcp-access.jsonl"));
    std::fs::write(&file, config).expect("it can be written");
    let checked = ran(Command::new(&haproxy).args(["-c", "-f"]).arg(&file).output().expect("it starts"));
    assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
    let written = std::fs::File::create(&log).expect("it can be written");
    let _proxy = Proxy::start(Command::new(haproxy).args(["-db", "-f"]).arg(&file).stdout(written), port);
    visit(port);
    let seen = audited(&log);
    let facts = ["sessions", "calls", "resumes"].map(|fact| seen["seen"][fact].as_u64());
    assert_eq!(facts, [Some(1), Some(1), Some(1)], "{seen}");
    assert!(seen["inputs"][0]["format"].as_str().is_some_and(|name| name.contains("haproxy")), "{seen}");
}

#[test]
fn caddy_logs_what_an_audit_needs() {
    let Some(caddy) = program(&["/usr/bin/caddy", "/usr/local/bin/caddy"]) else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (at, port) = (folder.path().display().to_string(), free_port());
    let site = snippet("Caddyfile")
        .replace("mcp.example.com", &format!("http://127.0.0.1:{port}"))
        .replace("/var/log/caddy", &at)
        .replace("127.0.0.1:8080", &format!("127.0.0.1:{}", server()));
    let file = folder.path().join("Caddyfile");
    std::fs::write(&file, format!("{{\n\tadmin off\n\tauto_https off\n}}\n{site}"))
        .expect("it can be written");
    let mut command = Command::new(caddy);
    command.args(["run", "--adapter", "caddyfile", "--config"]).arg(&file);
    command.env("XDG_DATA_HOME", &at).env("XDG_CONFIG_HOME", &at).stderr(Stdio::null());
    let _proxy = Proxy::start(&mut command, port);
    visit(port);
    let seen = audited(&folder.path().join("mcp-access.jsonl"));
    // Caddy logs no bodies, so the call is not seen as one.
    let facts = ["sessions", "resumes"].map(|fact| seen["seen"][fact].as_u64());
    assert_eq!(facts, [Some(1), Some(1)], "{seen}");
    assert!(seen["inputs"][0]["format"].as_str().is_some_and(|name| name.contains("caddy")), "{seen}");
}

#[test]
fn the_other_snippets_are_yaml() {
    let python = Command::new("python3").args(["-c", "import yaml"]).stderr(Stdio::null()).status();
    if !python.is_ok_and(|status| status.success()) {
        eprintln!("skipped: python3 has no module yaml");
        return;
    }
    for name in ["envoy-access-log.yaml", "traefik.yaml", "agentgateway.yaml", "otel-collector.yaml"] {
        let file = root().join("docs/snippets").join(name);
        let script = "import sys,yaml; d=yaml.safe_load(open(sys.argv[1])); assert isinstance(d,dict) and d";
        let parsed =
            ran(Command::new("python3").args(["-c", script]).arg(&file).output().expect("python starts"));
        assert_eq!(parsed.code, 0, "{name}: {}", parsed.err);
    }
}
