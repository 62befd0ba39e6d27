//! Cuts a table with a head row, as consoles and queries export one, into a JSON object a row.
//! Knows quoting and the head's names; what a cell means is the adapters' affair.

use super::Limits;
use super::nul;
use super::record::Batch;
use super::stock::{Cut, Stock, json, lines};
use super::trouble::Troubles;
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use memchr::{memchr, memchr2};

/// Columns that a table may have; the widest export of a log store has a few hundred.
const MOST_COLUMNS: usize = 1024;
/// Rows of the sample that must have as many cells as the head.
const SAMPLE: usize = 4;

/// The head of a table.
#[derive(Debug)]
pub(super) struct Head {
    delimiter: u8,
    /// Names of the columns, each as JSON.
    names: Vec<String>,
    /// Bytes up to the first row.
    length: usize,
}

/// Tells a table from its first bytes; `whole`: they are all there is. None: it is none.
pub(super) fn head(bytes: &[u8], whole: bool) -> Option<Head> {
    let skipped = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let bytes = &bytes[skipped..];
    let first = &bytes[..row_end(bytes)?];
    let delimiter = *[b',', b'\t', b';'].iter().find(|byte| first.contains(byte))?;
    let names = cells(trimmed(first), delimiter)?;
    let mut sorted: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
    sorted.sort_unstable();
    sorted.dedup();
    if names.len() < 2 || sorted.len() < names.len() || !names.iter().all(|name| is_name(name)) {
        return None;
    }
    let mut rest = &bytes[first.len()..];
    for row in 0..SAMPLE {
        let Some(end) = row_end(rest).or((whole && !rest.is_empty()).then_some(rest.len())) else {
            // A row that is longer than the sample tells nothing; the head alone is too little.
            if row == 0 && (whole || rest.is_empty()) {
                return None;
            }
            break;
        };
        let row = trimmed(&rest[..end]);
        // A hole behind the rows is none of them.
        if nul::at_start(row) < row.len().max(1) && cells(row, delimiter)?.len() != names.len() {
            return None;
        }
        rest = &rest[end..];
    }
    let quoted = |name: &Vec<u8>| json(&String::from_utf8_lossy(name));
    Some(Head { delimiter, names: names.iter().map(quoted).collect(), length: skipped + first.len() })
}

/// A column's name: letters and the marks that names are joined by, never a sentence, a time or an address.
fn is_name(name: &[u8]) -> bool {
    let starts = name.first().is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'@'));
    let holds = |b: &u8| b.is_ascii_alphanumeric() || b"_@.-/() []$:".contains(b);
    starts && name.len() <= 64 && name.iter().all(holds) && name.iter().filter(|b| **b == b' ').count() <= 3
}

/// Cuts rows.
pub(super) struct Rows {
    stock: Stock,
    head: Head,
}

impl Rows {
    /// `offset`: that of `held` in the stream; what stands before it are NUL bytes.
    pub(super) fn new(file: u32, mut held: Vec<u8>, offset: u64, head: Head) -> Self {
        let rest = held.split_off(head.length);
        Rows { stock: Stock::new(file, rest, offset + held.len() as u64, lines(&held)), head }
    }

    fn put(&self, row: &[u8], troubles: &mut Troubles, batch: &mut Batch) {
        let cells = cells(row, self.head.delimiter).unwrap_or_default();
        if cells.len() != self.head.names.len() {
            troubles.note(
                Some(self.stock.place()),
                "the row has not as many cells as the head",
                "export the table again; the other rows were read",
                true,
            );
            return;
        }
        let names = self.head.names.iter().map(String::as_str);
        self.stock.put(0, names.zip(cells.iter().map(Vec::as_slice)), batch);
    }
}

impl Cut for Rows {
    fn stock(&mut self) -> &mut Stock {
        &mut self.stock
    }

