//! Every refusal of contract 3.3 and 3.5 by its name, and the law that no cursor is clamped.
//! Knows the log only by what it was given.

use proptest::prelude::*;

use super::*;

const GOOD: View = View { record: Record::Owned, cursor_known: true, contiguous: true, same_context: true };

#[test]
fn authorize_in_the_order_of_the_contract() {
    assert_eq!(authorize_resume(&GOOD), Ok(()));
    let mut view = View { same_context: false, ..GOOD };
    assert_eq!(authorize_resume(&view), Err(Rejection::ContextMismatch));
    view.contiguous = false;
    assert_eq!(authorize_resume(&view), Err(Rejection::LogNotContiguous));
    view.cursor_known = false;
    assert_eq!(authorize_resume(&view), Err(Rejection::CursorUnknown));
    view.record = Record::OwnedElsewhere;
    assert_eq!(authorize_resume(&view), Err(Rejection::NotOwner));
    view.record = Record::Missing;
    assert_eq!(authorize_resume(&view), Err(Rejection::UnknownSession));
}

#[test]
fn rejections_are_named_coded_and_answered() {
    for rejection in Rejection::ALL {
        assert_eq!(Rejection::from_reason(rejection.reason()), Some(rejection));
        assert!((-32019..=-32000).contains(&rejection.code()), "{rejection:?}");
        let gone = matches!(rejection, Rejection::UnknownSession | Rejection::NotOwner);
        assert_eq!(rejection.status(), if gone { 404 } else { 400 });
        assert!(rejection.to_string().len() <= 90);
    }
    let codes: std::collections::BTreeSet<i64> = Rejection::ALL.iter().map(|r| r.code()).collect();
    assert_eq!(codes.len(), Rejection::ALL.len());
    assert_eq!(Rejection::from_reason("unknownsession"), None);
}

const MARK: SessionMark = SessionMark(7);
const ONE: [Window; 1] = [Window { stream: 2, floor: 4, head: 9 }];
const TWO: [Window; 2] = [ONE[0], Window { stream: 3, floor: 1, head: 0 }];

fn resolved(windows: &[Window], asked: Option<u64>, cursor: EventId) -> Result<Position, Rejection> {
    resolve_cursor(Some(&Retained { mark: Some(MARK), windows }), asked, &cursor)
}

const fn id(session: Option<u64>, stream: Option<u64>, sequence: u64) -> EventId {
    let session = match session {
        Some(mark) => Some(SessionMark(mark)),
        None => None,
    };
    EventId { session, stream, sequence }
}

#[test]
fn unknown_session() {
    assert_eq!(resolve_cursor(None, None, &id(None, None, 5)), Err(Rejection::UnknownSession));
}

#[test]
fn foreign_cursor() {
    for (asked, cursor) in [
        (None, id(Some(8), Some(2), 5)),
        (Some(3), id(Some(7), Some(2), 5)),
        (None, id(None, Some(4), 5)),
        (Some(3), id(None, None, 5)),
    ] {
        assert_eq!(resolved(&ONE, asked, cursor), Err(Rejection::ForeignCursor), "{cursor:?}");
    }
    let unmarked = Retained { mark: None, windows: &ONE };
    let marked = id(Some(7), Some(2), 5);
    assert_eq!(resolve_cursor(Some(&unmarked), None, &marked), Err(Rejection::ForeignCursor));
}

#[test]
fn ambiguous_cursor() {
    assert_eq!(resolved(&TWO, None, id(None, None, 5)), Err(Rejection::AmbiguousCursor));
    assert_eq!(resolved(&TWO, Some(2), id(Some(7), None, 5)), Err(Rejection::AmbiguousCursor));
    assert_eq!(resolved(&ONE, None, id(None, None, 5)), Ok(Position { stream: 2, after: 5 }));
}

#[test]
fn below_floor_is_refused_and_never_clamped() {
    assert_eq!(resolved(&ONE, None, id(Some(7), Some(2), 2)), Err(Rejection::BelowFloor));
    assert_eq!(resolved(&ONE, None, id(Some(7), Some(2), 0)), Err(Rejection::BelowFloor));
    assert_eq!(resolved(&ONE, None, id(Some(7), Some(2), 3)), Ok(Position { stream: 2, after: 3 }));
}

#[test]
fn above_head() {
    for sequence in [10, u64::MAX] {
        assert_eq!(resolved(&ONE, None, id(Some(7), Some(2), sequence)), Err(Rejection::AboveHead));
    }
    assert_eq!(resolved(&ONE, None, id(Some(7), Some(2), 9)), Ok(Position { stream: 2, after: 9 }));
    assert_eq!(resolved(&TWO, None, id(Some(7), Some(3), 0)), Ok(Position { stream: 3, after: 0 }));
}

