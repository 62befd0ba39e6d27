//! The arguments of `#[unbroken::check(…)]` and `unbroken::allow(…)`: what a reader of the code may tell the lint.
//! Knows their grammar and the catalogue's names; what follows from a mark is the rules' business.

use crate::facts::Marks;
use crate::spelling::nearest;
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use std::sync::Arc;
use unbroken_contract::{Breach, Halves};

/// What the arguments of `#[unbroken::check(…)]` say.
#[derive(Debug, Default)]
pub struct Check {
    /// The names that inference cannot know.
    pub marks: Marks,
    /// Breaches that the item accepts, each with its reason and the place it stands at.
    pub allows: Vec<Allow>,
}

/// One `allow(rule, reason = "…")`.
#[derive(Clone, Debug)]
pub struct Allow {
    /// The breach.
    pub breach: Breach,
    /// Why.
    pub reason: String,
    /// The rule's name in the source.
    pub span: Span,
}

/// An argument that means nothing.
#[derive(Clone, Debug)]
pub struct MarkError {
    /// The offending place.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What to do, one sentence.
    pub help: String,
}

impl std::fmt::Display for MarkError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for MarkError {}

const KEYS: [&str; 5] = ["session", "cursor", "call", "store", "allow"];

/// Reads `session = field, cursor = field, call = fn, store = fn, allow(rule, reason = "…")`, each any number of
/// times. A field or function is a name, or a path of which the last segment counts.
///
/// # Errors
/// Every [`MarkError`] in the arguments, in order.
pub fn check(arguments: TokenStream) -> Result<Check, Vec<MarkError>> {
    let mut check = Check { marks: Marks { checked: true, ..Marks::default() }, allows: Vec::new() };
    let mut errors = Vec::new();
    for argument in split(arguments) {
        if let Err(error) = take(&argument, &mut check) {
            errors.push(error);
        }
    }
    if errors.is_empty() { Ok(check) } else { Err(errors) }
}

/// Reads `rule, reason = "…"`; `at` is the place to blame when nothing is there.
///
/// # Errors
/// [`MarkError`], when the rule is unknown or no reason is given.
pub fn allow(arguments: TokenStream, at: Span) -> Result<Allow, MarkError> {
    let mut parts = said(arguments).into_iter();
    let (breach, span) = match parts.next() {
        Some(Said::Rule(rule, span)) => (breach(&rule, span)?, span),
        Some(Said::Other(text, span)) => {
            return Err(error(span, "`allow` does not begin with a rule's name", &meant(&text)));
        }
        _ => return Err(error(at, "`allow` names no rule", SPELLED)),
    };
    let mut reason = None;
    for part in parts {
        match part {
            Said::Reason(text) => reason = Some(text),
            Said::Rule(_, other) | Said::Other(_, other) => {
                return Err(error(
                    other,
                    "an acceptance says something else than its reason",
                    "write `reason = \"…\"` after the rule",
                ));
            }
        }
    }
    match reason {
        Some(reason) if !reason.trim().is_empty() => Ok(Allow { breach, reason, span }),
        _ => Err(error(
            span,
            "an acceptance gives no reason",
            "add `reason = \"…\"` that tells the next reader why this is right here",
        )),
    }
}

/// The breach that a rule's name in code (`session_discarded`, or its id `session-discarded`) stands for.
///
/// # Errors
/// [`MarkError`] with the nearest name, when the lint has no such rule.
pub fn breach(rule: &str, span: Span) -> Result<Breach, MarkError> {
    if let Some(breach) = Breach::from_id(&id_of(rule)).filter(|breach| breach.seen_by(Halves::Lint)) {
        return Ok(breach);
    }
    let help = nearest_rule(rule).unwrap_or_else(|| "run `unbroken rules` for the names".to_owned());
    Err(MarkError { span, message: format!("no rule of the lint is called `{rule}`"), help })
}

/// The id of the rule that code names with underscores or dashes.
pub(crate) fn id_of(rule: &str) -> String {
    rule.trim_start_matches("r#").replace('_', "-")
}

