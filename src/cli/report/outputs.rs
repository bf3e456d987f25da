//! The reports that a command writes. Each report has a format and a destination, as in
//! `--format sarif=out.sarif`.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::cli::error::CommandError;
use crate::cli::report::Format;
use glee_model::domain::RunId;
use glee_protocol::text::printable;
use glee_system::private;

/// A report that the command line requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReportOutput {
    pub(crate) format: Format,
    /// The path of the file. `None` means standard output.
    pub(crate) file: Option<PathBuf>,
}

/// The report formats and report files that the user requested. Glee has already checked that it can write every
/// report file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outputs {
    pub(crate) stdout: Format,
    /// The format of each report that is written to a file, with the path of the file.
    pub(crate) files: Vec<(Format, PathBuf)>,
    /// Whether the HTML report is opened in the browser. If the command line names no file for the HTML report,
    /// the report gets a file in the state folder.
    pub(crate) is_opened: bool,
}

impl Outputs {
    pub(crate) fn only(stdout: Format) -> Self {
        Self {
            stdout,
            files: Vec::new(),
            is_opened: false,
        }
    }

    /// Checks the requested reports before the first agent call. If every requested report goes to a file, the
    /// text report goes to standard output. Relative paths are relative to `folder`.
    pub(crate) fn check(given: &[ReportOutput], folder: &Path) -> Result<Self, CommandError> {
        let mut stdout = None;
        let mut files: Vec<(Format, PathBuf)> = Vec::new();
        for ReportOutput { format, file } in given {
            let format = *format;
            let Some(file) = file else {
                if let Some(other) = stdout.replace(format) {
                    return Err(both(other, format, "standard output").hint(format!(
                        "write one of the reports to a file: `--format {}=FILE`",
                        format.as_str()
                    )));
                }
                continue;
            };
            let path = writable(format, folder, file)?;
            if let Some((other, _)) = files.iter().find(|(_, other)| *other == path) {
                return Err(both(
                    *other,
                    format,
                    &format!("`{}`", printable::line(&file.to_string_lossy())),
                )
                .hint("write each report to its own file"));
            }
            files.push((format, path));
        }
        Ok(Self {
            stdout: stdout.unwrap_or(Format::Text),
            files,
            is_opened: false,
        })
    }

    pub(crate) fn opened(self, is_opened: bool) -> Self {
        Self { is_opened, ..self }
    }

    /// Fails if the user gave a flag that filters a report, but standard output gets the events of the run, which are
    /// the record and not a report.
    pub(crate) fn check_filter(&self, flags: &[&str]) -> Result<(), CommandError> {
        match flags.first().filter(|_| self.stdout.is_record()) {
            Some(flag) => Err(CommandError::usage(format!(
                "`{flag}` filters a report, and `{}` prints every event of the run",
                self.stdout.as_str()
            ))
            .hint(format!(
                "remove `{flag}`, or choose another format, such as `--format json`"
            ))),
            None => Ok(()),
        }
    }

    /// Whether nothing but the report on standard output is printed.
    pub(crate) fn is_silent(&self) -> bool {
        self.stdout == Format::Agent
    }

    pub(crate) fn formats(&self) -> impl Iterator<Item = Format> {
        let opened = self.is_opened.then_some(Format::Html);
        std::iter::once(self.stdout)
            .chain(self.files.iter().map(|(format, _)| *format))
            .chain(opened)
    }

    /// Returns the path of the HTML report. Returns `None` if the command line names no file for the HTML
    /// report.
    pub(crate) fn page(&self) -> Option<&Path> {
        let page = self
            .files
            .iter()
            .find(|(format, _)| *format == Format::Html);
        page.map(|(_, path)| path.as_path())
    }
}

fn both(one: Format, other: Format, place: &str) -> CommandError {
    let named = match one == other {
        true => format!("two reports in the format `{}`", one.as_str()),
        false => format!("the reports `{}` and `{}`", one.as_str(), other.as_str()),
    };
    CommandError::usage(format!("{named} cannot both go to {place}"))
}

