//! Counts and delays that begin anew with every connect.
//! Knows the variables of one loop; an event that was read, or a time that the stream lasted, may reset them.

use crate::client::{Client, called};
use crate::facts::ir::{Body, Id, Kind, Name, Op, PatId};
use crate::flow::{Known, known, loops, reads_stream};
use crate::scope::At;

/// `attempts = 0` on the way from the connect to the first read of the stream.
pub(super) fn by_connect(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let Some(name) = begins_anew(body, at.id) else { return false };
    // The innermost loop is the one that reconnects: a loop that reads the stream has an event to show.
    let Some(outer) = loops(body, at.id).first().copied() else { return false };
    let Kind::Loop(_, inside, _) = body.kind(outer) else { return false };
    let nodes = body.inside(*inside);
    let counts = nodes.iter().any(|id| counts_up(body, *id, name));
    if !counts || !super::reopens(client, at.fx, *inside) {
        return false;
    }
    let reads = nodes.iter().copied().filter(|id| matches!(body.kind(*id), Kind::Method(..)) && reads_stream(client.scope, At { id: *id, ..at }));
    let first = reads.map(|id| body.range(id)).min();
    let before = first.is_some_and(|first| body.range(at.id) < first);
    before && known(body, at.id).into_iter().all(|fact| connects(client, at, fact))
}

/// Whether a condition says no more than that the connect succeeded.
fn connects(client: &Client<'_>, at: At, fact: Known) -> bool {
    let body = client.scope.body(at.fx);
    let (id, pat): (Id, Option<PatId>) = match fact {
        Known::True(id) | Known::False(id) | Known::Failed(id) => (id, None),
        Known::Is(pat, id) | Known::Not(pat, id) => (id, Some(pat)),
    };
    let lasted = body.inside(id).into_iter().any(|id| called(body, id).is_some_and(|name| matches!(&**name, "elapsed" | "duration_since")));
    !lasted && !pat.is_some_and(|pat| reads_stream(client.scope, At { id, ..at }) && body.mentions(pat, "Some"))
}

/// The local that is set to a beginning: `attempts = 0`, `delay = INITIAL`, `delay = Duration::from_secs(1)`.
fn begins_anew(body: &Body, id: Id) -> Option<&Name> {
    let Kind::Assign(left, right) = body.kind(id) else { return None };
    let name = body.local(body.peel(*left))?;
    let start = match body.kind(*right) {
        Kind::Int(number) => *number <= 1,
        Kind::Path(path) => path.last().is_some_and(|last| last.chars().all(super::constant_letter)),
        Kind::Call(callee, args) => {
            body.last_segment(*callee).is_some_and(|name| name.starts_with("from_")) && args.iter().all(|arg| matches!(body.kind(*arg), Kind::Int(_)))
        }
        _ => false,
    };
    start.then_some(name)
}

/// `attempts += 1`, `delay = (delay * 2).min(cap)`.
fn counts_up(body: &Body, id: Id, name: &Name) -> bool {
    match body.kind(id) {
        Kind::Update(Op::Add | Op::Grow, left, _) => body.local(body.peel(*left)) == Some(name),
        Kind::Assign(left, right) => {
            body.local(body.peel(*left)) == Some(name) && body.inside(*right).into_iter().any(|id| body.local(id) == Some(name))
        }
        _ => false,
    }
}
