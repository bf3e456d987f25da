//! Turns what a parser read into the answer of a call.

use std::fmt::Display;

use crate::replies::by_finding::AnswersByFinding;
use glee_model::domain::Said;
use glee_model::domain::event::CallAnswer;

pub(crate) const NO_RESULT: &str = "no readable result for any finding";

/// The answer, or why it is invalid.
pub(crate) fn valid<T, E: Display>(
    read: Result<T, E>,
    answer: impl FnOnce(T) -> CallAnswer,
) -> CallAnswer {
    read.map_or_else(
        |error| CallAnswer::Invalid {
            error: error.to_string(),
        },
        answer,
    )
}

/// The answer if it is complete and says something.
pub(crate) fn whole<T, I>(
    read: AnswersByFinding<T, I>,
    otherwise: &str,
    answer: impl FnOnce(Vec<T>) -> CallAnswer,
) -> CallAnswer {
    if read.entries.is_empty() || !read.complete {
        invalid(read.problems, otherwise)
    } else {
        answer(read.entries)
    }
}

pub(crate) fn invalid(problems: Vec<String>, otherwise: &str) -> CallAnswer {
    let error = if problems.is_empty() {
        otherwise.to_owned()
    } else {
        problems.join("; ")
    };
    CallAnswer::Invalid { error }
}

pub(crate) fn said(said: Said) -> CallAnswer {
    CallAnswer::Stage {
        said: Box::new(said),
    }
}
