//! Pieces of lines that wait for their rest.
//! Knows streams and sizes only.

use super::Piece;
use crate::event::Origin;
use crate::source::record::Shipped;
use std::collections::BTreeMap;

/// Streams whose lines may be open at once; a file of one container has two.
const MOST_STREAMS: usize = 1024;

#[derive(Default)]
pub(super) struct Partials {
    open: BTreeMap<Vec<u8>, Open>,
}

struct Open {
    origin: Origin,
    text: Vec<u8>,
    shipped: Shipped,
    /// Grown too long: dropped up to its end.
    dropped: bool,
}

impl Partials {
    pub(super) fn waiting(&self) -> bool {
        !self.open.is_empty()
    }

    /// Adds a piece. `Ok(Some)`: the line is whole. `Err`: it just grew too long.
    pub(super) fn add(&mut self, piece: Piece, origin: Origin, most: usize) -> Result<Option<Vec<u8>>, ()> {
        let last = piece.last;
        if last && !self.open.contains_key(&piece.stream) {
            return Ok(Some(piece.text));
        }
        if !last && self.open.len() >= MOST_STREAMS && !self.open.contains_key(&piece.stream) {
            return Ok(Some(piece.text));
        }
        let key = piece.stream.clone();
        let open = self.open.entry(piece.stream).or_insert(Open {
            origin,
            text: Vec::new(),
            shipped: piece.shipped,
            dropped: false,
        });
        let mut grew = false;
        if !open.dropped {
            open.text.extend_from_slice(&piece.text);
            if open.text.len() > most {
                (open.text, open.dropped, grew) = (Vec::new(), true, true);
            }
        }
        if last {
            let whole = self.open.remove(&key).expect("the entry was just filled");
            if whole.dropped {
                return if grew { Err(()) } else { Ok(None) };
            }
            return Ok(Some(whole.text));
        }
        if grew { Err(()) } else { Ok(None) }
    }

    /// What never got its end, by place.
    pub(super) fn take(&mut self) -> Vec<(Origin, Vec<u8>, Shipped)> {
        let mut left: Vec<_> = std::mem::take(&mut self.open)
            .into_values()
            .filter(|o| !o.dropped)
            .map(|o| (o.origin, o.text, o.shipped))
            .collect();
        left.sort_by_key(|(origin, ..)| *origin);
        left
    }
}
