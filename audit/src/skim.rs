//! A skim: what one quick look at an ordinary record tells, as few bytes.
//! Knows hashes of what a record states, never the statement; whoever needs that reads the record again.
//!
//! *Ordinary* is a request that a server answered in order on its own response, a notification that it accepted, an
//! `initialize` that opened a session, and a DELETE that ended one. Most records of most logs are. Hashes here may say
//! that two different facts are equal, never that two equal ones differ: a skim decides only what is looked at again.

use crate::event::{Nanos, Origin, Place};
use crate::mapping::CallMark;

/// What an ordinary record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A request, answered with a result.
    Request,
    /// A notification.
    Notice,
    /// An `initialize` without a session that was answered with one.
    Initialize,
    /// An accepted DELETE.
    Delete,
}

/// An ordinary record at a glance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Skim {
    /// Where it stands: always a line.
    pub(crate) origin: Origin,
    /// Its length in bytes.
    pub(crate) length: u32,
    /// Its format, as an index into the known ones.
    pub(crate) format: u16,
    /// What it is.
    pub(crate) kind: Kind,
    /// When the exchange began and ended.
    pub(crate) start: Nanos,
    pub(crate) end: Nanos,
    /// The session: that of the request, or the one that the response issued.
    pub(crate) session: u64,
    /// The client, as the ledger's routes know it.
    pub(crate) client: Option<u64>,
    /// The tool of a call, as the routes know it.
    pub(crate) tool: Option<u64>,
    /// All that tells who the client is.
    pub(crate) who: u32,
    /// The protocol version that the request names; 0: none.
    pub(crate) version: u32,
    /// The instance that answered; 0: not told.
    pub(crate) instance: u32,
    /// The JSON-RPC id of a request; 0: none.
    pub(crate) asked: u32,
    /// Tool, arguments and round of a call; 0: no call.
    pub(crate) call: u32,
    /// The response's messages are recorded.
    pub(crate) bodies: bool,
    /// The request names a revision with sessions, so that the rules on calls look at it.
    pub(crate) sessioned: bool,
    /// It was counted when an earlier stretch of its session was judged, and stays for what it tells of the rest.
    pub(crate) counted: bool,
}

/// Hash of a text that stands in a skim; never 0.
pub(crate) fn mark(text: &str) -> u32 {
    fold(rapidhash::v3::rapidhash_v3(text.as_bytes()))
}

/// A long hash as a short one; never 0.
pub(crate) fn fold(hash: u64) -> u32 {
    ((hash >> 32) as u32 ^ hash as u32).max(1)
}

/// Hash of a record's bytes; never 0. It alone decides that a record is a copy of another one of its moment.
pub(crate) fn seal(bytes: &[u8]) -> u64 {
    rapidhash::v3::rapidhash_v3(bytes).max(1)
}

/// Bytes of a skim without its event ids.
const FIXED: usize = 88;
/// Event ids of one record that are noted; a record with more is not ordinary.
pub(crate) const MOST_IDS: usize = 200;

impl Skim {
    /// The call that the record carries.
    pub(crate) fn mark(&self) -> CallMark {
        match self.kind {
            Kind::Request if self.call != 0 => CallMark::One(self.call),
            _ => CallMark::None,
        }
    }

    /// Appends it with the hashes of the event ids that it delivered, at most [`MOST_IDS`], and with its record's text where
    /// it goes along.
    pub(crate) fn write(&self, ids: &[u32], text: Option<&[u8]>, out: &mut Vec<u8>) {
        let Place::Line(line) = self.origin.place else { return };
        let kind = self.kind as u8;
        let along = u8::from(text.is_some()) << 6;
        let told = u8::from(self.bodies) << 4 | u8::from(self.counted) << 5 | u8::from(self.sessioned) << 7;
        let flags = kind | told | along;
        out.reserve(FIXED + ids.len() * 4 + text.map_or(0, <[u8]>::len));
        out.extend_from_slice(&self.origin.file.to_le_bytes());
        out.extend_from_slice(&self.origin.offset.to_le_bytes());
        out.extend_from_slice(&line.to_le_bytes());
        out.extend_from_slice(&self.length.to_le_bytes());
        out.extend_from_slice(&self.origin.seal.to_le_bytes());
        out.extend_from_slice(&self.format.to_le_bytes());
        out.extend_from_slice(&self.start.to_le_bytes());
        out.extend_from_slice(&self.end.to_le_bytes());
        out.extend_from_slice(&self.session.to_le_bytes());
        out.extend_from_slice(&self.client.unwrap_or(0).to_le_bytes());
        for mark in [self.who, self.version, self.instance, self.asked, self.call] {
            out.extend_from_slice(&mark.to_le_bytes());
        }
        out.push(flags);
        out.push(ids.len() as u8);
        for id in ids {
            out.extend_from_slice(&id.to_le_bytes());
        }
        out.extend_from_slice(text.unwrap_or_default());
    }

