//! Recognises code fences, quotes, horizontal rules, list markers, headings and tables in an answer, line by line.
//!
//! Only the parts of Markdown that delimit findings are recognised. A fence that is never closed extends to the end
//! of the text.

use glee_model::domain::fold;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    Blank,
    FenceOpen,
    Code,
    FenceClose,
    Quote,
    Rule,
    /// The line `====` under a heading.
    Underline,
    /// The line `|---|:-:|` under a table's header.
    Delimiter,
    Heading,
    Text,
}

impl LineKind {
    pub fn is_prose(self) -> bool {
        matches!(self, Self::Text | Self::Heading)
    }
}

#[derive(Debug, Default)]
pub struct Structure {
    fence: Option<Fence>,
}

#[derive(Clone, Copy, Debug)]
pub struct Fence {
    mark: char,
    length: usize,
    indent: usize,
}

impl Structure {
    pub(crate) fn in_fence(&self) -> bool {
        self.fence.is_some()
    }

    pub fn classify(&mut self, line: &str) -> LineKind {
        if let Some(fence) = self.fence {
            if fence.is_closed_by(line) {
                self.fence = None;
                return LineKind::FenceClose;
            }
            return LineKind::Code;
        }
        let text = line.trim();
        let indent = indent(line);
        if text.is_empty() {
            LineKind::Blank
        } else if text.starts_with('>') {
            LineKind::Quote
        } else if indent < 4 && is_rule(text) {
            LineKind::Rule
        } else if text.bytes().all(|byte| byte == b'=') {
            LineKind::Underline
        } else if is_delimiter(text) {
            LineKind::Delimiter
        } else if let Some(fence) = Fence::opened_by(line) {
            self.fence = Some(fence);
            LineKind::FenceOpen
        } else if indent < 4 && heading(text).is_some() {
            LineKind::Heading
        } else {
            LineKind::Text
        }
    }
}

impl Fence {
    /// Returns the code fence that a line opens. A fence can open after list markers. If further backticks follow
    /// on the line, the line begins with inline code and opens no fence.
    pub fn opened_by(line: &str) -> Option<Self> {
        let text = peel(line).rest;
        let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = text.trim_start_matches(mark);
        let length = text.len() - info.len();
        let opens = length >= 3 && !(mark == '`' && info.contains('`'));
        opens.then(|| Self {
            mark,
            length,
            indent: indent(line) + (line.trim_start().len() - text.len()),
        })
    }

    /// The line that closes a fence consists of the fence's character, repeated at least as often as in the
    /// opening line.
    pub(crate) fn is_closed_by(self, line: &str) -> bool {
        let text = line.trim();
        text.len() >= self.length
            && text.chars().all(|c| c == self.mark)
            && indent(line) < self.indent + 4
    }
}

/// The width of the white space before a line's text. A tab advances to the next multiple of four.
fn indent(line: &str) -> usize {
    let blanks = line.chars().take_while(|c| c.is_whitespace());
    blanks.fold(0, |column, c| {
        if c == '\t' {
            (column / 4 + 1) * 4
        } else {
            column + 1
        }
    })
}

fn is_rule(text: &str) -> bool {
    let Some(mark) = text.chars().next().filter(|c| matches!(c, '-' | '*' | '_')) else {
        return false;
    };
    text.chars().all(|c| c == mark || c.is_whitespace())
        && text.chars().filter(|c| *c == mark).count() >= 3
}

fn is_delimiter(text: &str) -> bool {
    text.contains('|')
        && text.contains('-')
        && text
            .bytes()
            .all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t'))
}

fn heading(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches('#');
    let level = text.len() - rest.len();
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with(char::is_whitespace)) {
        return None;
    }
    // Only a `#` after a space closes a heading. In `## C#`, the last `#` is part of the text.
    let open = rest.trim_end().trim_end_matches('#');
    Some(if open.ends_with(char::is_whitespace) {
        open
    } else {
        rest
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Peeled<'a> {
    pub rest: &'a str,
    pub listed: bool,
}

/// Removes any number of list markers (`-` `*` `+` `•`, `1.`, `1)`) and heading marks from a line.
pub(crate) fn peel(line: &str) -> Peeled<'_> {
    let mut peeled = Peeled {
        rest: line.trim(),
        listed: false,
    };
    loop {
        if let Some(rest) = list_marker(peeled.rest) {
            peeled = Peeled {
                rest: rest.trim_start(),
                listed: true,
            };
        } else if let Some(rest) = heading(peeled.rest) {
            peeled.rest = rest.trim();
        } else {
            return peeled;
        }
    }
}

