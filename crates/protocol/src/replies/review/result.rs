//! Reads the findings of a review in JSON: in two standard formats, in variants that models write, and in SARIF.
//!
//! The two standard formats are a `review_result` with a payload, and an object with a list of findings. The
//! parser also reads variants, such as a list without an enclosing object, or one object on each line. An answer
//! is incomplete if a list of findings in the answer contains an unreadable value.

use std::collections::BTreeSet;

use super::answer::ReviewAnswer;
use super::beside;
use super::fields::FindingFields;
use super::prose;
use crate::replies::closing::extent;
use crate::sarif;
use crate::text::json::LenientValue;
use glee_model::domain::{CodeRead, RawFinding};

const FINDINGS_CAP: usize = 6 << 20;

const LISTS: &str =
    "findings issues problems comments violations vulnerabilities defects bugs review_comments";

const WRAPPERS: [&str; 8] = [
    "files", "results", "result", "reviews", "review", "data", "output", "payload",
];

#[derive(Debug, Default)]
pub struct JsonResult {
    pub findings: Vec<RawFinding>,
    pub count: u64,
    /// Whether a list of findings contains a value that the parser cannot read as a finding.
    pub malformed: bool,
    pub(crate) enveloped: bool,
    pub verdict: Option<String>,
    pub summary: Option<String>,
    pub read: Option<CodeRead>,
    nonces: BTreeSet<String>,
    /// Whether the document is a `review_result` or an object with a list of findings. The list can be empty.
    in_form: bool,
    weight: usize,
    of_text: Option<OfText>,
}

pub(crate) type OfText = fn(&str) -> Option<ReviewAnswer>;

impl JsonResult {
    /// The nonce; `None` if the document contains no nonce or several different nonces.
    pub fn nonce(&self) -> Option<&str> {
        self.nonces
            .first()
            .filter(|_| self.nonces.len() == 1)
            .map(String::as_str)
    }

    /// Whether the review has a verdict other than an approval.
    pub fn objects(&self) -> bool {
        self.verdict
            .as_deref()
            .is_some_and(|verdict| !is_approval(verdict))
    }

    fn push(&mut self, finding: RawFinding) {
        self.count += 1;
        self.weight += prose::weight(&finding);
        if self.weight <= FINDINGS_CAP {
            self.findings.push(finding);
        }
    }

    /// Reads the findings inside a string. If a string in a list of findings contains no findings that the parser
    /// recognises, the whole string becomes one finding.
    fn take_text(&mut self, text: &str, place: Place) {
        let word = plain(text);
        if word.is_empty() || approves(&word) || word == "na" {
            return;
        }
        let inner = self
            .of_text
            .and_then(|of_text| of_text(text))
            .filter(|inner| !inner.findings.is_empty());
        match (inner, place) {
            (Some(inner), _) => {
                self.malformed |= inner.truncated;
                inner
                    .findings
                    .into_iter()
                    .for_each(|finding| self.push(finding));
            }
            (None, Place::Item) => {
                let text = LenientValue::Text(text.to_owned());
                let mut own = FindingFields::default();
                own.push("text", &text);
                self.push(own.finding(None));
            }
            (None, Place::List) => self.malformed = true,
            (None, Place::Top | Place::Wrapped) => {}
        }
    }
}

const APPROVALS: &str = "approved approve accepted accept pass passed lgtm ok okay clean good looksgood none noissues \
                         noconcerns nofindings";

pub(crate) fn is_approval(verdict: &str) -> bool {
    approves(&plain(verdict))
}

fn approves(word: &str) -> bool {
    APPROVALS.split(' ').any(|approval| approval == word)
}

/// Whether a field is a judgement on the whole change, beside `verdict`.
fn is_judgement(name: &str) -> bool {
    const NAMES: &str = "decision outcome conclusion status recommendation assessment overall_correctness approved lgtm \
                         pass passed success";
    NAMES.split(' ').any(|judgement| judgement == name)
}

/// Returns the words of a judgement that fails the change.
fn failing(name: &str, value: &LenientValue) -> Option<String> {
    match value {
        LenientValue::Bool(false) => Some(format!("{name}: false")),
        LenientValue::Text(text) if beside::fails(text) => Some(text.clone()),
        _ => None,
    }
}

