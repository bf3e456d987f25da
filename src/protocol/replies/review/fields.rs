//! Reads the fields of a finding in JSON. Models use different names for the same field, and the reader accepts
//! all these names.

use crate::domain::{
    Confidence, Cwe, DisputeId, DisputeNumber, RawFinding, RulingRef, Severity, Tag, Untrusted,
};
use crate::protocol::text::{LenientValue, location, markdown, tag, weakness};
use crate::rules::consensus::UNTITLED;

/// Names of fields that contain the title, in the order of preference.
pub(crate) const HEADS: [&str; 4] = ["title", "headline", "summary", "name"];

/// Names of fields that contain the description, in the order of preference.
#[rustfmt::skip]
pub(crate) const BODIES: [&str; 11] = [
    "description", "body", "message", "text", "comment", "details", "detail", "explanation", "problem", "issue",
    "finding",
];

/// Names of fields that contain the severity. If an object has several of these fields, the severity is read from
/// the last of these fields in the object.
const SEVERITY: &[&str] = &["severity", "tag_raw"];
const TAG: &[&str] = &["tag"];
const LEVEL: &[&str] = &["priority", "level"];
pub(crate) const FILE: &[&str] = &["file", "path", "filename", "file_path"];
pub(crate) const LINE: &[&str] = &["line", "start_line", "line_number"];
const END_LINE: &[&str] = &["end_line"];
const LOCATION: &[&str] = &["location"];
const CATEGORY: &[&str] = &["category"];
const SUGGESTION: &[&str] = &["suggestion", "fix", "recommendation"];
const REPLACEMENT: &[&str] = &["replacement", "suggested_replacement"];
const CONFIDENCE: &[&str] = &["confidence"];
const EVIDENCE: &[&str] = &["evidence"];
const RULE: &[&str] = &["rule"];
const INSISTS_ON: &[&str] = &["insists_on", "ruling", "dispute"];

/// Names of fields whose values never become part of the description.
const NO_TEXT: [&str; 9] = [
    "id",
    "type",
    "role",
    "status",
    "nonce",
    "model",
    "reviewer",
    "agent",
    "timestamp",
];

#[derive(Default)]
pub(crate) struct FindingFields<'a>(Vec<(&'a str, &'a LenientValue)>);

impl<'a> FindingFields<'a> {
    pub(crate) fn push(&mut self, name: &'a str, value: &'a LenientValue) {
        self.0.push((name, value));
    }

    fn get(&self, names: &[&str]) -> &'a LenientValue {
        let named = self.0.iter().rev().find(|(name, _)| names.contains(name));
        named.map_or(&LenientValue::Nothing, |(_, value)| value)
    }

    fn texts(&self, names: &[&str]) -> Vec<String> {
        names
            .iter()
            .filter_map(|name| self.get(&[name]).joined())
            .collect()
    }

    pub(crate) fn knows(name: &str) -> bool {
        let others = [
            SEVERITY,
            TAG,
            LEVEL,
            FILE,
            LINE,
            END_LINE,
            LOCATION,
            CATEGORY,
            weakness::NAMES,
            SUGGESTION,
            REPLACEMENT,
            CONFIDENCE,
            EVIDENCE,
            RULE,
            INSISTS_ON,
        ];
        HEADS.contains(&name)
            || BODIES.contains(&name)
            || others.iter().any(|names| names.contains(&name))
    }

    pub(crate) fn has_text(&self) -> bool {
        let is_text = |name: &&str| HEADS.contains(name) || BODIES.contains(name);
        self.0
            .iter()
            .any(|(name, value)| is_text(name) && value.joined().is_some())
    }

    pub(crate) fn has_severity(&self) -> bool {
        [SEVERITY, TAG, LEVEL]
            .into_iter()
            .any(|names| self.get(names).word().is_some())
    }

    pub(crate) fn is_log_line(&self) -> bool {
        let level = self.get(SEVERITY).word().or_else(|| self.get(LEVEL).word());
        let has_place = self.file().is_some() || located(self.get(LOCATION))[0].word().is_some();
        !has_place && level.is_some_and(|word| tag::is_log_level(&word))
    }

    pub(crate) fn file(&self) -> Option<&'a str> {
        match self.get(FILE) {
            LenientValue::Text(file) => Some(file.trim()).filter(|file| !file.is_empty()),
            _ => None,
        }
    }

    pub(crate) fn summary(&self) -> Option<String> {
        self.get(&["summary"]).joined()
    }

    pub(crate) fn finding(&self) -> RawFinding {
        let word = |names| self.get(names).word();
        let raw = word(SEVERITY)
            .or_else(|| word(TAG))
            .or_else(|| word(LEVEL))
            .unwrap_or_default();
        let tag = word(TAG)
            .and_then(|word| Tag::parse(&word))
            .or_else(|| Tag::parse(&raw));
        let heads = self.texts(&HEADS);
        let mut bodies = self.texts(&BODIES);
        if heads.is_empty() && bodies.is_empty() {
            let others = self
                .0
                .iter()
                .filter(|(name, _)| !Self::knows(name) && !NO_TEXT.contains(name));
            bodies = others.filter_map(|(_, value)| value.joined()).collect();
            bodies.sort();
        }
        let (title, mut body) = texts(heads, bodies);
        let stated = weakness::take(self.get(weakness::NAMES), &mut body);
        let [mut file, mut line, mut end] =
            [FILE, LINE, END_LINE].map(|names| self.get(names).clone());
        if file.word().is_none() {
            let [at, first, last] = located(self.get(LOCATION));
            file = at;
            line = if first.is_nothing() { line } else { first };
            end = if last.is_nothing() { end } else { last };
        }
        let (line, end_line) = lines(&line, &end);
        let [category, rule] = [CATEGORY, RULE].map(|names| self.get(names).string());
        let named = [category.as_deref(), rule.as_deref(), Some(&title)];
        let cwe = stated.or_else(|| named.into_iter().flatten().find_map(Cwe::find));
        RawFinding {
            cwe,
            places: Vec::new(),
            severity: Severity { tag, raw },
            title: title.into(),
            body: body.into(),
            file: file.string(),
            line,
            end_line,
            category,
            suggestion: self.get(SUGGESTION).string().map(Untrusted::from),
            replacement: self.get(REPLACEMENT).string().map(Untrusted::from),
            confidence: confidence(self.get(CONFIDENCE)),
            evidence: self
                .get(EVIDENCE)
                .texts()
                .into_iter()
                .map(Untrusted::from)
                .collect(),
            rule,
            insists_on: self.get(INSISTS_ON).word().and_then(|word| ruling(&word)),
        }
    }
}

