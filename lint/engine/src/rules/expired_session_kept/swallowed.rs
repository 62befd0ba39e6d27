//! An error of a request that carried the session, which ends here: logged, or tried again, and never told from a 404.
//! Knows no status.

use super::{Report, dropped, state};
use crate::client::{Client, Deeds, Header, Slot};
use crate::facts::ir::{Body, Id, Kind, PatId};
use crate::flow::{Known, known};
use crate::scope::{At, Binding, Fx};

pub(super) fn check(client: &Client<'_>, fx: Fx, report: &mut Report) {
    if client.own(fx).has(Deeds::TELLS_404) || client.own(fx).has(Deeds::DELETE) {
        return;
    }
    let body = client.scope.body(fx);
    for id in body.ids() {
        let (pat, value, branch) = match body.kind(id) {
            Kind::If(cond, then, _) => match body.kind(*cond) {
                Kind::LetCond(pat, value) => (*pat, *value, *then),
                _ => continue,
            },
            Kind::Match(value, arms) => {
                let failures: Vec<_> = arms.iter().filter(|arm| body.mentions(arm.pat, "Err")).collect();
                let [arm] = failures.as_slice() else { continue };
                (arm.pat, *value, arm.body)
            }
            _ => continue,
        };
        let lost = plain_error(body, pat) && dies(body, pat, branch) && exchange(client, At { fx, id: value }) && repeats(client, fx, id);
        if lost && !dropped::each_round(client, At { fx, id }, value) {
            state(client, At { fx, id: branch }, "ends here as a failure that is only logged or retried", report);
        }
    }
}

/// `Err(error)`, without a look at the variant.
fn plain_error(body: &Body, pat: PatId) -> bool {
    body.variants(pat).iter().all(|path| path.last().is_some_and(|last| &**last == "Err")) && body.mentions(pat, "Err")
}

/// Whether the error goes nowhere but into the log.
fn dies(body: &Body, pat: PatId, branch: Id) -> bool {
    let names = body.bound(pat);
    body.inside(branch).into_iter().all(|id| match body.kind(id) {
        Kind::Path(path) if path.len() == 1 && names.contains(&&path[0]) => super::super::in_log(body, id),
        Kind::Call(..) => body.call_of(id, "Err").is_none(),
        Kind::Macro(name, _) => &**name != "bail",
        _ => true,
    })
}

/// Whether the value is the outcome of a request of the crate's own that carries the session, and starts none.
fn exchange(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let id = body.peel(at.id);
    let callees = client.scope.callees(At { id, ..at });
    callees.iter().any(|fx| {
        let all = client.all(*fx);
        (all.has(Deeds::POST) || all.has(Deeds::GET)) && !sessionless(client, At { id, ..at }, *fx) && all.has(Deeds::SESSION.with(Deeds::SENDS)) && !all.has(Deeds::INITIALISES) && !client.own(*fx).has(Deeds::DELETE)
    })
}

/// Whether the callee is given no session, or is asked for a request of a kind that carries none.
pub(super) fn sessionless(client: &Client<'_>, at: At, fx: Fx) -> bool {
    let body = client.scope.body(at.fx);
    let args: &[Id] = match body.kind(at.id) {
        Kind::Method(_, _, args) => args,
        Kind::Call(_, args) => args.get(usize::from(client.scope.function(fx).takes_self)..).unwrap_or_default(),
        _ => &[],
    };
    args.iter().enumerate().any(|(index, arg)| {
        body.is_none(*arg) && client.sessions.contains(&Slot::Param(fx, index)) || other_kind(client, At { id: *arg, ..at }, fx, index)
    })
}

/// Whether the argument is a variant, `Kind::Listen`, for which the callee never comes to where it attaches the session.
fn other_kind(client: &Client<'_>, arg: At, fx: Fx, index: usize) -> bool {
    let (Kind::Path(path) | Kind::Struct(path, ..)) = client.scope.kind(arg) else { return false };
    let [.., ty, asked] = path.as_slice() else { return false };
    if client.scope.defs(ty).next().is_none() {
        return false;
    }
    let body = client.scope.body(fx);
    let param = |id: Id| {
        body.local(body.peel(id)).is_some_and(|name| matches!(client.scope.binding(fx, name, id), Some(Binding::Param(found)) if found == index))
    };
    let elsewhere = |id: Id| {
        known(body, id).into_iter().any(|fact| match fact {
            Known::Is(pat, value) if param(value) => {
                let variants = body.variants(pat);
                !variants.is_empty() && variants.iter().all(|path| path.last() != Some(asked))
            }
            _ => false,
        })
    };
    let mut attached = client.headers(fx).iter().filter(|used| used.header == Header::Session && used.value.is_some()).peekable();
    attached.peek().is_some() && attached.all(|used| elsewhere(used.at.id))
}

/// Whether the same session is used again: the place stands in a loop, or in a task that serves one.
fn repeats(client: &Client<'_>, fx: Fx, id: Id) -> bool {
    let body = client.scope.body(fx);
    body.ancestors(id).any(|(parent, child)| matches!(body.kind(parent), Kind::Loop(_, inside, _) if *inside == child))
}
