//! Why a finding is as sure as it is: what is recorded, what became of each send, what follows, what is missing.
//! Knows no format; it judges nothing anew, and says of a fact that no log tells that it is not told.

use super::voice::Voice;
use crate::finding::{Certainty, Finding, Role, Sent, Step};
use unbroken_contract::Breach;

/// Groups of sends told one by one; of more, only how many.
const MOST_SENDS: usize = 8;
/// Steps of one kind that are named by their numbers.
const MOST_NUMBERS: usize = 8;

/// The heading over the reasons.
pub(crate) const fn title(certainty: Certainty) -> &'static str {
    match certainty {
        Certainty::Proved => "why this is certain",
        Certainty::Likely => "why this is likely",
        Certainty::Possible => "why this is possible",
    }
}

/// Whether a step follows from the others instead of standing in a record.
pub(crate) fn concludes(step: &Step) -> bool {
    step.role == Role::Conclude || (step.exhibit.is_none() && step.at.is_none())
}

/// The reasons, in the order in which they build on each other. Steps are named by their place in the proof, from 1.
pub(crate) fn reasons(finding: &Finding, voice: &Voice<'_>) -> Vec<String> {
    let mut reasons: Vec<String> = records(finding).into_iter().collect();
    reasons.extend(sends(finding, voice));
    reasons.extend(same_call(finding).map(str::to_owned));
    let conclusions = finding.proof.iter().filter(|step| concludes(step));
    reasons.extend(conclusions.map(|step| voice.say(&step.words)));
    reasons.extend(finding.same_by.map(|by| format!("one client: {}", same(by))));
    reasons.extend(finding.missing.as_deref().map(|fact| {
        // A finding that is certain can still leave something open: whether a repeated call ran, say.
        let open = match finding.certainty {
            Certainty::Proved => "what would tell more",
            Certainty::Likely | Certainty::Possible => "what would settle it",
        };
        format!("{open}: {}", voice.text(fact))
    }));
    reasons
}

/// `recorded in 2 logs: the send (step 1), the cut (step 3), the reopened stream (step 4)`.
fn records(finding: &Finding) -> Option<String> {
    let mut kinds: Vec<(Role, Vec<usize>)> = Vec::new();
    let mut logs: Vec<&str> = Vec::new();
    for (index, step) in finding.proof.iter().enumerate().filter(|(_, step)| !concludes(step)) {
        match kinds.iter_mut().find(|(role, _)| *role == step.role) {
            Some((_, numbers)) => numbers.push(index + 1),
            None => kinds.push((step.role, vec![index + 1])),
        }
        if let Some(exhibit) = step.exhibit.as_ref().filter(|exhibit| !logs.contains(&exhibit.path.as_str()))
        {
            logs.push(&exhibit.path);
        }
    }
    let told: Vec<String> = kinds
        .iter()
        .map(|(role, numbers)| {
            let steps = if numbers.len() == 1 { "step" } else { "steps" };
            format!("{} ({steps} {})", thing(*role, numbers.len() > 1), numbered(numbers))
        })
        .collect();
    let place = match logs.len() {
        0 => return None,
        1 => "recorded".to_owned(),
        several => format!("recorded in {several} logs"),
    };
    Some(format!("{place}: {}", told.join(", ")))
}

/// What a step of this role is called when it is a fact.
const fn thing(role: Role, many: bool) -> &'static str {
    match (role, many) {
        (Role::Offence, _) => "the offending place",
        (Role::Context, _) => "what it rests on",
        (Role::Initialize, false) => "the opened session",
        (Role::Initialize, true) => "the opened sessions",
        (Role::Send, false) => "the request",
        (Role::Send, true) => "the requests",
        (Role::Deliver, false) => "the delivery",
        (Role::Deliver, true) => "the deliveries",
        (Role::Cut, false) => "the early end",
        (Role::Cut, true) => "the early ends",
        (Role::Resume, false) => "the reopened stream",
        (Role::Resume, true) => "the reopened streams",
        (Role::Refuse, false) => "the refusal",
        (Role::Refuse, true) => "the refusals",
        (Role::Delete, false) => "the DELETE",
        (Role::Delete, true) => "the DELETEs",
        (Role::Run, _) => "the tool's run",
        (Role::Conclude, _) => "the conclusion",
    }
}

