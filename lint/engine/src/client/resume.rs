//! Which functions answer a resume: they read `Last-Event-ID` from a request, or are handed what it said, in a crate that serves MCP sessions.
//! Knows cursors and session ids by where they come from; decides nothing about right and wrong.

use super::{Client, Deeds, Header};
use crate::facts::ir::{Id, Kind, Name};
use crate::facts::{Param, TypeText};
use crate::scope::{At, Binding, Fx, krate_of};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How many callers up a parameter is followed.
const CALLERS: u8 = 3;

impl Client<'_> {
    /// The crates, by folder, that read the session header of a request, or hold code that is handed sessions and cursors.
    pub(super) fn find_serving(&mut self) {
        let mut serving: BTreeSet<PathBuf> = BTreeSet::new();
        for fx in self.scope.all() {
            let reads = |header: Header| {
                self.headers(fx).iter().any(|used| used.header == header && used.value.is_none())
            };
            if reads(Header::Session) && (self.answers_requests(fx) || reads(Header::Cursor)) {
                serving.insert(krate_of(&self.scope.file(fx).path));
            }
        }
        self.serving = serving;
    }

    /// Whether the function is handed a request or its headers, and sends none itself.
    #[must_use]
    pub fn answers_requests(&self, fx: Fx) -> bool {
        let given = ["Request", "HeaderMap", "Parts", "HttpRequest", "Headers", "McpRequest"];
        let function = self.scope.function(fx);
        let handed = function.params.iter().any(|param| given.iter().any(|name| param.ty.has(name)));
        !self.own(fx).has(Deeds::SENDS) && (self.serves(fx) || handed && !function.ret.has("RequestBuilder"))
    }

    /// Whether the function answers a resume: it reads the cursor of a request, or is handed one.
    #[must_use]
    pub fn answers_resume(&self, fx: Fx) -> bool {
        let function = self.scope.function(fx);
        if function.test || self.own(fx).has(Deeds::SENDS) || !self.serves_sessions(&self.scope.file(fx).path)
        {
            return false;
        }
        if self.headers(fx).iter().any(|used| used.header == Header::Cursor) {
            return self.headers(fx).iter().all(|used| used.header != Header::Cursor || used.value.is_none());
        }
        (0..function.params.len()).any(|index| self.cursor_param(fx, index, CALLERS))
    }

    fn serves_sessions(&self, path: &Path) -> bool {
        self.serving.contains(&krate_of(path))
    }

    /// Whether the value is, or is a part of, the cursor that a request asks to resume after.
    #[must_use]
    pub fn asked_cursor(&self, at: At) -> bool {
        self.cursor_within(at, CALLERS)
    }

    /// Whether the cursor stands anywhere inside the node.
    #[must_use]
    pub fn about_cursor(&self, at: At) -> bool {
        let body = self.scope.body(at.fx);
        body.inside(at.id).into_iter().any(|id| {
            matches!(body.kind(id), Kind::Path(_) | Kind::Field(..)) && self.asked_cursor(At { id, ..at })
        })
    }

    fn cursor_within(&self, at: At, depth: u8) -> bool {
        let body = self.scope.body(at.fx);
        if let Kind::Field(base, name) = body.kind(body.peel(at.id)) {
            return last_word(name) || self.cursor_within(At { id: *base, ..at }, depth);
        }
        self.scope.origins(at).into_iter().any(|origin| {
            let used = |header| {
                self.headers(origin.fx)
                    .iter()
                    .any(|used| used.at == origin && used.header == header && used.value.is_none())
            };
            if used(Header::Cursor) {
                return true;
            }
            let body = self.scope.body(origin.fx);
            match body.kind(origin.id) {
                Kind::Field(base, name) => {
                    last_word(name)
                        || origin.id != at.id && self.cursor_within(At { id: *base, ..origin }, depth)
                }
                Kind::Path(path) if path.len() == 1 => {
                    match self.scope.binding(origin.fx, &path[0], origin.id) {
                        Some(Binding::Param(index)) => self.cursor_param(origin.fx, index, depth),
                        Some(Binding::Let { .. } | Binding::Match { .. } | Binding::Closure { .. }) => {
                            last_word(&path[0])
                        }
                        _ => false,
                    }
                }
                // A parser of the crate: `parse_event_id(last_event_id)`, `cursor_of(&headers)`.
                Kind::Call(_, args) | Kind::Method(_, _, args) => {
                    let parses = args.len() == 1 && self.cursor_within(At { id: args[0], ..origin }, depth);
                    let small =
                        self.scope.callees(origin).iter().any(|fx| self.reads_header(*fx, Header::Cursor));
                    let named = called(body, origin.id).is_some_and(|name| {
                        name.contains("pars") || name.contains("decode") || name.contains("split")
                    });
                    small || parses && named
                }
                _ => false,
            }
        })
    }

    fn reads_header(&self, fx: Fx, header: Header) -> bool {
        self.scope.body(fx).nodes.len() < 60
            && self.headers(fx).iter().any(|used| used.header == header && used.value.is_none())
    }

    fn cursor_param(&self, fx: Fx, index: usize, depth: u8) -> bool {
        let param = &self.scope.function(fx).params[index];
        if param.names.iter().any(|name| cursor_word(name)) || param.ty.has("LastEventId") {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        // A helper that is called from everywhere is about no cursor.
        let args = self.handed(fx, index);
        args.len() <= 4 && args.into_iter().any(|arg| self.cursor_within(arg, depth))
    }

    /// What callers pass for a parameter, tests left out.
    fn handed(&self, fx: Fx, index: usize) -> Vec<At> {
        let mut args = self.scope.arguments(fx, index);
        args.retain(|arg| !self.scope.function(arg.fx).test);
        args
    }

    /// Whether the value names a session: a header of the request, a session-id type, or a name that says so.
    #[must_use]
    pub fn names_session(&self, at: At) -> bool {
        let body = self.scope.body(at.fx);
        if let Some(name) = body.local(body.peel(at.id))
            && session_word(name)
        {
            return true;
        }
        self.asked_session(at)
            || self.scope.origins(at).into_iter().any(|origin| {
                let body = self.scope.body(origin.fx);
                match body.kind(origin.id) {
                    Kind::Field(_, name) => session_word(name),
                    Kind::Path(path) if path.len() == 1 => {
                        session_word(&path[0])
                            || match self.scope.binding(origin.fx, &path[0], origin.id) {
                                Some(Binding::Param(index)) => {
                                    session_type(&self.scope.function(origin.fx).params[index].ty)
                                }
                                _ => false,
                            }
                    }
                    Kind::Method(_, name, args) => args.is_empty() && session_word(name),
                    _ => false,
                }
            })
    }

    /// Whether the value is the session id that a request carries.
    #[must_use]
    pub fn asked_session(&self, at: At) -> bool {
        self.session_within(at, CALLERS)
    }

    fn session_within(&self, at: At, depth: u8) -> bool {
        self.scope.origins(at).into_iter().any(|origin| {
            let body = self.scope.body(origin.fx);
            let read = self
                .headers(origin.fx)
                .iter()
                .any(|used| used.at == origin && used.header == Header::Session && used.value.is_none());
            if read {
                return self.answers_requests(origin.fx) || self.answers_resume(origin.fx);
            }
            match body.kind(origin.id) {
                Kind::Path(path) if path.len() == 1 => {
                    let Some(Binding::Param(index)) = self.scope.binding(origin.fx, &path[0], origin.id)
                    else {
                        return false;
                    };
                    let Some(depth) = depth.checked_sub(1) else { return false };
                    let args = self.handed(origin.fx, index);
                    args.len() <= 6 && args.into_iter().any(|arg| self.session_within(arg, depth))
                }
                // `given.map_or_else(fresh, String::from)`, `given.unwrap_or_else(fresh)`
                Kind::Method(receiver, name, _) if matches!(&**name, "map_or_else" | "unwrap_or_else") => {
                    self.session_within(At { id: *receiver, ..origin }, depth)
                }
                Kind::Call(..) | Kind::Method(..) => self.scope.callees(origin).iter().any(|fx| {
                    self.reads_header(*fx, Header::Session)
                        && self.answers_requests(*fx)
                        && !self.scope.function(*fx).ret.has("bool")
                }),
                _ => false,
            }
        })
    }

    /// Whether the function is handed, or reads, a session id.
    #[must_use]
    pub fn knows_session(&self, fx: Fx) -> bool {
        let function = self.scope.function(fx);
        function.params.iter().any(names_a_session)
            || self.headers(fx).iter().any(|used| used.header == Header::Session && used.value.is_none())
    }

    /// Whether the node refuses: it gives or returns an error, nothing at all, or a status that is no success.
    #[must_use]
    pub fn refuses(&self, at: At) -> bool {
        let body = self.scope.body(at.fx);
        body.inside(at.id).into_iter().any(|id| match body.kind(id) {
            Kind::Path(path) => path.last().is_some_and(|last| {
                matches!(
                    &**last,
                    "Err"
                        | "NOT_FOUND"
                        | "BAD_REQUEST"
                        | "GONE"
                        | "CONFLICT"
                        | "UNAUTHORIZED"
                        | "FORBIDDEN"
                        | "INTERNAL_SERVER_ERROR"
                        | "METHOD_NOT_ALLOWED"
                        | "UNPROCESSABLE_ENTITY"
                        | "ok_or"
                        | "ok_or_else"
                ) || last.to_lowercase().contains("error") && last.starts_with(char::is_lowercase)
            }),
            Kind::Int(code) => (400..600).contains(code),
            Kind::Method(_, name, _) => name.starts_with("ok_or"),
            Kind::Macro(name, _) => matches!(&**name, "bail" | "ensure" | "panic"),
            Kind::Call(callee, _) => body.last_segment(*callee).is_some_and(|name| {
                let name = name.to_lowercase();
                ["not_found", "bad_request", "reject", "error_response", "forbidden", "gone"]
                    .iter()
                    .any(|word| name.contains(word))
            }),
            _ => false,
        })
    }
}

