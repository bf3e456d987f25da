//! Writes untrusted text as Markdown for the pages of forges. The text cannot add markup, HTML, links or
//! mentions: punctuation is escaped, and words that a forge would link are shown as code. A line cannot begin
//! with `/`, because GitLab executes such lines as commands.

/// A text with a maximum length. After the first part that does not fit, no further part is added, so that the
/// parts that are left out are less important than the parts that are included.
pub(crate) struct MarkupPage {
    pub(crate) text: String,
    /// The maximum number of characters.
    most: usize,
    is_full: bool,
}

impl MarkupPage {
    pub(crate) fn new(text: String, most: usize) -> Self {
        Self { text, most, is_full: false }
    }

    pub(crate) fn add(&mut self, part: &str) -> bool {
        self.is_full |= self.text.chars().count() + part.chars().count() > self.most;
        if !self.is_full {
            self.text.push_str(part);
        }
        !self.is_full
    }

    /// Adds the items that fit, below a heading if at least one item fits. Returns the number of items.
    pub(crate) fn section(&mut self, heading: &str, items: impl Iterator<Item = String>) -> usize {
        let mut number = 0;
        for item in items {
            let item = if number == 0 { format!("\n### {heading}\n\n{item}") } else { item };
            if !self.add(&item) {
                break;
            }
            number += 1;
        }
        number
    }
}

/// The first `most` characters, followed by `…` if the text is longer.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

/// Puts the lines after the first one below an item of a list.
pub(crate) fn indented(text: &str) -> String {
    text.replace('\n', "\n  ").replace("\n  \n", "\n\n")
}

/// A block of code. Its fence is longer than any row of backticks in the text. A line that a forge could execute as a
/// command gets a space in front.
pub(crate) fn fenced(text: &str) -> String {
    let lines: Vec<String> =
        text.split('\n').map(|line| if is_command(line) { format!(" {line}") } else { line.to_owned() }).collect();
    fenced_as("", &lines.join("\n"))
}

/// Whether GitLab, or a bot of another forge, could execute the line as a command, such as `/approve`. GitLab does not parse
/// Markdown to find commands: it recognises the end of a block of code by three backticks, whatever its fence.
pub(crate) fn is_command(line: &str) -> bool {
    line.strip_prefix('/').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// A block of code in a language, such as `suggestion`. The text stays as it is, so no line of it is allowed to be a
/// command ([`is_command`]).
pub(crate) fn fenced_as(language: &str, text: &str) -> String {
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    format!("{fence}{language}\n{text}\n{fence}")
}

/// Text in a line as code, in which nothing is markup.
pub(crate) fn code(text: &str) -> String {
    let (marks, text) = ("`".repeat(longest_run(text) + 1), text.trim());
    let blank = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    match text {
        "" => String::new(),
        text => format!("{marks}{blank}{text}{blank}{marks}"),
    }
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Text as paragraphs. Spans of code stay, all other markup is shown as it is written.
pub(crate) fn prose(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() {
            if !out.is_empty() && !out.ends_with("\n\n") {
                out.push_str("\n\n");
            }
            continue;
        }
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        inline(line, &mut out);
    }
    out.trim_end().to_owned()
}

fn inline(line: &str, out: &mut String) {
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let (before, from) = rest.split_at(start);
        words(before, out);
        let run = from.len() - from.trim_start_matches('`').len();
        let (marks, after) = from.split_at(run);
        match closing(after, run) {
            Some(end) if !after[..end].trim().is_empty() => {
                push_code(&after[..end], out);
                rest = &after[end + run..];
            }
            _ => {
                escaped(marks, out);
                rest = after;
            }
        }
    }
    words(rest, out);
}

/// The position of a row of exactly `run` backticks.
fn closing(text: &str, run: usize) -> Option<usize> {
    let mut at = 0;
    loop {
        let start = at + text[at..].find('`')?;
        let length = text[start..].len() - text[start..].trim_start_matches('`').len();
        if length == run {
            return Some(start);
        }
        at = start + length;
    }
}

fn words(text: &str, out: &mut String) {
    for part in text.split_inclusive(' ') {
        let word = part.trim_end_matches(' ');
        if is_linked(word) {
            push_code(word, out);
        } else {
            escaped(word, out);
        }
        out.push_str(&part[word.len()..]);
    }
}

/// Adds a span of code. Backticks that touch the span would become a part of its marks.
fn push_code(text: &str, out: &mut String) {
    if out.ends_with('`') {
        out.push(' ');
    }
    out.push_str(&code(text));
}

/// Whether a renderer or a forge turns the word into a link or a mention: addresses, names after `@`, numbers of
/// issues, and hashes of commits.
fn is_linked(word: &str) -> bool {
    let lower = word.to_lowercase();
    let mut numbers = lower.match_indices('#').chain(lower.match_indices("gh-"));
    let has_number = numbers.any(|(at, mark)| lower[at + mark.len()..].starts_with(|c: char| c.is_ascii_digit()));
    let hashes = lower.split(|c: char| !c.is_ascii_alphanumeric());
    let mut hashes = hashes.filter(|part| part.len() >= 7 && part.bytes().all(|byte| byte.is_ascii_hexdigit()));
    ["@", "://", "www.", "mailto:", "xmpp:"].iter().any(|mark| lower.contains(mark))
        || has_number
        || hashes.any(|hash| hash.contains(|c: char| c.is_ascii_digit()))
}

fn escaped(word: &str, out: &mut String) {
    let starts_line = out.is_empty() || out.ends_with('\n');
    let digits = word.len() - word.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    for (at, c) in word.char_indices() {
        let is_marker = starts_line
            && (at == 0 && matches!(c, '-' | '+' | '=' | '/')
                || at == digits && digits > 0 && matches!(c, '.' | ')'));
        let is_markup = matches!(
            c,
            '\\' | '`'
                | '*'
                | '_'
                | '{'
                | '}'
                | '['
                | ']'
                | '<'
                | '>'
                | '('
                | ')'
                | '#'
                | '!'
                | '|'
                | '~'
                | '$'
                | '&'
        );
        if is_marker || is_markup {
            out.push('\\');
        }
        out.push(c);
    }
}

/// Markdown for a cell of a table. A vertical bar would end the cell, even in a span of code and after an even
/// number of backslashes, so each bar is replaced by a broken bar.
pub(crate) fn cell(text: &str) -> String {
    text.replace("\\|", "¦").replace('|', "¦").replace('\n', " ")
}
