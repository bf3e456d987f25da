//! Parses answers in stages and at checkpoints. An answer is a JSON object with the nonce. In a stage, an answer in
//! prose is also valid.
//!
//! Several equal JSON objects count as one object, and different objects invalidate the answer. Decisions and
//! validations affect other agents. Therefore, a stricter rule applies to them: the JSON object must be the last
//! text in the answer.

use std::io::{self, BufRead};

use serde_json::{Map, Value};

use crate::replies::closing::Closing;
use crate::replies::reply::Walk;
use crate::text::nonce::is_nonce;
use crate::text::{LineKind, ScanState};
use glee_model::domain::{
    AgentName, Approach, Certainty, Decision, Question, QuestionAnswer, Said, StageAnswer,
    Synthesis, Untrusted, Validation,
};
use glee_model::rules::stages::stage;

const PROSE_CAP: usize = 1 << 20;

const LIST_CAP: usize = 1000;

/// The reason why an answer is invalid, with a message that is sent back to the agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StageError {
    #[error("the answer has no JSON object with the `nonce` of the request")]
    Missing,
    #[error("{0}")]
    Malformed(String),
    #[error("the answer has several different JSON objects with the `nonce`")]
    Several,
    #[error(
        "no text is allowed after the JSON object, but the answer contains text after the object"
    )]
    TextBehind,
    #[error("the answer has a JSON object that is too large to be read")]
    TooLarge,
    #[error("`{field}` {expected}")]
    Field {
        field: &'static str,
        expected: &'static str,
    },
}

pub(super) fn wrong(field: &'static str, expected: &'static str) -> StageError {
    StageError::Field { field, expected }
}

#[derive(Debug, Default)]
pub struct FoundAnswer {
    objects: Vec<Map<String, Value>>,
    text_behind: bool,
    too_large: bool,
    fault: Option<String>,
    prose: String,
    closed: bool,
}

impl FoundAnswer {
    fn object(&self) -> Result<Map<String, Value>, StageError> {
        match self.objects.as_slice() {
            [] if self.too_large => Err(StageError::TooLarge),
            [] => Err(self
                .fault
                .clone()
                .map_or(StageError::Missing, StageError::Malformed)),
            [first, others @ ..] if others.iter().all(|other| other == first) => Ok(first.clone()),
            _ => Err(StageError::Several),
        }
    }

    pub(crate) fn last_object(&self) -> Result<Map<String, Value>, StageError> {
        match self.object() {
            Ok(_) if self.text_behind => Err(StageError::TextBehind),
            found => found,
        }
    }

    /// An answer to a stage, with the fields that the stage requires.
    pub(crate) fn position(&self, required: &[String]) -> Result<Said, StageError> {
        let position = match self.object() {
            Ok(object) => StageAnswer {
                missing_fields: missing(&object, required),
                content: text(&Value::Object(object)),
                json: true,
            },
            Err(StageError::Missing | StageError::Malformed(_))
                if self.closed && !self.prose.trim().is_empty() =>
            {
                StageAnswer {
                    content: self.prose.trim().into(),
                    json: false,
                    missing_fields: required.to_vec(),
                }
            }
            Err(error) => return Err(error),
        };
        Ok(Said::Position(position))
    }

    pub(crate) fn synthesis(&self, required: &[String]) -> Result<Said, StageError> {
        synthesis(self.object()?, required).map(Said::Synthesis)
    }

    /// A decision between the answers of the agents `answered`.
    pub(crate) fn decision(&self, answered: &[AgentName]) -> Result<Said, StageError> {
        decision(&self.last_object()?, answered).map(Said::Decision)
    }

    pub(crate) fn answers(&self, questions: &[Question]) -> Result<Said, StageError> {
        let answers = answers(&self.object()?, questions)?;
        Ok(Said::Answers { answers })
    }

    pub(crate) fn validation(&self) -> Result<Said, StageError> {
        validation(&self.last_object()?).map(Said::Validation)
    }

    fn take(&mut self, text: &str, nonce: Option<&str>) {
        let Ok(Value::Object(mut object)) = serde_json::from_str(text) else {
            return;
        };
        let own = object
            .get("nonce")
            .and_then(Value::as_str)
            .is_some_and(|given| is_nonce(nonce, given));
        if own {
            object.shift_remove("nonce");
            self.objects.push(object);
            self.text_behind = false;
        }
    }

    fn say(&mut self, line: &str) {
        self.text_behind |= !line.trim().is_empty();
        if !self.closed && self.prose.len() < PROSE_CAP {
            self.prose.push_str(line);
            self.prose.push('\n');
        }
    }
}

pub fn find(input: impl BufRead, nonce: Option<&str>) -> io::Result<FoundAnswer> {
    let mut walk = Walk::new(input, nonce);
    let mut closing = Closing::new("GLEE-STAGE-END", "answers", nonce);
    let mut found = FoundAnswer::default();
    while let Some(step) = walk.next(0)? {
        match step.json {
            ScanState::Found(object) => found.take(&object.text, nonce),
            ScanState::Inside => {}
            ScanState::Outside if closing.take(&step) => found.closed = true,
            ScanState::Outside if step.kind == LineKind::Quote => {}
            ScanState::Outside => found.say(step.text),
        }
    }
    if let Some(object) = walk.end() {
        found.take(&object.text, nonce);
    }
    found.too_large = walk.json.too_large;
    found.fault = walk.json.fault;
    found.closed &= closing.number() == Some(1);
    Ok(found)
}

