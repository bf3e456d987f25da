//! Writes log messages to stderr and to the log file of the run. The options `-v` and `-vv` and the variable
//! `GLEE_LOG` select the messages. Secrets are redacted, and the log file has a maximum size. Nothing is written
//! to stdout.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tracing_subscriber::Layer;
use tracing_subscriber::field::MakeExt as _;
use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::fmt::{self, format};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::{SubscriberInitExt as _, TryInitError};

use crate::private;

/// The environment variable with the log filter, such as `glee_agents=trace,info`. The filter has the syntax of
/// `EnvFilter`.
pub const VARIABLE: &str = "GLEE_LOG";
pub const FILE: &str = "log.txt";
const FILE_CAP: u64 = 4 << 20;
/// The maximum size of the buffer for log lines, in bytes.
const BUFFER_CAP: usize = 64 << 10;

static RUN: Mutex<RunLog> = Mutex::new(RunLog::Memory(Vec::new()));
static SCREEN: Mutex<Option<LinePrinter>> = Mutex::new(None);

pub type Clean = fn(&str) -> String;
pub type LinePrinter = Box<dyn Fn(&str) + Send>;

#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("invalid filter in `{VARIABLE}`: {0}")]
    Filter(#[from] tracing_subscriber::filter::ParseError),
    #[error("logging has already begun")]
    Begun(#[from] TryInitError),
}

/// Starts logging, and fails if logging has already started. `verbose` is the number of `-v` options, and `filter`
/// is the value of the environment variable [`VARIABLE`].
pub fn begin(verbose: u8, filter: Option<&str>, clean: Clean) -> Result<(), LogError> {
    let (screen, run) = match (filter.filter(|filter| !filter.is_empty()), verbose) {
        (Some(filter), _) => (filter, filter),
        (None, 0) => ("off", "info"),
        (None, 1) => ("info", "info"),
        (None, _) => ("debug", "debug"),
    };
    let read = |filter: &str| EnvFilter::builder().parse(filter);
    let screen = read(screen)?;
    let run = read(run)?;
    // Layers with the same formatter type share the formatted fields of a span. The formatter of the layer
    // `screen` is a closure, and every closure has its own type. Therefore, this layer does not share fields with
    // the layer of the log file.
    let fields = format::debug_fn(|line, field, value| match field.name() {
        "message" => write!(line, "{value:?}"),
        name => write!(line, "{name}={value:?}"),
    });
    let screen = fmt::layer()
        .fmt_fields(fields.delimited(" "))
        .with_ansi(false)
        .with_target(false)
        .without_time()
        .with_writer(move || Cleaned(clean, show))
        .with_filter(screen);
    tracing_subscriber::registry()
        .with(screen)
        .with(
            fmt::layer()
                .with_ansi(false)
                .with_target(false)
                .with_writer(move || Cleaned(clean, |text| lock(&RUN).append(text.as_bytes())))
                .with_filter(run),
        )
        .try_init()?;
    Ok(())
}

/// Passes log lines to `screen` instead of stderr until the returned guard is dropped.
#[must_use = "dropping it restores the output to stderr"]
pub fn on_screen(screen: LinePrinter) -> impl Drop {
    struct Restore;
    impl Drop for Restore {
        fn drop(&mut self) {
            *lock(&SCREEN) = None;
        }
    }
    *lock(&SCREEN) = Some(screen);
    Restore
}

/// Writes the buffered lines and all later lines to the log file of a run. If the file cannot be opened, the lines
/// are dropped.
pub fn keep_in(folder: &Path) -> io::Result<PathBuf> {
    let path = folder.join(FILE);
    let opened = private::options().append(true).create(true).open(&path);
    let mut log = lock(&RUN);
    let earlier = std::mem::replace(&mut *log, RunLog::Nowhere);
    let file = opened?;
    let left = FILE_CAP.saturating_sub(file.metadata()?.len());
    *log = RunLog::File { file, left };
    if let RunLog::Memory(buffered) = earlier {
        log.append(&buffered);
    }
    Ok(path)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

enum RunLog {
    /// Buffers lines until the log file of the run is known.
    Memory(Vec<u8>),
    File {
        file: File,
        left: u64,
    },
    Nowhere,
}

impl RunLog {
    /// Appends lines until the log is full. The last line of a full log file states that later lines are dropped.
    fn append(&mut self, lines: &[u8]) {
        match self {
            Self::Memory(buffer) if buffer.len() + lines.len() <= BUFFER_CAP => {
                buffer.extend_from_slice(lines)
            }
            Self::Memory(_) | Self::Nowhere => {}
            Self::File { file, left } => {
                let length = lines.len() as u64;
                // Write errors are ignored, because a run can continue without a log.
                if length <= *left {
                    *left -= length;
                    drop(file.write_all(lines));
                } else if *left > 0 {
                    *left = 0;
                    drop(file.write_all(b"the log is full; later lines are dropped\n"));
                }
            }
        }
    }
}

struct Cleaned(Clean, fn(&str));

impl Write for Cleaned {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let Self(clean, write) = self;
        write(&clean(&String::from_utf8_lossy(line)));
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn show(text: &str) {
    match &*lock(&SCREEN) {
        Some(screen) => screen(text.trim_end_matches('\n')),
        None => drop(io::stderr().write_all(text.as_bytes())),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_log_is_bounded_and_says_so_once() {
        let mut file = tempfile::tempfile().unwrap();
        let mut log = RunLog::File {
            file: file.try_clone().unwrap(),
            left: 12,
        };
        for line in ["first\n", "second, and too long\n", "x\n"] {
            log.append(line.as_bytes());
        }
        let mut text = String::new();
        io::Seek::rewind(&mut file).unwrap();
        io::Read::read_to_string(&mut file, &mut text).unwrap();
        assert_eq!(text, "first\nthe log is full; later lines are dropped\n");
    }

    #[test]
    fn the_buffer_before_a_run_is_bounded() {
        let mut log = RunLog::Memory(Vec::new());
        log.append(&[b'x'; BUFFER_CAP - 1]);
        log.append(b"too much");
        log.append(b"y");
        let RunLog::Memory(buffer) = log else {
            panic!("no run has begun")
        };
        assert_eq!((buffer.len(), buffer.last()), (BUFFER_CAP, Some(&b'y')));
    }
}
