//! What one side saw when an exchange ended (contract 3.1).
//! Knows no cursor, no attempt and no remedy; what to do about a close is `next`.

use crate::era::Era;
use crate::resume::Rejection;

/// How an exchange ended, as one side saw it (contract 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Close<'a> {
    /// All that was awaited was delivered, or nothing was awaited.
    Completed,
    /// The client's own deadline, cancel or shutdown ended it.
    Abandoned,
    /// 404 to the session id held: the server dropped the session.
    SessionTerminated,
    /// 404 to an id no longer held: a parallel re-initialization was faster.
    Superseded,
    /// A resume was rejected by name (contract 3.3, 3.5), with the newest event id the server advertises.
    ResumeRejected {
        /// Why.
        rejection: Rejection,
        /// A place to continue from, if the server names one.
        head: Option<&'a str>,
    },
    /// The events after the cursor are gone.
    EventsLost {
        /// A place to continue from, if the server names one.
        head: Option<&'a str>,
    },
    /// A DELETE was answered. `session_lives`: with 405, so the client is done but the server keeps the session.
    Ended {
        /// Whether the session lives on.
        session_lives: bool,
    },
    /// The credential was refused; the session is untouched.
    Unauthorized,
    /// The server offers no stream by GET. `resuming`: this stream cannot be resumed.
    StreamNotOffered {
        /// The GET carried `Last-Event-ID`.
        resuming: bool,
    },
    /// Another GET stream is attached.
    Conflict,
    /// Not a close: follow it.
    Redirected,
    /// Refused: keep everything and surface the error.
    Refused,
    /// The transport failed or ended early. Says nothing about the session and nothing about the outcome.
    Transport,
    /// This side does not record what would decide it.
    Unseen,
}

/// From where the exchange was seen. A clean end at one hop may be a cut at the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vantage {
    /// The client itself, or a capture of its own connection.
    Client,
    /// A proxy, balancer or gateway on the way.
    Hop,
    /// The server.
    Server,
}

/// What the request was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// A POST with at least one request: a response is awaited.
    Ask,
    /// A POST with notifications or responses only: nothing is awaited.
    Tell,
    /// A GET without `Last-Event-ID`.
    Listen,
    /// A GET with `Last-Event-ID`.
    Resume,
    /// A DELETE.
    Delete,
}

impl Request {
    const fn is_get(self) -> bool {
        matches!(self, Request::Listen | Request::Resume)
    }
}

/// Which session id the request carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum SessionSent {
    /// None.
    #[default]
    None,
    /// The one the client holds now.
    Held,
    /// One the client no longer holds.
    Former,
}

/// Whether what was awaited arrived, at this vantage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Delivery {
    /// Every awaited response (all of them, for a 2025-03-26 batch).
    All,
    /// At least one awaited response is missing, or the stream awaits none and never completes (a listening GET).
    Missing,
    /// Bodies are not recorded here.
    Unrecorded,
}

/// The kind of the response's body, by `Content-Type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Media {
    /// Not recorded.
    #[default]
    Unrecorded,
    /// No body.
    Empty,
    /// `application/json`.
    Json,
    /// `text/event-stream`.
    EventStream,
    /// Anything else.
    Other,
}

/// How the connection ended, at this vantage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum End {
    /// In order: last chunk, full length, or end of an HTTP/2 or HTTP/3 stream.
    Clean,
    /// Reset, truncated chunk, or short of its length.
    Cut,
    /// A read or idle timeout of the connection itself.
    Idle,
    /// Never connected.
    Unreachable,
    /// This side ended it: its own deadline, cancel or shutdown.
    Own,
    /// The side nearer to the client closed. At the client: the application above it.
    Downstream,
    /// Not recorded.
    #[default]
    Unrecorded,
}

/// What an error's text is about, by a declared or learned dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum About {
    /// Nothing recognised.
    #[default]
    Other,
    /// The session.
    Session,
    /// The event or cursor asked for.
    Event,
    /// A signal of the server's own that events are gone, on any status. MCP defines none.
    EventsGone,
}

/// What the body of an error says. The default says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Complaint<'a> {
    /// The JSON-RPC error code.
    pub code: Option<i64>,
    /// `data.reason`, where it is a name of 3.3 or 3.5.
    pub reason: Option<Rejection>,
    /// What the text is about.
    pub about: About,
    /// The newest event id, where the server advertises it.
    pub head: Option<&'a str>,
}

/// One way a server says "unknown session" other than 404: declared (client, lint) or learned (audit). It is the
/// server's breach `unknown-session-not-404`, and counts as 404 only where it is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dialect {
    /// The status used instead of 404.
    pub status: u16,
    /// What else has to fit.
    pub mark: Mark,
}

/// What tells an unknown session from any other answer with the same status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// The status alone. Never fits a success.
    StatusAlone,
    /// The JSON-RPC error code.
    Code(i64),
    /// A text about the session ([`About::Session`]).
    Text,
}

/// One ended exchange, as one side recorded it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Observation<'a> {
    /// Its era (see [`crate::era::era_of`]).
    pub era: Era,
    /// What was asked.
    pub request: Request,
    /// With which session id.
    pub session: SessionSent,
    /// Whether what was awaited arrived.
    pub delivery: Delivery,
    /// Status. `Some(0)`: no response headers arrived; `None`: not recorded.
    pub status: Option<u16>,
    /// Kind of the body.
    pub media: Media,
    /// `WWW-Authenticate` was there.
    pub challenge: bool,
    /// What an error body says.
    pub complaint: Complaint<'a>,
    /// How else this server says "unknown session".
    pub dialects: &'a [Dialect],
    /// How the connection ended.
    pub end: End,
}

