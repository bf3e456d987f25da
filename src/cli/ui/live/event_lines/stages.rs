//! Converts the events of stages and checkpoints to printable lines.

use crate::cli::style::{self, Glyph, Style, count};
use glee_model::domain::event::ConsensusEvent;
use glee_model::domain::{Agent, StagePlan, StageStatus, StageVerdict, Subject};
use glee_protocol::text::printable;

pub(crate) fn line(style: Style, event: &ConsensusEvent) -> String {
    match event {
        ConsensusEvent::StageStarted { plan } => started(style, plan),
        ConsensusEvent::StageJudged { verdict } => judged(style, verdict),
        ConsensusEvent::StageDeadlocked { reason } => {
            format!(
                "{} Deadlock: {}",
                style.mark(Glyph::Attention),
                printable::line(reason)
            )
        }
        ConsensusEvent::StageDecided { decision, by } => {
            let choice = style.strong(printable::line(&decision.decision.to_string()));
            format!(
                "{} Decided by {}: {choice}",
                style.mark(Glyph::Done),
                style::settler(by)
            )
        }
        ConsensusEvent::QuestionResolved { resolution } => {
            let question = style.strong(printable::line(&resolution.question));
            let answer = printable::line(&resolution.answer);
            let by = style::settler(&resolution.by);
            let line = format!(
                "{} Question {question}: {answer} ({by})",
                style.mark(Glyph::Done)
            );
            style.cut(&line, style.width.max(60))
        }
    }
}

fn started(style: Style, plan: &StagePlan) -> String {
    let (what, decider) = match &plan.subject {
        Subject::Stage { .. } => ("Stage", "arbiter"),
        Subject::Checkpoint { .. } => ("Checkpoint", "validator"),
    };
    let name = style.strong(printable::line(&plan.stage));
    style.facts(&[
        format!("{what} {name} of {}", printable::line(&plan.id)),
        named("agents", &plan.agents),
        named("aggregator", &plan.aggregator),
        named(decider, &plan.arbiter),
    ])
}

/// Formats a role and the agents in this role. The text is empty if there are no agents.
pub(crate) fn named<'a>(role: &str, agents: impl IntoIterator<Item = &'a Agent>) -> String {
    let names = style::names(agents.into_iter().map(|agent| &agent.name));
    if names.is_empty() {
        names
    } else {
        format!("{role} {names}")
    }
}

fn judged(style: Style, verdict: &StageVerdict) -> String {
    let glyph = match verdict.status {
        StageStatus::Ok => Glyph::Done,
        StageStatus::Conflict | StageStatus::Degraded => Glyph::Attention,
    };
    let missing = match verdict.missing_agents.len() {
        0 => String::new(),
        missing => format!("no answer from {}", count(missing, "agent")),
    };
    style.facts(&[
        format!(
            "{} {}",
            style.mark(glyph),
            style.strong(verdict.status.as_str())
        ),
        count(verdict.agreements.len(), "agreement"),
        count(verdict.conflicts.len(), "conflict"),
        missing,
        if verdict.required_fields_ok {
            String::new()
        } else {
            "required fields are missing".to_owned()
        },
    ])
}
