//! What a file is that is no log, by its first bytes.
//! Knows magic numbers and the looks of text; refuses to call anything a log, which is the formats' affair.

use regex::Regex;
use std::sync::LazyLock;

/// What a file is, and what to do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nature {
    /// Its kind, as in "this is …".
    pub(crate) what: &'static str,
    /// What to do.
    pub(crate) help: &'static str,
    /// It may be a log for all that; only nobody knows its shape.
    pub(crate) log: bool,
}

const UNPACK: &str = "unpack it and give the files inside";
const A_LOG: &str =
    "give a log: records of a proxy, server or client, one a line, or an export that lists them";
const NO_TABLE: &str = "export it as JSON lines, as in `duckdb -c \"copy (from 'FILE') to 'FILE.jsonl'\"`";

/// What bytes are that no reader unpacks.
pub(crate) fn of_bytes(head: &[u8]) -> Option<Nature> {
    let no_log = |what, help| Some(Nature { what, help, log: false });
    let packed = |what, help| Some(Nature { what, help, log: true });
    match head {
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => packed("an xz archive", "decompress it with xz -d first"),
        [b'P', b'K', 3, 4, ..] => packed("a zip archive", UNPACK),
        [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => packed("a 7-Zip archive", UNPACK),
        [0x04, 0x22, 0x4d, 0x18, ..] => packed("LZ4 data", "decompress it with lz4 -d first"),
        [b'P', b'A', b'R', b'1', ..] => packed("a Parquet file", NO_TABLE),
        [b'O', b'b', b'j', 1, ..] => packed("an Avro file", "export it as JSON lines"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            packed("UTF-16 text", "convert it with iconv -f UTF-16 -t UTF-8 first")
        }
        [0xd4, 0xc3, 0xb2, 0xa1, ..]
        | [0xa1, 0xb2, 0xc3, 0xd4, ..]
        | [0x4d, 0x3c, 0xb2, 0xa1, ..]
        | [0x0a, 0x0d, 0x0d, 0x0a, ..] => {
            packed("a packet capture", "export its HTTP with `tshark -r FILE -Y http -T ek > FILE.jsonl`")
        }
        [b'L', b'P', b'K', b'S', b'H', b'H', b'R', b'H', ..] => {
            packed("a journal of systemd", "export it with `journalctl --file FILE -o json`")
        }
        [0x89, b'P', b'N', b'G', ..]
        | [0xff, 0xd8, 0xff, ..]
        | [b'G', b'I', b'F', b'8', ..]
        | [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => no_log("an image", A_LOG),
        [b'%', b'P', b'D', b'F', ..] => no_log("a PDF", A_LOG),
        [0x7f, b'E', b'L', b'F', ..] | [0xcf, 0xfa, 0xed, 0xfe, ..] => no_log("a program", A_LOG),
        [b'S', b'Q', b'L', b'i', b't', b'e', b' ', ..] => {
            no_log("an SQLite database", "export the table that holds the log as JSON lines")
        }
        _ if head.get(257..262) == Some(b"ustar") => packed("a tar archive", UNPACK),
        _ if is_flows(head) => {
            packed("a flow dump of mitmproxy", "convert it with `mitmdump -nr FILE --set hardump=FILE.har`")
        }
        _ => None,
    }
}

/// Flows are tnetstrings of maps: a length, a colon, and the first key.
fn is_flows(head: &[u8]) -> bool {
    let digits = head.iter().take_while(|b| b.is_ascii_digit()).count();
    let key = head.get(digits + 1..).unwrap_or_default();
    let within = |name: &[u8]| memchr::memmem::find(key, name).is_some_and(|at| at < 64);
    (3..=12).contains(&digits)
        && head.get(digits) == Some(&b':')
        && key.first().is_some_and(u8::is_ascii_digit)
        && (within(b":websocket;") || within(b":version;") || within(b":response;"))
}

/// A table none of whose rows is a known record.
pub(crate) const TABLE: Nature = Nature {
    what: "a table whose columns are of no known log format",
    help: "describe it in a mapping file, whose keys are the columns; `unbroken mapping guess FILE` proposes one",
    log: true,
};

/// Entries of the journal, none of which holds a known record.
pub(crate) const JOURNAL: Nature = Nature {
    what: "the journal of programs whose messages are of no known log format",
    help: "export the entries of the program that speaks MCP, with `journalctl -u UNIT`",
    log: true,
};

/// A time as lines of logs begin with or hold.
static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\d\d/[A-Z][a-z]{2}/\d{4}:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\b\d\d:\d\d:\d\d\b|\b1[5-9]\d{8}(?:\d{3}|\.\d+)?\b",
    )
    .ok()
});

