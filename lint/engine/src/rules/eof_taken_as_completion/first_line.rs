//! Data taken for the answer without a look at what it is: the first data line of a body, or a flag set by any event.
//! Knows no loop's end.

use crate::client::Client;
use crate::facts::ir::{Body, Head, Id, Kind, PatKind, Sort};
use crate::flow::{Known, innermost_loop, known, loops};
use crate::finding::Certainty;
use crate::rules::{Claim, Report};
use crate::scope::{At, Binding, Fx};
use unbroken_contract::Breach;

pub(super) fn check(client: &Client<'_>, fx: Fx, report: &mut Report) {
    let body = client.scope.body(fx);
    if body.of(Sort::Loop).is_empty() {
        return;
    }
    let sorts = [Sort::Return, Sort::Break, Sort::Assign];
    for at in sorts.into_iter().flat_map(|sort| body.of(sort)).map(|id| At { fx, id: *id }) {
        if first_data(client, at) && !compares_ids(client, fx) {
            unmatched(
                client,
                at,
                "the first data line is taken for the answer, whatever message it is",
                "taken without comparing its id with the request's",
                report,
            );
        } else if any_event(client, at) {
            unmatched(
                client,
                at,
                "any event with data counts as the response",
                "set without a look at the message's kind or id",
                report,
            );
        }
    }
}

fn unmatched(client: &Client<'_>, at: At, message: &str, here: &str, report: &mut Report) {
    report.claim(Claim {
        breach: Breach::EofTakenAsCompletion,
        certainty: Certainty::Likely,
        at,
        message: message.into(),
        help: "read on until the message with the request's id, and take no other for its answer",
        here: here.into(),
        story: Vec::new(),
        client,
    });
}

/// `for line in text.lines() { if let Some(data) = line.strip_prefix("data:") { return parse(data) } }`
fn first_data(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    if !matches!(body.kind(at.id), Kind::Return(Some(_)) | Kind::Break(..)) {
        return false;
    }
    let over_lines = innermost_loop(body, at.id).is_some_and(|id| match body.kind(id) {
        Kind::Loop(Head::For(_, iter), ..) => {
            body.any_of(Sort::Call, *iter, |id| matches!(body.kind(id), Kind::Method(_, name, _) if matches!(&**name, "lines" | "split" | "split_terminator")))
        }
        _ => false,
    });
    if !over_lines || returns_error(body, at.id) {
        return false;
    }
    let facts = known(body, at.id);
    facts.iter().any(|fact| about_data(client, at, *fact)) && parses(body, at.id, &facts)
}

/// Whether the way to the place asks for a data line.
fn about_data(client: &Client<'_>, at: At, fact: Known) -> bool {
    let body = client.scope.body(at.fx);
    let (id, pat) = match fact {
        Known::True(id) => (id, None),
        Known::Is(pat, id) => (id, Some(pat)),
        _ => return false,
    };
    let text = |id: Id| client.scope.text(At { id, ..at }).is_some_and(|text| text.trim_end_matches([':', ' ']) == "data");
    body.inside(id).into_iter().any(|id| matches!(body.kind(id), Kind::Str(_)) && text(id))
        || pat.is_some_and(|pat| matches!(body.pat(pat).kind, PatKind::Value(value) if text(value)))
}

/// Whether the data becomes a message here: parsed in the value, or on the way.
fn parses(body: &Body, id: Id, facts: &[Known]) -> bool {
    let parse = |id: Id| {
        body.inside(id).iter().any(|id| match body.kind(*id) {
            Kind::Call(callee, _) => body.last_segment(*callee).is_some_and(|name| name.starts_with("from_str") || name.starts_with("from_slice") || name.contains("parse")),
            _ => false,
        })
    };
    parse(id) || facts.iter().any(|fact| matches!(fact, Known::Is(_, id) | Known::True(id) if parse(*id)))
}

fn returns_error(body: &Body, id: Id) -> bool {
    matches!(body.kind(id), Kind::Return(Some(value)) if body.call_of(*value, "Err").is_some())
}

/// Whether the function, or a direct caller, compares JSON-RPC ids or asks for the message's kind.
fn compares_ids(client: &Client<'_>, fx: Fx) -> bool {
    let own = |fx: Fx| {
        let body = client.scope.body(fx);
        body.of(Sort::Binary).iter().any(|id| about_identity(body, *id))
    };
    let near = client.scope.callers(fx).iter().map(|caller| caller.at.fx);
    let mates = near.flat_map(|up| client.scope.called_by(up).chain([up]));
    own(fx) || mates.into_iter().any(own)
}

/// `message.id == id`, `response.id != request.id`, `get("id")`.
fn about_identity(body: &Body, id: Id) -> bool {
    let Kind::Binary(crate::facts::ir::Op::Eq | crate::facts::ir::Op::Ne, a, b) = body.kind(id) else { return false };
    [a, b].into_iter().any(|side| {
        body.inside(*side).iter().any(|id| match body.kind(*id) {
            Kind::Field(_, name) => &**name == "id",
            Kind::Str(text) => &**text == "id",
            Kind::Method(_, name, _) => &**name == "id",
            Kind::Path(path) => path.last().is_some_and(|last| last.ends_with("request_id") || last.ends_with("expected_id")),
            _ => false,
        })
    })
}

/// `received = true` for any event with data, where the flag ends the reading with success.
fn any_event(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let Kind::Assign(left, right) = body.kind(at.id) else { return false };
    let (Some(flag), Kind::Bool(true)) = (body.local(*left), body.kind(*right)) else { return false };
    if !matches!(client.scope.binding(at.fx, flag, at.id), Some(Binding::Let { init: Some(init), .. }) if matches!(body.kind(init), Kind::Bool(false))) {
        return false;
    }
    let around = loops(body, at.id);
    let Some(outer) = around.last() else { return false };
    let ends = body.inside(*outer).into_iter().any(|id| match body.kind(id) {
        Kind::If(cond, then, _) => {
            body.local(*cond) == Some(flag) && body.inside(*then).iter().any(|id| matches!(body.kind(*id), Kind::Return(Some(value)) if body.call_of(*value, "Ok").is_some()))
        }
        _ => false,
    });
    if !ends {
        return false;
    }
    let within = known(body, at.id).into_iter().filter(|fact| {
        let (Known::True(id) | Known::False(id) | Known::Is(_, id) | Known::Not(_, id) | Known::Failed(id)) = fact;
        body.within(*id, *outer)
    });
    let facts: Vec<Known> = within.collect();
    let data = |id: Id| matches!(body.kind(body.peel(id)), Kind::Field(_, name) if &**name == "data");
    facts.iter().any(|fact| matches!(fact, Known::Is(_, id) if data(*id))) && !facts.iter().any(|fact| asks_kind(body, *fact))
}

/// Whether a condition looks at the message: its id, method, result or variant.
fn asks_kind(body: &Body, fact: Known) -> bool {
    let (Known::True(id) | Known::False(id) | Known::Is(_, id) | Known::Not(_, id) | Known::Failed(id)) = fact;
    body.inside(id).into_iter().any(|id| match body.kind(id) {
        Kind::Field(_, name) => matches!(&**name, "id" | "method" | "result" | "error"),
        Kind::Str(text) => matches!(&**text, "id" | "method" | "result" | "error"),
        Kind::Method(_, name, _) => name.starts_with("is_response") || name.starts_with("is_result"),
        Kind::Call(..) => true,
        _ => false,
    })
}
