#[unbroken::check(sesion = id)]
fn misspelt() {}

#[unbroken::check(allow(sesion_discarded, reason = "x"))]
fn unknown_rule() {}

#[unbroken::check(allow(sesion-discarded, reason = "x"))]
fn unknown_id() {}

#[unbroken::check(allow("session-discarded", reason = "x"))]
fn quoted_rule() {}

#[unbroken::check(allow(session_discarded))]
fn without_reason() {}

#[unbroken::check(session = "id", call, 3)]
fn three_at_once() {}

#[unbroken::check]
struct NotCode;

fn main() {
    misspelt();
    unknown_rule();
    unknown_id();
    quoted_rule();
    without_reason();
    three_at_once();
}
