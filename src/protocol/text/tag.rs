//! The word in brackets that an item begins with: `[MUST]`, `**[F3]**`, `` `[low]` ``.
//!
//! Reads the form and nothing else; what the word means is the reader's business. A bracket that cannot be told from
//! a link, a check box or a line of a log is no mark.

use crate::protocol::text::location;

/// A mark and the rest of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BracketTag<'a> {
    /// The word between the brackets, as written.
    pub(crate) word: &'a str,
    /// What follows, without the emphasis that closes directly behind the bracket.
    pub(crate) rest: &'a str,
}

/// Emphasis and inline code that may stand around a mark.
const DRESS: [char; 3] = ['*', '_', '`'];
const COLONS: [char; 2] = [':', '：'];

/// Reads the mark at the beginning of an item's text.
pub(crate) fn read(text: &str) -> Option<BracketTag<'_>> {
    let open = text.trim_start_matches(DRESS);
    let dress = &text[..text.len() - open.len()];
    let inner = open.strip_prefix('[')?;
    let word = word(inner)?;
    let rest = inner[word.len()..].strip_prefix(']')?;
    if rest.starts_with('(') {
        return None;
    }
    let rest = if dress.is_empty() { rest } else { undress(dress, rest)? };
    Some(BracketTag { word, rest })
}

/// 2 to 20 letters, digits, `-` or `_`, the first one a letter.
fn word(text: &str) -> Option<&str> {
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let (mut count, mut length) = (0, 0);
    for c in text.chars().take_while(|c| inside(*c)).take(21) {
        count += 1;
        length += c.len_utf8();
    }
    let word = &text[..length];
    ((2..=20).contains(&count) && word.starts_with(char::is_alphabetic)).then_some(word)
}

/// Takes away what closes `dress`, here or at the end of the line. A backtick has to close directly behind the mark:
/// otherwise the mark is a part of a longer piece of code.
fn undress<'a>(dress: &str, rest: &'a str) -> Option<&'a str> {
    let closed = rest.trim_start_matches(COLONS).trim_start_matches(DRESS);
    let closing = &rest[..rest.len() - closed.len()];
    if dress.contains('`') && !closing.contains('`') {
        return None;
    }
    if closing.contains(DRESS) {
        return Some(closed);
    }
    Some(if dress.contains('_') { rest.trim_end().trim_end_matches('_') } else { rest })
}

/// Whether a word is a level of a log: such lines are text.
pub(crate) fn is_log_level(word: &str) -> bool {
    ["INFO", "DEBUG", "TRACE", "WARN", "ERROR"].iter().any(|level| level.eq_ignore_ascii_case(word))
}

/// Whether a line says what a mark means: `[MUST] = required`.
pub(crate) fn is_legend(rest: &str) -> bool {
    let text = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '|');
    let single = text.strip_prefix('=').is_some_and(|behind| !behind.starts_with(['=', '>']));
    single || text.starts_with('＝')
}

/// Whether a line defines a link: `[docs]: https://...`.
pub(crate) fn is_link_definition(rest: &str) -> bool {
    rest.strip_prefix(':').is_some_and(|target| {
        let target = target.trim_start().trim_start_matches('<');
        target.starts_with("https://") || target.starts_with("http://")
    })
}

/// Whether a text is a form that nobody filled in: only groups such as `<file>:<line>` or `{title}`, with nothing but
/// signs and the smallest words between them, or only dots.
pub(crate) fn is_placeholder(rest: &str) -> bool {
    let text = rest.trim();
    if !text.is_empty() && text.chars().all(|c| matches!(c, '.' | '…')) {
        return true;
    }
    let (mut groups, mut left) = (0, text);
    while let Some(at) = left.find(['<', '{']) {
        let close = if left[at..].starts_with('<') { '>' } else { '}' };
        let inner = &left[at + 1..];
        let Some(end) = inner.find(['<', '>', '{', '}']).filter(|end| inner[*end..].starts_with(close)) else {
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
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let small = ["in", "at", "on", "of", "for", "line", "lines", "confidence"];
    words.into_iter().all(|word| small.contains(&word))
}

/// The text behind a mark and its place: without a place at the front and the separators around it.
pub(crate) fn title<'a>(rest: &'a str, place: Option<&location::NamedPlace>) -> &'a str {
    let separators = |text: &'a str| {
        let mut text = text;
        loop {
            let shorter = text.trim_start().trim_start_matches([':', '：', '–', '—', '|']);
            let shorter = match shorter.strip_prefix('-') {
                Some(behind) if behind.is_empty() || behind.starts_with(char::is_whitespace) => behind,
                _ => shorter,
            };
            if shorter.len() == text.len() {
                return text.trim_end();
            }
            text = shorter;
        }
    };
    match place {
        Some(place) if !rest[..place.range.start].contains(char::is_alphanumeric) => {
            let behind = &rest[place.range.end..];
            separators(behind.trim_start_matches(['`', '*', ')', ']', '}', '"', '\'', '>', '）', '」', '”']))
        }
        _ => separators(rest),
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
            ("[abcdefghijklmnopqrst] a", Some(("abcdefghijklmnopqrst", " a"))),
            ("[abcdefghijklmnopqrstu] a", None),
            ("[a] a", None),
            ("[ ] a", None),
            ("[x] a", None),
            ("[1a] a", None),
            ("[ MUST ] a", None),
            ("[MUST FIX] a", None),
            ("[MUST](#must) a", None),
            ("[MUST", None),
            ("［MUST］ a", None),
            ("`[MUST] in code` a", None),
            ("![HIGH] a", None),
            ("(MUST) a", None),
        ] {
            assert_eq!(read(text), expected.map(|(word, rest)| BracketTag { word, rest }), "{text}");
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
