//! What a client holds of one stream: session id, cursor, attempts; and what an action leaves of it.
//! Knows no transport and no storage; it is the state between two questions to `next`.

use crate::action::{Action, SessionId};
use crate::close::Close;
use crate::era::Era;
use crate::next::{Awaited, Cursor, Session, Situation};
use crate::pace::{Attempts, Pace, RetryPolicy};
use crate::sse::{Ended, StreamCursor};
use crate::token::{Owner, ResumeToken};

/// What a client holds of one stream. Session id and cursor can only be dropped together.
#[derive(Clone, Debug)]
pub struct Hold {
    session: HeldSession,
    cursor: StreamCursor,
    stored: Option<String>,
    /// Ids were issued before a restart, and the cursor was not in storage.
    is_lost: bool,
    /// The session was just given up for a new one, so the attempts go on counting.
    is_replaced: bool,
    attempts: Attempts,
    policy: RetryPolicy,
}

#[derive(Clone)]
enum HeldSession {
    NeverIssued,
    Held(String),
}

impl std::fmt::Debug for HeldSession {
    /// Without the id, which is a bearer token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            HeldSession::NeverIssued => "NeverIssued",
            HeldSession::Held(_) => "Held",
        })
    }
}

/// What an action does to what is held, without borrowing from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    keeps_session: bool,
    keeps_cursor: bool,
    moves_to: Option<String>,
    is_attempt: bool,
}

impl Action<'_> {
    /// What carrying out this action does to a [`Hold`].
    #[must_use]
    pub fn effect(&self) -> Effect {
        let moves_to = match self {
            Action::ReconnectAtHead { last_event_id, .. } => Some((*last_event_id).to_owned()),
            _ => None,
        };
        Effect {
            keeps_session: self.keeps_session(),
            keeps_cursor: self.keeps_cursor(),
            moves_to,
            is_attempt: self.is_attempt(),
        }
    }
}

impl Hold {
    /// Before the first request: nothing is held.
    #[must_use]
    pub fn new(policy: RetryPolicy) -> Hold {
        let session = HeldSession::NeverIssued;
        let cursor = StreamCursor::new();
        let attempts = Attempts::NONE;
        Hold { session, cursor, stored: None, is_lost: false, is_replaced: false, attempts, policy }
    }

    /// After a restart: what the token in storage says.
    #[must_use]
    pub fn restored(token: &ResumeToken, policy: RetryPolicy) -> Hold {
        let session = match token.owner() {
            Owner::Session(id) => HeldSession::Held(id.to_owned()),
            Owner::Endpoint { .. } => HeldSession::NeverIssued,
        };
        let (cursor, stored) = (StreamCursor::resumed(&token.cursor), Some(token.cursor.clone()));
        Hold { session, cursor, stored, ..Hold::new(policy) }
    }

    /// After a restart: the session id was in storage, and the cursor of a stream that had delivered ids was not.
    #[must_use]
    pub fn without_cursor(session: Option<&str>, policy: RetryPolicy) -> Hold {
        let mut hold = Hold::new(policy);
        hold.initialized(session);
        hold.is_lost = true;
        hold
    }

    /// The response to `initialize` was delivered, with this `Mcp-Session-Id`. A cursor of an earlier session is
    /// dropped. Not to be called with any other response: an absent header there says nothing of the session.
    pub fn initialized(&mut self, session: Option<&str>) {
        self.session = session.map_or(HeldSession::NeverIssued, |id| HeldSession::Held(id.to_owned()));
        self.drop_cursor();
    }

    /// A request other than `initialize` is about to open a stream of its own: it has no cursor yet, and the session
    /// stays. Attempts start anew, unless the session was just replaced: or a server that terminates every session
    /// would be asked for ever.
    pub fn opened(&mut self) {
        self.drop_cursor();
        if !std::mem::take(&mut self.is_replaced) {
            self.attempts = Attempts::NONE;
        }
    }

    /// The client itself ended the session: shutdown, or a DELETE that the server took or refused.
    pub fn end(&mut self) {
        self.session = HeldSession::NeverIssued;
        self.drop_cursor();
    }

