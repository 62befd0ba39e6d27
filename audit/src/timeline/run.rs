//! Runs: what a server's own log tells of a call's handler. The only proof that a call was executed.
//! Knows handlers; whether a run was wanted is not its business.

use super::close::same_id;
use super::{Reached, Timeline};
use crate::event::{Lifecycle, LifecycleStep, Nanos, Origin, RpcId, RpcOutcome, Text, ToolCall, Vantage};
use crate::join::{Joined, Told};
use crate::quick::HashMap;

/// One run of a handler.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The session, where told.
    pub session: Option<Text>,
    /// The JSON-RPC id, where told.
    pub id: Option<RpcId>,
    /// The call, where told.
    pub call: Option<ToolCall>,
    /// The instance that ran it.
    pub instance: Option<Text>,
    /// When it started.
    pub started: Option<(Nanos, Origin)>,
    /// When it took effect, where the application tells.
    pub effect: Option<(Nanos, Origin)>,
    /// When it finished.
    pub finished: Option<(Nanos, Origin)>,
    /// When it was stopped before its end.
    pub aborted: Option<(Nanos, Origin)>,
    /// It finished with an error.
    pub failed: bool,
    /// Other logs' records of its effect.
    copies: Vec<(Nanos, Origin)>,
}

impl Run {
    /// Whether it is proved that the call took effect: its effect is logged, or it finished without an error.
    #[must_use]
    pub fn executed(&self) -> bool {
        self.effect.is_some() || (self.finished.is_some() && !self.failed)
    }

    /// Whether it is proved that it was stopped before it took effect.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.aborted.is_some() && self.effect.is_none() && self.finished.is_none()
    }

    /// Its first moment.
    #[must_use]
    pub fn moment(&self) -> Nanos {
        [self.started, self.effect, self.aborted, self.finished]
            .iter()
            .flatten()
            .map(|(at, _)| *at)
            .min()
            .unwrap_or(0)
    }
}

/// Puts the steps of handlers together to runs, in order.
pub(super) fn gather(joined: &Joined) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for told in joined.steps.iter().filter(|told| told.vantage == Vantage::ServerApp) {
        let handler = matches!(
            told.what.step,
            LifecycleStep::HandlerStarted
                | LifecycleStep::HandlerEffect
                | LifecycleStep::HandlerFinished
                | LifecycleStep::HandlerAborted
        );
        if !handler {
            continue;
        }
        if let Some(run) = runs.iter_mut().rev().take(NEAREST).find(|run| told_before(run, told)) {
            run.copies.push((told.at, told.origin));
            continue;
        }
        let fitting = runs.iter_mut().rev().filter(|run| continues(run, told));
        // A log without ids tells how long the handler ran: that names the run; else it is the latest.
        let open = match told.what.duration.filter(|_| told.what.rpc_id.is_none()) {
            Some(length) => fitting
                .min_by_key(|run| run.started.map_or(Nanos::MAX, |(at, _)| (told.at - length - at).abs())),
            None => fitting.into_iter().next(),
        };
        match open {
            Some(run) => note(run, told),
            None => {
                let mut run = of(told);
                note(&mut run, told);
                runs.push(run);
            }
        }
    }
    runs
}

fn of(told: &Told<Lifecycle>) -> Run {
    Run {
        session: told.what.session.clone(),
        id: told.what.rpc_id.clone(),
        call: told.what.call.clone(),
        instance: told.instance.clone(),
        started: None,
        effect: None,
        finished: None,
        aborted: None,
        failed: false,
        copies: Vec::new(),
    }
}

/// Runs among which another log's record of a step is looked for: those that began last.
const NEAREST: usize = 64;
/// How far apart two logs of one host may tell of one step.
const BESIDE: Nanos = 50_000_000;

/// Whether the step is one that another log has told already: SDK and application may each record the effect of a call. Only a
/// call with its id can be known again.
fn told_before(run: &Run, told: &Told<Lifecycle>) -> bool {
    let step = &told.what;
    let Some((at, origin)) = run.effect.filter(|_| step.step == LifecycleStep::HandlerEffect) else {
        return false;
    };
    let files = || run.copies.iter().map(|(_, origin)| origin.file).chain([origin.file]);
    let ids = run.id.as_ref().zip(step.rpc_id.as_ref()).is_some_and(|(a, b)| same_id(a, b));
    let tools = run.call.as_ref().zip(step.call.as_ref()).is_none_or(|(a, b)| a.tool == b.tool);
    ids && tools
        && run.session == step.session
        && run.instance == told.instance
        && (told.at - at).abs() <= BESIDE
        && files().all(|file| file != told.origin.file)
}

