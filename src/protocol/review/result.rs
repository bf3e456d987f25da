//! The JSON forms of a review: a `review_result` with its payload, a list of findings, and what models write instead.
//!
//! Besides the two forms of the protocol, findings are read wherever a model puts them: in a list without an object around
//! it, one object a line, a list for each file, a text that holds the list. What stands in the place of a finding and
//! cannot be read is remembered, so that such an answer is never complete.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::super::json::{Fields, Loose};
use super::draft;
use super::issue::IssueFields;
use crate::domain::RawFinding;

/// The most memory that the findings of one document take up.
const FINDINGS_CAP: usize = 6 << 20;

/// Names of lists of findings.
const LISTS: [&str; 9] = [
    "findings",
    "issues",
    "problems",
    "comments",
    "violations",
    "vulnerabilities",
    "defects",
    "bugs",
    "review_comments",
];

/// Names of what may stand around a review.
const WRAPPERS: [&str; 8] = ["files", "results", "result", "reviews", "review", "data", "output", "payload"];

/// A review in JSON.
#[derive(Debug, Default)]
pub(super) struct JsonResult {
    pub(super) findings: Vec<RawFinding>,
    /// How many findings there are, also those that are not kept.
    pub(super) count: u64,
    /// Whether something stands in the place of a finding that is none.
    pub(super) malformed: bool,
    /// Whether it is a whole `review_result`.
    pub(super) enveloped: bool,
    pub(super) verdict: Option<String>,
    pub(super) summary: Option<String>,
    nonces: BTreeSet<String>,
    /// Whether it has one of the two forms of the protocol, with or without findings.
    in_form: bool,
    weight: usize,
}

impl JsonResult {
    /// The nonce, if it has just one.
    pub(super) fn nonce(&self) -> Option<&str> {
        self.nonces.first().filter(|_| self.nonces.len() == 1).map(String::as_str)
    }

    /// Whether the verdict asks for something. A word that is not known to approve does: nothing goes green because
    /// it could not be read.
    pub(super) fn objects(&self) -> bool {
        let Some(verdict) = &self.verdict else { return false };
        let word: String = verdict.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        !APPROVALS.contains(&word.as_str())
    }

    fn push(&mut self, finding: RawFinding) {
        self.count += 1;
        self.weight += draft::weight(&finding);
        if self.weight <= FINDINGS_CAP {
            self.findings.push(finding);
        }
    }

    fn take_nonce(&mut self, nonce: &Loose) {
        self.nonces.extend(nonce.word());
    }

    /// Takes a text in the place of a list or of a finding: the findings in it, or else the text itself as one.
    fn take_text(&mut self, text: &str, place: Place) {
        let word: String = text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        if word.is_empty() || APPROVALS.contains(&word.as_str()) || word == "na" {
            return;
        }
        let inner = super::parse(text.as_bytes(), None).ok().filter(|inner| !inner.findings.is_empty());
        match (inner, place) {
            (Some(inner), _) => {
                self.malformed |= inner.truncated;
                inner.findings.into_iter().for_each(|finding| self.push(finding));
            }
            (None, Place::Item) => self.push(IssueFields::of_text(text).finding()),
            (None, Place::List) => self.malformed = true,
            (None, Place::Top | Place::Wrapped) => {}
        }
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

/// Reads a review; `None` if the document is none.
pub(super) fn read(bytes: &[u8]) -> Option<JsonResult> {
    let mut result = JsonResult::default();
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    Node { result: &mut result, place: Place::Top, file: None }.deserialize(&mut deserializer).ok()?;
    (result.in_form || result.count > 0 || result.malformed).then_some(result)
}

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The document, or an item of it.
    Top,
    /// Around a review.
    Wrapped,
    /// In the place of a list of findings.
    List,
    /// In the place of a finding.
    Item,
}

/// Reads a value and puts its findings into the result.
struct Node<'a> {
    result: &'a mut JsonResult,
    place: Place,
    /// The file that holds for everything inside that names none.
    file: Option<&'a str>,
}