/// What became of each send; neighbours that fared alike are told together.
fn sends(finding: &Finding, voice: &Voice<'_>) -> Vec<String> {
    let mut groups: Vec<(Vec<usize>, Vec<String>, String)> = Vec::new();
    for (index, sent) in finding.sends.iter().enumerate() {
        let fate = fate(sent);
        let id = sent.rpc_id.as_deref().map(|id| voice.text(id));
        match groups.last_mut().filter(|(_, _, of)| *of == fate) {
            Some((numbers, ids, _)) => {
                numbers.push(index + 1);
                ids.extend(id.filter(|id| !ids.contains(id)));
            }
            None => groups.push((vec![index + 1], id.into_iter().collect(), fate)),
        }
    }
    let hidden = groups.len().saturating_sub(MOST_SENDS);
    let mut told: Vec<String> = groups
        .iter()
        .take(MOST_SENDS)
        .map(|(numbers, ids, fate)| {
            let (head, each) = if numbers.len() == 1 { ("send", "") } else { ("sends", "each ") };
            let ids = match ids.len() {
                0 => String::new(),
                1 => format!(" (JSON-RPC id {})", ids[0]),
                2..=MOST_NUMBERS => format!(" (JSON-RPC ids {})", listed(ids)),
                _ => String::new(),
            };
            format!("{head} {}{ids}: {each}{fate}", numbered(numbers))
        })
        .collect();
    if hidden > 0 {
        told.push(format!("{hidden} further groups of sends, told in the machine formats"));
    }
    told
}

/// `answered 504, reached a server, ran to its end there, response not delivered`.
fn fate(sent: &Sent) -> String {
    let status = match sent.status {
        Some(status) => format!("answered {status}"),
        None => "no status recorded".to_owned(),
    };
    let reached = match sent.reached {
        Some(true) => "reached a server",
        Some(false) => "never reached a server",
        None => "not told whether it reached a server",
    };
    let executed = match sent.executed {
        Some(true) => "its run is recorded",
        Some(false) => "no record of a finished run",
        None => "not told whether it ran",
    };
    let answered = match sent.answered {
        Some(true) => "its response was delivered",
        Some(false) => "its response was not delivered",
        None => "not told whether its response was delivered",
    };
    [status.as_str(), reached, executed, answered].join(", ")
}

/// Contract 3.6: what makes two sends one call. Where the arguments are not recorded nothing is claimed.
fn same_call(finding: &Finding) -> Option<&'static str> {
    let repeats = matches!(finding.breach, Breach::DuplicateInvocation | Breach::BlindRetry);
    (repeats && finding.certainty != Certainty::Possible && finding.sends.len() > 1)
        .then_some("one call: the same tool with the same arguments each time (contract 3.6)")
}

/// What the word for an identity stands for.
pub(crate) fn same(by: &str) -> &str {
    match by {
        "session" => "one session carried them all",
        "subject" => "one authenticated subject",
        "trace" => "one trace",
        "connection" => "one connection",
        "client" => "one address, user agent and client name",
        "address" => "one address and user agent",
        "only-client" => "there is one client in the whole log",
        other => other,
    }
}

/// `1`, `1 and 3`, `1, 3 and 5`; of a long list its ends.
fn numbered(numbers: &[usize]) -> String {
    if let (true, [first, .., last]) = (numbers.len() > MOST_NUMBERS, numbers) {
        return format!("{first} to {last}, {} in all", numbers.len());
    }
    listed(&numbers.iter().map(ToString::to_string).collect::<Vec<_>>())
}

fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}
