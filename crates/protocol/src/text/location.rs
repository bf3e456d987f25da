//! Finds a location such as `path:12-18`, or a list of locations such as `a.py:3, 7 and b.py:1`, in a line of prose.
//!
//! A location always has a line number. Ports, times, ratios and paths with a drive letter are not locations. A
//! word without a folder is a path only if the word looks like a file name. Each character of the text is examined
//! a bounded number of times.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use glee_model::domain::Location;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPlace {
    pub file: String,
    pub line: u32,
    pub end_line: Option<u32>,
    pub range: Range<usize>,
}

struct Lines {
    line: u32,
    end_line: Option<u32>,
    length: usize,
}

/// Glee searches only the first `HEAD` bytes of a text for paths with spaces.
const HEAD: usize = 4 << 10;

/// The paths that contain a space, a quote, a backslash or another character that separates words.
#[derive(Clone, Debug, Default)]
pub struct Paths(Vec<String>);

impl Paths {
    pub fn new<'a>(paths: impl IntoIterator<Item = &'a str>) -> Self {
        let mut odd: Vec<String> = paths
            .into_iter()
            .filter(|path| path.contains(is_boundary) || path.contains('\\'))
            .map(str::to_owned)
            .collect();
        odd.sort_by_key(|path| std::cmp::Reverse(path.len()));
        Self(odd)
    }

    /// Searches the text for locations with a path in `self`, and returns the first such location. If several
    /// paths in `self` begin at the same position, the function returns the longest path.
    fn find(&self, text: &str) -> Option<NamedPlace> {
        let head = &text[..text.floor_char_boundary(HEAD)];
        let slashes = head.replace('\\', "/");
        self.0
            .iter()
            .filter_map(|path: &String| {
                // If `path` contains no backslash, a slash in `path` also matches a backslash in the text.
                let head = if path.contains('\\') {
                    head
                } else {
                    slashes.as_str()
                };
                let starts = head.match_indices(path.as_str()).map(|(start, _)| start);
                starts
                    .filter(|start| may_begin(text, *start))
                    .find_map(|start| NamedPlace::at(text, start, path))
            })
            .min_by_key(|place| place.range.start)
    }

    /// Reads a location with a path in `self` at the position `start`.
    fn at(&self, text: &str, start: usize) -> Option<NamedPlace> {
        self.0
            .iter()
            .filter(|path: &&String| {
                let text = text.as_bytes().get(start..start + path.len());
                text.is_some_and(|text| {
                    text.iter().zip(path.bytes()).all(|(written, known)| {
                        *written == known || known == b'/' && *written == b'\\'
                    })
                })
            })
            .find_map(|path| NamedPlace::at(text, start, path))
    }
}

impl NamedPlace {
    pub fn location(&self) -> Location {
        Location {
            file: self.file.clone(),
            line: Some(self.line),
            end_line: self.end_line,
        }
    }

    fn at(text: &str, start: usize, file: &str) -> Option<Self> {
        let end = start + file.len();
        let Lines {
            line,
            end_line,
            length,
        } = lines_after_path(text, end)?;
        Some(Self {
            file: file.to_owned(),
            line,
            end_line,
            range: start..end + length,
        })
    }
}

/// Whether a path can begin at `start`. A path cannot begin inside a word or inside a longer path with spaces.
fn may_begin(text: &str, start: usize) -> bool {
    let before = &text[..start];
    let is_free = before
        .chars()
        .next_back()
        .is_none_or(|c| is_boundary(c) || matches!(c, '(' | '[' | '{' | ':' | '：'));
    (is_free || before.ends_with("./") && may_begin(text, start - 2)) && !is_continued(before)
}

/// Whether the text `before` possibly ends inside a path with spaces. For example, `dir/my ` is the beginning of
/// the path `dir/my file.py`.
fn is_continued(before: &str) -> bool {
    let Some(text) = before
        .strip_suffix(' ')
        .filter(|text| !text.ends_with(is_boundary))
    else {
        return false;
    };
    let word = text.rsplit(is_boundary).next().unwrap_or(text);
    let Some((_, name)) = word.rsplit_once(['/', '\\']) else {
        return false;
    };
    url(word).is_none()
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '~' | '+' | '&' | '@'))
}