/// What text is of which no record is of a known format. `document`: it is one JSON document without a list.
pub(crate) fn of_text(head: &str, document: bool) -> Nature {
    let lines: Vec<&str> = head.lines().map(str::trim).filter(|line| !line.is_empty()).take(64).collect();
    let share = |fits: &dyn Fn(&str) -> bool| {
        let count = lines.iter().filter(|line| fits(line)).count();
        count * 100 / lines.len().max(1)
    };
    if document && lines.len() > 1 {
        return Nature { what: "a JSON document that lists no records", help: A_LOG, log: false };
    }
    if share(&|line| line.starts_with('{')) >= 50 {
        return Nature {
            what: "JSON of no known log format",
            help: "describe it in a mapping file; `unbroken mapping guess FILE` proposes one",
            log: true,
        };
    }
    let start = lines.first().copied().unwrap_or_default();
    if start.starts_with("<?xml")
        || start.to_ascii_lowercase().starts_with("<!doctype")
        || start.starts_with("<html")
    {
        return Nature { what: "an XML or HTML document", help: A_LOG, log: false };
    }
    let time = |line: &str| TIME.as_ref().is_some_and(|time| time.is_match(line));
    if share(&time) >= 25 {
        return Nature {
            what: "text lines of no known log format",
            help: "describe them in a mapping file with `[input] pattern`, see docs/mapping.md",
            log: true,
        };
    }
    let level = |line: &str| {
        let mut words = line.split(|c: char| !c.is_ascii_alphabetic()).take(4);
        words.any(|word| matches!(word, "DEBUG" | "INFO" | "WARN" | "WARNING" | "ERROR" | "CRITICAL"))
    };
    if share(&level) >= 50 {
        return Nature {
            what: "a program's log without times",
            help: "let the program write the time on every line",
            log: true,
        };
    }
    let setting = |line: &str| {
        let ends = line.ends_with([';', '{', '}', '[', ']', ',']);
        let comment = line.starts_with(['#', ';']) || line.starts_with("//");
        let assigned = line.split_once([':', '=']).is_some_and(|(name, _)| {
            !name.is_empty()
                && name.trim_end().bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.\"".contains(&b))
        });
        ends || comment || assigned || line.starts_with("- ")
    };
    if share(&setting) >= 60 {
        return Nature { what: "a configuration or source file", help: A_LOG, log: false };
    }
    Nature { what: "text without times", help: A_LOG, log: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_called_what_it_looks_like() {
        let told = |text: &str| (of_text(text, false).what, of_text(text, false).log);
        assert_eq!(
            told("worker_processes 1;\nhttp {\n  server {\n    listen 80;\n  }\n}\n"),
            ("a configuration or source file", false)
        );
        assert_eq!(
            told("# a\n[server]\nport = 80\nhost = \"x\"\n"),
            ("a configuration or source file", false)
        );
        assert_eq!(told("port: 80\nitems:\n  - a\n  - b\n"), ("a configuration or source file", false));
        assert_eq!(told("Dear diary\nnothing happened today\n"), ("text without times", false));
        assert_eq!(
            told("Aug 14 09:00:00 host app[1]: hello\nAug 14 09:00:01 host app[1]: bye\n"),
            ("text lines of no known log format", true)
        );
        assert_eq!(
            told("INFO:a.logger:hello\nDEBUG:a.logger:bye\n"),
            ("a program's log without times", true)
        );
        assert_eq!(told("{\"a\":1}\n{\"a\":2}\n"), ("JSON of no known log format", true));
        assert_eq!(of_text("{\n  \"a\": 1\n}\n", true).what, "a JSON document that lists no records");
    }

    #[test]
    fn a_flow_dump_is_known() {
        let dump = b"5412:9:websocket;0:~8:response;4210:6:reason;0:,";
        assert_eq!(of_bytes(dump).map(|nature| nature.what), Some("a flow dump of mitmproxy"));
        assert_eq!(of_bytes(b"5412: nothing of the kind"), None);
    }
}
