//! Findings as data: steps, exhibits, words and fingerprints, built from a timeline.
//! Knows how things are said; not whether they are a breach.

use crate::cost::Costs;
use crate::event::{Cause, Method, Nanos, Origin, RpcId, Text, Vantage};
use crate::finding::{
    BreachId, Certainty, Exhibit, Finding, LevelId, Piece, Role, SameBy, Sent, Step, Words,
};
use crate::given::Given;
use crate::join::Contact;
use crate::quick::HashSet;
use crate::timeline::close::{delivered, id_text};
use crate::timeline::{Reached, Send, Timeline};
use unbroken_contract::breach::Breach;
use unbroken_contract::close::Delivery;

/// Where findings are gathered, with the paths of the files that origins point to.
#[derive(Debug)]
pub struct Court<'a> {
    /// Path of each file, as given.
    pub paths: &'a [String],
    /// The program of the client whose timeline is looked at.
    pub client: Option<String>,
    /// Resumes of this timeline that a finding speaks of already: at most one finding per party and resume.
    pub resumes: HashSet<usize>,
    /// The logs that the input has.
    pub given: Given,
    /// What was found so far.
    pub findings: Vec<Finding>,
    /// Where the time of each rule is noted, if it is.
    pub costs: Option<&'a Costs>,
}

impl Court<'_> {
    /// An exhibit for a place in the input.
    #[must_use]
    pub fn exhibit(&self, origin: Origin) -> Exhibit {
        let path = self.paths.get(origin.file as usize).cloned().unwrap_or_default();
        Exhibit {
            path,
            file: origin.file,
            place: origin.place,
            offset: origin.offset,
            proxied: false,
            server: None,
            alias: None,
        }
    }

    /// The record of a contact nearest to the client, with the instance that any of its records names.
    #[must_use]
    pub fn exhibit_of(&self, contact: &Contact) -> Exhibit {
        let between = [Vantage::EdgeLb, Vantage::Proxy, Vantage::Gateway];
        Exhibit {
            proxied: contact.seen.iter().any(|seen| between.contains(&seen.vantage)),
            server: contact.instance().map(str::to_owned),
            alias: alias(contact).map(str::to_owned),
            ..self.exhibit(contact.origin())
        }
    }

    /// A step that a contact shows.
    #[must_use]
    pub fn step(&self, contact: &Contact, role: Role, words: Words) -> Step {
        Step { exhibit: Some(self.exhibit_of(contact)), at: Some(contact.start), role, words }
    }

    /// The record of a second log that tells how a contact ended, where one does.
    #[must_use]
    pub fn noted(&self, contact: &Contact) -> Option<Step> {
        let (at, origin) = contact.noted?;
        let mut words = vec![plain("a second log tells how it ended")];
        if let Some(raw) = &contact.exchange.end.raw {
            words.extend([plain(": "), foreign(raw)]);
        }
        Some(Step { exhibit: Some(self.exhibit(origin)), at: Some(at), role: Role::Cut, words })
    }

    /// One send of a duplicate.
    #[must_use]
    pub fn sent(&self, timeline: &Timeline, send: &Send) -> Sent {
        let contact = &timeline.contacts[send.contact];
        Sent {
            exhibit: self.exhibit_of(contact),
            at: send.start,
            session: send.session.map(|at| timeline.sessions[at].id.to_string()),
            rpc_id: send.id.as_ref().map(|id| id_text(id).to_owned()),
            status: contact.exchange.status.filter(|status| *status != 0),
            reached: match send.reached {
                Reached::Yes => Some(true),
                Reached::No => Some(false),
                Reached::Unknown => None,
            },
            executed: send.run.as_ref().map(crate::timeline::Run::executed),
            answered: match send.answered {
                crate::timeline::Answered::Own(_) | crate::timeline::Answered::Later { .. } => Some(true),
                crate::timeline::Answered::Never => Some(false),
                _ => None,
            },
        }
    }

    /// Adds a finding.
    pub fn report(&mut self, draft: Draft) {
        let fingerprint = draft.print.finish(draft.breach);
        self.findings.push(Finding {
            breach: BreachId(draft.breach),
            level: LevelId(draft.level.unwrap_or(draft.breach.level())),
            certainty: draft.certainty,
            session: draft.session.map(String::from),
            client: self.client.clone(),
            tool: draft.tool.map(String::from),
            message: draft.message,
            help: draft.help.to_owned(),
            proof: draft.proof,
            sends: draft.sends,
            same_by: draft.same_by,
            missing: draft.missing.map(|missing| self.given.settling(missing)),
            linked: draft.linked,
            fingerprint,
            part_of: draft.part_of,
            parts: draft.parts,
        });
    }
}