pub(crate) fn find_of(text: &str, paths: &Paths) -> Option<NamedPlace> {
    match (paths.find(text), find(text)) {
        (Some(known), Some(found)) if found.range.end <= known.range.start => Some(found),
        (known, found) => known.or(found),
    }
}

/// Finds the first location in a text. Returns `None` if the path of this location is possibly the end of a longer
/// path with spaces.
pub fn find(text: &str) -> Option<NamedPlace> {
    first(text).filter(|place| !is_continued(&text[..place.range.start]))
}

fn first(text: &str) -> Option<NamedPlace> {
    let mut at = 0;
    while let Some(start) = text[at..]
        .find(|c| !is_boundary(c))
        .map(|skipped| at + skipped)
    {
        match word_at(text, start) {
            Ok(place) => return Some(place),
            Err(next) => at = next,
        }
    }
    None
}

/// Finds a location in the word that begins at `start`. If the word contains no location, returns the position at
/// which the search continues.
fn word_at(text: &str, start: usize) -> Result<NamedPlace, usize> {
    if let Some(code) = code_with_spaces(text, start) {
        if let Some(place) =
            path_with_spaces(code).and_then(|path| NamedPlace::at(text, start, path))
        {
            return Ok(place);
        }
        if drive_path(code).is_some() {
            return Err(start + code.len());
        }
    }
    let end = text[start..]
        .find(is_boundary)
        .map_or(text.len(), |length| start + length);
    let word = &text[start..end];
    // If a word contains a URL or a Windows path, only the text before the URL or the Windows path can contain
    // a location.
    let (candidates, next) = if let Some(scheme) = url(word) {
        let end =
            text[start..].find(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '<' | '>'));
        (scheme, end.map_or(text.len(), |length| start + length))
    } else if let Some(drive) = drive_path(word) {
        (drive, end_of_drive_path(text, end))
    } else {
        (word.len(), end)
    };
    in_word(text, start, start + candidates, candidates == word.len()).ok_or(next)
}

/// Finds the first location in a text. If a list of locations begins there, returns the other locations of the list,
/// too, and the range of the first location is the range of the list.
pub(crate) fn all_of(text: &str, paths: &Paths) -> (Option<NamedPlace>, Vec<Location>) {
    let mut first = find_of(text, paths);
    let places = first
        .as_mut()
        .map(|first| rest_of_list(text, paths, first))
        .unwrap_or_default();
    (first, places)
}

/// The text between two locations of a list.
static BETWEEN: LazyLock<Regex> = LazyLock::new(|| {
    let words = "(?i:and|und|et|y|as well as|sowie|also)(?: (?i:also|auch|at|in))?";
    let marks = r#"[`*"'\])）」』”’]*"#;
    let opening = r#"[`*"'\[(（「『“‘]*"#;
    pattern(&format!(
        r"{marks}\s*(?:[,;&+，、；]\s*(?:{words}\s)?|[(（]?{words}\s|[和与與及])\s*{opening}"
    ))
});

/// Matches what introduces line numbers without a path, such as `:7`, `#L7` or `lines 7-9`.
static LINES: LazyLock<Regex> = LazyLock::new(|| pattern(r":|#?L|(?i:lines?)[ \u{a0}]"));

/// A finding has at most this number of further places.
pub const MOST: usize = 1000;

/// Reads the rest of a list of locations that begins with `first`, as in `a.py:3, 7-9 and b.py:1`. Extends the range
/// of `first` to the end of the list, and returns the further locations of the list.
///
/// A number without a path is a line of the file before it only if the number cannot be a part of a sentence, as in
/// `a.py:3, 2 bugs`. In the middle of a sentence, only a list of three or more locations counts, because a sentence
/// about two places often describes a difference between the places.
pub(crate) fn rest_of_list(text: &str, paths: &Paths, first: &mut NamedPlace) -> Vec<Location> {
    let mut end = first.range.end;
    let mut file = first.file.clone();
    let mut are_lines = begins_lines_list(text, first);
    let mut bare = 0;
    // The numbers of the places and the position of the list's end, up to the last clear place.
    let mut places = Vec::new();
    let mut clear = (0, end);
    while places.len() < MOST
        && let Some(between) = BETWEEN.find(&text[end..])
    {
        let at = end + between.end();
        if let Some(place) = listed_at(text, at, paths) {
            end = place.range.end;
            file.clone_from(&place.file);
            are_lines = begins_lines_list(text, &place);
            places.push(place.location());
            clear = (places.len(), end);
            continue;
        }
        let mark = LINES.find(&text[at..]).map_or(0, |mark| mark.end());
        let Some(lines) = read(&HASH, &text[at + mark..]) else {
            break;
        };
        end = at + mark + lines.length;
        let is_marked = mark > 0 && !text[at..].starts_with('L');
        bare += usize::from(!is_marked);
        are_lines |= is_marked && text[at..at + mark].contains("lines");
        // The second number in `a.py:3,7` is possibly a column.
        let is_last = between.as_str() != "," && is_end(&text[end..]);
        if is_marked || are_lines || bare > 1 || lines.end_line.is_some() || is_last {
            clear = (places.len() + 1, end);
        }
        places.push(Location {
            file: file.clone(),
            line: Some(lines.line),
            end_line: lines.end_line,
        });
    }
    places.truncate(clear.0);
    if !is_list(text, first.range.start..clear.1, places.len()) {
        return Vec::new();
    }
    first.range.end = clear.1;
    let main = first.location();
    let mut further: Vec<Location> = Vec::new();
    for place in places {
        if place != main && !further.contains(&place) {
            further.push(place);
        }
    }
    further
}

