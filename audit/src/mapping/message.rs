//! JSON-RPC messages whose parts a log keeps as fields of their own.
//! Knows how parts become a message; what the log leaves out stays out.

use super::MappingError;
use super::field::{Compiler, Row, Test, Value, all};
use super::file::{Headers, Rpc};
use super::slot::{Slots, Tree};
use crate::adapter::rpc::{self, Keep};
use crate::event::{
    Arguments, Body, Lifecycle, LifecycleStep, Message, RpcId, RpcNotification, RpcOutcome, RpcRequest,
    RpcResponse, ToolCall,
};
use std::borrow::Cow;

/// A compiled `[rpc]`.
#[derive(Debug)]
pub(super) struct Parts {
    each: Option<Each>,
    method: Value,
    id: Value,
    untyped: bool,
    tool: Value,
    args: Value,
    params: Value,
    error_code: Value,
    handler: Option<Handler>,
    absent: Vec<String>,
}

/// A list whose elements are messages; their keys have a tree of their own.
#[derive(Debug)]
struct Each {
    list: Value,
    tree: Tree,
}

#[derive(Debug)]
struct Handler {
    when: Vec<Test>,
    failed: Vec<Test>,
    tool_error: Vec<Test>,
    aborted: Vec<Test>,
}

pub(super) fn compile(rpc: &Rpc, c: &mut Compiler<'_>) -> Result<Parts, MappingError> {
    let Some(at) = &rpc.each else { return parts(rpc, c) };
    let list = c.value(Some(&super::file::Field::Key(at.clone())))?;
    let none = Headers::default();
    let mut inner = Compiler { tree: Tree::default(), headers: &none, absent: c.absent.clone() };
    let parts = parts(rpc, &mut inner)?;
    Ok(Parts { each: Some(Each { list, tree: inner.tree }), ..parts })
}

fn parts(rpc: &Rpc, c: &mut Compiler<'_>) -> Result<Parts, MappingError> {
    let handler = match &rpc.handler {
        Some(h) => Some(Handler {
            when: c.tests(&h.when)?,
            failed: c.tests(&h.failed)?,
            tool_error: c.tests(&h.tool_error)?,
            aborted: c.tests(&h.aborted)?,
        }),
        None => None,
    };
    Ok(Parts {
        each: None,
        method: c.value(rpc.method.as_ref())?,
        id: c.value(rpc.id.as_ref())?,
        untyped: rpc.id_untyped,
        tool: c.value(rpc.tool.as_ref())?,
        args: c.value(rpc.args.as_ref())?,
        params: c.value(rpc.params.as_ref())?,
        error_code: c.value(rpc.error_code.as_ref())?,
        handler,
        absent: c.absent.clone(),
    })
}

impl Parts {
    /// The request's messages, and the response's where the record tells of an error.
    pub(super) fn bodies(&self, row: &Row<'_>, absent: &[String], keep: Keep) -> (Body, Body) {
        let mut sent = Vec::new();
        let mut answered = Vec::new();
        self.for_each(row, absent, |row| {
            sent.extend(self.message(row, keep));
            if let Some(code) = self.error_code.text(row, absent).and_then(|c| c.trim().parse::<i64>().ok()) {
                let outcome = RpcOutcome::Error { code, about: crate::event::About::Other };
                answered.push(Message::Response(RpcResponse { id: self.id(row), outcome }));
            }
        });
        (body(sent), body(answered))
    }

