//! A run over the selected files: read, lower, judge workspace by workspace, and gather what came of it.
//! Knows the engine's two stages and threads; no rule, and no order but that of paths.

use super::Outcome;
use super::config::Config;
use super::modules::{holds, test_modules};
use super::package::Target;
use super::place::Standpoint;
use super::reading::{self, Unread};
use super::selection::{Reason, Selection, Unit};
use super::walk::Obstacle;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use unbroken_lint::facts::{Acceptance, FileFacts};
use unbroken_lint::finding::{Finding, Problem, Range};
use unbroken_lint::{Reading, Settings, Signs, SourceFile, accept, signs, speaks_as_client};

/// The name under which the standard input is shown.
const STDIN: &str = "<stdin>";

/// Everything to be done.
pub(super) struct Work {
    selection: Selection,
    stdin: Option<Result<String, Unread>>,
}

/// One file after the first stage.
struct Lowered {
    path: PathBuf,
    reason: Reason,
    facts: Result<FileFacts, Unread>,
    tests: Vec<PathBuf>,
}

/// One workspace after the second stage.
#[derive(Default)]
struct Judged {
    findings: Vec<Finding>,
    problems: Vec<Problem>,
    notices: Vec<Problem>,
    accepted: u64,
    seen: u64,
    checked: u64,
    passed_over: u64,
    apart: u64,
}

impl Work {
    pub(super) fn of(selection: Selection) -> Work {
        Work { selection, stdin: None }
    }

    /// One source that has no file.
    pub(super) fn of_text(text: Result<String, Unread>) -> Work {
        let files = [(PathBuf::from(STDIN), Reason::Named)].into();
        let units = vec![Unit { name: String::new(), home: PathBuf::new(), root: PathBuf::new(), files }];
        Work { selection: Selection { units, ..Selection::default() }, stdin: Some(text) }
    }

    pub(super) fn run(&mut self, config: &Config, stand: &Standpoint) -> Outcome {
        let stdin = self.stdin.take();
        let units = &self.selection.units;
        let groups = Group::all(units);
        // One workspace is read, judged and dropped before a thread takes the next: memory holds the facts of a few.
        let judged: Vec<Judged> = match stdin {
            Some(text) => {
                let lowered = lower(Path::new(STDIN), Reason::Named, &units[0], text, true, config);
                vec![judge(&groups[0], vec![vec![lowered]], config)]
            }
            None => groups
                .par_iter()
                .with_max_len(1)
                .map(|group| judge(group, group.lower(config), config))
                .collect(),
        };
        let mut outcome =
            Outcome { files_apart: self.selection.apart, crates: units.len() as u64, ..Outcome::default() };
        outcome.files_seen = self.selection.apart;
        for (group, judged) in groups.iter().zip(judged) {
            outcome.add(group, judged, stand);
        }
        let shown = |it: &Obstacle| Problem {
            path: stand.shown(&it.path),
            range: None,
            message: it.message.clone(),
            help: it.help.to_owned(),
        };
        outcome.problems.extend(self.selection.problems.iter().map(shown));
        outcome.notices.extend(self.selection.notices.iter().map(shown));
        outcome.settle();
        outcome
    }
}

/// Every file of the crate, in full only if one of them may be a client's: without a session header, an SDK's client
/// side, a mark or a request for an event stream anywhere, no rule has business with the crate.
fn lower_all(unit: &Unit, config: &Config) -> Vec<Lowered> {
    let files: Vec<(&PathBuf, Reason)> = unit.files.iter().map(|(path, reason)| (path, *reason)).collect();
    let seen: Vec<Seen> = files.par_iter().with_max_len(16).map(|(path, _)| Seen::of(path)).collect();
    let all = seen.iter().fold(Signs::default(), |all, file| all.with(file.signs));
    let concerned = all.concern() || !config.sdks.is_empty();
    let near: BTreeSet<&Path> = files
        .iter()
        .zip(&seen)
        .filter(|(_, seen)| seen.signs.telling())
        .flat_map(|((path, _), _)| path.ancestors().skip(1))
        .collect();
    let lowered = |((path, reason), seen): ((&PathBuf, Reason), Seen)| {
        let beside = || path.parent().is_some_and(|folder| near.contains(folder));
        let text = seen.text.unwrap_or_else(|| reading::file(path));
        // Words of a client matter beside, or above, a file that speaks of the protocol.
        let speaks = || text.as_ref().is_ok_and(|text| speaks_as_client(text));
        let matters = concerned && (seen.signs.telling() || beside() && speaks());
        lower(path, reason, unit, text, matters, config)
    };
    files.into_par_iter().zip(seen).with_max_len(4).map(lowered).collect()
}

