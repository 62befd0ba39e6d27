//! A proposal for a mapping file, out of a log's own keys and values.
//! Knows the names that operators give to facts; what it cannot tell is left out or marked to be checked.

mod facts;

use super::clock;
use super::slot::fold;
use facts::Facts;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Deepest object whose keys are looked at.
const MOST_DEPTH: usize = 4;
/// Values kept of a key.
const MOST_VALUES: usize = 64;
/// Keys named that are not used.
const MOST_UNUSED: usize = 100;

/// What is known of one key: its values in the order of the log.
#[derive(Debug, Default)]
struct Seen {
    values: Vec<String>,
    /// Records in which it has a value.
    present: u32,
    objects: u32,
    /// Values that are an object within a text.
    packed: u32,
}

/// The keys of some records.
#[derive(Debug, Default)]
pub struct Keys {
    seen: BTreeMap<String, Seen>,
    records: u32,
}

impl Keys {
    /// Looks at a record; one that is no JSON object tells nothing.
    pub fn look(&mut self, record: &[u8]) {
        if let Ok(Json::Object(map)) = serde_json::from_slice::<Json>(record) {
            self.records += 1;
            self.walk("", &map, 0);
        }
    }

    fn walk(&mut self, above: &str, map: &serde_json::Map<String, Json>, depth: usize) {
        for (key, value) in map {
            let path = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
            let seen = self.seen.entry(path.clone()).or_default();
            let text = match value {
                Json::Null => continue,
                Json::String(text) => {
                    // A message is read as it is; another object within a text shows its own keys.
                    if let Some(inner) = object_within(text).filter(|_| depth < MOST_DEPTH) {
                        seen.packed += 1;
                        self.walk(&path, &inner, depth + 1);
                    }
                    text.clone()
                }
                Json::Object(inner) => {
                    seen.objects += 1;
                    if depth < MOST_DEPTH {
                        self.walk(&path, inner, depth + 1);
                    }
                    let seen = self.seen.entry(path).or_default();
                    if seen.values.len() < MOST_VALUES {
                        seen.values.push(value.to_string());
                    }
                    continue;
                }
                other => other.to_string(),
            };
            if text.is_empty() || text == "-" {
                continue;
            }
            let seen = self.seen.entry(path).or_default();
            seen.present += 1;
            if seen.values.len() < MOST_VALUES {
                seen.values.push(text);
            }
        }
    }

    /// Records that were looked at.
    pub fn records(&self) -> u32 {
        self.records
    }

    /// The key that fits best: its folded name holds one of `names` (an earlier one is better) and most values hold `fits`.
    fn best(&self, names: &[&str], not: &[&str], fits: impl Fn(&str) -> bool) -> Option<&str> {
        let rated = self.seen.iter().filter_map(|(key, seen)| {
            let folded = fold(key).replace('.', "_");
            if not.iter().any(|word| folded.contains(word)) || seen.values.is_empty() {
                return None;
            }
            let rank = names.iter().position(|name| folded.contains(name))?;
            let good = seen.values.iter().filter(|v| fits(v)).count();
            (good * 10 >= seen.values.len() * 8).then_some((rank, folded.len(), key.as_str()))
        });
        rated.min().map(|(_, _, key)| key)
    }

    /// A map or list of headers, by the headers in it.
    fn headers(&self, names: &[&str], not: &[&str]) -> Option<&str> {
        let holds = |map: &str, seen: &Seen, name: &str| {
            let listed = |value: &String| value.starts_with('[') && fold(value).contains(name);
            seen.values.iter().any(listed)
                || self.seen.keys().any(|k| {
                    k.strip_prefix(map).and_then(|k| k.strip_prefix('.')).is_some_and(|k| fold(k) == name)
                })
        };
        let known = [
            "mcp_session_id",
            "content_type",
            "user_agent",
            "last_event_id",
            "mcp_protocol_version",
            "accept",
        ];
        let rated = self.seen.iter().filter_map(|(key, seen)| {
            let folded = fold(key);
            let words = || folded.split(['.', '_']);
            if seen.packed > 0 || not.iter().any(|n| words().any(|word| word.starts_with(n))) {
                return None;
            }
            let count = known.iter().filter(|name| holds(key, seen, name)).count();
            let rank = names.iter().position(|n| words().any(|word| word.starts_with(n)))?;
            (count > 0).then_some((rank, std::cmp::Reverse(count), key.as_str()))
        });
        rated.min().map(|(_, _, key)| key)
    }

