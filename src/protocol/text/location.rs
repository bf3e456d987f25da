//! The place a line of prose names: `path:12-18` and its kin.
//!
//! A place has a line. A drive path, a port, a time and a ratio are text; a bare word is a path only if it is known as
//! the name of a file. Every character of the text is looked at a bounded number of times.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// A place and where it stands in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedPlace {
    /// The path as written.
    pub(crate) file: String,
    /// The first line, from 1.
    pub(crate) line: u32,
    pub(crate) end_line: Option<u32>,
    pub(crate) range: Range<usize>,
}

/// Lines as they are written behind a path, and how many bytes they take up.
struct Lines {
    line: u32,
    end_line: Option<u32>,
    length: usize,
}

/// The longest beginning of a text in which paths with blanks are looked for, in bytes.
const HEAD: usize = 4 << 10;

/// Paths that are known, for prose that names them.
#[derive(Clone, Debug, Default)]
pub struct Paths(Vec<String>);

impl Paths {
    /// Those of `paths` that a word of prose cannot hold, because of a blank, a quote or the like in them.
    pub fn new<'a>(paths: impl IntoIterator<Item = &'a str>) -> Self {
        let mut odd: Vec<String> =
            paths.into_iter().filter(|path| path.contains(is_boundary)).map(str::to_owned).collect();
        odd.sort_by_key(|path| std::cmp::Reverse(path.len()));
        Self(odd)
    }

    /// The first place that names one of the paths, of several at the same position the longest.
    fn find(&self, text: &str) -> Option<NamedPlace> {
        let head = text[..text.floor_char_boundary(HEAD)].replace('\\', "/");
        let named = |path: &String| {
            let starts = head.match_indices(path.as_str()).map(|(start, _)| start);
            starts.filter(|start| may_begin(text, *start)).find_map(|start| {
                let end = start + path.len();
                let Lines { line, end_line, length } = behind_path(text, end)?;
                Some(NamedPlace { file: path.clone(), line, end_line, range: start..end + length })
            })
        };
        self.0.iter().filter_map(named).min_by_key(|place| place.range.start)
    }
}

/// Whether a path may begin at `start`: not within a word, and not behind the beginning of a longer path with blanks.
fn may_begin(text: &str, start: usize) -> bool {
    let before = &text[..start];
    let is_free =
        before.chars().next_back().is_none_or(|c| is_boundary(c) || matches!(c, '(' | '[' | '{' | ':' | '：'));
    (is_free || before.ends_with("./") && may_begin(text, start - 2)) && !is_continued(before)
}

/// Whether a text ends with what may be the beginning of a path, cut off by a blank: `my dir/a ` before `file.py`.
fn is_continued(before: &str) -> bool {
    let Some(text) = before.strip_suffix(' ').filter(|text| !text.ends_with(is_boundary)) else { return false };
    let start = text.rfind(is_boundary).map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    let word = &text[start..];
    let Some((_, name)) = word.rsplit_once(['/', '\\']) else { return false };
    url(word).is_none()
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '~' | '+' | '&' | '@'))
}

/// Finds the first place in a text, of known paths also those with blanks.
pub(crate) fn find_of(text: &str, paths: &Paths) -> Option<NamedPlace> {
    let (known, found) = (paths.find(text), find(text));
    match (known, found) {
        (Some(known), Some(found)) if found.range.end <= known.range.start => Some(found),
        (Some(known), _) => Some(known),
        (None, found) => found,
    }
}

/// Finds the first place in a text. A word that follows the beginning of a path with blanks is none: which file is meant is
/// not known, and another one of the word's name is not.
pub(crate) fn find(text: &str) -> Option<NamedPlace> {
    first(text).filter(|place| !is_continued(&text[..place.range.start]))
}

fn first(text: &str) -> Option<NamedPlace> {
    let mut at = 0;
    while let Some(start) = text[at..].find(|c| !is_boundary(c)).map(|skipped| at + skipped) {
        if let Some(end) = code_with_blanks(text, start) {
            let code = &text[start..end];
            if let Some(place) = spaced(text, start, code) {
                return Some(place);
            }
            if drive_path(code).is_some() {
                at = end;
                continue;
            }
        }
        let end = text[start..].find(is_boundary).map_or(text.len(), |length| start + length);
        let word = &text[start..end];
        // What cannot hold a place goes on behind its end; what stands before it in the same word still can.
        let (candidates, next) = if let Some(scheme) = url(word) {
            let end = text[start..].find(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '<' | '>'));
            (scheme, end.map_or(text.len(), |length| start + length))
        } else if let Some(drive) = drive_path(word) {
            (drive, behind_drive_path(text, end))
        } else {
            (word.len(), end)
        };
        if let Some(place) = in_word(text, start, start + candidates, candidates == word.len()) {
            return Some(place);
        }
        at = next;
    }
    None
}

