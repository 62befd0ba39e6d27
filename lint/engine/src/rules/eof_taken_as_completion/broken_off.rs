//! A body that is read as a whole, where a read that breaks off leaves an empty text: `response.text().await.unwrap_or_default()`.
//! Knows bodies that are read for messages; a text that only words an error is none.

use super::{Report, fails, state};
use crate::client::Client;
use crate::facts::ir::{Body, Id, Kind, Sort};
use crate::flow::cause::{Cause, cause};
use crate::flow::frame;
use crate::scope::{At, Fx};

pub(super) fn check(client: &Client<'_>, fx: Fx, report: &mut Report) {
    let body = client.scope.body(fx);
    for id in body.of(Sort::Let).iter().copied() {
        let Kind::Let(pat, Some(init), None) = body.kind(id) else { continue };
        let Some(read) = emptied(body, *init) else { continue };
        let [name] = body.bound(*pat)[..] else { continue };
        let at = At { fx, id: read };
        let used = after(body, id);
        let parsed = used.iter().any(|id| parses(body, *id, name));
        let told = used.iter().any(|id| fails(body, *id) || matches!(body.kind(*id), Kind::Try(_)));
        if parsed && !told && cause(client.scope, at) == Cause::Unknown {
            let message = "a body that breaks off is read as an empty one, and nothing fails the request";
            state(client, at, message, "a failed read becomes no message at all", Vec::new(), report);
        }
    }
}

/// The read inside `response.text().await.unwrap_or_default()`.
fn emptied(body: &Body, id: Id) -> Option<Id> {
    let Kind::Method(receiver, name, _) = body.kind(id) else { return None };
    if !matches!(&**name, "unwrap_or_default" | "unwrap_or" | "unwrap_or_else") {
        return None;
    }
    let read = body.peel(*receiver);
    matches!(body.kind(read), Kind::Method(_, name, args) if args.is_empty() && matches!(&**name, "text" | "bytes")).then_some(read)
}

/// What runs after a statement, up to the end of its frame.
fn after(body: &Body, id: Id) -> Vec<Id> {
    let end = frame(body, id);
    let mut out = Vec::new();
    for (parent, child) in body.ancestors(id) {
        if let Kind::Block(stmts, _) = body.kind(parent) {
            let later = stmts.iter().skip_while(|stmt| **stmt != child).skip(1);
            out.extend(later.flat_map(|stmt| body.inside(*stmt)));
        }
        if parent == end {
            break;
        }
    }
    out
}

/// Whether the node reads the text for messages.
fn parses(body: &Body, id: Id, name: &str) -> bool {
    let text = |id: &Id| body.local(body.peel(*id)).is_some_and(|local| &**local == name);
    match body.kind(id) {
        Kind::Method(receiver, called, args) => {
            let splits = matches!(&**called, "lines" | "split" | "split_terminator");
            let fed = matches!(&**called, "feed" | "push" | "push_str") || called.contains("parse");
            splits && text(receiver) || fed && args.iter().any(text)
        }
        Kind::Call(callee, args) => {
            let parse = body.last_segment(*callee).is_some_and(|called| {
                called.starts_with("from_str") || called.starts_with("from_slice") || called.contains("parse")
            });
            parse && args.iter().any(text)
        }
        _ => false,
    }
}