/// Whether the words of a location show that several lines follow, as in `a.py (lines 3, 7 and 9)`.
fn begins_lines_list(text: &str, place: &NamedPlace) -> bool {
    let words = &text[place.range.start + place.file.len()..place.range.end];
    words.contains("lines") && place.end_line.is_none() && !words.ends_with([')', '）'])
}

/// Reads a location at exactly the position `at`.
fn listed_at(text: &str, at: usize, paths: &Paths) -> Option<NamedPlace> {
    let start = if text[at..].starts_with("./") {
        at + 2
    } else {
        at
    };
    let known = paths.at(text, start);
    known.or_else(|| {
        word_at(text, at)
            .ok()
            .filter(|place| place.range.start == at)
    })
}

/// Whether the text after a number shows that no word belongs to the number.
fn is_end(rest: &str) -> bool {
    let rest = rest.trim_start_matches(['`', '*', '"', '\'']);
    let after = rest.trim_start();
    after.is_empty()
        || after.starts_with([':', '：', ')', '）', ']', '|', '–', '—'])
        || after.starts_with("- ")
}

/// Whether the places in `range` state where the problem of the whole text is. `further` is the number of places after
/// the first place.
fn is_list(text: &str, range: Range<usize>, further: usize) -> bool {
    let before = text[..range.start].trim_end_matches(['`', '*', '"', '\'', '“', '‘', '「']);
    let is_set_off = before
        .trim_end()
        .ends_with(['(', '（', '[', '—', '–', '|', ':', '：'])
        || before.ends_with(" - ");
    !before.contains(char::is_alphanumeric)
        || further > 1
        || is_set_off && is_end(text[range.end..].trim_end_matches(['.', '。', '!']))
}

/// Reads a text that consists of a list of two or more locations. The first location is the first of the list.
pub(crate) fn whole_list(text: &str) -> Option<Vec<Location>> {
    let text = text.trim();
    let mut first = find(text).filter(|place| place.range.start == 0)?;
    let further = rest_of_list(text, &Paths::default(), &mut first);
    let is_whole = !further.is_empty() && first.range.end == text.len();
    is_whole.then(|| std::iter::once(first.location()).chain(further).collect())
}

/// Reads a text that consists of a list of line numbers, such as `3, 7-9`.
pub(crate) fn lines_list(text: &str) -> Vec<(u32, Option<u32>)> {
    let text = text.replace(" and ", ",");
    let all: Option<Vec<_>> = text.split([',', ';', '&']).map(lines).collect();
    all.unwrap_or_default()
}

/// Splits a location such as `app.py:12-18` into the path and the line numbers.
pub fn split(path: &str) -> Option<(&str, u32, Option<u32>)> {
    let (path, end) = path.rsplit_once([':', '：'])?;
    let (line, end_line) = lines(end)?;
    Some((path, line, end_line))
}

/// Parses line numbers such as `12`, `12-18`, `12:5` or `L12-L18`, without a path.
pub fn lines(text: &str) -> Option<(u32, Option<u32>)> {
    let text = text.trim();
    let (pattern, numbers) = text
        .strip_prefix('L')
        .map_or((&COLON, text), |numbers| (&HASH, numbers));
    let lines = read(pattern, numbers).filter(|lines| lines.length == numbers.len())?;
    Some((lines.line, lines.end_line))
}

