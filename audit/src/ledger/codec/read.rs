//! The reading side: bytes to events.
//! Knows the writer's state to the bit; bytes that were never written are an error, not a panic.

use super::{CodecError, ONE_BYTE, Packed, Recent, SHORT};
use serde::de::{self, DeserializeOwned, DeserializeSeed, Visitor};

/// Reads values one after the other, from the first that was written.
#[derive(Debug)]
pub(crate) struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
    recent: Recent<&'b str>,
    last: i64,
    none: u8,
    bits: Packed,
    nibbles: Packed,
}

impl<'b> Reader<'b> {
    /// From the start of what a writer wrote.
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Reader {
            bytes,
            at: 0,
            recent: Recent::default(),
            last: 0,
            none: 0,
            bits: Packed::default(),
            nibbles: Packed::default(),
        }
    }

    /// The next value; none at the end.
    ///
    /// # Errors
    /// [`CodecError::Damaged`].
    pub(crate) fn read<T: DeserializeOwned>(&mut self) -> Result<Option<T>, CodecError> {
        if self.at == self.bytes.len() {
            return Ok(None);
        }
        (self.none, self.bits, self.nibbles) = (0, Packed::default(), Packed::default());
        T::deserialize(&mut *self).map(Some)
    }

    fn byte(&mut self) -> Result<u8, CodecError> {
        let byte = *self.bytes.get(self.at).ok_or(CodecError::Damaged)?;
        self.at += 1;
        Ok(byte)
    }

    fn take(&mut self, count: usize) -> Result<&'b [u8], CodecError> {
        let end = self.at.checked_add(count).ok_or(CodecError::Damaged)?;
        let taken = self.bytes.get(self.at..end).ok_or(CodecError::Damaged)?;
        self.at = end;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u64, CodecError> {
        let first = u64::from(self.byte()?);
        if first <= ONE_BYTE {
            return Ok(first);
        }
        let taken = self.take((first - ONE_BYTE) as usize)?;
        let mut wide = [0; 8];
        wide[..taken.len()].copy_from_slice(taken);
        Ok(u64::from_le_bytes(wide))
    }

    fn bit(&mut self) -> Result<bool, CodecError> {
        if self.bits.left == 0 {
            self.bits = Packed { at: self.at, left: 8 };
            self.byte()?;
        }
        self.bits.left -= 1;
        Ok(self.bytes[self.bits.at] >> self.bits.left & 1 == 1)
    }

    fn choice(&mut self) -> Result<u32, CodecError> {
        if self.nibbles.left == 0 {
            self.nibbles = Packed { at: self.at, left: 2 };
            self.byte()?;
        }
        self.nibbles.left -= 1;
        match self.bytes[self.nibbles.at] >> (4 * self.nibbles.left) & 15 {
            15 => u32::try_from(self.number()?).map_err(|_| CodecError::Damaged),
            few => Ok(u32::from(few)),
        }
    }

    fn signed(&mut self) -> Result<i64, CodecError> {
        let large = self.bit()?;
        let coded = self.number()?;
        let n = (coded >> 1) as i64 ^ -((coded & 1) as i64);
        if !large {
            return Ok(n);
        }
        self.last = self.last.wrapping_add(n);
        Ok(self.last)
    }

    fn length(&mut self) -> Result<usize, CodecError> {
        usize::try_from(self.number()?).map_err(|_| CodecError::Damaged)
    }
}

macro_rules! integers {
    ($($name:ident $read:ident $visit:ident $type:ty),* $(,)?) => { $(
        fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
            let n = self.$read()?;
            visitor.$visit(<$type>::try_from(n).map_err(|_| CodecError::Damaged)?)
        }
    )* };
}

macro_rules! refuse {
    ($($name:ident),* $(,)?) => { $(
        fn $name<V: Visitor<'de>>(self, _: V) -> Result<V::Value, CodecError> {
            Err(CodecError::Type("no event has this type".into()))
        }
    )* };
}

impl<'de> de::Deserializer<'de> for &mut Reader<'_> {
    type Error = CodecError;

    integers! {
        deserialize_u8 byte visit_u8 u8,
        deserialize_u16 number visit_u16 u16,
        deserialize_u32 number visit_u32 u32,
        deserialize_u64 number visit_u64 u64,
        deserialize_i8 signed visit_i8 i8,
        deserialize_i16 signed visit_i16 i16,
        deserialize_i32 signed visit_i32 i32,
        deserialize_i64 signed visit_i64 i64,
    }
    refuse! {
        deserialize_any, deserialize_f32, deserialize_f64, deserialize_char, deserialize_bytes,
        deserialize_byte_buf, deserialize_map, deserialize_ignored_any, deserialize_identifier,
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        visitor.visit_bool(self.bit()?)
    }
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        let coded = self.length()?;
        if coded & 1 == 1 {
            return visitor.visit_str(self.recent.get(coded >> 1).ok_or(CodecError::Damaged)?);
        }
        let text = std::str::from_utf8(self.take(coded >> 1)?).map_err(|_| CodecError::Damaged)?;
        if text.len() > SHORT {
            self.recent.push(text);
        }
        visitor.visit_str(text)
    }
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        self.deserialize_str(visitor)
    }
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        if self.none == 0 {
            match self.byte()? {
                0 => return visitor.visit_some(self),
                run => self.none = run,
            }
        }
        self.none -= 1;
        visitor.visit_none()
    }
    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        visitor.visit_unit()
    }
    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        visitor.visit_unit()
    }
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        visitor.visit_newtype_struct(self)
    }
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        let left = self.length()?;
        visitor.visit_seq(Elements { reader: self, left })
    }
    fn deserialize_tuple<V: Visitor<'de>>(self, left: usize, visitor: V) -> Result<V::Value, CodecError> {
        visitor.visit_seq(Elements { reader: self, left })
    }
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        left: usize,
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        visitor.visit_seq(Elements { reader: self, left })
    }
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        visitor.visit_seq(Elements { reader: self, left: fields.len() })
    }
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        visitor.visit_enum(self)
    }
    fn is_human_readable(&self) -> bool {
        false
    }
}

struct Elements<'r, 'b> {
    reader: &'r mut Reader<'b>,
    left: usize,
}

impl<'de> de::SeqAccess<'de> for Elements<'_, '_> {
    type Error = CodecError;
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, CodecError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        seed.deserialize(&mut *self.reader).map(Some)
    }
    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

impl<'de> de::EnumAccess<'de> for &mut Reader<'_> {
    type Error = CodecError;
    type Variant = Self;
    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), CodecError> {
        let at = self.choice()?;
        let value = seed.deserialize(de::value::U32Deserializer::<CodecError>::new(at))?;
        Ok((value, self))
    }
}

impl<'de> de::VariantAccess<'de> for &mut Reader<'_> {
    type Error = CodecError;
    fn unit_variant(self) -> Result<(), CodecError> {
        Ok(())
    }
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, CodecError> {
        seed.deserialize(self)
    }
    fn tuple_variant<V: Visitor<'de>>(self, left: usize, visitor: V) -> Result<V::Value, CodecError> {
        visitor.visit_seq(Elements { reader: self, left })
    }
    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        visitor.visit_seq(Elements { reader: self, left: fields.len() })
    }
}
