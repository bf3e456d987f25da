//! The JSON forms of a review: a `review_result` with its payload, or a list of findings.

use serde::de::MapAccess;

use super::super::json::{self, Fields, List, Loose, Nested};
use super::super::{markdown, place};
use super::draft;
use crate::domain::{Confidence, RawFinding, Severity, Tag, Untrusted};

/// A review in JSON.
#[derive(Debug)]
pub(super) struct JsonResult {
    pub(super) findings: Vec<RawFinding>,
    /// How many findings there are, also those that are not kept.
    pub(super) count: u64,
    pub(super) nonce: Option<String>,
    pub(super) verdict: Option<String>,
    pub(super) summary: Option<String>,
}

impl JsonResult {
    /// Whether the verdict asks for something. A word that is not known to approve does: nothing goes green because
    /// it could not be read.
    pub(super) fn objects(&self) -> bool {
        let Some(verdict) = &self.verdict else { return false };
        let word: String = verdict.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        !APPROVALS.contains(&word.as_str())
    }
}

/// Verdicts that ask for nothing; `approved` is the protocol's, the others are what is said instead.
const APPROVALS: [&str; 16] = [
    "approved",
    "approve",
    "accepted",
    "accept",
    "pass",
    "passed",
    "lgtm",
    "ok",
    "okay",
    "clean",
    "good",
    "looksgood",
    "none",
    "noissues",
    "noconcerns",
    "nofindings",
];

/// Reads a review; `None` if the object is none.
pub(super) fn read(bytes: &[u8]) -> Option<JsonResult> {
    let Review { kind, findings, payload, nonce, verdict, summary } = json::object(bytes)?;
    let (list, verdict, summary, nonce) = match (payload, findings) {
        (Some(Nested(payload)), _) if kind.word().as_deref() == Some("review_result") => {
            let list = payload.issues.or_else(|| payload.verdict.word().map(|_| List::default()))?;
            let nonce = nonce.word().or_else(|| payload.nonce.word());
            (list, payload.verdict, payload.summary, nonce)
        }
        (_, Some(findings)) => (findings, verdict, summary, nonce.word()),
        (_, None) => return None,
    };
    Some(JsonResult {
        count: list.count,
        findings: list.items.into_iter().map(|Issue(finding)| finding).collect(),
        nonce,
        verdict: verdict.string(),
        summary: summary.string(),
    })
}

#[derive(Default)]
struct Review {
    kind: Loose,
    findings: Option<List<Issue>>,
    payload: Option<Nested<Payload>>,
    nonce: Loose,
    verdict: Loose,
    summary: Loose,
}

impl Fields for Review {
    fn field<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "type" => self.kind = map.next_value()?,
            "findings" => self.findings = map.next_value()?,
            "payload" => self.payload = map.next_value()?,
            "nonce" => self.nonce = map.next_value()?,
            "verdict" => self.verdict = map.next_value()?,
            "summary" => self.summary = map.next_value()?,
            _ => json::skip(map)?,
        }
        Ok(())
    }
}

#[derive(Default)]
struct Payload {
    issues: Option<List<Issue>>,
    nonce: Loose,
    verdict: Loose,
    summary: Loose,
}

impl Fields for Payload {
    fn field<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "issues" | "findings" => self.issues = map.next_value()?,
            "nonce" => self.nonce = map.next_value()?,
            "verdict" => self.verdict = map.next_value()?,
            "summary" => self.summary = map.next_value()?,
            _ => json::skip(map)?,
        }
        Ok(())
    }
}

/// A finding, built up field by field.
struct Issue(RawFinding);

#[derive(Default)]
struct IssueFields {
    severity: Loose,
    tag: Loose,
    title: Loose,
    description: Loose,
    file: Loose,
    line: Loose,
    end_line: Loose,
    category: Loose,
    suggestion: Loose,
    confidence: Loose,
    evidence: Loose,
    rule: Loose,
}

impl Fields for IssueFields {
    fn field<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        let field = match name {
            "severity" | "tag_raw" => &mut self.severity,
            "tag" => &mut self.tag,
            "title" => &mut self.title,
            "description" | "body" => &mut self.description,
            "file" | "path" => &mut self.file,
            "line" => &mut self.line,
            "end_line" => &mut self.end_line,
            "category" => &mut self.category,
            "suggestion" => &mut self.suggestion,
            "confidence" => &mut self.confidence,
            "evidence" => &mut self.evidence,
            "rule" => &mut self.rule,
            _ => return json::skip(map),
        };
        *field = map.next_value()?;
        Ok(())
    }
}

impl json::Item for Issue {
    type Fields = IssueFields;

    fn weight(&self) -> usize {
        draft::weight(&self.0)
    }
}

impl From<IssueFields> for Issue {
    fn from(fields: IssueFields) -> Self {
        let raw = fields.severity.word().or_else(|| fields.tag.word()).unwrap_or_default();
        let tag = fields.tag.word().and_then(|word| Tag::parse(&word)).or_else(|| Tag::parse(&raw));
        let description = fields.description.string().unwrap_or_default();
        let (title, body) = match fields.title.string() {
            Some(title) => (markdown::fold(&title), description),
            None => title_of(&description),
        };
        let (line, end_line) = lines(&fields.line, &fields.end_line);
        Self(RawFinding {
            severity: Severity { tag, raw },
            title: title.into(),
            body: body.into(),
            file: fields.file.string(),
            line,
            end_line,
            category: fields.category.string(),
            suggestion: fields.suggestion.string().map(Untrusted::from),
            confidence: confidence(&fields.confidence),
            evidence: fields.evidence.texts().into_iter().map(Untrusted::from).collect(),
            rule: fields.rule.string(),
        })
    }
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
