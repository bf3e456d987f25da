//! `--format markdown`: a report for a comment or a job summary. Text from agents and files cannot add markup,
//! links or mentions, because the report escapes punctuation. If a forge would turn a word into a link, the
//! report shows the word as code.

use crate::cli::report::formats::entry::{self, Entry, ReportedState};
use crate::cli::report::formats::gaps;
use crate::cli::report::text;
use crate::cli::style::count;
use crate::domain::Outcome;

/// The maximum number of characters of the report. GitHub allows 65,536 characters in a comment.
const MOST: usize = 65_000;
/// The number of characters that are reserved for the sentence about omitted findings.
const RESERVED: usize = 200;
/// The maximum number of characters of a title, a path or a list of names.
const TITLE: usize = 300;
/// The maximum number of characters of any other text of an agent.
const TEXT: usize = 1_500;

pub(crate) fn render(outcome: &Outcome) -> String {
    let mut page = Page { text: format!("## Glee: {}\n\n", prose(&text::conclusion(outcome))), is_full: false };
    let entries = entry::all(outcome);
    let number = |state| entries.iter().filter(|entry| entry.reported_state() == state).count();
    page.add(&format!(
        "{}: {} mandatory and open, {} optional, {} fixed, {} dismissed. Run {}, {} reviewed.\n",
        count(entries.len(), "finding"),
        number(ReportedState::Mandatory),
        number(ReportedState::Optional),
        number(ReportedState::Fixed),
        number(ReportedState::Dismissed),
        code(outcome.run.short()),
        count(outcome.proof.covered.len(), "file"),
    ));
    let gaps = gaps::all(outcome);
    page.section("Not reviewed", gaps.iter().map(|gap| format!("- {}\n", prose(&cut(&gap.text, TEXT)))));
    let mut written = 0;
    for (heading, state) in [
        ("Mandatory and open", ReportedState::Mandatory),
        ("Optional", ReportedState::Optional),
        ("Fixed", ReportedState::Fixed),
        ("Dismissed", ReportedState::Dismissed),
    ] {
        let of = entries.iter().filter(|entry| entry.reported_state() == state);
        written += page.section(heading, of.map(|entry| item(entry, outcome)));
    }
    let left_out = entries.len() - written;
    if left_out > 0 {
        page.text.push_str(&format!(
            "\n{} left out, because the report would be longer than {MOST} characters.\n",
            if left_out == 1 { "1 finding is".to_owned() } else { format!("{} are", count(left_out, "finding")) }
        ));
    }
    page.text
}

struct Page {
    text: String,
    /// Whether a part did not fit into the report. After the first part that does not fit, no part is added, so
    /// that all omitted parts are less important than the included parts.
    is_full: bool,
}

impl Page {
    fn add(&mut self, part: &str) -> bool {
        self.is_full |= self.text.chars().count() + part.chars().count() + RESERVED > MOST;
        if !self.is_full {
            self.text.push_str(part);
        }
        !self.is_full
    }

    /// Adds the items that fit, below a heading. Adds no heading if no item fits. Returns the number of added
    /// items.
    fn section(&mut self, heading: &str, items: impl Iterator<Item = String>) -> usize {
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

fn item(entry: &Entry<'_>, outcome: &Outcome) -> String {
    let place = entry.path().map(|path| match entry.lines() {
        Some((first, last)) if last > first => format!("{path}:{first}-{last}"),
        Some((first, _)) => format!("{path}:{first}"),
        None => path,
    });
    let place = place.map(|place| format!(" {}", code(&cut(&place, TITLE)))).unwrap_or_default();
    let (severity, id) = (prose(&cut(&entry.severity(), 40)), entry.id());
    let mut text = format!("- **{severity}** {id}{place} {}\n", prose(&cut(&entry.title(), TITLE)));
    let by = prose(&cut(&entry.raised_by().join(", "), TITLE));
    let reason = prose(&cut(&entry.reason(outcome), TEXT));
    if !entry.is_open() {
        text.push_str(&format!("\n  {}\n", indented(&reason)));
        return text;
    }
    let body = prose(&cut(&entry::block(&entry.raw().body), TEXT));
    if !body.is_empty() {
        text.push_str(&format!("\n  {}\n", indented(&body)));
    }
    if let Some(suggestion) = &entry.raw().suggestion {
        text.push_str(&format!("\n  {}\n", indented(&fenced(&cut(&entry::block(suggestion), TEXT)))));
    }
    text.push_str(&format!("\n  raised by {by}; {}\n", indented(&reason)));
    text
}

fn cut(text: &str, most: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

/// Indents all lines after the first line, so that the lines belong to the list item above.
fn indented(text: &str) -> String {
    text.replace('\n', "\n  ").replace("\n  \n", "\n\n")
}

/// Formats a text as a block of code. The delimiters have more backticks than any sequence of backticks in the
/// text.
fn fenced(text: &str) -> String {
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    format!("{fence}\n{text}\n{fence}")
}

/// Formats a text within a line as code, so that no character of the text is markup.
fn code(text: &str) -> String {
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

/// Formats a text as paragraphs. Text between backticks stays code, and all other markup is escaped.
fn prose(text: &str) -> String {
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

/// Returns the position of the first sequence of exactly `run` backticks.
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

/// Adds a text as inline code in Markdown. A blank separates the code from a preceding backtick, because the
/// backtick would become a part of the delimiter.
fn push_code(text: &str, out: &mut String) {
    if out.ends_with('`') {
        out.push(' ');
    }
    out.push_str(&code(text));
}

/// Whether a Markdown renderer or a forge turns a word into a link or a mention. These words are addresses,
/// names after `@`, issue numbers and commit hashes.
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
            && (at == 0 && matches!(c, '-' | '+' | '=') || at == digits && digits > 0 && matches!(c, '.' | ')'));
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