/// The question whether the nearest rule was meant, if one is near.
pub(crate) fn nearest_rule(text: &str) -> Option<String> {
    let known = Breach::ALL.iter().filter(|breach| breach.seen_by(Halves::Lint)).map(|breach| breach.id());
    nearest(&id_of(text), known).map(|near| format!("did you mean `{}`?", near.replace('-', "_")))
}

/// What to write where an acceptance says `text`, which is no rule's name.
pub(crate) fn meant(text: &str) -> String {
    nearest_rule(text.trim_matches('"')).unwrap_or_else(|| SPELLED.to_owned())
}

const SPELLED: &str = "write `allow(session_discarded, reason = \"…\")`";

/// One part of what an acceptance is given.
#[derive(Clone, Debug)]
pub(crate) enum Said {
    /// A rule's name, well-formed and perhaps unknown: its words joined as in the source.
    Rule(String, Span),
    /// `reason = "…"`.
    Reason(String),
    /// Anything else, as it stands there.
    Other(String, Span),
}

/// The parts of `rule, reason = "…"`, in order. A rule is spelled with underscores, or with dashes, which are tokens of their
/// own to the compiler.
pub(crate) fn said(arguments: TokenStream) -> Vec<Said> {
    split(arguments).iter().map(|part| said_by(part)).collect()
}

fn said_by(part: &[TokenTree]) -> Said {
    let span = part.first().map_or_else(Span::call_site, TokenTree::span);
    if let Some(text) = reason_of(part) {
        return Said::Reason(text);
    }
    let word = |at: usize, token: &TokenTree| match token {
        TokenTree::Ident(_) => at.is_multiple_of(2),
        TokenTree::Punct(dash) => !at.is_multiple_of(2) && dash.as_char() == '-',
        _ => false,
    };
    if part.len() % 2 == 1 && part.iter().enumerate().all(|(at, token)| word(at, token)) {
        return Said::Rule(part.iter().map(ToString::to_string).collect(), span);
    }
    Said::Other(part.iter().cloned().collect::<TokenStream>().to_string(), span)
}

fn take(argument: &[TokenTree], check: &mut Check) -> Result<(), MarkError> {
    match argument {
        [TokenTree::Ident(key), TokenTree::Group(group)] if key == "allow" && is_list(group) => {
            check.allows.push(allow(group.stream(), key.span())?);
            Ok(())
        }
        [TokenTree::Ident(key), TokenTree::Punct(equals), value @ ..] if equals.as_char() == '=' => {
            let names = match key.to_string().as_str() {
                "session" => &mut check.marks.session,
                "cursor" => &mut check.marks.cursor,
                "call" => &mut check.marks.call,
                "store" => &mut check.marks.store,
                _ => return Err(unknown(key)),
            };
            names.push(Arc::from(name(value, key)?.as_str()));
            Ok(())
        }
        [TokenTree::Ident(key), ..] if KEYS.contains(&key.to_string().as_str()) => Err(error(
            key.span(),
            &format!("`{key}` is not followed by what it marks"),
            if key == "allow" { "write `allow(rule, reason = \"…\")`" } else { "write it as `key = name`" },
        )),
        [TokenTree::Ident(key), ..] => Err(unknown(key)),
        [first, ..] => Err(error(
            first.span(),
            "an argument begins with something else than a name",
            "write `session = field`, `cursor = field`, `call = function`, `store = function` or `allow(…)`",
        )),
        [] => Ok(()),
    }
}

/// The last segment of `field`, `self.field`, `Type::function`.
fn name(value: &[TokenTree], key: &Ident) -> Result<String, MarkError> {
    let well_formed = value.iter().all(|token| match token {
        TokenTree::Ident(_) => true,
        TokenTree::Punct(punct) => matches!(punct.as_char(), ':' | '.'),
        _ => false,
    });
    match value.last() {
        Some(TokenTree::Ident(last)) if well_formed => Ok(last.to_string()),
        other => Err(error(
            other.map_or(key.span(), TokenTree::span),
            &format!("`{key}` does not name a field or function"),
            "give its name without quotes, as in `session = session_id`",
        )),
    }
}