/// Like [`peel`], but also removes emphasis before a list marker, as in `**1. [MUST] a bold line**`.
pub(crate) fn peel_item(line: &str) -> Peeled<'_> {
    let peeled = peel(line);
    let inner = peel(peeled.rest.trim_start_matches(['*', '_']));
    if inner.listed { inner } else { peeled }
}

fn list_marker(text: &str) -> Option<&str> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = match digits {
        0 => text.strip_prefix(['-', '*', '+', '•'])?,
        1..=9 => text[digits..].strip_prefix(['.', ')'])?,
        _ => return None,
    };
    rest.starts_with(char::is_whitespace).then_some(rest)
}

pub(crate) fn table_row(line: &str) -> Option<(&str, &str)> {
    let mut cells = Cells(Some(line.trim().strip_prefix('|')?));
    let first = cells.next()?;
    Some((first.trim(), cells.0.unwrap_or_default()))
}

pub(crate) fn join_cells(row: &str) -> String {
    let mut cells: Vec<_> = Cells(Some(row))
        .map(|cell| cell.trim().replace("\\|", "|"))
        .collect();
    while cells.pop_if(|cell| cell.is_empty()).is_some() {}
    cells.join(" | ")
}

struct Cells<'a>(Option<&'a str>);

impl<'a> Iterator for Cells<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let row = self.0?;
        let end = cell_end(row);
        self.0 = end.map(|end| &row[end + 1..]);
        Some(&row[..end.unwrap_or(row.len())])
    }
}

/// Returns the position of the `|` that ends a cell. A `|` in inline code belongs to the code, as reviewers write it.
fn cell_end(row: &str) -> Option<usize> {
    let bytes = row.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        at += match bytes[at] {
            b'|' => return Some(at),
            b'\\' => 2,
            b'`' => row[at + 1..].find('`').map_or(1, |length| length + 2),
            _ => 1,
        };
    }
    None
}

/// Removes the asterisks of emphasis and the backticks of inline code, and replaces white space by single spaces.
pub fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['`', '*']) {
        let (before, marked) = rest.split_at(at);
        shown.push_str(before);
        let mark = if marked.starts_with('`') { '`' } else { '*' };
        let after = marked.trim_start_matches(mark);
        let run = &marked[..marked.len() - after.len()];
        rest = after;
        if mark == '*' {
            if !is_emphasis(shown.chars().next_back(), after.chars().next()) {
                shown.push_str(run);
            }
        } else if let Some(end) = code_end(after, run) {
            shown.push_str(&after[..end]);
            rest = &after[end + run.len()..];
        }
    }
    shown.push_str(rest);
    fold(&shown)
}

fn is_emphasis(left: Option<char>, right: Option<char>) -> bool {
    let is_space = |c: Option<char>| c.is_none_or(char::is_whitespace);
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    !(is_space(left) && is_space(right) || is_word(left) && is_word(right))
}

/// Returns the position of the first row of backticks in `text`. Returns `None` if this row and the parameter
/// `run` have different lengths. The function examines no further row, so that the function `plain` takes linear
/// time.
fn code_end(text: &str, run: &str) -> Option<usize> {
    let at = text.find('`')?;
    let after = text[at..].trim_start_matches('`');
    (text.len() - at - after.len() == run.len()).then_some(at)
}

pub fn dedent(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let Some(first) = lines.iter().position(|line| !line.is_empty()) else {
        return String::new();
    };
    let last = lines
        .iter()
        .rposition(|line| !line.is_empty())
        .unwrap_or(first);
    let lines = &mut lines[first..=last];
    let shared = lines
        .iter()
        .filter(|line| !line.is_empty())
        .map(|line| indentation(line))
        .min()
        .unwrap_or(0);
    lines
        .iter_mut()
        .for_each(|line| *line = line.get(shared..).unwrap_or_default());
    lines.join("\n")
}

/// The number of blanks and tabs at the beginning of a line.
pub(crate) fn indentation(line: &str) -> usize {
    line.bytes()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count()
}

pub(crate) fn trim_blank_lines(text: &str) -> &str {
    let blank = text.len() - text.trim_start().len();
    let start = text[..blank].rfind('\n').map_or(0, |at| at + 1);
    text[start..].trim_end()
}
