//! Replays that begin at the oldest event kept when the cursor is not among them.
//! Knows buffers and lookups; which function answers a resume is said in `client`.

use crate::client::{Client, called};
use crate::facts::ir::{Body, Id, Kind, Op};
use crate::scope::{At, Fx};

/// `cursor.saturating_sub(front)`, `position(…).map_or(0, …)`, `position(…).unwrap_or(0)`.
pub(super) fn clamps(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let Kind::Method(receiver, name, args) = body.kind(at.id) else { return false };
    let to = |id: Id| At { id, ..at };
    let searched = || looks_up(body, *receiver) || client.scope.origins(to(*receiver)).iter().any(|origin| looks_up(client.scope.body(origin.fx), origin.id));
    match (&**name, args.as_slice()) {
        ("saturating_sub", [floor]) => {
            !matches!(body.kind(*floor), Kind::Int(_)) && client.about_cursor(to(*receiver)) && oldest(client, to(*floor))
        }
        ("map_or" | "unwrap_or", [zero, ..]) => matches!(body.kind(*zero), Kind::Int(0)) && searched(),
        ("unwrap_or_default", []) => looks_up(body, *receiver) && !yields_list(body, *receiver),
        ("max", [floor]) => client.asked_cursor(to(*receiver)) && oldest(client, to(*floor)),
        _ => false,
    }
}

/// `match position(…) { Some(found) => …, None => all }`; `if front > cursor { return all }`.
pub(super) fn everything(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let to = |id: Id| At { id, ..at };
    if let Kind::If(cond, then, _) = body.kind(at.id)
        && !matches!(body.kind(*cond), Kind::LetCond(..))
    {
        return below(client, to(*cond)) && whole(body, *then) && !client.refuses(to(*then));
    }
    let Some((value, none)) = missed(body, at.id) else { return false };
    let searched = looks_up(body, value) && (client.about_cursor(to(value)) || client.knows_session(at.fx));
    searched && whole(body, none) && !client.refuses(to(none))
}

/// `if let Some(own) = streams.get(cursor.stream) { … } else { common.resume(cursor.index) }`.
pub(super) fn elsewhere(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let to = |id: Id| At { id, ..at };
    let Some((value, none)) = missed(body, at.id) else { return false };
    let keyed = body.inside(value).into_iter().any(|id| match body.kind(id) {
        Kind::Method(_, name, args) if matches!(&**name, "get" | "get_mut" | "remove" | "entry") => {
            args.iter().any(|arg| client.about_cursor(to(*arg)) || part_of_cursor(client, to(*arg)))
        }
        _ => false,
    });
    let replays = |id: Id| match body.kind(id) {
        Kind::Method(_, name, args) => replaying(name) && args.iter().any(|arg| client.about_cursor(to(*arg))),
        _ => false,
    };
    keyed && !client.refuses(to(none)) && body.inside(none).into_iter().any(replays)
}

/// A value that a pattern took out of the cursor: `match cursor.stream { Some(stream) => … }`.
fn part_of_cursor(client: &Client<'_>, at: At) -> bool {
    client.scope.origins(at).iter().any(|origin| client.asked_cursor(*origin))
}

/// `buffer.iter().filter(|event| event.id > cursor)` over a buffer that evicts, with no look at its oldest event.
pub(super) fn filters(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let to = |id: Id| At { id, ..at };
    let Kind::Method(_, name, args) = body.kind(at.id) else { return false };
    let keeps = match &**name {
        "filter" | "skip_while" | "filter_map" | "partition_point" => args.iter().any(|arg| {
            matches!(body.kind(*arg), Kind::Closure(..)) && body.inside(*arg).into_iter().any(|id| ordered(client, to(id)))
        }),
        "range" | "split_off" => args.iter().any(|arg| client.about_cursor(to(*arg))),
        _ => false,
    };
    if !keeps || body.ids().any(|id| below(client, to(id))) || gaps(body) {
        return false;
    }
    evicts(client, at.fx)
}

/// A comparison by order with the cursor on one side.
fn ordered(client: &Client<'_>, at: At) -> bool {
    match client.scope.kind(at) {
        Kind::Binary(Op::Greater | Op::Less, a, b) => [a, b].into_iter().any(|id| client.about_cursor(At { id: *id, ..at })),
        _ => false,
    }
}

/// Whether the cursor is compared with the oldest event kept, in the node or in a closure inside it.
fn below(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let inside = body.inside(at.id);
    let asks = |id: &Id| ordered(client, At { id: *id, ..at });
    matches!(body.kind(at.id), Kind::Binary(..) | Kind::Method(..) | Kind::And(..) | Kind::Or(..) | Kind::LetCond(..))
        && inside.iter().any(asks)
        && oldest(client, at)
}

