//! The findings of each half, said in the terms of the report.
//! Knows both vocabularies and judges nothing.

pub(crate) mod code;
pub(crate) mod traffic;
