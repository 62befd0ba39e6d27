//! Sessions and calls as Parquet files, for DuckDB, pandas and the like.
//! Knows no rule; session ids are written as the digests that every output shows.

use crate::fault::Fault;
use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use unbroken_audit::table::{CallRow, SessionRow, Tables};
use unbroken_report::Secrets;

const SESSIONS: &str = "message sessions {
  required binary session (utf8);
  optional binary client (utf8);
  optional binary protocol_version (utf8);
  required int64 first (timestamp(nanos,true));
  required int64 last (timestamp(nanos,true));
  required int64 exchanges;
  required int64 calls;
  optional binary ended (utf8);
}";
const CALLS: &str = "message calls {
  optional binary session (utf8);
  optional binary rpc_id (utf8);
  required binary tool (utf8);
  required int64 sent (timestamp(nanos,true));
  optional int64 closed (timestamp(nanos,true));
  optional int32 status;
  optional binary server (utf8);
  optional boolean reached;
  optional boolean answered;
  optional boolean executed;
}";
/// Rows written at once.
const GROUP: usize = 65_536;

/// Writes `sessions.parquet` and `calls.parquet` into a folder, which is made where it is missing.
pub(crate) fn write(folder: &Path, tables: &Tables, secrets: &Secrets) -> std::result::Result<(), Fault> {
    let fault = |name: &str, source: io::Error| Fault::Output {
        name: folder.join(name).display().to_string(),
        source,
    };
    std::fs::create_dir_all(folder).map_err(|source| fault("", source))?;
    let open = |name: &str| File::create(folder.join(name)).map_err(|source| fault(name, source));
    let (sessions, calls) = ("sessions.parquet", "calls.parquet");
    file(open(sessions)?, SESSIONS, &tables.sessions, |group, rows| session_columns(group, rows, secrets))
        .map_err(|error| fault(sessions, io::Error::other(error)))?;
    file(open(calls)?, CALLS, &tables.calls, |group, rows| call_columns(group, rows, secrets))
        .map_err(|error| fault(calls, io::Error::other(error)))
}

type Group<'a> = SerializedRowGroupWriter<'a, File>;

fn file<R>(
    file: File,
    schema: &str,
    rows: &[R],
    mut columns: impl FnMut(&mut Group<'_>, &[R]) -> Result<()>,
) -> Result<()> {
    let properties = WriterProperties::builder().set_compression(Compression::UNCOMPRESSED).build();
    let mut writer =
        SerializedFileWriter::new(file, Arc::new(parse_message_type(schema)?), Arc::new(properties))?;
    for rows in rows.chunks(GROUP) {
        let mut group = writer.next_row_group()?;
        columns(&mut group, rows)?;
        group.close()?;
    }
    writer.close().map(drop)
}

fn session_columns(group: &mut Group<'_>, rows: &[SessionRow], secrets: &Secrets) -> Result<()> {
    let masked = |text: &str, row: &SessionRow| bytes(&secrets.mask(text, &[&row.session]));
    required::<ByteArrayType, _>(group, rows, |row| bytes(&secrets.session(&row.session)))?;
    optional::<ByteArrayType, _>(group, rows, |row| row.client.as_deref().map(|text| masked(text, row)))?;
    optional::<ByteArrayType, _>(group, rows, |row| row.protocol_version.as_deref().map(bytes))?;
    required::<Int64Type, _>(group, rows, |row| row.first)?;
    required::<Int64Type, _>(group, rows, |row| row.last)?;
    required::<Int64Type, _>(group, rows, |row| count(row.exchanges))?;
    required::<Int64Type, _>(group, rows, |row| count(row.calls))?;
    optional::<ByteArrayType, _>(group, rows, |row| row.ended.map(bytes))
}

fn call_columns(group: &mut Group<'_>, rows: &[CallRow], secrets: &Secrets) -> Result<()> {
    let masked = |text: &str, row: &CallRow| {
        let ids: Vec<&str> = row.session.as_deref().into_iter().collect();
        bytes(&secrets.mask(text, &ids))
    };
    optional::<ByteArrayType, _>(group, rows, |row| {
        row.session.as_deref().map(|id| bytes(&secrets.session(id)))
    })?;
    optional::<ByteArrayType, _>(group, rows, |row| row.rpc_id.as_deref().map(|id| masked(id, row)))?;
    required::<ByteArrayType, _>(group, rows, |row| masked(&row.tool, row))?;
    required::<Int64Type, _>(group, rows, |row| row.sent)?;
    optional::<Int64Type, _>(group, rows, |row| row.closed)?;
    optional::<Int32Type, _>(group, rows, |row| row.status.map(i32::from))?;
    optional::<ByteArrayType, _>(group, rows, |row| row.server.as_deref().map(|name| masked(name, row)))?;
    optional::<BoolType, _>(group, rows, |row| row.reached)?;
    optional::<BoolType, _>(group, rows, |row| row.answered)?;
    optional::<BoolType, _>(group, rows, |row| row.executed)
}

fn bytes(text: &str) -> ByteArray {
    ByteArray::from(text)
}

fn count(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn required<T: DataType, R>(group: &mut Group<'_>, rows: &[R], value: impl Fn(&R) -> T::T) -> Result<()> {
    let values: Vec<T::T> = rows.iter().map(value).collect();
    column::<T>(group, &values, None)
}

fn optional<T: DataType, R>(
    group: &mut Group<'_>,
    rows: &[R],
    value: impl Fn(&R) -> Option<T::T>,
) -> Result<()> {
    let values: Vec<Option<T::T>> = rows.iter().map(value).collect();
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let there: Vec<T::T> = values.into_iter().flatten().collect();
    column::<T>(group, &there, Some(&levels))
}

fn column<T: DataType>(group: &mut Group<'_>, values: &[T::T], levels: Option<&[i16]>) -> Result<()> {
    let mut column = group.next_column()?.expect("the schema has a column for every value that is written");
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()
}
