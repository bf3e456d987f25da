//! Finds references to files and definitions in a text. The module does not check whether the files and
//! definitions exist.

use std::fmt;

use glee_model::domain::Untrusted;

/// A reference of the form `path`, `path:12-18` or `path::Outer::name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    pub path: String,
    pub lines: Option<(u32, u32)>,
    /// The names after `::`, from the outermost definition to the innermost definition.
    pub names: Vec<String>,
}

impl Reference {
    pub fn is_in(&self, text: &str) -> bool {
        let count = text.lines().count();
        self.lines
            .is_none_or(|(_, last)| usize::try_from(last).is_ok_and(|last| last <= count))
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if let Some((first, last)) = self.lines {
            write!(f, ":{first}")?;
            if first != last {
                write!(f, "-{last}")?;
            }
        }
        self.names
            .iter()
            .try_for_each(|name| match name.contains(char::is_whitespace) {
                true => write!(f, "::\"{name}\""),
                false => write!(f, "::{name}"),
            })
    }
}

pub fn references(text: &str) -> impl Iterator<Item = Reference> {
    words(text).into_iter().filter_map(|word| reference(&word))
}

/// Applies the function `change` to the path in a citation. A citation that contains any text besides the
/// reference remains unchanged.
pub fn change_path(citation: &mut Untrusted, change: impl FnOnce(&mut String)) {
    let Some(mut reference) = reference(citation.as_written()) else {
        return;
    };
    if reference.to_string() == citation.as_written() {
        change(&mut reference.path);
        *citation = reference.to_string().into();
    }
}

/// Splits a text into words. A quoted name after `::` belongs to the same word as the text before `::`.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in text.chars() {
        match quote {
            Some(open) if c == open => {
                quote = None;
                words.push(std::mem::take(&mut word));
            }
            Some(_) => word.push(c),
            None if "\"'`".contains(c) && word.ends_with("::") => quote = Some(c),
            None if c.is_whitespace() || "\"'`()[]{}<>,;|".contains(c) => {
                words.push(std::mem::take(&mut word))
            }
            None => word.push(c),
        }
    }
    words.push(word);
    words
}

pub fn reference(word: &str) -> Option<Reference> {
    // If a word contains blanks, the word ends with a quoted name, as in `path::"a test."`. Punctuation at the end
    // of a quoted name is a part of the name and is not removed.
    let end = if word.contains(char::is_whitespace) {
        &[][..]
    } else {
        &['.', ':', '>', '*', '!', '?']
    };
    let word = word
        .trim_end_matches(end)
        .trim_start_matches(['<', '*'])
        .trim_start_matches("./");
    let (path, behind) = word
        .split_once("#L")
        .or_else(|| word.split_once(':'))
        .unwrap_or((word, ""));
    let names = behind
        .strip_prefix(':')
        .into_iter()
        .flat_map(|names| names.split("::"));
    let names = names
        .map(|name| name.trim_end_matches("()").to_owned())
        .filter(|name| !name.is_empty());
    is_file(path).then(|| Reference {
        path: path.to_owned(),
        lines: lines(behind),
        names: names.collect(),
    })
}

/// Whether a word looks like the path of a file. For example, `README.md` looks like a path, but `e.g` and `1.2`
/// do not.
fn is_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && stem.len() + extension.len() > 2
            && (extension.len() <= 5 || path.contains('/'))
            && extension.starts_with(|c: char| c.is_ascii_alphabetic())
            && extension.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

/// Parses `12`, `12-14`, `12-L14`, or `12:5` with a column.
fn lines(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text
        .split(':')
        .next()?
        .split('-')
        .map(|part| part.trim_start_matches('L').parse::<u32>());
    let first = numbers.next()?.ok()?;
    let last = numbers.next().and_then(Result::ok).unwrap_or(first);
    (first >= 1 && last >= first).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_references() {
        let rows = [
            ("src/a.rs:12", Some(("src/a.rs", Some((12, 12))))),
            ("`src/a.rs:12-18`,", Some(("src/a.rs", Some((12, 18))))),
            ("tests/test_x.py::test_y", Some(("tests/test_x.py", None))),
            ("./a.py.", Some(("a.py", None))),
            (
                "**.github/ci.yml:3**",
                Some((".github/ci.yml", Some((3, 3)))),
            ),
            ("`src/db.rs#L3-L5`", Some(("src/db.rs", Some((3, 5))))),
            ("src/db.rs:7:2", Some(("src/db.rs", Some((7, 7))))),
            ("e.g.", None),
            ("1.5", None),
            ("word", None),
            ("12:30", None),
        ];
        for (text, expected) in rows {
            let found = references(text).next();
            assert_eq!(
                found
                    .as_ref()
                    .map(|found| (found.path.as_str(), found.lines)),
                expected,
                "{text}"
            );
        }
    }
}
