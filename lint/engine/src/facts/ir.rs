//! The shape of code as the rules see it: expressions and patterns in arenas, each with its place and its parent.
//! Knows no `syn`, no file and no protocol.

use crate::finding::Range;
use std::sync::Arc;

/// An identifier or literal text, shared within a file.
pub type Name = Arc<str>;

/// An expression or statement of one [`Body`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub u32);

/// A pattern of one [`Body`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PatId(pub u32);

/// One expression or statement.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Where it stands.
    pub range: Range,
    /// The node it is a part of; `None` for the root.
    pub parent: Option<Id>,
    /// What an `#[cfg_attr(any(), unbroken::allow(…))]` on it accepts; index into [`super::FileFacts::acceptances`].
    pub accepted: Option<u32>,
    /// The first node inside it: parts come before what they are part of.
    first: Id,
    /// How many nodes are inside it, itself among them. Fewer than lie between the first and itself, where the value of a
    /// pattern lies there too, which is a part of nothing.
    size: u32,
}

/// One arm of a `match` or a `select!`.
#[derive(Clone, Debug)]
pub struct Arm {
    /// The pattern.
    pub pat: PatId,
    /// For `select!`: the future that is awaited.
    pub future: Option<Id>,
    /// The `if` guard.
    pub guard: Option<Id>,
    /// What runs.
    pub body: Id,
    /// The whole arm.
    pub range: Range,
}

/// The kind of a loop, with its head.
#[derive(Clone, Debug)]
pub enum Head {
    /// `loop`.
    Forever,
    /// `while condition`.
    While(Id),
    /// `for pattern in iterator`.
    For(PatId, Id),
}

/// A binary operator, as far as rules care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`, `<=`
    Less,
    /// `>`, `>=`
    Greater,
    /// `+`
    Add,
    /// `*`, `<<`
    Grow,
    /// any other
    Other,
}

/// What a node is. Parentheses, groups and `unsafe` are gone; `matches!(e, p)` is [`Kind::LetCond`].
#[derive(Clone, Debug)]
pub enum Kind {
    /// `a`, `Self::X`, `m::X`, without generic arguments.
    Path(Vec<Name>),
    /// A string, or a byte string that is UTF-8.
    Str(Name),
    /// An integer.
    Int(u64),
    /// A boolean.
    Bool(bool),
    /// `base.name` or `base.0`.
    Field(Id, Name),
    /// `callee(arguments)`; also tuple structs and variants: `Some(x)`.
    Call(Id, Vec<Id>),
    /// `receiver.name(arguments)`; the type that a downcast asks for, `error.is::<E>()`, is its argument.
    Method(Id, Name, Vec<Id>),
    /// `name!(…)`: the parts that parse as expressions or statements, else its string literals.
    Macro(Name, Vec<Id>),
    /// `left = right`.
    Assign(Id, Id),
    /// `left op= right`.
    Update(Op, Id, Id),
    /// `{ … }`; the flag says whether the last statement is the value.
    Block(Vec<Id>, bool),
    /// `let pattern = init else { … };`
    Let(PatId, Option<Id>, Option<Id>),
    /// `if condition { … } else …`.
    If(Id, Id, Option<Id>),
    /// `let pattern = value` inside a condition.
    LetCond(PatId, Id),
    /// `a && b`.
    And(Id, Id),
    /// `a || b`.
    Or(Id, Id),
    /// `!a`.
    Not(Id),
    /// `a op b`.
    Binary(Op, Id, Id),
    /// `match value { … }`.
    Match(Id, Vec<Arm>),
    /// `select! { … }`.
    Select(Vec<Arm>),
    /// A loop: head, body, label.
    Loop(Head, Id, Option<Name>),
    /// `|patterns| body`.
    Closure(Vec<PatId>, Id),
    /// `async { … }`.
    Async(Id),
    /// `return value`; also `bail!(…)` with the macro as the value.
    Return(Option<Id>),
    /// `break 'label value`.
    Break(Option<Name>, Option<Id>),
    /// `continue 'label`.
    Continue(Option<Name>),
    /// `value?`.
    Try(Id),
    /// `value.await`.
    Await(Id),
    /// `&value`, `&mut value`.
    Ref(Id),
    /// `*value`.
    Deref(Id),
    /// `Path { field: value, ..rest }`.
    Struct(Vec<Name>, Vec<(Name, Id)>, Option<Id>),
    /// `(a, b)`.
    Tuple(Vec<Id>),
    /// `[a, b]`, `[a; n]`.
    Array(Vec<Id>),
    /// `base[index]`.
    Index(Id, Id),
    /// Anything else, with its parts.
    Other(Vec<Id>),
}

/// One pattern.
#[derive(Clone, Debug)]
pub struct Pat {
    /// What it is.
    pub kind: PatKind,
    /// Where it stands.
    pub range: Range,
}

/// What a pattern is. References and boxes are gone.
#[derive(Clone, Debug)]
pub enum PatKind {
    /// `_`, `..`.
    Wild,
    /// `name`, `name @ pattern`.
    Bind(Name, Option<PatId>),
    /// A path, tuple struct or struct pattern: path, parts, their field names (empty for positions).
    Variant(Vec<Name>, Vec<PatId>, Vec<Name>),
    /// A literal or a range, as its node.
    Value(Id),
    /// `a | b`.
    Or(Vec<PatId>),
    /// `(a, b)`, `[a, b]`.
    Tuple(Vec<PatId>),
}