fn reason_of(part: &[TokenTree]) -> Option<String> {
    if let [TokenTree::Ident(key), TokenTree::Punct(equals), TokenTree::Literal(text)] = part
        && key == "reason"
        && equals.as_char() == '='
    {
        return syn::parse_str::<syn::LitStr>(&text.to_string()).ok().map(|text| text.value());
    }
    None
}

fn unknown(key: &Ident) -> MarkError {
    let help = match nearest(&key.to_string(), KEYS) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "known are `session`, `cursor`, `call`, `store` and `allow`".to_owned(),
    };
    MarkError { span: key.span(), message: format!("`{key}` is not an argument of `check`"), help }
}

fn error(span: Span, message: &str, help: &str) -> MarkError {
    MarkError { span, message: message.to_owned(), help: help.to_owned() }
}

fn is_list(group: &Group) -> bool {
    group.delimiter() == Delimiter::Parenthesis
}

/// The tokens between top-level commas; a trailing comma adds nothing.
pub(crate) fn split(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut parts = vec![Vec::new()];
    for token in tokens {
        match token {
            TokenTree::Punct(comma) if comma.as_char() == ',' => parts.push(Vec::new()),
            other => parts.last_mut().expect("one part is always open").push(other),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Check, Vec<String>> {
        let errors = |errors: Vec<MarkError>| {
            errors.into_iter().map(|it| format!("{}: {}", it.message, it.help)).collect()
        };
        check(text.parse().expect("tokens")).map_err(errors)
    }

    #[test]
    fn every_argument_is_read_in_any_number_and_order() {
        let check = read(
            "call = send, session = self.sid, session = id, allow(blind_retry, reason = \"read-only\"),",
        )
        .expect("well-formed");
        assert!(check.marks.checked);
        assert_eq!(check.marks.session, [Arc::from("sid"), Arc::from("id")]);
        assert_eq!(check.marks.call, [Arc::from("send")]);
        assert_eq!(check.allows[0].breach, Breach::BlindRetry);
        assert_eq!(check.allows[0].reason, "read-only");
    }

    #[test]
    fn a_rule_is_named_by_its_id_too() {
        for rule in ["eof_taken_as_completion", "eof-taken-as-completion", "r#eof_taken_as_completion"] {
            let check = read(&format!("allow({rule}, reason = \"x\")")).expect(rule);
            assert_eq!(check.allows[0].breach, Breach::EofTakenAsCompletion);
        }
    }

    #[test]
    fn what_means_nothing_is_refused_with_the_nearest_word() {
        let refused = |text: &str| read(text).expect_err(text).join(" | ");
        assert!(refused("sesion = id").contains("did you mean `session`?"));
        assert!(
            refused("allow(sesion_discarded, reason = \"x\")").contains("did you mean `session_discarded`?")
        );
        assert!(
            refused("allow(replay_gap, reason = \"x\")").contains("no rule of the lint"),
            "the audit's alone"
        );
        assert!(
            refused("allow(sesion-discarded, reason = \"x\")").contains("did you mean `session_discarded`?")
        );
        assert!(
            refused("allow(\"session-discarded\", reason = \"x\")")
                .contains("did you mean `session_discarded`?")
        );
        assert!(refused("allow(reason = \"x\")").contains("names no rule"));
        assert!(refused("allow(blind_retry)").contains("gives no reason"));
        assert!(refused("allow(blind_retry, reason = \" \")").contains("gives no reason"));
        assert!(refused("allow(blind_retry, because = \"x\")").contains("something else than its reason"));
        assert!(refused("session = \"id\"").contains("without quotes"));
        assert!(refused("session").contains("not followed"));
        assert!(refused("3, zzz = a").contains(" | "), "both are told at once");
    }
}
