//! Whether a call may be sent again (contract 3.6).
//! Knows no tool by name and trusts no hint on its own; whether two calls are the same is `call`.

/// What is known of the first send (contract 3.6, left column).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FirstSend {
    /// It provably never reached a handler.
    NotDispatched,
    /// Its response was delivered.
    Answered(Answer),
    /// Cancelled, or its session DELETEd. `stopped`: the server's log shows that the handler stopped before it took
    /// effect.
    Cancelled {
        /// Stopped before any effect.
        stopped: bool,
    },
    /// Nothing.
    Unknown,
}

/// What a delivered response says, as far as sending again depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// A result.
    Result,
    /// The server asks for input first: `input_required`, or -32042 (URL elicitation). The next round is another call.
    InputRequired,
    /// An error from before the handler.
    BeforeHandler,
    /// `isError`, or an error the handler may have raised half-way.
    HandlerFailed,
}

impl Answer {
    /// What a JSON-RPC error code tells (contract 3.6). Codes the contract does not list may come from a handler.
    #[must_use]
    pub const fn of_error(code: i64) -> Answer {
        match code {
            -32700 | -32602..=-32600 | -32022..=-32020 => Answer::BeforeHandler,
            -32042 => Answer::InputRequired,
            _ => Answer::HandlerFailed,
        }
    }
}

/// Who produced the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Responder {
    /// The MCP endpoint, or not known to be anything else.
    #[default]
    Endpoint,
    /// A proxy.
    Proxy,
}

/// What a proxy did with the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Upstream {
    /// No proxy told.
    #[default]
    Unrecorded,
    /// It tried no upstream.
    NotTried,
    /// It tried, and every connect failed.
    ConnectsFailed,
    /// At least one attempt may have delivered the request.
    Attempted,
}

/// How a send ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SendEnd {
    /// Connect, DNS or TLS failure.
    ConnectFailed,
    /// `REFUSED_STREAM`, or a stream above the last id of a GOAWAY.
    RefusedStream,
    /// Ended before the request body was complete (a missing byte keeps a handler from running).
    BodyIncomplete,
    /// This status, without a response to the call.
    Status(u16),
    /// Reset, timeout or end after the request was written.
    Lost,
}

/// Places a send that was not answered (contract 3.6, rows one and five).
#[must_use]
pub const fn first_send(end: SendEnd, responder: Responder, upstream: Upstream) -> FirstSend {
    match end {
        SendEnd::ConnectFailed | SendEnd::RefusedStream | SendEnd::BodyIncomplete => {
            return FirstSend::NotDispatched;
        }
        SendEnd::Status(_) | SendEnd::Lost => {}
    }
    match upstream {
        Upstream::ConnectsFailed | Upstream::NotTried => return FirstSend::NotDispatched,
        // A proxy's own status says nothing once the upstream may have run.
        Upstream::Attempted if matches!(responder, Responder::Proxy) => return FirstSend::Unknown,
        Upstream::Attempted | Upstream::Unrecorded => {}
    }
    match end {
        // A redirect asks for the request elsewhere; the statuses after it are refusals before dispatch.
        SendEnd::Status(300..=399 | 400 | 401 | 403..=406 | 413 | 415 | 421 | 425 | 429) => {
            FirstSend::NotDispatched
        }
        _ => FirstSend::Unknown,
    }
}

/// What a tool declares of itself. `None`: not declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Hints {
    /// `readOnlyHint`.
    pub read_only: Option<bool>,
    /// `idempotentHint`.
    pub idempotent: Option<bool>,
    /// `destructiveHint`.
    pub destructive: Option<bool>,
    /// Two listings disagreed.
    pub disputed: bool,
    /// Why the hints may be believed.
    pub trust: Trust,
}

/// Why hints may be believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trust {
    /// Seen in `tools/list` of a server that nobody vouches for.
    #[default]
    Untrusted,
    /// Seen in `tools/list` of a trusted server.
    TrustedServer,
    /// Configured by the operator.
    Configured,
}

