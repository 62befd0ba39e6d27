//! The end of a stream's task, or of a resumable stream, that nobody acts on.
//! Knows no loop's end.

use super::{Report, in_log, state};
use crate::client::Client;
use crate::facts::ir::{Body, Id, Kind, Name, Sort};
use crate::flow::reads_stream;
use crate::scope::{At, Fx};

/// A variant built from `join_next()`, whose arm only logs.
pub(super) fn joined(client: &Client<'_>, fx: Fx, report: &mut Report) {
    let body = client.scope.body(fx);
    let mut built: Vec<(Name, Id)> = Vec::new();
    for id in body.of(Sort::Select) {
        let Kind::Select(arms) = body.kind(*id) else { continue };
        for arm in arms {
            let joins = arm.future.is_some_and(|future| {
                body.inside(future).iter().any(|id| matches!(body.kind(*id), Kind::Method(_, name, _) if &**name == "join_next"))
            });
            if !joins {
                continue;
            }
            for inner in body.inside(arm.body) {
                if let Kind::Path(path) | Kind::Struct(path, ..) = body.kind(inner)
                    && let [.., ty, variant] = path.as_slice()
                    && ty.starts_with(char::is_uppercase)
                    && variant.starts_with(char::is_uppercase)
                {
                    built.push((variant.clone(), inner));
                }
            }
        }
    }
    if built.is_empty() {
        return;
    }
    for id in body.of(Sort::Match) {
        let Kind::Match(_, arms) = body.kind(*id) else { continue };
        for arm in arms {
            let variants = body.variants(arm.pat);
            let Some(name) = variants.first().and_then(|path| path.last()) else { continue };
            let Some((_, source)) = built.iter().find(|(variant, _)| variant == name) else { continue };
            if inert(body, arm.body) {
                let story = vec![(At { fx, id: *source }, "this is the end of a stream's task".to_owned())];
                let at = At { fx, id: arm.body };
                state(client, at, "a response stream's end is only logged; its request waits for ever", "nothing fails the request", story, report);
            }
        }
    }
}

/// Nothing but logging and tests.
fn inert(body: &Body, id: Id) -> bool {
    body.inside(id).into_iter().all(|id| match body.kind(id) {
        Kind::Call(..) | Kind::Assign(..) | Kind::Update(..) | Kind::Return(_) | Kind::Break(..) | Kind::Await(_) => in_log(body, id),
        Kind::Method(_, name, _) => name.starts_with("is_") || in_log(body, id),
        _ => true,
    })
}

/// `poll_next` of a stream that reconnects after errors and holds a cursor, but gives up at a clean end.
pub(super) fn polled(client: &Client<'_>, fx: Fx, report: &mut Report) {
    let function = client.scope.function(fx);
    let keeps_cursor = |owner: &Name| {
        client.scope.defs(owner).flat_map(|def| &def.fields).any(|field| field.name.contains("event_id") || field.name.contains("cursor"))
    };
    if &*function.name != "poll_next" || !function.owner.as_ref().is_some_and(keeps_cursor) {
        return;
    }
    let body = &function.body;
    for id in body.of(Sort::Match) {
        let Kind::Match(value, arms) = body.kind(*id) else { continue };
        if !reads_stream(client.scope, At { fx, id: *value }) {
            continue;
        }
        let end = arms.iter().find(|arm| matches!(body.variants(arm.pat).as_slice(), [path] if path.last().is_some_and(|last| &**last == "None")));
        let failure = arms.iter().find(|arm| body.mentions(arm.pat, "Err"));
        let (Some(end), Some(failure)) = (end, failure) else { continue };
        if reconnects(body, failure.body) && !reconnects(body, end.body) && gives_up(body, end.body) {
            let at = At { fx, id: end.body };
            let story = vec![(At { fx, id: failure.body }, "an error is resumed".to_owned())];
            state(client, at, "a clean end ends the stream for good, though an error would be resumed", "the end is passed on", story, report);
        }
    }
}

fn reconnects(body: &Body, id: Id) -> bool {
    body.inside(id).into_iter().any(|id| {
        let name = match body.kind(id) {
            Kind::Method(_, name, _) => Some(name.clone()),
            Kind::Path(path) | Kind::Struct(path, ..) => path.last().cloned(),
            _ => None,
        };
        name.is_some_and(|name| {
            let name = name.to_lowercase();
            name.contains("retry_connection") || name.contains("reconnect") || name.contains("retrying") || name.contains("waitingnextretry") || name.contains("resume")
        })
    })
}

/// `Poll::Ready(None)` without a condition.
fn gives_up(body: &Body, id: Id) -> bool {
    let inside = body.inside(id);
    let ready = inside.iter().any(|id| body.call_of(*id, "Ready").is_some_and(|args| args.first().is_some_and(|arg| body.is_none(*arg))));
    ready && !inside.iter().any(|id| matches!(body.kind(*id), Kind::If(..) | Kind::Match(..)))
}