/// A file after the byte search.
struct Seen {
    signs: Signs,
    /// Its text, kept if it is likely to be read in full.
    text: Option<Result<String, Unread>>,
}

impl Seen {
    fn of(path: &Path) -> Seen {
        let text = reading::file(path);
        let signs = text.as_ref().map(|text| signs(text)).unwrap_or_default();
        Seen { signs, text: Some(text).filter(|_| signs.telling()) }
    }
}

/// One file, in full if it `matters`.
fn lower(
    path: &Path,
    reason: Reason,
    unit: &Unit,
    text: Result<String, Unread>,
    matters: bool,
    config: &Config,
) -> Lowered {
    let (mut tests, facts) = (Vec::new(), text);
    let reading = Reading { tests: config.include.contains(&Target::Tests), stack: super::STACK };
    let facts = facts.map(|text| {
        tests = test_modules(path, &text);
        let path = name_in(unit, path);
        if matters {
            unbroken_lint::read(SourceFile { path, text }, reading)
        } else {
            FileFacts { path, ..FileFacts::default() }
        }
    });
    Lowered { path: path.to_owned(), reason, facts, tests }
}

/// The path that the engine knows a file by: the crate's name and the place in the crate, so that a fingerprint does
/// not depend on where the user stands, nor on where the crate lies.
fn name_in(unit: &Unit, path: &Path) -> PathBuf {
    Path::new(&unit.name).join(path.strip_prefix(&unit.home).unwrap_or(path))
}

/// Crates that are judged together, since they call each other: those of one workspace, each under a name of its own.
struct Group<'a> {
    units: Vec<&'a Unit>,
}