    /// How headers stand under a key.
    fn style(&self, key: &str) -> &'static str {
        if self.seen[key].objects > 0 { "map" } else { "pairs" }
    }

    /// Whether a key's values are base64 of messages.
    fn is_packed_message(&self, key: &str) -> bool {
        self.seen[key].values.iter().any(|value| is_packed(value))
    }

    /// Whether some of a key's values are responses alone, and others requests.
    fn answers_apart(&self, key: &str) -> bool {
        let values = &self.seen[key].values;
        let asks = |value: &&String| value.contains("\"method\"");
        let answers = |value: &&String| !asks(value) && value.contains("\"result\"");
        values.iter().any(|value| asks(&value)) && values.iter().any(|value| answers(&value))
    }

    /// Keys with an object within their text, of which the proposal uses keys.
    fn packed(&self, facts: &Facts<'_>) -> Vec<String> {
        let used = facts.used();
        let below = |key: &str| {
            used.iter().any(|name| name.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')))
        };
        let packed = self.seen.iter().filter(|(key, seen)| seen.packed > 0 && below(key));
        packed.map(|(key, _)| quoted(key)).collect()
    }

    /// The mapping file.
    pub fn propose(&self, name: &str) -> String {
        let mut out = String::new();
        let facts = Facts::of(self);
        let _ = writeln!(
            out,
            "schema = 1\nname = {name:?}\nvantage = \"{}\" # check: client, capture, edge_lb, proxy, gateway, server_http or server_app",
            // A log of calls without a word of HTTP is none of a proxy.
            if facts.method.or(facts.status).or(facts.path).is_some() { "proxy" } else { "gateway" }
        );
        let _ = writeln!(out, "session_id_scope = \"header_client\" # check: whose session ids these are\n");
        let packed = self.packed(&facts);
        if !packed.is_empty() {
            let _ = writeln!(out, "[input]\nunpacked = [{}]\n", packed.join(", "));
        }
        self.write_detect(&mut out, &facts);
        self.write_time(&mut out, &facts);
        section(
            &mut out,
            "exchange",
            &[("method", facts.method), ("path", facts.path), ("status", facts.status)],
        );
        let q = [
            ("session", facts.session_in),
            ("last_event_id", facts.last_event_id),
            ("protocol_version", facts.protocol_version),
            ("body", facts.body.filter(|key| !self.is_packed_message(key))),
        ];
        section(&mut out, "request", &q);
        if let Some(body) = facts.body.filter(|key| self.is_packed_message(key)) {
            if q.iter().all(|(_, key)| key.is_none()) {
                out.push_str("[request]\n");
            } else {
                out.truncate(out.trim_end().len() + 1);
            }
            let _ = writeln!(out, "body = {{ key = {}, decode = [\"base64\"] }}\n", quoted(body));
        }
        section(
            &mut out,
            "response",
            &[("session", facts.session_out), ("content_type", facts.content_type), ("bytes", facts.bytes)],
        );
        let headers = [("request", facts.request_headers), ("response", facts.response_headers)];
        if headers.iter().any(|(_, at)| at.is_some()) {
            out.push_str("[headers]\n");
            for (side, at) in headers {
                if let Some(at) = at {
                    let _ = writeln!(
                        out,
                        "{side} = {{ style = \"{}\", at = {} }}",
                        self.style(at),
                        quoted(&pointer(at))
                    );
                }
            }
            out.push('\n');
        }
        let i = [
            ("subject", facts.subject),
            ("remote_addr", facts.remote_addr),
            ("user_agent", facts.user_agent),
        ];
        section(&mut out, "identity", &i);
        section(
            &mut out,
            "keys",
            &[("request", facts.request_id), ("trace", facts.trace_id), ("traceparent", facts.traceparent)],
        );
        section(&mut out, "upstream", &[("addr", facts.upstream)]);
        if facts.body.is_none() {
            section(
                &mut out,
                "rpc",
                &[
                    ("method", facts.rpc_method),
                    ("id", facts.rpc_id),
                    ("tool", facts.tool),
                    ("args", facts.args),
                ],
            );
        }
        if let Some(body) = facts.body.filter(|key| self.answers_apart(key) && facts.status.is_none()) {
            let (key, method) = (quoted(body), quoted(&pointer(&format!("{body}.method"))));
            let _ = writeln!(
                out,
                "# {body} holds requests in some records and responses in others. Of a client's own log each can be read as\n\
                 # it is, by vantage = \"client\" and, in place of [exchange] to [response]:\n\
                 #   [[line]]\n#   if = [{{ field = {method}, present = false }}]\n#   emit = \"message\"\n#   outcome = \"to_client\"\n\
                 #   set = {{ message = {key} }}\n#   [[line]]\n#   emit = \"message\"\n#   set = {{ message = {key} }}\n\
                 # Of another program the log has to hold request and response in one record."
            );
        }
        self.write_unused(&mut out, &facts);
        out
    }

    /// Keys that the proposal does not name, as comments: one of them may hold what it lacks.
    fn write_unused(&self, out: &mut String, facts: &Facts<'_>) {
        let used = facts.used();
        // What is below a used key is used with it.
        let is_used = |key: &str| {
            used.iter().any(|name| {
                key.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        };
        let opened = |key: &str, seen: &Seen| {
            let below = |name: &&&str| name.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
            seen.packed > 0 && used.iter().any(|name| below(&name))
        };
        let unused: Vec<String> = self
            .seen
            .iter()
            .filter(|(key, seen)| {
                (seen.objects == 0 || seen.present > 0) && !is_used(key) && !opened(key, seen)
            })
            .map(|(key, _)| key.chars().map(|c| if c.is_control() { ' ' } else { c }).collect())
            .collect();
        if unused.is_empty() {
            return;
        }
        let _ = writeln!(out, "# keys that are not used, {} of them:", unused.len());
        for key in unused.iter().take(MOST_UNUSED) {
            let _ = writeln!(out, "#   {key}");
        }
        if unused.len() > MOST_UNUSED {
            out.push_str("#   …\n");
        }
    }

    fn write_detect(&self, out: &mut String, facts: &Facts<'_>) {
        let own = [facts.time, facts.method, facts.status, facts.session_in, facts.body, facts.rpc_method];
        let always = |key: &&str| self.seen[*key].present == self.records;
        // A record is told before its texts are opened: what is within one stands for the key of the text.
        let outside = |key| {
            let mut opened =
                self.seen.iter().filter(|(_, seen)| seen.packed > 0).map(|(key, _)| key.as_str());
            let within =
                |above: &&str| str::strip_prefix(key, *above).is_some_and(|rest| rest.starts_with('.'));
            opened.find(within).unwrap_or(key)
        };
        let mut keys: Vec<String> =
            own.into_iter().flatten().filter(always).map(outside).map(quoted).collect();
        keys.dedup();
        let _ = writeln!(out, "[detect]\nrequire = [{}]\n", keys.join(", "));
    }

    fn write_time(&self, out: &mut String, facts: &Facts<'_>) {
        let Some(at) = facts.time else {
            out.push_str("[time] # no time was found: name its key\nat = \"\"\nmeans = \"start\"\n\n");
            return;
        };
        // The key's own word goes before what the order of the records suggests.
        let named = facts::moment(at);
        let means = match named.or_else(|| self.means(at, facts.duration)) {
            Some(means) if named.is_some() || means == "start" => format!("means = \"{means}\""),
            // Records in the order of their ends are told apart from sorted ones by nothing.
            Some(means) => format!(
                "means = \"{means}\" # check: the records are in its order, as where it is the end, or sorted by it"
            ),
            None => "means = \"end\" # check: is it the start or the end of the exchange?".to_owned(),
        };
        let _ = writeln!(out, "[time]\nat = {{ key = {}, format = \"any\" }}\n{means}", quoted(at));
        if let Some(duration) = facts.duration {
            let _ = writeln!(
                out,
                "duration = {{ key = {}, unit = \"{}\" }}",
                quoted(duration),
                self.unit(duration)
            );
        } else if let Some(end) = facts.end {
            let _ = writeln!(out, "end = {{ key = {}, format = \"any\" }}", quoted(end));
        }
        out.push('\n');
    }

    /// Access logs are written when an exchange ends: the times that never fall are the ends.
    fn means(&self, at: &str, duration: Option<&str>) -> Option<&'static str> {
        let times: Vec<i64> = self.seen[at].values.iter().filter_map(|t| clock::any(t)).collect();
        let lengths: Vec<i64> =
            self.seen[duration?].values.iter().filter_map(|t| length(t, self.unit(duration?))).collect();
        if times.len() != lengths.len() || times.len() < 3 || lengths.iter().all(|l| *l < clock::SECOND / 10)
        {
            return None;
        }
        let falls = |times: &[i64]| times.windows(2).filter(|w| w[1] < w[0]).count();
        let ends: Vec<i64> = times.iter().zip(&lengths).map(|(t, l)| t.saturating_add(*l)).collect();
        match (falls(&times), falls(&ends)) {
            (a, b) if a < b => Some("end"),
            (a, b) if a > b => Some("start"),
            _ => None,
        }
    }

    fn unit(&self, key: &str) -> &'static str {
        let folded = fold(key);
        let values = &self.seen[key].values;
        if values.iter().any(|v| v.ends_with(|c: char| c.is_ascii_alphabetic())) {
            "text"
        } else if folded.ends_with("ns") || folded.contains("nano") {
            "ns"
        } else if folded.ends_with("us") || folded.contains("micro") {
            "us"
        } else if folded.contains("ms") || folded.contains("milli") || values.iter().all(|v| !v.contains('.'))
        {
            "ms"
        } else {
            "s"
        }
    }
}

