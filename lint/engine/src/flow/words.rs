//! What status constants, phrases in error texts and names of variants say about a session.
//! Knows words only; the specification knows none of these phrases, so a finding that rests on one says so.

use super::cause::{Cause, Why};
use crate::scope::At;

pub(super) fn named_status(name: &str) -> Option<u16> {
    Some(match name {
        "OK" => 200,
        "CREATED" => 201,
        "ACCEPTED" => 202,
        "NO_CONTENT" => 204,
        "BAD_REQUEST" => 400,
        "UNAUTHORIZED" => 401,
        "FORBIDDEN" => 403,
        "NOT_FOUND" => 404,
        "METHOD_NOT_ALLOWED" => 405,
        "REQUEST_TIMEOUT" => 408,
        "CONFLICT" => 409,
        "GONE" => 410,
        "TOO_MANY_REQUESTS" => 429,
        "INTERNAL_SERVER_ERROR" => 500,
        "NOT_IMPLEMENTED" => 501,
        "BAD_GATEWAY" => 502,
        "SERVICE_UNAVAILABLE" => 503,
        "GATEWAY_TIMEOUT" => 504,
        _ => return None,
    })
}

/// What a phrase in an error's text says.
pub(super) fn phrase(text: &str, at: At) -> Cause {
    let text = text.to_lowercase();
    let session = text.contains("session");
    let gone = [
        "not found",
        "expired",
        "unknown",
        "invalid",
        "terminated",
        "does not exist",
        "no valid",
        "missing",
        "stale",
    ];
    if text.contains("404") || (session && gone.iter().any(|word| text.contains(word))) {
        return Cause::Gone(at);
    }
    let codes = ["400", "401", "403", "408", "410", "429", "500", "502", "503", "504"];
    if codes
        .iter()
        .any(|code| text.trim_start_matches("http ") == *code || text.ends_with(&format!("http {code}")))
    {
        return Cause::Other(at, Why::Status);
    }
    let words = [
        "eof",
        "closed",
        "timed out",
        "timeout",
        "reset",
        "broken pipe",
        "disconnect",
        "refused",
        "connection",
        "unavailable",
        "transport",
        "bad gateway",
        "not initialized",
        "network",
        "unreachable",
        "aborted",
    ];
    if words.iter().any(|word| text.contains(word)) { Cause::Other(at, Why::Text) } else { Cause::Unknown }
}

/// What the name of a variant says, when nothing shows where it is built.
pub(super) fn by_name(name: &str, at: At) -> Cause {
    let lower = name.to_lowercase();
    let session = lower.contains("session")
        && ["expired", "notfound", "gone", "terminated", "stale", "lost", "invalid", "unknown"]
            .iter()
            .any(|word| lower.contains(word));
    if session || lower == "stalesession" || lower.contains("notfound404") {
        return Cause::Gone(at);
    }
    if lower.contains("timeout") || lower.contains("timedout") || lower == "elapsed" {
        return Cause::Other(at, Why::Timeout);
    }
    let words = [
        "disconnect",
        "transport",
        "connection",
        "network",
        "closed",
        "eof",
        "unreachable",
        "sendfail",
        "io",
    ];
    let hit = words.iter().any(|word| if word.len() <= 3 { lower == *word } else { lower.contains(word) });
    if hit { Cause::Other(at, Why::Error) } else { Cause::Unknown }
}
