//! Which revision speaks which era, and which era an exchange belongs to (contract 2).
//! Knows no close and no action; it only tells which of the decision tables applies.

/// An era: the revisions that share one answer to "what does a closed stream mean?" (contract 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Era {
    /// 2024-11-05, two endpoints: recognised and counted, never judged.
    HttpSse,
    /// 2025-03-26 to 2025-11-25: session ids and resumable streams; a closed stream means nothing.
    Sessioned,
    /// 2026-07-28 and later: no session, no resume; closing the response stream requests cancellation.
    Stateless,
}

/// First revision with Streamable HTTP, and the one assumed where none is told (contract 2).
pub const FIRST_SESSIONED: &str = "2025-03-26";
/// First revision without sessions.
pub const FIRST_STATELESS: &str = "2026-07-28";

impl Era {
    /// The era of a protocol version such as `2025-06-18`.
    ///
    /// Revisions are dates, so one not yet published is placed by its date. `None`: not a date (a draft's name, a
    /// typing error), which decides nothing.
    #[must_use]
    pub fn of_revision(version: &str) -> Option<Era> {
        let bytes = version.as_bytes();
        let is_date = bytes.len() == 10
            && bytes.iter().enumerate().all(|(at, byte)| match at {
                4 | 7 => *byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        if !is_date {
            return None;
        }
        // ISO dates of equal length order as text.
        Some(match version {
            _ if version < FIRST_SESSIONED => Era::HttpSse,
            _ if version < FIRST_STATELESS => Era::Sessioned,
            _ => Era::Stateless,
        })
    }

    /// The word used in output.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Era::HttpSse => "http-sse",
            Era::Sessioned => "sessioned",
            Era::Stateless => "stateless",
        }
    }
}

/// What is known of one exchange that bears on its era (contract 2). The default knows nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EraFacts<'a> {
    /// The request is an `initialize`.
    pub initialize: bool,
    /// The request was answered 400 with -32020, -32021 or -32022: its own words set no era.
    pub version_refused: bool,
    /// `MCP-Protocol-Version`, or the protocol version in `_meta`.
    pub request_version: Option<&'a str>,
    /// `protocolVersion` of the session's `InitializeResult`.
    pub session_version: Option<&'a str>,
    /// The request or its response carries a session id.
    pub session_id: bool,
    /// The request is a GET of a stream.
    pub get_stream: bool,
    /// The session is known to have begun with an `initialize`.
    pub initialized: bool,
    /// The request carries `Mcp-Method`.
    pub mcp_method: bool,
}

/// The era of an exchange; `None`: unknown, so it is not judged (contract 2).
///
/// A 2024-11-05 negotiated beside a session id is [`Era::Sessioned`]: the two-endpoint transport has no such header,
/// so the exchange can only be Streamable HTTP with an old version string in it.
#[must_use]
pub fn era_of(facts: &EraFacts<'_>) -> Option<Era> {
    if facts.initialize {
        return Some(Era::Sessioned);
    }
    let placed = |version: Option<&str>| {
        let era = version.and_then(Era::of_revision)?;
        Some(if era == Era::HttpSse && facts.session_id { Era::Sessioned } else { era })
    };
    if facts.version_refused {
        return placed(facts.session_version);
    }
    if let Some(era) = placed(facts.request_version).or_else(|| placed(facts.session_version)) {
        return Some(era);
    }
    if facts.session_id || facts.get_stream || facts.initialized {
        return Some(Era::Sessioned);
    }
    facts.mcp_method.then_some(Era::Stateless)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_have_their_eras() {
        assert_eq!(Era::of_revision("2024-11-05"), Some(Era::HttpSse));
        for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
            assert_eq!(Era::of_revision(version), Some(Era::Sessioned), "{version}");
        }
        assert_eq!(Era::of_revision("2026-07-28"), Some(Era::Stateless));
        assert_eq!(Era::of_revision("2027-01-01"), Some(Era::Stateless));
        for version in ["", "draft", "DRAFT-2026-v1", "2025-6-18", "2025-06-18x", "２０２５-06-18"] {
            assert_eq!(Era::of_revision(version), None, "{version}");
        }
    }

    #[test]
    fn initialize_is_sessioned_whatever_its_header_says() {
        let facts = EraFacts { initialize: true, request_version: Some("2026-07-28"), ..EraFacts::default() };
        assert_eq!(era_of(&facts), Some(Era::Sessioned));
    }

    #[test]
    fn request_outranks_session_outranks_signs() {
        let facts = EraFacts {
            request_version: Some("2026-07-28"),
            session_version: Some("2025-06-18"),
            session_id: true,
            ..EraFacts::default()
        };
        assert_eq!(era_of(&facts), Some(Era::Stateless));
        assert_eq!(era_of(&EraFacts { request_version: Some("nonsense"), ..facts }), Some(Era::Sessioned));
    }

    #[test]
    fn without_any_version_signs_decide() {
        let none = EraFacts::default();
        assert_eq!(era_of(&none), None);
        assert_eq!(era_of(&EraFacts { mcp_method: true, ..none }), Some(Era::Stateless));
        for facts in [
            EraFacts { session_id: true, mcp_method: true, ..none },
            EraFacts { get_stream: true, ..none },
            EraFacts { initialized: true, ..none },
        ] {
            assert_eq!(era_of(&facts), Some(Era::Sessioned), "{facts:?}");
        }
    }

    #[test]
    fn a_refused_version_sets_no_era() {
        let probe = EraFacts {
            version_refused: true,
            request_version: Some("2026-07-28"),
            mcp_method: true,
            ..EraFacts::default()
        };
        assert_eq!(era_of(&probe), None);
        let within = EraFacts { session_version: Some("2025-11-25"), ..probe };
        assert_eq!(era_of(&within), Some(Era::Sessioned));
    }

    #[test]
    fn an_old_version_beside_a_session_id_is_streamable_http() {
        let facts = EraFacts { session_version: Some("2024-11-05"), ..EraFacts::default() };
        assert_eq!(era_of(&facts), Some(Era::HttpSse));
        assert_eq!(era_of(&EraFacts { session_id: true, ..facts }), Some(Era::Sessioned));
    }
}
