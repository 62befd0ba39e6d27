//! What went wrong while one file was read, gathered by kind with its first place.
//! Knows no cause; the caller words it.

use crate::event::Place;
use crate::run::Problem;

/// Gathers problems of a file, so that a million broken lines are one entry with a count.
#[derive(Debug)]
pub struct Troubles {
    path: String,
    found: Vec<Problem>,
}

impl Troubles {
    /// For the file at `path`, as it was given.
    pub fn new(path: &str) -> Self {
        Troubles { path: path.to_owned(), found: Vec::new() }
    }

    /// Notes one more; `lost`: some input was lost by it.
    pub fn note(&mut self, place: Option<Place>, message: &str, help: &str, lost: bool) {
        let same = self.found.iter_mut().find(|p| p.message == message && p.lost == lost);
        match same {
            Some(known) => known.count += 1,
            None => self.found.push(problem(&self.path, place, message, help, lost)),
        }
    }

    /// Takes what was gathered, in the order of first appearance.
    pub fn take(&mut self) -> Vec<Problem> {
        std::mem::take(&mut self.found)
    }
}

/// One problem of the file at `path`.
pub fn problem(path: &str, place: Option<Place>, message: &str, help: &str, lost: bool) -> Problem {
    Problem {
        path: path.to_owned(),
        place,
        message: message.to_owned(),
        help: help.to_owned(),
        count: 1,
        lost,
    }
}