impl<'a> Group<'a> {
    /// Every unit in one group: by workspace; sources of no crate, and a second crate of one name, stand alone.
    fn all(units: &'a [Unit]) -> Vec<Group<'a>> {
        let mut groups: BTreeMap<(&Path, &Path), Group<'a>> = BTreeMap::new();
        let mut names = BTreeSet::new();
        for unit in units {
            let shared = !unit.name.is_empty() && names.insert((&unit.root, &unit.name));
            let own = if shared { Path::new("") } else { unit.home.as_path() };
            groups.entry((&unit.root, own)).or_insert_with(|| Group { units: Vec::new() }).units.push(unit);
        }
        groups.into_values().collect()
    }

    fn lower(&self, config: &Config) -> Vec<Vec<Lowered>> {
        self.units.par_iter().with_max_len(1).map(|unit| lower_all(unit, config)).collect()
    }

    /// The absolute path behind [`name_in`].
    fn path(&self, name: &Path) -> PathBuf {
        let of = |unit: &&&Unit| !unit.name.is_empty() && name.starts_with(&unit.name);
        let Some(unit) = self.units.iter().find(of).or(self.units.first()) else { return name.to_owned() };
        unit.home.join(name.strip_prefix(&unit.name).unwrap_or(name))
    }
}

fn judge(group: &Group<'_>, files: Vec<Vec<Lowered>>, config: &Config) -> Judged {
    let mut judged = Judged::default();
    let with_tests = config.include.contains(&Target::Tests);
    let mut asked: BTreeSet<PathBuf> = BTreeSet::new();
    let mut facts = Vec::new();
    for (unit, files) in group.units.iter().zip(files) {
        let shown = files.iter().filter(|file| file.reason > Reason::Context);
        asked.extend(shown.map(|file| name_in(unit, &file.path)));
        take(unit, files, with_tests, &mut judged, &mut facts);
    }
    let outcome = unbroken_lint::analyse(facts, &Settings { tests: with_tests, sdks: config.sdks.clone() });
    judged.problems.extend(outcome.problems.into_iter().filter(|problem| asked.contains(&problem.path)));
    let mut by_file: BTreeMap<PathBuf, (Vec<Finding>, Vec<Acceptance>)> = BTreeMap::new();
    for finding in outcome.findings {
        by_file.entry(finding.path.clone()).or_default().0.push(finding);
    }
    for (path, acceptance) in outcome.acceptances {
        by_file.entry(path).or_default().1.push(acceptance);
    }
    for (path, (findings, acceptances)) in by_file.into_iter().filter(|(path, _)| asked.contains(path)) {
        let left = accept::apply(&path, &acceptances, findings);
        judged.accepted += left.accepted as u64;
        judged.notices.extend(left.notices);
        judged.findings.extend(left.findings.into_iter().filter_map(|finding| levelled(finding, config)));
    }
    judged
}

/// Counts the files of one crate, and hands on the facts of those that are to be judged.
fn take(unit: &Unit, files: Vec<Lowered>, with_tests: bool, judged: &mut Judged, facts: &mut Vec<FileFacts>) {
    let tests: Vec<PathBuf> = files.iter().flat_map(|file| file.tests.iter().cloned()).collect();
    for file in files {
        let shown = file.reason > Reason::Context;
        judged.seen += u64::from(shown);
        if !with_tests && file.reason != Reason::Named && holds(&tests, &file.path) {
            judged.apart += u64::from(shown);
            continue;
        }
        match file.facts {
            Ok(mut lowered) => {
                let problems = std::mem::take(&mut lowered.problems);
                judged.checked += u64::from(shown && problems.is_empty());
                judged.passed_over += u64::from(shown && !lowered.parsed);
                judged.problems.extend(problems.into_iter().filter(|_| shown));
                facts.push(lowered);
            }
            Err(error) if shown => judged.problems.push(unread(unit, &file.path, &error)),
            Err(_) => {}
        }
    }
}

/// The finding at the configured level; `None`: not shown.
fn levelled(mut finding: Finding, config: &Config) -> Option<Finding> {
    match config.levels.get(&finding.breach) {
        None => Some(finding),
        Some(None) => None,
        Some(Some(level)) => {
            finding.level = *level;
            Some(finding)
        }
    }
}

fn unread(unit: &Unit, path: &Path, error: &Unread) -> Problem {
    let range = match error {
        Unread::Encoding { line } => Some(Range { line: *line, column: 1, end_line: *line, end_column: 1 }),
        _ => None,
    };
    Problem { path: name_in(unit, path), range, message: error.to_string(), help: error.help().to_owned() }
}

impl Outcome {
    fn add(&mut self, group: &Group<'_>, mut judged: Judged, stand: &Standpoint) {
        let shown = |name: &mut PathBuf| {
            if name != Path::new(STDIN) {
                *name = stand.shown(&group.path(name));
            }
        };
        for finding in &mut judged.findings {
            shown(&mut finding.path);
            finding.labels.iter_mut().for_each(|label| shown(&mut label.path));
        }
        judged.problems.iter_mut().chain(&mut judged.notices).for_each(|problem| shown(&mut problem.path));
        self.findings.append(&mut judged.findings);
        self.problems.append(&mut judged.problems);
        self.notices.append(&mut judged.notices);
        self.accepted += judged.accepted;
        self.files_seen += judged.seen;
        self.files_checked += judged.checked;
        self.files_passed_over += judged.passed_over;
        self.files_apart += judged.apart;
    }

    /// One order, whatever the threads did and however the paths were named.
    fn settle(&mut self) {
        self.findings.sort_by(|a, b| {
            (&a.path, a.range, a.breach, &a.message).cmp(&(&b.path, b.range, b.breach, &b.message))
        });
        for list in [&mut self.problems, &mut self.notices] {
            list.sort_by(|a, b| (&a.path, a.range, &a.message).cmp(&(&b.path, b.range, &b.message)));
            list.dedup();
        }
    }
}
