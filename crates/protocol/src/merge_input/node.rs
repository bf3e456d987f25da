//! Reads the fields of a JSON document in the input of `glee merge`. A field is read under several names, such
//! as `model`, `reviewer` and `agent`.

use serde::de::{Error as _, Unexpected};

use crate::replies::review::fields::{BODIES, FILE, HEADS, LINE};
use crate::text::{LenientValue, location, weakness};
use glee_model::domain::Confidence;

pub(super) const MODEL: &[&str] = &["model", "reviewer", "agent"];
/// Names of fields that contain the severity, in the order of preference.
const SEVERITIES: &[&str] = &["severity", "tag", "priority", "level"];
pub(crate) const SUGGESTION: &[&str] = &["suggestion", "recommendation", "fix"];
pub(super) const FINDINGS: &[&str] = &["findings", "issues"];
pub(super) const DOCUMENTS: &[&str] = &["debate", "payload"];
pub(crate) const ANSWERS: &[&str] = &["responses", "defenses", "defences"];

const KNOWN: &str = "id model reviewer agent vendor end_line severity tag priority level confidence category \
                     rule suggestion recommendation fix valid verdict type content finding_id action \
                     confidence_adjustment reasoning revised_severity revised_description findings issues debate \
                     payload responses defenses defences new_observations reviewers silent role round phase \
                     nonce status original_model recipient sender timestamp label source places";

#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'a>(pub &'a LenientValue);

pub(super) fn documents(value: &LenientValue) -> Result<Vec<Node<'_>>, serde_json::Error> {
    match value {
        LenientValue::Nothing => Ok(Vec::new()),
        LenientValue::Text(_) | LenientValue::Object(_) => Ok(vec![Node(value)]),
        LenientValue::List(items) => {
            let inside: Result<Vec<_>, _> = items.iter().map(documents).collect();
            Ok(inside?.into_iter().flatten().collect())
        }
        LenientValue::Bool(flag) => Err(wrong(Unexpected::Bool(*flag))),
        LenientValue::Number(number) => {
            Err(wrong(Unexpected::Other(&format!("number `{number}`"))))
        }
    }
}

fn wrong(found: Unexpected<'_>) -> serde_json::Error {
    serde_json::Error::invalid_type(found, &"an object with findings, or a list of objects")
}