fn is_boundary(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || "`\"'<>*|,;=–—，。、；！？「」『』【】《》（）“”‘’„«»".contains(c)
}

fn url(word: &str) -> Option<usize> {
    let Some(at) = word.find("://") else {
        return word
            .trim_start_matches(['(', '['])
            .starts_with("//")
            .then_some(0);
    };
    Some(
        at - word[..at]
            .bytes()
            .rev()
            .take_while(u8::is_ascii_alphanumeric)
            .count(),
    )
}

/// Returns the position at which a Windows path such as `C:\x` or `\\host\x` begins in a word.
fn drive_path(word: &str) -> Option<usize> {
    let bytes = word.as_bytes();
    let drive = bytes
        .windows(3)
        .position(|w| w[0].is_ascii_alphabetic() && w[1] == b':' && matches!(w[2], b'\\' | b'/'));
    match drive {
        Some(at) if at == 0 || !bytes[at - 1].is_ascii_alphanumeric() => Some(at),
        _ => word
            .trim_start_matches(['(', '['])
            .starts_with("\\\\")
            .then_some(0),
    }
}

/// Finds the end of a Windows path that possibly consists of two words, such as `C:\my dir\x.rs`. The first word
/// ends at `end`. The second word belongs to the path only if the second word contains a backslash.
fn end_of_drive_path(text: &str, end: usize) -> usize {
    let Some(rest) = text[end..].strip_prefix(' ') else {
        return end;
    };
    let length = rest.find(is_boundary).unwrap_or(rest.len());
    if rest[..length].contains('\\') {
        end + 1 + length
    } else {
        end
    }
}

fn code_with_spaces(text: &str, start: usize) -> Option<&str> {
    let (code, _) = text[..start]
        .ends_with('`')
        .then(|| text[start..].split_once('`'))??;
    code.contains(char::is_whitespace).then_some(code)
}

/// Returns the path in inline code such as `src/my file.rs:12`, if the path contains a space. Returns `None` for
/// code with a space before the first slash, such as `cat src/a.rs`, because this code is a command.
fn path_with_spaces(code: &str) -> Option<&str> {
    let path = code.split([':', '：']).next()?.trim_end();
    let folder = &path[..path.find(['/', '\\'])?];
    let (before, _) = path.rsplit_once(char::is_whitespace)?;
    let is_code = before.contains([
        '.', '=', '(', ')', '{', '}', '<', '>', '"', '|', ';', '*', ',',
    ]);
    let is_command = folder.contains(char::is_whitespace);
    (!is_command && !is_code && drive_path(code).is_none() && is_path(path)).then_some(path)
}

/// Finds the first location in `start..end`. The flag `whole` is true if the position `end` is the end of a word.
fn in_word(text: &str, start: usize, end: usize, whole: bool) -> Option<NamedPlace> {
    let word = &text[start..end];
    let mut from = 0;
    let marks = word
        .char_indices()
        .filter(|(_, c)| matches!(c, ':' | '：' | '#' | '（'))
        .map(|(at, c)| (at, Some(c)));
    for (at, mark) in marks.chain(whole.then_some((word.len(), None))) {
        if mark == Some('#') && !begins_lines(&word[at..]) {
            continue;
        }
        let lead = from + unbalanced(&word[from..at]);
        let path = &word[lead..at];
        let place = is_path(path)
            .then(|| NamedPlace::at(text, start + lead, path))
            .flatten();
        if place.is_some() {
            return place;
        }
        from = at + mark.map_or(0, char::len_utf8);
    }
    None
}

