//! The configuration that the documentation shows is started as it stands there, a session goes through it, and the
//! audit reads what was written. What is not installed is skipped with a word; agentgateway's is held against its own
//! schema, the OpenTelemetry collector's is read as YAML only.

mod command;

use command::{ran, root, summary, unbroken};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SESSION: &str = "5f1c2b7e-0a51-4c0e-9d61-7b6a1f0c9a01";

/// The program, on the path or where daemons lie, or the reason why it is not tried, printed.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
    let found = folders.map(|folder| folder.join(name)).find(|file| file.is_file());
    if found.is_none() {
        eprintln!("skipped: {name} is not installed");
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
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Mcp-Protocol-Version: 2025-11-25\r\n{headers}{length}\r\n{body}"
    )
    .expect("the proxy reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the proxy answers");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    answer
}

/// Whether somebody answers a plain GET with 200.
fn answers(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let asked = write!(stream, "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    let mut answer = String::new();
    asked.is_ok() && stream.read_to_string(&mut answer).is_ok() && answer.starts_with("HTTP/1.1 200")
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
    let Some(nginx) = program("nginx") else { return };
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
    let Some(haproxy) = program("haproxy") else { return };
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
    let Some(caddy) = program("caddy") else { return };
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

/// A snippet with every line moved right, as it stands in a larger file.
fn indented(name: &str, columns: usize) -> String {
    snippet(name).lines().map(|line| format!("{}{line}\n", " ".repeat(columns))).collect()
}

#[test]
fn envoy_logs_what_an_audit_needs() {
    let Some(envoy) = program("envoy") else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (at, port) = (folder.path().display().to_string(), free_port());
    let address = |port| format!("{{ socket_address: {{ address: 127.0.0.1, port_value: {port} }} }}");
    let manager = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
    let config = format!(
        "static_resources:\n  listeners:\n  - address: {listen}\n    filter_chains:\n    - filters:\n\
         \x20     - name: envoy.filters.network.http_connection_manager\n        typed_config:\n\
         \x20         \"@type\": {manager}\n          stat_prefix: mcp\n{log}{filters}\
         \x20         route_config:\n            virtual_hosts:\n            - name: mcp\n              domains: [\"*\"]\n\
         \x20             routes: [{{ match: {{ prefix: / }}, route: {{ cluster: mcp, timeout: 0s }} }}]\n\
         \x20 clusters:\n  - name: mcp\n    load_assignment:\n      cluster_name: mcp\n\
         \x20     endpoints: [{{ lb_endpoints: [{{ endpoint: {{ address: {server} }} }}] }}]\n",
        listen = address(port),
        log = indented("envoy-access-log.yaml", 10).replace("/var/log/envoy", &at),
        filters = indented("envoy-filters.yaml", 10),
        server = address(server()),
    );
    let file = folder.path().join("envoy.yaml");
    std::fs::write(&file, config).expect("it can be written");
    let mut command = Command::new(envoy);
    command.args(["--disable-hot-restart", "--concurrency", "1", "--file-flush-interval-msec", "100"]);
    command.args(["--log-level", "error", "--config-path"]).arg(&file);
    let _proxy = Proxy::start(&mut command, port);
    visit(port);
    let seen = audited(&folder.path().join("mcp-access.jsonl"));
    let facts = ["sessions", "calls", "resumes"].map(|fact| seen["seen"][fact].as_u64());
    assert_eq!(facts, [Some(1), Some(1), Some(1)], "{seen}");
    assert_eq!(seen["inputs"][0]["format"], "envoy access log", "{seen}");
}

#[test]
fn traefik_logs_what_an_audit_needs() {
    let Some(traefik) = program("traefik") else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (at, port, probe) = (folder.path().display().to_string(), free_port(), free_port());
    let config = format!(
        "{}entryPoints:\n  mcp:\n    address: 127.0.0.1:{port}\n\
         \x20 probe:\n    address: 127.0.0.1:{probe}\n    observability:\n      accessLogs: false\nproviders:\n  file:\n    filename: {at}/routes.yaml\n\
         global:\n  checkNewVersion: false\n  sendAnonymousUsage: false\n",
        snippet("traefik.yaml").replace("/var/log/traefik", &at)
    );
    let routes = format!(
        "http:\n  routers:\n    mcp:\n      rule: PathPrefix(`/`)\n      service: mcp\n  services:\n    mcp:\n      loadBalancer:\n\
         \x20       servers:\n        - url: http://127.0.0.1:{}\n",
        server()
    );
    std::fs::write(folder.path().join("routes.yaml"), routes).expect("it can be written");
    let file = folder.path().join("traefik.yaml");
    std::fs::write(&file, config).expect("it can be written");
    let mut command = Command::new(traefik);
    command.arg(format!("--configFile={}", file.display())).stdout(Stdio::null()).stderr(Stdio::null());
    let _proxy = Proxy::start(&mut command, port);
    // It listens before it has read its routes; asking for them is not logged.
    let begun = Instant::now();
    while !answers(probe) {
        assert!(begun.elapsed() < Duration::from_secs(20), "the proxy has no route");
        std::thread::sleep(Duration::from_millis(100));
    }
    visit(port);
    let seen = audited(&folder.path().join("access.jsonl"));
    // Traefik logs no bodies, so the call is not seen as one.
    let facts = ["sessions", "resumes"].map(|fact| seen["seen"][fact].as_u64());
    assert_eq!(facts, [Some(1), Some(1)], "{seen}");
    assert_eq!(seen["inputs"][0]["format"], "traefik access log", "{seen}");
}

/// A snippet of YAML as JSON; or nothing and a word why, where nobody reads YAML.
fn yaml(name: &str) -> Option<Value> {
    let there = Command::new("python3").args(["-c", "import yaml"]).stderr(Stdio::null()).status();
    if !there.is_ok_and(|status| status.success()) {
        eprintln!("skipped: python3 has no module yaml");
        return None;
    }
    let script = "import json,sys,yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))";
    let file = root().join("docs/snippets").join(name);
    let read = ran(Command::new("python3").args(["-c", script]).arg(&file).output().expect("python starts"));
    assert_eq!(read.code, 0, "{name}: {}", read.err);
    Some(serde_json::from_str(&read.out).expect("python writes JSON"))
}

#[test]
fn agentgateway_knows_every_key_of_its_snippet() {
    let file = root().join("fixtures/schema/agentgateway-access-log.json");
    let schema: Value =
        serde_json::from_str(&std::fs::read_to_string(file).expect("it is shipped")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema is valid itself");
    let Some(mut snippet) = yaml("agentgateway.yaml") else { return };
    let errors: Vec<String> = validator.iter_errors(&snippet).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    snippet["frontendPolicies"]["accessLog"]["ad"] = serde_json::json!({});
    assert!(!validator.is_valid(&snippet), "a key that agentgateway does not know is refused");
}

#[test]
fn the_collector_snippet_is_yaml_whose_pipelines_name_what_there_is() {
    let Some(snippet) = yaml("otel-collector.yaml") else { return };
    let pipelines = snippet["service"]["pipelines"].as_object().expect("it has pipelines");
    assert!(!pipelines.is_empty());
    for (name, pipeline) in pipelines {
        for part in ["receivers", "exporters"] {
            for used in pipeline[part].as_array().expect("a list") {
                let used = used.as_str().expect("a name");
                assert!(
                    snippet[part].get(used).is_some(),
                    "{name} names {used}, which is configured nowhere"
                );
            }
        }
    }
}
