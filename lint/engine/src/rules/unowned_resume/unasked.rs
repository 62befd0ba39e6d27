//! Resumes that ask for no session: events found by their id alone, sessions that nothing looks up, cursors that nothing reads.
//! Knows the uses of a value within its function; a check that stands elsewhere is followed by the answer that it gives.

use crate::client::{Client, Header, called, session_word};
use crate::facts::ir::{Body, Head, Id, Kind, Name, Op, Sort};
use crate::rules::is_log;
use crate::scope::{At, Binding, Fx};

/// `store.events_after(cursor)` where a session is at hand and goes in neither as an argument nor as the receiver.
pub(in crate::rules) fn by_event_alone(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let to = |id: Id| At { id, ..at };
    let Kind::Method(receiver, name, args) = body.kind(at.id) else { return false };
    if !replays(name) || !client.knows_session(at.fx) {
        return false;
    }
    let cursor = args.iter().any(|arg| client.asked_cursor(to(*arg)));
    let session = |id: Id| client.names_session(to(id)) || of_session(client, to(id));
    cursor && !args.iter().any(|arg| session(*arg)) && !session(*receiver) && !compares_sessions(client, at)
}

/// Names of calls that give the events after a cursor.
fn replays(name: &str) -> bool {
    let lower = name.to_lowercase();
    ["replay", "events_after", "events_since", "messages_after", "get_after", "read_after", "resume", "after_event", "since_event"]
        .iter()
        .any(|word| lower.contains(word))
}

/// A receiver that is one session's: its type says so, or it was found under a session's id.
fn of_session(client: &Client<'_>, at: At) -> bool {
    let own = client.scope.type_of(at).is_some_and(|ty| session_word(&ty));
    own || client.scope.origins(at).into_iter().any(|origin| {
        let body = client.scope.body(origin.fx);
        body.inside(origin.id).into_iter().any(|id| match body.kind(id) {
            Kind::Method(_, _, args) | Kind::Call(_, args) => {
                args.iter().any(|arg| client.names_session(At { id: *arg, ..origin }))
            }
            Kind::Path(path) => path.len() == 1 && &*path[0] != "self" && session_word(&path[0]),
            _ => false,
        })
    })
}

/// Whether the function compares one session with another.
fn compares_sessions(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let names = |id: Id| {
        let id = body.peel(id);
        match body.kind(id) {
            Kind::Field(_, name) | Kind::Method(_, name, _) => session_word(name),
            Kind::Path(path) => path.last().is_some_and(|last| session_word(last)),
            _ => false,
        }
    };
    body.ids().any(|id| match body.kind(id) {
        Kind::Binary(Op::Eq | Op::Ne, a, b) => names(*a) || names(*b),
        _ => false,
    })
}

/// The session header of a request whose stream is opened without any look at the answer of a lookup.
pub(super) fn unchecked(client: &Client<'_>, at: At) -> bool {
    let read = client.headers(at.fx).iter().any(|used| used.at == at && used.header == Header::Session && used.value.is_none());
    if !read || !client.answers_requests(at.fx) || !opens_stream(client, at) || takes_body(client, at) {
        return false;
    }
    let body = client.scope.body(at.fx);
    let uses = body.of(Sort::Path).iter().copied().filter(|id| {
        body.local(*id).is_some() && client.scope.origins(At { id: *id, ..at }).contains(&at)
    });
    let mut registered = false;
    for id in uses {
        match fate(client, At { id, ..at }) {
            Fate::Tested => return false,
            Fate::Passed => registered = true,
            Fate::Told => {}
        }
    }
    registered
}

/// Whether the function looks at the answer of a lookup by the session that a request names.
pub(super) fn asks_session(client: &Client<'_>, fx: Fx) -> bool {
    let body = client.scope.body(fx);
    let names = |id: Id| matches!(body.kind(id), Kind::Path(path) if path.len() == 1) && client.names_session(At { fx, id });
    body.ids().any(|id| names(id) && matches!(fate(client, At { fx, id }), Fate::Tested))
}

enum Fate {
    /// A condition, a `?` or a match looks at what became of it.
    Tested,
    /// It is handed to a call whose result nobody looks at.
    Passed,
    /// It is only logged, converted or bound.
    Told,
}

