//! Shows long text in the user's pager, as git does.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use super::stream;
use crate::cli::signals;

/// The shell command that starts a pager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pager(String);

impl Pager {
    /// Returns the pager from the variable `GLEE_PAGER`, or else from `PAGER`, or else `less`. Returns `None` if
    /// the command is empty or `cat`.
    pub(crate) fn of_user() -> Option<Self> {
        let given = ["GLEE_PAGER", "PAGER"]
            .into_iter()
            .find_map(|name| std::env::var(name).ok());
        let command = given.unwrap_or_else(|| "less".to_owned());
        (!matches!(command.trim(), "" | "cat")).then_some(Self(command))
    }

    /// Whether the pager is `less`, which shows hyperlinks. Pagers other than `less` may show the control
    /// sequences of a hyperlink as text.
    pub(crate) fn shows_links(&self) -> bool {
        let words = shlex::split(&self.0).unwrap_or_default();
        words.first().is_some_and(|program| {
            Path::new(program)
                .file_name()
                .is_some_and(|name| name == "less")
        })
    }

    /// Shows text until the user leaves the pager. If the pager cannot be started, prints the text.
    pub(crate) fn show(&self, text: &str) -> io::Result<()> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &self.0]).stdin(Stdio::piped());
        // Git sets the same default values. If the text fits on the screen, `less` prints the text and ends.
        for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
            if std::env::var_os(name).is_none() {
                shell.env(name, value);
            }
        }
        let shown = signals::ignoring_interrupt(|| {
            let mut pager = shell.spawn()?;
            if let Some(mut input) = pager.stdin.take() {
                // A write error is ignored, because a write fails when the user leaves the pager early.
                drop(input.write_all(text.as_bytes()));
            }
            pager.wait()
        });
        match shown {
            // If the shell cannot run the program, the shell ends with exit code 126 or 127.
            Ok(status) if !matches!(status.code(), Some(126 | 127)) => Ok(()),
            _ => stream::out(text),
        }
    }
}
