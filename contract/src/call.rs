//! When two tool calls are the same call (contract 3.6).
//! Knows no session, no id and no time; `params._meta` and `task` take no part.

use crate::canonical::{Canonicalizer, NotJson};

/// A `tools/call`, as far as sameness goes. The JSON parts are raw text, as written on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Call<'a> {
    /// `params.name`.
    pub tool: &'a str,
    /// `params.arguments`; absent is the same as `{}`.
    pub arguments: Option<&'a [u8]>,
    /// `params.inputResponses` of a later round.
    pub input_responses: Option<&'a [u8]>,
    /// `params.requestState` of a later round.
    pub request_state: Option<&'a [u8]>,
}

impl Call<'_> {
    /// Appends bytes that are equal for two calls exactly when the calls are the same: each part in its canonical
    /// form, behind its length (eight bytes, big-endian; all ones where it is absent). To be hashed or compared.
    ///
    /// # Errors
    ///
    /// [`NotJson`] when a part cannot be read; `out` is then as it was.
    pub fn write_identity(&self, writer: &mut Canonicalizer, out: &mut Vec<u8>) -> Result<(), NotJson> {
        let length = out.len();
        push_field(out, |out| {
            out.extend_from_slice(self.tool.as_bytes());
            Ok(())
        })?;
        let parts = [Some(self.arguments.unwrap_or(b"{}")), self.input_responses, self.request_state];
        for part in parts {
            let Some(json) = part else {
                out.extend_from_slice(&u64::MAX.to_be_bytes());
                continue;
            };
            if let Err(error) = push_field(out, |out| writer.write(json, out)) {
                out.truncate(length);
                return Err(error);
            }
        }
        Ok(())
    }
}

/// Appends what `write` appends, behind its length.
fn push_field(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), NotJson>,
) -> Result<(), NotJson> {
    let start = out.len();
    out.extend_from_slice(&[0; 8]);
    write(out)?;
    let length = (out.len() - start - 8) as u64;
    out[start..start + 8].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

/// Whether two calls are the same call (contract 3.6).
///
/// ```
/// use unbroken_contract::call::{Call, same_call};
/// let first = Call { tool: "charge", arguments: Some(b"{\"to\":\"x\",\"cents\":500}"),
///                    input_responses: None, request_state: None };
/// let again = Call { arguments: Some(b"{ \"cents\": 5e2, \"to\": \"x\" }"), ..first };
/// assert!(same_call(&first, &again)?);
/// # Ok::<(), unbroken_contract::canonical::NotJson>(())
/// ```
///
/// # Errors
///
/// [`NotJson`] when a part of either cannot be read: then nothing is known of their sameness.
pub fn same_call(a: &Call<'_>, b: &Call<'_>) -> Result<bool, NotJson> {
    if a.tool != b.tool {
        return Ok(false);
    }
    let mut writer = Canonicalizer::new();
    let (mut left, mut right) = (Vec::new(), Vec::new());
    a.write_identity(&mut writer, &mut left)?;
    b.write_identity(&mut writer, &mut right)?;
    Ok(left == right)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHARGE: Call<'static> = Call {
        tool: "charge_card",
        arguments: Some(br#"{"cents":500,"to":"x"}"#),
        input_responses: None,
        request_state: None,
    };

    fn same(a: &Call<'_>, b: &Call<'_>) -> bool {
        same_call(a, b).unwrap()
    }

    #[test]
    fn order_spaces_and_notation_do_not_matter() {
        let again = Call { arguments: Some(b"{ \"to\" : \"\\u0078\", \"cents\": 5.0E2 }"), ..CHARGE };
        assert!(same(&CHARGE, &again));
    }

    #[test]
    fn tool_and_arguments_do() {
        assert!(!same(&CHARGE, &Call { tool: "refund", ..CHARGE }));
        assert!(!same(&CHARGE, &Call { arguments: Some(br#"{"cents":501,"to":"x"}"#), ..CHARGE }));
        assert!(!same(&CHARGE, &Call { arguments: Some(br#"{"cents":"500","to":"x"}"#), ..CHARGE }));
    }

    #[test]
    fn absent_arguments_are_an_empty_object() {
        let none = Call { arguments: None, ..CHARGE };
        assert!(same(&none, &Call { arguments: Some(b" { } "), ..CHARGE }));
        assert!(!same(&none, &CHARGE));
    }

    #[test]
    fn the_next_round_is_another_call_and_the_same_round_a_repeat() {
        let round = Call { request_state: Some(b"\"s1\""), input_responses: Some(b"{}"), ..CHARGE };
        assert!(!same(&CHARGE, &round));
        assert!(same(&round, &round));
        assert!(!same(&round, &Call { request_state: Some(b"\"s2\""), ..round }));
        assert!(!same(&round, &Call { input_responses: None, ..round }));
    }

    #[test]
    fn large_numbers_and_duplicate_names_are_compared_as_written() {
        let with = |arguments: &'static str| Call { arguments: Some(arguments.as_bytes()), ..CHARGE };
        assert!(!same(&with(r#"{"n":9007199254740993}"#), &with(r#"{"n":9007199254740992}"#)));
        assert!(!same(&with(r#"{"a":1,"a":2}"#), &with(r#"{"a":2,"a":1}"#)));
    }

    #[test]
    fn parts_cannot_run_into_each_other() {
        let mut writer = Canonicalizer::new();
        let (mut a, mut b) = (Vec::new(), Vec::new());
        Call { tool: "t", arguments: Some(b"1"), ..CHARGE }.write_identity(&mut writer, &mut a).unwrap();
        Call { tool: "t1", arguments: Some(b"{}"), ..CHARGE }.write_identity(&mut writer, &mut b).unwrap();
        assert_ne!(a, b);
    }

    #[test]
    fn an_unreadable_part_leaves_sameness_unknown() {
        let mut out = b"kept".to_vec();
        let bad = Call { arguments: Some(b"{\"a\":"), ..CHARGE };
        assert!(bad.write_identity(&mut Canonicalizer::new(), &mut out).is_err());
        assert_eq!(out, b"kept");
        assert!(same_call(&CHARGE, &bad).is_err());
    }
}