    /// Takes the next one off `bytes`, with what goes along; none at the end, or if the bytes are not those of a skim.
    pub(crate) fn read<'b>(bytes: &mut &'b [u8]) -> Option<(Skim, Beside<'b>)> {
        let mut rest = *bytes;
        let (file, offset, line) = (four(&mut rest)?, eight(&mut rest)?, eight(&mut rest)?);
        let (length, seal) = (four(&mut rest)?, eight(&mut rest)?);
        let format = take(&mut rest).map(u16::from_le_bytes)?;
        let (start, end) = (eight(&mut rest)? as i64, eight(&mut rest)? as i64);
        let (session, client) = (eight(&mut rest)?, eight(&mut rest)?);
        let (who, version, instance) = (four(&mut rest)?, four(&mut rest)?, four(&mut rest)?);
        let (asked, call) = (four(&mut rest)?, four(&mut rest)?);
        let [flags, count] = take(&mut rest)?;
        let (ids, rest) = rest.split_at_checked(usize::from(count) * 4)?;
        let along = flags & 1 << 6 != 0;
        let (text, rest) = rest.split_at_checked(if along { length as usize } else { 0 })?;
        *bytes = rest;
        let kind = [Kind::Request, Kind::Notice, Kind::Initialize, Kind::Delete][usize::from(flags & 3)];
        let skim = Skim {
            origin: Origin { seal, file, offset, place: Place::Line(line) },
            length,
            format,
            kind,
            start,
            end,
            session,
            client: Some(client).filter(|client| *client != 0),
            tool: None,
            who,
            version,
            instance,
            asked,
            call,
            bodies: flags & 1 << 4 != 0,
            counted: flags & 1 << 5 != 0,
            sessioned: flags & 1 << 7 != 0,
        };
        Some((skim, Beside { ids, text: along.then_some(text) }))
    }
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*first)
}

fn four(bytes: &mut &[u8]) -> Option<u32> {
    take(bytes).map(u32::from_le_bytes)
}

fn eight(bytes: &mut &[u8]) -> Option<u64> {
    take(bytes).map(u64::from_le_bytes)
}

/// What goes along with a skim.
#[derive(Debug, Default)]
pub(crate) struct Along {
    /// Hashes of the event ids that it delivered.
    pub(crate) ids: Box<[u32]>,
    /// Its record, where it cannot be read again: it was compressed, say.
    pub(crate) text: Option<Box<[u8]>>,
}

/// A skim with what goes along, on its way to a judgement: it is handed on a few times, and put in order.
#[derive(Debug)]
pub(crate) struct Skimmed {
    /// The record at a glance.
    pub(crate) skim: Skim,
    /// What goes along.
    pub(crate) along: Along,
}

/// The same as it stands in a skim's bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beside<'b> {
    ids: &'b [u8],
    pub(crate) text: Option<&'b [u8]>,
}

impl Beside<'_> {
    /// Hashes of the event ids.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> {
        self.ids.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let skim = |n: u64, kind| Skim {
            origin: Origin { seal: u64::MAX - n, file: 3, offset: n << 40, place: Place::Line(n) },
            length: 830,
            format: 7,
            kind,
            start: -(n as i64),
            end: i64::MAX,
            session: u64::MAX - n,
            client: Some(9),
            tool: None,
            who: 1,
            version: 2,
            instance: 3,
            asked: 4,
            call: u32::MAX,
            bodies: n.is_multiple_of(2),
            counted: n.is_multiple_of(3),
            sessioned: n.is_multiple_of(5),
        };
        let kinds = [Kind::Request, Kind::Notice, Kind::Initialize, Kind::Delete];
        let skims: Vec<Skim> = (0..8).map(|n| skim(n, kinds[n as usize % 4])).collect();
        let mut bytes = Vec::new();
        for (n, skim) in skims.iter().enumerate() {
            let text = (n % 3 == 1).then(|| vec![n as u8; skim.length as usize]);
            skim.write(&vec![n as u32; n], text.as_deref(), &mut bytes);
        }
        let mut rest = &bytes[..];
        let told = |(skim, beside): (Skim, Beside<'_>)| {
            (skim, beside.ids().count(), beside.text.map(|text| (text.len(), text[0])))
        };
        let read: Vec<_> = std::iter::from_fn(|| Skim::read(&mut rest)).map(told).collect();
        let text = |n: usize| (n % 3 == 1).then_some((830, n as u8));
        let want: Vec<_> = skims.into_iter().enumerate().map(|(n, skim)| (skim, n, text(n))).collect();
        assert_eq!(read, want);
        assert!(Skim::read(&mut &bytes[..40]).is_none());
    }
}
