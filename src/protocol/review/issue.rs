//! A finding in JSON, whatever its fields are called.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::super::json::{self, Fields, Loose, Texts};
use super::super::{markdown, place, tag};
use crate::domain::{Confidence, RawFinding, Severity, Tag, Untrusted};
use crate::rules::consensus::UNTITLED;

/// Names of what is taken as the title, the best first.
const HEADS: [&str; 4] = ["title", "headline", "summary", "name"];

/// Names of what is taken as the text, the best first.
const BODIES: [&str; 11] = [
    "description",
    "body",
    "message",
    "text",
    "comment",
    "details",
    "detail",
    "explanation",
    "problem",
    "issue",
    "finding",
];

/// Names of fields whose texts say nothing of a finding.
const NO_TEXT: [&str; 9] = ["id", "type", "role", "status", "nonce", "model", "reviewer", "agent", "timestamp"];

/// The fields of a finding.
#[derive(Default)]
pub(super) struct IssueFields {
    severity: Loose,
    tag: Loose,
    /// What stands for a severity only where there is none.
    level: Loose,
    heads: Vec<(usize, String)>,
    bodies: Vec<(usize, String)>,
    /// The texts in fields of other names.
    others: Vec<String>,
    file: Loose,
    line: Loose,
    end_line: Loose,
    location: Located,
    category: Loose,
    suggestion: Loose,
    confidence: Loose,
    evidence: Loose,
    rule: Loose,
}

impl Fields for IssueFields {
    fn field<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        let texts = rank(&HEADS, name).map(|rank| (&mut self.heads, rank));
        let texts = texts.or_else(|| rank(&BODIES, name).map(|rank| (&mut self.bodies, rank)));
        if let Some((texts, rank)) = texts {
            if let Some(text) = map.next_value::<Texts>()?.joined() {
                texts.retain(|(other, _)| *other != rank);
                texts.push((rank, text));
            }
            return Ok(());
        }
        let field = match name {
            "severity" | "tag_raw" => &mut self.severity,
            "tag" => &mut self.tag,
            "priority" | "level" => &mut self.level,
            "file" | "path" | "filename" | "file_path" => &mut self.file,
            "line" | "start_line" | "line_number" => &mut self.line,
            "end_line" => &mut self.end_line,
            "location" => {
                self.location = map.next_value()?;
                return Ok(());
            }
            "category" => &mut self.category,
            "suggestion" | "fix" | "recommendation" => &mut self.suggestion,
            "confidence" => &mut self.confidence,
            "evidence" => &mut self.evidence,
            "rule" => &mut self.rule,
            _ if NO_TEXT.contains(&name) => return json::skip(map),
            // Any text is better than none.
            _ => {
                self.others.extend(map.next_value::<Texts>()?.joined());
                return Ok(());
            }
        };
        *field = map.next_value()?;
        Ok(())
    }
}

fn rank(names: &[&str], name: &str) -> Option<usize> {
    names.iter().position(|known| *known == name)
}

impl IssueFields {
    /// The fields of a finding that is a text only.
    pub(super) fn of_text(text: &str) -> Self {
        Self { bodies: vec![(0, text.to_owned())], ..Self::default() }
    }

    /// Whether a field of this name says something of a finding.
    pub(super) fn knows(name: &str) -> bool {
        const OTHERS: [&str; 14] = [
            "severity",
            "tag",
            "tag_raw",
            "priority",
            "level",
            "file",
            "path",
            "line",
            "location",
            "category",
            "suggestion",
            "confidence",
            "evidence",
            "rule",
        ];
        HEADS.contains(&name) || BODIES.contains(&name) || OTHERS.contains(&name)
    }

    pub(super) fn has_text(&self) -> bool {
        !self.heads.is_empty() || !self.bodies.is_empty()
    }

    pub(super) fn has_severity(&self) -> bool {
        [&self.severity, &self.tag, &self.level].into_iter().any(|word| word.word().is_some())
    }

    /// Whether it is a line of a log: a level and a message, but no place.
    pub(super) fn is_log_line(&self) -> bool {
        let level = self.severity.word().or_else(|| self.level.word());
        let has_place = self.file().is_some() || self.location.has_place();
        !has_place && level.is_some_and(|word| tag::is_log_level(&word))
    }

    pub(super) fn file(&self) -> Option<&str> {
        match &self.file {
            Loose::Text(file) => Some(file.trim()).filter(|file| !file.is_empty()),
            _ => None,
        }
    }

    /// The text of an object that is no finding itself.
    pub(super) fn summary(&self) -> Option<String> {
        let summary = self.heads.iter().find(|(rank, _)| HEADS[*rank] == "summary");
        summary.map(|(_, text)| text.clone())
    }