    /// Takes the whole rows off what is held; at the end of the file the last one too.
    fn cut(&mut self, limits: &Limits, troubles: &mut Troubles, batch: &mut Batch) {
        let held = std::mem::take(&mut self.stock.held);
        let mut rest = &held[..];
        while !rest.is_empty() {
            let Some(end) = row_end(rest).or(self.stock.ended.then_some(rest.len())) else { break };
            let mut row = trimmed(&rest[..end]);
            if row.first() == Some(&0) || row.last() == Some(&0) {
                nul::note_nuls(troubles, self.stock.place());
                row = &row[nul::at_start(row)..];
                row = &row[..row.len() - nul::at_end(row)];
            }
            if row.len() > limits.max_record {
                super::note_long(troubles, self.stock.place(), limits);
            } else if !row.trim_ascii().is_empty() {
                self.put(row, troubles, batch);
            }
            self.stock.line += lines(&rest[..end]);
            self.stock.offset += end as u64;
            rest = &rest[end..];
        }
        // A quote that nobody closed would hold the rest of the file.
        if rest.len() > limits.max_record {
            super::note_long(troubles, self.stock.place(), limits);
            let end = memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            self.stock.line += 1;
            self.stock.offset += end as u64;
            rest = &rest[end..];
        }
        self.stock.held = rest.to_vec();
    }
}

/// Length of the row that `bytes` begin with, its line's end included; a line's end inside quotes is the cell's.
fn row_end(bytes: &[u8]) -> Option<usize> {
    let (mut at, mut quoted) = (0, false);
    loop {
        at += memchr2(b'"', b'\n', &bytes[at..])? + 1;
        match bytes[at - 1] {
            b'"' => quoted = !quoted,
            _ if !quoted => return Some(at),
            _ => {}
        }
    }
}

fn trimmed(row: &[u8]) -> &[u8] {
    let row = row.strip_suffix(b"\n").unwrap_or(row);
    row.strip_suffix(b"\r").unwrap_or(row)
}

/// The cells of one row, unquoted; none if they are more than a table has.
fn cells(row: &[u8], delimiter: u8) -> Option<Vec<Vec<u8>>> {
    let mut reader: Reader = ReaderBuilder::new().delimiter(delimiter).build();
    let mut text = vec![0; row.len() + 1];
    let mut ends = vec![0; MOST_COLUMNS];
    let (result, read, written, count) = reader.read_record(row, &mut text, &mut ends);
    // The end of the input ends the row. A row that ends before has a quote where quotes mean nothing.
    let (more, last) = match result {
        ReadRecordResult::InputEmpty => {
            match reader.read_record(&[], &mut text[written..], &mut ends[count..]) {
                (ReadRecordResult::Record, _, more, last) => (more, last),
                _ => return None,
            }
        }
        ReadRecordResult::Record if read == row.len() => (0, 0),
        _ => return None,
    };
    text.truncate(written + more);
    let mut from = 0;
    let cut = |end: &usize| {
        let cell = text[from..*end].to_vec();
        from = *end;
        cell
    };
    Some(ends[..count + last].iter().map(cut).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn is_table(text: &str) -> bool {
        head(text.as_bytes(), true).is_some()
    }

    #[test]
    fn a_table_is_told_by_its_head_and_the_rows_after_it() {
        assert!(is_table(
            "@timestamp,@message\n2026-08-14 09:00:00.014,\"{\"\"a\"\":1,\"\"b\"\":\"\"x\ny\"\"}\"\n"
        ));
        assert!(is_table("\u{feff}Date;Host;Message\r\n2026;a;b\r\n"));
        assert!(!is_table("a,b\n"), "a head alone");
        assert!(!is_table("a,b\n1,2,3\n"), "another number of cells");
        assert!(!is_table("Hello, world\nno comma here\n"));
        assert!(!is_table("2026-08-14 09:00:00,003 - a - INFO\n2026-08-14 09:00:00,003 - a - INFO\n"));
        assert!(!is_table("a,a\n1,2\n"), "one name twice");
        assert!(!is_table("a,b\nx\",y\nz\",w\n"), "a quote inside of a cell that is not quoted");
    }

    #[test]
    fn cells_are_unquoted() {
        let row = b"a,\"b \"\"c\"\",\nd\",,";
        let told: Vec<String> =
            cells(row, b',').unwrap().into_iter().map(|cell| String::from_utf8(cell).unwrap()).collect();
        assert_eq!(told, ["a", "b \"c\",\nd", "", ""]);
    }
}
