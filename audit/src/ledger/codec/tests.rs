use super::*;
use crate::event::Event;
use proptest::prelude::*;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

fn back<T: Serialize + DeserializeOwned>(values: &[T]) -> Vec<T> {
    let mut writer = Writer::default();
    for value in values {
        writer.write(value).expect("an event can be written");
    }
    let mut reader = Reader::new(&writer.bytes);
    std::iter::from_fn(|| reader.read().expect("what was written can be read")).collect()
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    None,
    One(Box<str>),
    Two { at: i64, flags: (bool, bool), digest: [u8; 16] },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Thing {
    text: Option<Box<str>>,
    at: i64,
    number: u64,
    flag: bool,
    absent: Vec<Option<u16>>,
    kind: Kind,
    inner: Option<Box<Thing>>,
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::None),
        "[a-f]{0,6}".prop_map(|text| Kind::One(text.into())),
        any::<(i64, (bool, bool), [u8; 16])>().prop_map(|(at, flags, digest)| Kind::Two {
            at,
            flags,
            digest
        }),
    ]
}

fn thing() -> impl Strategy<Value = Thing> {
    let leaf = (
        proptest::option::of("[a-c]{0,5}"),
        any::<i64>(),
        any::<u64>(),
        any::<bool>(),
        proptest::collection::vec(any::<Option<u16>>(), 0..9),
        kind(),
    )
        .prop_map(|(text, at, number, flag, absent, kind)| Thing {
            text: text.map(Into::into),
            at,
            number,
            flag,
            absent,
            kind,
            inner: None,
        });
    leaf.prop_recursive(3, 8, 1, |inner| {
        (inner.clone(), inner).prop_map(|(outer, inner)| Thing { inner: Some(Box::new(inner)), ..outer })
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(things in proptest::collection::vec(thing(), 0..200)) {
        prop_assert_eq!(back(&things), things);
    }

    #[test]
    fn bytes_that_nobody_wrote_are_an_error_or_events_but_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut reader = Reader::new(&bytes);
        while let Ok(Some(_)) = reader.read::<Event>() {}
    }
}

#[test]
fn a_long_run_of_absences_is_read_back() {
    let things = vec![vec![None::<u64>; 1000], vec![Some(1)], vec![None; 256], vec![Some(2), None]];
    assert_eq!(back(&things), things);
}

#[test]
fn texts_that_recur_cost_a_byte() {
    let mut writer = Writer::default();
    for _ in 0..10 {
        writer.write(&"0e3f5f7a-7c0b-4f0e-8a53-6b5d1f9c2f10").expect("a text can be written");
    }
    assert!(writer.bytes.len() < 50, "{}", writer.bytes.len());
}
