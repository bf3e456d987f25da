//! The words for calls of agents: what an agent does, and what came of it.

use super::{Glyph, count};
use glee_agents::failure::shorten;
use glee_model::domain::event::{CallAnswer, CallId, Purpose};
use glee_model::domain::{AnswerStatus, CodeRead, PeerReview, Said, Verdict};
use glee_protocol::text::printable;

/// At most this number of characters of what a program says instead of an answer is shown.
pub(crate) const SAID: usize = 300;

/// What an agent does in a call. `part` follows the word of a review, as in ` shard 2/3`.
pub(crate) fn activity(call: &CallId, part: &str) -> String {
    let mut activity = printable::line(&call.purpose.activity());
    if matches!(call.purpose, Purpose::Review { .. }) {
        activity.push_str(part);
    }
    if call.attempt > 1 {
        format!("{activity}, attempt {}", call.attempt)
    } else {
        activity
    }
}

fn complete(complete: bool) -> Glyph {
    if complete {
        Glyph::Done
    } else {
        Glyph::Attention
    }
}

/// What came of a call. The glyph says whether the answer is complete.
pub(crate) fn summary(answer: &CallAnswer) -> (Glyph, String) {
    match answer {
        CallAnswer::Review {
            status: AnswerStatus::NotReviewed,
            notes,
            ..
        } => {
            let said = shorten(&printable::line(notes.trim()), SAID);
            let said = Some(said).filter(|said| !said.is_empty());
            let said = said.map_or_else(String::new, |said| format!(", but said: {said}"));
            (Glyph::Failed, format!("did not review{said}"))
        }
        CallAnswer::Review {
            is_doubtful: true,
            findings,
            ..
        } => (
            Glyph::Attention,
            count(findings.len(), "finding") + ", but the answer leaves a question",
        ),
        CallAnswer::Close { findings, read, .. } => {
            let glyph = complete(*read != Some(CodeRead::Part));
            (glyph, closed(*findings, *read))
        }
        CallAnswer::Review {
            status, findings, ..
        } => {
            let rest = if status.is_complete() {
                ""
            } else {
                ", but the answer is incomplete"
            };
            (
                complete(status.is_complete()),
                count(findings.len(), "finding") + rest,
            )
        }
        CallAnswer::Examine {
            examinations,
            observations,
        } => {
            let new = if observations.is_empty() {
                String::new()
            } else {
                format!(", {} new", observations.len())
            };
            (Glyph::Done, count(examinations.len(), "answer") + &new)
        }
        CallAnswer::Defend { defences } => (Glyph::Done, count(defences.len(), "answer")),
        CallAnswer::Respond {
            responses,
            complete: is_complete,
        } => {
            let rest = if *is_complete {
                ""
            } else {
                ", but some findings are unanswered"
            };
            (
                complete(*is_complete),
                count(responses.len(), "answer") + rest,
            )
        }
        CallAnswer::Judge { ruling } => (Glyph::Done, ruling.ruling.to_string()),
        CallAnswer::JudgeFile { answers } => {
            let given = answers
                .iter()
                .filter(|own| !own.answer.is_missing())
                .count();
            let text = format!("{given} of {} answered", answers.len());
            (complete(given == answers.len()), text)
        }
        CallAnswer::Request { request } => {
            let text = format!("asks the {} for a test", request.from);
            (Glyph::Done, text)
        }
        CallAnswer::Demonstrate { demonstration, .. } => match demonstration {
            Some(given) => (Glyph::Done, printable::line(&format!("`{}`", given.path))),
            None => (Glyph::Done, "no test".to_owned()),
        },
        CallAnswer::Recheck { checks } => {
            let resolved = checks.iter().filter(|check| check.resolved).count();
            let text = format!("{resolved} of {} resolved", count(checks.len(), "finding"));
            (complete(resolved == checks.len()), text)
        }
        CallAnswer::Compare { comparisons } => {
            let same = comparisons
                .iter()
                .filter(|comparison| comparison.same)
                .count();
            let findings = count(comparisons.len(), "finding");
            (
                Glyph::Done,
                format!("{same} of {findings} repeat earlier disputes"),
            )
        }
        CallAnswer::Same { pairs } => {
            let same = pairs.iter().filter(|pair| pair.same).count();
            let pairs = count(pairs.len(), "pair");
            (
                Glyph::Done,
                format!("{same} of {pairs} name the same defect"),
            )
        }
        CallAnswer::Stage { said } => stage(said),
        CallAnswer::Work { said } => (Glyph::Done, printable::line(said)),
        CallAnswer::Peer { review } => peer(review),
        CallAnswer::Invalid { error } => (
            Glyph::Failed,
            format!("no valid answer: {}", printable::line(error)),
        ),
        CallAnswer::Failed { error, .. } => (Glyph::Failed, printable::line(error)),
    }
}

fn fields(missing: &[String], what: &str) -> (Glyph, String) {
    match missing {
        [] => (Glyph::Done, what.to_owned()),
        missing => (
            Glyph::Attention,
            format!("{what}, missing {}", printable::line(&missing.join(", "))),
        ),
    }
}

fn stage(said: &Said) -> (Glyph, String) {
    match said {
        Said::Position(position) => fields(&position.missing_fields, "answered"),
        Said::Synthesis(synthesis) => fields(&synthesis.missing_fields, "synthesis"),
        Said::Decision(decision) => {
            let choice = printable::line(&decision.decision.to_string());
            (
                Glyph::Done,
                format!(
                    "decided for {choice}, confidence {}",
                    decision.confidence.as_str()
                ),
            )
        }
        Said::Answers { answers } => (Glyph::Done, count(answers.len(), "answer")),
        Said::Validation(validation) if validation.agrees_with_majority => {
            (Glyph::Done, "agrees with the majority".to_owned())
        }
        Said::Validation(_) => (
            Glyph::Attention,
            "does not agree with the majority".to_owned(),
        ),
    }
}

fn peer(review: &PeerReview) -> (Glyph, String) {
    let glyph = match review.verdict {
        Verdict::Approved => Glyph::Done,
        Verdict::Concerns => Glyph::Attention,
        Verdict::Blocker => Glyph::Failed,
    };
    (
        glyph,
        format!(
            "{}: {}",
            review.verdict.as_str(),
            printable::line(&review.summary)
        ),
    )
}

/// What a reviewer says about its own answer, as in `0 findings, read all`.
fn closed(findings: u64, read: Option<CodeRead>) -> String {
    let read = match read {
        Some(CodeRead::All) => ", read all",
        Some(CodeRead::Part) => ", read only a part",
        None => "",
    };
    count(findings, "finding") + read
}
