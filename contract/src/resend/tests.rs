//! A test for every row of contract 3.6.
//! Knows no tool; a name would prove nothing.

use proptest::prelude::*;

use super::*;

const NO_HINTS: Hints =
    Hints { read_only: None, idempotent: None, destructive: None, disputed: false, trust: Trust::Configured };
const UNKNOWN: Permission = Permission::Forbidden(Missing::Outcome);

const fn unanswered(end: SendEnd) -> FirstSend {
    first_send(end, Responder::Endpoint, Upstream::Unrecorded)
}

#[test]
fn row_1_not_dispatched() {
    for end in [SendEnd::ConnectFailed, SendEnd::RefusedStream, SendEnd::BodyIncomplete] {
        assert_eq!(unanswered(end), FirstSend::NotDispatched);
    }
    for status in [307, 400, 401, 403, 404, 405, 406, 413, 415, 421, 425, 429] {
        assert_eq!(unanswered(SendEnd::Status(status)), FirstSend::NotDispatched, "{status}");
    }
    for upstream in [Upstream::NotTried, Upstream::ConnectsFailed] {
        for status in [502, 503, 504] {
            let first = first_send(SendEnd::Status(status), Responder::Proxy, upstream);
            assert_eq!(first, FirstSend::NotDispatched, "{status} {upstream:?}");
        }
    }
    assert_eq!(may_resend(FirstSend::NotDispatched, Key::None, &NO_HINTS), Permission::NotDispatched);
}

#[test]
fn row_2_an_answer_from_before_the_handler() {
    for code in [-32700, -32600, -32601, -32602, -32020, -32021, -32022] {
        let permission = may_resend(FirstSend::Answered(Answer::of_error(code)), Key::None, &NO_HINTS);
        assert_eq!(permission, Permission::BeforeHandler, "{code}");
        assert!(permission.is_automatic());
    }
}

#[test]
fn row_2_a_result_allows_only_a_new_intent() {
    let permission = may_resend(FirstSend::Answered(Answer::Result), Key::Same, &NO_HINTS);
    assert_eq!(permission, Permission::NewIntent);
    assert!(!permission.is_automatic());
}

#[test]
fn row_2_a_request_for_input_allows_the_next_round() {
    assert_eq!(Answer::of_error(-32042), Answer::InputRequired);
    let permission = may_resend(FirstSend::Answered(Answer::InputRequired), Key::None, &NO_HINTS);
    assert_eq!(permission, Permission::NextRound);
}

#[test]
fn row_3_a_failed_handler_needs_a_person_or_a_model() {
    for code in [-32603, -32000, -32019, -32002, -1, 1, i64::MIN] {
        let permission = may_resend(FirstSend::Answered(Answer::of_error(code)), Key::None, &NO_HINTS);
        assert_eq!(permission, Permission::ByPersonOrModel, "{code}");
        assert!(!permission.is_automatic());
    }
}

#[test]
fn row_4_cancelled_is_unknown_unless_the_handler_provably_stopped() {
    let of = |stopped| may_resend(FirstSend::Cancelled { stopped }, Key::None, &NO_HINTS);
    assert_eq!(of(true), Permission::Stopped);
    assert_eq!(of(false), UNKNOWN);
}

#[test]
fn row_5_unknown() {
    for status in [200, 202, 408, 499, 500, 502, 503, 504, 520] {
        assert_eq!(unanswered(SendEnd::Status(status)), FirstSend::Unknown, "{status}");
    }
    assert_eq!(unanswered(SendEnd::Lost), FirstSend::Unknown);
    for status in [404, 429, 503] {
        let first = first_send(SendEnd::Status(status), Responder::Proxy, Upstream::Attempted);
        assert_eq!(first, FirstSend::Unknown, "{status}");
    }
    // The endpoint's own 404 behind a proxy is still the endpoint's.
    let first = first_send(SendEnd::Status(404), Responder::Endpoint, Upstream::Attempted);
    assert_eq!(first, FirstSend::NotDispatched);
}

#[test]
fn row_5_a_declared_key_or_a_trusted_hint_makes_it_safe() {
    let of = |key, hints: Hints| may_resend(FirstSend::Unknown, key, &hints);
    assert_eq!(of(Key::None, NO_HINTS), UNKNOWN);
    assert_eq!(of(Key::Same, NO_HINTS), Permission::SameKey);
    assert_eq!(of(Key::Different, NO_HINTS), Permission::Forbidden(Missing::SameKey));
    let read_only = Hints { read_only: Some(true), ..NO_HINTS };
    let idempotent = Hints { idempotent: Some(true), destructive: Some(true), ..NO_HINTS };
    for key in [Key::None, Key::Different] {
        assert_eq!(of(key, read_only), Permission::ReadOnly);
        assert_eq!(of(key, idempotent), Permission::Idempotent);
    }
    let untrusted = Hints { trust: Trust::Untrusted, ..read_only };
    assert_eq!(of(Key::None, untrusted), Permission::Forbidden(Missing::Trust));
    let denied = Hints { read_only: Some(false), idempotent: Some(false), ..NO_HINTS };
    assert_eq!(of(Key::None, denied), UNKNOWN);
}

#[test]
fn row_5_contradictory_hints_are_unsafe() {
    let of = |hints: Hints| may_resend(FirstSend::Unknown, Key::None, &hints);
    let both = Hints { read_only: Some(true), destructive: Some(true), ..NO_HINTS };
    assert_eq!(of(both), Permission::Forbidden(Missing::ConsistentHints));
    let first = Hints { read_only: Some(true), ..NO_HINTS };
    let second = Hints { read_only: Some(false), trust: Trust::TrustedServer, ..NO_HINTS };
    let merged = first.and(second);
    assert!(merged.disputed);
    assert_eq!(merged.trust, Trust::TrustedServer);
    assert_eq!(of(merged), Permission::Forbidden(Missing::ConsistentHints));
    assert_eq!(of(first.and(NO_HINTS)), Permission::ReadOnly);
}

proptest! {
    #[test]
    fn an_unknown_outcome_needs_a_proof(
        key in prop_oneof![Just(Key::None), Just(Key::Same), Just(Key::Different)],
        read_only: Option<bool>,
        idempotent: Option<bool>,
        destructive: Option<bool>,
        disputed: bool,
        trust in prop_oneof![Just(Trust::Untrusted), Just(Trust::TrustedServer), Just(Trust::Configured)],
    ) {
        let hints = Hints { read_only, idempotent, destructive, disputed, trust };
        let automatic = may_resend(FirstSend::Unknown, key, &hints).is_automatic();
        let hinted = (read_only == Some(true) || idempotent == Some(true))
            && !hints.contradict()
            && trust != Trust::Untrusted;
        prop_assert_eq!(automatic, key == Key::Same || hinted);
    }
}
