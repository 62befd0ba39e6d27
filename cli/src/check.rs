//! A run of either half: findings out as they come, then the summary and the verdict.
//! Knows no format and no rule.

use crate::args::Shared;
use crate::audit::AuditArgs;
use crate::fault::Fault;
use crate::lint::{self, LintArgs};
use crate::output::Outputs;
use crate::translation;
use std::fs;
use unbroken_audit::run;
use unbroken_report::{Baseline, Finding, Summary, Verdict};

/// Lints code; gives the exit code.
pub(crate) fn code(args: &LintArgs, shared: &Shared) -> Result<u8, Fault> {
    let mut desk = Desk::open(shared, &args.paths)?;
    let mut outcome = lint::run(args, shared.threads)?;
    for finding in std::mem::take(&mut outcome.findings) {
        desk.take(&translation::code::finding(finding));
    }
    desk.close(translation::code::summary(&outcome), shared)
}

/// Audits traffic; gives the exit code.
pub(crate) fn traffic(args: &AuditArgs, shared: &Shared) -> Result<u8, Fault> {
    let files = args.files();
    let mut desk = Desk::open(shared, &files)?;
    let options = run::Options {
        threads: shared.threads,
        keep_arguments: shared.reveal,
        mappings: args.mapping.clone(),
        max_record: args.max_record,
    };
    let seen = run::run(&files, &options, &mut |finding| desk.take(&translation::traffic::finding(finding)));
    desk.close(translation::traffic::summary(seen), shared)
}

/// Where findings are sorted out before they are shown.
struct Desk {
    outputs: Outputs,
    baseline: Baseline,
    tally: Summary,
}

impl Desk {
    fn open(shared: &Shared, inputs: &[std::path::PathBuf]) -> Result<Desk, Fault> {
        let baseline = match &shared.baseline {
            None => Baseline::default(),
            Some(path) => {
                let text = fs::read_to_string(path)
                    .map_err(|source| Fault::Unreadable { path: path.clone(), source })?;
                Baseline::parse(&text).map_err(|source| Fault::Baseline { path: path.clone(), source })?
            }
        };
        Ok(Desk { outputs: Outputs::open(shared, inputs)?, baseline, tally: Summary::default() })
    }

    fn take(&mut self, finding: &Finding) {
        if self.baseline.holds(finding) {
            self.tally.baselined += 1;
            return;
        }
        self.tally.count(finding);
        self.outputs.finding(finding);
    }

    fn close(self, mut summary: Summary, shared: &Shared) -> Result<u8, Fault> {
        summary.counts = self.tally.counts;
        summary.baselined = self.tally.baselined;
        let verdict = Verdict::on(&summary, shared.fail_on.into());
        self.outputs.finish(&summary, verdict)?;
        Ok(verdict.exit_code())
    }
}
