//! Writes untrusted text as Markdown for the pages of hosts such as GitHub. The text cannot add markup, HTML,
//! links or mentions: punctuation is escaped, and words that a host would link are shown as code. A `/` at the
//! beginning of a line is escaped, because GitLab executes such a line as a command.

/// A text with a maximum length. The caller adds the most important parts first. After the first part that does
/// not fit, no further part is added.
pub struct MarkupPage {
    pub text: String,
    /// The maximum number of characters.
    most: usize,
    is_full: bool,
}

impl MarkupPage {
    pub fn new(text: String, most: usize) -> Self {
        Self {
            text,
            most,
            is_full: false,
        }
    }

    pub fn add(&mut self, part: &str) -> bool {
        self.is_full |= self.text.chars().count() + part.chars().count() > self.most;
        if !self.is_full {
            self.text.push_str(part);
        }
        !self.is_full
    }

    /// Adds a heading and then items, until the next item does not fit. If the first item does not fit, adds
    /// nothing. Returns the number of added items.
    pub fn section(&mut self, heading: &str, items: impl Iterator<Item = String>) -> usize {
        let mut number = 0;
        for item in items {
            let item = if number == 0 {
                format!("\n### {heading}\n\n{item}")
            } else {
                item
            };
            if !self.add(&item) {
                break;
            }
            number += 1;
        }
        number
    }
}

/// Removes surrounding white space, and returns at most the first `most` characters of a text. If the text is
/// longer, ` …` follows these characters.
pub fn cut(text: &str, most: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

/// Indents all lines except the first line, so that the text is one item of a list.
pub fn indented(text: &str) -> String {
    text.replace('\n', "\n  ").replace("\n  \n", "\n\n")
}

/// Formats a text as a block of code. The fence is longer than any row of backticks in the text. A line that a
/// host could execute as a command gets a leading blank.
pub fn fenced(text: &str) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| {
            if is_command(line) {
                format!(" {line}")
            } else {
                line.to_owned()
            }
        })
        .collect();
    fenced_as("", &lines.join("\n"))
}

/// Whether the line looks like a command such as `/approve`, which GitLab or a bot on another host could
/// execute. GitLab finds commands without parsing Markdown. For GitLab, three backticks end a block of code,
/// even if the block's fence is longer.
pub fn is_command(line: &str) -> bool {
    line.strip_prefix('/')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// Formats a text as a block of code in a language, such as `suggestion`. Unlike [`fenced`], the function does
/// not escape commands, so the caller has to reject texts with a [command](is_command).
pub fn fenced_as(language: &str, text: &str) -> String {
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    format!("{fence}{language}\n{text}\n{fence}")
}

/// Formats a text as inline code, so that no part of the text is markup.
pub fn code(text: &str) -> String {
    let marks = "`".repeat(longest_run(text) + 1);
    let text = text.trim();
    let blank = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    match text {
        "" => String::new(),
        text => format!("{marks}{blank}{text}{blank}{marks}"),
    }
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Formats a text as paragraphs. Inline code remains inline code, and all other markup is escaped.
pub fn prose(text: &str) -> String {
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

/// Returns the position of the first row of exactly `run` backticks.
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

/// Adds inline code. A space separates the inline code from a preceding backtick, because adjacent backticks
/// would form one mark.
fn push_code(text: &str, out: &mut String) {
    if out.ends_with('`') {
        out.push(' ');
    }
    out.push_str(&code(text));
}

/// Whether a host turns the word into a link or a mention. Such a word is an address, a name after `@`, the number
/// of an issue, or the hash of a commit.
fn is_linked(word: &str) -> bool {
    let lower = word.to_lowercase();
    let mut numbers = lower.match_indices('#').chain(lower.match_indices("gh-"));
    let has_number = numbers
        .any(|(at, mark)| lower[at + mark.len()..].starts_with(|c: char| c.is_ascii_digit()));
    let hashes = lower.split(|c: char| !c.is_ascii_alphanumeric());
    let mut hashes =
        hashes.filter(|part| part.len() >= 7 && part.bytes().all(|byte| byte.is_ascii_hexdigit()));
    ["@", "://", "www.", "mailto:", "xmpp:"]
        .iter()
        .any(|mark| lower.contains(mark))
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

/// Formats Markdown as a cell of a table. Each vertical bar is replaced by a broken bar, because a vertical bar
/// would end the cell even in inline code.
pub fn cell(text: &str) -> String {
    text.replace("\\|", "¦")
        .replace('|', "¦")
        .replace('\n', " ")
}
