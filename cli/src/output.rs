//! Where findings go: standard output and any number of files, each in its format.
//! Knows no finding's content; a reader that closes its end is no error.

use crate::args::Shared;
use crate::fault::Fault;
use crate::side;
use crate::terminal::{Terminal, address};
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use unbroken_report::render::{Address, Format, Look, Render, renderer};
use unbroken_report::{Finding, Secrets, Summary, Verdict};

/// All outputs of a run.
pub(crate) struct Outputs {
    sinks: Vec<Sink>,
    failed: Option<Fault>,
}

struct Sink {
    name: String,
    render: Box<dyn Render>,
    out: Box<dyn Write>,
    open: bool,
}

impl Outputs {
    /// Opens what was asked for. `inputs` are never written over.
    ///
    /// # Errors
    /// [`Fault::Overwrite`], [`Fault::Output`], and [`Fault::Unreadable`] for the key.
    pub(crate) fn open(shared: &Shared, inputs: &[PathBuf]) -> Result<Outputs, Fault> {
        let secrets = secrets(shared)?;
        let mut taken: Vec<PathBuf> =
            inputs.iter().filter_map(|path| path.canonicalize().ok()).filter(|path| path.is_file()).collect();
        let stdout = Box::new(BufWriter::with_capacity(1 << 16, io::stdout()));
        let mut sinks =
            vec![sink("standard output", shared.format, Terminal::stdout(shared.color), &secrets, stdout)];
        for (format, path) in &shared.output {
            let at = place(path);
            if taken.contains(&at) {
                return Err(Fault::Overwrite { path: path.clone() });
            }
            taken.push(at);
            let name = path.display().to_string();
            let file = File::create(path).map_err(|source| Fault::Output { name: name.clone(), source })?;
            sinks.push(sink(
                &name,
                *format,
                Terminal::file(),
                &secrets,
                Box::new(BufWriter::with_capacity(1 << 16, file)),
            ));
        }
        Ok(Outputs { sinks, failed: None })
    }

    /// Shows a finding everywhere, at once: a run that is stopped leaves whole findings behind.
    pub(crate) fn finding(&mut self, finding: &Finding) {
        self.each(|sink| {
            sink.render.finding(finding, &mut sink.out)?;
            sink.out.flush()
        });
    }

    /// Ends every output.
    ///
    /// # Errors
    /// [`Fault::Output`] with the first write that failed, whenever that was.
    pub(crate) fn finish(mut self, summary: &Summary, verdict: Verdict) -> Result<(), Fault> {
        self.each(|sink| {
            sink.render.finish(summary, verdict, &mut sink.out)?;
            sink.out.flush()
        });
        self.failed.map_or(Ok(()), Err)
    }

    fn each(&mut self, mut show: impl FnMut(&mut Sink) -> io::Result<()>) {
        for sink in self.sinks.iter_mut().filter(|sink| sink.open) {
            if let Err(source) = show(sink) {
                sink.open = false;
                // `unbroken … | head` has seen enough: the run goes on for the other outputs and the exit code.
                if source.kind() != ErrorKind::BrokenPipe && self.failed.is_none() {
                    self.failed = Some(Fault::Output { name: sink.name.clone(), source });
                }
            }
        }
    }
}

fn sink(name: &str, format: Format, terminal: Terminal, secrets: &Secrets, out: Box<dyn Write>) -> Sink {
    let Terminal { color, unicode, links, width } = terminal;
    let address = links.then_some(address as Address);
    let look = Look { color, unicode, width, address, secrets: secrets.clone(), sources: &source };
    Sink { name: name.to_owned(), render: renderer(format, look), out, open: true }
}

fn source(path: &str) -> Option<String> {
    fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// How secrets are shown, as asked.
pub(crate) fn secrets(shared: &Shared) -> Result<Secrets, Fault> {
    let secrets = match (&shared.digest_key_file, std::env::var_os("UNBROKEN_DIGEST_KEY")) {
        (Some(path), _) => {
            let key = side::read(path).map_err(|source| Fault::Unreadable { path: path.clone(), source })?;
            Secrets::keyed(&key)
        }
        (None, Some(key)) if !key.is_empty() => Secrets::keyed(key.as_encoded_bytes()),
        _ => Secrets::default(),
    };
    Ok(if shared.reveal { secrets.revealed() } else { secrets })
}

/// Where a file is or would be, so that two names of one file are known for one.
fn place(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let written = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(written).unwrap_or_else(|| path.to_owned())
}
