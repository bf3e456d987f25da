//! A document as it is written: what its fields are called, and in which forms their values come.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor, value};
use serde_json::Value;

use super::scalar::{Rare, Scalar};
use crate::protocol::json::Texts;
use crate::protocol::review;

/// One document or a list of them.
#[derive(Debug, Default)]
pub(super) struct Documents(pub(super) Vec<Node>);

impl<'de> Deserialize<'de> for Documents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut all = Vec::new();
        deserializer.deserialize_any(Into(&mut all))?;
        Ok(Self(all))
    }
}

/// Puts one document or a list of them at the end of a list.
struct Into<'a>(&'a mut Vec<Node>);

impl<'de> DeserializeSeed<'de> for Into<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Into<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with findings, or a list of them")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.0.push(Node { is_text: true, body: Told::of(0, text.to_owned()), ..Node::default() });
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.0.push(Node::deserialize(value::MapAccessDeserializer::new(map))?);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element_seed(Into(self.0))?.is_some() {}
        Ok(())
    }
}

/// A document: a finding, an answer, or what holds some.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) id: Scalar,
    pub(super) model: Scalar,
    pub(super) vendor: Rare,
    pub(super) file: Scalar,
    pub(super) line: Scalar,
    pub(super) end_line: Scalar,
    /// Of several fields that name a severity the one that says it best.
    pub(super) severity: Told<Scalar>,
    pub(super) confidence: Scalar,
    pub(super) category: Scalar,
    pub(super) rule: Rare,
    pub(super) head: Told<String>,
    pub(super) body: Told<String>,
    pub(super) suggestion: Scalar,
    pub(super) valid: Rare,
    pub(super) verdict: Rare,
    /// `type`
    pub(super) kind: Rare,
    /// What a message between agents says.
    pub(super) content: Rare,
    pub(super) finding_id: Rare,
    pub(super) action: Rare,
    pub(super) confidence_adjustment: Rare,
    pub(super) reasoning: Rare,
    pub(super) revised_severity: Rare,
    pub(super) revised_description: Rare,
    pub(super) lists: Option<Box<Lists>>,
    pub(super) others: Option<Box<Others>>,
    /// Whether it is a text and no object.
    pub(super) is_text: bool,
}

/// What a document holds.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// `findings`, `issues`
    pub(super) findings: Option<Documents>,
    /// `debate`, `payload`
    pub(super) documents: Option<Documents>,
    /// `responses`, `defenses`
    pub(super) answers: Option<Documents>,
    /// `new_observations`
    pub(super) observations: Option<Documents>,
    pub(super) reviewers: Vec<String>,
    pub(super) silent: Vec<String>,
}

impl Lists {
    pub(super) fn is_container(&self) -> bool {
        self.findings.is_some() || self.documents.is_some() || self.answers.is_some()
    }
}

/// What few documents have: further texts, and fields of other names.
#[derive(Debug, Default)]
pub(super) struct Others {
    /// Further titles and texts, the better names first when sorted.
    pub(super) heads: Vec<(u8, String)>,
    pub(super) bodies: Vec<(u8, String)>,
    /// `location` as a text.
    pub(super) location: Option<String>,
    /// The texts of fields of other names.
    pub(super) texts: Vec<String>,
    /// The lists and objects of fields of other names.
    pub(super) nested: Vec<(String, Value)>,
}

/// A place in one field.
pub(super) struct Located {
    pub(super) file: Option<String>,
    pub(super) line: Option<u32>,
    pub(super) end: Option<u32>,
}

/// A value and how well its field's name says it; lower is better.
#[derive(Debug, Default)]
pub(super) struct Told<T>(pub(super) Option<(u8, T)>);

impl<T> Told<T> {
    fn of(rank: u8, value: T) -> Self {
        Self(Some((rank, value)))
    }

    /// Takes a value, and returns the one that is less well said.
    fn take(&mut self, rank: u8, value: T) -> Option<(u8, T)> {
        match &mut self.0 {
            Some(known) if known.0 <= rank => Some((rank, value)),
            known => known.replace((rank, value)),
        }
    }
}

/// The field with file and line in one.
const LOCATION: &str = "location";

/// The names of a document's fields.
enum Name {
    Id,
    Model,
    Vendor,
    File,
    Line,
    EndLine,
    Severity(u8),
    Confidence,
    Category,
    Rule,
    Head(u8),
    Body(u8),
    Suggestion,
    Valid,
    Verdict,
    Kind,
    Content,
    FindingId,
    Action,
    Adjustment,
    Reasoning,
    RevisedSeverity,
    RevisedDescription,
    Findings,
    Documents,
    Answers,
    Observations,
    Reviewers,
    Silent,
    /// Says nothing of a finding.
    Meta,
    Other(String),
}

