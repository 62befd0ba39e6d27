//! What a line of a program's own log says: a step of a session or handler, a message, a remark on an exchange.
//! Knows rules of a mapping; the first that fits decides, a line that fits none says nothing.

use super::MappingError;
use super::ending;
use super::field::{Compiler, Row, Test, Value, all, expression};
use super::file::LineRule;
use super::message::{arguments, id_of};
use crate::adapter::access;
use crate::adapter::rpc::{self, Keep};
use crate::event::{
    About, Cause, Delivered, End, Identity, Known, Lifecycle, LifecycleStep, LoggedMessage, Message, Phase,
    Remark, RpcId, RpcOutcome, RpcRequest, Text, ToolCall, Unreadable, Vantage, What,
};
use regex::Regex;

/// A compiled `[[line]]`.
#[derive(Debug)]
pub(super) struct Line {
    tests: Vec<Test>,
    from: Value,
    regex: Option<Regex>,
    emit: Emit,
    set: Set,
    prefix: bool,
    outcome: Option<RpcOutcome>,
    to_server: bool,
    pub(super) vantage: Option<Vantage>,
}

#[derive(Debug)]
enum Emit {
    Step(LifecycleStep),
    Request,
    Message,
    Remark(Cause, Phase, Delivered),
    Nothing,
}

#[derive(Debug, Default)]
struct Set {
    session: Value,
    id: Value,
    tool: Value,
    args: Value,
    params: Value,
    event_id: Value,
    duration: Value,
    method: Value,
    message: Value,
    path: Value,
    upstream: Value,
    connection: Value,
    remote_addr: Value,
    instance: Value,
}

/// What a line said, with what it says of its writer and the client.
pub(super) struct Said {
    pub(super) what: What,
    pub(super) identity: Identity,
    pub(super) instance: Option<Text>,
    pub(super) vantage: Option<Vantage>,
}

pub(super) fn compile(rules: &[LineRule], c: &mut Compiler<'_>) -> Result<Vec<Line>, MappingError> {
    rules.iter().map(|rule| compile_one(rule, c)).collect()
}

fn compile_one(rule: &LineRule, c: &mut Compiler<'_>) -> Result<Line, MappingError> {
    const FACTS: &str =
        "session, id, tool, args, params, event_id, duration, method, message, path, upstream, connection, …";
    let mut set = Set::default();
    for (name, field) in &rule.set {
        let value = c.value(Some(field))?;
        *match name.as_str() {
            "session" => &mut set.session,
            "id" => &mut set.id,
            "tool" => &mut set.tool,
            "args" => &mut set.args,
            "params" => &mut set.params,
            "event_id" => &mut set.event_id,
            "duration" => &mut set.duration,
            "method" => &mut set.method,
            "message" => &mut set.message,
            "path" => &mut set.path,
            "upstream" => &mut set.upstream,
            "connection" => &mut set.connection,
            "remote_addr" => &mut set.remote_addr,
            "instance" => &mut set.instance,
            other => return Err(MappingError::value("set", other, FACTS)),
        } = value;
    }
    let emit = match rule.emit.as_str() {
        "request" => Emit::Request,
        "message" => Emit::Message,
        "nothing" => Emit::Nothing,
        "remark" => Emit::Remark(
            ending::cause(rule.cause.as_deref().unwrap_or("unknown"))?,
            ending::phase(rule.phase.as_deref())?,
            ending::delivered(rule.delivered.as_deref())?,
        ),
        step => Emit::Step(step_of(step)?),
    };
    let outcome = match rule.outcome.as_deref() {
        None | Some("to_client") => None,
        Some("result") => Some(RpcOutcome::Result),
        Some("tool_error") => Some(RpcOutcome::ToolError),
        Some("error") => Some(RpcOutcome::Error { code: 0, about: About::Other }),
        Some(other) => {
            return Err(MappingError::value("outcome", other, "result, tool_error, error or to_client"));
        }
    };
    Ok(Line {
        tests: c.tests(&rule.conditions)?,
        from: c.value(rule.from.as_ref())?,
        regex: rule.regex.as_deref().map(expression).transpose()?,
        emit,
        set,
        prefix: rule.session_is_prefix,
        outcome,
        to_server: rule.outcome.as_deref() != Some("to_client"),
        vantage: rule.vantage.as_deref().map(super::plan::vantage).transpose()?,
    })
}

fn step_of(name: &str) -> Result<LifecycleStep, MappingError> {
    // The words are the enum's own, as it is serialised elsewhere, in snake case.
    let camel: String = name
        .split('_')
        .map(|w| w.chars().take(1).flat_map(char::to_uppercase).chain(w.chars().skip(1)).collect::<String>())
        .collect();
    serde_json::from_value(serde_json::Value::String(camel))
        .map_err(|_| MappingError::value("emit", name, "a step, request, message, remark or nothing"))
}

/// What the first fitting rule makes of a line; `None`: no rule fits.
pub(super) fn read(rules: &[Line], row: &mut Row<'_>, absent: &[String], keep: Keep) -> Option<Option<Said>> {
    rules.iter().find_map(|rule| rule.read(row, absent, keep))
}