fn missing(object: &Map<String, Value>, required: &[String]) -> Vec<String> {
    required
        .iter()
        .filter(|field| {
            object.get(*field).is_none_or(|value| match value {
                Value::Null => true,
                Value::String(text) => text.trim().is_empty(),
                Value::Array(items) => items.is_empty(),
                Value::Object(fields) => fields.is_empty(),
                Value::Bool(_) | Value::Number(_) => false,
            })
        })
        .cloned()
        .collect()
}

fn synthesis(object: Map<String, Value>, required: &[String]) -> Result<Synthesis, StageError> {
    let Some(Value::Object(consensus)) = object.get("consensus") else {
        return Err(wrong("consensus", "has to be an object with `conflicts`"));
    };
    let status = status_of(&object)
        .or_else(|| status_of(consensus))
        .unwrap_or_default();
    let summary = object.get("summary").or_else(|| consensus.get("summary"));
    Ok(Synthesis {
        conflict: status.trim().eq_ignore_ascii_case("conflict"),
        summary: summary.map(text).unwrap_or_default(),
        agreements: list(consensus, "agreements")?,
        conflicts: list(consensus, "conflicts")?,
        missing_fields: missing(&object, required),
        content: text(&Value::Object(object)),
    })
}

fn status_of(fields: &Map<String, Value>) -> Option<String> {
    fields
        .get("status")
        .and_then(Value::as_str)
        .map(str::to_owned)
}

fn decision(object: &Map<String, Value>, answered: &[AgentName]) -> Result<Decision, StageError> {
    let choice = "has to be `approach_a`, `approach_b` and so on, an agent's name, or `hybrid`";
    let certainty = "has to be `high`, `medium` or `low`";
    let modifications = list(object, "modifications")?;
    // The field `decision` can be a list. A list that names one approach selects this approach, and a list that
    // names several approaches selects a hybrid.
    let chosen = match object.get("decision") {
        Some(Value::Array(items)) => {
            let named: Option<Vec<Approach>> = items
                .iter()
                .map(|item| stage::approach(item.as_str()?, answered))
                .collect();
            match named.as_deref() {
                None | Some([]) => None,
                Some([first, others @ ..]) if others.iter().all(|other| other == first) => {
                    Some(first.clone())
                }
                Some(_) => Some(Approach::Hybrid),
            }
        }
        _ => stage::approach(text_of(object, "decision", choice)?, answered),
    };
    Ok(Decision {
        decision: chosen.ok_or(wrong("decision", choice))?,
        rationale: text_of(object, "rationale", "has to say why")?
            .trim()
            .into(),
        modifications,
        confidence: Certainty::parse(text_of(object, "confidence", certainty)?.trim())
            .ok_or(wrong("confidence", certainty))?,
    })
}

fn text_of<'a>(
    object: &'a Map<String, Value>,
    field: &'static str,
    expected: &'static str,
) -> Result<&'a str, StageError> {
    let text = object
        .get(field)
        .and_then(Value::as_str)
        .filter(|text| !text.trim().is_empty());
    text.ok_or(wrong(field, expected))
}

fn answers(
    object: &Map<String, Value>,
    questions: &[Question],
) -> Result<Vec<QuestionAnswer>, StageError> {
    let no_list = wrong("answers", "has to be a list of `{id, answer, reason}`");
    let Some(Value::Array(items)) = object.get("answers") else {
        return Err(no_list);
    };
    let mut given: Vec<QuestionAnswer> = Vec::new();
    for item in items {
        let (Some(id), Some(answer)) = (item.get("id"), item.get("answer")) else {
            continue;
        };
        let id = text(id);
        let answer = text(answer);
        let known = questions
            .iter()
            .find(|question| question.id == id.as_written());
        let Some(question) = known.filter(|_| !answer.is_blank()) else {
            continue;
        };
        if given.iter().any(|before| before.id == question.id) {
            return Err(wrong("answers", "answers a question twice"));
        }
        let reason = item.get("reason").map(text).unwrap_or_default();
        given.push(QuestionAnswer {
            id: question.id.clone(),
            answer,
            reason,
        });
    }
    if given.is_empty() {
        Err(no_list)
    } else {
        Ok(given)
    }
}

fn validation(object: &Map<String, Value>) -> Result<Validation, StageError> {
    let field = "agrees_with_majority";
    let agrees = object.get(field).and_then(Value::as_bool);
    Ok(Validation {
        agrees_with_majority: agrees.ok_or(wrong(field, "has to be true or false"))?,
        reasoning: object.get("reasoning").map(text).unwrap_or_default(),
    })
}

fn list(fields: &Map<String, Value>, field: &'static str) -> Result<Vec<Untrusted>, StageError> {
    match fields.get(field) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => Ok(items.iter().take(LIST_CAP).map(described).collect()),
        Some(_) => Err(wrong(field, "has to be a list")),
    }
}

fn described(item: &Value) -> Untrusted {
    let described = item.as_object().and_then(|fields| {
        ["description", "conflict", "topic", "summary"]
            .into_iter()
            .find_map(|name| fields.get(name)?.as_str())
    });
    described.map_or_else(|| text(item), Into::into)
}

/// If the value is a string, returns the string without surrounding white space. Otherwise, returns the value as
/// JSON.
fn text(value: &Value) -> Untrusted {
    match value {
        Value::String(text) => text.trim().into(),
        other => other.to_string().into(),
    }
}

#[cfg(test)]
mod tests;
