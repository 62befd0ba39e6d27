//! Source → facts → flow → rules.

pub mod accept;
pub mod client;
pub mod facts;
pub mod finding;
pub mod flow;
mod index;
pub mod marks;
pub mod rules;
pub mod scope;
pub mod sdk;
pub mod source;
pub mod spelling;

pub use facts::FileFacts;
pub use source::{Reading, Signs, SourceFile, lower, read, signs, speaks_as_client};

use finding::{Finding, Problem};

/// What may be changed about a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Whether test code is judged too.
    pub tests: bool,
    /// SDKs besides the built-in ones that the code imports; these count whether it imports them or not.
    pub sdks: Vec<&'static sdk::Sdk>,
}

/// What came of a run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The findings, by path and place.
    pub findings: Vec<Finding>,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// What the code accepts; the caller applies them.
    pub acceptances: Vec<(std::path::PathBuf, facts::Acceptance)>,
    /// How much was read.
    pub counts: Counts,
}

impl Outcome {
    /// Whether there is nothing to say.
    #[must_use]
    pub fn silent(&self) -> bool {
        self.findings.is_empty() && self.problems.is_empty() && self.acceptances.is_empty()
    }
}

/// How much was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files given.
    pub files: usize,
    /// Files read in full; the others hold nothing that could matter.
    pub parsed: usize,
    /// Functions judged.
    pub functions: usize,
}

/// Stage two: judges the facts of a crate, or of a workspace's crates together. Pure; the order of the files does not matter.
#[must_use]
pub fn analyse(files: Vec<FileFacts>, settings: &Settings) -> Outcome {
    let mut files = files;
    let mut outcome = Outcome::default();
    outcome.counts.files = files.len();
    for file in &mut files {
        outcome.counts.parsed += usize::from(file.parsed);
        outcome.problems.append(&mut file.problems);
        outcome.acceptances.extend(file.acceptances.drain(..).map(|accepted| (file.path.clone(), accepted)));
        if settings.tests {
            file.functions.iter_mut().for_each(|function| function.test = false);
        }
    }
    let mut scope = scope::Scope::new(files);
    scope.sdks.extend(&settings.sdks);
    let client = client::Client::new(&scope);
    if client.concerns() {
        outcome.counts.functions = client.functions().count();
        let mut report = rules::Report::default();
        rules::check(&client, &mut report);
        outcome.findings = report.findings;
        outcome.problems.extend(client.judged_in_part());
    }
    outcome.findings.sort_by(|a, b| {
        (&a.path, a.range, a.breach, &a.message).cmp(&(&b.path, b.range, b.breach, &b.message))
    });
    // A macro writes one place into several functions.
    outcome.findings.dedup_by(|a, b| (&a.path, a.range, a.breach) == (&b.path, b.range, b.breach));
    outcome.problems.sort_by(|a, b| (&a.path, a.range).cmp(&(&b.path, b.range)));
    outcome
}

/// Both stages in one, on this thread.
#[must_use]
pub fn check_crate(files: Vec<SourceFile>, settings: &Settings) -> Outcome {
    let reading = Reading { tests: settings.tests, ..Reading::default() };
    analyse(files.into_iter().map(|file| lower(file, reading)).collect(), settings)
}

/// Judges one item, as an attribute macro sees it. The findings' ranges are those of the item's own tokens.
#[must_use]
pub fn check_item(item: &syn::Item, settings: &Settings) -> Outcome {
    judge_alone(settings, |facts| facts::lower_item(item, facts))
}

/// The same, with ranges that say no more than what comes after what: enough to know whether there is anything to say.
#[must_use]
pub fn check_item_in_order(item: &syn::Item, settings: &Settings) -> Outcome {
    judge_alone(settings, |facts| facts::lower_item_in_order(item, facts))
}

/// The same from the text of an item, were the attribute with these marks on it: faster by far than by a syntax tree.
/// The ranges are those of the text. `None` for an item that is not plain: the others tell of it.
#[must_use]
pub fn check_text(text: &str, marks: &facts::Marks, settings: &Settings) -> Option<Outcome> {
    let read = facts::direct::read(text, marks)?;
    Some(judge_alone(settings, |facts| *facts = read))
}

fn judge_alone(settings: &Settings, lower: impl FnOnce(&mut FileFacts)) -> Outcome {
    let mut facts = FileFacts { parsed: true, ..FileFacts::default() };
    lower(&mut facts);
    facts::supply_types(&mut facts);
    analyse(vec![facts], settings)
}