/// The name that a server's own log gives the instance, beside the one that the proxy gives it. Of several attempts
/// nobody can tell which reached the one that wrote the log.
fn alias(contact: &Contact) -> Option<&str> {
    let name = contact.server.as_deref().filter(|_| contact.exchange.attempts.len() == 1)?;
    (contact.upstream() != Some(name)).then_some(name)
}

/// A finding being written by a rule.
#[derive(Debug)]
pub struct Draft {
    /// Which breach.
    pub breach: Breach,
    /// How bad, where it is not the breach's default.
    pub level: Option<unbroken_contract::breach::Level>,
    /// How sure.
    pub certainty: Certainty,
    /// The session.
    pub session: Option<Text>,
    /// The tool.
    pub tool: Option<Text>,
    /// What happened.
    pub message: Words,
    /// What to do.
    pub help: &'static str,
    /// The steps.
    pub proof: Vec<Step>,
    /// The sends of a duplicate.
    pub sends: Vec<Sent>,
    /// What the sends are held to be of one client by.
    pub same_by: Option<SameBy>,
    /// What would raise the certainty.
    pub missing: Option<&'static str>,
    /// Findings of the same story.
    pub linked: Vec<String>,
    /// What the fingerprint is made of.
    pub print: Print,
    /// Of a story that may have been told in part before: by what it was known then that this belongs to it.
    pub part_of: Option<String>,
    /// By what later parts of the story are known.
    pub parts: Vec<String>,
}

impl Draft {
    /// A draft with nothing but its breach, certainty and words.
    #[must_use]
    pub fn new(breach: Breach, certainty: Certainty, message: Words, help: &'static str) -> Draft {
        Draft {
            breach,
            level: None,
            certainty,
            session: None,
            tool: None,
            message,
            help,
            proof: Vec::new(),
            sends: Vec::new(),
            same_by: None,
            missing: None,
            linked: Vec::new(),
            print: Print::default(),
            part_of: None,
            parts: Vec::new(),
        }
    }
}