/// Whether the step belongs to this run: the same call on the same instance, which has not had this step or its end.
fn continues(run: &Run, told: &Told<Lifecycle>) -> bool {
    let step = &told.what;
    let ended = run.finished.is_some() || run.aborted.is_some();
    let had = match step.step {
        LifecycleStep::HandlerStarted => true,
        LifecycleStep::HandlerEffect => run.effect.is_some(),
        _ => false,
    };
    let tools = match (&run.call, &step.call) {
        (Some(a), Some(b)) => a.tool == b.tool,
        _ => true,
    };
    let ids = match (&run.id, &step.rpc_id) {
        (Some(a), Some(b)) => same_id(a, b),
        _ => true,
    };
    let sessions = run.session.is_none() || step.session.is_none() || run.session == step.session;
    !ended && !had && tools && ids && sessions && run.instance == told.instance
}

fn note(run: &mut Run, told: &Told<Lifecycle>) {
    let here = Some((told.at, told.origin));
    // Of two records of one moment the one is shown whose log tells more of the run.
    if let Some((at, origin)) = run.effect.filter(|(_, origin)| origin.file != told.origin.file) {
        let own = |copy: &&(Nanos, Origin)| copy.0 == at && copy.1.file == told.origin.file;
        run.effect = run.copies.iter().find(own).copied().or(Some((at, origin)));
    }
    match told.what.step {
        LifecycleStep::HandlerStarted => run.started = here,
        LifecycleStep::HandlerEffect => run.effect = here,
        LifecycleStep::HandlerAborted => run.aborted = here,
        LifecycleStep::HandlerFinished => {
            run.finished = here;
            run.failed = matches!(told.what.outcome, Some(RpcOutcome::Error { .. } | RpcOutcome::ToolError));
        }
        _ => {}
    }
    if run.call.is_none() {
        run.call.clone_from(&told.what.call);
    }
    if run.id.is_none() {
        run.id.clone_from(&told.what.rpc_id);
    }
    if run.session.is_none() {
        run.session.clone_from(&told.what.session);
    }
}

/// How long after its sending a run may start, or before it by the clocks: queueing on a busy server, and hosts whose
/// clocks differ. Session and id decide where they are told, so this only bounds the rest.
const LATE: Nanos = 30_000_000_000;
const EARLY: Nanos = 1_000_000_000;

/// Gives every run to the send that it belongs to: the latest send before it that fits and has none. Gives back those that
/// belong to none.
pub(super) fn assign(timelines: &mut [Timeline], runs: Vec<Run>) -> Vec<Run> {
    let mut unclaimed = Vec::new();
    if runs.is_empty() {
        return unclaimed;
    }
    let mut by_tool: HashMap<Text, Vec<(Nanos, usize, usize)>> = HashMap::default();
    for (t, timeline) in timelines.iter().enumerate() {
        for (s, send) in timeline.sends.iter().enumerate() {
            by_tool.entry(send.call.tool.clone()).or_default().push((send.start, t, s));
        }
    }
    by_tool.values_mut().for_each(|sends| sends.sort_unstable());
    for run in runs {
        let Some(sends) = run.call.as_ref().and_then(|call| by_tool.get(&call.tool)) else {
            unclaimed.push(run);
            continue;
        };
        let moment = run.moment();
        let now = sends.partition_point(|(start, ..)| *start <= moment);
        let before = sends[..now].iter().rev().take_while(|(start, ..)| moment - start <= LATE);
        // Only if no send came before it can a clock that goes behind be the reason.
        let after = sends[now..].iter().take_while(|(start, ..)| start - moment <= EARLY);
        let near: Vec<_> = before
            .chain(after)
            .filter(|(_, t, s)| {
                let send = &timelines[*t].sends[*s];
                let session = send.session.map(|at| &*timelines[*t].sessions[at].id);
                send.reached != Reached::No && fits(&run, session, send)
            })
            .copied()
            .collect();
        if let Some((_, t, s)) = near.iter().find(|(_, t, s)| timelines[*t].sends[*s].run.is_none()).copied()
        {
            let send = &mut timelines[t].sends[s];
            send.run = Some(run);
            send.reached = Reached::Yes;
        } else if near.is_empty() {
            // A run beside those of all sends that it could be of is another record of one of them.
            unclaimed.push(run);
        }
    }
    unclaimed
}

fn fits(run: &Run, session: Option<&str>, send: &super::Send) -> bool {
    let sessions = match (&run.session, session) {
        (Some(a), Some(b)) => &**a == b,
        _ => true,
    };
    let ids = match (&run.id, &send.id) {
        (Some(a), Some(b)) => same_id(a, b),
        _ => true,
    };
    let calls = run.call.as_ref().is_none_or(|call| call.tool == send.call.tool && alike(call, &send.call));
    sessions && ids && calls
}

/// Whether two calls may be the same, as far as both keep their arguments.
pub(super) fn alike(a: &ToolCall, b: &ToolCall) -> bool {
    use crate::event::Arguments::Canonical;
    match (&a.arguments, &b.arguments) {
        (Canonical { digest: a, .. }, Canonical { digest: b, .. }) => a == b,
        _ => true,
    }
}
