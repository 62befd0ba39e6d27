//! What is asked of a body: its parts, what stands around and inside a node, and in which order.
//! Knows the arenas; nothing of what the code means.

use super::{Body, Id, Kind, Name, Node, Pat, PatId, PatKind, Sort};
use crate::finding::Range;

impl Body {
    /// The root.
    #[must_use]
    pub fn root(&self) -> Option<Id> {
        self.nodes.len().checked_sub(1).map(|last| Id(last as u32))
    }

    /// The node.
    #[must_use]
    pub fn node(&self, id: Id) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// What the node is.
    #[must_use]
    pub fn kind(&self, id: Id) -> &Kind {
        &self.nodes[id.0 as usize].kind
    }

    /// Where the node stands.
    #[must_use]
    pub fn range(&self, id: Id) -> Range {
        self.nodes[id.0 as usize].range
    }

    /// The pattern.
    #[must_use]
    pub fn pat(&self, id: PatId) -> &Pat {
        &self.pats[id.0 as usize]
    }

    /// Every node, children before parents.
    pub fn ids(&self) -> impl Iterator<Item = Id> + use<> {
        Ids { next: 0, end: self.nodes.len() as u32 }
    }

    /// How deep the tree of expressions is, or that of a pattern, whichever is deeper.
    #[must_use]
    pub fn depth(&self) -> u32 {
        let mut deepest = 0;
        let mut below = vec![1_u32; self.nodes.len()];
        for (id, node) in self.nodes.iter().enumerate() {
            deepest = deepest.max(below[id]);
            if let Some(parent) = node.parent {
                below[parent.0 as usize] = below[parent.0 as usize].max(below[id] + 1);
            }
        }
        let mut depths: Vec<u32> = Vec::with_capacity(self.pats.len());
        for pat in self.pats.iter() {
            let subs: &[PatId] = match &pat.kind {
                PatKind::Wild | PatKind::Value(_) | PatKind::Bind(_, None) => &[],
                PatKind::Bind(_, Some(sub)) => std::slice::from_ref(sub),
                PatKind::Variant(_, subs, _) | PatKind::Or(subs) | PatKind::Tuple(subs) => subs,
            };
            let inside = subs.iter().filter_map(|sub| depths.get(sub.0 as usize)).max();
            depths.push(1 + inside.copied().unwrap_or(0));
        }
        deepest.max(depths.into_iter().max().unwrap_or(0))
    }

    /// What nodes are sorted by in source order: what is around another begins no later than that, and has the later id.
    pub fn place(&self, id: Id) -> impl Ord + use<> {
        (self.nodes[id.0 as usize].first, std::cmp::Reverse(id))
    }

    /// Every node of a sort, children before parents.
    #[must_use]
    pub fn of(&self, sort: Sort) -> &[Id] {
        self.sorts.ids(sort)
    }

    /// Whether some node of the sort inside `id`, or `id` itself, is such a one. In no order that matters.
    pub fn any_of(&self, sort: Sort, id: Id, mut test: impl FnMut(Id) -> bool) -> bool {
        let first = self.nodes[id.0 as usize].first;
        let ids = self.of(sort);
        let (mut at, mut end) = (0, ids.len());
        while at < end {
            let middle = (at + end) / 2;
            if ids[middle].0 < first.0 {
                at = middle + 1;
            } else {
                end = middle;
            }
        }
        while at < ids.len() && ids[at].0 <= id.0 {
            if self.within(ids[at], id) && test(ids[at]) {
                return true;
            }
            at += 1;
        }
        false
    }

    /// Every node of the sort inside `id`, `id` itself first, in source order.
    #[must_use]
    pub fn all_of(&self, sort: Sort, id: Id) -> Vec<Id> {
        let mut out = Vec::new();
        self.any_of(sort, id, |id| {
            out.push(id);
            false
        });
        if out.len() > 1 {
            out.sort_by_key(|id| self.place(*id));
        }
        out
    }

    /// Whether some node inside `id`, or `id` itself, is such a one. In no order that matters.
    pub fn any_inside(&self, id: Id, mut test: impl FnMut(Id) -> bool) -> bool {
        let mut inner = self.nodes[id.0 as usize].first;
        while inner.0 <= id.0 {
            if self.within(inner, id) && test(inner) {
                return true;
            }
            inner.0 += 1;
        }
        false
    }