/// Returns the path of `file` after resolving symbolic links. Fails if Glee cannot create or replace the file.
fn writable(format: Format, folder: &Path, file: &Path) -> Result<PathBuf, CommandError> {
    let named = |error: io::Error| CommandError::caused(cannot_write(format, file), error);
    let path = folder.join(file);
    if is_stream(&path) {
        // The pipe behind `/dev/stderr` or `/dev/fd/63` has no path that could be resolved.
        return Ok(path.canonicalize().unwrap_or(path));
    }
    if let Ok(existing) = path.canonicalize() {
        if existing.is_dir() {
            return Err(named(io::ErrorKind::IsADirectory.into()).hint(format!(
                "give the path of a file in the folder, as in `--format {}=FOLDER/FILE`",
                format.as_str()
            )));
        }
        temporary(&existing).map_err(named)?;
        return Ok(existing);
    }
    let name = path
        .file_name()
        .ok_or_else(|| named(io::ErrorKind::InvalidFilename.into()))?;
    let above = path
        .parent()
        .unwrap_or(folder)
        .canonicalize()
        .map_err(|error| {
            let above = file.parent().unwrap_or(folder).to_string_lossy();
            named(error).hint(format!(
                "create the folder `{}`, or choose another file",
                printable::line(&above)
            ))
        })?;
    let path = above.join(name);
    temporary(&path)
        .map_err(|error| named(error).hint("choose a file in a folder that you can write to"))?;
    Ok(path)
}

fn cannot_write(format: Format, file: &Path) -> String {
    format!(
        "the report `{}` cannot be written to {}",
        format.as_str(),
        printable::line(&file.to_string_lossy())
    )
}

/// Whether a path leads to a device or a FIFO, such as `/dev/stderr`. Glee writes a report into an existing
/// device or FIFO, instead of replacing the device or FIFO by a file.
fn is_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Creates a temporary file in the folder of `path`. The umask of the user limits the permissions of the file,
/// as for other files.
fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    let above = path.parent().unwrap_or(Path::new("."));
    let name = path
        .file_name()
        .unwrap_or(OsStr::new("report"))
        .to_string_lossy();
    Builder::new()
        .prefix(&format!(".{name}."))
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(above)
}

/// The maximum number of HTML reports in the folder `pages` of the state folder.
const KEPT: usize = 20;

/// Writes the HTML report of a run to the folder `pages` of the state folder, and returns the path of the
/// report. Deletes the reports of the oldest runs if the folder contains too many reports.
pub(crate) fn keep(state_dir: &Path, run: &RunId, text: &str) -> Result<PathBuf, CommandError> {
    let folder = state_dir.join("pages");
    let path = folder.join(format!("{run}.html"));
    let kept = private::folder(&folder)
        .and_then(|()| replace(&path, text))
        .and_then(|()| fs::read_dir(&folder));
    let kept =
        kept.map_err(|error| CommandError::caused(cannot_write(Format::Html, &path), error))?;
    // A run id begins with the time of the run, so the sorted names are in chronological order.
    let mut pages: Vec<PathBuf> = kept.filter_map(|entry| Some(entry.ok()?.path())).collect();
    pages.sort();
    // The new report is never deleted, even if the report belongs to an old run.
    pages
        .iter()
        .rev()
        .skip(KEPT)
        .filter(|page| **page != path)
        .for_each(|page| drop(fs::remove_file(page)));
    Ok(path)
}

/// Writes a report to a file. A regular file is replaced in one step, so that a reader finds either the earlier
/// report or the complete new report.
pub(crate) fn write(format: Format, path: &Path, text: &str) -> Result<(), CommandError> {
    let written = if is_stream(path) {
        fs::OpenOptions::new()
            .write(true)
            .open(path)
            .and_then(|mut stream| stream.write_all(text.as_bytes()))
    } else {
        replace(path, text)
    };
    written.map_err(|error| CommandError::caused(cannot_write(format, path), error))
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut file = temporary(path)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    if let Ok(earlier) = fs::metadata(path) {
        file.as_file().set_permissions(earlier.permissions())?;
    }
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
