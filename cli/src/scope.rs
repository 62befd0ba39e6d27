//! Which findings of an audit are wanted: those of a time, of sessions, of clients, of tools.
//! Knows findings alone. Everything is analysed all the same, so that a finding keeps the proof that stands elsewhere.

use crate::fault::Fault;
use clap::Args;
use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};
use unbroken_audit::mapping::clock;
use unbroken_report::{Exhibit, Finding, Piece, Problem, Secrets, Spot, Subject};

/// Names that are proposed where one that was asked for is not there.
const MOST_NAMES: usize = 8;

/// What findings are wanted.
#[derive(Args, Debug, Default)]
pub(crate) struct ScopeArgs {
    /// Report what happened at or after this time: 2026-08-14T09:00:00Z, seconds since the epoch, or 2h for two hours
    /// ago. What came before is read all the same, as proof
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) from: Option<i64>,
    /// Report what happened before this time
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) to: Option<i64>,
    /// Report findings about this session, by its id or by the digest that reports show; may be given several times
    #[arg(long, value_name = "ID")]
    pub(crate) session: Vec<String>,
    /// Report findings about this client, by name or name/version; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(crate) client: Vec<String>,
    /// Report findings about this tool; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Vec<String>,
}

impl ScopeArgs {
    /// Whether everything is wanted.
    pub(crate) fn is_open(&self) -> bool {
        self.from.is_none()
            && self.to.is_none()
            && self.session.is_empty()
            && self.client.is_empty()
            && self.tool.is_empty()
    }
}

/// The findings that are wanted, while they go by.
#[derive(Debug)]
pub(crate) struct Scope<'a> {
    args: &'a ScopeArgs,
    secrets: Secrets,
    /// What was asked for and met, by option and place among its values.
    met: BTreeSet<(&'static str, usize)>,
    /// Names that findings have instead, a few of each.
    clients: BTreeSet<String>,
    tools: BTreeSet<String>,
    in_time: bool,
}

impl<'a> Scope<'a> {
    /// `secrets` tells the digests that reports show.
    ///
    /// # Errors
    /// [`Fault::NoTime`] for a time that ends before it begins.
    pub(crate) fn new(args: &'a ScopeArgs, secrets: Secrets) -> Result<Scope<'a>, Fault> {
        if args.from.zip(args.to).is_some_and(|(from, to)| from >= to) {
            return Err(Fault::NoTime);
        }
        let (clients, tools) = (BTreeSet::new(), BTreeSet::new());
        Ok(Scope { args, secrets: secrets.hiding(), met: BTreeSet::new(), clients, tools, in_time: false })
    }

    /// Whether a finding is wanted.
    pub(crate) fn takes(&mut self, finding: &Finding) -> bool {
        if self.args.is_open() {
            return true;
        }
        let in_time = self.is_in_time(finding);
        self.in_time |= in_time;
        let sessions = if self.args.session.is_empty() { Vec::new() } else { self.sessions(finding) };
        let by_session = |asked: &String| sessions.contains(asked);
        let by_client =
            |asked: &String| finding.client.as_deref().is_some_and(|program| is_client(program, asked));
        let by_tool = |asked: &String| finding.tool.as_ref() == Some(asked);
        let fits = [
            meet(&mut self.met, "--session", &self.args.session, &by_session),
            meet(&mut self.met, "--client", &self.args.client, &by_client),
            meet(&mut self.met, "--tool", &self.args.tool, &by_tool),
        ];
        propose(&mut self.clients, finding.client.as_ref());
        propose(&mut self.tools, finding.tool.as_ref());
        in_time && fits.iter().all(|fits| *fits)
    }

    /// Whether any dated part of the story lies in the time that was asked for; a story without a time always does.
    fn is_in_time(&self, finding: &Finding) -> bool {
        let (from, to) = (self.args.from.unwrap_or(i64::MIN), self.args.to.unwrap_or(i64::MAX));
        let steps = finding.proof.iter().filter_map(|step| step.at);
        let mut times = steps.chain(finding.sends.iter().map(|sent| sent.at)).peekable();
        times.peek().is_none() || times.any(|at| (from..to).contains(&at))
    }

    /// Every session that the finding speaks of, as its id and as its digest.
    fn sessions(&self, finding: &Finding) -> Vec<String> {
        let own = match &finding.subject {
            Subject::Session(id) => id.as_deref(),
            Subject::Item(_) => None,
        };
        let words = finding.proof.iter().map(|step| &step.words).chain([&finding.message]);
        let told = words.flat_map(|words| &words.0).filter_map(|piece| match piece {
            Piece::Session(id) => Some(id.as_str()),
            _ => None,
        });
        let sent = finding.sends.iter().filter_map(|sent| sent.session.as_deref());
        let all: BTreeSet<&str> = own.into_iter().chain(told).chain(sent).collect();
        all.into_iter().flat_map(|id| [id.to_owned(), self.secrets.session(id)]).collect()
    }

    /// A notice for everything that was asked for and met no finding.
    pub(crate) fn notices(self) -> Vec<Problem> {
        let mut notices = Vec::new();
        let names = |names: &BTreeSet<String>| {
            let some: Vec<&str> = names.iter().map(String::as_str).take(MOST_NAMES).collect();
            if some.is_empty() {
                "nothing was found at all".to_owned()
            } else {
                format!("found were {}", some.join(", "))
            }
        };
        for (option, asked, help) in [
            (
                "--session",
                &self.args.session,
                "give an id as the log has it, or a digest as reports show it".to_owned(),
            ),
            ("--client", &self.args.client, names(&self.clients)),
            ("--tool", &self.args.tool, names(&self.tools)),
        ] {
            for (_, value) in asked.iter().enumerate().filter(|(at, _)| !self.met.contains(&(option, *at))) {
                // An id that was given is a secret as any other.
                let digest = value.starts_with("S-") && value.len() == "S-".len() + 12;
                let shown = if option == "--session" && !digest {
                    self.secrets.session(value)
                } else {
                    value.clone()
                };
                notices.push(notice(format!("{option} {shown}"), "no finding is about it", help.clone()));
            }
        }
        if !self.in_time && (self.args.from.is_some() || self.args.to.is_some()) {
            let help = "the summary tells the time that the logs cover".to_owned();
            notices.push(notice("--from, --to".to_owned(), "no finding lies in this time", help));
        }
        notices
    }
}

fn notice(path: String, message: &str, help: String) -> Problem {
    let exhibit = Exhibit { path, spot: Spot::Whole };
    Problem { exhibit, message: message.to_owned(), help, count: 1, lost: false }
}

/// Whether the finding is wanted by one option, and which of its values it meets.
fn meet(
    met: &mut BTreeSet<(&'static str, usize)>,
    option: &'static str,
    asked: &[String],
    by: &dyn Fn(&String) -> bool,
) -> bool {
    let hits: Vec<usize> =
        asked.iter().enumerate().filter(|(_, asked)| by(asked)).map(|(at, _)| at).collect();
    met.extend(hits.iter().map(|at| (option, *at)));
    asked.is_empty() || !hits.is_empty()
}

/// Keeps the first few names in their order, so that they are the same in whatever order findings come.
fn propose(names: &mut BTreeSet<String>, name: Option<&String>) {
    if let Some(name) = name.filter(|name| !name.is_empty())
        && !names.contains(name)
    {
        names.insert(name.clone());
        if names.len() > MOST_NAMES {
            names.pop_last();
        }
    }
}

/// Whether a client's program (`name version`, or a user agent as `name/version …`) is meant by a name, or by name/version.
pub(crate) fn is_client(program: &str, asked: &str) -> bool {
    let begins = |asked: &str| {
        program.strip_prefix(asked).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '/']))
    };
    let spaced = asked.rsplit_once('/').map(|(name, version)| format!("{name} {version}"));
    begins(asked) || spaced.is_some_and(|spaced| begins(&spaced))
}

