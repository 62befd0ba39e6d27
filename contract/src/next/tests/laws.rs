//! What holds for every situation there is: the laws at the end of contract 3.2, tried on all of them.
//! Knows no row.

use super::*;

const AWAITED: [Awaited<'static>; 10] = [
    Awaited::Initialize,
    Awaited::Listening,
    Awaited::Subscription,
    Awaited::Answers,
    Awaited::Task("t"),
    Awaited::Nothing,
    CALL,
    Awaited::Call(Permission::NotDispatched),
    Awaited::Call(Permission::Idempotent),
    Awaited::Call(Permission::ByPersonOrModel),
];

fn closes() -> Vec<Close<'static>> {
    let mut closes = vec![
        Close::Completed,
        Close::Abandoned,
        Close::SessionTerminated,
        Close::Superseded,
        Close::Unauthorized,
        Close::Conflict,
        Close::Redirected,
        Close::Refused,
        Close::Transport,
        Close::Unseen,
    ];
    for flag in [false, true] {
        closes.extend([Close::Ended { session_lives: flag }, Close::StreamNotOffered { resuming: flag }]);
    }
    for head in [None, Some("9")] {
        closes.push(Close::EventsLost { head });
        closes.extend(Rejection::ALL.map(|rejection| Close::ResumeRejected { rejection, head }));
    }
    closes
}

/// Calls `law` with every situation and what [`next_action`] makes of it.
fn everywhere(law: impl Fn(&Situation<'static>, Result<Action<'static>, Refusal>)) {
    let pace = Pace {
        retry: Some(Duration::from_secs(70)),
        retry_after: Some(Duration::from_secs(80)),
        jitter: Duration::from_millis(1),
    };
    let mut tried = 0;
    for close in closes() {
        for era in [Era::HttpSse, Era::Sessioned, Era::Stateless] {
            for session in [Session::NeverIssued, Session::Held(SessionId("s")), Session::Lost] {
                for cursor in
                    [Cursor::NeverIssued, Cursor::Persisted("7"), Cursor::InMemory("7"), Cursor::Lost]
                {
                    for awaited in AWAITED {
                        for attempts in [0, 1, 4, 5, 6, u32::MAX].map(Attempts::new) {
                            let policy = RetryPolicy::DEFAULT;
                            let now =
                                Situation { close, era, session, cursor, awaited, attempts, policy, pace };
                            law(&now, next_action(&now));
                            tried += 1;
                        }
                    }
                }
            }
        }
    }
    assert_eq!(tried, closes().len() * 3 * 3 * 4 * 10 * 6);
}

#[test]
fn a_session_is_dropped_only_when_it_is_gone_or_the_resume_rejected() {
    everywhere(|now, answer| {
        if answer.is_ok_and(|action| !action.keeps_session()) {
            assert_eq!(now.era, Era::Sessioned, "{now:?}");
            match now.close {
                Close::SessionTerminated => {}
                Close::ResumeRejected { rejection, .. } => assert!(!rejection.is_about_cursor(), "{now:?}"),
                _ => panic!("{now:?}"),
            }
        }
    });
}

#[test]
fn nothing_is_resumed_without_a_cursor() {
    everywhere(|now, answer| {
        if let Ok(Action::Resume { session, last_event_id, .. }) = answer {
            assert_eq!(now.cursor.held(), Some(last_event_id));
            assert_eq!(now.held_session(), session);
            assert_eq!(now.era, Era::Sessioned);
        }
    });
}

#[test]
fn dropping_a_session_drops_its_cursor() {
    everywhere(|now, answer| {
        if let Ok(action) = answer {
            assert!(action.keeps_session() || !action.keeps_cursor(), "{now:?}");
        }
    });
}

#[test]
fn attempts_are_bounded() {
    everywhere(|now, answer| {
        let used = now.attempts.count();
        if let Ok(action) = answer
            && action.is_attempt()
        {
            let bound = now.policy.max_attempts + u32::from(!action.keeps_session());
            assert!(used < bound, "{now:?} {action:?}");
        }
    });
}

#[test]
fn delays_never_shrink_below_what_the_server_asked() {
    everywhere(|now, answer| {
        if let Some(delay) = answer.ok().and_then(|action| action.delay()) {
            assert!(delay >= Duration::from_millis(80_001), "{now:?} {delay:?}");
        }
    });
}

#[test]
fn an_observer_never_raises_cursor_never_persisted() {
    everywhere(|now, answer| {
        if answer == Err(Refusal::CursorNeverPersisted) {
            assert_eq!(now.cursor, Cursor::Lost);
        }
    });
}

#[test]
fn a_call_is_only_sent_again_where_3_6_allows_it() {
    everywhere(|now, answer| {
        if matches!(answer, Ok(Action::Reissue { .. })) {
            match now.awaited {
                Awaited::Call(permission) => assert!(permission.is_automatic(), "{now:?}"),
                awaited => assert!(matches!(awaited, Awaited::Answers | Awaited::Subscription), "{now:?}"),
            }
        }
    });
}

#[test]
fn the_stateless_era_has_no_session_and_no_cursor() {
    everywhere(|now, answer| {
        if now.era == Era::Stateless {
            assert!(
                !matches!(
                    answer,
                    Ok(Action::Resume { .. }
                        | Action::Reconnect { .. }
                        | Action::ReconnectAtHead { .. }
                        | Action::Reinitialize { .. })
                ),
                "{now:?}"
            );
        }
    });
}

#[test]
fn nothing_is_ended_on_a_transient() {
    everywhere(|now, answer| {
        if let Ok(Action::Reinitialize { delete: Some(_), .. }) = answer {
            assert!(matches!(now.close, Close::ResumeRejected { .. }), "{now:?}");
        }
    });
}

#[test]
fn storage_makes_no_difference_while_the_process_lives() {
    everywhere(|now, answer| {
        if now.cursor == Cursor::InMemory("7") {
            let persisted = Situation { cursor: Cursor::Persisted("7"), ..*now };
            assert_eq!(next_action(&persisted), answer);
        }
    });
}
