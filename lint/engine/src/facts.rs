//! What the source says, file by file: types, constants, and functions lowered to a small tree of our own.
//! Refuses to know `syn` beyond the lowering, and knows no protocol at all.
//!
//! # The layers above, and how to add a rule
//!
//! | layer | says | ask it |
//! | --- | --- | --- |
//! | [`ir`] | one function as a tree in an arena: every [`ir::Node`] has a kind, a range and a parent | [`ir::Body::inside`], [`ir::Body::ancestors`], [`ir::Body::peel`] |
//! | [`crate::scope`] | the crate: who calls whom, what a local stands for, types, constants, where values come from | [`crate::scope::Scope::callees`], [`callers`](crate::scope::Scope::callers), [`binding`](crate::scope::Scope::binding), [`origins`](crate::scope::Scope::origins), [`type_of`](crate::scope::Scope::type_of), [`text`](crate::scope::Scope::text) |
//! | [`crate::flow`] | what holds at a place ([`crate::flow::known`]) and what that says of the session ([`crate::flow::cause::cause`]: gone, something else, both in one test, leaving on purpose, unknown) | also [`crate::flow::loops`], [`crate::flow::leaves`], [`crate::flow::reads_stream`] |
//! | [`crate::client`] | MCP: header uses, what each function does alone and with its callees ([`crate::client::Deeds`]), which slots keep session ids, cursors and handles | [`crate::client::Client::deeds_of`], [`slot`](crate::client::Client::slot), [`keeps_session`](crate::client::Client::keeps_session), [`in_scope`](crate::client::Client::in_scope) |
//! | [`crate::rules`] | one file per mistake | `rules! { file_name Variant, }` |
//!
//! A rule is `rules/<id with underscores>.rs`: a leading `//!` block that is its page (the parts that `rules/pages.rs` asks for; its
//! `flagged` and `accepted` blocks are run), and `pub(super) fn check(client: &Client<'_>, report: &mut Report)`, which walks
//! `client.functions()` (tests and servers left out; a rule about servers walks `client.scope.all()`), looks at nodes, and states each finding as a `Claim`: the narrowest
//! offending node, a message, one sentence of help, and the further places of its story. Register it with one word in `rules!`.
//! Names of fields and functions are a last resort: follow values and conditions first, and lower the certainty where a name decides.

mod alone;
mod attribute;
pub(crate) mod direct;
mod expand;
mod expr;
pub mod ir;
mod item;
mod mac;
mod pat;
mod ty;

use crate::finding::{Problem, Range};
use ir::{Body, Name};
use std::path::PathBuf;

/// What one file says. Plain data: it can be built on one thread and read on another.
#[derive(Clone, Debug, Default)]
pub struct FileFacts {
    /// The file, as given.
    pub path: PathBuf,
    /// Its functions: free, inherent, of impls and traits, and those inside other functions.
    pub functions: Vec<Function>,
    /// Its structs, enums and aliases.
    pub types: Vec<TypeDef>,
    /// Its traits: name, the traits it asks for.
    pub traits: Vec<(Name, Vec<Name>)>,
    /// Its string constants: name, text.
    pub consts: Vec<(Name, Name)>,
    /// Its renamed imports: new name, old name.
    pub renames: Vec<(Name, Name)>,
    /// Its imports: name as used here, crate or first segment it comes from.
    pub imports: Vec<(Name, Name)>,
    /// The first segment of every path that is imported or used.
    pub crates: Vec<Name>,
    /// The places that carry `unbroken::allow`.
    pub acceptances: Vec<Acceptance>,
    /// Whether the file was read in full, or passed over by the byte search.
    pub parsed: bool,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// An acceptance written in the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptance {
    /// The rule's name, with underscores or dashes; what stands in its place where it cannot be read, empty where nothing does.
    pub rule: Name,
    /// The reason; empty when none was given.
    pub reason: Name,
    /// Whether it cannot be read: it accepts nothing then.
    pub unread: bool,
    /// Whether it is written without the `cfg_attr` that keeps it from the compiler, which knows no `unbroken::allow`.
    pub bare: bool,
    /// Whether it stands on an assignment or an operator, where no attribute compiles.
    pub misplaced: bool,
    /// What it covers.
    pub covers: Range,
    /// Where it stands.
    pub range: Range,
}

/// A struct, an enum, or an alias.
#[derive(Clone, Debug)]
pub struct TypeDef {
    /// Its name.
    pub name: Name,
    /// Named fields (structs), the fields of variants as `Variant.0` (enums), or one entry without a name (aliases).
    pub fields: Vec<FieldDef>,
    /// Where it stands.
    pub range: Range,
    /// Whether it is test code.
    pub test: bool,
}

/// A field.
#[derive(Clone, Debug)]
pub struct FieldDef {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: TypeText,
    /// Where it stands.
    pub range: Range,
}

/// A type as the identifiers in it, in source order: `Arc<RwLock<Option<String>>>` is `Arc RwLock Option String`,
/// `Arc<reqwest::Client>` is `Arc reqwest Client`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeText(pub Vec<Name>);

impl TypeText {
    /// Whether the identifier occurs.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|part| &**part == name)
    }
}

/// A parameter other than `self`.
#[derive(Clone, Debug)]
pub struct Param {
    /// The names it binds.
    pub names: Vec<Name>,
    /// Its type.
    pub ty: TypeText,
}

/// A function with its body.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// The type whose impl, or the trait, it stands in.
    pub owner: Option<Name>,
    /// The trait of the impl.
    pub of_trait: Option<Name>,
    /// Whether it takes `self`.
    pub takes_self: bool,
    /// Its other parameters.
    pub params: Vec<Param>,
    /// What it returns.
    pub ret: TypeText,
    /// Whether it, or what surrounds it, is test code.
    pub test: bool,
    /// Its body.
    pub body: Body,
    /// Where it stands.
    pub range: Range,
    /// What `#[unbroken::check(…)]` on it, or on its impl or module, says.
    pub marks: Marks,
}

impl Function {
    /// `Type::name` or `name`.
    #[must_use]
    pub fn item(&self) -> String {
        match &self.owner {
            Some(owner) => format!("{owner}::{}", self.name),
            None => self.name.to_string(),
        }
    }
}

/// What an attribute names that inference cannot know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Whether the attribute is there at all.
    pub checked: bool,
    /// Fields that hold the session id or the handle.
    pub session: Vec<Name>,
    /// Fields that hold the cursor.
    pub cursor: Vec<Name>,
    /// Functions that send a `tools/call`.
    pub call: Vec<Name>,
    /// Functions that write to storage.
    pub store: Vec<Name>,
}

pub use alone::supply_types;
pub(crate) use item::Lowering;
pub use item::{lower_item, lower_item_in_order};