/// A moment as a person writes it, in nanoseconds since the epoch.
fn moment(word: &str) -> Result<i64, String> {
    let day = || clock::rfc3339(&format!("{word}T00:00:00Z")).map(|(at, _)| at);
    let epoch = || clock::epoch(word, clock::epoch_unit(word)?);
    let ago = || {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_nanos();
        i64::try_from(now).ok()?.checked_sub(crate::audit::span(word).ok()?)
    };
    let at = clock::rfc3339(word).map(|(at, _)| at).or_else(day).or_else(epoch).or_else(ago);
    at.ok_or_else(|| "it is no time; write it as 2026-08-14T09:00:00Z, 1786698000 or 2h".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_in_three_ways() {
        let at = 1_786_698_000_000_000_000;
        for word in ["2026-08-14T09:00:00Z", "2026-08-14T11:00:00+02:00", "1786698000", "1786698000000"] {
            assert_eq!(moment(word), Ok(at), "{word}");
        }
        assert_eq!(moment("2026-08-14"), Ok(at - 9 * 3_600_000_000_000));
        assert!(moment("2h").is_ok_and(|ago| ago < moment("1h").unwrap_or_default()));
        for wrong in ["", "yesterday", "2026-08", "2026-02-30T00:00:00Z", "12"] {
            assert!(moment(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_client_is_named_by_its_name_with_or_without_a_version() {
        for (program, asked) in [
            ("Claude Desktop 1.2", "Claude Desktop"),
            ("Claude Desktop 1.2", "Claude Desktop/1.2"),
            ("node", "node"),
            ("python-httpx/0.27", "python-httpx"),
            ("python-httpx/0.27", "python-httpx/0.27"),
        ] {
            assert!(is_client(program, asked), "{asked}");
        }
        for (program, asked) in [
            ("Claude Desktop 1.2", "Claude Desk"),
            ("Claude Desktop 1.2", "Claude Desktop/1.3"),
            ("node", "nod"),
        ] {
            assert!(!is_client(program, asked), "{asked}");
        }
    }
}
