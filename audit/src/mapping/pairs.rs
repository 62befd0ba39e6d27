//! Headers that stand in a list: objects of a name and a value, lists of the two, lines, or names and values in turn.
//! Knows those shapes; which header is wanted is the mapping's affair.

use super::json::{self, Raw};
use super::slot;
use std::borrow::Cow;

/// The value of the first header called `name`.
pub(super) fn pair<'a>(list: Raw<'a>, name: &str) -> Option<Cow<'a, str>> {
    let wanted = slot::fold(name);
    let (mut found, mut turn): (Option<Cow<'a, str>>, Option<bool>) = (None, None);
    json::elements(list.get(), |one| {
        if found.is_some() {
            return;
        }
        match one.get().as_bytes().first() {
            Some(b'{') => found = of_object(one, &wanted),
            Some(b'[') => found = of_list(one, &wanted),
            Some(b'"') => {
                let Some(text) = one.string() else { return };
                match turn.take() {
                    // The value of the name before it.
                    Some(true) => found = Some(text),
                    Some(false) => {}
                    None => match split(text) {
                        Ok((own, value)) if slot::fold(&own) == wanted => found = Some(value),
                        Ok(_) => {}
                        Err(own) => turn = Some(slot::fold(&own) == wanted),
                    },
                }
            }
            _ => {}
        }
    })
    .ok()?;
    found
}

/// `{"name": …, "value": …}`, as HAR has it; or `key`.
fn of_object<'a>(one: Raw<'a>, wanted: &str) -> Option<Cow<'a, str>> {
    let (mut own, mut value) = (None, None);
    json::members(one.get(), |key, raw| match key {
        "name" | "key" => own = raw.string(),
        "value" => value = Some(raw),
        _ => {}
    })
    .ok()?;
    own.filter(|own| slot::fold(own) == wanted).and_then(|_| slot::text(value?))
}

/// `["Name", "value"]`.
fn of_list<'a>(one: Raw<'a>, wanted: &str) -> Option<Cow<'a, str>> {
    let mut parts = Vec::new();
    json::elements(one.get(), |part| parts.push(part)).ok()?;
    let [own, value, ..] = parts[..] else { return None };
    own.string().filter(|own| slot::fold(own) == wanted).and_then(|_| slot::text(value))
}

/// `Name: value`, with the line's end or without. `Err`: no line, but a name.
fn split(text: Cow<'_, str>) -> Result<(String, Cow<'_, str>), Cow<'_, str>> {
    let Some((name, _)) = text.split_once(':') else { return Err(text) };
    let (name, at) = (name.to_owned(), name.len() + 1);
    let value = match text {
        Cow::Borrowed(text) => Cow::Borrowed(text[at..].trim()),
        Cow::Owned(text) => Cow::Owned(text[at..].trim().to_owned()),
    };
    Ok((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_found_in_every_list() {
        for list in [
            r#"[{"name":"Host","value":"h"},{"name":"Mcp-Session-Id","value":"S"}]"#,
            r#"[{"key":"mcp_session_id","value":["S"]}]"#,
            r#"[["Host","h"],["Mcp-Session-Id","S"]]"#,
            r#"["Host: a:1","Mcp-Session-Id: S\r\n"]"#,
            r#"["Host","Mcp-Session-Id","Mcp-Session-Id","S"]"#,
        ] {
            let mut slots = slot::Slots::new();
            let mut tree = slot::Tree::default();
            let slot = tree.want(&[slot::Step::Exact("h".into())]);
            let record = format!("{{\"h\":{list}}}");
            tree.collect(record.as_bytes(), &mut slots).expect("JSON");
            let raw = slots[slot].expect("the list");
            assert_eq!(pair(raw, "mcp-session-id").as_deref(), Some("S"), "{list}");
            assert_eq!(pair(raw, "last-event-id"), None, "{list}");
        }
    }
}
