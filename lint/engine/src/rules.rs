//! The mistakes the lint finds, one file each, and how a rule states a finding.
//! Rules read `client`, `flow` and `scope`; none of them knows `syn`.

use crate::client::Client;
use crate::facts::ir::{Body, Id, Kind};
use crate::finding::{Certainty, Finding, Label, Range};
use crate::scope::At;
use unbroken_contract::Breach;

macro_rules! rules {
    ($($module:ident $breach:ident,)*) => {
        $(mod $module;)*

        /// Every breach that the lint checks.
        pub const ALL: &[Breach] = &[$(Breach::$breach),*];

        /// The page of a rule: what happens, why it matters, examples, what it cannot see.
        #[must_use]
        pub fn page(breach: Breach) -> Option<&'static str> {
            match breach {
                $(Breach::$breach => Some(include_str!(concat!("rules/", stringify!($module), ".rs"))),)*
                _ => None,
            }
            .map(leading_block)
        }

        /// Runs every rule.
        pub(crate) fn check(client: &Client<'_>, report: &mut Report) {
            $($module::check(client, report);)*
        }
    };
}

rules! {
    session_discarded SessionDiscarded,
    resume_without_cursor ResumeWithoutCursor,
    eof_taken_as_completion EofTakenAsCompletion,
    expired_session_kept ExpiredSessionKept,
    session_ended_on_transient SessionEndedOnTransient,
    cursor_outlives_session CursorOutlivesSession,
    pending_call_abandoned PendingCallAbandoned,
    unchecked_resume UncheckedResume,
    cursor_not_persisted CursorNotPersisted,
    clamped_cursor ClampedCursor,
    unowned_resume UnownedResume,
    empty_resume EmptyResume,
    unbounded_reconnect UnboundedReconnect,
    retry_ignored RetryIgnored,
    blind_retry BlindRetry,
    reissue_kept_id ReissueKeptId,
}

#[cfg(test)]
mod generated;
#[cfg(test)]
mod marked;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod shapes;

/// The `//!` block at the top of a file, still with its markers; [`text`] takes them off.
fn leading_block(source: &'static str) -> &'static str {
    let mut end = 0;
    for line in source.split_inclusive('\n') {
        if !line.starts_with("//!") {
            break;
        }
        end += line.len();
    }
    &source[..end]
}

/// A page without its comment markers.
#[must_use]
pub fn text(page: &str) -> String {
    let line =
        |line: &str| line.trim_start_matches("//!").strip_prefix(' ').unwrap_or_default().to_owned() + "\n";
    page.lines().map(line).collect()
}

/// The findings of one run, as rules state them.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) findings: Vec<Finding>,
    stated: std::collections::BTreeSet<(Breach, crate::scope::Fx, crate::finding::Range)>,
}

/// One finding before it is written down.
pub(crate) struct Claim<'a> {
    pub(crate) breach: Breach,
    pub(crate) certainty: Certainty,
    /// The offending place.
    pub(crate) at: At,
    pub(crate) message: String,
    pub(crate) help: &'static str,
    /// What stands at the offending place.
    pub(crate) here: String,
    /// Further places of the story, in order.
    pub(crate) story: Vec<(At, String)>,
    pub(crate) client: &'a Client<'a>,
}

impl Report {
    /// Writes a claim down at a declaration instead of a node; the node becomes a further place of the story.
    pub(crate) fn claim_declared(
        &mut self,
        mut claim: Claim<'_>,
        path: &std::path::Path,
        range: Range,
        set: &str,
    ) {
        claim.story.insert(0, (claim.at, set.to_owned()));
        let known = self.findings.len();
        self.claim(claim);
        if let Some(finding) = self.findings.get_mut(known) {
            finding.path = path.to_owned();
            finding.range = range;
            if let Some(first) = finding.labels.first_mut() {
                first.path = path.to_owned();
                first.range = range;
            }
        }
    }

