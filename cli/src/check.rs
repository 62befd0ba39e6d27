//! A run of either half: findings out as they come, then the summary and the verdict.
//! Knows no format and no rule.

use crate::accept::Acceptances;
use crate::args::Shared;
use crate::audit::AuditArgs;
use crate::fault::Fault;
use crate::lint::{self, LintArgs};
use crate::output::Outputs;
use crate::scope::{Scope, ScopeArgs};
use crate::state::State;
use crate::{baseline, mapping, progress, translation};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};
use unbroken_audit::run;
use unbroken_report::{Baseline, Finding, Summary, Verdict};

/// What is to be checked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work<'a> {
    /// Rust code.
    Code(&'a LintArgs),
    /// Transport logs.
    Traffic(&'a AuditArgs),
}

impl Work<'_> {
    /// Does the work: hands every finding to `take` and gives what was read and seen.
    ///
    /// With `state`, what the export before left is gone on with, and what is left now put in its place.
    pub(crate) fn findings(
        self,
        shared: &Shared,
        state: Option<&mut State>,
        take: &mut dyn FnMut(Finding),
    ) -> Result<Summary, Fault> {
        match self {
            Work::Code(args) => {
                let mut outcome = lint::run(args, shared.threads)?;
                for finding in std::mem::take(&mut outcome.findings) {
                    take(translation::code::finding(finding));
                }
                Ok(translation::code::summary(&outcome))
            }
            Work::Traffic(args) => {
                let costs = std::sync::Arc::new(unbroken_audit::cost::Costs::default());
                let options = run::Options {
                    threads: shared.threads,
                    keep_arguments: shared.reveal,
                    mappings: args.mapping.clone(),
                    max_record: args.max_record.unwrap_or_default(),
                    memory: args.memory.unwrap_or_default(),
                    horizon: args.horizon.unwrap_or_default(),
                    disorder: args.disorder.unwrap_or_default(),
                    formats: Some(std::sync::Arc::new(mapping::load(&args.mapping)?)),
                    costs: Some(std::sync::Arc::clone(&costs)),
                    carries: state.is_some(),
                    last: args.last,
                    carried: state.as_ref().and_then(|state| state.before()),
                    ..run::Options::default()
                };
                let begun = std::time::Instant::now();
                let mut emit = |found| take(translation::traffic::finding(found));
                #[cfg(feature = "parquet")]
                let seen = match &args.tables {
                    Some(folder) => {
                        let mut tables = unbroken_audit::table::Tables::default();
                        let seen = run::run_into(args.inputs(), &options, &mut emit, Some(&mut tables));
                        crate::table::write(folder, &tables, &crate::output::secrets(shared)?)?;
                        seen
                    }
                    None => progress::during(&costs, args.length(), || {
                        run::run_into(args.inputs(), &options, &mut emit, None)
                    }),
                };
                #[cfg(not(feature = "parquet"))]
                let seen = progress::during(&costs, args.length(), || {
                    run::run_into(args.inputs(), &options, &mut emit, None)
                });
                if args.stats {
                    eprintln!("{}", crate::audit::stats(&seen, &costs, begun.elapsed()));
                }
                let mut seen = seen;
                let carried = seen.carried.take();
                let mut summary = translation::traffic::summary(seen);
                if let (Some(state), Some(carried)) = (state, carried) {
                    let (waiting, note) = state.leave(carried);
                    summary.waiting = waiting;
                    summary.problems.extend(note);
                }
                Ok(summary)
            }
        }
    }

    /// Which findings were asked for, where that can be said.
    pub(crate) fn scope(&self) -> Option<&ScopeArgs> {
        match self {
            Work::Code(_) => None,
            Work::Traffic(args) => Some(&args.scope),
        }
    }

    /// The state that the export before left, where one is asked for.
    fn state(&self) -> Result<Option<State>, Fault> {
        match self {
            Work::Traffic(AuditArgs { state: Some(path), .. }) => State::read(path).map(Some),
            _ => Ok(None),
        }
    }

    fn inputs(self) -> Vec<PathBuf> {
        match self {
            Work::Code(args) => args.paths.clone(),
            Work::Traffic(args) => args.paths(),
        }
    }
}

/// What `unbroken.toml` accepts of an audit; of the lint, the code itself says it.
fn acceptances(work: Work<'_>) -> Result<Acceptances, Fault> {
    let (file, accepts) = match work {
        Work::Code(_) => Default::default(),
        Work::Traffic(args) => lint::accepts(args.config.as_deref())?,
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let today = unbroken_report::render::day(i64::try_from(now).unwrap_or(i64::MAX));
    Ok(Acceptances::new(file, accepts, today))
}

/// Checks and shows; gives the exit code.
pub(crate) fn run(work: Work<'_>, shared: &Shared) -> Result<u8, Fault> {
    let everything = ScopeArgs::default();
    let mut scope = Scope::new(work.scope().unwrap_or(&everything), crate::output::secrets(shared)?)?;
    let mut acceptances = acceptances(work)?;
    let known = shared.baseline.as_deref().map_or_else(|| Ok(Baseline::default()), baseline::read)?;
    let mut outputs = Outputs::open(shared, &work.inputs())?;
    let (mut tally, mut outgrown) = (Summary::default(), baseline::Outgrown::default());
    let least = shared.min_certainty.into();
    let mut state = work.state()?;
    let mut summary = work.findings(shared, state.as_mut(), &mut |finding| {
        // An acceptance is in use wherever the finding is, whatever of it is shown.
        let accepted = acceptances.hold(&finding);
        if !scope.takes(&finding) {
            tally.out_of_scope += 1;
        } else if finding.certainty < least {
            tally.less_certain += 1;
        } else if accepted {
            tally.accepted += 1;
        } else if known.holds(&finding) {
            tally.baselined += 1;
        } else {
            outgrown.note(&known, &finding);
            tally.count(&finding);
            outputs.finding(&finding);
        }
    })?;
    summary.counts = tally.counts;
    summary.overview = tally.overview;
    summary.baselined = tally.baselined;
    summary.less_certain = tally.less_certain;
    summary.out_of_scope = tally.out_of_scope;
    summary.accepted += tally.accepted;
    summary.problems.extend(scope.notices());
    // What is not found yet may be accepted once it is.
    summary.problems.extend(acceptances.notices(summary.waiting > 0));
    summary.problems.extend(outgrown.notices(shared.baseline.as_deref()));
    let verdict = Verdict::on(&summary, shared.fail_on.into());
    outputs.finish(&summary, verdict)?;
    // Last of all: a run that is stopped before has told nothing that the next one would not tell again.
    if let Some(state) = state {
        state.write()?;
    }
    Ok(verdict.exit_code())
}
