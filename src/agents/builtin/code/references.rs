//! References in an objection: the places in the tree that it points to.
//!
//! What looks like a path is a reference, whether or not it exists; that is for the judge to find out.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ObjectionReference {
    File(String),
    Lines(String, u32, u32),
    /// `path::name`, `path::Outer::name`, `path::"a title"`
    Name(String, Vec<String>),
    /// A link or an issue number: nothing that the tree can confirm.
    Elsewhere(String),
}

impl fmt::Display for ObjectionReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.write_str(path),
            Self::Lines(path, first, last) if first == last => write!(f, "{path}:{first}"),
            Self::Lines(path, first, last) => write!(f, "{path}:{first}-{last}"),
            Self::Name(path, names) => {
                f.write_str(path)?;
                names.iter().try_for_each(|name| match name.contains(char::is_whitespace) {
                    true => write!(f, "::\"{name}\""),
                    false => write!(f, "::{name}"),
                })
            }
            Self::Elsewhere(text) => f.write_str(text),
        }
    }
}

/// Endings of names that are files even without a folder in front: `README.md` is one, `e.g` is not.
const FILE_ENDINGS: [&str; 24] = [
    "rs", "py", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "go", "java", "md", "txt", "rst", "toml",
    "yml", "yaml", "json", "sql", "html", "css", "sh", "adoc",
];

/// The references in a text, in its order, each once.
pub(crate) fn references(text: &str) -> Vec<ObjectionReference> {
    let mut found = Vec::new();
    for word in words(text) {
        if let Some(reference) = reference(&word)
            && !found.contains(&reference)
        {
            found.push(reference);
        }
    }
    found
}

/// Cuts a text at blanks, brackets, quotes and list punctuation; a quoted name after `::` stays with its path.
fn words(text: &str) -> Vec<String> {
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
            None if c.is_whitespace() || "\"'`()[]{}<>,;|".contains(c) => words.push(std::mem::take(&mut word)),
            None => word.push(c),
        }
    }
    words.push(word);
    words
}

fn reference(word: &str) -> Option<ObjectionReference> {
    if word.starts_with("https://") || word.starts_with("http://") {
        return Some(ObjectionReference::Elsewhere(word.trim_end_matches(['.', ':']).to_owned()));
    }
    // Only a quoted name has blanks, and it ends where its quote does.
    let word = if word.contains(char::is_whitespace) { word } else { word.trim_end_matches(['.', ':', '!', '?']) };
    if let Some(number) = word.strip_prefix('#') {
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        return is_number.then(|| ObjectionReference::Elsewhere(word.to_owned()));
    }
    if let Some((path, names)) = word.split_once("::") {
        let names: Vec<_> = names.split("::").map(|name| name.trim_end_matches("()").to_owned()).collect();
        let usable = is_path(path, Place::Given) && names.iter().all(|name| !name.is_empty());
        return usable.then(|| ObjectionReference::Name(path.to_owned(), names));
    }
    if let Some((path, place)) = word.split_once("#L").or_else(|| word.split_once(':'))
        && let Some((first, last)) = line_range(place)
    {
        return is_path(path, Place::Given).then(|| ObjectionReference::Lines(path.to_owned(), first, last));
    }
    is_path(word, Place::None).then(|| ObjectionReference::File(word.to_owned()))
}

/// `12`, `12-14`, `12-L14`, or `12:5` with a column.
fn line_range(text: &str) -> Option<(u32, u32)> {
    let text = text.split(':').next().unwrap_or_default();
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.trim_start_matches('L').parse::<u32>().ok().filter(|line| *line > 0);
    let (first, last) = (number(first)?, number(last)?);
    (first <= last).then_some((first, last))
}

/// Whether a line or a name stands behind a path; if so, the path needs to look less like one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Given,
    None,
}

fn is_path(text: &str, place: Place) -> bool {
    let allowed = |c: char| c.is_alphanumeric() || "_./@+-".contains(c);
    if text.is_empty() || !text.chars().all(allowed) || !text.chars().any(char::is_alphabetic) {
        return false;
    }
    let name = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let ending = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, ending)| ending);
    let has_folder = text.contains('/');
    match (ending, place) {
        (Some(ending), _) if FILE_ENDINGS.contains(&ending) => true,
        (Some(ending), _) => has_folder && ending.chars().next().is_some_and(char::is_alphabetic),
        (None, Place::Given) => has_folder,
        (None, Place::None) => text.ends_with('/'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_out_of_prose() {
        let cases = [
            ("an ETag, see tests/test_etag.py::test_is_stable.", vec!["tests/test_etag.py::test_is_stable"]),
            ("(src/db.rs:12, src/db.rs:14-16)", vec!["src/db.rs:12", "src/db.rs:14-16"]),
            ("`src/db.rs#L3-L5` and src/db.rs:7:2", vec!["src/db.rs:3-5", "src/db.rs:7"]),
            (
                "web/cart.test.ts::\"refuses a negative price\" holds",
                vec!["web/cart.test.ts::\"refuses a negative price\""],
            ),
            ("src/store.rs::tests::keeps_order()", vec!["src/store.rs::tests::keeps_order"]),
            ("docs/decisions/, README.md", vec!["docs/decisions/", "README.md"]),
            ("https://example.org/a.py and #12.", vec!["https://example.org/a.py", "#12"]),
            ("twice the same a/b.go:1 a/b.go:1", vec!["a/b.go:1"]),
        ];
        for (text, expected) in cases {
            let read: Vec<String> = references(text).iter().map(ToString::to_string).collect();
            assert_eq!(read, expected, "{text}");
        }
    }

    #[test]
    fn prose_is_no_reference() {
        for text in [
            "reviewed, e.g. by hand, i.e. twice",
            "and/or TCP/IP",
            "version 1.2 of std::fs",
            "crate::domain is fine",
            "10:30 o'clock: done",
            "only used as a cache key -- trusted input",
        ] {
            assert_eq!(references(text), [], "{text}");
        }
    }
}