impl Line {
    fn read(&self, row: &Row<'_>, absent: &[String], keep: Keep) -> Option<Option<Said>> {
        if !all(&self.tests, row, absent) {
            return None;
        }
        let Some(regex) = &self.regex else { return Some(self.said(row, absent, keep)) };
        let text = self.from.text(row, &[])?;
        let groups = regex.captures(&text)?;
        let row = Row { slots: row.slots.clone(), texts: row.texts.clone(), groups: Some(groups) };
        Some(self.said(&row, absent, keep))
    }

    fn said(&self, row: &Row<'_>, absent: &[String], keep: Keep) -> Option<Said> {
        let what = match self.emit {
            Emit::Nothing => return None,
            Emit::Step(step) => What::Lifecycle(Box::new(self.lifecycle(step, row, absent, keep))),
            Emit::Request => What::Message(Box::new(self.request(row, absent, keep)?)),
            Emit::Message => What::Message(Box::new(self.message(row, absent, keep)?)),
            Emit::Remark(cause, phase, delivered) => {
                What::Remark(Box::new(self.remark(cause, phase, delivered, row, absent)))
            }
        };
        let text = |v: &Value| v.text(row, absent).map(|t| Text::from(&*t));
        let identity = Identity {
            connection: text(&self.set.connection),
            remote_addr: text(&self.set.remote_addr),
            ..Identity::default()
        };
        Some(Said { what, identity, instance: text(&self.set.instance), vantage: self.vantage })
    }

    fn lifecycle(&self, step: LifecycleStep, row: &Row<'_>, absent: &[String], keep: Keep) -> Lifecycle {
        let text = |v: &Value| v.text(row, absent).map(|t| Text::from(&*t));
        Lifecycle {
            step,
            session: text(&self.set.session),
            session_is_prefix: self.prefix,
            rpc_id: self.id(row, absent),
            call: self.call(row, absent, keep),
            event_id: text(&self.set.event_id),
            outcome: self.outcome.clone(),
            duration: self.set.duration.duration(row, absent),
        }
    }

    fn id(&self, row: &Row<'_>, absent: &[String]) -> Option<RpcId> {
        let text = self.set.id.json(row, absent)?;
        Some(id_of(&text, !self.set.id.is_bare(row)))
    }

    fn call(&self, row: &Row<'_>, absent: &[String], keep: Keep) -> Option<ToolCall> {
        if let Some(params) = self.set.params.json(row, absent) {
            return match read_call(&params, keep) {
                Some(call) => Some(call),
                // A payload that was cut off still names its tool.
                None => named(&params).map(|tool| ToolCall {
                    tool,
                    arguments: cut_off(),
                    round: None,
                    task: false,
                }),
            };
        }
        let tool = self.set.tool.text(row, absent)?;
        let args = self.set.args.json(row, absent);
        let arguments = arguments(args, keep);
        Some(ToolCall { tool: tool.into(), arguments, round: None, task: false })
    }

    fn request(&self, row: &Row<'_>, absent: &[String], keep: Keep) -> Option<LoggedMessage> {
        let call = self.call(row, absent, keep);
        let method =
            self.set.method.text(row, absent).map_or_else(|| "tools/call".into(), |m| Text::from(&*m));
        let request = RpcRequest { id: self.id(row, absent), method, call, ..RpcRequest::default() };
        Some(LoggedMessage {
            session: self.session(row, absent),
            to_server: self.to_server,
            message: Message::Request(Box::new(request)),
        })
    }

    fn message(&self, row: &Row<'_>, absent: &[String], keep: Keep) -> Option<LoggedMessage> {
        let json = self.set.message.json(row, absent)?;
        let message = rpc::read_message(json.as_bytes(), keep).ok()?;
        Some(LoggedMessage { session: self.session(row, absent), to_server: self.to_server, message })
    }

    fn session(&self, row: &Row<'_>, absent: &[String]) -> Option<Text> {
        self.set.session.text(row, absent).map(|t| Text::from(&*t))
    }

    fn remark(
        &self,
        cause: Cause,
        phase: Phase,
        delivered: Delivered,
        row: &Row<'_>,
        absent: &[String],
    ) -> Remark {
        let text = |v: &Value| v.text(row, absent).map(|t| Text::from(&*t));
        Remark {
            method: text(&self.set.method).map_or(crate::event::Method::Other, |m| access::method_of(&m)),
            path: text(&self.set.path).map(|p| access::path_of(&p)),
            upstream: text(&self.set.upstream).map(|u| address(&u).into()),
            end: End { cause, phase, known: Known::Stated, raw: text(&self.set.message) },
            delivered,
        }
    }
}

fn read_call(params: &str, keep: Keep) -> Option<ToolCall> {
    let told = format!("{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"tools/call\",\"params\":{params}}}");
    match rpc::read_message(told.as_bytes(), keep).ok()? {
        Message::Request(request) => request.call.filter(|call| !call.tool.is_empty()),
        _ => None,
    }
}

fn named(params: &str) -> Option<Text> {
    let rest = params.split_once("\"name\":")?.1.trim_start().strip_prefix('"')?;
    Some(rest.split_once('"')?.0.into())
}

fn cut_off() -> crate::event::Arguments {
    crate::event::Arguments::Unreadable(Unreadable::Truncated)
}

/// `http://127.0.0.1:18001/mcp` names the upstream `127.0.0.1:18001`.
fn address(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}
