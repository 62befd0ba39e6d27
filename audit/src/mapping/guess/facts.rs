//! Which keys of a log hold which fact, by the names that operators give them and by what they hold.
//! Knows no file's grammar; a fact that no key fits stays without one.

use super::Keys;
use crate::mapping::clock;
use crate::mapping::slot::fold;

/// The keys of facts.
pub(super) struct Facts<'k> {
    pub(super) time: Option<&'k str>,
    pub(super) duration: Option<&'k str>,
    pub(super) end: Option<&'k str>,
    pub(super) method: Option<&'k str>,
    pub(super) path: Option<&'k str>,
    pub(super) status: Option<&'k str>,
    pub(super) session_in: Option<&'k str>,
    pub(super) session_out: Option<&'k str>,
    pub(super) last_event_id: Option<&'k str>,
    pub(super) protocol_version: Option<&'k str>,
    pub(super) body: Option<&'k str>,
    pub(super) content_type: Option<&'k str>,
    pub(super) bytes: Option<&'k str>,
    pub(super) request_headers: Option<&'k str>,
    pub(super) response_headers: Option<&'k str>,
    pub(super) subject: Option<&'k str>,
    pub(super) remote_addr: Option<&'k str>,
    pub(super) user_agent: Option<&'k str>,
    pub(super) request_id: Option<&'k str>,
    pub(super) trace_id: Option<&'k str>,
    pub(super) traceparent: Option<&'k str>,
    pub(super) upstream: Option<&'k str>,
    pub(super) rpc_method: Option<&'k str>,
    pub(super) rpc_id: Option<&'k str>,
    pub(super) tool: Option<&'k str>,
    pub(super) args: Option<&'k str>,
}

