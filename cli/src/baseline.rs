//! The baseline file: written anew from what is found, or freed of what is found no more.
//! Knows no fingerprint's meaning.

use crate::args::Shared;
use crate::audit::AuditArgs;
use crate::check::Work;
use crate::fault::Fault;
use crate::lint::LintArgs;
use crate::scope::{Scope, ScopeArgs};
use crate::side;
use clap::{Args, Subcommand};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use unbroken_contract::Breach;
use unbroken_report::{Baseline, Exhibit, Finding, Problem, Spot, Verdict};

/// Where the baseline lies unless `--baseline` names another place.
const FILE: &str = "unbroken-baseline.json";

/// What to do with the baseline.
#[derive(Args, Debug)]
pub(crate) struct BaselineArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand, Debug)]
enum Action {
    /// Write the file anew with every finding there is now
    Write(Of),
    /// Take findings that are gone out of the file, and put none in
    Prune(Of),
}

#[derive(Args, Debug)]
struct Of {
    #[command(subcommand)]
    half: Half,
}

#[derive(Subcommand, Debug)]
enum Half {
    /// Findings in Rust code
    Lint(LintArgs),
    /// Findings in transport logs
    Audit(AuditArgs),
}

impl Of {
    fn work(&self) -> Work<'_> {
        match &self.half {
            Half::Lint(args) => Work::Code(args),
            Half::Audit(args) => Work::Traffic(args),
        }
    }
}

/// Writes or prunes; gives 0, or the exit code of input that could not be read.
///
/// # Errors
/// [`Fault::Unread`] for `prune` over input that could not be read: what is not seen is not gone. [`Fault::NoInput`] for
/// `write` where a whole input could not be read or nothing was checked: that would forget what the file holds.
pub(crate) fn change(args: &BaselineArgs, shared: &Shared) -> Result<u8, Fault> {
    let path = shared.baseline.clone().unwrap_or_else(|| PathBuf::from(FILE));
    let (of, mut baseline) = match &args.action {
        Action::Write(of) => (of, Baseline::default()),
        Action::Prune(of) => (of, read(&path)?),
    };
    let writes = matches!(args.action, Action::Write(_));
    // What is not shown is not remembered; it is found all the same, so that nothing is pruned for it.
    let least = shared.min_certainty.into();
    let everything = ScopeArgs::default();
    let work = of.work();
    let mut scope = Scope::new(work.scope().unwrap_or(&everything), crate::output::secrets(shared)?)?;
    let mut found = BTreeSet::new();
    let mut summary = work.findings(shared, None, &mut |finding| {
        if writes && finding.certainty >= least && scope.takes(&finding) {
            baseline.add(&finding);
        }
        found.insert(finding.fingerprint);
    })?;
    summary.counts.clear();
    let verdict = Verdict::on(&summary, shared.fail_on.into());
    if !writes && summary.lost() > 0 {
        return Err(Fault::Unread { path });
    }
    let whole = summary.problems.iter().find(|problem| problem.lost && problem.exhibit.spot == Spot::Whole);
    if let Some(problem) = whole.filter(|_| writes) {
        let why = unbroken_report::unprintable::escape(&format!("{}: {}", problem.exhibit, problem.message))
            .into_owned();
        return Err(Fault::NoInput { path, why });
    }
    if writes && !summary.checked() {
        return Err(Fault::NoInput { path, why: "nothing was checked".to_owned() });
    }
    let gone = if writes { 0 } else { baseline.prune(&found) };
    fs::write(&path, baseline.write())
        .map_err(|source| Fault::Output { name: path.display().to_string(), source })?;
    let told = format!(
        "{} holds {} findings{}",
        path.display(),
        baseline.len(),
        if gone > 0 { format!(", {gone} gone") } else { String::new() }
    );
    let _ = writeln!(io::stderr(), "{}", unbroken_report::unprintable::escape(&told));
    Ok(verdict.exit_code())
}

/// Reads a baseline file.
///
/// # Errors
/// [`Fault::Unreadable`], [`Fault::Baseline`].
pub(crate) fn read(path: &Path) -> Result<Baseline, Fault> {
    let text = side::read_text(path).map_err(|source| Fault::Unreadable { path: path.to_owned(), source })?;
    Baseline::parse(&text).map_err(|source| Fault::Baseline { path: path.to_owned(), source })
}

/// Findings that were to be left out, but are surer or worse now than they were when the baseline took them in.
#[derive(Default)]
pub(crate) struct Outgrown(BTreeMap<(Breach, &'static str, &'static str), u64>);

impl Outgrown {
    /// Counts the finding, if it is one of them.
    pub(crate) fn note(&mut self, baseline: &Baseline, finding: &Finding) {
        if let Some((was, is)) = baseline.outgrown(finding) {
            *self.0.entry((finding.breach, was, is)).or_default() += 1;
        }
    }

    /// One notice for all that became the same.
    pub(crate) fn notices(self, path: Option<&Path>) -> Vec<Problem> {
        let path = path.map(|path| path.display().to_string()).unwrap_or_default();
        let notice = |((breach, was, is), count): ((Breach, &str, &str), u64)| Problem {
            exhibit: Exhibit { path: path.clone(), spot: Spot::Whole },
            message: format!("{breach} was baselined as {was}, is {is} now: it is reported again"),
            help: "mend the cause, or write the baseline anew to live with it as it is now".to_owned(),
            count,
            lost: false,
        };
        self.0.into_iter().map(notice).collect()
    }
}
