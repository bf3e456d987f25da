//! The standard streams: stdout for results, stderr for everything else.

use std::io::{self, Write};

use console::Term;

use crate::cli::style;

/// Writes to stdout. A closed pipe is not an error, because the program that reads the output can end early.
pub fn out(text: impl AsRef<str>) -> io::Result<()> {
    match write(&mut io::stdout().lock(), text.as_ref()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Ignores write errors, because Glee cannot report an error if stderr itself fails. On a terminal, long lines are
/// wrapped between words.
pub fn err(text: impl AsRef<str>) {
    let text = text.as_ref();
    let width = Term::stderr()
        .size_checked()
        .map(|(_, columns)| usize::from(columns));
    let text = width.map_or_else(|| text.to_owned(), |width| style::fit(text, width));
    drop(write(&mut io::stderr().lock(), &text));
}

fn write(stream: &mut impl Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}
