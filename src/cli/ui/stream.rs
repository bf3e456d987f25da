//! The standard streams: stdout for results, stderr for everything else.

use std::io::{self, Write};

/// Writes to stdout. A closed pipe is not an error, because the reader wants no more output.
pub fn out(text: &str) -> io::Result<()> {
    match write(&mut io::stdout().lock(), text) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Ignores errors, because an error of stderr cannot be reported.
pub fn err(text: &str) {
    drop(write(&mut io::stderr().lock(), text));
}

fn write(stream: &mut impl Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}
