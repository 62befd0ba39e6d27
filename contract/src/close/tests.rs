//! A test for every row of contract 3.1, and for the order of the rows.
//! Knows the procedure only from outside.

use proptest::prelude::*;

use super::*;

const HELD: Observation<'static> =
    Observation { session: SessionSent::Held, ..Observation::of(Era::Sessioned, Request::Ask) };

const fn answered(request: Request, status: u16) -> Observation<'static> {
    Observation { request, status: Some(status), end: End::Clean, ..HELD }
}

fn at_client<'a>(seen: &Observation<'a>) -> Close<'a> {
    classify_close(Vantage::Client, seen)
}

#[test]
fn row_01_delivered_however_the_stream_then_ended() {
    for end in [End::Clean, End::Cut, End::Idle, End::Own, End::Downstream, End::Unrecorded] {
        for request in [Request::Ask, Request::Resume] {
            let seen = Observation { delivery: Delivery::All, end, ..answered(request, 200) };
            assert_eq!(at_client(&seen), Close::Completed, "{end:?}");
        }
    }
    let unlogged = Observation { delivery: Delivery::All, status: None, ..HELD };
    assert_eq!(at_client(&unlogged), Close::Completed);
}

#[test]
fn row_01_an_error_status_that_repeats_the_id_is_no_delivery() {
    let seen = Observation { delivery: Delivery::All, ..answered(Request::Ask, 404) };
    assert_eq!(at_client(&seen), Close::SessionTerminated);
    let seen = Observation { delivery: Delivery::All, ..answered(Request::Ask, 400) };
    assert_eq!(at_client(&seen), Close::Refused);
}

#[test]
fn row_02_nothing_was_awaited() {
    for status in [200, 202, 204] {
        assert_eq!(at_client(&answered(Request::Tell, status)), Close::Completed);
    }
    // A request answered 202 or 204 still waits for its response.
    for status in [202, 204] {
        assert_eq!(at_client(&answered(Request::Ask, status)), Close::Transport);
    }
}

#[test]
fn row_03_the_client_ended_it() {
    for request in [Request::Ask, Request::Listen, Request::Resume] {
        let seen = Observation { end: End::Own, ..answered(request, 200) };
        assert_eq!(at_client(&seen), Close::Abandoned);
        // The same word at another hop is that hop's deadline, and a cut for the client.
        assert_eq!(classify_close(Vantage::Hop, &seen), Close::Transport);
        assert_eq!(classify_close(Vantage::Server, &seen), Close::Transport);
        let gone = Observation { end: End::Downstream, ..seen };
        assert_eq!(classify_close(Vantage::Hop, &gone), Close::Abandoned);
    }
    assert_eq!(classify_close(Vantage::Hop, &answered(Request::Ask, 499)), Close::Abandoned);
    assert_eq!(at_client(&answered(Request::Ask, 499)), Close::Refused);
}

#[test]
fn row_04_session_terminated() {
    for request in [Request::Ask, Request::Tell, Request::Listen, Request::Resume] {
        assert_eq!(at_client(&answered(request, 404)), Close::SessionTerminated);
    }
    // The row stands before the rejections, whatever the body says.
    let complaint = Complaint { reason: Some(Rejection::NotOwner), ..Complaint::default() };
    let seen = Observation { complaint, ..answered(Request::Resume, 404) };
    assert_eq!(at_client(&seen), Close::SessionTerminated);
}

#[test]
fn row_05_superseded() {
    for request in [Request::Ask, Request::Listen, Request::Delete] {
        let seen = Observation { session: SessionSent::Former, ..answered(request, 404) };
        assert_eq!(at_client(&seen), Close::Superseded);
    }
}

#[test]
fn row_06_resume_rejected() {
    for rejection in Rejection::ALL {
        let complaint =
            Complaint { reason: Some(rejection), code: Some(rejection.code()), ..Complaint::default() };
        let seen = Observation {
            complaint,
            session: SessionSent::None,
            ..answered(Request::Resume, rejection.status())
        };
        assert_eq!(at_client(&seen), Close::ResumeRejected { rejection, head: None });
        let post = Observation { request: Request::Ask, ..seen };
        assert_eq!(at_client(&post), Close::Refused);
    }
}

