//! Calls that send a tool call, or a request that may be one.
//! Knows names, types and the deeds of callees; nothing of retries.

use crate::client::{Client, Deeds};
use crate::facts::TypeText;
use crate::facts::ir::{Id, Kind, Name, Sort};
use crate::finding::Certainty;
use crate::scope::{At, Binding, Fx};
use std::rc::Rc;

/// How sure it is that the call sends a `tools/call`.
pub(super) fn sends(client: &Client<'_>, at: At) -> Option<Certainty> {
    if !matches!(client.scope.kind(at), Kind::Method(..) | Kind::Call(..)) {
        return None;
    }
    let all = sending(client, at.fx);
    all.binary_search_by_key(&at.id, |(id, _)| *id).ok().map(|found| all[found].1)
}

/// The calls of a function that send a `tools/call`, in order of their ids, and how sure that is.
pub(super) fn sending(client: &Client<'_>, fx: Fx) -> Rc<[(Id, Certainty)]> {
    client.sends(fx, || {
        let mut out = Vec::new();
        for id in client.scope.body(fx).of(Sort::Call) {
            out.extend(sends_itself(client, At { fx, id: *id }).map(|certainty| (*id, certainty)));
        }
        out.into()
    })
}

fn sends_itself(client: &Client<'_>, at: At) -> Option<Certainty> {
    if handshake(client, at) {
        return None;
    }
    let deeds = client.deeds_of(at);
    if deeds.has(Deeds::CALLS) || marked(client, at) || named(client, at) {
        return Some(Certainty::Likely);
    }
    method_blind(client, at).then_some(Certainty::Possible)
}

/// A callee that initializes: a handshake may be repeated, whatever the functions that it sends by can send besides.
fn handshake(client: &Client<'_>, at: At) -> bool {
    let callees = client.scope.callees(at);
    let starts = |fx: &Fx| client.own(*fx).has(Deeds::INITIALISES) && !client.own(*fx).has(Deeds::CALLS);
    !callees.is_empty() && callees.iter().all(starts)
}

/// A request that is sent here with `tools/call` in it: `self.post("tools/call", params)`, `http.post(url).json(&body).send()`.
fn named(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let to = |id: Id| At { id, ..at };
    let says = |at: At| client.scope.text(at).is_some_and(|text| &**text == "tools/call");
    match body.kind(at.id) {
        Kind::Method(receiver, name, args) if &**name == "send" && args.is_empty() => {
            request_says(client, to(*receiver))
        }
        Kind::Method(receiver, name, args) if &**name == "execute" && args.len() == 1 => {
            is_http(client, to(*receiver)) && request_says(client, to(args[0]))
        }
        Kind::Method(_, name, args) => {
            let asks = asks(name);
            let handed = |arg: &Id| asks && handed_in(client, to(*arg), 2);
            (asks || sends_on(client, at)) && args.iter().any(|arg| says(to(*arg)) || handed(arg))
        }
        Kind::Call(_, args) => sends_on(client, at) && args.iter().any(|arg| says(to(*arg))),
        _ => false,
    }
}

/// A request that the function is handed, and that one of its callers makes of `tools/call`.
fn handed_in(client: &Client<'_>, at: At, depth: u8) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    client.scope.origins(at).into_iter().any(|origin| {
        let body = client.scope.body(origin.fx);
        let Some(name) = body.local(origin.id).filter(|name| request_word(name)) else { return false };
        let Some(Binding::Param(index)) = client.scope.binding(origin.fx, name, origin.id) else { return false };
        let args = client.scope.arguments(origin.fx, index);
        let live = args.into_iter().filter(|arg| !client.scope.function(arg.fx).test);
        live.into_iter().any(|arg| request_says(client, arg) || handed_in(client, arg, depth))
    })
}

/// A name of what is sent.
pub(super) fn request_word(name: &str) -> bool {
    let lower = name.to_lowercase();
    ["request", "req", "params", "message", "msg", "payload", "call", "body"].iter().any(|word| lower.contains(word))
}

/// Whether the callee sends what it is given.
fn sends_on(client: &Client<'_>, at: At) -> bool {
    client.scope.callees(at).iter().any(|fx| client.all(*fx).has(Deeds::SENDS))
}

fn is_http(client: &Client<'_>, at: At) -> bool {
    client.scope.type_of(at).is_some_and(|ty| &*ty == "Client")
}

/// Whether a request that is built up here, or in the locals that go into it, has the method `tools/call`.
fn request_says(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let says = |id: Id| client.scope.text(At { id, ..at }).is_some_and(|text| &**text == "tools/call");
    let mut open = vec![(at.id, 3_u8)];
    while let Some((id, depth)) = open.pop() {
        if body.any_of(Sort::Text, id, says) || body.any_of(Sort::Path, id, says) {
            return true;
        }
        if depth == 0 {
            continue;
        }
        body.any_of(Sort::Path, id, |id| {
            let bound = body.local(id).and_then(|name| client.scope.binding(at.fx, name, id));
            if let Some(Binding::Let { init: Some(init), .. }) = bound {
                open.push((init, depth - 1));
            }
            false
        });
    }
    false
}

/// A function that `#[unbroken::check(call = …)]` names.
fn marked(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let calls = &client.scope.function(at.fx).marks.call;
    !calls.is_empty() && crate::client::called(body, at.id).is_some_and(|name| calls.contains(name))
        || client.scope.callees(at).iter().any(|fx| {
            let function = client.scope.function(*fx);
            function.marks.call.contains(&function.name)
        })
}

/// A request whose method, or the whole of it, is a parameter of the function.
pub(super) fn method_blind(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let (name, args) = match body.kind(at.id) {
        Kind::Method(_, name, args) => (name, args),
        _ => return false,
    };
    let method = |id: &Id| {
        body.local(body.peel(*id)).is_some_and(|name| &**name == "method" || name.ends_with("_method"))
    };
    let blind = || args.iter().any(|arg| method(arg) || message(client, At { id: *arg, ..at }));
    asks(name) && blind() && (client.in_scope(at.fx) || client.deeds_of(at).has(Deeds::SESSION))
}

/// Names of methods that send what they are given.
fn asks(name: &str) -> bool {
    name.contains("request")
        || name.starts_with("send")
        || name == "call"
        || name.starts_with("post_")
        || name.starts_with("forward")
}

/// A JSON-RPC request or message that the function was handed.
pub(super) fn message(client: &Client<'_>, at: At) -> bool {
    client.scope.origins(at).into_iter().any(|origin| {
        let body = client.scope.body(origin.fx);
        match body.kind(origin.id) {
            Kind::Path(path) if path.len() == 1 => match client.scope.binding(origin.fx, &path[0], origin.id)
            {
                Some(Binding::Param(index)) => rpc(&client.scope.function(origin.fx).params[index].ty),
                _ => false,
            },
            Kind::Call(callee, _) => {
                matches!(body.kind(*callee), Kind::Path(path) if path.iter().any(rpc_word))
            }
            _ => false,
        }
    })
}

fn rpc(ty: &TypeText) -> bool {
    ty.0.iter().any(rpc_word)
}

fn rpc_word(name: &Name) -> bool {
    let lower = name.to_lowercase();
    lower.contains("jsonrpc")
        && !lower.contains("response")
        && !lower.contains("error")
        && !lower.contains("notification")
        || matches!(
            &**name,
            "ClientRequest" | "ClientMessage" | "McpRequest" | "RpcRequest" | "ClientMessages"
        )
}