    pub(super) fn finding(self) -> RawFinding {
        let raw =
            self.severity.word().or_else(|| self.tag.word()).or_else(|| self.level.word()).unwrap_or_default();
        let tag = self.tag.word().and_then(|word| Tag::parse(&word)).or_else(|| Tag::parse(&raw));
        let is_silent = self.heads.is_empty() && self.bodies.is_empty();
        let others = if is_silent { self.others.into_iter().map(|text| (0, text)).collect() } else { self.bodies };
        let (title, body) = texts(self.heads, others);
        let (file, line, end_line) = self.location.or(self.file, self.line, self.end_line);
        let (line, end_line) = lines(&line, &end_line);
        RawFinding {
            severity: Severity { tag, raw },
            title: title.into(),
            body: body.into(),
            file: file.string(),
            line,
            end_line,
            category: self.category.string(),
            suggestion: self.suggestion.string().map(Untrusted::from),
            confidence: confidence(&self.confidence),
            evidence: self.evidence.texts().into_iter().map(Untrusted::from).collect(),
            rule: self.rule.string(),
        }
    }
}

/// The title and the text: the best name given to either, and the others below.
fn texts(mut heads: Vec<(usize, String)>, mut bodies: Vec<(usize, String)>) -> (String, String) {
    heads.sort();
    bodies.sort();
    let mut heads = heads.into_iter().map(|(_, text)| text);
    let head = heads.next();
    let text = bodies.into_iter().map(|(_, text)| text).chain(heads).collect::<Vec<_>>().join("\n\n");
    let (title, body) = match head {
        Some(title) => (markdown::fold(&title), text),
        None => title_of(&text),
    };
    if title.is_empty() { (UNTITLED.to_owned(), body) } else { (title, body) }
}

/// The first paragraph of a description, and the others.
fn title_of(description: &str) -> (String, String) {
    let text = description.trim();
    let (first, rest) = text.split_once("\n\n").unwrap_or((text, ""));
    (markdown::fold(first), markdown::trim_blank_lines(rest).to_owned())
}

/// A line is a number, a text with a number, or a range in a text. Zero, fractions and the like are none.
fn lines(line: &Loose, end: &Loose) -> (Option<u32>, Option<u32>) {
    let Some((line, range_end)) = line.word().and_then(|word| place::lines(&word)) else { return (None, None) };
    let end = end.word().and_then(|word| place::lines(&word)).map(|(end, _)| end).or(range_end);
    (Some(line), end.filter(|end| *end > line))
}

/// 0 to 100, absurd numbers clamped; a number between 0 and 1 is a share of one.
fn confidence(value: &Loose) -> Option<Confidence> {
    let number: f64 = value.word()?.trim_end_matches('%').trim_end().parse().ok().filter(|n: &f64| !n.is_nan())?;
    let percent = if number > 0.0 && number < 1.0 { number * 100.0 } else { number };
    Some(Confidence::clamped(percent.round() as i64))
}

/// Where a finding is, in one field: a place such as `app.py:12`, or an object with the fields of one.
#[derive(Default)]
struct Located {
    file: Loose,
    line: Loose,
    end_line: Loose,
}

impl Located {
    fn has_place(&self) -> bool {
        self.file.word().is_some()
    }

    /// The fields of their own, or else those of the location.
    fn or(self, file: Loose, line: Loose, end_line: Loose) -> (Loose, Loose, Loose) {
        if file.word().is_some() {
            (file, line, end_line)
        } else {
            (self.file, self.line.or(line), self.end_line.or(end_line))
        }
    }
}

impl<'de> Deserialize<'de> for Located {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LocatedVisitor)
    }
}

struct LocatedVisitor;

impl<'de> Visitor<'de> for LocatedVisitor {
    type Value = Located;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a place")
    }

    fn visit_str<E>(self, text: &str) -> Result<Located, E> {
        let (file, line) = text.trim().rsplit_once(':').filter(|(_, line)| place::lines(line).is_some()).unzip();
        let file = Loose::Text(file.unwrap_or(text.trim()).to_owned());
        Ok(Located {
            file,
            line: line.map(|line| Loose::Text(line.to_owned())).unwrap_or_default(),
            ..Located::default()
        })
    }

    fn visit_bool<E>(self, _: bool) -> Result<Located, E> {
        Ok(Located::default())
    }

    fn visit_u64<E>(self, line: u64) -> Result<Located, E> {
        Ok(Located { line: Loose::Number(line as f64), ..Located::default() })
    }

    fn visit_i64<E>(self, _: i64) -> Result<Located, E> {
        Ok(Located::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Located, E> {
        Ok(Located::default())
    }

    fn visit_unit<E>(self) -> Result<Located, E> {
        Ok(Located::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Located, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Located::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Located, A::Error> {
        let mut located = Located::default();
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "file" | "path" | "filename" | "file_path" => located.file = map.next_value()?,
                "line" | "start_line" | "line_number" => located.line = map.next_value()?,
                "end_line" => located.end_line = map.next_value()?,
                _ => json::skip(&mut map)?,
            }
        }
        Ok(located)
    }
}
