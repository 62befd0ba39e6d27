//! The writing side: events to bytes.
//! Knows the reader's state to the bit; refuses types that no event has.

use super::{CodecError, LARGE, ONE_BYTE, Packed, RECENT, Recent, SHORT};
use serde::ser::{self, Serialize};

/// Places of a writer's recent texts, a few for each so that seldom two meet.
const PLACES: usize = 4 * RECENT;
/// So few texts are compared one after the other: a great many clients have no more.
const FEW: usize = 8;

/// Where a text stands among the bytes, in as few of them as there are many of these.
#[derive(Clone, Copy, Debug)]
struct Span {
    at: u32,
    length: u32,
}

impl Span {
    /// Of the text that ends at `end`. What stands too far behind to be told is none, and equal to no text.
    fn before(end: usize, length: usize) -> Span {
        let span = |(at, length)| Span { at, length };
        u32::try_from(end - length)
            .ok()
            .zip(u32::try_from(length).ok())
            .map_or(Span { at: 0, length: 0 }, span)
    }

    fn of(self, bytes: &[u8]) -> Option<&[u8]> {
        bytes.get(self.at as usize..)?.get(..self.length as usize)
    }
}

/// Writes values one after the other.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    /// What was written. Who takes it away goes on with another writer: what comes next is told by what stands here.
    pub(crate) bytes: Vec<u8>,
    recent: Recent<Span>,
    /// By a text's hash, where among the recent ones it may be; one of two that meet is written anew. Empty as long as there are
    /// few.
    places: Vec<u8>,
    last: i64,
    /// Bytes that values of one record are packed into; they never reach back over records.
    none: Option<usize>,
    bits: Packed,
    nibbles: Packed,
}

impl Writer {
    /// Appends one value.
    ///
    /// # Errors
    /// [`CodecError::Type`]: a type that no event has.
    pub(crate) fn write<T: Serialize>(&mut self, value: &T) -> Result<(), CodecError> {
        (self.none, self.bits, self.nibbles) = (None, Packed::default(), Packed::default());
        value.serialize(&mut *self)
    }

    /// Bytes in memory, the state included.
    pub(crate) fn size(&self) -> usize {
        let recent = self.recent.texts.capacity() * size_of::<Span>();
        self.bytes.capacity() + recent + self.places.capacity()
    }

    fn number(&mut self, n: u64) {
        if n <= ONE_BYTE {
            return self.bytes.push(n as u8);
        }
        let count = 8 - n.leading_zeros() as usize / 8;
        self.bytes.push((ONE_BYTE as usize + count) as u8);
        self.bytes.extend_from_slice(&n.to_le_bytes()[..count]);
    }

    fn bit(&mut self, set: bool) {
        if self.bits.left == 0 {
            self.bits = Packed { at: self.bytes.len(), left: 8 };
            self.bytes.push(0);
        }
        self.bits.left -= 1;
        self.bytes[self.bits.at] |= u8::from(set) << self.bits.left;
    }

    /// Which variant; the sixteenth and later ones take a number more.
    fn choice(&mut self, variant: u32) {
        if self.nibbles.left == 0 {
            self.nibbles = Packed { at: self.bytes.len(), left: 2 };
            self.bytes.push(0);
        }
        self.nibbles.left -= 1;
        self.bytes[self.nibbles.at] |= (variant.min(15) as u8) << (4 * self.nibbles.left);
        if variant >= 15 {
            self.number(u64::from(variant));
        }
    }

    fn signed(&mut self, n: i64) {
        let large = n.unsigned_abs() >= LARGE;
        self.bit(large);
        let n = if large { n.wrapping_sub(std::mem::replace(&mut self.last, n)) } else { n };
        self.number(((n << 1) ^ (n >> 63)) as u64);
    }

    fn text(&mut self, text: &str) {
        if text.len() <= SHORT {
            return self.new_text(text);
        }
        let is =
            |span: &Span| span.length as usize == text.len() && span.of(&self.bytes) == Some(text.as_bytes());
        let known = if self.places.is_empty() {
            self.recent.texts.iter().position(is)
        } else {
            let at = usize::from(self.places[place(text.as_bytes())]);
            self.recent.get(at).is_some_and(is).then_some(at)
        };
        if let Some(known) = known {
            return self.number((known as u64) << 1 | 1);
        }
        self.new_text(text);
        let at = self.recent.push(Span::before(self.bytes.len(), text.len()));
        self.note(at);
    }

    /// Notes the place of a recent text.
    fn note(&mut self, at: usize) {
        if self.places.is_empty() {
            if self.recent.texts.len() <= FEW {
                return;
            }
            self.places.resize(PLACES, 0);
            (0..at).for_each(|earlier| self.note(earlier));
        }
        if let Some(text) = self.recent.get(at).and_then(|span| span.of(&self.bytes)) {
            self.places[place(text)] = at as u8;
        }
    }

