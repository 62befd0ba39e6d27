//! An acceptance inside the item that names no rule, or cannot be read, is told with the rule that was meant.
#![deny(warnings)]

#[unbroken::check]
fn misspelt() {
    #[cfg_attr(any(), unbroken::allow(sesion-discarded, reason = "x"))]
    {}
}

#[unbroken::check]
fn quoted() {
    #[cfg_attr(any(), unbroken::allow("blind-retry", reason = "x"))]
    {}
}

#[unbroken::check]
fn nameless() {
    #[cfg_attr(any(), unbroken::allow(reason = "x"))]
    {}
}

fn main() {
    misspelt();
    quoted();
    nameless();
}
