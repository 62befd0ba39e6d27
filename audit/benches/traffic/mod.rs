//! Traffic of made-up clients in the project's own JSON lines, of any size, with the calls that were sent twice.
//! Knows what it did to whom; not what the audit makes of it.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::io::{self, Write};

/// A call that was sent twice: session and JSON-RPC id of the first and of the second send.
pub(crate) type Pair = (String, String, String, String);

/// What was written.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// Lines.
    pub(crate) lines: u64,
    /// Bytes.
    pub(crate) bytes: u64,
    /// The calls that were sent twice.
    pub(crate) twice: BTreeSet<Pair>,
}

/// Nanoseconds in a millisecond.
const MILLI: i64 = 1_000_000;
/// 2026-03-02T10:00:00Z.
const EPOCH: i64 = 1_772_445_600_000 * MILLI;

/// A small generator of numbers (Knuth's constants): the same traffic for the same seed, everywhere.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// One client and where it stands.
#[derive(Default)]
struct Client {
    number: u64,
    session: String,
    left: u64,
    next: u64,
    /// A call whose outcome the client does not know: its arguments, session and id.
    open: Option<(u64, String, u64)>,
}

/// Writes at least `most` bytes of `clients` clients' traffic.
///
/// # Errors
/// What `out` says.
pub(crate) fn write(most: u64, clients: u64, seed: u64, out: &mut dyn Write) -> io::Result<Written> {
    let mut dice = Dice(seed);
    let mut written = Written::default();
    let mut turns: BinaryHeap<Reverse<(i64, u64)>> =
        (0..clients).map(|n| Reverse((EPOCH + n as i64 * 7 * MILLI, n))).collect();
    let mut all: Vec<Client> = (0..clients).map(|number| Client { number, ..Client::default() }).collect();
    let mut line = String::new();
    while let Some(Reverse((at, number))) = turns.pop() {
        line.clear();
        let took = all[number as usize].step(at, &mut dice, &mut line, &mut written.twice);
        out.write_all(line.as_bytes())?;
        written.lines += 1;
        written.bytes += line.len() as u64;
        if written.bytes >= most {
            break;
        }
        turns.push(Reverse((at + took + (50 + dice.below(8000) as i64) * MILLI, number)));
    }
    out.flush()?;
    Ok(written)
}

impl Client {
    /// Does the next thing and gives how long it took.
    fn step(&mut self, at: i64, dice: &mut Dice, line: &mut String, twice: &mut BTreeSet<Pair>) -> i64 {
        let took = (3 + dice.below(900) as i64) * MILLI;
        if self.left == 0 {
            self.left = 5 + dice.below(80);
            self.session = format!("{:016x}{:08x}", dice.0, self.number);
            let body = format!(
                r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{{}},"clientInfo":{{"name":"agent","version":"{}"}}}}}}"#,
                self.number % 7
            );
            let issued = self.session.clone();
            self.next = 1;
            self.line(line, at, took, None, Some(&issued), &body, Some(0), "complete");
            return took;
        }
        self.left -= 1;
        let id = self.next;
        self.next += 1;
        let order = match self.open.take() {
            Some((order, session, first)) => {
                twice.insert((session, first.to_string(), self.session.clone(), id.to_string()));
                order
            }
            None => dice.0 >> 3,
        };
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"pay","arguments":{{"order":"{order:x}","lines":[{{"sku":"A-{}","count":{}}}],"note":"please deliver before noon"}}}}}}"#,
            order % 97,
            order % 5
        );
        let session = self.session.clone();
        if dice.below(100) >= 3 {
            self.line(line, at, took, Some(&session), None, &body, Some(id), "complete");
            return took;
        }
        self.line(line, at, took, Some(&session), None, &body, None, "upstream_idle_timeout");
        match dice.below(4) {
            0 | 1 => self.open = Some((order, session, id)),
            // The client starts over and sends it on the new session.
            2 => (self.open, self.left) = (Some((order, session, id)), 0),
            // The client gives up.
            _ => {}
        }
        self.left = self.left.max(u64::from(self.open.is_some() && self.left > 0));
        took
    }

    #[expect(clippy::too_many_arguments, reason = "each is a field of the line")]
    fn line(
        &self,
        line: &mut String,
        at: i64,
        took: i64,
        carried: Option<&str>,
        issued: Option<&str>,
        body: &str,
        answers: Option<u64>,
        cause: &str,
    ) {
        let text = |value: Option<&str>| value.map_or("null".to_owned(), |value| format!("\"{value}\""));
        let escaped = body.replace('"', "\\\"");
        let events = answers.map_or(String::new(), |id| {
            format!(r#"{{"id":"{:x}-{id}","data":"{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[]}}}}"}}"#, at >> 20)
        });
        let (from, to, client) = (at, at + took, self.number);
        line.push_str(&format!(
            r#"{{"unbroken":1,"start":"{from}","end":"{to}","remote_addr":"203.0.113.{}","user_agent":"agent/1.{}","subject":"user-{client:06}","method":"POST","path":"/mcp","status":200,"session_in":{},"session_out":{},"protocol_version":"2025-11-25","content_type":"text/event-stream","request":"{escaped}","events":[{events}],"cause":"{cause}","attempts":[{{"addr":"10.0.0.{}:8080","status":200}}]}}"#,
            client % 250,
            client % 9,
            text(carried),
            text(issued),
            client % 5,
        ));
        line.push('\n');
    }
}
