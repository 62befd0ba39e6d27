//! The shape of code as the rules see it: expressions and patterns in arenas, each with its place and its parent.
//! Knows no `syn`, no file and no protocol.

mod body;
mod sort;

use crate::finding::Range;
use body::bound;
pub use sort::Sort;
use sort::Sorts;
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

fn arm_parts(arm: &Arm, visit: &mut impl FnMut(Id)) {
    arm.future.iter().chain(&arm.guard).copied().for_each(&mut *visit);
    visit(arm.body);
}