/// Whether the `#` at the beginning of a text introduces line numbers and is not part of a path.
fn begins_lines(text: &str) -> bool {
    text.strip_prefix("#L")
        .is_some_and(|lines| lines.starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns the position after the last unbalanced bracket. The text up to and including the unbalanced bracket
/// belongs to the surrounding sentence, not to the path.
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

/// Parses line numbers such as `#L12`, `:12` or ` (line 12)` after a path. The path ends at the position `at`.
fn lines_after_path(text: &str, at: usize) -> Option<Lines> {
    let rest = &text[at..];
    let closed = rest.trim_start_matches(['`', '*', '"', '\'']);
    let (lines, skipped) = if let Some(numbers) = rest.strip_prefix("#L") {
        (read(&HASH, numbers), 2)
    } else if let Some(numbers) = closed.strip_prefix([':', '：']) {
        (read(&COLON, numbers), rest.len() - numbers.len())
    } else {
        (worded_lines(closed), rest.len() - closed.len())
    };
    lines.map(|lines| Lines {
        length: lines.length + skipped,
        ..lines
    })
}

/// Matches line numbers such as `12`, `12-18`, `12:5` or `12:5-18:9` after a colon. Columns are ignored.
static COLON: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"([0-9]+)[:：][0-9]+(?:[-–]([0-9]+)[:：][0-9]+|[-–][0-9]+)?|([0-9]+)(?:[-–]([0-9]+))?")
});

/// Matches line numbers such as `12`, `12-L18`, `12-18` or `12C5-L18C9` after `#L`.
static HASH: LazyLock<Regex> =
    LazyLock::new(|| pattern("([0-9]+)(?:C[0-9]+)?(?:[-–]L?([0-9]+))?(?:C[0-9]+)?"));

/// Matches line numbers in words, such as ` (line 12)`, `, lines 12-18`, ` at line 12`, ` L12` or `（12行目）`.
static WORDED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:\s*[(（]\s*|,?\s+(?:at |on )?)(?:(?i:lines?:?)[ \u{a0}]|L)([0-9]+)(?:[-–]L?([0-9]+))?|\s*[(（]\s*第?([0-9]+)(?:[-–~〜]([0-9]+))?行目?",
    )
});

fn pattern(text: &str) -> Regex {
    Regex::new(&format!("^(?:{text})")).expect("a regular expression")
}

fn worded_lines(text: &str) -> Option<Lines> {
    let lines = read(&WORDED, text)?;
    let is_closed = text.trim_start().starts_with(['(', '（']);
    let bracket = text[lines.length..]
        .chars()
        .next()
        .filter(|c| is_closed && matches!(c, ')' | '）'));
    Some(Lines {
        length: lines.length + bracket.map_or(0, char::len_utf8),
        ..lines
    })
}

/// Reads line numbers at the beginning of a text. The field `end_line` is set only for an ascending range.
fn read(pattern: &Regex, text: &str) -> Option<Lines> {
    let found = pattern.captures(text)?;
    let mut numbers = found
        .iter()
        .skip(1)
        .flatten()
        .map(|number| number.as_str().parse().ok());
    let line = numbers.next()?.filter(|line| *line > 0)?;
    let end_line = numbers.next().flatten().filter(|end| *end > line);
    let length = found.get(0)?.end();
    may_end(&text[length..]).then_some(Lines {
        line,
        end_line,
        length,
    })
}

/// Whether a number can be a line number. `rest` is the text after the number. The texts `12abc`, `12/x` and
/// `12.5` contain no line numbers.
fn may_end(rest: &str) -> bool {
    let mut next = rest.chars();
    match next.next() {
        Some(c) if c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '\\') => false,
        Some('.' | ':' | '-') => !next.next().is_some_and(|c| c.is_ascii_digit()),
        _ => true,
    }
}

/// Top-level domains. A word that ends with a top-level domain is a host, and the number after the host is a port.
const HOSTS: [&str; 7] = ["com", "net", "org", "io", "example", "local", "internal"];

/// File names without an extension that are recognised as paths. In addition, every name that begins with a
/// capital letter and ends with `file` is recognised, for example `Dockerfile`.
const NAMES: &str =
    "makefile justfile BUILD WORKSPACE LICENSE README CHANGELOG CODEOWNERS NOTICE Kconfig";

fn is_path(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let is_none = name.is_empty()
        || word.starts_with("//")
        || word.starts_with("\\\\")
        || word.contains('\n');
    if is_none || !word.contains(char::is_alphabetic) {
        return false;
    }
    let extension = name
        .rsplit_once('.')
        .map(|(_, extension)| extension)
        .filter(|extension| {
            extension.starts_with(char::is_alphabetic) && extension.chars().count() <= 12
        });
    match extension {
        _ if name.len() < word.len() => true,
        Some(extension) => !HOSTS.contains(&extension),
        None => {
            let is_file = name.ends_with("file") && name.starts_with(char::is_uppercase);
            is_file || NAMES.split(' ').any(|known| known == name)
        }
    }
}
