//! Rules: each looks at one client's timeline for one breach of the contract.
//! Knows which rules there are and in what order they speak; no rule sees a log format or JSON.

use crate::pair::{self, Chain};
use crate::proof::Court;
use crate::quick::HashMap;
use crate::timeline::Timeline;
use std::sync::OnceLock;
use unbroken_contract::breach::Breach;

/// What a rule is given.
#[derive(Debug)]
pub struct Case<'a> {
    /// All that the client did.
    pub timeline: &'a Timeline,
    /// Its calls that were sent again with their outcome unknown.
    pub chains: &'a [Chain],
    /// The chain of each send, as an index into `chains`.
    pub chain_of: HashMap<usize, usize>,
}

/// One rule.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The breach it reports.
    pub breach: Breach,
    source: &'static str,
    check: fn(&Case<'_>, &mut Court<'_>),
}

macro_rules! rules {
    ($($name:ident)*) => {
        $(mod $name;)*

        /// Every rule, in the order in which they look.
        pub const ALL: &[Rule] = &[$(Rule {
            breach: $name::BREACH,
            source: include_str!(concat!("rules/", stringify!($name), ".rs")),
            check: $name::check,
        }),*];
    };
}

rules! {
    call_retried_by_proxy
    duplicate_invocation
    blind_retry
    response_undelivered
    eof_taken_as_completion
    pending_call_abandoned
    session_discarded
    resume_without_cursor
    expired_session_kept
    session_misrouted
    cursor_outlives_session
    cursor_regressed
    session_rewritten
    foreign_replay
    resume_in_other_namespace
    clamped_cursor
    replay_gap
    replay_repeats
    unowned_resume
    empty_resume
    event_id_reused
    retry_ignored
    unbounded_reconnect
    request_id_reused
    reissue_kept_id
    unknown_session_not_404
    session_ended_on_transient
    context_changed
    ran_after_cancel
    retention_too_short
    orphaned_session
}

pub(crate) use session_ended_on_transient::AT_ONCE;

/// Looks at one timeline with every rule.
pub fn check(timeline: &Timeline, court: &mut Court<'_>) {
    let chains = pair::chains(timeline);
    let of = |(index, chain): (usize, &Chain)| {
        chain.sends.iter().map(move |send| (*send, index)).collect::<Vec<_>>()
    };
    let chain_of = chains.iter().enumerate().flat_map(of).collect();
    let case = Case { timeline, chains: &chains, chain_of };
    court.client = timeline.client.program();
    court.resumes.clear();
    for (at, rule) in ALL.iter().enumerate() {
        let begun = court.costs.map(|costs| (costs, std::time::Instant::now()));
        (rule.check)(&case, court);
        if let Some((costs, begun)) = begun {
            costs.add_rule(at, begun);
        }
    }
}

/// The page of a breach: what happens, why it matters, what is flagged and accepted, what to do instead.
#[must_use]
pub fn page(breach: Breach) -> Option<&'static str> {
    static PAGES: OnceLock<Vec<String>> = OnceLock::new();
    let pages = PAGES.get_or_init(|| ALL.iter().map(|rule| leading_page(rule.source)).collect());
    let at = ALL.iter().position(|rule| rule.breach == breach)?;
    Some(&pages[at])
}

/// The text of the `//!` lines that a rule's file begins with.
fn leading_page(source: &str) -> String {
    let mut page = String::new();
    for line in source.lines().map_while(|line| line.strip_prefix("//!")) {
        page.push_str(line.strip_prefix(' ').unwrap_or(line));
        page.push('\n');
    }
    page
}

#[cfg(test)]
pub(crate) mod notation;
#[cfg(test)]
mod tests;
