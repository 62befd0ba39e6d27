//! Which code ends, replaces or switches a session on purpose: by its name, its trait, a DELETE, or a revision without sessions.
//! Knows intent as far as names tell it; judges no condition.

use super::act::Act;
use crate::client::{Client, Deeds};
use crate::facts::ir::{Id, Kind, Name, Sort};
use crate::flow::{Known, known, leaves};
use crate::scope::At;
use crate::spelling::holds;

/// Why a place is not judged by the conditions around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rules) enum Purpose {
    /// The session is ended, replaced or switched on purpose: a right use of whatever is called there.
    Ends,
    /// The place says nothing: a guard that is dropped, the first making of a session, a revision without sessions.
    Nothing,
}

/// What a place is for, where its name or surroundings tell.
pub(in crate::rules) fn purpose(client: &Client<'_>, act: Act, at: At) -> Option<Purpose> {
    let function = client.scope.function(at.fx);
    if function.of_trait.as_deref() == Some("Drop") {
        return Some(Purpose::Nothing);
    }
    if client.own(at.fx).has(Deeds::DELETE) || purposeful(&function.name) {
        return Some(Purpose::Ends);
    }
    let first = act == Act::Rebuilt && starts(&function.name);
    (first || sessionless(client, at) || outlived(client, at)).then_some(Purpose::Nothing)
}

/// A cache's own limit of age: `entry.last_used.elapsed() < ttl`.
fn outlived(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    if body.of(Sort::If).is_empty() {
        return false;
    }
    let aged = |id: Id| match body.kind(id) {
        Kind::Method(receiver, name, _) if &**name == "elapsed" => match body.kind(body.peel(*receiver)) {
            Kind::Field(_, name) => ["used", "created", "opened", "inserted"].iter().any(|word| name.contains(word)),
            _ => false,
        },
        _ => false,
    };
    let asks = |id: Id| body.any_of(Sort::Call, id, aged);
    let earlier = |id: Id| {
        body.ancestors(id).any(|(parent, child)| match body.kind(parent) {
            Kind::Block(stmts, _) => {
                stmts.iter().take_while(|stmt| **stmt != child).any(|stmt| matches!(body.kind(*stmt), Kind::If(cond, then, None) if leaves(body, *then) && asks(*cond)))
            }
            Kind::If(cond, ..) => *cond != child && asks(*cond),
            _ => false,
        })
    };
    earlier(at.id)
}

/// A revision without sessions: there an absent id is right.
fn sessionless(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let names = |id: Id| match body.kind(id) {
        Kind::Path(path) => path.last().is_some_and(sessionless_word),
        Kind::Method(_, name, _) | Kind::Field(_, name) => sessionless_word(name),
        _ => false,
    };
    known(body, at.id).into_iter().any(|fact| {
        let (Known::True(id) | Known::False(id) | Known::Is(_, id) | Known::Not(_, id) | Known::Failed(id)) = fact;
        [Sort::Path, Sort::Call, Sort::Field].into_iter().any(|sort| body.any_of(sort, id, names))
    })
}

/// A name of a revision without sessions.
fn sessionless_word(name: &Name) -> bool {
    holds(name, &["stateless", "sessionless", "modern", "draft"])
}

/// A name that orders an end or a change: `close`, `stop_server`, not `on_close`, `disconnected`.
fn purposeful(name: &str) -> bool {
    let name = name.to_lowercase();
    let mut words = name.split('_').peekable();
    if matches!(words.peek(), Some(&"on" | &"handle" | &"maybe")) {
        return false;
    }
    words.any(|word| {
        matches!(
            word,
            "close" | "shutdown" | "shut" | "disconnect" | "terminate" | "delete" | "drop" | "cancel" | "stop" | "logout" | "teardown"
                | "cleanup" | "remove" | "unregister" | "quit" | "exit" | "kill" | "reload" | "configure" | "reconcile" | "apply" | "set"
                | "disable" | "uninstall" | "sync" | "refresh" | "abort" | "clear" | "new"
        )
    })
}

/// A name of the first making of a session, where probing and falling back are right.
fn starts(name: &str) -> bool {
    name.to_lowercase().split('_').any(|word| matches!(word, "init" | "initialize" | "connect" | "handshake" | "negotiate" | "discover" | "probe" | "setup" | "open"))
}
