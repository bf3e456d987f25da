//! References to code in a text.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Support {
    /// It exists, and the coder did not write it in this run.
    Exists,
    /// The coder wrote it in this run.
    Written,
    Missing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) path: String,
    pub(crate) lines: Option<(u32, u32)>,
}

impl Reference {
    /// Whether the file's text has the lines.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        let count = text.lines().count();
        self.lines.is_none_or(|(_, last)| usize::try_from(last).is_ok_and(|last| last <= count))
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lines {
            None => write!(f, "{}", self.path),
            Some((first, last)) if first == last => write!(f, "{}:{first}", self.path),
            Some((first, last)) => write!(f, "{}:{first}-{last}", self.path),
        }
    }
}

/// The references in a text: words that look like a path, optionally with a line or a test name.
pub(crate) fn references(text: &str) -> Vec<Reference> {
    words(text).filter_map(reference).collect()
}

/// The words of a text, without the quotes and brackets around them.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '`' | '"' | '\'' | '(' | ')' | '[' | ']'))
}

/// Parses `path`, `path:12`, `path:12-18` or `path::test`.
pub(crate) fn reference(word: &str) -> Option<Reference> {
    let word = word.trim_end_matches(['.', ':', '>', '*', '!', '?']).trim_start_matches(['<', '*']);
    let word = word.trim_start_matches("./");
    let (path, rest) = word.split_once(':').unwrap_or((word, ""));
    let name = path.rsplit('/').next()?;
    let (stem, extension) = name.rsplit_once('.')?;
    // `e.g` and `i.e` are not files.
    let plausible = !stem.is_empty()
        && stem.len() + extension.len() > 2
        && (1..=5).contains(&extension.len())
        && extension.chars().all(|c| c.is_ascii_alphanumeric())
        && extension.starts_with(|c: char| c.is_ascii_alphabetic());
    plausible.then(|| Reference { path: path.to_owned(), lines: lines(rest) })
}

pub(crate) fn lines(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split('-').map(str::parse::<u32>);
    let first = numbers.next()?.ok()?;
    let last = numbers.next().and_then(Result::ok).unwrap_or(first);
    (first >= 1 && last >= first).then_some((first, last))
}

/// Checks a reference in a tree that no coder changed; `text_of` returns a file's text.
pub(crate) fn exists(reference: &Reference, text_of: &dyn Fn(&str) -> Option<String>) -> Support {
    match text_of(&reference.path) {
        Some(text) if reference.is_in(&text) => Support::Exists,
        _ => Support::Missing,
    }
}