impl<'a> Node<'a> {
    pub(super) fn get(self, names: &[&str]) -> &'a LenientValue {
        self.0.get(names)
    }

    pub(super) fn text(self, names: &[&str]) -> Option<String> {
        self.get(names).text()
    }

    pub(super) fn filled(self, names: &[&str]) -> Option<String> {
        self.text(names).filter(|text| !text.is_empty())
    }

    pub(super) fn file(self) -> Option<String> {
        self.text(FILE)
    }

    pub(super) fn inside(self, names: &[&str]) -> Result<Option<Vec<Self>>, serde_json::Error> {
        let given = self
            .0
            .fields()
            .iter()
            .filter(|(name, value)| names.contains(&name.as_str()) && !value.is_nothing());
        let inside = given
            .map(|(_, value)| documents(value))
            .collect::<Result<Vec<_>, _>>()?;
        Ok((!inside.is_empty()).then(|| inside.into_iter().flatten().collect()))
    }

    pub(super) fn lines(self) -> (Option<u32>, Option<u32>) {
        let (line, end) = range(self.get(LINE));
        (line, range(self.get(&["end_line"])).0.or(end))
    }

    pub(super) fn severity(self) -> Option<String> {
        SEVERITIES.iter().find_map(|name| self.text(&[name]))
    }

    pub(crate) fn has_verdict(self) -> bool {
        is_scalar(self.get(&["verdict"]))
    }

    pub(super) fn verdict(self) -> Option<String> {
        self.get(&["verdict"]).word()
    }

    pub(super) fn is_text(self) -> bool {
        matches!(self.0, LenientValue::Text(_))
    }

    pub(super) fn is_finding(self) -> bool {
        let title = self.named(&HEADS).next();
        self.is_text()
            || title.is_some_and(|(name, _)| name != "summary")
            || self.named(&BODIES).next().is_some()
            || self.severity().is_some()
    }

    pub(crate) fn is_message(self) -> bool {
        const KINDS: [&str; 3] = ["message", "shutdown_request", "shutdown_response"];
        self.text(&["type"])
            .is_some_and(|kind| KINDS.contains(&kind.as_str()))
    }

    pub(crate) fn says_something(self) -> bool {
        let has_words = self.named(&HEADS).next().is_some()
            || self.others().any(|(_, value)| value.string().is_some());
        has_words || is_scalar(self.get(&["content"])) || is_scalar(self.get(LINE))
    }

    /// Parses the field `location` into a file, a first line and a last line.
    pub(super) fn located(self) -> (Option<String>, Option<u32>, Option<u32>) {
        match self.get(&["location"]) {
            LenientValue::Text(place) => {
                let (file, line, end) = match location::split(place.trim()) {
                    Some((file, line, end)) => (file, Some(line), end),
                    None => (place.trim(), None, None),
                };
                (Some(file.to_owned()), line, end)
            }
            inside @ LenientValue::Object(_) => {
                let (line, end) = Node(inside).lines();
                (Node(inside).file(), line, end)
            }
            _ => (None, None, None),
        }
    }

    /// Returns the title and the description. If an object has no text in a known field, the description consists
    /// of the texts in unknown fields.
    pub(super) fn texts(self) -> (Option<String>, String) {
        if let LenientValue::Text(text) = self.0 {
            return (None, text.clone());
        }
        let mut heads = self.named(&HEADS).map(|(_, text)| text);
        let head = heads.next();
        let mut bodies: Vec<String> = self
            .named(&BODIES)
            .map(|(_, text)| text)
            .chain(heads)
            .collect();
        if head.is_none() && bodies.is_empty() {
            let others = || self.others().filter(|(name, _)| *name != "location");
            bodies.extend(others().filter_map(|(_, value)| value.string()));
            bodies.extend(
                self.text(&["content"])
                    .filter(|text| !text.trim().is_empty()),
            );
            bodies.extend(
                others()
                    .filter(|(_, value)| is_nested(value))
                    .filter_map(|(_, value)| value.joined()),
            );
        }
        (head, bodies.join("\n\n"))
    }

    pub(super) fn nested(self) -> impl Iterator<Item = (&'a str, &'a LenientValue)> {
        self.others().filter(|(_, value)| is_nested(value))
    }

    fn others(self) -> impl Iterator<Item = (&'a str, &'a LenientValue)> {
        let fields = self
            .0
            .fields()
            .iter()
            .map(|(name, value)| (name.as_str(), value));
        fields.filter(move |(name, _)| !is_known(name))
    }

    fn named(self, names: &[&'static str]) -> impl Iterator<Item = (&'static str, String)> {
        names
            .iter()
            .filter_map(move |name| Some((*name, self.get(&[name]).joined()?)))
    }
}

fn is_known(name: &&str) -> bool {
    KNOWN.split(' ').any(|known| known == *name)
        || [&HEADS[..], &BODIES, FILE, LINE, weakness::NAMES]
            .iter()
            .any(|names| names.contains(name))
}

fn is_nested(value: &LenientValue) -> bool {
    matches!(value, LenientValue::List(_) | LenientValue::Object(_))
}

fn is_scalar(value: &LenientValue) -> bool {
    !value.is_nothing() && !is_nested(value)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a cast from a float saturates"
)]
pub(super) fn number(value: &LenientValue) -> Option<i32> {
    match value {
        LenientValue::Number(number) => Some(number.round() as i32),
        LenientValue::Text(text) => text
            .trim()
            .trim_start_matches('+')
            .trim_end_matches('%')
            .parse()
            .ok(),
        _ => None,
    }
}

/// Reads a confidence in percent. A number between 0 and 1 counts as a fraction, so the function multiplies the
/// number by 100.
pub(super) fn percent(value: &LenientValue) -> Option<Confidence> {
    let number = match value {
        LenientValue::Number(share) if *share > 0.0 && *share < 1.0 => {
            number(&LenientValue::Number(share * 100.0))
        }
        value => number(value),
    };
    number.map(|number| Confidence::clamped(number.into()))
}

/// Reads a line or a range of lines: `12`, `"12"` or `"12-14"`.
fn range(value: &LenientValue) -> (Option<u32>, Option<u32>) {
    match value {
        LenientValue::Text(text) => {
            let (first, last) = text.split_once('-').unwrap_or((text, ""));
            (first.trim().parse().ok(), last.trim().parse().ok())
        }
        LenientValue::Number(line) if *line > f64::from(i32::MAX) => (None, None),
        other => (
            number(other).and_then(|number| u32::try_from(number).ok()),
            None,
        ),
    }
}