fn plain(text: &str) -> String {
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

pub fn read(text: &str, of_text: OfText) -> Option<JsonResult> {
    let mut result = JsonResult {
        of_text: Some(of_text),
        ..JsonResult::default()
    };
    let document = serde_json::from_str(text).ok()?;
    if let Some(findings) = sarif::findings(&document) {
        result.in_form = true;
        findings
            .into_iter()
            .for_each(|finding| result.push(finding));
        return Some(result);
    }
    result.take(&document, Place::Top, None);
    (result.in_form || result.count > 0 || result.malformed).then_some(result)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Top,
    Wrapped,
    List,
    Item,
}

impl JsonResult {
    /// Reads the findings in a value. If a finding names no file, the finding's file is set to the parameter
    /// `file`. Returns `true` for a list and for an object, except for an object in [`Place::List`] without
    /// findings.
    fn take(&mut self, value: &LenientValue, place: Place, file: Option<&str>) -> bool {
        match value {
            LenientValue::Nothing | LenientValue::Bool(_) | LenientValue::Number(_) => {
                self.malformed |= place == Place::Item;
                false
            }
            LenientValue::Text(text) => {
                let known = self.findings.len();
                self.take_text(text, place);
                name_file(&mut self.findings[known..], file);
                false
            }
            LenientValue::List(items) => {
                // If a list of findings contains an inner list, only the objects in the inner list are read as
                // findings.
                let is_item = place == Place::Item;
                let inner = match place {
                    Place::Item => Place::Wrapped,
                    Place::List => Place::Item,
                    Place::Top | Place::Wrapped => place,
                };
                let known = (self.count, self.malformed);
                for item in items {
                    self.take(item, inner, file);
                }
                self.malformed |= is_item && known == (self.count, self.malformed);
                true
            }
            LenientValue::Object(fields) => self.take_object(fields, place, file),
        }
    }

    fn take_object(
        &mut self,
        fields: &[(String, LenientValue)],
        place: Place,
        file: Option<&str>,
    ) -> bool {
        let known = self.findings.len();
        let mut own = FindingFields::default();
        let [mut kind, mut verdict, mut nonce] = [&LenientValue::Nothing; 3];
        let mut has_list = false;
        let mut has_payload = false;
        for (name, value) in fields {
            match name.as_str() {
                "type" => kind = value,
                "nonce" => nonce = value,
                "verdict" => verdict = value,
                "read" if matches!(place, Place::Top | Place::Wrapped) => {
                    let extent = value.word().and_then(|word| extent(&word));
                    self.read = CodeRead::joined(self.read, extent);
                }
                name if is_judgement(name) && matches!(place, Place::Top | Place::Wrapped) => {
                    if let Some(failing) = failing(name, value) {
                        self.verdict.get_or_insert(failing);
                    }
                    own.push(name, value);
                }
                "payload" if place != Place::Item => {
                    let form = std::mem::take(&mut self.in_form);
                    self.take(value, Place::Wrapped, file);
                    has_payload = std::mem::replace(&mut self.in_form, form);
                }
                name if LISTS.split(' ').any(|list| list == name) => {
                    has_list |= self.take(value, Place::List, file)
                }
                name if WRAPPERS.contains(&name) && place != Place::Item => {
                    let form = self.in_form;
                    self.take(value, Place::Wrapped, file);
                    self.in_form = form;
                }
                name if place == Place::List && !FindingFields::knows(name) => {
                    self.take(value, Place::List, Some(name));
                }
                name => own.push(name, value),
            }
        }
        let word = verdict.word();
        self.nonces.extend(nonce.word());
        if place == Place::Wrapped {
            // The caller checks whether the enclosing object is a `review_result`.
            self.in_form |= has_list || word.is_some();
        } else if kind.word().as_deref() == Some("review_result") && has_payload {
            self.in_form = true;
            self.enveloped = true;
        } else if place == Place::Top && has_list {
            self.in_form = true;
        }
        let holds_findings = self.findings.len() > known || has_list || has_payload;
        let is_finding = match place {
            Place::Item => own.has_text() || !holds_findings,
            Place::List => own.has_text() && !own.is_log_line(),
            Place::Top | Place::Wrapped => {
                own.has_severity() && own.has_text() && !holds_findings && !own.is_log_line()
            }
        };
        name_file(&mut self.findings[known..], own.file());
        if is_finding {
            self.push(own.finding(file));
        } else {
            name_file(&mut self.findings[known..], file);
            self.summary = own.summary().or(self.summary.take());
        }
        if word.is_some() {
            self.verdict = verdict.string();
        }
        place != Place::List || self.findings.len() > known
    }
}

fn name_file(findings: &mut [RawFinding], file: Option<&str>) {
    let Some(file) = file else { return };
    for finding in findings.iter_mut().filter(|finding| finding.file.is_none()) {
        finding.file = Some(file.to_owned());
    }
}