/// Takes the lines off a path that is written with them: `app.py:12-18`.
pub fn split(path: &str) -> Option<(&str, u32, Option<u32>)> {
    let (path, end) = path.rsplit_once([':', '：'])?;
    let (line, end_line) = lines(end)?;
    Some((path, line, end_line))
}

/// Reads lines that stand alone: `12`, `12-18`, `12:5`, `L12-L18`.
pub(crate) fn lines(text: &str) -> Option<(u32, Option<u32>)> {
    let text = text.trim();
    let lines = match text.strip_prefix('L') {
        Some(text) => read(&HASH, text).filter(|lines| lines.length == text.len()),
        None => read(&COLON, text).filter(|lines| lines.length == text.len()),
    }?;
    Some((lines.line, lines.end_line))
}

/// What ends a word: blanks, quotes, and punctuation that no path has.
fn is_boundary(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "`\"'<>*|,;=–—，。、；！？「」『』【】《》（）“”‘’„«»".contains(c)
}

/// Where the scheme of a URL begins in a word.
fn url(word: &str) -> Option<usize> {
    let at = match word.find("://") {
        Some(at) => at,
        None => return word.trim_start_matches(['(', '[']).starts_with("//").then_some(0),
    };
    let scheme = word[..at].bytes().rev().take_while(u8::is_ascii_alphanumeric).count();
    Some(at - scheme)
}

/// Where a path with a drive letter or a host (`C:\x`, `\\host\x`) begins in a word.
fn drive_path(word: &str) -> Option<usize> {
    let bytes = word.as_bytes();
    let drive =
        bytes.windows(3).position(|w| w[0].is_ascii_alphabetic() && w[1] == b':' && matches!(w[2], b'\\' | b'/'));
    match drive {
        Some(at) if at == 0 || !bytes[at - 1].is_ascii_alphanumeric() => Some(at),
        _ => word.trim_start_matches(['(', '[']).starts_with("\\\\").then_some(0),
    }
}

/// The end of a drive path: of the next word too if a blank within a folder's name has split it.
fn behind_drive_path(text: &str, end: usize) -> usize {
    let Some(rest) = text[end..].strip_prefix(' ') else { return end };
    let length = rest.find(is_boundary).unwrap_or(rest.len());
    if rest[..length].contains('\\') { end + 1 + length } else { end }
}

/// The end of the inline code that begins at `start`, if there are blanks in it.
fn code_with_blanks(text: &str, start: usize) -> Option<usize> {
    let code = text[..start].ends_with('`').then(|| text[start..].split_once('`'))??.0;
    code.contains(char::is_whitespace).then_some(start + code.len())
}

/// A place whose path is inline code with blanks in it: not in its first folder, for `cat src/a.rs` is a command, and
/// with an extension at its end only.
fn spaced(text: &str, start: usize, code: &str) -> Option<NamedPlace> {
    let path = code.split([':', '：']).next()?.trim_end();
    let folder = &path[..path.find(['/', '\\'])?];
    let (before, _) = path.rsplit_once(char::is_whitespace)?;
    if folder.contains(char::is_whitespace)
        || before.contains(['.', '=', '(', ')', '{', '}', '<', '>', '"', '|', ';', '*', ','])
        || drive_path(code).is_some()
        || !is_path(path)
    {
        return None;
    }
    let end = start + path.len();
    let lines = behind_path(text, end)?;
    Some(NamedPlace {
        file: path.to_owned(),
        line: lines.line,
        end_line: lines.end_line,
        range: start..end + lines.length,
    })
}

/// Finds the first place in the word `start..end`; `whole`: nothing of the word is missing at its end.
fn in_word(text: &str, start: usize, end: usize, whole: bool) -> Option<NamedPlace> {
    let word = &text[start..end];
    let mut from = 0;
    let marks = word.char_indices().filter(|(_, c)| matches!(c, ':' | '：' | '#')).map(|(at, c)| (at, Some(c)));
    for (at, mark) in marks.chain(whole.then_some((word.len(), None))) {
        if mark == Some('#') && !behind_hash(&word[at..]) {
            continue;
        }
        let lead = unbalanced(&word[from..at]);
        let path = &word[from + lead..at];
        let place = || {
            let lines = behind_path(text, start + at).filter(|_| is_path(path))?;
            let range = start + from + lead..start + at + lines.length;
            Some(NamedPlace { file: path.to_owned(), line: lines.line, end_line: lines.end_line, range })
        };
        if let Some(place) = place() {
            return Some(place);
        }
        from = at + mark.map_or(0, char::len_utf8);
    }
    None
}

/// Whether a `#` begins lines; a path may have other ones in it.
fn behind_hash(text: &str) -> bool {
    text.strip_prefix("#L").is_some_and(|lines| lines.starts_with(|c: char| c.is_ascii_digit()))
}

