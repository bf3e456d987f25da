//! What the screen can do, decided once and handed to everything that draws.

use std::io::IsTerminal as _;

use console::Term;

use crate::cli::style::Style;

/// How much is said on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Nothing but errors and what was asked for.
    Quiet,
    /// What a person wants to follow.
    Normal,
    Verbose,
}

/// What stderr can show. A test gives its own; [`Screen::stderr`] asks the process's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Whether it is a terminal that can move its cursor: live lines and dialogs need one.
    pub terminal: bool,
    pub color: bool,
    /// Whether glyphs beyond ASCII are used.
    pub unicode: bool,
    /// The columns; `None` asks the terminal each time, so that a resize is followed.
    pub columns: Option<usize>,
    pub verbosity: Verbosity,
}

impl Screen {
    pub fn stderr(color: bool, verbosity: Verbosity) -> Self {
        let terminal = std::io::stderr().is_terminal() && !console::is_dumb();
        Self { terminal, color, unicode: speaks_utf8(), columns: None, verbosity }
    }

    /// How text may look on it now.
    pub fn look(&self) -> Style {
        Style { color: self.color, unicode: self.unicode, width: self.width() }
    }

    /// Its columns now: what was given, else the terminal's, else 80; at least 10.
    pub fn width(&self) -> usize {
        let asked = || Term::stderr().size_checked().map_or(80, |(_, columns)| usize::from(columns));
        self.columns.unwrap_or_else(asked).max(10)
    }
}

/// Whether the locale writes UTF-8 and the terminal is one that shows it.
pub fn speaks_utf8() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty());
    let utf8 = match locale {
        Some(locale) => is_utf8(&locale),
        // macOS and Windows set no locale for programs started outside a shell, and write UTF-8 all the same.
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
