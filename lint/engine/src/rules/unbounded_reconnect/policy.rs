//! Retry policies without a limit: an SDK's, by its table, and the crate's own, by what their default leaves open.
//! Knows types that turn a count into a delay; who uses them is not asked.

use crate::client::{Client, Deeds};
use crate::facts::ir::{Body, Id, Kind, Name, Op};
use crate::scope::{At, Fx};
use crate::sdk::Fact;

/// `FixedInterval::default()` or `FixedInterval { max_times: None, … }` of an SDK; the default of a policy of the crate.
pub(super) fn unlimited(client: &Client<'_>, at: At) -> bool {
    sdk_default(client, at) || sdk_literal(client, at) || own_default(client, at)
}

fn sdk_default(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let Kind::Call(callee, args) = body.kind(at.id) else { return false };
    let Kind::Path(path) = body.kind(*callee) else { return false };
    let [.., ty, make] = path.as_slice() else { return false };
    if &**make != "default" || !args.is_empty() || client.scope.defs(ty).next().is_some() {
        return false;
    }
    let settings = client.scope.sdks.iter().flat_map(|sdk| sdk.settings);
    settings.into_iter().any(|setting| setting.on == &**ty && setting.default && setting.fact == Fact::UnlimitedFlat)
}

fn sdk_literal(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let Kind::Struct(path, fields, _) = body.kind(at.id) else { return false };
    let Some(ty) = path.last() else { return false };
    if client.scope.defs(ty).next().is_some() {
        return false;
    }
    let settings = client.scope.sdks.iter().flat_map(|sdk| sdk.settings);
    settings.into_iter().any(|setting| {
        setting.on == &**ty
            && setting.fact == Fact::UnlimitedFlat
            && setting.value == Some("None")
            && fields.iter().any(|(name, value)| &**name == setting.name && body.is_none(*value))
    })
}

/// `Self { max_times: None, … }` in the `Default` of a type whose policy gives the same delay each time.
fn own_default(client: &Client<'_>, at: At) -> bool {
    let Some(ty) = open_default(client, at) else { return false };
    client.scope.all().any(|fx| {
        client.scope.function(fx).owner.as_ref() == Some(&ty) && !client.scope.function(fx).test && delays(client, fx) && !grows(client, fx)
    })
}

/// The type whose `Default` leaves a limit open, if the node is its value.
fn open_default(client: &Client<'_>, at: At) -> Option<Name> {
    let function = client.scope.function(at.fx);
    let Kind::Struct(path, fields, _) = function.body.kind(at.id) else { return None };
    let owner = function.owner.as_ref()?;
    let own = path.last().is_some_and(|last| &**last == "Self" || last == owner);
    let open = fields.iter().any(|(name, value)| limit_word(name) && function.body.is_none(*value));
    (own && open && &*function.name == "default" && mcp(client, at.fx)).then(|| owner.clone())
}

fn limit_word(name: &str) -> bool {
    ["max", "limit", "times", "attempts", "retries"].iter().any(|word| name.contains(word))
}

/// A method that turns a count into a delay, or into none.
fn delays(client: &Client<'_>, fx: Fx) -> bool {
    let function = client.scope.function(fx);
    function.takes_self && function.params.len() == 1 && function.ret.has("Option") && function.ret.has("Duration")
}

/// Whether the delay depends on the count.
fn grows(client: &Client<'_>, fx: Fx) -> bool {
    let function = client.scope.function(fx);
    let body = &function.body;
    let count = function.params.first().and_then(|param| param.names.first());
    body.ids().any(|id| match body.kind(id) {
        Kind::Call(..) | Kind::Method(..) | Kind::Binary(Op::Add | Op::Grow | Op::Other, ..) => {
            let compares = matches!(body.kind(id), Kind::Method(_, name, _) if name.starts_with("is_some") || name.starts_with("is_none"));
            !compares && body.inside(id).into_iter().any(|id| count.is_some() && body.local(id) == count)
        }
        _ => false,
    })
}

/// `2u32.pow(times)` in a policy whose default has no limit, with nothing that caps it.
pub(super) fn overflows(client: &Client<'_>, at: At) -> bool {
    let body = client.scope.body(at.fx);
    let Kind::Method(base, name, args) = body.kind(at.id) else { return false };
    if &**name != "pow" || args.len() != 1 || !literal(body, *base) || !delays(client, at.fx) || capped(body) {
        return false;
    }
    let owner = client.scope.function(at.fx).owner.as_ref();
    client.scope.all().any(|fx| {
        &*client.scope.function(fx).name == "default"
            && client.scope.function(fx).owner.as_ref() == owner
            && client.ids(fx).any(|id| open_default(client, At { fx, id }).is_some())
    })
}

fn literal(body: &Body, id: Id) -> bool {
    matches!(body.kind(body.peel(id)), Kind::Int(_) | Kind::Other(_))
}

fn capped(body: &Body) -> bool {
    body.ids().any(|id| match body.kind(id) {
        Kind::Method(_, name, _) => matches!(&**name, "min" | "clamp") || name.starts_with("saturating") || name.starts_with("checked"),
        _ => false,
    })
}

/// Whether the file, or the trait, has to do with streams of a session.
fn mcp(client: &Client<'_>, fx: Fx) -> bool {
    let file = client.scope.file(fx);
    client.in_scope(fx)
        || client.scope.of_file(client.scope.file_index(fx)).iter().flat_map(|mate| client.scope.named(&mate.name)).any(|mate| {
            client.scope.file(*mate).path == file.path
                && (client.own(*mate).has(Deeds::CURSOR) || client.ids(*mate).any(|id| matches!(client.scope.kind(At { fx: *mate, id }), Kind::Method(_, name, _) if name.contains("retry_connection") || name.contains("reconnect"))))
        })
}
