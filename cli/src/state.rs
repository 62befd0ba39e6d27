//! The file between two exports: read before a run, put in place after it, whole or not at all.
//! Knows files; what stands in them is for the audit.

use crate::fault::Fault;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use unbroken_audit::carry::Carried;
use unbroken_report::{Exhibit, Problem, Spot};

/// The state of a run.
#[derive(Debug)]
pub(crate) struct State {
    path: PathBuf,
    before: Option<Arc<Carried>>,
    after: Option<Carried>,
}

impl State {
    /// Reads the state at `path`; none is there before the first export.
    ///
    /// # Errors
    /// [`Fault::Unreadable`], [`Fault::State`].
    pub(crate) fn read(path: &Path) -> Result<State, Fault> {
        let before = match fs::read(path) {
            Ok(bytes) => {
                let carried =
                    Carried::parse(&bytes).map_err(|why| Fault::State { path: path.to_owned(), why })?;
                Some(Arc::new(carried))
            }
            Err(why) if why.kind() == ErrorKind::NotFound => None,
            Err(source) => return Err(Fault::Unreadable { path: path.to_owned(), source }),
        };
        Ok(State { path: path.to_owned(), before, after: None })
    }

    /// What the export before left.
    pub(crate) fn before(&self) -> Option<Arc<Carried>> {
        self.before.clone()
    }

    /// Takes what is left for the next export, and tells how many records that are, and what a person should know of it.
    pub(crate) fn leave(&mut self, carried: Carried) -> (u64, Option<Problem>) {
        let waiting = carried.waiting() as u64;
        self.after = Some(carried);
        let note = (waiting > 0).then(|| Problem {
            exhibit: Exhibit { path: self.path.display().to_string(), spot: Spot::Whole },
            message: format!("{waiting} records wait for the next export: what they tell of may go on"),
            help: "give it the same --state; --last judges them now".to_owned(),
            count: 1,
            lost: false,
        });
        (waiting, note)
    }

    /// Puts the new state in the place of the old one.
    ///
    /// # Errors
    /// [`Fault::Output`]; the old state is there still.
    pub(crate) fn write(self) -> Result<(), Fault> {
        let Some(after) = &self.after else { return Ok(()) };
        let name = self.path.display().to_string();
        replace(&self.path, after).map_err(|source| Fault::Output { name, source })
    }
}

/// Writes beside the file, and renames when all of it is on the disk.
fn replace(path: &Path, carried: &Carried) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut name = path.file_name().ok_or(ErrorKind::InvalidInput)?.to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let beside = folder.join(name);
    let written = fill(&beside, &carried.bytes()?).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written?;
    // The name is on the disk when its folder is; not every system lets a folder be opened.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

fn fill(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    // Session ids stand in it.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
