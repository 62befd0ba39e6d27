//! How an exchange ended, out of a producer's own words.
//! Knows rules of a mapping; the first that fits decides.

use super::MappingError;
use super::field::{Compiler, Row, Test, all};
use super::file::EndRule;
use crate::event::{Cause, Delivered, End, Known, Phase};

/// A compiled `[[end]]`.
#[derive(Debug)]
pub(super) struct Ending {
    tests: Vec<Test>,
    cause: Cause,
    phase: Phase,
    known: Known,
    word: String,
}

pub(super) fn compile(rules: &[EndRule], c: &mut Compiler<'_>) -> Result<Vec<Ending>, MappingError> {
    rules
        .iter()
        .map(|rule| {
            Ok(Ending {
                tests: c.tests(&rule.conditions)?,
                cause: cause(&rule.cause)?,
                phase: phase(rule.phase.as_deref())?,
                known: if rule.derived { Known::Derived } else { Known::Stated },
                word: rule.cause.clone(),
            })
        })
        .collect()
}

pub(super) fn read(rules: &[Ending], row: &Row<'_>, absent: &[String]) -> End {
    let rule = rules.iter().find(|rule| all(&rule.tests, row, absent));
    match rule {
        Some(rule) => End {
            cause: rule.cause,
            phase: rule.phase,
            known: rule.known,
            // A proper end needs no word; most exchanges have one.
            raw: (rule.cause != Cause::Complete).then(|| rule.word.as_str().into()),
        },
        None => End { cause: Cause::Unknown, phase: Phase::Unknown, known: Known::Derived, raw: None },
    }
}

pub(super) fn cause(name: &str) -> Result<Cause, MappingError> {
    Ok(match name {
        "complete" => Cause::Complete,
        "client_abort" => Cause::ClientAbort,
        "client_timeout" => Cause::ClientTimeout,
        "upstream_idle_timeout" => Cause::UpstreamIdleTimeout,
        "upstream_abort" => Cause::UpstreamAbort,
        "proxy_deadline" => Cause::ProxyDeadline,
        "proxy_admin" => Cause::ProxyAdmin,
        "connect_failed" => Cause::ConnectFailed,
        "unknown_cut" => Cause::UnknownCut,
        "unknown" => Cause::Unknown,
        other => {
            return Err(MappingError::value(
                "cause",
                other,
                "complete, client_abort, upstream_idle_timeout, … (docs)",
            ));
        }
    })
}

pub(super) fn phase(name: Option<&str>) -> Result<Phase, MappingError> {
    Ok(match name.unwrap_or("unknown") {
        "before_headers" => Phase::BeforeHeaders,
        "in_body" => Phase::InBody,
        "unknown" => Phase::Unknown,
        other => return Err(MappingError::value("phase", other, "before_headers, in_body or unknown")),
    })
}

pub(super) fn delivered(name: Option<&str>) -> Result<Delivered, MappingError> {
    Ok(match name.unwrap_or("unknown") {
        "yes" => Delivered::Yes,
        "no" => Delivered::No,
        "unknown" => Delivered::Unknown,
        other => return Err(MappingError::value("delivered", other, "yes, no or unknown")),
    })
}
