//! What queues hand on: Kinesis and Firehose records, messages of Pub/Sub, and the event of a function that subscribes to a log group.
//! Knows how their payload is packed; what is in it is peeled like any other record.

use super::envelope::{Raw, Shell, is_object, string};
use super::{Inner, Peeled};
use crate::mapping::base64;
use crate::source::record::Shipped;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::io::Read as _;

/// Most bytes that one payload is unpacked to. A subscription's batch is at most 1 MB packed.
const MOST_UNPACKED: u64 = 64 * 1024 * 1024;

/// A packed payload: base64 around the bytes, which CloudWatch has gzipped before.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Packed<'a> {
    #[serde(borrow, alias = "Data")]
    data: Raw<'a>,
    #[serde(alias = "recordId", alias = "sequenceNumber", alias = "SequenceNumber")]
    name: Raw<'a>,
    kinesis: Raw<'a>,
}

/// `Records[].kinesis.data`, `records[].data`, `awslogs.data`, and each of these records by itself (formats.md section 5).
pub(super) fn peel(s: &Shell<'_>) -> Option<Peeled> {
    if let Some(list) = s.queued.or(s.records) {
        let records = serde_json::from_str::<Vec<&RawValue>>(list.get()).ok()?;
        let inner: Option<Vec<Vec<Inner>>> = records.iter().map(|record| of_record(record)).collect();
        let Some(inner) = inner else {
            // A batch of plain records, as Azure's diagnostic settings and CloudTrail write them.
            let plain = records.iter().all(|record| is_object(record));
            let inner = records.iter().map(|record| Inner::new(record.get(), Shipped::default()));
            return plain.then(|| Peeled::Inner("records", inner.collect()));
        };
        let inner: Vec<Inner> = inner.into_iter().flatten().collect();
        return (!inner.is_empty()).then_some(Peeled::Inner("aws queue", inner));
    }
    // A message of Pub/Sub, as it is pulled.
    if let Some(message) = s.message.filter(|message| is_object(message)) {
        let data = serde_json::from_str::<Packed<'_>>(message.get()).ok()?.data;
        return unpacked(data).map(|inner| Peeled::Inner("pub/sub", inner));
    }
    let inner = if let Some(awslogs) = s.awslogs {
        unpacked(serde_json::from_str::<Packed<'_>>(awslogs.get()).ok()?.data)
    } else if let Some(kinesis) = s.kinesis {
        unpacked(serde_json::from_str::<Packed<'_>>(kinesis.get()).ok()?.data)
    } else if s.record_id.is_some() {
        unpacked(s.data)
    } else if s.sequence_number.is_some() {
        unpacked(s.stream_data)
    } else {
        None
    };
    inner.map(|inner| Peeled::Inner("aws queue", inner))
}

/// A payload alone on its line: base64 around what was gzipped.
pub(super) fn peel_line(text: &[u8]) -> Option<Peeled> {
    // `1f 8b 08` in base64.
    if !text.starts_with(b"H4sI") {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    inner_of(text).map(|inner| Peeled::Inner("aws queue", inner))
}

fn of_record(record: &RawValue) -> Option<Vec<Inner>> {
    let packed = serde_json::from_str::<Packed<'_>>(record.get()).ok()?;
    match packed.kinesis {
        Some(kinesis) => unpacked(serde_json::from_str::<Packed<'_>>(kinesis.get()).ok()?.data),
        None => {
            packed.name?;
            unpacked(packed.data)
        }
    }
}

/// The records of a payload; none if it is no base64 of text.
fn unpacked(data: Raw<'_>) -> Option<Vec<Inner>> {
    inner_of(&string(data)?)
}

fn inner_of(text: &str) -> Option<Vec<Inner>> {
    let bytes = base64(text)?;
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) { inflated(&bytes) } else { Some(bytes) };
    let Some(bytes) = bytes else {
        return Some(vec![Inner { text: Vec::new(), shipped: Shipped::default(), lost: true }]);
    };
    let text = std::str::from_utf8(&bytes).ok()?;
    // Firehose puts one document behind the other, with nothing between.
    let documents: Result<Vec<&RawValue>, _> = serde_json::Deserializer::from_str(text).into_iter().collect();
    let records: Vec<&str> = match &documents {
        Ok(documents) => documents.iter().map(|document| document.get()).collect(),
        Err(_) => text.lines().collect(),
    };
    Some(records.into_iter().map(|record| Inner::new(record, Shipped::default())).collect())
}

fn inflated(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut from = flate2::bufread::MultiGzDecoder::new(bytes).take(MOST_UNPACKED + 1);
    from.read_to_end(&mut out).ok()?;
    (out.len() as u64 <= MOST_UNPACKED).then_some(out)
}
