//! Who takes part in a story: client, proxy, server instances, and who of them in which step.
//! Knows no markup; two names are one instance only where one exchange has both.

use super::diagram;
use crate::finding::{Role, Step};
use std::collections::BTreeMap;

/// Server instances with a lane of their own.
const MOST_SERVERS: usize = 4;

/// Who takes part, and who of them in which step.
pub(super) struct Cast {
    proxied: bool,
    servers: Vec<String>,
    /// Per step: index into `servers`.
    server_of: Vec<usize>,
    /// Per step: the proxy sent it by itself.
    by_proxy: Vec<bool>,
}

impl Cast {
    pub(super) fn of(steps: &[(usize, &Step)]) -> Cast {
        let one = one_instance(steps);
        let name = |at: usize| shown(steps[at].1, &one);
        let mut servers: Vec<&str> = Vec::new();
        for at in 0..steps.len() {
            if let Some(name) = name(at)
                && !servers.contains(&name)
                && servers.len() < MOST_SERVERS
            {
                servers.push(name);
            }
        }
        let named = servers.len();
        let known = |at: usize| servers.iter().position(|server| Some(*server) == name(at));
        // What names no instance belongs to the exchange it is recorded with; a handler, to the request before it.
        let mut server_of: Vec<usize> = Vec::with_capacity(steps.len());
        for (index, (_, step)) in steps.iter().enumerate() {
            let same = steps[..index].iter().rposition(|(_, other)| recorded_with(other, step));
            let before = (step.role == Role::Run && index > 0).then(|| index - 1);
            let inherited = same.or(before).map(|at| server_of[at]);
            let only = (named == 1).then_some(0);
            server_of.push(known(index).or(inherited).or(only).unwrap_or(named));
        }
        let by_proxy: Vec<bool> = (0..steps.len())
            .map(|index| {
                let step = steps[index].1;
                // One record of one request: whoever sent it a second time stood behind the client.
                step.role == Role::Send
                    && steps[..index]
                        .iter()
                        .any(|(_, other)| other.role == Role::Send && recorded_with(other, step))
            })
            .collect();
        let proxied = by_proxy.contains(&true) || steps.iter().any(|(_, step)| step.scene.proxied);
        let mut servers: Vec<String> = servers.into_iter().map(str::to_owned).collect();
        if server_of.contains(&named) {
            servers.push(if named == 0 { "server".into() } else { "instance not told".into() });
        }
        Cast { proxied, servers, server_of, by_proxy }
    }

    /// Between the client and the last server, everybody at the same distance.
    fn x(&self, place: usize) -> u32 {
        let places = self.servers.len() + usize::from(self.proxied);
        let place = u32::try_from(place).unwrap_or(0);
        diagram::CLIENT
            + (diagram::LAST - diagram::CLIENT) * place / u32::try_from(places.max(1)).unwrap_or(1)
    }

    pub(super) fn server(&self, index: usize) -> u32 {
        self.x(1 + usize::from(self.proxied) + self.server_of[index])
    }

    pub(super) fn near(&self, index: usize) -> u32 {
        if self.by_proxy[index] { self.x(1) } else { diagram::CLIENT }
    }

    pub(super) fn lanes(&self) -> Vec<diagram::Lane> {
        let names = [Some("client"), self.proxied.then_some("proxy")].into_iter().flatten();
        names
            .map(str::to_owned)
            .chain(self.servers.iter().map(|name| diagram::short(&crate::unprintable::escape(name), 24)))
            .enumerate()
            .map(|(place, name)| diagram::Lane { x: self.x(place), name })
            .collect()
    }
}

/// The name of a step's instance as the drawing shows it.
fn shown<'a>(step: &'a Step, one: &BTreeMap<&'a str, &'a str>) -> Option<&'a str> {
    let name = step.scene.server.as_deref()?;
    Some(one.get(name).copied().unwrap_or(name))
}

/// Names by which one instance goes in two logs, each with the one to show: the records of one exchange have both.
/// A name that goes with several others, as a balancer's address does, is nobody's.
fn one_instance<'a>(steps: &[(usize, &'a Step)]) -> BTreeMap<&'a str, &'a str> {
    let mut partners: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (_, step) in steps {
        if let (Some(name), Some(alias)) = (step.scene.server.as_deref(), step.scene.alias.as_deref()) {
            for (one, other) in [(name, alias), (alias, name)] {
                let known = partners.entry(one).or_default();
                if !known.contains(&other) {
                    known.push(other);
                }
            }
        }
    }
    let only =
        |name: &str| partners.get(name).and_then(|all| if let [one] = all[..] { Some(one) } else { None });
    partners
        .keys()
        .filter_map(|name| only(name).filter(|other| only(other) == Some(*name)).map(|other| (*name, other)))
        .map(|(name, other)| (name, name.min(other)))
        .collect()
}

/// Whether one record holds both.
pub(super) fn recorded_with(a: &Step, b: &Step) -> bool {
    a.exhibit.is_some() && a.exhibit == b.exhibit
}
