//! Diagnosis: what the program did, for whoever has to find out why.
//!
//! Events and spans of `tracing` go to stderr as far as `-v`, `-vv` or `GLEE_LOG` asks, and to a file of the run, which
//! is bounded and cleaned of secrets. Nothing of it goes to stdout.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tracing_subscriber::Layer;
use tracing_subscriber::field::MakeExt as _;
use tracing_subscriber::filter::{EnvFilter, LevelFilter};
use tracing_subscriber::fmt::{self, format};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::{SubscriberInitExt as _, TryInitError};

use crate::system::private;

/// The variable with the filter, in the syntax of `EnvFilter`: `debug`, `glee::agents=trace,info`.
pub const VARIABLE: &str = "GLEE_LOG";
/// The name of a run's log, beside its raw answers.
pub const FILE: &str = "log.txt";
/// What a run's log holds at most, in bytes.
const KEPT: u64 = 4 << 20;
/// What is kept in memory before the run is known, in bytes.
const HELD: usize = 64 << 10;

static RUN: Mutex<RunLog> = Mutex::new(RunLog::Memory(Vec::new()));
static SCREEN: Mutex<Option<LinePrinter>> = Mutex::new(None);

pub type Clean = fn(&str) -> String;
/// Prints lines on stderr where live rows may be drawn.
pub type LinePrinter = Box<dyn Fn(&str) + Send>;

#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("`{VARIABLE}` is not a filter: {0}")]
    Filter(#[from] tracing_subscriber::filter::ParseError),
    #[error("logging has already begun")]
    Begun(#[from] TryInitError),
}

/// Begins logging, once in a process: `verbose` counts `-v`, `filter` is the value of [`VARIABLE`].
pub fn begin(verbose: u8, filter: Option<&str>, clean: Clean) -> Result<(), LogError> {
    let named = filter.filter(|filter| !filter.is_empty());
    let by_level = |level: LevelFilter| EnvFilter::default().add_directive(level.into());
    let read = |filter: &str| EnvFilter::builder().parse(filter);
    let (screen, run) = match (named, verbose) {
        (Some(filter), _) => (read(filter)?, read(filter)?),
        (None, 0) => (by_level(LevelFilter::OFF), by_level(LevelFilter::INFO)),
        (None, 1) => (by_level(LevelFilter::INFO), by_level(LevelFilter::INFO)),
        (None, _) => (by_level(LevelFilter::DEBUG), by_level(LevelFilter::DEBUG)),
    };
    // Two layers that format fields alike would write those of a span into one text, twice.
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
    let keep = move || Cleaned(clean, |text| lock(&RUN).take(text.as_bytes()));
    tracing_subscriber::registry()
        .with(screen)
        .with(fmt::layer().with_ansi(false).with_target(false).with_writer(keep).with_filter(run))
        .try_init()?;
    Ok(())
}

/// Has the lines for stderr printed by `screen` until the guard is dropped.
#[must_use = "the lines go past the screen when this is dropped"]
pub fn on_screen(screen: LinePrinter) -> impl Drop {
    struct Past;
    impl Drop for Past {
        fn drop(&mut self) {
            *lock(&SCREEN) = None;
        }
    }
    *lock(&SCREEN) = Some(screen);
    Past
}

/// Writes what was logged until now, and all that follows, to the log of a run; where that fails, nothing is kept.
pub fn keep_in(folder: &Path) -> io::Result<PathBuf> {
    let path = folder.join(FILE);
    let opened = private::options().append(true).create(true).open(&path);
    let mut log = lock(&RUN);
    let held = match std::mem::replace(&mut *log, RunLog::Nowhere) {
        RunLog::Memory(held) => held,
        RunLog::Nowhere | RunLog::File { .. } => Vec::new(),
    };
    let file = opened?;
    let left = KEPT.saturating_sub(file.metadata()?.len());
    *log = RunLog::File { file, left };
    log.take(&held);
    Ok(path)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The log of the run that this process works on.
enum RunLog {
    /// It is not known yet which run that is.
    Memory(Vec<u8>),
    File {
        file: File,
        /// How many more bytes it takes.
        left: u64,
    },
    Nowhere,
}

impl RunLog {
    /// Keeps lines, as far as there is room; the last line of a full log says that it is one.
    fn take(&mut self, lines: &[u8]) {
        match self {
            Self::Memory(held) if held.len() + lines.len() <= HELD => held.extend_from_slice(lines),
            Self::Memory(_) | Self::Nowhere => {}
            Self::File { file, left } => {
                let length = lines.len() as u64;
                // A log that cannot be written is no reason to end a run.
                if length <= *left {
                    *left -= length;
                    drop(file.write_all(lines));
                } else if *left > 0 {
                    *left = 0;
                    drop(file.write_all(b"the log is full; nothing more is kept\n"));
                }
            }
        }
    }
}

/// Gets each event as one text, which is cleaned and handed on.
struct Cleaned(Clean, fn(&str));

impl Write for Cleaned {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let Self(clean, hand_on) = self;
        hand_on(&clean(&String::from_utf8_lossy(line)));
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
        let mut kept = tempfile::tempfile().unwrap();
        let mut log = RunLog::File { file: kept.try_clone().unwrap(), left: 12 };
        for line in ["first\n", "second, and too long\n", "x\n"] {
            log.take(line.as_bytes());
        }
        let mut text = String::new();
        io::Seek::rewind(&mut kept).unwrap();
        io::Read::read_to_string(&mut kept, &mut text).unwrap();
        assert_eq!(text, "first\nthe log is full; nothing more is kept\n");
    }

    #[test]
    fn what_is_held_for_a_run_is_bounded() {
        let mut log = RunLog::Memory(Vec::new());
        log.take(&[b'x'; HELD - 1]);
        log.take(b"too much");
        log.take(b"y");
        let RunLog::Memory(held) = log else { panic!("no run has begun") };
        assert_eq!((held.len(), held.last()), (HELD, Some(&b'y')));
    }
}
