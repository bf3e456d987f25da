//! Checks a person's answer to a question, and defines the errors for answers and for decisions on deadlocks.

use crate::run::error::RunError;
use glee_model::domain::{Advice, Certainty, ExitReason, Question, Resolution, Settler};

#[derive(Debug, thiserror::Error)]
pub enum SettleError {
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("{0} does not wait for a person")]
    NotWaiting(String),
    #[error("`{word}` is not a decision: use `hybrid` or one of {}", .known.join(", "))]
    Word { word: String, known: Vec<String> },
    #[error("`{answer}` is not an answer to `{question}`: use one of {}", .options.join(", "))]
    Option {
        answer: String,
        question: String,
        options: Vec<String>,
    },
}

impl Advice for SettleError {
    fn hint(&self) -> Option<String> {
        if let Self::Run(error) = self {
            error.hint()
        } else {
            None
        }
    }

    fn exit(&self) -> ExitReason {
        if let Self::Run(error) = self {
            error.exit()
        } else {
            ExitReason::Usage
        }
    }
}

pub(crate) fn by_person(
    question: &Question,
    value: &str,
    reason: String,
) -> Result<Resolution, SettleError> {
    let option = question
        .options
        .iter()
        .find(|option| option.trim().eq_ignore_ascii_case(value.trim()));
    if option.is_none() && !question.options.is_empty() {
        return Err(SettleError::Option {
            answer: value.to_owned(),
            question: question.id.clone(),
            options: question.options.clone(),
        });
    }
    Ok(Resolution {
        question: question.id.clone(),
        answer: option.map_or_else(|| value.trim(), String::as_str).into(),
        by: Settler::Human,
        confidence: Certainty::High,
        reason: reason.into(),
    })
}
