//! What a request's body asks for, in one pass over its text.
//! Knows JSON-RPC and the parameters that make a call another one; a body that says something twice is nobody's here.
//!
//! A body mostly stands as a string in its record. It is read there, with its quotes still escaped (`DEEP`), where it can be.

use super::json::{self, Broken};
use super::level::{self, Word};
use super::marks::Script;
use super::shape;
use crate::adapter::rpc;
use crate::event::RpcId;
use crate::long::LONG;
use crate::skim::{self, Kind};
use memchr::memmem::Finder;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

/// What a request's body says.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Asked<'b> {
    /// The JSON-RPC id, if it is one.
    pub(super) id: Option<RpcId>,
    /// The body has an id, of whatever kind.
    has_id: bool,
    method: Option<Cow<'b, str>>,
    /// The tool of a call.
    pub(super) tool: Option<Cow<'b, str>>,
    arguments: Option<u64>,
    /// Parameters that make a call another one: rounds and tasks.
    more: u64,
    /// Hashes of `clientInfo`: of its name, and of all.
    pub(super) client: Option<(u32, u32)>,
    /// `_meta` says something of the era or the client.
    pub(super) tells_more: bool,
    /// Names that were seen, to know one that stands there twice.
    seen: u32,
}

/// Names of a message and of its parameters that a reader knows, each with a bit.
const NAMES: [&str; 17] = [
    "jsonrpc",
    "id",
    "method",
    "params",
    "result",
    "error",
    "name",
    "arguments",
    "inputResponses",
    "requestState",
    "task",
    "taskId",
    "requestId",
    "protocolVersion",
    "clientInfo",
    "capabilities",
    "_meta",
];
/// How many of them are those of a message.
const OF_MESSAGE: usize = 6;

impl<'b> Asked<'b> {
    /// Reads a request's message in one pass; none if it is a batch, no JSON-RPC, says something twice, or (`DEEP`) is
    /// written in a way that has to be undone first.
    pub(super) fn read<const DEEP: bool>(text: &'b str) -> Option<Asked<'b>> {
        Self::read_part::<DEEP>(text, 0..text.len())
    }

    /// The same for a part of a text.
    pub(super) fn read_part<const DEEP: bool>(
        script: impl Script<'b>,
        part: Range<usize>,
    ) -> Option<Asked<'b>> {
        let text = script.text();
        let start = part.end - text.get(part.clone())?.trim_ascii_start().len();
        let mut asked = Asked::default();
        let end =
            level::members::<DEEP>(script, start, |key, at| asked.member::<DEEP>(script, key, at)).ok()?;
        let over = text.get(end..part.end).is_some_and(|rest| rest.trim_ascii().is_empty());
        (asked.method.is_some() && over).then_some(asked)
    }

    /// The hash of the call that it is, if it is one.
    pub(super) fn call(&self) -> Option<u32> {
        if self.method.as_deref() != Some("tools/call") || !self.has_id {
            return None;
        }
        let tool = rapidhash::v3::rapidhash_v3(self.tool.as_deref().unwrap_or_default().as_bytes());
        // Absent arguments are the empty object.
        let arguments = self.arguments.or_else(|| shape::of::<false>("{}", 0).ok().map(|(hash, _)| hash))?;
        Some(skim::fold(tool.rotate_left(17) ^ arguments ^ self.more.rotate_left(31)))
    }

    /// What an ordinary record of it is; none if there is none.
    pub(super) fn kind(&self) -> Option<Kind> {
        match (self.method.as_deref()?, self.has_id) {
            ("initialize", true) => Some(Kind::Initialize),
            ("initialize" | "notifications/cancelled", false) => None,
            (_, false) => Some(Kind::Notice),
            (_, true) => self.id.is_some().then_some(Kind::Request),
        }
    }

    fn member<const DEEP: bool>(
        &mut self,
        script: impl Script<'b>,
        key: Word<'_>,
        at: usize,
    ) -> Result<usize, Broken> {
        let text = script.text();
        self.once(key, 0, OF_MESSAGE)?;
        match key.text {
            "params" if text.as_bytes().get(at) == Some(&b'{') => {
                return level::members::<DEEP>(script, at, |key, at| self.parameter::<DEEP>(script, key, at));
            }
            "method" => {
                let (name, end) = plain::<DEEP>(script, at)?;
                self.method = Some(name);
                return Ok(end);
            }
            "params" | "result" | "error" => return Err(Broken::Foreign),
            "id" if matches!(text.as_bytes().get(at), Some(b'"' | b'\\')) => {
                let (id, end) = plain::<DEEP>(script, at)?;
                (self.id, self.has_id) = (Some(RpcId::String(id.into())), true);
                return Ok(end);
            }
            _ => {}
        }
        let end = level::skip::<DEEP>(script, at)?;
        if key.text == "id" && text[at..end] != *"null" {
            (self.id, self.has_id) = (rpc::id_of(json::no_string(text, at, end)), true);
        }
        Ok(end)
    }

