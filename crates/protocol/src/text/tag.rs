//! Reads the tag in brackets at the beginning of an item, such as `[MUST]`, `**[F3]**` or `` `[low]` ``.
//!
//! Any word in the brackets is accepted, and the caller interprets the word. The brackets of links and check boxes
//! are not tags.

use crate::text::location;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BracketTag<'a> {
    pub word: &'a str,
    /// The text after the tag. Marks that close emphasis around the tag are removed.
    pub rest: &'a str,
}

const EMPHASIS: [char; 3] = ['*', '_', '`'];
const BRACKETS: [(char, char); 3] = [('[', ']'), ('［', '］'), ('【', '】')];
const COLONS: [char; 2] = [':', '：'];

pub fn read(text: &str) -> Option<BracketTag<'_>> {
    let open = text.trim_start_matches(EMPHASIS);
    let emphasis = &text[..text.len() - open.len()];
    let (inner, close) = BRACKETS
        .iter()
        .find_map(|(opening, closing)| Some((open.strip_prefix(*opening)?, *closing)))?;
    let word = word(inner)?;
    let rest = inner[word.len()..].strip_prefix(close)?;
    if rest.starts_with('(') {
        return None;
    }
    let rest = if emphasis.is_empty() {
        rest
    } else {
        without_emphasis(emphasis, rest)?
    };
    Some(BracketTag { word, rest })
}

fn word(text: &str) -> Option<&str> {
    let end = text
        .find(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_'))
        .unwrap_or(text.len());
    let word = &text[..end];
    ((2..=20).contains(&word.chars().count()) && word.starts_with(char::is_alphabetic))
        .then_some(word)
}

/// Removes the closing emphasis marks after a tag. `emphasis` contains the opening marks. Returns `None` if
/// inline code begins before the tag and extends beyond the tag, as in `` `[MUST] in code` ``.
fn without_emphasis<'a>(emphasis: &str, rest: &'a str) -> Option<&'a str> {
    let closed = rest.trim_start_matches(COLONS).trim_start_matches(EMPHASIS);
    let closing = &rest[..rest.len() - closed.len()];
    if emphasis.contains('`') && !closing.contains('`') {
        return None;
    }
    if closing.contains(EMPHASIS) {
        return Some(closed);
    }
    Some(if emphasis.contains('_') {
        rest.trim_end().trim_end_matches('_')
    } else {
        rest
    })
}

/// Whether a word is a log level. A line that begins with a log level in brackets is ordinary text.
pub(crate) fn is_log_level(word: &str) -> bool {
    ["INFO", "DEBUG", "TRACE", "WARN", "ERROR"]
        .iter()
        .any(|level| level.eq_ignore_ascii_case(word))
}

/// Whether a line explains the meaning of a tag, like `[MUST] = required`.
pub(crate) fn is_legend(rest: &str) -> bool {
    let text = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '|');
    let single = text
        .strip_prefix('=')
        .is_some_and(|after| !after.starts_with(['=', '>']));
    single || text.starts_with('＝')
}

/// Whether a line defines a link, like `[docs]: https://...`.
pub(crate) fn is_link_definition(rest: &str) -> bool {
    rest.strip_prefix(':').is_some_and(|target| {
        let target = target.trim_start().trim_start_matches('<');
        target.starts_with("https://") || target.starts_with("http://")
    })
}

/// Whether a text is an unfilled template of an answer, such as `...`, `<file>:<line>` or
/// `<title> at line <line>`.
pub(crate) fn is_placeholder(rest: &str) -> bool {
    let text = rest.trim();
    if !text.is_empty() && text.chars().all(|c| matches!(c, '.' | '…')) {
        return true;
    }
    let mut groups = 0;
    let mut left = text;
    while let Some(at) = left.find(['<', '{']) {
        let close = if left[at..].starts_with('<') {
            '>'
        } else {
            '}'
        };
        let inner = &left[at + 1..];
        let Some(end) = inner
            .find(['<', '>', '{', '}'])
            .filter(|end| inner[*end..].starts_with(close))
        else {
            return false;
        };
        if !is_between_groups(&left[..at]) || !inner[..end].contains(char::is_alphabetic) {
            return false;
        }
        groups += 1;
        left = &inner[end + 1..];
    }
    groups > 0 && is_between_groups(left)
}

