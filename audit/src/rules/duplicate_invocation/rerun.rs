//! Calls that ran twice by the servers' own logs alone: the same call started again while the first still ran.
//! Knows no client and no exchange, so what it says is *likely* at most.

use crate::quick::HashMap;
use super::{BREACH, HELP};
use crate::event::{Arguments, Digest, Nanos, Origin, Text};
use crate::finding::{Certainty, Exhibit, Role, Sent, Step};
use crate::pair::{HORIZON, PARALLEL};
use crate::proof::{Court, Draft, foreign, plain};
use crate::timeline::Run;
use crate::timeline::close::id_text;
use crate::timeline::unseen::{Birth, Unseen};

/// Reports every run that repeats one still running, where a session was opened in between.
///
/// Two runs at once may be two wishes. That a client opened a session after the first call began, and then made the same
/// call there, is the trace of one that lost the first (contract 3.6).
pub(super) fn check(unseen: &Unseen, court: &mut Court<'_>) {
    // Runs of each call that may still be repeated, newest last.
    let mut told: Vec<(Nanos, Nanos)> = Vec::new();
    let mut open: HashMap<(Text, Digest, Option<Digest>), Vec<&Run>> = HashMap::default();
    for run in &unseen.runs {
        let (Some(key), Some((start, _))) = (key(run), run.started) else { continue };
        let earlier = open.entry(key).or_default();
        earlier.retain(|first| running(first, start));
        let repeated = earlier.iter().rposition(|first| {
            first.started.is_some_and(|(began, _)| start - began >= PARALLEL)
                && (first.session.is_none() || first.session != run.session)
                && birth(unseen, first, run).is_some()
        });
        if let Some(at) = repeated {
            let first = earlier.remove(at);
            let began = first.started.map_or(start, |(at, _)| at);
            // SDK and application may each log the handler: that is one story.
            let near = |(a, b): &(Nanos, Nanos)| (a - began).abs() < PARALLEL && (b - start).abs() < PARALLEL;
            if !told.iter().any(near) {
                let draft = draft(unseen, first, run, court);
                court.report(draft);
            }
            told.push((began, start));
        }
        earlier.push(run);
    }
}

fn key(run: &Run) -> Option<(Text, Digest, Option<Digest>)> {
    let call = run.call.as_ref()?;
    match &call.arguments {
        Arguments::Canonical { digest, .. } => Some((call.tool.clone(), *digest, call.round)),
        _ => None,
    }
}

fn running(run: &Run, now: Nanos) -> bool {
    let over = run.finished.or(run.aborted).is_some_and(|(at, _)| at <= now);
    !over && run.started.is_some_and(|(at, _)| now - at <= HORIZON)
}

/// The session that was opened after the first run had begun and before the second: the second's own where that is told.
fn birth<'a>(unseen: &'a Unseen, first: &Run, second: &Run) -> Option<&'a Birth> {
    let (from, to) = (first.started?.0, second.started?.0);
    let mut between = unseen.births.iter().filter(|birth| (from..=to).contains(&birth.at));
    between
        .rfind(|birth| birth.session.is_none() || second.session.is_none() || birth.session == second.session)
}

fn draft(unseen: &Unseen, first: &Run, second: &Run, court: &Court<'_>) -> Draft {
    let tool = first.call.as_ref().map_or("", |call| &call.tool);
    let ran = [first, second].iter().filter(|run| run.executed()).count();
    let words = match ran {
        2 => " was executed twice, the second time on a session that was opened meanwhile",
        _ => " was started again while it still ran, on a session that was opened meanwhile",
    };
    // Other sessions before the first run may be another client's, and so may the second run.
    let before =
        unseen.births.iter().filter(|birth| first.started.is_some_and(|(at, _)| birth.at <= at)).count();
    let certainty = if before == 1 && ran == 2 { Certainty::Likely } else { Certainty::Possible };
    let mut draft = Draft::new(BREACH, certainty, vec![foreign(tool), plain(words)], HELP);
    draft.session = first.session.clone();
    draft.tool = Some(tool.into());
    let mut steps: Vec<Step> = [first, second].iter().flat_map(|run| told(run, court)).collect();
    if let Some(birth) = birth(unseen, first, second) {
        steps.push(step(court, (birth.at, birth.origin), Role::Initialize, "a session was opened"));
    }
    steps.sort_by_key(|step| step.at);
    draft.proof = steps;
    draft.sends = [first, second].iter().filter_map(|run| sent(run, court)).collect();
    draft.missing =
        Some("an access log with session ids and client addresses would show that one client sent both");
    draft.print.text(tool);
    for run in [first, second] {
        draft.print.text(run.session.as_deref().unwrap_or_default());
        draft.print.text(&run.started.map(|(at, _)| at).unwrap_or_default().to_string());
    }
    draft
}

fn told(run: &Run, court: &Court<'_>) -> Vec<Step> {
    let moments = [
        (run.started, "the tool was started"),
        (run.effect, "the tool took effect"),
        (run.finished, "the tool finished"),
        (run.aborted, "the tool was stopped"),
    ];
    let known = moments.into_iter().filter_map(|(moment, words)| Some((moment?, words)));
    known.map(|(moment, words)| step(court, moment, Role::Run, words)).collect()
}

fn step(court: &Court<'_>, (at, origin): (Nanos, Origin), role: Role, words: &str) -> Step {
    Step { exhibit: Some(court.exhibit(origin)), at: Some(at), role, words: vec![plain(words)] }
}

fn sent(run: &Run, court: &Court<'_>) -> Option<Sent> {
    let (at, origin) = run.started?;
    Some(Sent {
        exhibit: Exhibit { server: run.instance.as_deref().map(str::to_owned), ..court.exhibit(origin) },
        at,
        session: run.session.as_deref().map(str::to_owned),
        rpc_id: run.id.as_ref().map(|id| id_text(id).to_owned()),
        status: None,
        reached: Some(true),
        executed: Some(run.executed()),
        answered: None,
    })
}
