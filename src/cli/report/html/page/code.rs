//! Excerpts of the reviewed code and of cited code, with a limit on their total size.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::ops::RangeInclusive;

use minijinja::value::Value;

use crate::cli::report::html::environment::values;
use crate::cli::report::html::highlight::Highlighter;
use glee_protocol::text::printable;

/// The number of lines that an excerpt shows before and after the lines of a finding.
const AROUND: u32 = 3;

/// An excerpt shows at most this number of lines of a finding.
const LONGEST: u32 = 24;

/// An excerpt shows at most this number of bytes of a line.
const WIDEST: usize = 400;

/// The maximum size of all excerpts of a page, in bytes of code.
const MOST_BYTES: usize = 1 << 20;

/// The maximum number of lines that are parsed for a page.
const MOST_PARSED: u32 = 20_000;

/// A function that returns the content of a file. The arguments are the path of the file and the number of the
/// round.
pub(crate) type SourceOf<'a> = &'a dyn Fn(&str, u32) -> Option<String>;

/// A range of lines of a file, in the version of the file that one round reviewed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CodePlace {
    pub(crate) file: String,
    pub(crate) round: u32,
    pub(crate) line: u32,
    pub(crate) end_line: Option<u32>,
}

impl CodePlace {
    fn last(&self) -> u32 {
        self.end_line.unwrap_or(self.line).max(self.line)
    }

    fn shown(&self) -> RangeInclusive<u32> {
        let last = self.last().min(self.line.saturating_add(LONGEST - 1));
        self.line.saturating_sub(AROUND).max(1)..=last.saturating_add(AROUND)
    }
}

/// The highlighted lines of all excerpts of a page.
#[derive(Debug, Default)]
pub(crate) struct Excerpts {
    files: HashMap<(String, u32), BTreeMap<u32, String>>,
}

impl Excerpts {
    /// Reads an excerpt of the source code for each location in `places`. The caller must sort `places` by
    /// importance, the most important location first. When the excerpts reach their maximum total size, the
    /// remaining locations get no excerpt.
    pub(crate) fn of(places: &[CodePlace], source: SourceOf<'_>) -> Self {
        let mut texts: HashMap<(String, u32), Option<String>> = HashMap::new();
        let mut wanted: HashMap<(String, u32), Vec<RangeInclusive<u32>>> = HashMap::new();
        let mut order: Vec<(String, u32)> = Vec::new();
        let mut left = MOST_BYTES;
        for place in places {
            let key = (place.file.clone(), place.round);
            let text = texts
                .entry(key.clone())
                .or_insert_with(|| Some(shown(&source(&place.file, place.round)?)));
            let Some(text) = text.as_deref() else {
                continue;
            };
            let lines = place.shown();
            let skipped = *lines.start() as usize - 1;
            let number = lines.clone().count();
            let size: usize = text
                .lines()
                .skip(skipped)
                .take(number)
                .map(|line| line.len() + 40)
                .sum();
            let Some(rest) = left.checked_sub(size) else {
                break;
            };
            left = rest;
            let ranges = wanted.entry(key.clone()).or_default();
            if ranges.is_empty() {
                order.push(key);
            }
            ranges.push(lines);
        }
        let mut highlighter = Highlighter::new(MOST_PARSED);
        let mut files = HashMap::new();
        for key in order {
            let (Some(Some(text)), Some(mut ranges)) = (texts.get(&key), wanted.remove(&key))
            else {
                continue;
            };
            ranges.sort_by_key(|range| (*range.start(), Reverse(*range.end())));
            let lines = highlighter.lines(&key.0, text, &ranges);
            files.insert(key, lines);
        }
        Self { files }
    }

    /// Returns the excerpt of `place`. Returns `None` if the file does not contain the first line of `place`.
    /// Also returns `None` if the excerpts had reached their maximum total size.
    pub(crate) fn view(&self, place: &CodePlace) -> Option<Value> {
        let lines = self.files.get(&(place.file.clone(), place.round))?;
        lines.get(&place.line)?;
        let mut html = String::new();
        for (number, line) in lines.range(place.shown()) {
            let is_named = (place.line..=place.last()).contains(number);
            let mark = if is_named { " m" } else { "" };
            let _ = write!(
                html,
                "<span class=\"l{mark}\" data-n=\"{number}\">{line}\n</span>"
            );
        }
        let end = place.end_line.filter(|end| *end > place.line);
        let hidden = place
            .last()
            .saturating_sub(place.line.saturating_add(LONGEST - 1));
        let end = end.map_or_else(String::new, |end| format!("-{end}"));
        Some(values! {
            place => format!("{}:{}{end}", place.file, place.line),
            html => Value::from_safe_string(html),
            more => hidden,
        })
    }
}

/// Escapes a text for display, and shortens its long lines.
fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in text.lines() {
        let end = line.floor_char_boundary(WIDEST);
        shown.push_str(&printable::block(&line[..end]));
        shown.push_str(if end < line.len() { " …\n" } else { "\n" });
    }
    shown
}