    fn new_text(&mut self, text: &str) {
        self.number((text.len() as u64) << 1);
        self.bytes.extend_from_slice(text.as_bytes());
    }
}

/// A text's place by its hash.
fn place(text: &[u8]) -> usize {
    rapidhash::v3::rapidhash_v3(text) as usize % PLACES
}

macro_rules! refuse {
    ($($name:ident: $type:ty),* $(,)?) => { $(
        fn $name(self, _: $type) -> Result<(), CodecError> {
            Err(CodecError::Type(concat!("no event has a ", stringify!($type)).into()))
        }
    )* };
}

macro_rules! unsigned {
    ($($name:ident: $type:ty),* $(,)?) => { $(
        fn $name(self, n: $type) -> Result<(), CodecError> {
            self.number(u64::from(n));
            Ok(())
        }
    )* };
}

macro_rules! signed {
    ($($name:ident: $type:ty),* $(,)?) => { $(
        fn $name(self, n: $type) -> Result<(), CodecError> {
            self.signed(i64::from(n));
            Ok(())
        }
    )* };
}

impl ser::Serializer for &mut Writer {
    type Ok = ();
    type Error = CodecError;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = ser::Impossible<(), CodecError>;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    unsigned!(serialize_u16: u16, serialize_u32: u32, serialize_u64: u64);
    signed!(serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64);
    refuse!(serialize_f32: f32, serialize_f64: f64, serialize_char: char);

    fn serialize_u8(self, n: u8) -> Result<(), CodecError> {
        self.bytes.push(n);
        Ok(())
    }
    fn serialize_bool(self, set: bool) -> Result<(), CodecError> {
        self.bit(set);
        Ok(())
    }
    fn serialize_str(self, text: &str) -> Result<(), CodecError> {
        self.text(text);
        Ok(())
    }
    fn serialize_bytes(self, _: &[u8]) -> Result<(), CodecError> {
        Err(CodecError::Type("no event has bytes".into()))
    }
    fn serialize_none(self) -> Result<(), CodecError> {
        // Most facts are absent in most logs: a run of absences is one byte, whatever stands between them.
        match self.none {
            Some(at) if self.bytes[at] < u8::MAX => self.bytes[at] += 1,
            _ => {
                self.none = Some(self.bytes.len());
                self.bytes.push(1);
            }
        }
        Ok(())
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), CodecError> {
        self.none = None;
        self.bytes.push(0);
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<(), CodecError> {
        Ok(())
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), CodecError> {
        Ok(())
    }
    fn serialize_unit_variant(self, _: &'static str, at: u32, _: &'static str) -> Result<(), CodecError> {
        self.choice(at);
        Ok(())
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), CodecError> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        at: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), CodecError> {
        self.choice(at);
        value.serialize(self)
    }
    fn serialize_seq(self, length: Option<usize>) -> Result<Self, CodecError> {
        self.number(length.ok_or_else(|| CodecError::Type("a list without a length".into()))? as u64);
        Ok(self)
    }
    fn serialize_tuple(self, _: usize) -> Result<Self, CodecError> {
        Ok(self)
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, CodecError> {
        Ok(self)
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        at: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, CodecError> {
        self.choice(at);
        Ok(self)
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, CodecError> {
        Err(CodecError::Type("no event has a map".into()))
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, CodecError> {
        Ok(self)
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        at: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, CodecError> {
        self.choice(at);
        Ok(self)
    }
    fn is_human_readable(&self) -> bool {
        false
    }
}

macro_rules! compound {
    ($($of:ident: $call:ident),* $(,)?) => { $(
        impl ser::$of for &mut Writer {
            type Ok = ();
            type Error = CodecError;
            fn $call<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CodecError> {
                value.serialize(&mut **self)
            }
            fn end(self) -> Result<(), CodecError> {
                Ok(())
            }
        }
    )* };
}
compound!(SerializeSeq: serialize_element, SerializeTuple: serialize_element);
compound!(SerializeTupleStruct: serialize_field, SerializeTupleVariant: serialize_field);

macro_rules! named {
    ($($of:ident),* $(,)?) => { $(
        impl ser::$of for &mut Writer {
            type Ok = ();
            type Error = CodecError;
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                _: &'static str,
                value: &T,
            ) -> Result<(), CodecError> {
                value.serialize(&mut **self)
            }
            fn end(self) -> Result<(), CodecError> {
                Ok(())
            }
        }
    )* };
}
named!(SerializeStruct, SerializeStructVariant);