impl Node<'_> {
    /// A value that can be no finding.
    fn nothing<E>(self) -> Result<bool, E> {
        self.result.malformed |= self.place == Place::Item;
        Ok(false)
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    /// Whether there was a value at all.
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        self.nothing()
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        self.nothing()
    }

    fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
        self.nothing()
    }

    fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
        self.nothing()
    }

    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        self.nothing()
    }

    fn visit_str<E>(self, text: &str) -> Result<bool, E> {
        let known = self.result.findings.len();
        self.result.take_text(text, self.place);
        name_file(&mut self.result.findings[known..], self.file);
        Ok(false)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<bool, A::Error> {
        let Self { result, place, file } = self;
        if place == Place::Item {
            // A list in the place of a finding: only objects in it can be findings.
            let known = (result.count, result.malformed);
            while items.next_element_seed(Node { result, place: Place::Wrapped, file })?.is_some() {}
            result.malformed |= known == (result.count, result.malformed);
            return Ok(true);
        }
        let inner = if place == Place::List { Place::Item } else { place };
        while items.next_element_seed(Node { result: &mut *result, place: inner, file })?.is_some() {}
        Ok(true)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let Self { result, place, file } = self;
        let known = result.findings.len();
        let mut fields = IssueFields::default();
        let (mut kind, mut verdict, mut nonce) = (Loose::Nothing, Loose::Nothing, Loose::Nothing);
        let (mut has_list, mut has_payload) = (false, false);
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "type" => kind = map.next_value()?,
                "nonce" => nonce = map.next_value()?,
                "verdict" => verdict = map.next_value()?,
                "payload" if place != Place::Item => {
                    let form = std::mem::take(&mut result.in_form);
                    let seed = Node { result: &mut *result, place: Place::Wrapped, file };
                    map.next_value_seed(seed)?;
                    has_payload = std::mem::replace(&mut result.in_form, form);
                }
                name if LISTS.contains(&name) => {
                    let seed = Node { result: &mut *result, place: Place::List, file };
                    has_list |= map.next_value_seed(seed)?;
                }
                name if WRAPPERS.contains(&name) && place != Place::Item => {
                    let form = result.in_form;
                    let seed = Node { result: &mut *result, place: Place::Wrapped, file };
                    map.next_value_seed(seed)?;
                    result.in_form = form;
                }
                // Lists of findings by the names of their files.
                name if place == Place::List && !IssueFields::knows(name) => {
                    let seed = Node { result: &mut *result, place: Place::List, file: Some(name) };
                    map.next_value_seed(seed)?;
                }
                name => fields.field(name, &mut map)?,
            }
        }
        let word = verdict.word();
        result.take_nonce(&nonce);
        if place == Place::Wrapped {
            // Whether it counts is up to what is around it.
            result.in_form |= has_list || word.is_some();
        } else if kind.word().as_deref() == Some("review_result") && has_payload {
            result.in_form = true;
            result.enveloped = true;
        } else if place == Place::Top && has_list {
            result.in_form = true;
        }
        let holds_findings = result.findings.len() > known || has_list || has_payload;
        let is_finding = match place {
            Place::Item => fields.has_text() || !holds_findings,
            Place::List => fields.has_text() && !fields.is_log_line(),
            Place::Top | Place::Wrapped => {
                fields.has_severity() && fields.has_text() && !holds_findings && !fields.is_log_line()
            }
        };
        name_file(&mut result.findings[known..], fields.file());
        if is_finding {
            let mut found = [fields.finding()];
            name_file(&mut found, file);
            found.into_iter().for_each(|finding| result.push(finding));
        } else {
            name_file(&mut result.findings[known..], file);
            result.summary = fields.summary().or(result.summary.take());
        }
        if word.is_some() {
            result.verdict = verdict.string();
        }
        Ok(place != Place::List || result.findings.len() > known)
    }
}

/// Findings that name no file are about the one around them.
fn name_file(findings: &mut [RawFinding], file: Option<&str>) {
    let Some(file) = file else { return };
    for finding in findings.iter_mut().filter(|finding| finding.file.is_none()) {
        finding.file = Some(file.to_owned());
    }
}
