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
    /// Pieces that tell their place, by it; `text` stays empty.
    parts: BTreeMap<u64, Vec<u8>>,
    /// Bytes in `parts`.
    size: usize,
    shipped: Shipped,
    /// Grown too long: dropped up to its end.
    dropped: bool,
}

impl Open {
    fn new(origin: Origin, shipped: Shipped) -> Self {
        Open { origin, text: Vec::new(), parts: BTreeMap::new(), size: 0, shipped, dropped: false }
    }
}

impl Partials {
    pub(super) fn waiting(&self) -> bool {
        !self.open.is_empty()
    }

    /// Adds a piece. `Ok(Some)`: the line is whole. `Err`: it just grew too long.
    pub(super) fn add(&mut self, piece: Piece, origin: Origin, most: usize) -> Result<Option<Vec<u8>>, ()> {
        let last = piece.last;
        if let Some((index, total)) = piece.part.filter(|(_, total)| *total > 1) {
            return self.add_part(piece, origin, index, total, most);
        }
        if last && !self.open.contains_key(&piece.stream) {
            return Ok(Some(piece.text));
        }
        if !last && self.open.len() >= MOST_STREAMS && !self.open.contains_key(&piece.stream) {
            return Ok(Some(piece.text));
        }
        let key = piece.stream.clone();
        let open = self.open.entry(piece.stream).or_insert_with(|| Open::new(origin, piece.shipped));
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

    /// Adds a piece that tells its place among `total`. One that comes twice counts once.
    fn add_part(
        &mut self,
        piece: Piece,
        origin: Origin,
        index: u64,
        total: u64,
        most: usize,
    ) -> Result<Option<Vec<u8>>, ()> {
        if self.open.len() >= MOST_STREAMS && !self.open.contains_key(&piece.stream) {
            return Ok(Some(piece.text));
        }
        let key = piece.stream.clone();
        let open = self.open.entry(piece.stream).or_insert_with(|| Open::new(origin, piece.shipped));
        // What was dropped keeps its pieces' places, without their text.
        let text = if open.dropped { Vec::new() } else { piece.text };
        open.size += text.len();
        open.size -= open.parts.insert(index, text).map_or(0, |before| before.len());
        let grew = !open.dropped && open.size > most;
        if grew {
            open.dropped = true;
            open.size = 0;
            open.parts.values_mut().for_each(|text| *text = Vec::new());
        }
        let whole = open.parts.len() as u64 == total;
        let done = if whole { self.open.remove(&key).filter(|done| !done.dropped) } else { None };
        if grew { Err(()) } else { Ok(done.map(|done| done.parts.into_values().flatten().collect())) }
    }

    /// What never got its end, by place.
    pub(super) fn take(&mut self) -> Vec<(Origin, Vec<u8>, Shipped)> {
        let mut left: Vec<_> = std::mem::take(&mut self.open)
            .into_values()
            .filter(|o| !o.dropped)
            .map(|o| {
                (o.origin, o.text.into_iter().chain(o.parts.into_values().flatten()).collect(), o.shipped)
            })
            .collect();
        left.sort_by_key(|(origin, ..)| *origin);
        left
    }
}