#[cfg(test)]
thread_local! {
    /// Bytes that fingerprints were made of, to tell how much work that was.
    pub(crate) static HASHED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// What makes a finding this one: sessions, ids, calls and, where there is no session, times. Never a file or a line,
/// so that splitting, ordering and doubling the input change nothing.
#[derive(Debug, Default)]
pub struct Print(blake3::Hasher);

impl Print {
    /// Adds a text.
    pub fn text(&mut self, text: &str) -> &mut Print {
        self.0.update(&(text.len() as u64).to_le_bytes());
        self.0.update(text.as_bytes());
        self
    }

    /// Adds a request: by session and id where it has both, else by its time.
    pub fn contact(&mut self, timeline: &Timeline, at: usize, id: Option<&RpcId>) -> &mut Print {
        let contact = &timeline.contacts[at];
        match (contact.session(), id) {
            (Some(session), Some(id)) => {
                self.text(session).text(id_text(id));
            }
            (session, _) => {
                self.text(session.unwrap_or_default());
                self.0.update(&contact.start.to_le_bytes());
            }
        }
        self
    }

    /// The fingerprint of a finding of `breach`.
    #[must_use]
    pub fn finish(mut self, breach: Breach) -> String {
        self.text(breach.id());
        #[cfg(test)]
        HASHED.set(HASHED.get() + self.0.count());
        let mut text = self.0.finalize().to_hex().to_string();
        text.truncate(16);
        text
    }
}

/// Plain words.
#[must_use]
pub fn plain(text: impl Into<String>) -> Piece {
    Piece::Plain(text.into())
}

/// Text from the log.
#[must_use]
pub fn foreign(text: &str) -> Piece {
    Piece::Foreign(text.to_owned())
}

/// A session by its id.
#[must_use]
pub fn session(id: &str) -> Piece {
    Piece::Session(id.to_owned())
}

/// What a request was, as an incident report says it.
#[must_use]
pub fn request(contact: &Contact) -> Words {
    let mut words = Vec::new();
    match contact.exchange.method {
        Method::Get => match &contact.exchange.request.last_event_id {
            Some(cursor) => words.extend([plain("GET with Last-Event-ID "), foreign(cursor)]),
            None => words.push(plain("GET without Last-Event-ID")),
        },
        Method::Delete => words.push(plain("DELETE")),
        _ => post(contact, &mut words),
    }
    if let Some(id) = contact.session_in() {
        // A method with nothing else to say of itself needs no comma.
        let joint = match contact.exchange.method {
            Method::Delete => " of session ",
            _ if words == [plain("POST")] => " on session ",
            _ => ", on session ",
        };
        words.extend([plain(joint), session(id)]);
    }
    words
}

fn post(contact: &Contact, words: &mut Words) {
    if let Some((request, call)) = contact.calls().next() {
        words.extend([plain("POST tools/call "), foreign(&call.tool)]);
        if let Some(id) = &request.id {
            words.extend([plain(", JSON-RPC id "), foreign(id_text(id))]);
        }
    } else if let Some(asked) = contact.requests().next() {
        words.extend([plain("POST "), foreign(&asked.method)]);
    } else if contact.cancels().next().is_some() {
        words.push(plain("POST notifications/cancelled"));
    } else {
        words.push(plain("POST"));
    }
}

/// What came back, as an incident report says it.
#[must_use]
pub fn answer(contact: &Contact) -> String {
    match contact.exchange.status {
        None => "status not recorded".into(),
        Some(0) => "no response".into(),
        Some(status) => format!("answered {status}"),
    }
}

/// What the contract allowed in the place of a reconnect, where the client did something else (contract 3.2).
#[must_use]
pub fn allowed(timeline: &Timeline, contact: usize) -> Option<Step> {
    let reconnect = timeline.reconnects.iter().find(|reconnect| reconnect.contact == contact)?;
    if reconnect.as_due() {
        return None;
    }
    let words = vec![plain(format!("after that close the contract allowed to {}", reconnect.due.words()))];
    Some(Step { exhibit: None, at: None, role: Role::Conclude, words })
}

/// How an exchange ended, with its length where it is known, and that it did so before its response where that is told.
#[must_use]
pub fn cut(contact: &Contact) -> String {
    let what = match contact.exchange.end.cause {
        Cause::ClientAbort => "closed by the client",
        Cause::ClientTimeout => "given up by the client",
        Cause::UpstreamIdleTimeout => "cut by the proxy after an idle timeout",
        Cause::UpstreamAbort => "closed by the upstream",
        Cause::ProxyDeadline => "cut by the proxy's deadline",
        Cause::ProxyAdmin => "cut by the proxy's own stop",
        Cause::ConnectFailed => "not connected to any upstream",
        Cause::Complete => "ended in order",
        Cause::UnknownCut | Cause::Unknown => "ended",
    };
    let after = contact.end.map(|end| format!(" after {}", seconds(end - contact.start))).unwrap_or_default();
    if told_nothing(contact) {
        format!("{what}{after}")
    } else {
        format!("{what}{after} without the response")
    }
}

/// Which log would show who ended an exchange: one that is not there yet, or that tells more than the one there is.
#[must_use]
pub fn who_ended(contact: &Contact) -> &'static str {
    let hop = |vantage| matches!(vantage, Vantage::EdgeLb | Vantage::Proxy | Vantage::Gateway);
    let by_hop = contact.seen.iter().any(|seen| hop(seen.vantage));
    match contact.exchange.end.cause {
        Cause::ClientAbort if by_hop => "a log nearer to the client would show who ended the stream",
        _ if by_hop => "the proxy's error log would show who ended the stream",
        _ => "a proxy's log would show who ended the stream",
    }
}

/// Whether nothing tells what came back: a log without bodies, and an end that is no sign of a cut.
fn told_nothing(contact: &Contact) -> bool {
    let id = contact.calls().next().and_then(|(request, _)| request.id.as_ref());
    contact.exchange.method == Method::Post && delivered(contact, id) == Delivery::Unrecorded
}

/// A length in seconds with one or three decimals.
#[must_use]
pub fn seconds(length: Nanos) -> String {
    let millis = length / 1_000_000;
    format!("{}.{:03} s", millis / 1000, (millis % 1000).abs())
}