    /// What a handler's completion record says: it started and how it ended.
    pub(super) fn handled(
        &self,
        row: &Row<'_>,
        absent: &[String],
        keep: Keep,
    ) -> Option<(Lifecycle, LifecycleStep)> {
        let handler = self.handler.as_ref()?;
        if !all(&handler.when, row, absent) {
            return None;
        }
        let Some(Message::Request(request)) = self.message(row, keep) else { return None };
        let code = self.error_code.text(row, absent).and_then(|c| c.trim().parse::<i64>().ok());
        let holds = |tests: &[Test]| !tests.is_empty() && all(tests, row, absent);
        let (step, outcome) = if holds(&handler.aborted) {
            (LifecycleStep::HandlerAborted, None)
        } else if holds(&handler.tool_error) {
            (LifecycleStep::HandlerFinished, Some(RpcOutcome::ToolError))
        } else if let Some(code) = code {
            (
                LifecycleStep::HandlerFinished,
                Some(RpcOutcome::Error { code, about: crate::event::About::Other }),
            )
        } else if holds(&handler.failed) {
            (
                LifecycleStep::HandlerFinished,
                Some(RpcOutcome::Error { code: 0, about: crate::event::About::Other }),
            )
        } else {
            (LifecycleStep::HandlerFinished, Some(RpcOutcome::Result))
        };
        let told = Lifecycle { rpc_id: request.id, call: request.call, outcome, ..Lifecycle::bare(step) };
        Some((told, LifecycleStep::HandlerStarted))
    }

    fn for_each(&self, row: &Row<'_>, absent: &[String], mut each: impl FnMut(&Row<'_>)) {
        let Some(Each { list, tree }) = &self.each else { return each(row) };
        let Some(json) = list.json(row, absent) else { return };
        let mut elements = Vec::new();
        if super::json::elements(&json, |element| elements.push(element)).is_err() {
            return;
        }
        for element in elements {
            let mut slots = Slots::new();
            if tree.collect(element.get().as_bytes(), &mut slots).is_ok() {
                each(&Row { slots, texts: Vec::new(), groups: None });
            }
        }
    }

    fn id(&self, row: &Row<'_>) -> Option<RpcId> {
        let json = self.id.json(row, &self.absent)?;
        Some(id_of(&json, self.untyped || !self.is_number(row, &json)))
    }

    /// Whether the record writes the id as a number; a text of digits may have been either.
    fn is_number(&self, row: &Row<'_>, text: &str) -> bool {
        text.parse::<f64>().is_ok() && self.id.is_bare(row)
    }

    fn message(&self, row: &Row<'_>, keep: Keep) -> Option<Message> {
        let method = self.method.text(row, &self.absent)?;
        if method.starts_with("notifications/") {
            return Some(Message::Notification(RpcNotification { method: method.into(), cancels: None }));
        }
        // Envoy's filter names a client's response so.
        if method.starts_with("__") {
            return None;
        }
        let call = (method == "tools/call").then(|| self.call(row, keep)).flatten();
        let mut request =
            RpcRequest { id: self.id(row), method: method.clone().into(), call, ..RpcRequest::default() };
        if let Some(params) = self.params.json(row, &self.absent) {
            let told =
                format!("{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"{method}\",\"params\":{params}}}");
            if let Ok(Message::Request(full)) = rpc::read_message(told.as_bytes(), keep) {
                request = RpcRequest { id: request.id, ..*full };
            }
        }
        Some(Message::Request(Box::new(request)))
    }

    fn call(&self, row: &Row<'_>, keep: Keep) -> Option<ToolCall> {
        let tool = self.tool.text(row, &self.absent)?;
        Some(ToolCall {
            tool: tool.into(),
            arguments: arguments(self.args.json(row, &self.absent), keep),
            round: None,
            task: false,
        })
    }
}

/// Arguments as a log keeps them: JSON, or cut off.
pub(super) fn arguments(json: Option<Cow<'_, str>>, keep: Keep) -> Arguments {
    match json {
        Some(json) => rpc::arguments(Some(&json), keep),
        None => Arguments::Absent,
    }
}

/// An id from its text. `untyped`: it may have been a number or a string.
pub(super) fn id_of(text: &str, untyped: bool) -> RpcId {
    // Protobuf keeps every number as a double: `2.0` is 2.
    let text = text.strip_suffix(".0").unwrap_or(text);
    if untyped { RpcId::Untyped(text.into()) } else { RpcId::Number(text.into()) }
}

fn body(messages: Vec<Message>) -> Body {
    if messages.is_empty() { Body::Unknown } else { Body::Messages(messages) }
}
