//! Calls that send a tool call, or a request that may be one.
//! Knows names, types and the deeds of callees; nothing of retries.

use crate::client::{Client, Deeds};
use crate::facts::TypeText;
use crate::facts::ir::{Id, Kind, Name};
use crate::finding::Certainty;
use crate::scope::{At, Binding};

/// How sure it is that the call sends a `tools/call`.
pub(super) fn sends(client: &Client<'_>, at: At) -> Option<Certainty> {
    if !matches!(client.scope.kind(at), Kind::Method(..) | Kind::Call(..)) {
        return None;
    }
    let deeds = client.deeds_of(at);
    if deeds.has(Deeds::CALLS) || marked(client, at) {
        return Some(Certainty::Likely);
    }
    method_blind(client, at).then_some(Certainty::Possible)
}

/// A function that `#[unbroken::check(call = …)]` names.
fn marked(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let name = crate::client::called(body, at.id);
    name.is_some_and(|name| client.scope.function(at.fx).marks.call.contains(name))
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
    let asks = name.contains("request") || name.starts_with("send") || &**name == "call" || name.starts_with("post_") || name.starts_with("forward");
    let method = |id: &Id| body.local(body.peel(*id)).is_some_and(|name| &**name == "method" || name.ends_with("_method"));
    let blind = args.iter().any(|arg| method(arg) || message(client, At { id: *arg, ..at }));
    asks && blind && (client.in_scope(at.fx) || client.deeds_of(at).has(Deeds::SESSION))
}

/// A JSON-RPC request or message that the function was handed.
pub(super) fn message(client: &Client<'_>, at: At) -> bool {
    client.scope.origins(at).into_iter().any(|origin| {
        let body = client.scope.body(origin.fx);
        match body.kind(origin.id) {
            Kind::Path(path) if path.len() == 1 => match client.scope.binding(origin.fx, &path[0], origin.id) {
                Some(Binding::Param(index)) => rpc(&client.scope.function(origin.fx).params[index].ty),
                _ => false,
            },
            Kind::Call(callee, _) => matches!(body.kind(*callee), Kind::Path(path) if path.iter().any(rpc_word)),
            _ => false,
        }
    })
}

fn rpc(ty: &TypeText) -> bool {
    ty.0.iter().any(rpc_word)
}

fn rpc_word(name: &Name) -> bool {
    let lower = name.to_lowercase();
    lower.contains("jsonrpc") && !lower.contains("response") && !lower.contains("error") && !lower.contains("notification")
        || matches!(&**name, "ClientRequest" | "ClientMessage" | "McpRequest" | "RpcRequest" | "ClientMessages")
}