impl Name {
    fn of(name: &str) -> Self {
        match name {
            "id" => Self::Id,
            "model" | "reviewer" | "agent" => Self::Model,
            "vendor" => Self::Vendor,
            "file" | "path" | "filename" | "file_path" => Self::File,
            "line" | "start_line" | "line_number" => Self::Line,
            "end_line" => Self::EndLine,
            "severity" => Self::Severity(0),
            "tag" => Self::Severity(1),
            "priority" => Self::Severity(2),
            "level" => Self::Severity(3),
            "confidence" => Self::Confidence,
            "category" => Self::Category,
            "rule" => Self::Rule,
            "title" => Self::Head(0),
            "headline" => Self::Head(1),
            "summary" => Self::Head(SUMMARY),
            "name" => Self::Head(3),
            "description" => Self::Body(0),
            "body" => Self::Body(1),
            "message" => Self::Body(2),
            "text" => Self::Body(3),
            "comment" => Self::Body(4),
            "details" => Self::Body(5),
            "detail" => Self::Body(6),
            "explanation" => Self::Body(7),
            "problem" => Self::Body(8),
            "issue" => Self::Body(9),
            "finding" => Self::Body(10),
            "suggestion" | "recommendation" | "fix" => Self::Suggestion,
            "valid" => Self::Valid,
            "verdict" => Self::Verdict,
            "type" => Self::Kind,
            "content" => Self::Content,
            "finding_id" => Self::FindingId,
            "action" => Self::Action,
            "confidence_adjustment" => Self::Adjustment,
            "reasoning" => Self::Reasoning,
            "revised_severity" => Self::RevisedSeverity,
            "revised_description" => Self::RevisedDescription,
            "findings" | "issues" => Self::Findings,
            "debate" | "payload" => Self::Documents,
            "responses" | "defenses" | "defences" => Self::Answers,
            "new_observations" => Self::Observations,
            "reviewers" => Self::Reviewers,
            "silent" => Self::Silent,
            "role" | "round" | "phase" | "nonce" | "status" | "original_model" | "recipient" | "sender"
            | "timestamp" | "label" | "source" => Self::Meta,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// The rank of `summary` among the titles: of an answer as a whole it is no finding.
pub(super) const SUMMARY: u8 = 2;

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Of;
        impl Visitor<'_> for Of {
            type Value = Name;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_str<E>(self, name: &str) -> Result<Name, E> {
                Ok(Name::of(name))
            }
        }
        deserializer.deserialize_str(Of)
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Node;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with findings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
                let mut node = Node::default();
                while let Some(name) = map.next_key::<Name>()? {
                    node.field(name, &mut map)?;
                }
                Ok(node)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

impl Node {
    fn field<'de, A: MapAccess<'de>>(&mut self, name: Name, map: &mut A) -> Result<(), A::Error> {
        match name {
            Name::Id => self.id = map.next_value()?,
            Name::Model => self.model = map.next_value()?,
            Name::Vendor => self.vendor = map.next_value()?,
            Name::File => self.file = map.next_value()?,
            Name::Line => self.line = map.next_value()?,
            Name::EndLine => self.end_line = map.next_value()?,
            Name::Severity(rank) => {
                let word = map.next_value::<Scalar>()?;
                if !word.is_none() {
                    self.severity.take(rank, word);
                }
            }
            Name::Confidence => self.confidence = map.next_value()?,
            Name::Category => self.category = map.next_value()?,
            Name::Rule => self.rule = map.next_value()?,
            Name::Head(rank) => {
                if let Some(text) = text(map)?
                    && let Some(less) = self.head.take(rank, text)
                {
                    self.others().heads.push(less);
                }
            }
            Name::Body(rank) => {
                if let Some(text) = text(map)?
                    && let Some(less) = self.body.take(rank, text)
                {
                    self.others().bodies.push(less);
                }
            }
            Name::Suggestion => self.suggestion = map.next_value()?,
            Name::Valid => self.valid = map.next_value()?,
            Name::Verdict => self.verdict = map.next_value()?,
            Name::Kind => self.kind = map.next_value()?,
            Name::Content => self.content = map.next_value()?,
            Name::FindingId => self.finding_id = map.next_value()?,
            Name::Action => self.action = map.next_value()?,
            Name::Adjustment => self.confidence_adjustment = map.next_value()?,
            Name::Reasoning => self.reasoning = map.next_value()?,
            Name::RevisedSeverity => self.revised_severity = map.next_value()?,
            Name::RevisedDescription => self.revised_description = map.next_value()?,
            Name::Findings => add(&mut self.lists().findings, map.next_value()?),
            Name::Documents => add(&mut self.lists().documents, map.next_value()?),
            Name::Answers => add(&mut self.lists().answers, map.next_value()?),
            Name::Observations => add(&mut self.lists().observations, map.next_value()?),
            Name::Reviewers => self.lists().reviewers = map.next_value::<Texts>()?.0,
            Name::Silent => self.lists().silent = map.next_value::<Texts>()?.0,
            Name::Meta => drop(map.next_value::<IgnoredAny>()?),
            Name::Other(name) => match map.next_value::<Value>()? {
                Value::String(place) if name == LOCATION => self.others().location = Some(place),
                Value::String(text) if !text.trim().is_empty() => self.others().texts.push(text),
                nested @ (Value::Array(_) | Value::Object(_)) => self.others().nested.push((name, nested)),
                Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
            },
        }
        Ok(())
    }

    fn lists(&mut self) -> &mut Lists {
        self.lists.get_or_insert_default()
    }

    fn others(&mut self) -> &mut Others {
        self.others.get_or_insert_default()
    }

    /// Whether it has a title, a text or a severity of its own; a mere summary says nothing of one finding.
    pub(super) fn is_finding(&self) -> bool {
        let titled = self.head.0.as_ref().is_some_and(|(rank, _)| *rank != SUMMARY);
        titled || self.body.0.is_some() || self.severity.0.is_some()
    }

    /// Whether it is a message between agents, around what one of them says.
    pub(super) fn is_message(&self) -> bool {
        const KINDS: [&str; 3] = ["message", "shutdown_request", "shutdown_response"];
        self.kind.text().is_some_and(|kind| KINDS.contains(&kind.as_str()))
    }

    /// Whether it says anything in words, or names a place.
    pub(super) fn says_something(&self) -> bool {
        let has_words =
            self.head.0.is_some() || self.others.as_ref().is_some_and(|others| !others.texts.is_empty());
        let has_words = has_words || self.content.is_told();
        has_words || !self.line.is_none()
    }

    /// The file and the lines in `location`, which is a text such as `app.py:12` or an object.
    pub(super) fn located(&self) -> Option<Located> {
        let others = self.others.as_ref()?;
        if let Some(place) = &others.location {
            return Some(match review::split(place.trim()) {
                Some((file, line, end)) => Located { file: Some(file.to_owned()), line: Some(line), end },
                None => Located { file: Some(place.trim().to_owned()), line: None, end: None },
            });
        }
        let (_, value) = others.nested.iter().find(|(name, _)| name == LOCATION)?;
        let inside = Self::deserialize(value).ok()?;
        let (line, end) = inside.line.range();
        Some(Located { file: inside.file.text(), line, end: inside.end_line.range().0.or(end) })
    }

    /// Its title and its text: the best name given to either, and the others below. A text in a field of another name
    /// counts where there is none.
    pub(super) fn texts(&mut self) -> (Option<String>, String) {
        let mut others = self.others.take().map(|others| *others).unwrap_or_default();
        let head = self.head.0.take().map(|(_, text)| text);
        let body = self.body.0.take().map(|(_, text)| text);
        others.heads.sort();
        others.bodies.sort();
        let more = others.bodies.into_iter().chain(others.heads).map(|(_, text)| text);
        let mut bodies: Vec<String> = body.into_iter().chain(more).collect();
        if head.is_none() && bodies.is_empty() {
            bodies = others.texts;
            bodies.extend(self.content.text().filter(|text| !text.trim().is_empty()));
            let nested = others.nested.iter().filter(|(name, _)| name != LOCATION);
            bodies.extend(nested.filter_map(|(_, value)| Texts::deserialize(value).ok()?.joined()));
        }
        (head, bodies.join("\n\n"))
    }
}

/// All texts of a value as one.
fn text<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<String>, A::Error> {
    Ok(map.next_value::<Texts>()?.joined())
}

/// Puts what a field holds behind what another one of the same meaning holds.
fn add(known: &mut Option<Documents>, more: Option<Documents>) {
    if let Some(more) = more {
        known.get_or_insert_default().0.extend(more.0);
    }
}
