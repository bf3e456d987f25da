//! The capabilities of the screen, which are determined once and passed to all code that draws.

use std::io::IsTerminal as _;

use console::Term;
use supports_hyperlinks::Stream;

use crate::cli::style::Style;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    Quiet,
    Normal,
    Verbose,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Whether stderr is a terminal with a movable cursor. Live lines and dialogs require a movable cursor.
    pub terminal: bool,
    pub color: bool,
    pub unicode: bool,
    /// The width of the screen in columns. If `None`, Glee queries the terminal for the current width before
    /// each use.
    pub columns: Option<usize>,
    pub verbosity: Verbosity,
}

impl Screen {
    pub fn stderr(color: bool, verbosity: Verbosity) -> Self {
        let terminal = std::io::stderr().is_terminal() && !console::is_dumb();
        Self {
            terminal,
            color,
            unicode: speaks_utf8(),
            columns: None,
            verbosity,
        }
    }

    pub(crate) fn is_live(&self) -> bool {
        self.terminal && self.verbosity != Verbosity::Quiet
    }

    /// Returns the style for the current width. The width of the style is 80 columns if the width of the terminal
    /// is unknown. The width of the style is never less than 10 columns.
    pub fn style(&self) -> Style {
        let width = self
            .columns
            .unwrap_or_else(|| {
                Term::stderr()
                    .size_checked()
                    .map_or(80, |(_, columns)| usize::from(columns))
            })
            .max(10);
        Style {
            color: self.color,
            unicode: self.unicode,
            width,
        }
    }
}

/// The rows and columns of stdout, or `None` if stdout is not a terminal.
pub(crate) fn size_of_stdout() -> Option<(usize, usize)> {
    let size = std::io::stdout()
        .is_terminal()
        .then(|| Term::stdout().size_checked())
        .flatten();
    size.map(|(rows, columns)| (usize::from(rows), usize::from(columns)))
        .filter(|(rows, _)| *rows > 0)
}

/// Whether the terminal of stdout is known to show hyperlinks.
pub(crate) fn shows_hyperlinks() -> bool {
    supports_hyperlinks::on(Stream::Stdout)
}

pub fn speaks_utf8() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty());
    let utf8 = match locale {
        Some(locale) => is_utf8(&locale),
        // On macOS and Windows, terminals use UTF-8 even if no locale is set.
        None => cfg!(not(target_os = "linux")),
    };
    utf8 && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

fn is_utf8(locale: &str) -> bool {
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_locale() {
        assert!(is_utf8("de_DE.UTF-8") && is_utf8("C.utf8"));
        assert!(!is_utf8("C") && !is_utf8("de_DE.ISO-8859-1"));
    }
}