#[test]
fn row_07_events_lost() {
    let complaint = Complaint { about: About::Event, head: Some("9"), ..Complaint::default() };
    let seen = Observation { complaint, ..answered(Request::Resume, 400) };
    assert_eq!(at_client(&seen), Close::EventsLost { head: Some("9") });
    assert_eq!(at_client(&Observation { request: Request::Listen, ..seen }), Close::Refused);
    let signal = Complaint { about: About::EventsGone, ..Complaint::default() };
    let seen = Observation { complaint: signal, media: Media::EventStream, ..answered(Request::Resume, 200) };
    assert_eq!(at_client(&seen), Close::EventsLost { head: None });
}

#[test]
fn row_08_ended() {
    for status in [200, 202, 204, 404] {
        assert_eq!(at_client(&answered(Request::Delete, status)), Close::Ended { session_lives: false });
    }
    assert_eq!(at_client(&answered(Request::Delete, 405)), Close::Ended { session_lives: true });
    assert_eq!(at_client(&answered(Request::Delete, 503)), Close::Transport);
}

#[test]
fn row_09_unauthorized() {
    for request in [Request::Ask, Request::Listen, Request::Resume, Request::Delete] {
        assert_eq!(at_client(&answered(request, 401)), Close::Unauthorized);
        let seen = Observation { challenge: true, ..answered(request, 403) };
        assert_eq!(at_client(&seen), Close::Unauthorized);
        assert_eq!(at_client(&answered(request, 403)), Close::Refused);
    }
}

#[test]
fn row_10_stream_not_offered() {
    for status in [204, 405] {
        let close = |request| at_client(&answered(request, status));
        assert_eq!(close(Request::Listen), Close::StreamNotOffered { resuming: false });
        assert_eq!(close(Request::Resume), Close::StreamNotOffered { resuming: true });
    }
    assert_eq!(at_client(&answered(Request::Ask, 405)), Close::Refused);
}

#[test]
fn row_11_conflict() {
    for request in [Request::Listen, Request::Resume] {
        assert_eq!(at_client(&answered(request, 409)), Close::Conflict);
    }
    assert_eq!(at_client(&answered(Request::Ask, 409)), Close::Refused);
}

#[test]
fn row_12_redirects() {
    for status in [307, 308] {
        assert_eq!(at_client(&answered(Request::Ask, status)), Close::Redirected);
        assert_eq!(at_client(&answered(Request::Listen, status)), Close::Redirected);
    }
    for status in [301, 302, 303] {
        assert_eq!(at_client(&answered(Request::Ask, status)), Close::Refused);
        assert_eq!(at_client(&answered(Request::Resume, status)), Close::Redirected);
    }
}

#[test]
fn row_13_refused() {
    for status in [300, 304, 400, 402, 403, 406, 410, 413, 415, 422, 451, 501, 505] {
        assert_eq!(at_client(&answered(Request::Ask, status)), Close::Refused, "{status}");
    }
    let without_id = Observation { session: SessionSent::None, ..answered(Request::Ask, 404) };
    assert_eq!(at_client(&without_id), Close::Refused);
    let page = Observation { media: Media::Other, ..answered(Request::Ask, 200) };
    assert_eq!(at_client(&page), Close::Refused);
}

#[test]
fn row_13_stateless_404_is_method_not_found() {
    let complaint = Complaint { code: Some(-32601), ..Complaint::default() };
    let seen = Observation { era: Era::Stateless, complaint, ..answered(Request::Ask, 404) };
    assert_eq!(at_client(&seen), Close::Refused);
}

#[test]
fn row_14_transport() {
    for status in [408, 429, 500, 502, 503, 504, 520, 529] {
        assert_eq!(at_client(&answered(Request::Ask, status)), Close::Transport, "{status}");
    }
    for media in [Media::Json, Media::EventStream, Media::Empty, Media::Unrecorded] {
        for end in [End::Clean, End::Cut, End::Idle] {
            let seen = Observation { media, end, ..answered(Request::Ask, 200) };
            assert_eq!(at_client(&seen), Close::Transport);
        }
    }
    let unreachable = Observation { status: Some(0), end: End::Unreachable, ..HELD };
    assert_eq!(at_client(&unreachable), Close::Transport);
    assert_eq!(at_client(&answered(Request::Listen, 200)), Close::Transport);
}

