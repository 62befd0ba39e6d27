//! Who the client is and which keys join a record with others, as far as a mapping names them.
//! Knows addresses and ids as text; whether two are the same client is not its affair.

use super::MappingError;
use super::field::{Compiler, Row, Value};
use super::file::File;
use crate::adapter::access;
use crate::event::{ClientInfo, Identity, Keys, Text};
use crate::source::Record;

/// A compiled `[identity]`.
#[derive(Debug)]
pub(super) struct IdentityParts {
    pub(super) subject: Value,
    pub(super) client_name: Value,
    pub(super) client_version: Value,
    pub(super) remote_addr: Value,
    pub(super) remote_port: Value,
    pub(super) forwarded_for: Value,
    pub(super) user_agent: Value,
    pub(super) connection: Value,
}

/// A compiled `[keys]`.
#[derive(Debug)]
pub(super) struct KeyParts {
    request: Value,
    trace: Value,
    span: Value,
    parent: Value,
    traceparent: Value,
    pub(super) shipper: Value,
}

pub(super) fn identity(file: &File, c: &mut Compiler<'_>) -> Result<IdentityParts, MappingError> {
    let i = &file.identity;
    Ok(IdentityParts {
        subject: c.value(i.subject.as_ref())?,
        client_name: c.value(i.client_name.as_ref())?,
        client_version: c.value(i.client_version.as_ref())?,
        remote_addr: c.value(i.remote_addr.as_ref())?,
        remote_port: c.value(i.remote_port.as_ref())?,
        forwarded_for: c.value_or_header(i.forwarded_for.as_ref(), "request", "x-forwarded-for")?,
        user_agent: c.value_or_header(i.user_agent.as_ref(), "request", "user-agent")?,
        connection: c.value(i.connection.as_ref())?,
    })
}

pub(super) fn keys(file: &File, c: &mut Compiler<'_>) -> Result<KeyParts, MappingError> {
    let k = &file.keys;
    Ok(KeyParts {
        request: c.value_or_header(k.request.as_ref(), "request", "x-request-id")?,
        trace: c.value(k.trace.as_ref())?,
        span: c.value(k.span.as_ref())?,
        parent: c.value(k.parent.as_ref())?,
        traceparent: c.value_or_header(k.traceparent.as_ref(), "request", "traceparent")?,
        shipper: c.value(k.shipper.as_ref())?,
    })
}

impl IdentityParts {
    pub(super) fn read(&self, row: &Row<'_>, absent: &[String]) -> Identity {
        let text = |v: &Value| v.text(row, absent).map(|t| Text::from(&*t));
        let addr = text(&self.remote_addr);
        let (addr, port) = match addr.as_deref().map(split_port) {
            Some((addr, port)) => (Some(Text::from(addr)), port),
            None => (None, None),
        };
        let name = text(&self.client_name);
        Identity {
            subject: text(&self.subject),
            client: name
                .map(|name| ClientInfo { name, version: text(&self.client_version).unwrap_or_default() }),
            remote_addr: addr,
            remote_port: self.remote_port.number(row, absent).and_then(|n| u16::try_from(n).ok()).or(port),
            forwarded_for: text(&self.forwarded_for),
            user_agent: text(&self.user_agent),
            connection: text(&self.connection),
        }
    }
}

/// `203.0.113.24:51544` and `[2001:db8::1]:51544`; a bare IPv6 address keeps its colons.
pub(super) fn split_port(addr: &str) -> (&str, Option<u16>) {
    if let Some((host, port)) = addr.strip_prefix('[').and_then(|a| a.split_once(']')) {
        return (host, port.strip_prefix(':').and_then(|p| p.parse().ok()));
    }
    match addr.split_once(':') {
        Some((host, port)) if !port.contains(':') => (host, port.parse().ok()),
        _ => (addr, None),
    }
}

impl KeyParts {
    pub(super) fn read(&self, row: &Row<'_>, absent: &[String], record: &Record<'_>) -> Keys {
        let text = |v: &Value| v.text(row, absent).map(|t| Text::from(&*t));
        let mut keys = Keys { request: text(&self.request), ..Keys::default() };
        access::trace(self.traceparent.text(row, absent).as_deref(), &mut keys);
        keys.trace = text(&self.trace).or(keys.trace);
        keys.span = text(&self.span);
        keys.parent = text(&self.parent).or(keys.parent);
        keys.shipper = record.shipped.id.clone().or_else(|| text(&self.shipper));
        keys
    }
}