/// Whether the value comes from the first event of a buffer.
fn oldest(client: &Client<'_>, at: At) -> bool {
    let first = |at: At| {
        let body = client.scope.body(at.fx);
        body.inside(at.id).into_iter().any(|id| match body.kind(id) {
            Kind::Method(_, name, args) => args.is_empty() && matches!(&**name, "front" | "first" | "first_key_value" | "min" | "peek"),
            Kind::Path(path) => path.last().is_some_and(|last| floor_word(last)),
            Kind::Field(_, name) => floor_word(name),
            Kind::Index(_, index) => matches!(body.kind(*index), Kind::Int(0)),
            _ => false,
        })
    };
    let body = client.scope.body(at.fx);
    first(at)
        || body.inside(at.id).into_iter().filter(|id| matches!(body.kind(*id), Kind::Path(_) | Kind::Field(..))).any(|id| {
            client.scope.origins(At { id, ..at }).into_iter().any(|origin| origin != at && first(origin))
        })
}

fn floor_word(name: &str) -> bool {
    let lower = name.to_lowercase();
    ["oldest", "floor", "front", "first_id", "first_seq", "first_event", "min_id", "earliest", "lowest"].iter().any(|word| lower.contains(word))
}

/// A function that names a gap says so to its caller.
fn gaps(body: &Body) -> bool {
    body.ids().any(|id| match body.kind(id) {
        Kind::Path(path) | Kind::Struct(path, ..) => path.last().is_some_and(|last| {
            let lower = last.to_lowercase();
            ["gap", "evicted", "expired", "toold", "too_old", "lost", "stale"].iter().any(|word| lower.contains(word))
        }),
        _ => false,
    })
}

/// Whether the type, or for a free function its file, takes the oldest events off a buffer.
fn evicts(client: &Client<'_>, fx: Fx) -> bool {
    let here = client.scope.function(fx);
    let path = &client.scope.file(fx).path;
    let mates = client.scope.all().filter(|mate| {
        let mate_owner = &client.scope.function(*mate).owner;
        client.scope.file(*mate).path == *path && (here.owner.is_none() || *mate_owner == here.owner)
    });
    mates.into_iter().any(|mate| {
        let body = client.scope.body(mate);
        body.ids().any(|id| {
            let Kind::Method(_, name, args) = body.kind(id) else { return false };
            match &**name {
                "pop_front" | "pop_first" | "truncate" => true,
                "drain" => matches!(args.first().map(|arg| body.kind(*arg)), Some(Kind::Other(parts)) if !parts.is_empty()),
                "remove" => args.first().is_some_and(|arg| matches!(body.kind(*arg), Kind::Int(0))),
                _ => false,
            }
        })
    })
}

/// The value of a `match` or `if let` and what runs when it is not there.
fn missed(body: &Body, id: Id) -> Option<(Id, Id)> {
    match body.kind(id) {
        Kind::Match(value, arms) => {
            let some = arms.iter().any(|arm| body.mentions(arm.pat, "Some"));
            let arm = arms.iter().find(|arm| body.mentions(arm.pat, "None") && !body.mentions(arm.pat, "Ok"))?;
            some.then_some((*value, arm.body))
        }
        Kind::If(cond, _, Some(other)) => match body.kind(*cond) {
            Kind::LetCond(pat, value) if body.mentions(*pat, "Some") => Some((*value, *other)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether the node gives a whole collection away.
fn whole(body: &Body, id: Id) -> bool {
    body.inside(id).into_iter().any(|id| match body.kind(id) {
        Kind::Method(_, name, args) => {
            args.is_empty() && matches!(&**name, "collect" | "to_vec" | "cloned") || name.contains("replay_all") || name.contains("all_events")
        }
        _ => false,
    })
}

fn looks_up(body: &Body, id: Id) -> bool {
    body.inside(id).into_iter().any(|id| {
        let name = match body.kind(id) {
            Kind::Method(_, name, _) => name,
            _ => return false,
        };
        matches!(&**name, "position" | "rposition" | "find_position" | "binary_search" | "binary_search_by" | "binary_search_by_key")
    })
}

/// A lookup whose result is a list, where the default is an empty one and no floor.
fn yields_list(body: &Body, id: Id) -> bool {
    body.inside(id).into_iter().any(|id| called(body, id).is_some_and(|name| matches!(&**name, "collect" | "to_vec")))
}

fn replaying(name: &str) -> bool {
    ["resume", "replay", "sync", "after", "since", "common"].iter().any(|word| name.contains(word))
}