/// Parses a reference to a ruling, such as `D12`. A string of 8 to 16 digits that begins with 0 is read as the
/// beginning of an id, because no dispute number begins with 0.
fn ruling(word: &str) -> Option<RulingRef> {
    let digits = word.trim().trim_start_matches(['D', 'd']);
    let is_id =
        (8..=16).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = digits
        .parse()
        .ok()
        .filter(|_| !(is_id && digits.starts_with('0')));
    let number = number.map(|number| RulingRef::Number(DisputeNumber(number)));
    number.or_else(|| is_id.then(|| RulingRef::Shared(DisputeId(digits.to_ascii_lowercase()))))
}

/// Returns the title and the description. The title is the first text in `heads`. If `heads` is empty, the title
/// is the first paragraph of `bodies`. The description consists of all texts except the title.
pub(crate) fn texts(heads: Vec<String>, bodies: Vec<String>) -> (String, String) {
    let mut heads = heads.into_iter();
    let head = heads.next();
    let text = bodies
        .into_iter()
        .chain(heads)
        .collect::<Vec<_>>()
        .join("\n\n");
    let (title, body) = match head {
        Some(title) => (markdown::fold(&title), text),
        None => {
            let text = text.trim();
            let (first, rest) = text.split_once("\n\n").unwrap_or((text, ""));
            (
                markdown::fold(first),
                markdown::trim_blank_lines(rest).to_owned(),
            )
        }
    };
    if title.is_empty() {
        (UNTITLED.to_owned(), body)
    } else {
        (title, body)
    }
}

/// Returns the numbers of the first and the last line. Line numbers that are zero or fractions are ignored. The
/// number of the last line is ignored if it is not greater than the number of the first line.
pub(crate) fn lines(line: &LenientValue, end: &LenientValue) -> (Option<u32>, Option<u32>) {
    let Some((line, range_end)) = line.word().and_then(|word| location::lines(&word)) else {
        return (None, None);
    };
    let end = end
        .word()
        .and_then(|word| location::lines(&word))
        .map(|(end, _)| end)
        .or(range_end);
    (Some(line), end.filter(|end| *end > line))
}

/// Reads a confidence in percent. A number between 0 and 1 counts as a fraction, so the function multiplies the
/// number by 100.
fn confidence(value: &LenientValue) -> Option<Confidence> {
    let number: f64 = value
        .word()?
        .trim_end_matches('%')
        .trim_end()
        .parse()
        .ok()
        .filter(|n: &f64| !n.is_nan())?;
    let percent = if number > 0.0 && number < 1.0 {
        number * 100.0
    } else {
        number
    };
    Some(Confidence::clamped(percent.round() as i64))
}

/// Reads a file, a first line and a last line from an object, or from a string such as `app.py:12`.
fn located(location: &LenientValue) -> [LenientValue; 3] {
    match location {
        LenientValue::Text(text) => {
            let (file, line) = text
                .trim()
                .rsplit_once(':')
                .filter(|(_, line)| location::lines(line).is_some())
                .unzip();
            let line = line
                .map(|line| LenientValue::Text(line.to_owned()))
                .unwrap_or_default();
            [
                LenientValue::Text(file.unwrap_or(text.trim()).to_owned()),
                line,
                LenientValue::Nothing,
            ]
        }
        LenientValue::Number(_) => [
            LenientValue::Nothing,
            location.clone(),
            LenientValue::Nothing,
        ],
        _ => [FILE, LINE, END_LINE].map(|names| location.get(names).clone()),
    }
}
