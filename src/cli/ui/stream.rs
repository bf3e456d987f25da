//! The two standard streams.
//!
//! stdout carries the report and nothing else; everything else goes to stderr. A closed pipe ends output quietly:
//! whoever closed it has read enough.

use std::io::{self, Write};

/// Writes `text` to stdout as it stands. Fails on any failure but a closed pipe.
pub fn out(text: &str) -> io::Result<()> {
    quiet_pipe(write_all(&mut io::stdout().lock(), text))
}

/// Writes `text` to stderr as it stands; a failure is of no use to anybody and is dropped.
pub fn err(text: &str) {
    drop(write_all(&mut io::stderr().lock(), text));
}

fn write_all(stream: &mut impl Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}

fn quiet_pipe(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
