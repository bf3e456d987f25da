//! Places in code that a text cites, and how far they exist.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Support {
    /// The place exists, and the coder did not write it in this run.
    Exists,
    /// The place exists because the coder wrote it in this run.
    Written,
    Missing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) path: String,
    pub(crate) lines: Option<(u32, u32)>,
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

/// The places that a text refers to: words that look like a path, with or without a line or a test name.
pub(crate) fn references(text: &str) -> Vec<Reference> {
    words(text).filter_map(reference).collect()
}

/// The words of a text, without the quotes and brackets around them.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '`' | '"' | '\'' | '(' | ')' | '[' | ']'))
}

/// Reads one word as `path`, `path:12`, `path:12-18` or `path::test`.
pub(crate) fn reference(word: &str) -> Option<Reference> {
    let word = word.trim_end_matches(['.', ':', '>', '*', '!', '?']).trim_start_matches(['<', '*']);
    let word = word.trim_start_matches("./");
    let (path, rest) = word.split_once(':').unwrap_or((word, ""));
    let name = path.rsplit('/').next()?;
    let (stem, extension) = name.rsplit_once('.')?;
    // `e.g` and `i.e` are no files.
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

/// Whether a place exists in a tree without a coder of its own; `text_of` gives a file's text.
pub(crate) fn exists(reference: &Reference, text_of: &dyn Fn(&str) -> Option<String>) -> Support {
    let Some(text) = text_of(&reference.path) else {
        return Support::Missing;
    };
    let count = text.lines().count();
    let has = reference.lines.is_none_or(|(_, last)| usize::try_from(last).is_ok_and(|last| last <= count));
    if has { Support::Exists } else { Support::Missing }
}