impl Hints {
    /// Both listings together: what they disagree on makes the tool unsafe (contract 3.6).
    #[must_use]
    pub fn and(self, other: Hints) -> Hints {
        let mut disputed = self.disputed || other.disputed;
        let mut agree = |a: Option<bool>, b: Option<bool>| {
            disputed |= matches!((a, b), (Some(a), Some(b)) if a != b);
            a.or(b)
        };
        let (read_only, idempotent, destructive) = (
            agree(self.read_only, other.read_only),
            agree(self.idempotent, other.idempotent),
            agree(self.destructive, other.destructive),
        );
        Hints { read_only, idempotent, destructive, disputed, trust: self.trust.min(other.trust) }
    }

    /// Whether the hints contradict each other: two listings disagreed, or a tool is read-only and destructive.
    #[must_use]
    pub const fn contradict(&self) -> bool {
        self.disputed || matches!((self.read_only, self.destructive), (Some(true), Some(true)))
    }
}

/// The **declared** idempotency key of both sends: an argument, a `_meta` key or `Idempotency-Key`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Key {
    /// None on at least one of them.
    #[default]
    None,
    /// The same on both.
    Same,
    /// Different ones.
    Different,
}

/// Whether a call may be sent again, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Permission {
    /// Yes: the first send never reached a handler.
    NotDispatched,
    /// Yes: it was refused before the handler.
    BeforeHandler,
    /// Yes, with the input the server asked for; that is another call.
    NextRound,
    /// Yes: the server's log shows that it was stopped before it took effect.
    Stopped,
    /// Yes: both sends carry the same declared idempotency key.
    SameKey,
    /// Yes: `readOnlyHint`.
    ReadOnly,
    /// Yes: `idempotentHint`.
    Idempotent,
    /// Only as a new intent: the outcome is known.
    NewIntent,
    /// Only by a person or a model: part of the effect may be there.
    ByPersonOrModel,
    /// No: the proof that is missing.
    Forbidden(Missing),
}

/// What would have to be known to send a call again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Missing {
    /// The outcome, or a declared key, or a hint.
    Outcome,
    /// The same key: the two sends carry different ones.
    SameKey,
    /// Trust in the server whose hint allows it.
    Trust,
    /// Hints that do not contradict each other.
    ConsistentHints,
}

impl Permission {
    /// Whether a program may send it again on its own.
    #[must_use]
    pub const fn is_automatic(self) -> bool {
        !matches!(self, Permission::NewIntent | Permission::ByPersonOrModel | Permission::Forbidden(_))
    }
}

/// May the call be sent again (contract 3.6)? Total; the tool's name never counts.
#[must_use]
pub const fn may_resend(first: FirstSend, key: Key, hints: &Hints) -> Permission {
    match first {
        FirstSend::NotDispatched => Permission::NotDispatched,
        FirstSend::Answered(Answer::Result) => Permission::NewIntent,
        FirstSend::Answered(Answer::InputRequired) => Permission::NextRound,
        FirstSend::Answered(Answer::BeforeHandler) => Permission::BeforeHandler,
        FirstSend::Answered(Answer::HandlerFailed) => Permission::ByPersonOrModel,
        FirstSend::Cancelled { stopped: true } => Permission::Stopped,
        FirstSend::Cancelled { stopped: false } | FirstSend::Unknown => safe_to_repeat(key, hints),
    }
}

/// The last row: the outcome is unknown, so only the call itself can make a repeat safe.
const fn safe_to_repeat(key: Key, hints: &Hints) -> Permission {
    if matches!(key, Key::Same) {
        return Permission::SameKey;
    }
    let allowed = match (hints.read_only, hints.idempotent) {
        (Some(true), _) => Permission::ReadOnly,
        (_, Some(true)) => Permission::Idempotent,
        _ if matches!(key, Key::Different) => return Permission::Forbidden(Missing::SameKey),
        _ => return Permission::Forbidden(Missing::Outcome),
    };
    if hints.contradict() {
        return Permission::Forbidden(Missing::ConsistentHints);
    }
    match hints.trust {
        Trust::Untrusted => Permission::Forbidden(Missing::Trust),
        Trust::TrustedServer | Trust::Configured => allowed,
    }
}

#[cfg(test)]
mod tests;
