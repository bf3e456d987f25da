//! The two standard streams: stdout for results, stderr for everything else.

use std::io::{self, Write};

/// Writes `text` to stdout as it is. A closed pipe is no error: its reader has read enough.
pub fn out(text: &str) -> io::Result<()> {
    match write(&mut io::stdout().lock(), text) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Writes `text` to stderr as it is; errors are ignored.
pub fn err(text: &str) {
    drop(write(&mut io::stderr().lock(), text));
}

fn write(stream: &mut impl Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}