const SAME: (Fingerprint, Fingerprint) = (Fingerprint([0; 32]), Fingerprint([0; 32]));

fn request(last_event_id: &str) -> ResumeRequest<'_> {
    ResumeRequest { last_event_id, stream: None, record: Record::Owned, contexts: SAME }
}

fn log() -> EventLog<u32> {
    let mut log = EventLog::new(Some("s-1"));
    for event in 1..=6 {
        log.append(2, event);
    }
    log.trim(2, 4);
    log
}

#[test]
fn resume_stream_replays_strictly_after_with_both_verdicts() {
    let log = log();
    let cursor = log.after(2, 3).next().unwrap().0;
    let resumption = resume_stream(&request(&cursor.to_string()), Some(&log));
    let position = resumption.position.unwrap();
    assert_eq!(position, Position { stream: 2, after: 4 });
    let replayed: Vec<u32> = log.after(position.stream, position.after).map(|(_, event)| *event).collect();
    assert_eq!(replayed, [5, 6]);
    let proved = Verdicts { session: SessionVerdict::Same, resumption: ResumptionVerdict::Proved };
    assert_eq!(resumption.verdicts, proved);
}

#[test]
fn resume_stream_names_every_rejection() {
    let mut log = log();
    let own = |sequence: u64| EventId { session: log.mark(), stream: Some(2), sequence }.to_string();
    let (low, mid, high) = (own(1), own(4), own(7));
    let rejected = |request: &ResumeRequest<'_>, log: Option<&EventLog<u32>>| {
        let resumption = resume_stream(request, log);
        let rejection = resumption.position.expect_err("answered");
        assert_eq!(resumption.verdicts, of_rejection(rejection));
        rejection
    };
    assert_eq!(rejected(&request(&mid), None), Rejection::UnknownSession);
    let elsewhere = ResumeRequest { record: Record::OwnedElsewhere, ..request(&mid) };
    assert_eq!(rejected(&elsewhere, None), Rejection::NotOwner);
    assert_eq!(rejected(&elsewhere, Some(&log)), Rejection::NotOwner);
    assert_eq!(rejected(&request("what?"), Some(&log)), Rejection::CursorUnknown);
    let changed = ResumeRequest { contexts: (SAME.0, Fingerprint([1; 32])), ..request(&mid) };
    assert_eq!(rejected(&changed, Some(&log)), Rejection::ContextMismatch);
    assert_eq!(rejected(&request("0000000000000001-2-4"), Some(&log)), Rejection::ForeignCursor);
    assert_eq!(rejected(&request(&low), Some(&log)), Rejection::BelowFloor);
    assert_eq!(rejected(&request(&high), Some(&log)), Rejection::AboveHead);
    log.lose(2);
    assert_eq!(rejected(&request(&mid), Some(&log)), Rejection::LogNotContiguous);
    log.append(3, 1);
    assert_eq!(rejected(&request("4"), Some(&log)), Rejection::AmbiguousCursor);
}

#[test]
fn retention_outlasts_the_idle_ttl_but_for_the_backoff() {
    let seconds = Duration::from_secs;
    assert_eq!(least_retention(seconds(300), seconds(30)), seconds(270));
    assert_eq!(least_retention(seconds(10), seconds(30)), Duration::ZERO);
}

proptest! {
    #[test]
    fn a_replay_is_whole_or_refused(
        issued in 0_u64..20,
        keep in 0_u64..25,
        holes in proptest::collection::btree_set(1_u64..20, 0..3),
        cursor in 0_u64..25,
    ) {
        let mut log = EventLog::new(None);
        for number in 1..=issued {
            if holes.contains(&number) { log.lose(1) } else { log.append(1, number) };
        }
        log.trim(1, keep);
        let text = format!("1-{cursor}");
        match resume_stream(&request(&text), Some(&log)).position {
            Ok(position) => {
                let replayed: Vec<u64> = log.after(1, position.after).map(|(_, event)| *event).collect();
                prop_assert_eq!(replayed, (cursor + 1..=issued).collect::<Vec<_>>());
            }
            Err(Rejection::BelowFloor) => prop_assert!(issued - keep.min(issued) > cursor),
            Err(Rejection::AboveHead) => prop_assert!(cursor > issued),
            Err(Rejection::LogNotContiguous) => prop_assert!(holes.iter().any(|hole| *hole > cursor)),
            // No event was ever issued, so the stream does not exist.
            Err(Rejection::ForeignCursor) => prop_assert_eq!(issued, 0),
            Err(other) => prop_assert!(false, "{:?}", other),
        }
    }
}
