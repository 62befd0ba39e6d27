//! A test for every row of contract 3.2, in its order.
//! Knows the procedure only from outside; what holds for all rows at once is `laws`.

use super::*;
use crate::resend::Missing;
use crate::resume::Rejection;

mod laws;

const SECOND: Duration = Duration::from_secs(1);
const UNSAFE: Permission = Permission::Forbidden(Missing::Outcome);
const CALL: Awaited<'static> = Awaited::Call(UNSAFE);

fn sessioned<'a>(close: Close<'a>, awaited: Awaited<'a>) -> Situation<'a> {
    Situation { session: Session::Held(SessionId("s")), ..Situation::of(close, Era::Sessioned, awaited) }
}

fn stateless<'a>(close: Close<'a>, awaited: Awaited<'a>) -> Situation<'a> {
    Situation::of(close, Era::Stateless, awaited)
}

fn used_up(now: Situation<'_>) -> Situation<'_> {
    Situation { attempts: Attempts::new(now.policy.max_attempts), ..now }
}

const GIVEN_UP: Action<'static> = Action::GiveUp { outcome: Outcome::Unknown, cancel: Some(Cancel::Notify) };

#[test]
fn row_01_no_session_refuses_any_close() {
    for close in [Close::Completed, Close::Transport, Close::Abandoned, Close::SessionTerminated] {
        let now = Situation { session: Session::Lost, ..sessioned(close, CALL) };
        assert_eq!(next_action(&now), Err(Refusal::NoSession));
        let stateless = Situation { era: Era::Stateless, ..now };
        assert_ne!(next_action(&stateless), Err(Refusal::NoSession));
    }
}

#[test]
fn row_02_completed_and_ended_are_done() {
    for close in
        [Close::Completed, Close::Ended { session_lives: false }, Close::Ended { session_lives: true }]
    {
        assert_eq!(next_action(&sessioned(close, CALL)), Ok(Action::Done));
    }
}

#[test]
fn row_03_initialize_again_bounded() {
    let now = Situation::of(Close::Transport, Era::Sessioned, Awaited::Initialize);
    assert_eq!(next_action(&now), Ok(Action::Initialize { delay: SECOND }));
    let stopped = Action::GiveUp { outcome: Outcome::Unknown, cancel: None };
    assert_eq!(next_action(&used_up(now)), Ok(stopped));
}

#[test]
fn row_04_stateless_reissues_or_reconciles() {
    for close in [Close::Transport, Close::Abandoned] {
        assert_eq!(next_action(&stateless(close, CALL)), Ok(Action::Reconcile));
        for permission in [Permission::NotDispatched, Permission::SameKey, Permission::ReadOnly] {
            let now = stateless(close, Awaited::Call(permission));
            assert_eq!(next_action(&now), Ok(Action::Reissue { delay: SECOND }));
        }
        let now = stateless(close, Awaited::Call(Permission::ByPersonOrModel));
        assert_eq!(next_action(&now), Ok(Action::Reconcile));
        let now = stateless(close, Awaited::Subscription);
        assert_eq!(next_action(&now), Ok(Action::Reissue { delay: SECOND }));
        // A cursor left over from another era is not used.
        let now = Situation { cursor: Cursor::Persisted("7"), ..stateless(close, CALL) };
        assert_eq!(next_action(&now), Ok(Action::Reconcile));
    }
}

#[test]
fn row_05_a_task_is_polled_in_either_era() {
    for now in [
        sessioned(Close::Transport, Awaited::Task("t")),
        stateless(Close::Transport, Awaited::Task("t")),
        Situation { cursor: Cursor::Persisted("7"), ..sessioned(Close::Transport, Awaited::Task("t")) },
    ] {
        assert_eq!(next_action(&now), Ok(Action::Poll { task: "t", delay: SECOND }));
    }
}

#[test]
fn row_06_attempts_used_up_gives_up_and_cancels() {
    for cursor in [Cursor::Persisted("7"), Cursor::Lost, Cursor::NeverIssued] {
        let now = used_up(Situation { cursor, ..sessioned(Close::Transport, CALL) });
        assert_eq!(next_action(&now), Ok(GIVEN_UP));
        assert!(GIVEN_UP.keeps_session() && GIVEN_UP.must_reconcile());
    }
    let listening = used_up(sessioned(Close::Transport, Awaited::Listening));
    assert_eq!(next_action(&listening), Ok(Action::GiveUp { outcome: Outcome::Unknown, cancel: None }));
}

#[test]
fn row_07_a_held_cursor_resumes() {
    for awaited in [CALL, Awaited::Listening, Awaited::Answers] {
        for cursor in [Cursor::Persisted("7"), Cursor::InMemory("7")] {
            let now = Situation { cursor, ..sessioned(Close::Transport, awaited) };
            let resume = Action::Resume { session: Some(SessionId("s")), last_event_id: "7", delay: SECOND };
            assert_eq!(next_action(&now), Ok(resume));
            // Legal without session ids too.
            let now = Situation { session: Session::NeverIssued, ..now };
            let resume = Action::Resume { session: None, last_event_id: "7", delay: SECOND };
            assert_eq!(next_action(&now), Ok(resume));
        }
    }
}

#[test]
fn row_08_a_lost_cursor_refuses() {
    let cursor = Cursor::InMemory("7").after_restart();
    let now = Situation { cursor, ..sessioned(Close::Transport, CALL) };
    assert_eq!(next_action(&now), Err(Refusal::CursorNeverPersisted));
    let kept = Situation { cursor: Cursor::Persisted("7").after_restart(), ..now };
    assert!(next_action(&kept).is_ok());
}

#[test]
fn row_09_without_ids_listening_reconnects_and_calls_reconcile() {
    let now = sessioned(Close::Transport, Awaited::Listening);
    assert_eq!(next_action(&now), Ok(Action::Reconnect { session: Some(SessionId("s")), delay: SECOND }));
    assert_eq!(next_action(&sessioned(Close::Transport, CALL)), Ok(Action::Reconcile));
    // A hint makes a repeat safe, and still the outcome is asked for first.
    let hinted = Awaited::Call(Permission::Idempotent);
    assert_eq!(next_action(&sessioned(Close::Transport, hinted)), Ok(Action::Reconcile));
    // What never left is not in flight, and what has no effect is asked again.
    for awaited in [Awaited::Call(Permission::NotDispatched), Awaited::Answers] {
        assert_eq!(next_action(&sessioned(Close::Transport, awaited)), Ok(Action::Reissue { delay: SECOND }));
    }
}

#[test]
fn row_10_abandoned_cancels_and_keeps_the_session() {
    let cases =
        [(CALL, Cancel::Notify), (Awaited::Answers, Cancel::Notify), (Awaited::Task("t"), Cancel::Task("t"))];
    for (awaited, cancel) in cases {
        assert_eq!(next_action(&sessioned(Close::Abandoned, awaited)), Ok(Action::Cancel(cancel)));
    }
    for awaited in [Awaited::Initialize, Awaited::Listening, Awaited::Nothing] {
        assert_eq!(next_action(&sessioned(Close::Abandoned, awaited)), Ok(Action::Done));
    }
}

#[test]
fn row_11_session_terminated_reinitializes_without_delete() {
    let now = Situation { cursor: Cursor::Persisted("7"), ..sessioned(Close::SessionTerminated, CALL) };
    let action = next_action(&now).unwrap();
    assert_eq!(action, Action::Reinitialize { delete: None, delay: SECOND });
    assert!(!action.keeps_session() && !action.keeps_cursor() && action.must_reconcile());
    // The MUST goes before the count of attempts, once.
    assert!(matches!(next_action(&used_up(now)), Ok(Action::Reinitialize { .. })));
    let beyond = Situation { attempts: used_up(now).attempts.after_attempt(), ..now };
    assert_eq!(next_action(&beyond), Ok(Action::Forget));
}

#[test]
fn row_12_a_rejected_session_reinitializes_and_deletes_the_old_one() {
    for rejection in [Rejection::UnknownSession, Rejection::NotOwner, Rejection::ContextMismatch] {
        let now = sessioned(Close::ResumeRejected { rejection, head: Some("9") }, CALL);
        assert_eq!(
            next_action(&now),
            Ok(Action::Reinitialize { delete: Some(SessionId("s")), delay: SECOND })
        );
    }
}

#[test]
fn row_13_a_rejected_cursor_is_lost_events() {
    for rejection in Rejection::ALL.into_iter().filter(|rejection| rejection.is_about_cursor()) {
        let at = |head| {
            next_action(&sessioned(Close::ResumeRejected { rejection, head }, CALL)).map(|a| a.delay())
        };
        assert_eq!(at(None), Err(Refusal::NoHead));
        assert_eq!(at(Some("9")), Ok(Some(SECOND)));
    }
}

#[test]
fn row_14_lost_events_with_a_head_reconnect_there() {
    let now = Situation {
        cursor: Cursor::Persisted("2"),
        ..sessioned(Close::EventsLost { head: Some("9") }, CALL)
    };
    let action = Action::ReconnectAtHead { session: Some(SessionId("s")), last_event_id: "9", delay: SECOND };
    assert_eq!(next_action(&now), Ok(action));
    assert!(action.keeps_session() && !action.keeps_cursor() && action.must_reconcile());
}

#[test]
fn row_15_lost_events_without_a_head_refuse() {
    assert_eq!(next_action(&sessioned(Close::EventsLost { head: None }, CALL)), Err(Refusal::NoHead));
}

#[test]
fn row_16_unauthorized_renews_a_few_times() {
    let now = Situation { cursor: Cursor::Persisted("2"), ..sessioned(Close::Unauthorized, CALL) };
    let action = next_action(&now).unwrap();
    assert_eq!(action, Action::Reauthenticate { delay: SECOND });
    assert!(action.keeps_session() && action.keeps_cursor());
    let stopped = Action::GiveUp { outcome: Outcome::NotRun, cancel: None };
    assert_eq!(next_action(&used_up(now)), Ok(stopped));
}

#[test]
fn row_17_no_stream_offered() {
    let listening = sessioned(Close::StreamNotOffered { resuming: false }, Awaited::Listening);
    assert_eq!(next_action(&listening), Ok(Action::Done));
    let resuming = Close::StreamNotOffered { resuming: true };
    assert_eq!(next_action(&sessioned(resuming, CALL)), Ok(GIVEN_UP));
    let task = sessioned(resuming, Awaited::Task("t"));
    assert_eq!(next_action(&task), Ok(Action::Poll { task: "t", delay: SECOND }));
}

#[test]
fn row_18_conflict_waits_with_the_same_cursor_bounded() {
    let now = Situation { cursor: Cursor::InMemory("7"), ..sessioned(Close::Conflict, CALL) };
    let again = Action::Resume { session: Some(SessionId("s")), last_event_id: "7", delay: SECOND };
    assert_eq!(next_action(&now), Ok(again));
    assert_eq!(next_action(&used_up(now)), Ok(GIVEN_UP));
    let listening = sessioned(Close::Conflict, Awaited::Listening);
    assert_eq!(
        next_action(&listening),
        Ok(Action::Reconnect { session: Some(SessionId("s")), delay: SECOND })
    );
}

#[test]
fn row_19_refused_surfaces_and_superseded_goes_on() {
    assert_eq!(next_action(&sessioned(Close::Refused, CALL)), Ok(Action::Surface));
    assert_eq!(next_action(&sessioned(Close::Superseded, CALL)), Ok(Action::Continue));
}

#[test]
fn beside_the_rows() {
    assert_eq!(next_action(&sessioned(Close::Redirected, CALL)), Ok(Action::Follow));
    assert_eq!(next_action(&sessioned(Close::Unseen, CALL)), Err(Refusal::CloseUnseen));
    assert_eq!(next_action(&sessioned(Close::Transport, Awaited::Nothing)), Ok(Action::Surface));
    let old = Situation { era: Era::HttpSse, ..sessioned(Close::Transport, CALL) };
    assert_eq!(next_action(&old), Err(Refusal::OutOfScope));
}

#[test]
fn refusals_read_like_messages() {
    for refusal in Refusal::ALL {
        let message = refusal.to_string();
        assert!(message.len() <= 90 && !message.ends_with('.'), "{message}");
        assert!(message.starts_with(char::is_lowercase), "{message}");
    }
}

#[test]
fn debug_output_holds_no_session_id() {
    let now = Situation { session: Session::Held(SessionId("secret")), ..sessioned(Close::Conflict, CALL) };
    assert!(!format!("{now:?} {:?}", next_action(&now)).contains("secret"));
}
