//! Requests whose 404 says nothing of a session that could be kept: a handshake's, a DELETE's, those that a relay hands on.
//! Knows what a function does as a whole; of one response only where it comes from.

use super::{is_response, returns_response};
use crate::client::{Client, Deeds, Header};
use crate::facts::ir::{Id, Kind};
use crate::scope::{At, Fx};

/// Whether nothing that the function is refused by can be a session's end that it should tell apart.
pub(super) fn spared(client: &Client<'_>, fx: Fx) -> bool {
    deletes_only(client, fx) || opens(client, fx) || opens_for(client, fx) || relays(client, fx)
}

/// A function that only handshakes call: what it sends goes to the session that was made a moment before.
fn opens_for(client: &Client<'_>, fx: Fx) -> bool {
    let begins = |caller: Fx| {
        let name = client.scope.function(caller).name.to_lowercase();
        let named = ["init", "handshake", "connect"].iter().any(|word| name.contains(word));
        named && !client.all(caller).has(Deeds::CALLS) && client.greets(caller)
    };
    let live = client.scope.callers(fx).iter().map(|caller| caller.at.fx).filter(|up| !client.scope.function(*up).test);
    let mut callers = live.peekable();
    callers.peek().is_some() && callers.all(begins)
}

/// A function that makes the session and at most says so with it: what it is refused by is no session's 404.
fn opens(client: &Client<'_>, fx: Fx) -> bool {
    let own = client.own(fx);
    let body = client.scope.body(fx);
    let says_so = || body.ids().any(|id| matches!(body.kind(id), Kind::Str(text) if &**text == "notifications/initialized"));
    own.has(Deeds::LEARNS) && client.greets(fx) && !client.all(fx).has(Deeds::CALLS) && (!own.has(Deeds::SESSION) || says_so())
}

/// A DELETE ends the session whatever its answer (contract 3.1: `Ended`).
pub(super) fn deletes_only(client: &Client<'_>, fx: Fx) -> bool {
    let own = client.own(fx);
    own.has(Deeds::DELETE) && !own.has(Deeds::POST) && !own.has(Deeds::GET)
}

/// Where the session is first attached in a function that makes it before, or is asked for where a helper attaches it: what
/// comes earlier has none.
pub(super) fn handshake(client: &Client<'_>, fx: Fx) -> Option<Id> {
    let body = client.scope.body(fx);
    let own = client.own(fx);
    if !own.has(Deeds::INITIALISES) {
        return None;
    }
    let attached = client.headers(fx).iter().filter(|used| used.header == Header::Session && used.value.is_some());
    let first = attached.map(|used| used.at.id).min_by_key(|id| body.range(*id));
    match first {
        Some(first) => own.has(Deeds::LEARNS).then_some(first),
        None => body.ids().find(|id| matches!(body.kind(*id), Kind::Str(text) if &**text == "initialize")),
    }
}

/// Whether a relay hands the whole response to a function that makes its own caller's of it: `into_answer(response)`.
fn relays(client: &Client<'_>, fx: Fx) -> bool {
    let body = client.scope.body(fx);
    let whole = |id: Id| body.local(id).is_some() && is_response(client, At { fx, id });
    returns_response(client, fx)
        && body.ids().any(|id| match body.kind(id) {
            Kind::Call(_, args) => {
                let makes = |callee: &Fx| returns_response(client, *callee);
                args.iter().any(|arg| whole(*arg)) && client.scope.callees(At { fx, id }).iter().any(makes)
            }
            _ => false,
        })
}
