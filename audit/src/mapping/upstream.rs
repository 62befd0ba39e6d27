//! Attempts at upstreams, as comma lists, counters or lists of objects.
//! Knows how many there were and whom they met; whether they delivered only where the log tells.

use super::MappingError;
use super::field::{Compiler, Row, Value};
use super::file::{Field, Upstream};
use super::slot::{Slots, Tree};
use super::stream::within;
use crate::adapter::access;
use crate::event::{Attempt, Delivered};

/// A compiled `[upstream]`.
#[derive(Debug)]
pub(super) struct UpstreamParts {
    pub(super) addr: Value,
    status: Value,
    retries: Value,
    attempts: Value,
    pub(super) each: Option<AttemptParts>,
}

#[derive(Debug)]
pub(super) struct AttemptParts {
    list: Value,
    tree: Tree,
    addr: Value,
    port: Value,
    status: Value,
    failed: Value,
}

pub(super) fn compile(u: &Upstream, c: &mut Compiler<'_>) -> Result<UpstreamParts, MappingError> {
    Ok(UpstreamParts {
        addr: c.value(u.addr.as_ref())?,
        status: c.value(u.status.as_ref())?,
        retries: c.value(u.retries.as_ref())?,
        attempts: c.value(u.attempts.as_ref())?,
        each: u.each.as_ref().map(|at| attempts(at, u, c)).transpose()?,
    })
}

fn attempts(at: &str, u: &Upstream, c: &mut Compiler<'_>) -> Result<AttemptParts, MappingError> {
    let mut tree = Tree::default();
    Ok(AttemptParts {
        list: c.value(Some(&Field::Key(at.to_owned())))?,
        addr: within(&mut tree, u.each_addr.as_ref())?,
        port: within(&mut tree, u.each_port.as_ref())?,
        status: within(&mut tree, u.each_status.as_ref())?,
        failed: within(&mut tree, u.each_failed.as_ref())?,
        tree,
    })
}

/// What a record tells of its attempts, where it tells of one at most.
pub(super) enum Only<'r> {
    /// None.
    Nothing,
    /// One that was not refused, with the instance's name.
    One(Option<std::borrow::Cow<'r, str>>),
    /// More, or one that failed.
    More,
}

impl UpstreamParts {
    /// The attempts of a record as [`UpstreamParts::read`] gives them, if they are one or none.
    pub(super) fn only<'r>(&'r self, row: &Row<'r>, absent: &[String]) -> Only<'r> {
        if self.each.is_some() || self.attempts.is_given() || self.retries.is_given() {
            return match self.read(row, absent).as_slice() {
                [] => Only::Nothing,
                [one] if one.delivered != Delivered::No => {
                    Only::One(one.upstream.as_deref().map(|name| name.to_owned().into()))
                }
                _ => Only::More,
            };
        }
        match self.addr.text(row, absent) {
            None => Only::Nothing,
            Some(list) if list.as_bytes().contains(&b',') => Only::More,
            Some(one) if one.trim().len() == one.len() => Only::One(Some(one)),
            Some(_) => Only::More,
        }
    }

    /// The attempts of a record, in order.
    pub(super) fn read(&self, row: &Row<'_>, absent: &[String]) -> Vec<Attempt> {
        if let Some(each) = &self.each {
            return each.read(row, absent);
        }
        let addresses = self.addr.text(row, absent);
        let statuses = self.status.text(row, absent);
        let more = self.retries.number(row, absent).unwrap_or(0);
        let total =
            self.attempts.number(row, absent).unwrap_or(more + u64::from(addresses.is_some() || more > 0));
        let (addresses, statuses) = (items(addresses.as_deref()), items(statuses.as_deref()));
        // A counter may be wrong by any amount; a proxy tries a few times, not thousands.
        let count = usize::try_from(total).unwrap_or(0).min(64).max(addresses.len());
        (0..count)
            .map(|i| {
                // Where only the last upstream is named, the earlier ones are not.
                let at = (i + addresses.len()).checked_sub(count);
                let status = at.and_then(|at| statuses.get(at)).and_then(|s| s.parse().ok());
                let delivered = if status.is_some() { Delivered::Yes } else { Delivered::Unknown };
                access::attempt(at.and_then(|at| addresses.get(at)).copied(), status, delivered)
            })
            .collect()
    }
}

/// What a comma list holds.
fn items(list: Option<&str>) -> Vec<&str> {
    list.map_or_else(Vec::new, |list| list.split(',').map(str::trim).collect())
}

impl AttemptParts {
    fn read(&self, row: &Row<'_>, absent: &[String]) -> Vec<Attempt> {
        let Some(json) = self.list.json(row, absent) else { return Vec::new() };
        let mut elements = Vec::new();
        if super::json::elements(&json, |element| elements.push(element)).is_err() {
            return Vec::new();
        }
        let mut attempts = Vec::new();
        for element in elements.iter().take(64) {
            let mut slots = Slots::new();
            if self.tree.collect(element.get().as_bytes(), &mut slots).is_err() {
                continue;
            }
            let row = Row { slots, texts: Vec::new(), groups: None };
            let addr = self.addr.text(&row, absent).map(|a| match self.port.text(&row, absent) {
                Some(port) => format!("{a}:{port}"),
                None => a.into_owned(),
            });
            let status = self.status.number(&row, absent).and_then(|n| u16::try_from(n).ok());
            let delivered = match (status, self.failed.text(&row, absent)) {
                (Some(_), _) => Delivered::Yes,
                (None, Some(_)) => Delivered::No,
                (None, None) => Delivered::Unknown,
            };
            attempts.push(access::attempt(addr.as_deref(), status, delivered));
        }
        attempts
    }
}