impl Observation<'_> {
    /// An exchange of which only the request is known yet; fill in the rest with struct update syntax.
    #[must_use]
    pub const fn of(era: Era, request: Request) -> Observation<'static> {
        Observation {
            era,
            request,
            session: SessionSent::None,
            delivery: Delivery::Missing,
            status: None,
            media: Media::Unrecorded,
            challenge: false,
            complaint: Complaint { code: None, reason: None, about: About::Other, head: None },
            dialects: &[],
            end: End::Unrecorded,
        }
    }

    fn is_success(&self) -> bool {
        matches!(self.status, Some(200..=299))
    }

    /// 404, or what a listed dialect says in its place.
    fn says_unknown_session(&self) -> bool {
        self.status == Some(404)
            || self.dialects.iter().any(|dialect| {
                Some(dialect.status) == self.status
                    && match dialect.mark {
                        Mark::StatusAlone => !self.is_success(),
                        Mark::Code(code) => self.complaint.code == Some(code),
                        Mark::Text => self.complaint.about == About::Session,
                    }
            })
    }

    fn was_abandoned(&self, vantage: Vantage) -> bool {
        match self.end {
            End::Downstream => true,
            // A hop's or a server's own deadline is a cut for the client behind it.
            End::Own => vantage == Vantage::Client,
            // nginx's word for "the client closed"; no client ever receives it.
            _ => self.status == Some(499) && vantage != Vantage::Client,
        }
    }
}

/// What did this side see? The first row of contract 3.1 that fits; total, allocates nothing.
///
/// `Completed` needs a success (or an unrecorded status): an error status whose body happens to repeat the request's
/// id is judged by its status, or a 404 with such a body would keep a dead session alive. A 202 or 204 to a request
/// is an end without the response.
#[must_use]
pub fn classify_close<'a>(vantage: Vantage, seen: &Observation<'a>) -> Close<'a> {
    let unknown_session = seen.says_unknown_session();
    let taken = (seen.is_success() || seen.status.is_none()) && !unknown_session;
    if taken && seen.delivery == Delivery::All {
        return Close::Completed;
    }
    if taken && seen.is_success() && seen.request == Request::Tell {
        return Close::Completed;
    }
    if seen.was_abandoned(vantage) {
        return Close::Abandoned;
    }
    if unknown_session && seen.era == Era::Sessioned {
        match seen.session {
            SessionSent::Held if seen.request != Request::Delete => return Close::SessionTerminated,
            SessionSent::Former => return Close::Superseded,
            SessionSent::Held if seen.status != Some(404) => return Close::Ended { session_lives: false },
            SessionSent::Held | SessionSent::None => {}
        }
    }
    lost_events(seen).unwrap_or_else(|| by_status(seen))
}

/// The rows about a resume that the server could not serve.
fn lost_events<'a>(seen: &Observation<'a>) -> Option<Close<'a>> {
    let head = seen.complaint.head;
    if seen.request == Request::Resume && matches!(seen.status, Some(400..=499)) {
        if let Some(rejection) = seen.complaint.reason {
            return Some(Close::ResumeRejected { rejection, head });
        }
        if seen.complaint.about == About::Event {
            return Some(Close::EventsLost { head });
        }
    }
    (seen.complaint.about == About::EventsGone).then_some(Close::EventsLost { head })
}

/// The rows that the status alone decides.
fn by_status<'a>(seen: &Observation<'a>) -> Close<'a> {
    let request = seen.request;
    match seen.status {
        None => unanswered(seen),
        Some(200..=299 | 404) if request == Request::Delete => Close::Ended { session_lives: false },
        Some(405) if request == Request::Delete => Close::Ended { session_lives: true },
        Some(401) => Close::Unauthorized,
        Some(403) if seen.challenge => Close::Unauthorized,
        Some(204 | 405) if request.is_get() => {
            Close::StreamNotOffered { resuming: request == Request::Resume }
        }
        Some(409) if request.is_get() => Close::Conflict,
        Some(307 | 308) => Close::Redirected,
        Some(301..=303) if request.is_get() => Close::Redirected,
        Some(200..=299) if seen.media == Media::Other => Close::Refused,
        Some(200..=299) => unanswered(seen),
        // "No answer yet" and "not now" are the transport's words, not the server's judgement.
        Some(408 | 429) => Close::Transport,
        Some(300..=499 | 501 | 505) => Close::Refused,
        Some(_) => Close::Transport,
    }
}

/// A stream that was accepted, or whose status nobody wrote down, and that ended.
fn unanswered<'a>(seen: &Observation<'a>) -> Close<'a> {
    let ended_in_order = matches!(seen.end, End::Clean | End::Unrecorded);
    if seen.delivery == Delivery::Unrecorded && ended_in_order { Close::Unseen } else { Close::Transport }
}

/// How sure it is that the client saw the close that this side saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sight {
    /// Nothing recorded here decides it.
    Unknown,
    /// Seen at another hop, or inferred from a cut whose body was not recorded.
    Likely,
    /// The client's own view.
    Proved,
}

/// How sure it is that the client saw what [`classify_close`] says of this observation (contract 3.1: the vantage).
#[must_use]
pub fn sight(vantage: Vantage, seen: &Observation<'_>) -> Sight {
    match classify_close(vantage, seen) {
        Close::Unseen => Sight::Unknown,
        // The response may have been delivered before the cut.
        Close::Transport if seen.delivery == Delivery::Unrecorded && seen.is_success() => Sight::Likely,
        _ if vantage == Vantage::Client => Sight::Proved,
        _ => Sight::Likely,
    }
}

#[cfg(test)]
mod tests;