fn is_between_groups(text: &str) -> bool {
    let words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let small = ["in", "at", "on", "of", "for", "line", "lines", "confidence"];
    words.into_iter().all(|word| small.contains(&word))
}

/// Returns the title after a tag, without the location and the separators before the title.
pub fn title<'a>(rest: &'a str, place: Option<&location::NamedPlace>) -> &'a str {
    match place {
        Some(place) if !rest[..place.range.start].contains(char::is_alphanumeric) => {
            let after = &rest[place.range.end..];
            without_separators(
                after
                    .trim_start_matches(['`', '*', ')', ']', '}', '"', '\'', '>', '）', '」', '”']),
            )
        }
        _ => without_separators(rest),
    }
}

fn without_separators(text: &str) -> &str {
    let mut text = text;
    loop {
        let shorter = text
            .trim_start()
            .trim_start_matches([':', '：', '–', '—', '|']);
        let shorter = match shorter.strip_prefix('-') {
            Some(after) if after.is_empty() || after.starts_with(char::is_whitespace) => after,
            _ => shorter,
        };
        if shorter.len() == text.len() {
            return text.trim_end();
        }
        text = shorter;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_marks() {
        for (text, expected) in [
            ("[MUST] a", Some(("MUST", " a"))),
            ("[must]", Some(("must", ""))),
            ("**[MUST]** a", Some(("MUST", " a"))),
            ("**[MUST] a**", Some(("MUST", " a**"))),
            ("**[MUST]:** a", Some(("MUST", " a"))),
            ("[MUST]: a", Some(("MUST", ": a"))),
            ("__[MUST]__ a", Some(("MUST", " a"))),
            ("__[MUST] a__", Some(("MUST", " a"))),
            ("`[LOW]` `x` y", Some(("LOW", " `x` y"))),
            ("**`[LOW]`** a", Some(("LOW", " a"))),
            ("[HIGH]`x` y", Some(("HIGH", "`x` y"))),
            ("[P1] a", Some(("P1", " a"))),
            ("[重要] a", Some(("重要", " a"))),
            ("[not-that_1] a", Some(("not-that_1", " a"))),
            (
                "[abcdefghijklmnopqrst] a",
                Some(("abcdefghijklmnopqrst", " a")),
            ),
            ("[abcdefghijklmnopqrstu] a", None),
            ("[a] a", None),
            ("[ ] a", None),
            ("[x] a", None),
            ("[1a] a", None),
            ("[ MUST ] a", None),
            ("[MUST FIX] a", None),
            ("[MUST](#must) a", None),
            ("[MUST", None),
            ("［MUST］ a", Some(("MUST", " a"))),
            ("【MUST】a", Some(("MUST", "a"))),
            ("［MUST] a", None),
            ("`[MUST] in code` a", None),
            ("![HIGH] a", None),
            ("(MUST) a", None),
        ] {
            assert_eq!(
                read(text),
                expected.map(|(word, rest)| BracketTag { word, rest }),
                "{text}"
            );
        }
    }

    #[test]
    fn tells_legends_forms_and_definitions() {
        for (rest, expected) in [
            (" = required", true),
            ("= x", true),
            (" == x", false),
            (" => x", false),
            (" a = b", false),
            ("", false),
        ] {
            assert_eq!(is_legend(rest), expected, "{rest}");
        }
        for (rest, expected) in [
            (" <description>", true),
            (" <file>:<line> <what has to change>", true),
            (" `{file}`:{line} - {title}", true),
            (" <what> in <file> at line <line>", true),
            (" ...", true),
            ("", false),
            (" <script> tags are not escaped", false),
            (" Vec<T> grows", false),
            (" a < b", false),
            (" {}", false),
            (" !", false),
        ] {
            assert_eq!(is_placeholder(rest), expected, "{rest}");
        }
        assert!(is_link_definition(": https://example.org"));
        assert!(!is_link_definition(": the docs"));
    }
}