    /// The session id to send.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        match &self.session {
            HeldSession::Held(id) => Some(id),
            HeldSession::NeverIssued => None,
        }
    }

    /// Reads bytes of the event stream. An event with a new id is progress and resets the attempts (contract 3.2).
    pub fn read(&mut self, bytes: &[u8]) {
        self.read_each(bytes, |_| {});
    }

    /// The same, telling every event that ended.
    pub fn read_each(&mut self, bytes: &[u8], mut each: impl FnMut(Ended<'_>)) {
        let mut last = self.cursor.last_event_id().map(str::to_owned);
        let mut is_new = false;
        self.cursor.read_each(bytes, |ended| {
            if let Some(id) = ended.id.filter(|id| !id.is_empty())
                && last.as_deref() != Some(id)
            {
                is_new = true;
                last = Some(id.to_owned());
            }
            each(ended);
        });
        self.attempts = self.attempts.after_event(is_new);
    }

    /// A stream ended in the middle of an event: what was read of it moves nothing (contract 1).
    pub fn cut(&mut self) {
        self.cursor.cut();
    }

    /// The cursor as it stands is in storage now.
    pub fn stored(&mut self) {
        self.stored = self.cursor.last_event_id().map(str::to_owned);
    }

    /// The cursor.
    #[must_use]
    pub fn cursor(&self) -> Cursor<'_> {
        match self.cursor.last_event_id() {
            Some(id) if self.stored.as_deref() == Some(id) => Cursor::Persisted(id),
            Some(id) => Cursor::InMemory(id),
            None if self.is_lost => Cursor::Lost,
            None => Cursor::NeverIssued,
        }
    }

    /// Attempts since the last progress.
    #[must_use]
    pub const fn attempts(&self) -> Attempts {
        self.attempts
    }

    /// The question to [`crate::next_action`]; add `pace.retry_after` and `pace.jitter` with struct update syntax.
    #[must_use]
    pub fn situation<'a>(&'a self, close: Close<'a>, era: Era, awaited: Awaited<'a>) -> Situation<'a> {
        let session = self.session().map_or(Session::NeverIssued, |id| Session::Held(SessionId(id)));
        let pace = Pace { retry: self.cursor.retry(), ..Pace::default() };
        let (cursor, attempts, policy) = (self.cursor(), self.attempts, self.policy);
        Situation { close, era, session, cursor, awaited, attempts, policy, pace }
    }

    /// The action was carried out.
    pub fn apply(&mut self, effect: Effect) {
        if effect.is_attempt {
            self.attempts = self.attempts.after_attempt();
        }
        if !effect.keeps_session {
            self.end();
            self.is_replaced = effect.is_attempt;
        }
        if !effect.keeps_cursor {
            self.drop_cursor();
        }
        if let Some(head) = effect.moves_to {
            self.cursor = StreamCursor::resumed(&head);
        }
    }

    fn drop_cursor(&mut self) {
        self.cursor = StreamCursor::new();
        self.stored = None;
        self.is_lost = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::next::next_action;
    use crate::resend::{Missing, Permission};
    use crate::token::Fingerprint;

    const CALL: Awaited<'static> = Awaited::Call(Permission::Forbidden(Missing::Outcome));

    fn held() -> Hold {
        let mut hold = Hold::new(RetryPolicy::DEFAULT);
        hold.initialized(Some("s-1"));
        hold.read(b"retry: 9000\nid: 1\ndata:\n\n");
        hold
    }

    fn after(hold: &mut Hold, close: Close<'_>) -> Result<Effect, crate::Refusal> {
        let effect = next_action(&hold.situation(close, Era::Sessioned, CALL))?.effect();
        hold.apply(effect.clone());
        Ok(effect)
    }

    #[test]
    fn a_cut_keeps_both_and_counts() {
        let mut hold = held();
        assert!(after(&mut hold, Close::Transport).is_ok());
        assert_eq!((hold.session(), hold.cursor()), (Some("s-1"), Cursor::InMemory("1")));
        assert_eq!(hold.attempts().count(), 1);
        let situation = hold.situation(Close::Transport, Era::Sessioned, CALL);
        assert_eq!(situation.pace.retry.map(|retry| retry.as_secs()), Some(9));
    }

    #[test]
    fn a_terminated_session_takes_its_cursor_along() {
        let mut hold = held();
        hold.stored();
        assert_eq!(hold.cursor(), Cursor::Persisted("1"));
        assert!(after(&mut hold, Close::SessionTerminated).is_ok());
        assert_eq!((hold.session(), hold.cursor()), (None, Cursor::NeverIssued));
    }

    #[test]
    fn a_new_session_never_gets_the_old_cursor() {
        let mut hold = held();
        hold.initialized(Some("s-2"));
        assert_eq!((hold.session(), hold.cursor()), (Some("s-2"), Cursor::NeverIssued));
    }

    #[test]
    fn a_head_replaces_the_cursor() {
        let mut hold = held();
        assert!(after(&mut hold, Close::EventsLost { head: Some("9") }).is_ok());
        assert_eq!((hold.session(), hold.cursor()), (Some("s-1"), Cursor::InMemory("9")));
    }

    #[test]
    fn only_an_event_with_a_new_id_is_progress() {
        let mut hold = held();
        for _ in 0..3 {
            assert!(after(&mut hold, Close::Transport).is_ok());
        }
        hold.read(b"data: x\n\nid: 1\ndata: again\n\nid: 2\ndata: cut off");
        assert_eq!(hold.attempts().count(), 3);
        hold.read(b"\n\n");
        assert_eq!(hold.attempts().count(), 0);
    }

    #[test]
    fn what_was_cut_off_does_not_run_into_the_next_stream() {
        let mut hold = held();
        hold.read(b"id: 2\ndata: {");
        hold.cut();
        hold.read(b"\n\n");
        assert_eq!(hold.cursor(), Cursor::InMemory("1"));
    }

    #[test]
    fn a_new_stream_has_no_cursor_and_fresh_attempts() {
        let mut hold = held();
        assert!(after(&mut hold, Close::Transport).is_ok());
        hold.opened();
        assert_eq!((hold.session(), hold.cursor()), (Some("s-1"), Cursor::NeverIssued));
        assert_eq!(hold.attempts().count(), 0);
    }

    #[test]
    fn a_server_that_terminates_every_session_is_not_asked_for_ever() {
        let mut hold = held();
        let mut sessions = 0;
        while after(&mut hold, Close::SessionTerminated).is_ok_and(|effect| effect.is_attempt) {
            hold.initialized(Some("another"));
            hold.opened();
            sessions += 1;
            assert!(sessions < 100);
        }
        assert_eq!((sessions, hold.session()), (RetryPolicy::DEFAULT.max_attempts + 1, None));
    }

    #[test]
    fn ending_a_session_drops_both() {
        let mut hold = held();
        hold.end();
        assert_eq!((hold.session(), hold.cursor()), (None, Cursor::NeverIssued));
    }

    #[test]
    fn a_restart_restores_what_was_stored() {
        let token = ResumeToken::new(Owner::Session("s-1"), "call", "4", Fingerprint([0; 32]));
        let hold = Hold::restored(&token, RetryPolicy::DEFAULT);
        assert_eq!((hold.session(), hold.cursor()), (Some("s-1"), Cursor::Persisted("4")));
    }

    #[test]
    fn a_restart_without_the_cursor_is_refused_by_name() {
        let mut hold = Hold::without_cursor(Some("s-1"), RetryPolicy::DEFAULT);
        assert_eq!(after(&mut hold, Close::Transport), Err(crate::Refusal::CursorNeverPersisted));
        assert!(after(&mut hold, Close::SessionTerminated).is_ok());
        assert_eq!(hold.cursor(), Cursor::NeverIssued);
    }

    #[test]
    fn debug_output_holds_no_session_id() {
        assert!(!format!("{:?}", held()).contains("s-1"));
    }
}
