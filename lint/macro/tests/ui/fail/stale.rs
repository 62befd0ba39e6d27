//! A warning, and an error only because the crate says so; `allow(deprecated)` was meant for something else.
#![deny(warnings)]
#![allow(deprecated)]

struct Client;

impl Client {
    #[unbroken::check(allow(session_discarded, reason = "was needed once"))]
    fn poll(&self) -> u8 {
        1
    }
}

fn main() {
    assert_eq!(Client.poll(), 1);
}