/// An object within a text that is no message of JSON-RPC.
fn object_within(text: &str) -> Option<serde_json::Map<String, Json>> {
    if !text.starts_with('{') {
        return None;
    }
    match serde_json::from_str(text) {
        Ok(Json::Object(map)) if !map.contains_key("jsonrpc") => Some(map),
        _ => None,
    }
}

/// Base64 of a message.
fn is_packed(text: &str) -> bool {
    // `{"` in base64.
    text.starts_with("eyJ")
        && super::base64(text).is_some_and(|bytes| memchr::memmem::find(&bytes, b"\"jsonrpc\"").is_some())
}

fn length(text: &str, unit: &str) -> Option<i64> {
    if unit == "text" { clock::span(text) } else { clock::epoch(text, clock::unit_of(unit)?) }
}

fn section(out: &mut String, name: &str, keys: &[(&str, Option<&str>)]) {
    let given: Vec<_> = keys.iter().filter_map(|(fact, key)| key.map(|key| (fact, key))).collect();
    if given.is_empty() && name != "exchange" {
        return;
    }
    let _ = writeln!(out, "[{name}]");
    for (fact, key) in given {
        let _ = writeln!(out, "{fact} = {}", quoted(key));
    }
    out.push('\n');
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn pointer(key: &str) -> String {
    format!("/{}", key.replace('~', "~0").replace('.', "/"))
}

#[cfg(test)]
mod tests;
