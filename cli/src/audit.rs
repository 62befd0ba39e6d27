//! What `unbroken audit` is asked to do.
//! Knows no log format.

use clap::Args;
use std::path::PathBuf;

/// What to audit.
#[derive(Args, Debug)]
pub(crate) struct AuditArgs {
    /// Transport logs, plain or compressed; the order does not matter
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// A mapping file for logs of another shape; may be given several times
    #[arg(long, value_name = "FILE")]
    pub(crate) mapping: Vec<PathBuf>,
    /// Largest record that is read, in bytes; larger ones are named and skipped [default: 16 MiB]
    #[arg(long, value_name = "BYTES", default_value_t = 0, hide_default_value = true)]
    pub(crate) max_record: usize,
    /// Write sessions and calls as Parquet files into this folder
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) tables: Option<PathBuf>,
}

impl AuditArgs {
    /// The files, each once, in an order that the command line has no say in.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut files = self.files.clone();
        files.sort();
        files.dedup();
        files
    }
}