impl Kind {
    /// Calls `visit` for every direct part, in source order.
    fn for_parts(&self, mut visit: impl FnMut(Id)) {
        match self {
            Kind::Path(_) | Kind::Str(_) | Kind::Int(_) | Kind::Bool(_) | Kind::Continue(_) => {}
            Kind::Field(a, _) | Kind::Not(a) | Kind::Async(a) | Kind::Try(a) | Kind::Await(a) => visit(*a),
            Kind::Ref(a) | Kind::Deref(a) | Kind::LetCond(_, a) | Kind::Closure(_, a) => visit(*a),
            Kind::Call(a, rest) | Kind::Method(a, _, rest) => {
                visit(*a);
                rest.iter().copied().for_each(visit);
            }
            Kind::Macro(_, rest) | Kind::Block(rest, _) | Kind::Tuple(rest) => {
                rest.iter().copied().for_each(visit)
            }
            Kind::Array(rest) | Kind::Other(rest) => rest.iter().copied().for_each(visit),
            Kind::Assign(a, b) | Kind::Update(_, a, b) | Kind::And(a, b) | Kind::Or(a, b) => {
                visit(*a);
                visit(*b);
            }
            Kind::Binary(_, a, b) | Kind::Index(a, b) => {
                visit(*a);
                visit(*b);
            }
            Kind::Let(_, a, b) => [a, b].into_iter().flatten().copied().for_each(visit),
            Kind::If(a, b, c) => {
                visit(*a);
                visit(*b);
                c.iter().copied().for_each(visit);
            }
            Kind::Match(a, arms) => {
                visit(*a);
                arms.iter().for_each(|arm| arm_parts(arm, &mut visit));
            }
            Kind::Select(arms) => arms.iter().for_each(|arm| arm_parts(arm, &mut visit)),
            Kind::Loop(head, body, _) => {
                if let Head::While(a) | Head::For(_, a) = head {
                    visit(*a);
                }
                visit(*body);
            }
            Kind::Return(a) | Kind::Break(_, a) => a.iter().copied().for_each(visit),
            Kind::Struct(_, fields, rest) => {
                fields.iter().for_each(|(_, value)| visit(*value));
                rest.iter().copied().for_each(visit);
            }
        }
    }
}

/// The body of one function.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// Expressions and statements; the last one is the root. A slice in a box: where nothing is optimised, a vector is
    /// indexed in five times the instructions.
    pub nodes: Box<[Node]>,
    /// Patterns.
    pub pats: Box<[Pat]>,
    /// The nodes by what they are.
    sorts: Sorts,
}

/// Methods of `dyn Any` and `dyn Error` that ask for the type behind them.
#[must_use]
pub fn downcasts(name: &str) -> bool {
    matches!(name, "downcast_ref" | "downcast_mut" | "downcast" | "is")
}

/// A body that is being written.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) nodes: Vec<Node>,
    pub(super) pats: Vec<Pat>,
}

impl Draft {
    /// Adds a node, the parent of its parts.
    pub(super) fn add(&mut self, kind: Kind, range: Range) -> Id {
        let id = Id(self.nodes.len() as u32);
        let nodes = self.nodes.as_mut_slice();
        let (mut first, mut size) = (id, 1);
        kind.for_parts(|part| {
            let node = &mut nodes[part.0 as usize];
            node.parent = Some(id);
            size += node.size;
            if node.first.0 < first.0 {
                first = node.first;
            }
        });
        self.nodes.push(Node { kind, range, parent: None, accepted: None, first, size });
        id
    }

    pub(super) fn add_pat(&mut self, kind: PatKind, range: Range) -> PatId {
        self.pats.push(Pat { kind, range });
        PatId(self.pats.len() as u32 - 1)
    }

    pub(super) fn kind(&self, id: Id) -> &Kind {
        &self.nodes[id.0 as usize].kind
    }

    pub(super) fn range(&self, id: Id) -> Range {
        self.nodes[id.0 as usize].range
    }

    pub(super) fn pat_range(&self, id: PatId) -> Range {
        self.pats[id.0 as usize].range
    }

    /// Every name the pattern binds.
    pub(super) fn bound(&self, pat: PatId) -> Vec<Name> {
        bound(&self.pats, pat).into_iter().cloned().collect()
    }

    /// The body as it stays.
    pub(super) fn finish(self) -> Body {
        let nodes: Box<[Node]> = self.nodes.into();
        let sorts = Sorts::of(&nodes);
        Body { nodes, pats: self.pats.into(), sorts }
    }
}

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
        let sort = sort as usize;
        &self.sorts.ids[self.sorts.starts[sort] as usize..self.sorts.starts[sort + 1] as usize]
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
struct Sorts {
    ids: Box<[Id]>,
    /// Where each sort begins, and the last ends.
    starts: [u32; Sort::COUNT + 1],
}

impl Sorts {
    fn of(nodes: &[Node]) -> Sorts {
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

fn bound(pats: &[Pat], pat: PatId) -> Vec<&Name> {
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

fn arm_parts(arm: &Arm, visit: &mut impl FnMut(Id)) {
    arm.future.iter().chain(&arm.guard).copied().for_each(&mut *visit);
    visit(arm.body);
}
