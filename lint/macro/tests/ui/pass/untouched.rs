//! Items with nothing to say are passed on as they are, whatever they are made of.
#![deny(warnings)]

struct Client {
    session_id: Option<String>,
    cursor: Option<String>,
}

enum Failure {
    Status(u16),
    Transport,
}

#[unbroken::check(session = session_id, cursor = cursor)]
impl Client {
    fn answered<'a, const N: usize>(&mut self, result: Result<&'a [u8; N], Failure>) -> Result<&'a [u8; N], Failure>
    where
        [u8; N]: Sized,
    {
        match result {
            Err(Failure::Status(404)) => {
                self.session_id = None;
                self.cursor = None;
                Err(Failure::Status(404))
            }
            other => other,
        }
    }
}

#[unbroken::check]
async fn free<T: Clone>(value: &T) -> T {
    #![allow(unused_variables)]
    let unused = concat!("a", "b");
    value.clone()
}

#[unbroken::check]
mod inner {
    macro_rules! made {
        ($name:ident) => {
            pub fn $name() -> u8 {
                7
            }
        };
    }
    made!(seven);
}

trait Polls {
    fn poll(&self) -> u8;
}

impl Polls for Client {
    #[unbroken::check]
    fn poll(&self) -> u8 {
        inner::seven()
    }
}

fn main() {
    let mut client = Client { session_id: None, cursor: None };
    assert!(client.answered(Ok(&[1, 2])).is_ok());
    assert!(client.answered::<0>(Err(Failure::Transport)).is_err());
    assert_eq!(client.poll(), 7);
    drop(free(&1));
}
