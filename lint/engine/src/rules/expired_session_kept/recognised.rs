//! Who tells a 404 apart: a predicate that the function asks, or a caller that hears of its failure.
//! Knows where 404 is named; what is then done is not asked.

use super::restarted::passes_up;
use crate::client::{Client, Deeds};
use crate::facts::ir::{Id, Kind};
use crate::scope::{At, Fx};

/// Whether a callee, or a caller on the way up, tells a 404 apart.
pub(super) fn recognised(client: &Client<'_>, fx: Fx) -> bool {
    let tells = |fx: &Fx| client.own(*fx).has(Deeds::TELLS_404);
    // A predicate, or a helper that is given the response, the status or the error.
    let asks = |callee: &Fx| {
        let function = client.scope.function(*callee);
        let given = |name: &str| function.params.iter().any(|param| param.ty.0.iter().any(|part| part.contains(name)));
        function.ret.has("bool") || given("Response") || given("Status") || given("Error")
    };
    let judges = |fx: Fx| client.ids(fx).flat_map(|id| client.scope.callees(At { fx, id })).any(|callee| tells(callee) && asks(callee));
    if judges(fx) {
        return true;
    }
    let mut seen = vec![fx];
    let mut at = 0;
    let mut level_end = 1;
    for _ in 0..3 {
        while at < level_end {
            let callers = if travels(client, seen[at]) { client.scope.callers(seen[at]) } else { &[] };
            for caller in callers {
                let up = caller.at.fx;
                if client.scope.function(up).test {
                    continue;
                }
                // One call of the same function may hand the error on, and another look at it.
                let looked_at = !passes_up(client.scope.body(up), caller.at.id);
                if looked_at && (tells(&up) || judges(up)) {
                    return true;
                }
                if !seen.contains(&up) {
                    seen.push(up);
                }
            }
            at += 1;
        }
        level_end = seen.len();
    }
    false
}

/// Whether the function tells its caller of a failure at all: it gives something back, or sends an error on.
fn travels(client: &Client<'_>, fx: Fx) -> bool {
    let body = client.scope.body(fx);
    let told = |id: Id| {
        body.inside(id).into_iter().any(|id| match body.kind(id) {
            Kind::Path(path) | Kind::Struct(path, ..) => path.iter().any(|part| {
                let part = part.to_lowercase();
                ["err", "fail", "status", "expired", "gone", "closed"].iter().any(|word| part.contains(word))
            }),
            _ => false,
        })
    };
    !client.scope.function(fx).ret.0.is_empty()
        || body.ids().any(|id| match body.kind(id) {
            Kind::Method(_, name, args) => name.contains("send") && args.iter().any(|arg| told(*arg)),
            _ => false,
        })
}