/// How much of a path's front belongs to the sentence: up to the last bracket that is not closed within it.
fn unbalanced(path: &str) -> usize {
    let mut open = Vec::new();
    let mut cut = 0;
    for (at, c) in path.char_indices() {
        match c {
            '(' | '[' | '{' => open.push(at),
            ')' | ']' | '}' if open.pop().is_none() => cut = at + 1,
            _ => {}
        }
    }
    open.last().map_or(cut, |at| at + 1)
}

/// Reads the lines that stand at `at`, directly behind a path: `:12`, `#L12`, or behind closing marks.
fn behind_path(text: &str, at: usize) -> Option<Lines> {
    let rest = &text[at..];
    if let Some(numbers) = rest.strip_prefix("#L") {
        return read(&HASH, numbers).map(|lines| lines.behind(2));
    }
    let closed = rest.trim_start_matches(['`', '*', '"', '\'']);
    let closing = rest.len() - closed.len();
    if let Some(colon) = closed.chars().next().filter(|c| matches!(c, ':' | '：')) {
        return read(&COLON, &closed[colon.len_utf8()..]).map(|lines| lines.behind(closing + colon.len_utf8()));
    }
    worded_lines(closed).map(|lines| lines.behind(closing))
}

impl Lines {
    /// A range is one only if it goes forward.
    fn new(line: u32, end: Option<u32>, length: usize) -> Option<Self> {
        (line > 0).then(|| Self { line, end_line: end.filter(|end| *end > line), length })
    }

    fn behind(self, bytes: usize) -> Self {
        Self { length: self.length + bytes, ..self }
    }
}

/// `12`, `12-18`, `12:5`, `12:5-18:9`; columns are dropped.
static COLON: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"([0-9]+)[:：][0-9]+(?:[-–]([0-9]+)[:：][0-9]+|[-–][0-9]+)?|([0-9]+)(?:[-–]([0-9]+))?")
});

/// `12`, `12-L18`, `12-18`, `12C5-L18C9`, behind `#L`.
static HASH: LazyLock<Regex> = LazyLock::new(|| pattern("([0-9]+)(?:C[0-9]+)?(?:[-–]L?([0-9]+))?(?:C[0-9]+)?"));

/// ` (line 12)`, ` (lines 12-18)`, ` at line 12`, ` at lines 12-18`.
static WORDED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:\s*[(（]\s*|\s+at )(?i:lines?)[ \u{a0}]([0-9]+)(?:[-–]([0-9]+))?"));

fn pattern(text: &str) -> Regex {
    Regex::new(&format!("^(?:{text})")).expect("a regular expression")
}

fn worded_lines(text: &str) -> Option<Lines> {
    let lines = read(&WORDED, text)?;
    let rest = &text[lines.length..];
    let is_open = text.trim_start().starts_with(['(', '（']);
    let behind = rest.strip_prefix([')', '）']).filter(|_| is_open).unwrap_or(rest);
    Some(lines.behind(rest.len() - behind.len()))
}

/// Reads the first and the last line at the beginning of a text.
fn read(pattern: &Regex, text: &str) -> Option<Lines> {
    let found = pattern.captures(text)?;
    let mut numbers = found.iter().skip(1).flatten().map(|number| number.as_str().parse().ok());
    let length = found.get(0)?.end();
    let lines = Lines::new(numbers.next()??, numbers.next().flatten(), length);
    lines.filter(|_| ends_well(&text[length..]))
}

/// Whether a number may end here: `12abc`, `12/x` and `12.5` are none.
fn ends_well(rest: &str) -> bool {
    let mut next = rest.chars();
    match next.next() {
        Some(c) if c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '\\') => false,
        Some('.' | ':' | '-') => !next.next().is_some_and(|c| c.is_ascii_digit()),
        _ => true,
    }
}

/// Last labels of host names: what has one is a host and its number a port.
const HOSTS: [&str; 7] = ["com", "net", "org", "io", "example", "local", "internal"];

/// Names of files that have no extension; `Makefile` and its kin are known by their ending.
const NAMES: &str = "makefile justfile BUILD WORKSPACE LICENSE README CHANGELOG CODEOWNERS NOTICE Kconfig";

/// Whether a word can be the path of a file.
fn is_path(word: &str) -> bool {
    if !word.contains(char::is_alphabetic)
        || word.starts_with("//")
        || word.starts_with("\\\\")
        || word.contains('\n')
    {
        return false;
    }
    let nested = word.contains(['/', '\\']);
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    if name.is_empty() {
        return false;
    }
    let extension = name
        .rsplit_once('.')
        .map(|(_, extension)| extension)
        .filter(|extension| extension.starts_with(char::is_alphabetic) && extension.chars().count() <= 12);
    match extension {
        _ if nested => true,
        Some(extension) => !HOSTS.contains(&extension),
        None => {
            NAMES.split(' ').any(|known| known == name)
                || (name.ends_with("file") && name.starts_with(char::is_uppercase))
        }
    }
}
