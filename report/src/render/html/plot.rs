//! Counts as bars: what a table of them looks like when length says how many.
//! Knows no markup.

use crate::finding::Finding;
use crate::render::moment;
use crate::summary::{Charts, Summary};
use std::collections::BTreeMap;

/// Bars in one plot; the rest is added up in a last one.
const MOST: usize = 12;

/// A plot: bars under a title, each with its share of the longest.
pub(super) struct Plot {
    pub(super) title: &'static str,
    /// What a bar counts.
    pub(super) unit: &'static str,
    pub(super) bars: Vec<Bar>,
}

pub(super) struct Bar {
    pub(super) name: String,
    pub(super) count: u64,
    /// Per cent of the longest, at least 1 where there is anything.
    pub(super) share: u64,
}

/// Breaches per client, gathered while findings go by.
#[derive(Default)]
pub(super) struct Clients(BTreeMap<String, u64>);

impl Clients {
    pub(super) fn count(&mut self, finding: &Finding) {
        if let Some(client) = &finding.client {
            *self.0.entry(crate::unprintable::escape(client).into_owned()).or_default() += 1;
        }
    }
}

/// All plots that have anything to show.
pub(super) fn plots(summary: &Summary, clients: &Clients) -> Vec<Plot> {
    let Charts { cuts, reconnects, sessions, limits: _ } = &summary.charts;
    let mut breaches: Vec<(String, u64)> =
        summary.counts.iter().map(|(breach, count)| (breach.id().to_owned(), count.total())).collect();
    breaches.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut programs: Vec<(String, u64)> = clients.0.iter().map(|(name, n)| (name.clone(), *n)).collect();
    programs.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let named = |list: &[(String, u64)]| list.to_vec();
    [
        plot("Findings by breach", "findings", worst(breaches)),
        plot("Clients by breaches", "findings", worst(programs)),
        plot("Cuts by duration of the stream", "cuts", named(cuts)),
        plot("Reconnects by outcome", "reconnects", named(reconnects)),
        plot("Sessions over time", "sessions", over_time(sessions)),
    ]
    .into_iter()
    .filter(|plot| !plot.bars.is_empty())
    .collect()
}

fn worst(mut all: Vec<(String, u64)>) -> Vec<(String, u64)> {
    if all.len() > MOST {
        let rest = all.split_off(MOST - 1);
        all.push((format!("{} others", rest.len()), rest.iter().map(|(_, count)| count).sum()));
    }
    all
}

/// Times as the day, where the plot spans more than one, and the time of day.
fn over_time(sessions: &[(i64, u64)]) -> Vec<(String, u64)> {
    let day = |at: &(i64, u64)| moment::day(at.0);
    let one_day = sessions.first().map(day) == sessions.last().map(day);
    let name = |at: i64| {
        let time = moment::time_of_day(at);
        // A stretch begins with a whole second.
        let time = time.split('.').next().unwrap_or_default();
        if one_day { time.to_owned() } else { format!("{} {time}", moment::day(at)) }
    };
    sessions.iter().map(|(at, count)| (name(*at), *count)).collect()
}

fn plot(title: &'static str, unit: &'static str, counts: Vec<(String, u64)>) -> Plot {
    let longest = counts.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let bars = counts
        .into_iter()
        .map(|(name, count)| Bar { name, count, share: (count * 100 / longest).max(u64::from(count > 0)) })
        .collect();
    Plot { title, unit, bars }
}