    /// The ancestors of a node, nearest first, each with the child they were reached from.
    pub fn ancestors(&self, id: Id) -> impl Iterator<Item = (Id, Id)> + '_ {
        Ancestors { nodes: &self.nodes, child: id }
    }

    /// Whether `inner` is `outer` or stands inside it.
    #[must_use]
    pub fn within(&self, inner: Id, outer: Id) -> bool {
        let node = &self.nodes[outer.0 as usize];
        if inner.0 > outer.0 || inner.0 < node.first.0 {
            return false;
        }
        let whole = node.size == outer.0 - node.first.0 + 1;
        whole || inner.0 == outer.0 || self.ancestors(inner).any(|(parent, _)| parent == outer)
    }

    /// The direct parts of a node, in source order.
    #[must_use]
    pub fn children(&self, id: Id) -> Vec<Id> {
        let mut out = Vec::new();
        self.for_children(id, |child| out.push(child));
        out
    }

    /// Calls `visit` for every direct part of a node, in source order.
    pub fn for_children(&self, id: Id, visit: impl FnMut(Id)) {
        self.kind(id).for_parts(visit);
    }

    /// Every node inside `id`, `id` itself first, in source order.
    #[must_use]
    pub fn inside(&self, id: Id) -> Vec<Id> {
        let mut out = Vec::new();
        let mut open = vec![id];
        while let Some(next) = open.pop() {
            out.push(next);
            let from = open.len();
            self.for_children(next, |child| open.push(child));
            if open.len() > from + 1 {
                open[from..].reverse();
            }
        }
        out
    }

    /// The last segment of a path node.
    #[must_use]
    pub fn last_segment(&self, id: Id) -> Option<&Name> {
        match self.kind(id) {
            Kind::Path(path) => path.last(),
            _ => None,
        }
    }

    /// The name of a plain local (`self` included).
    #[must_use]
    pub fn local(&self, id: Id) -> Option<&Name> {
        match self.kind(id) {
            Kind::Path(path) if path.len() == 1 => path.first(),
            _ => None,
        }
    }

    /// The value without `&`, `*`, `.await` and `?`.
    #[must_use]
    pub fn peel(&self, mut id: Id) -> Id {
        while let Kind::Ref(a) | Kind::Deref(a) | Kind::Await(a) | Kind::Try(a) = self.kind(id) {
            id = *a;
        }
        id
    }

    /// Whether the node is the path `None`.
    #[must_use]
    pub fn is_none(&self, id: Id) -> bool {
        self.last_segment(id).is_some_and(|name| &**name == "None")
    }

    /// The arguments if the node is a call of a path whose last segment is `name`: `Some(x)`, `Err(x)`.
    #[must_use]
    pub fn call_of(&self, id: Id, name: &str) -> Option<&[Id]> {
        match self.kind(id) {
            Kind::Call(callee, args) if self.last_segment(*callee).is_some_and(|last| &**last == name) => {
                Some(args)
            }
            _ => None,
        }
    }

    /// Every name the pattern binds.
    #[must_use]
    pub fn bound(&self, pat: PatId) -> Vec<&Name> {
        bound(&self.pats, pat)
    }

    /// Whether the pattern binds the name.
    #[must_use]
    pub fn binds(&self, pat: PatId, name: &str) -> bool {
        match &self.pat(pat).kind {
            PatKind::Wild | PatKind::Value(_) => false,
            PatKind::Bind(bound, sub) => &**bound == name || sub.is_some_and(|sub| self.binds(sub, name)),
            PatKind::Variant(_, subs, _) | PatKind::Or(subs) | PatKind::Tuple(subs) => {
                subs.iter().any(|sub| self.binds(*sub, name))
            }
        }
    }

    /// Whether a variant or constant of this name stands anywhere in the pattern.
    #[must_use]
    pub fn mentions(&self, pat: PatId, name: &str) -> bool {
        self.variants(pat).iter().any(|path| path.last().is_some_and(|last| &**last == name))
    }

    /// Every path in the pattern, outermost first.
    #[must_use]
    pub fn variants(&self, pat: PatId) -> Vec<&[Name]> {
        let mut out: Vec<&[Name]> = Vec::new();
        let mut open = vec![pat];
        while let Some(next) = open.pop() {
            match &self.pat(next).kind {
                PatKind::Wild | PatKind::Value(_) => {}
                PatKind::Bind(_, sub) => open.extend(sub),
                PatKind::Variant(path, subs, _) => {
                    out.push(path);
                    open.extend(subs.iter().rev());
                }
                PatKind::Or(subs) | PatKind::Tuple(subs) => open.extend(subs.iter().rev()),
            }
        }
        out
    }
}

/// A walk up: by hand, since a closure that is called for each step takes twice the instructions where nothing is optimised.
struct Ancestors<'a> {
    nodes: &'a [Node],
    child: Id,
}

impl Iterator for Ancestors<'_> {
    type Item = (Id, Id);

    fn next(&mut self) -> Option<(Id, Id)> {
        let child = self.child;
        match self.nodes[child.0 as usize].parent {
            Some(parent) => {
                self.child = parent;
                Some((parent, child))
            }
            None => None,
        }
    }
}

/// Numbers in order: where nothing is optimised, a range that is mapped takes four times the instructions.
struct Ids {
    next: u32,
    end: u32,
}

impl Iterator for Ids {
    type Item = Id;

    fn next(&mut self) -> Option<Id> {
        if self.next == self.end {
            return None;
        }
        self.next += 1;
        Some(Id(self.next - 1))
    }
}

pub(super) fn bound(pats: &[Pat], pat: PatId) -> Vec<&Name> {
    let mut out = Vec::new();
    let mut open = vec![pat];
    while let Some(next) = open.pop() {
        match &pats[next.0 as usize].kind {
            PatKind::Wild | PatKind::Value(_) => {}
            PatKind::Bind(name, sub) => {
                out.push(name);
                open.extend(sub);
            }
            PatKind::Variant(_, subs, _) | PatKind::Or(subs) | PatKind::Tuple(subs) => open.extend(subs),
        }
    }
    out
}
