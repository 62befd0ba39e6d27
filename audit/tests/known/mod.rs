//! The shipped formats, read once for all the runs of a test file: a run that is given none reads the mapping files itself.

#![allow(dead_code, reason = "not every test file reads without a run")]

use std::sync::{Arc, OnceLock};
use unbroken_audit::adapter::formats::Formats;
use unbroken_audit::run::Options;

/// The shipped formats.
pub(crate) fn formats() -> Arc<Formats> {
    static FORMATS: OnceLock<Arc<Formats>> = OnceLock::new();
    let load = || Arc::new(Formats::load(&[]).expect("the shipped mappings are compiled by a test"));
    Arc::clone(FORMATS.get_or_init(load))
}

/// What a run is told where a test says nothing else.
pub(crate) fn options() -> Options {
    Options { formats: Some(formats()), ..Options::default() }
}
