//! Every check of contract 3.4 by its name, and the law that a believed resume starts strictly after the cursor.
//! Knows the token only from outside.

use proptest::prelude::*;

use super::*;

const CONTEXT: Context<'static> = Context {
    session: Some("s-1"),
    protocol_version: "2025-06-18",
    server_capabilities: br#"{"tools":{"listChanged":true},"logging":{}}"#,
    client_capabilities: b"{}",
};

fn token() -> ResumeToken {
    ResumeToken::new(Owner::Session("s-1"), "call-2", "st_5", fingerprint(&CONTEXT))
        .ordered(IdOrder::TrailingNumber)
}

const fn event(id: Option<&str>, has_data: bool) -> ResumedEvent<'_> {
    ResumedEvent { id, has_data }
}

fn judged(session: Option<&str>, events: &[ResumedEvent<'_>]) -> Belief {
    validate_resume(&token(), &Resumed { session, events, context: None })
}

#[test]
fn proved_when_all_checks_pass() {
    let events = [event(Some("st_6"), true)];
    let resumed = Resumed { session: Some("s-1"), events: &events, context: Some(fingerprint(&CONTEXT)) };
    assert_eq!(validate_resume(&token(), &resumed), Belief::Proved);
    assert_eq!(Belief::Proved.action(), None);
}

#[test]
fn no_session_acknowledged_is_unproved() {
    let doubt = Belief::Unproved(Doubt::NoSessionAcknowledged);
    assert_eq!(judged(None, &[event(Some("st_6"), true)]), doubt);
    // Its ids have no namespace, so even a repeat proves nothing.
    assert_eq!(judged(None, &[event(Some("st_5"), true)]), doubt);
    assert_eq!(doubt.action(), None);
}

#[test]
fn session_changed_is_failed() {
    let belief = judged(Some("s-2"), &[event(Some("st_6"), true)]);
    assert_eq!(belief, Belief::Failed(Disproof::SessionChanged));
    assert!(belief.action().is_some_and(|action| !action.keeps_session() && !action.keeps_cursor()));
}

#[test]
fn no_event_id_is_unproved() {
    for events in [&[event(None, true)][..], &[event(Some(""), true)], &[]] {
        assert_eq!(judged(Some("s-1"), events), Belief::Unproved(Doubt::NoEventId));
    }
}

#[test]
fn not_after_cursor_is_failed() {
    for id in ["st_5", "st_4"] {
        let belief = judged(Some("s-1"), &[event(Some(id), true)]);
        assert_eq!(belief, Belief::Failed(Disproof::NotAfterCursor), "{id}");
    }
}

#[test]
fn unplaceable_is_unproved() {
    let unplaceable = Belief::Unproved(Doubt::Unplaceable);
    assert_eq!(judged(Some("s-1"), &[event(Some("other_6"), true)]), unplaceable);
    let opaque = token().ordered(IdOrder::Opaque);
    let events = [event(Some("st_6"), true)];
    let resumed = Resumed { session: Some("s-1"), events: &events, context: None };
    assert_eq!(validate_resume(&opaque, &resumed), unplaceable);
}

#[test]
fn context_mismatch_is_failed() {
    let other = fingerprint(&Context { protocol_version: "2025-11-25", ..CONTEXT });
    let events = [event(Some("st_6"), true)];
    let resumed = Resumed { session: Some("s-1"), events: &events, context: Some(other) };
    assert_eq!(validate_resume(&token(), &resumed), Belief::Failed(Disproof::ContextMismatch));
}

#[test]
fn events_with_empty_data_are_skipped() {
    let primed = [event(Some("st_5"), false), event(None, false), event(Some("st_6"), true)];
    assert_eq!(judged(Some("s-1"), &primed), Belief::Proved);
    assert_eq!(judged(Some("s-1"), &primed[..2]), Belief::Unproved(Doubt::NoEventId));
}

#[test]
fn without_session_ids_nothing_acknowledges_and_a_named_session_is_another() {
    let owner = Owner::Endpoint { endpoint: "https://example.com/mcp", client: "desk-1" };
    let token = ResumeToken::new(owner, "listen", "7", fingerprint(&Context { session: None, ..CONTEXT }))
        .ordered(IdOrder::TrailingNumber);
    let events = [event(Some("8"), true)];
    let answer = |session| Resumed { session, events: &events, context: None };
    assert_eq!(validate_resume(&token, &answer(None)), Belief::Unproved(Doubt::NoSessionAcknowledged));
    assert_eq!(validate_resume(&token, &answer(Some("x"))), Belief::Failed(Disproof::SessionChanged));
}

#[test]
fn every_field_of_the_context_counts() {
    let base = fingerprint(&CONTEXT);
    for other in [
        Context { session: None, ..CONTEXT },
        Context { session: Some("s-2"), ..CONTEXT },
        Context { protocol_version: "2025-11-25", ..CONTEXT },
        Context { server_capabilities: b"{}", ..CONTEXT },
        Context { client_capabilities: b"{\"roots\":{}}", ..CONTEXT },
        Context { server_capabilities: b"{not json", ..CONTEXT },
    ] {
        assert_ne!(fingerprint(&other), base, "{other:?}");
    }
    let respelled = br#"{ "logging": {}, "tools": {"listChanged": true} }"#;
    assert_eq!(fingerprint(&Context { server_capabilities: respelled, ..CONTEXT }), base);
    let none = Context { session: None, ..CONTEXT };
    assert_ne!(fingerprint(&none), fingerprint(&Context { session: Some(""), ..CONTEXT }));
}

#[test]
fn a_token_tells_nobody_its_session() {
    assert!(!format!("{:?}", token()).contains("s-1"));
}

#[test]
fn bad_texts_are_refused_by_field() {
    let text = token().to_text();
    assert_eq!(ResumeToken::from_text("{}"), Err(BadToken::Form));
    assert_eq!(ResumeToken::from_text(&text.replacen("7:session", "7:xession", 1)), Err(BadToken::Field(0)));
    assert_eq!(ResumeToken::from_text(&format!("{text} 1:x")), Err(BadToken::Field(7)));
    assert_eq!(ResumeToken::from_text(&text.replacen(" 64:", " 64:z", 1)), Err(BadToken::Field(6)));
    for end in 0..text.len() {
        assert!(ResumeToken::from_text(&text[..end]).is_err(), "{end}");
    }
}

proptest! {
    #[test]
    fn a_believed_resume_starts_strictly_after_the_cursor(
        cursor in 0_u64..50,
        ids in proptest::collection::vec((proptest::option::of(0_u64..50), any::<bool>()), 0..5),
        session in prop_oneof![Just(None), Just(Some("s-1")), Just(Some("s-2"))],
    ) {
        let names: Vec<Option<String>> = ids.iter().map(|(id, _)| id.map(|id| format!("st_{id}"))).collect();
        let events: Vec<ResumedEvent<'_>> =
            names.iter().zip(&ids).map(|(name, (_, data))| event(name.as_deref(), *data)).collect();
        let mut token = token();
        token.cursor = format!("st_{cursor}");
        let belief = validate_resume(&token, &Resumed { session, events: &events, context: None });
        if belief == Belief::Proved {
            let first = ids.iter().find(|(_, data)| *data).and_then(|(id, _)| *id);
            prop_assert!(first.is_some_and(|first| first > cursor));
            prop_assert_eq!(session, Some("s-1"));
        }
    }

    #[test]
    fn a_token_survives_its_text(session in ".*", client in ".*", stream in ".*", cursor in ".*", anonymous: bool) {
        let owner = if anonymous {
            Owner::Endpoint { endpoint: &session, client: &client }
        } else {
            Owner::Session(&session)
        };
        let token = ResumeToken::new(owner, &stream, &cursor, fingerprint(&CONTEXT));
        prop_assert_eq!(ResumeToken::from_text(&token.to_text()), Ok(token));
    }

    #[test]
    fn any_text_is_answered(text in ".*", tail in "( [0-9]{1,20}:.{0,4}){0,8}") {
        prop_assert!(ResumeToken::from_text(&text).is_err());
        let _ = ResumeToken::from_text(&format!("unbroken-token-1{tail}"));
    }
}