    /// Writes a claim down, once per breach and place.
    pub(crate) fn claim(&mut self, claim: Claim<'_>) {
        let scope = claim.client.scope;
        let function = scope.function(claim.at.fx);
        let path = scope.file(claim.at.fx).path.clone();
        let range = scope.range(claim.at);
        if !self.stated.insert((claim.breach, claim.at.fx, range)) {
            return;
        }
        let label = |at: At, text: String| Label {
            path: scope.file(at.fx).path.clone(),
            range: scope.range(at),
            text,
        };
        let mut labels = vec![label(claim.at, claim.here)];
        labels.extend(claim.story.into_iter().map(|(at, text)| label(at, text)));
        let item = function.item();
        let place = structure(&function.body, claim.at.id);
        let mut print = Print::default();
        for part in [claim.breach.id(), &path.to_string_lossy().replace('\\', "/"), &item] {
            print.text(part);
        }
        print.number(place);
        self.findings.push(Finding {
            breach: claim.breach,
            // What rests on a guess alone is told, and fails no run unless the rule's level is set.
            level: match claim.certainty {
                Certainty::Possible => claim.breach.level().min(unbroken_contract::Level::Warn),
                Certainty::Likely | Certainty::Proved => claim.breach.level(),
            },
            certainty: claim.certainty,
            path,
            range,
            item,
            message: claim.message,
            help: claim.help.into(),
            labels,
            fingerprint: format!("{:016x}", print.0),
        });
    }
}

/// FNV-1a: written down and compared between releases, so it must never change.
#[derive(Clone, Copy)]
struct Print(u64);

impl Default for Print {
    fn default() -> Self {
        Print(0xcbf2_9ce4_8422_2325)
    }
}

impl Print {
    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }

    fn text(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.byte(byte));
        self.byte(0);
    }

    fn number(&mut self, number: u64) {
        number.to_le_bytes().into_iter().for_each(|byte| self.byte(byte));
    }
}

/// What stands at a place, whatever its lines, spaces and comments: names, literals and shape.
fn structure(body: &Body, id: Id) -> u64 {
    let mut print = Print::default();
    for node in body.inside(id) {
        match body.kind(node) {
            Kind::Path(path) | Kind::Struct(path, ..) => path.iter().for_each(|part| print.text(part)),
            Kind::Str(text) | Kind::Field(_, text) | Kind::Method(_, text, _) | Kind::Macro(text, _) => {
                print.text(text)
            }
            Kind::Int(number) => print.number(*number),
            Kind::Bool(flag) => print.byte(u8::from(*flag)),
            kind => print.byte(kind_byte(kind)),
        }
    }
    print.0
}

fn kind_byte(kind: &Kind) -> u8 {
    match kind {
        Kind::Call(..) => 1,
        Kind::Assign(..) => 2,
        Kind::Update(..) => 3,
        Kind::Block(..) => 4,
        Kind::Let(..) => 5,
        Kind::If(..) => 6,
        Kind::LetCond(..) => 7,
        Kind::And(..) => 8,
        Kind::Or(..) => 9,
        Kind::Not(_) => 10,
        Kind::Binary(..) => 11,
        Kind::Match(..) => 12,
        Kind::Select(_) => 13,
        Kind::Loop(..) => 14,
        Kind::Closure(..) => 15,
        Kind::Async(_) => 16,
        Kind::Return(_) => 17,
        Kind::Break(..) => 18,
        Kind::Continue(_) => 19,
        Kind::Try(_) => 20,
        Kind::Await(_) => 21,
        Kind::Ref(_) => 22,
        Kind::Deref(_) => 23,
        Kind::Tuple(_) => 24,
        Kind::Array(_) => 25,
        Kind::Index(..) => 26,
        _ => 27,
    }
}

/// Cuts a message to its limit of 90 characters.
pub(crate) fn short(text: String) -> String {
    if text.chars().count() <= 90 { text } else { text.chars().take(89).chain(['…']).collect() }
}

/// Whether a node is only logged.
pub(crate) fn in_log(body: &Body, id: Id) -> bool {
    body.ancestors(id).any(|(parent, _)| matches!(body.kind(parent), Kind::Macro(name, _) if is_log(name)))
}

/// The macros of `tracing`, `log` and the standard library that only tell.
pub(crate) fn is_log(name: &str) -> bool {
    matches!(
        name,
        "trace" | "debug" | "info" | "warn" | "error" | "event" | "log" | "println" | "eprintln" | "record"
    )
}