/// What becomes of a use of the session id.
fn fate(client: &Client<'_>, at: At) -> Fate {
    let body = client.scope.body(at.fx);
    let mut child = at.id;
    let mut passed = false;
    for (parent, _) in body.ancestors(at.id) {
        match body.kind(parent) {
            Kind::Macro(name, _) if is_log(name) => return Fate::Told,
            Kind::Method(_, _, args) | Kind::Call(_, args) if args.contains(&child) => passed = true,
            Kind::Try(_) | Kind::LetCond(..) if passed => return Fate::Tested,
            Kind::If(cond, ..) if *cond == child => return Fate::Tested,
            Kind::Loop(Head::While(cond), ..) if *cond == child => return Fate::Tested,
            Kind::Match(value, _) if *value == child && passed => return Fate::Tested,
            Kind::Let(pat, Some(init), other) if *init == child => {
                let later = passed && body.bound(*pat).into_iter().any(|name| tested(body, parent, name));
                return if passed && (other.is_some() || later) {
                    Fate::Tested
                } else if passed {
                    Fate::Passed
                } else {
                    Fate::Told
                };
            }
            Kind::Method(_, name, _) if passed && (name.starts_with("ok_or") || name.starts_with("map_err") || name.starts_with("is_") || name.starts_with("unwrap_or")) => return Fate::Tested,
            Kind::Closure(..) => return Fate::Told,
            Kind::Block(..) => break,
            _ => {}
        }
        child = parent;
    }
    if passed { Fate::Passed } else { Fate::Told }
}

/// Whether a local stands in a condition after it was bound.
fn tested(body: &Body, after: Id, name: &Name) -> bool {
    let uses = |id: Id| body.inside(id).into_iter().any(|id| body.local(id) == Some(name));
    body.ids().filter(|id| *id > after).any(|id| match body.kind(id) {
        Kind::If(cond, ..) => uses(*cond),
        Kind::Match(value, _) | Kind::Try(value) => uses(*value),
        Kind::Let(_, Some(init), Some(_)) => uses(*init),
        _ => false,
    })
}

/// Whether the function answers with an event stream.
fn opens_stream(client: &Client<'_>, at: At) -> bool {
    let function = client.scope.function(at.fx);
    let body = &function.body;
    function.ret.has("Sse")
        || body.ids().any(|id| match body.kind(id) {
            Kind::Call(callee, _) => match body.kind(*callee) {
                Kind::Path(path) => path.iter().any(|part| matches!(&**part, "Sse") || part.starts_with("sse_")),
                _ => false,
            },
            Kind::Method(_, name, _) => name.starts_with("sse") && name.len() > 3,
            _ => false,
        })
}

/// A POST: the message it brings decides, and `initialize` has no session yet.
fn takes_body(client: &Client<'_>, at: At) -> bool {
    let function = client.scope.function(at.fx);
    let body = |name: &str| {
        function.params.iter().any(|param| param.ty.has(name) || param.names.iter().any(|own| &**own == "body" || &**own == "payload" || &**own == "message"))
    };
    ["Json", "Bytes", "Value", "Body"].iter().any(|name| body(name))
}

/// A place that stores or logs the cursor in a function whose every use of it does no more.
pub(super) fn inert(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let keeps = matches!(body.kind(at.id), Kind::Assign(_, right) if client.about_cursor(At { id: *right, ..at }));
    let reads = client.headers(at.fx).iter().any(|used| used.at == at && used.header == Header::Cursor && used.value.is_none());
    if !(keeps || reads) || !(opens_stream(client, at) || client.scope.function(at.fx).ret.has("Stream")) {
        return false;
    }
    let mut seen = false;
    for id in body.ids() {
        if !matches!(body.kind(id), Kind::Path(path) if path.len() == 1) || !client.asked_cursor(At { id, ..at }) {
            continue;
        }
        if used(client, At { id, ..at }) {
            return false;
        }
        seen = true;
    }
    seen
}

/// Whether a use of the cursor does more than bind, store, ask for presence or log.
fn used(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let mut child = at.id;
    for (parent, _) in body.ancestors(at.id) {
        match body.kind(parent) {
            Kind::Macro(name, _) => return !is_log(name),
            Kind::Assign(_, right) if *right == child => return false,
            Kind::LetCond(..) | Kind::Let(..) => return false,
            Kind::Match(value, _) if *value == child => return false,
            Kind::If(cond, ..) if *cond == child => return false,
            Kind::Method(receiver, name, _) if *receiver == child => {
                if matches!(&**name, "is_some" | "is_none") {
                    return false;
                }
            }
            Kind::Call(..) if called(body, parent).is_some_and(|name| &**name == "Some") => {}
            Kind::Ref(_) | Kind::Deref(_) | Kind::Await(_) | Kind::Try(_) | Kind::Field(..) => {}
            _ => return true,
        }
        child = parent;
    }
    matches!(client.scope.binding(at.fx, body.local(at.id).map_or("", |name| name), at.id), Some(Binding::Closure { .. }))
}