/// The name of what is called.
pub(crate) fn called(body: &crate::facts::ir::Body, id: Id) -> Option<&Name> {
    match body.kind(id) {
        Kind::Method(_, name, _) | Kind::Macro(name, _) => Some(name),
        Kind::Call(callee, _) => body.last_segment(*callee),
        _ => None,
    }
}

/// A parameter's name that says which event to begin after.
fn cursor_word(name: &str) -> bool {
    let lower = name.to_lowercase();
    let after = (lower.starts_with("after_") || lower.starts_with("since_"))
        && ["id", "event", "seq"].iter().any(|word| lower.contains(word));
    after || last_word(name) || matches!(&*lower, "event_id" | "eventid")
}

/// A name that says "the last event".
fn last_word(name: &str) -> bool {
    let lower = name.to_lowercase();
    [
        "last_event_id",
        "lasteventid",
        "last_seq",
        "last_event_seq",
        "last_seen_event",
        "resume_from",
        "last_index",
    ]
    .iter()
    .any(|word| lower.contains(word))
        || matches!(&*lower, "last_id" | "last_event")
}

/// A name that says "the id of a session", and not what keeps many.
pub(crate) fn session_word(name: &str) -> bool {
    let lower = name.to_lowercase();
    lower == "sid"
        || lower.contains("session")
            && ![
                "sessions", "manager", "store", "registry", "config", "header", "service", "settings",
                "storage", "map",
            ]
            .iter()
            .any(|word| lower.contains(word))
}

fn names_a_session(param: &Param) -> bool {
    session_type(&param.ty) || param.names.iter().any(|name| session_word(name))
}

fn session_type(ty: &TypeText) -> bool {
    ty.0.iter().any(|name| &**name == "SessionId" || &**name == "McpSessionId")
}