impl<'k> Facts<'k> {
    pub(super) fn of(k: &'k Keys) -> Facts<'k> {
        let number = |v: &str| v.parse::<f64>().is_ok();
        let is_time = |v: &str| clock::any(v).is_some();
        let back = ["out", "resp", "sent", "downstream", "upstream"];
        let any = |_: &str| true;
        let http = |v: &str| matches!(v, "GET" | "POST" | "DELETE" | "PUT" | "HEAD" | "OPTIONS" | "PATCH");
        let rpc = |v: &str| {
            matches!(v, "initialize" | "ping") || (v.contains('/') && !v.starts_with('/') && !v.contains(' '))
        };
        Facts {
            time: k.best(
                &["start", "timestamp", "time", "ts", "msec", "date", "when", "at", ""],
                &["duration", "response_time", "request_time"],
                is_time,
            ),
            duration: k.best(
                &[
                    "duration",
                    "request_time",
                    "latency",
                    "elapsed",
                    "response_time",
                    "took",
                    "total_time",
                    "dur_",
                ],
                &["upstream", "connect"],
                |v| number(v) || clock::span(v).is_some(),
            ),
            end: k
                .best(&["end", "finish", "complete", "done"], &["duration", "upstream"], is_time)
                .filter(|key| moment(key) == Some("end")),
            method: k.best(&["method", "verb", ""], &[], http),
            path: k.best(
                &["path", "uri", "url", "target", "request", "where", "route", ""],
                &["upstream"],
                |v| v.starts_with('/') || v.starts_with("http"),
            ),
            status: k
                .best(&["status", "code"], &["upstream", "origin"], |v| {
                    v.parse::<u16>().is_ok_and(|n| n < 600)
                })
                // Sizes and milliseconds are numbers too, and seldom all of them statuses.
                .or_else(|| k.best(&[""], &["upstream", "origin"], |v| STATUSES.contains(&v))),
            session_in: k.best(&["mcp_session", "session", "sid", "sess"], &back, any),
            session_out: k
                .best(&["mcp_session", "session"], &["req_", "request", "_in", "http_"], any)
                .filter(|key| back.iter().any(|b| fold(key).contains(b))),
            last_event_id: k.best(&["last_event"], &[], any),
            protocol_version: k
                .best(&["protocol_version", "mcp_version"], &[], |v| v.len() == 10 && v.starts_with("20")),
            // A request names its method, whatever the key is called.
            body: k
                .best(
                    &["request_body", "req_body", "body", "payload", "rpc", "message", "msg"],
                    &["response", "resp_"],
                    |v| v.contains("\"jsonrpc\"") && !v.contains("\\\"jsonrpc"),
                )
                .or_else(|| k.best(&[""], &["response", "resp_"], super::is_packed))
                .or_else(|| {
                    k.best(&[""], &["response", "resp_"], |v| {
                        v.contains("\"jsonrpc\"") && v.contains("\"method\"") && !v.contains("\\\"jsonrpc")
                    })
                }),
            content_type: k.best(&["content_type"], &["req", "_in_"], any),
            bytes: k.best(
                &["body_bytes", "bytes_sent", "bytes", "size", "length", "len"],
                &["received", "req", "_in", "header"],
                number,
            ),
            request_headers: k.headers(&["req", "headers", "in"], &["res", "rsp", "out", "reply"]),
            response_headers: k.headers(&["res", "rsp", "out", "reply"], &["req"]),
            subject: k.best(
                &["jwt_sub", "sub", "subject", "consumer", "principal", "user_id", "username", "user"],
                &["agent"],
                |v| !v.starts_with('{'),
            ),
            remote_addr: k.best(
                &["remote", "client_ip", "client", "peer", "src", ""],
                &["port", "agent", "name", "version"],
                is_address,
            ),
            user_agent: k.best(&["user_agent", "agent"], &[], any),
            request_id: k.best(
                &["request_id", "req_id", "correlation", "x_request"],
                &["session", "rpc"],
                any,
            ),
            trace_id: k.best(&["trace_id", "traceid"], &["parent"], any),
            traceparent: k.best(&["traceparent"], &[], any),
            upstream: k.best(
                &["upstream", "backend", "endpoint", "server"],
                &["status", "time", "name", "session"],
                |v| !v.starts_with('{') && (v.contains(':') || is_address(v)),
            ),
            rpc_method: k.best(&["mcp_method", "rpc_method", "method"], &[], rpc),
            rpc_id: k.best(&["rpc_id", "jsonrpc_request_id", "jsonrpc_id"], &[], any),
            tool: k.best(&["tool_name", "tool"], &["arg", "result"], |v| !v.starts_with('{')),
            args: k.best(&["arguments", "args"], &[], |v| v.starts_with('{')),
        }
    }
}

impl<'k> Facts<'k> {
    /// The keys that the proposal names.
    pub(super) fn used(&self) -> Vec<&'k str> {
        let parts = [self.rpc_method, self.rpc_id, self.tool, self.args];
        let all = [
            self.time,
            self.duration,
            self.end.filter(|_| self.duration.is_none()),
            self.method,
            self.path,
            self.status,
            self.session_in,
            self.session_out,
            self.last_event_id,
            self.protocol_version,
            self.body,
            self.content_type,
            self.bytes,
            self.request_headers,
            self.response_headers,
            self.subject,
            self.remote_addr,
            self.user_agent,
            self.request_id,
            self.trace_id,
            self.traceparent,
            self.upstream,
        ];
        // With the body, its parts need no key of their own.
        let parts = parts.into_iter().filter(|_| self.body.is_none());
        all.into_iter().chain(parts).flatten().collect()
    }
}

/// The statuses that MCP's endpoints and their proxies answer with.
const STATUSES: [&str; 16] = [
    "200", "202", "204", "301", "302", "400", "401", "403", "404", "405", "429", "499", "500", "502", "503",
    "504",
];

/// Which moment of an exchange the name of a time's key says that it is.
pub(super) fn moment(key: &str) -> Option<&'static str> {
    let name = key.rsplit('.').next().unwrap_or(key);
    // Words may be joined by a mark or by their case.
    let apart: String =
        name.chars().flat_map(|c| c.is_ascii_uppercase().then_some('_').into_iter().chain([c])).collect();
    let folded = fold(&apart);
    let says = |words: &[&str]| folded.split('_').any(|word| words.contains(&word));
    if says(&["start", "started", "begin", "began", "begun", "received"]) {
        Some("start")
    } else if says(&["end", "ended", "finish", "finished", "complete", "completed", "done"]) {
        Some("end")
    } else {
        None
    }
}

fn is_address(value: &str) -> bool {
    let host = value
        .rsplit_once(':')
        .filter(|(h, p)| !h.contains(':') && p.parse::<u16>().is_ok())
        .map_or(value, |(h, _)| h);
    host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok()
}
