//! Stages and checkpoints told in lines.

use crate::cli::style::{self, Color, Glyph, Style};
use crate::domain::event::ConsensusEvent;
use crate::domain::{Agent, Decision, Resolution, Said, Settler, StagePlan, StageStatus, StageVerdict, Subject};
use crate::protocol::text::printable;

/// The lines of an event; often none.
pub(crate) fn lines(look: Style, event: &ConsensusEvent) -> Vec<String> {
    match event {
        ConsensusEvent::StageStarted { plan } => vec![started(look, plan)],
        ConsensusEvent::StageJudged { verdict } => vec![judged(look, verdict)],
        ConsensusEvent::StageDeadlocked { reason } => {
            let mark = look.paint(Color::Warn, look.glyph(Glyph::Attention));
            vec![format!("{mark} Deadlock: {}", printable::line(reason))]
        }
        ConsensusEvent::StageDecided { decision, by } => {
            vec![decided(look, decision, by)]
        }
        ConsensusEvent::QuestionResolved { resolution } => {
            vec![resolved(look, resolution)]
        }
    }
}

/// What came of a part in a stage or at a checkpoint.
pub(crate) fn said(said: &Said) -> (Glyph, Color, String) {
    let done = |what: String| (Glyph::Done, Color::Good, what);
    let fields = |missing: &[String], what: &str| match missing {
        [] => done(what.to_owned()),
        missing => {
            let missing = printable::line(&missing.join(", "));
            (Glyph::Attention, Color::Warn, format!("{what} without {missing}"))
        }
    };
    match said {
        Said::Position(position) => fields(&position.missing_fields, "answered"),
        Said::Synthesis(synthesis) => fields(&synthesis.missing_fields, "synthesis"),
        Said::Decision(decision) => {
            let choice = printable::line(&decision.decision.to_string());
            done(format!("decided for {choice}, confidence {}", decision.confidence.as_str()))
        }
        Said::Answers { answers } => done(style::count(answers.len(), "answer")),
        Said::Validation(validation) if validation.agrees_with_majority => {
            done("agrees with the majority".to_owned())
        }
        Said::Validation(_) => (Glyph::Attention, Color::Warn, "does not agree with the majority".to_owned()),
    }
}

pub(crate) fn started(look: Style, plan: &StagePlan) -> String {
    let what = match &plan.subject {
        Subject::Stage { .. } => "Stage",
        Subject::Checkpoint { .. } => "Checkpoint",
    };
    let name = look.paint(Color::Strong, &printable::line(&plan.stage));
    let names = |agents: &mut dyn Iterator<Item = &Agent>| style::names(agents.map(|agent| &agent.name));
    let role = |role: &str, names: String| if names.is_empty() { names } else { format!("{role} {names}") };
    let decides = if matches!(plan.subject, Subject::Stage { .. }) { "arbiter" } else { "validator" };
    look.facts(&[
        format!("{what} {name} of {}", printable::line(&plan.id)),
        role("agents", names(&mut plan.agents.iter())),
        role("aggregator", names(&mut plan.aggregator.iter())),
        role(decides, names(&mut plan.arbiter.iter())),
    ])
}

/// What everybody's answers came to.
pub(crate) fn judged(look: Style, verdict: &StageVerdict) -> String {
    let (glyph, tone) = match verdict.status {
        StageStatus::Ok => (Glyph::Done, Color::Good),
        StageStatus::Conflict | StageStatus::Degraded => (Glyph::Attention, Color::Warn),
    };
    let missing = match verdict.missing_agents.len() {
        0 => String::new(),
        missing => format!("no answer of {}", style::count(missing, "agent")),
    };
    look.facts(&[
        format!("{} {}", look.paint(tone, look.glyph(glyph)), look.paint(Color::Strong, verdict.status.as_str())),
        style::count(verdict.agreements.len(), "agreement"),
        style::count(verdict.conflicts.len(), "conflict"),
        missing,
        if verdict.required_fields_ok { String::new() } else { "required fields are absent".to_owned() },
    ])
}

/// Who decided the conflicts, and how.
pub(crate) fn decided(look: Style, decision: &Decision, by: &Settler) -> String {
    let choice = look.paint(Color::Strong, &printable::line(&decision.decision.to_string()));
    format!("{} Decided by {}: {choice}", look.paint(Color::Good, look.glyph(Glyph::Done)), style::settler(by))
}

/// The answer to a question.
pub(crate) fn resolved(look: Style, resolution: &Resolution) -> String {
    let line = format!(
        "{} Question {}: {} ({})",
        look.paint(Color::Good, look.glyph(Glyph::Done)),
        look.paint(Color::Strong, &printable::line(&resolution.question)),
        printable::line(&resolution.answer),
        style::settler(&resolution.by)
    );
    look.cut(&line, look.width.max(60))
}
