//! Which logs an input has, so that nobody is sent for one that is there already.
//! Knows who wrote records; not what they say.

use crate::event::{Event, Vantage, What};
use serde::{Deserialize, Serialize};

/// Who wrote some record of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given(u8);

const CLIENT: u8 = 1;
const CAPTURE: u8 = 2;
const HOP: u8 = 4;
const SERVER: u8 = 8;
const REMARKS: u8 = 16;

impl Given {
    /// Takes note of an event.
    pub(crate) fn note(&mut self, event: &Event) {
        if matches!(event.what, What::Remark(_)) {
            self.0 |= REMARKS;
        }
        self.note_vantage(event.vantage);
    }

    pub(crate) fn note_vantage(&mut self, vantage: Vantage) {
        self.0 |= match vantage {
            Vantage::Client => CLIENT,
            Vantage::Capture => CAPTURE,
            Vantage::EdgeLb | Vantage::Proxy | Vantage::Gateway => HOP,
            Vantage::ServerHttp | Vantage::ServerApp => SERVER,
        };
    }

    /// What would settle a finding, in the words of its rule; of a log that is there already it is said that it does not.
    #[must_use]
    pub fn settling(self, missing: &str) -> String {
        let logs = [
            ("completion records of the server", SERVER, "the server's log"),
            ("the server's log", SERVER, "the server's log"),
            ("the proxy's error log", REMARKS, "the error log"),
            ("the proxy's or the server's log", HOP | SERVER, "the log"),
            ("a proxy's log", HOP, "the proxy's log"),
            ("the client's own log", CLIENT, "the client's log"),
            ("a log of the client to its end", CLIENT, "the client's log"),
            ("a log with response bodies", CAPTURE, "the capture"),
        ];
        let there = logs.iter().find(|(start, who, _)| missing.starts_with(start) && self.0 & who != 0);
        match there {
            Some((.., log)) => format!("{missing}; {log} that is given does not tell"),
            None => missing.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_is_given_is_not_asked_for_as_if_it_were_not() {
        let mut given = Given::default();
        given.note_vantage(Vantage::ServerApp);
        let ran = "completion records of the server would show whether both ran";
        assert_eq!(given.settling(ran), format!("{ran}; the server's log that is given does not tell"));
        let closed = "a proxy's log would show who ended the stream";
        assert_eq!(given.settling(closed), closed);
    }
}
