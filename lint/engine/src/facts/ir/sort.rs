//! The nodes of a body by what they are.
//! Knows kinds, and no place of a node but its number.

use super::{Id, Kind, Node};

/// The sorts of nodes that are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// [`Kind::Call`] and [`Kind::Method`].
    Call,
    /// [`Kind::Path`].
    Path,
    /// [`Kind::Str`].
    Text,
    /// [`Kind::Field`].
    Field,
    /// [`Kind::Assign`].
    Assign,
    /// [`Kind::Update`].
    Update,
    /// [`Kind::Binary`].
    Binary,
    /// [`Kind::Let`].
    Let,
    /// [`Kind::If`].
    If,
    /// [`Kind::Match`].
    Match,
    /// [`Kind::Select`].
    Select,
    /// [`Kind::Loop`].
    Loop,
    /// [`Kind::Return`].
    Return,
    /// [`Kind::Break`].
    Break,
    /// [`Kind::Continue`].
    Continue,
    /// [`Kind::Struct`].
    Struct,
    /// [`Kind::Tuple`].
    Tuple,
    /// Any other.
    Other,
}

impl Sort {
    const COUNT: usize = Sort::Other as usize + 1;

    fn of(kind: &Kind) -> Sort {
        match kind {
            Kind::Call(..) | Kind::Method(..) => Sort::Call,
            Kind::Path(_) => Sort::Path,
            Kind::Str(_) => Sort::Text,
            Kind::Field(..) => Sort::Field,
            Kind::Assign(..) => Sort::Assign,
            Kind::Update(..) => Sort::Update,
            Kind::Binary(..) => Sort::Binary,
            Kind::Let(..) => Sort::Let,
            Kind::If(..) => Sort::If,
            Kind::Match(..) => Sort::Match,
            Kind::Select(_) => Sort::Select,
            Kind::Loop(..) => Sort::Loop,
            Kind::Return(_) => Sort::Return,
            Kind::Break(..) => Sort::Break,
            Kind::Continue(_) => Sort::Continue,
            Kind::Struct(..) => Sort::Struct,
            Kind::Tuple(_) => Sort::Tuple,
            _ => Sort::Other,
        }
    }
}

/// The nodes of a body by their sorts: a rule that looks for a few passes over no others. Most of a rule's time would go
/// there, where nothing is optimised.
#[derive(Clone, Debug, Default)]
pub(super) struct Sorts {
    ids: Box<[Id]>,
    /// Where each sort begins, and the last ends.
    starts: [u32; Sort::COUNT + 1],
}

impl Sorts {
    pub(super) fn of(nodes: &[Node]) -> Sorts {
        let mut starts = [0; Sort::COUNT + 1];
        let mut at = 0;
        while at < nodes.len() {
            starts[Sort::of(&nodes[at].kind) as usize + 1] += 1;
            at += 1;
        }
        let mut sort = 0;
        while sort < Sort::COUNT {
            starts[sort + 1] += starts[sort];
            sort += 1;
        }
        let mut next = starts;
        let mut ids = vec![Id(0); nodes.len()].into_boxed_slice();
        at = 0;
        while at < nodes.len() {
            let place = &mut next[Sort::of(&nodes[at].kind) as usize];
            ids[*place as usize] = Id(at as u32);
            *place += 1;
            at += 1;
        }
        Sorts { ids, starts }
    }

    /// The nodes of a sort, children before parents.
    pub(super) fn ids(&self, sort: Sort) -> &[Id] {
        let sort = sort as usize;
        &self.ids[self.starts[sort] as usize..self.starts[sort + 1] as usize]
    }
}