    fn parameter<const DEEP: bool>(
        &mut self,
        script: impl Script<'b>,
        key: Word<'_>,
        at: usize,
    ) -> Result<usize, Broken> {
        let text = script.text();
        self.once(key, OF_MESSAGE, NAMES.len())?;
        match key.text {
            "arguments" => {
                let (hash, end) = shape::of::<DEEP>(script, at)?;
                // `null` is as good as absent.
                self.arguments = Some(hash).filter(|_| text[at..end] != *"null");
                return Ok(end);
            }
            "name" => {
                let (name, end) = plain::<DEEP>(script, at)?;
                self.tool = Some(name);
                return Ok(end);
            }
            "clientInfo" => {
                let (client, end) = client::<DEEP>(script, at)?;
                self.client = Some(client);
                return Ok(end);
            }
            _ => {}
        }
        let end = level::skip::<DEEP>(script, at)?;
        let value = &text[at..end];
        match key.text {
            "inputResponses" | "requestState" if value != "null" => {
                let hash = shape::of::<DEEP>(script, at)?.0.rotate_left(key.text.len() as u32);
                self.more = self.more.wrapping_add(hash);
            }
            // What decides the era or names the client makes a record one to read; the rest of it decides nothing.
            "_meta" => {
                static TELLING: LazyLock<[Finder<'static>; 3]> =
                    LazyLock::new(|| ["protocolVersion", "clientInfo", "\\\\"].map(Finder::new));
                let escaped = !DEEP && value.contains('\\');
                self.tells_more = escaped || TELLING.iter().any(|word| word.find(value.as_bytes()).is_some());
            }
            _ => {}
        }
        Ok(end)
    }

    /// Notes a name; an error if it was seen before, or is not written plainly.
    fn once(&mut self, key: Word<'_>, from: usize, to: usize) -> Result<(), Broken> {
        if !key.plain {
            return Err(Broken::Foreign);
        }
        if let Some(at) = NAMES[from..to].iter().position(|name| *name == key.text) {
            let bit = 1 << (from + at);
            if self.seen & bit != 0 {
                return Err(Broken::Foreign);
            }
            self.seen |= bit;
        }
        Ok(())
    }
}

/// A string's value and its end.
fn plain<'a, const DEEP: bool>(script: impl Script<'a>, at: usize) -> Result<(Cow<'a, str>, usize), Broken> {
    let (word, end) = level::word::<DEEP>(script, at)?;
    let value = match word.plain {
        true => Cow::Borrowed(word.text),
        false => Cow::Owned(word.undone::<DEEP>().ok_or(Broken::Foreign)?),
    };
    Ok((value, end))
}

/// Hashes of `clientInfo`: of its name, and of all.
fn client<'a, const DEEP: bool>(script: impl Script<'a>, at: usize) -> Result<((u32, u32), usize), Broken> {
    let text = script.text();
    let (mut name, mut version) = (0, 0);
    let end = level::members::<DEEP>(script, at, |key, at| {
        let target = match key.text {
            "name" => &mut name,
            "version" => &mut version,
            _ if !key.plain => return Err(Broken::Foreign),
            _ => return level::skip::<DEEP>(script, at),
        };
        if !matches!(text.as_bytes().get(at), Some(b'"' | b'\\')) {
            *target = 1;
            return level::skip::<DEEP>(script, at);
        }
        let (value, end) = plain::<DEEP>(script, at)?;
        if value.len() > LONG {
            return Err(Broken::Foreign);
        }
        *target = skim::mark(&value);
        Ok(end)
    })?;
    Ok(((name, name ^ version.rotate_left(9)), end))
}

#[cfg(test)]
mod tests {
    use super::super::marks::Marks;
    use super::*;
    use proptest::prelude::*;

    fn body() -> impl Strategy<Value = String> {
        let value = prop_oneof![
            Just("1".to_owned()),
            Just("2.50".to_owned()),
            Just("null".to_owned()),
            Just("\"tools/call\"".to_owned()),
            Just("\"initialize\"".to_owned()),
            Just("{ \"name\": \"a\", \"version\":\"1\\n\" }".to_owned()),
            Just("{\"a\\\"b\":[1,\"\\u00e9\\\\\", {}],\"protocolVersion\":true}".to_owned()),
            "\"(a|\\\\\\\\|\\\\\"|\\\\n|\\\\/|é){0,6}\"",
        ];
        let name = proptest::sample::select(&NAMES[..]);
        let member = (name, value).prop_map(|(name, value)| format!("\"{name}\":{value}"));
        let params = proptest::collection::vec(member.clone(), 0..5);
        (proptest::collection::vec(member, 0..4), params, any::<bool>()).prop_map(|(own, params, blank)| {
            let params = format!("\"params\":{{{}}}", params.join(","));
            let own: Vec<String> = own.into_iter().chain([params]).collect();
            format!("{{{}}}", own.join(if blank { " , " } else { "," }))
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]
        #[test]
        fn a_body_within_its_record_says_what_it_says_alone(body in body(), slashed in any::<bool>()) {
            let mut written = serde_json::Value::from(body.clone()).to_string();
            if slashed {
                written = written.replace('/', "\\/");
            }
            let inner = &written[1..written.len() - 1];
            let record = format!("{{\"body\":{written},\"behind\":\"\\\\\"}}");
            let mut marks = Marks::default();
            let at = 9..9 + inner.len();
            prop_assert_eq!(Asked::read_part::<true>(marks.of(&record), at), Asked::read::<true>(inner), "{}", record);
            if let Some(deep) = Asked::read::<true>(inner) {
                prop_assert_eq!(Some(deep), Asked::read::<false>(&body), "{}", body);
            }
        }
    }

    #[test]
    fn bodies_as_most_programs_write_them_are_read_in_place() {
        let body = r#"{"jsonrpc":"2.0","id":"a-1","method":"tools/call","params":{"name":"t","arguments":{"q":"a \"b\"\n","n":[1,2.0]},"_meta":{"progressToken":1}}}"#;
        let written = serde_json::Value::from(body).to_string();
        let deep = Asked::read::<true>(&written[1..written.len() - 1]);
        assert!(deep.as_ref().is_some_and(|asked| asked.call().is_some() && !asked.tells_more));
        assert_eq!(deep, Asked::read::<false>(body));
    }
}
