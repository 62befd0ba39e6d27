//! Both verdicts, for every way a reconnect can be answered.
//! Knows the checks of `token` and `resume` only by their results.

use super::*;
use crate::cursor::IdOrder;
use crate::token::{Fingerprint, ResumeToken, ResumedEvent};

fn judged(session: Option<&str>, id: &str, context: Option<Fingerprint>) -> Verdicts {
    let token = ResumeToken::new(Owner::Session("s-1"), "listen", "4", Fingerprint([0; 32]))
        .ordered(IdOrder::TrailingNumber);
    let events = [ResumedEvent { id: Some(id), has_data: true }];
    judge_reconnect(&token, &Answer::Stream(Resumed { session, events: &events, context }))
}

const fn verdicts(session: SessionVerdict, resumption: ResumptionVerdict) -> Verdicts {
    Verdicts { session, resumption }
}

#[test]
fn a_stream_gets_a_verdict_on_each() {
    use {ResumptionVerdict as R, SessionVerdict as S};
    assert_eq!(judged(Some("s-1"), "5", None), verdicts(S::Same, R::Proved));
    assert_eq!(judged(None, "5", None), verdicts(S::Unacknowledged, R::Unproved));
    assert_eq!(judged(Some("s-2"), "5", None), verdicts(S::Changed, R::Failed));
    assert_eq!(judged(Some("s-1"), "4", None), verdicts(S::Same, R::Failed));
    assert_eq!(judged(Some("s-1"), "x", None), verdicts(S::Same, R::Unproved));
    assert_eq!(judged(Some("s-1"), "5", Some(Fingerprint([1; 32]))), verdicts(S::Changed, R::Failed));
}

#[test]
fn a_refused_resume_is_rejected_and_a_cut_one_unproved() {
    use {ResumptionVerdict as R, SessionVerdict as S};
    for (close, expected) in [
        (Close::SessionTerminated, verdicts(S::Terminated, R::Rejected)),
        (Close::EventsLost { head: None }, verdicts(S::Unacknowledged, R::Rejected)),
        (Close::StreamNotOffered { resuming: true }, verdicts(S::Unacknowledged, R::Rejected)),
        (Close::Transport, verdicts(S::Unacknowledged, R::Unproved)),
        (Close::Unauthorized, verdicts(S::Unacknowledged, R::Unproved)),
    ] {
        assert_eq!(of_close(&close), expected, "{close:?}");
    }
}

#[test]
fn every_rejection_has_its_session_verdict() {
    for rejection in Rejection::ALL {
        let expected = match rejection {
            Rejection::UnknownSession => SessionVerdict::Terminated,
            Rejection::NotOwner => SessionVerdict::Unacknowledged,
            Rejection::ContextMismatch => SessionVerdict::Changed,
            _ => SessionVerdict::Same,
        };
        let close = Close::ResumeRejected { rejection, head: None };
        assert_eq!(of_close(&close), verdicts(expected, ResumptionVerdict::Rejected));
    }
}
