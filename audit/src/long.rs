//! Texts of an event that are too long to be kept: a session id of a megabyte, a tool's name of ten.
//! Knows an event's texts; never what one means.
//!
//! A text that is longer than any header or name stands as its beginning with a digest behind it, so that equal ones stay equal
//! and different ones differ. What a record says otherwise is unchanged.

use crate::adapter::rpc::short;
use crate::event::*;

/// Bytes of the longest text that is kept as it is: no server takes more for a header or a name.
pub(crate) const LONG: usize = 8 * 1024;
/// Bytes of a longer one that stay.
const HEAD: usize = 64;

/// Shortens an event's texts.
pub(crate) fn shorten(event: &mut Event) {
    let Event { identity, keys, instance, what, .. } = event;
    let Identity { subject, client, remote_addr, remote_port: _, forwarded_for, user_agent, connection } =
        identity;
    each([subject, remote_addr, forwarded_for, user_agent, connection, instance]);
    of_client(client);
    let Keys { request, trace, span, parent, shipper } = keys;
    each([request, trace, span, parent, shipper]);
    match what {
        What::Exchange(exchange) => of_exchange(exchange),
        What::Message(message) => {
            each([&mut message.session]);
            of_message(&mut message.message);
        }
        What::Lifecycle(step) => {
            each([&mut step.session, &mut step.event_id]);
            step.rpc_id.iter_mut().for_each(of_id);
            step.call.iter_mut().for_each(|call| cut(&mut call.tool));
            step.outcome.iter_mut().for_each(of_outcome);
        }
        What::Remark(remark) => each([&mut remark.path, &mut remark.upstream, &mut remark.end.raw]),
    }
}

fn of_exchange(exchange: &mut Exchange) {
    each([&mut exchange.host, &mut exchange.path, &mut exchange.end.raw]);
    let Request {
        session,
        last_event_id,
        protocol_version,
        mcp_method,
        mcp_name,
        idempotency_key,
        credential: _,
        body,
    } = &mut exchange.request;
    each([session, last_event_id, protocol_version, mcp_method, mcp_name, idempotency_key]);
    of_body(body);
    each([&mut exchange.response.session]);
    of_body(&mut exchange.response.body);
    for event in exchange.response.events.iter_mut().flatten() {
        each([&mut event.id]);
        event.message.iter_mut().for_each(of_message);
    }
    exchange.attempts.iter_mut().for_each(|attempt| each([&mut attempt.upstream]));
}

fn of_body(body: &mut Body) {
    if let Body::Messages(messages) = body {
        messages.iter_mut().for_each(of_message);
    }
}

fn of_message(message: &mut Message) {
    match message {
        Message::Request(request) => {
            cut(&mut request.method);
            request.id.iter_mut().for_each(of_id);
            request.call.iter_mut().for_each(|call| cut(&mut call.tool));
            if let Some(initialize) = &mut request.initialize {
                each([&mut initialize.protocol_version]);
                of_client(&mut initialize.client);
            }
            let RpcRequest { protocol_version, idempotency_key, task, traceparent, client, .. } =
                &mut **request;
            each([protocol_version, idempotency_key, task, traceparent]);
            of_client(client);
        }
        Message::Notification(told) => {
            cut(&mut told.method);
            told.cancels.iter_mut().for_each(of_id);
        }
        Message::Response(response) => {
            response.id.iter_mut().for_each(of_id);
            of_outcome(&mut response.outcome);
        }
        Message::Unreadable(_) => {}
    }
}

fn of_outcome(outcome: &mut RpcOutcome) {
    match outcome {
        RpcOutcome::Initialized { protocol_version, server, .. } => {
            each([protocol_version]);
            server.iter_mut().for_each(|server| of_info(server));
        }
        RpcOutcome::Tools(tools) => tools.iter_mut().for_each(|hints| cut(&mut hints.tool)),
        RpcOutcome::Task(task) => cut(task),
        RpcOutcome::Result | RpcOutcome::ToolError | RpcOutcome::Error { .. } | RpcOutcome::InputRequired => {
        }
    }
}

fn of_client(client: &mut Option<ClientInfo>) {
    client.iter_mut().for_each(of_info);
}

fn of_info(ClientInfo { name, version }: &mut ClientInfo) {
    cut(name);
    cut(version);
}

fn of_id(id: &mut RpcId) {
    match id {
        RpcId::Number(text) | RpcId::String(text) | RpcId::Untyped(text) => cut(text),
    }
}

fn each<const N: usize>(texts: [&mut Option<Text>; N]) {
    texts.into_iter().flatten().for_each(cut);
}

#[inline]
fn cut(text: &mut Text) {
    if text.len() > LONG {
        cut_long(text);
    }
}

#[cold]
fn cut_long(text: &mut Text) {
    let digest = short(blake3::hash(text.as_bytes()));
    let head = &text[..text.floor_char_boundary(HEAD)];
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    *text = format!("{head}… ({} bytes, {digest})", text.len()).into();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::notation;

    #[test]
    fn long_texts_are_short_and_stay_equal_or_different() {
        let story = |fill: &str| {
            let long = fill.repeat(1_000_000 / fill.len());
            let text = format!(
                "1.0-2.0 POST S{long} call {long} #2 {{}} after {long} key {long} client {long} version {long} as {long} -> 200 opens S{long} sse id {long} answers #2 by {long}
                 1.0 run {long} S{long} #2 started by {long}"
            );
            let mut events = notation::read(&text).events;
            events.iter_mut().for_each(shorten);
            events
        };
        let sizes =
            story("ab").iter().map(|event| serde_json::to_string(event).expect("JSON").len()).sum::<usize>();
        assert!(sizes < 20_000, "{sizes} bytes");
        assert_eq!(story("ab"), story("ab"));
        let session = |event: &Event| match &event.what {
            What::Exchange(exchange) => exchange.request.session.clone(),
            _ => None,
        };
        let mut text: Text = format!("S{}c", "ab".repeat(500_000)).into();
        cut(&mut text);
        assert_ne!(session(&story("ab")[0]), Some(text));
        let mut least: Text = "é".repeat(LONG / 2).into();
        cut(&mut least);
        assert_eq!(least.len(), LONG);
    }
}
