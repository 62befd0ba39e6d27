//! Loose ends: steps of exchanges whose other steps stand in another file or export.
//! Knows flows by their names and steps by their times; how steps make an exchange is for the reader.

use super::rpc::Keep;
use super::wire::{Assembly, in_order};
use crate::event::{Event, Nanos, Origin};
use crate::source::Shipped;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One step, as it was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The flow, as its log names it.
    pub(crate) flow: String,
    /// When it happened.
    pub(crate) at: Nanos,
    /// Where in its exchange it stands, beside others of that moment.
    pub(crate) phase: u8,
    /// Where it stands.
    pub(crate) origin: Origin,
    pub(crate) shipped: Shipped,
    pub(crate) text: String,
}

/// Puts steps of one flow together, wherever they stand, and hands on the exchanges that this completes. What is still open
/// is handed on too if it has been silent since `over`, and else given back.
pub(crate) fn tie(
    steps: Vec<Step>,
    over: Option<Nanos>,
    keep: Keep,
    sink: &mut dyn FnMut(Event),
) -> Vec<Step> {
    let mut flows: BTreeMap<String, Vec<Step>> = BTreeMap::new();
    steps.into_iter().for_each(|step| flows.entry(step.flow.clone()).or_default().push(step));
    let mut open = Vec::new();
    for steps in flows.into_values() {
        let mut assembly = Assembly::new(keep);
        let last = steps.iter().map(|step| step.at).max();
        for step in in_order(steps) {
            // An end without a beginning is nothing to judge.
            _ = assembly.take(step, sink);
        }
        if over.is_some_and(|over| last >= Some(over)) {
            open.extend(assembly.open_steps());
        }
        assembly.finish(sink);
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Cause, Place, What};

    fn steps() -> Vec<Step> {
        let texts = [
            r#"{"ts":1795961445.0,"flow":7,"event":"request","method":"POST","path":"/mcp","headers":{"mcp-session-id":"s"},"body":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"}"#,
            r#"{"ts":1795961445.1,"flow":7,"event":"response_headers","status":200,"headers":{"content-type":"application/json"}}"#,
            r#"{"ts":1795961445.2,"flow":7,"event":"chunk","data":"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"}"#,
            r#"{"ts":1795961445.3,"flow":7,"event":"response_complete"}"#,
        ];
        let step = |(at, text): (usize, &&str)| Step {
            flow: "7".into(),
            at: at as Nanos,
            phase: 0,
            origin: Origin {
                seal: 0,
                file: at as u32 / 2,
                offset: at as u64,
                place: Place::Line(at as u64 + 1),
            },
            shipped: Shipped::default(),
            text: (*text).to_owned(),
        };
        texts.iter().enumerate().map(step).collect()
    }

    #[test]
    fn an_exchange_cut_in_two_is_one() {
        let mut all = steps();
        all.reverse();
        let mut found = Vec::new();
        let open = tie(all, None, Keep::default(), &mut |event| found.push(event));
        assert!(open.is_empty());
        let [event] = &found[..] else { panic!("{found:?}") };
        let What::Exchange(exchange) = &event.what else { panic!("{event:?}") };
        assert_eq!((exchange.status, exchange.end.cause), (Some(200), Cause::Complete));
    }

    #[test]
    fn what_is_open_waits_until_it_has_been_silent() {
        let begun = steps()[..2].to_vec();
        let mut found = Vec::new();
        let open = tie(begun.clone(), Some(0), Keep::default(), &mut |event| found.push(event));
        assert_eq!((open.len(), found.len()), (2, 0));
        assert!(tie(open, Some(Nanos::MAX), Keep::default(), &mut |event| found.push(event)).is_empty());
        assert_eq!(found.len(), 1);
        // An end without a beginning is nothing to judge.
        let end = steps()[2..].to_vec();
        assert!(tie(end, None, Keep::default(), &mut |event| found.push(event)).is_empty());
        assert_eq!(found.len(), 1);
    }
}