#[test]
fn a_dialect_counts_as_404_only_where_it_is_listed() {
    let complaint = Complaint { code: Some(-32000), about: About::Session, ..Complaint::default() };
    let seen = Observation { complaint, ..answered(Request::Ask, 400) };
    assert_eq!(at_client(&seen), Close::Refused);
    for mark in [Mark::StatusAlone, Mark::Code(-32000), Mark::Text] {
        let dialects = [Dialect { status: 400, mark }];
        assert_eq!(at_client(&Observation { dialects: &dialects, ..seen }), Close::SessionTerminated);
        let delete = Observation { dialects: &dialects, request: Request::Delete, ..seen };
        assert_eq!(at_client(&delete), Close::Ended { session_lives: false });
        let other = Observation { dialects: &dialects, status: Some(422), ..seen };
        assert_eq!(at_client(&other), Close::Refused);
    }
    let code = [Dialect { status: 400, mark: Mark::Code(-32001) }];
    assert_eq!(at_client(&Observation { dialects: &code, ..seen }), Close::Refused);
}

#[test]
fn a_dialect_of_200_needs_a_mark_and_outranks_delivery() {
    let seen = Observation { delivery: Delivery::All, ..answered(Request::Ask, 200) };
    let bare = [Dialect { status: 200, mark: Mark::StatusAlone }];
    assert_eq!(at_client(&Observation { dialects: &bare, ..seen }), Close::Completed);
    let marked = [Dialect { status: 200, mark: Mark::Code(-32001) }];
    let complaint = Complaint { code: Some(-32001), ..Complaint::default() };
    let error = Observation { dialects: &marked, complaint, ..seen };
    assert_eq!(at_client(&error), Close::SessionTerminated);
}

#[test]
fn what_is_not_recorded_is_unseen() {
    let blind = Observation { delivery: Delivery::Unrecorded, ..answered(Request::Ask, 200) };
    assert_eq!(at_client(&blind), Close::Unseen);
    assert_eq!(at_client(&Observation { status: None, ..blind }), Close::Unseen);
    assert_eq!(sight(Vantage::Hop, &blind), Sight::Unknown);
    let cut = Observation { end: End::Cut, ..blind };
    assert_eq!(at_client(&cut), Close::Transport);
    assert_eq!(sight(Vantage::Client, &cut), Sight::Likely);
}

#[test]
fn only_the_client_proves_what_the_client_saw() {
    let seen = Observation { delivery: Delivery::All, ..answered(Request::Ask, 200) };
    assert_eq!(sight(Vantage::Client, &seen), Sight::Proved);
    assert_eq!(sight(Vantage::Hop, &seen), Sight::Likely);
    assert_eq!(sight(Vantage::Server, &answered(Request::Ask, 404)), Sight::Likely);
}

proptest! {
    #[test]
    fn a_session_ends_only_by_404_or_dialect(
        status in proptest::option::of(any::<u16>()),
        request in prop_oneof![
            Just(Request::Ask), Just(Request::Tell), Just(Request::Listen), Just(Request::Resume), Just(Request::Delete)
        ],
        era in prop_oneof![Just(Era::Sessioned), Just(Era::Stateless), Just(Era::HttpSse)],
        session in prop_oneof![Just(SessionSent::None), Just(SessionSent::Held), Just(SessionSent::Former)],
        end in prop_oneof![Just(End::Clean), Just(End::Cut), Just(End::Own), Just(End::Downstream)],
    ) {
        let seen = Observation { era, request, session, status, end, ..HELD };
        for vantage in [Vantage::Client, Vantage::Hop, Vantage::Server] {
            match classify_close(vantage, &seen) {
                Close::SessionTerminated => {
                    prop_assert_eq!((status, session, era), (Some(404), SessionSent::Held, Era::Sessioned));
                    prop_assert_ne!(request, Request::Delete);
                }
                Close::Superseded => prop_assert_eq!(session, SessionSent::Former),
                Close::Ended { .. } => prop_assert_eq!(request, Request::Delete),
                Close::Completed => prop_assert_eq!(request, Request::Tell),
                _ => {}
            }
        }
    }
}
