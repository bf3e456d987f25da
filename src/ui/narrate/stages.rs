//! Stages and checkpoints told in lines.

use crate::domain::{Agent, Decision, Resolution, Said, Settler, StagePlan, StageStatus, StageVerdict, Subject};
use crate::draw::{self, Glyph, Look, Tone};
use crate::protocol::printable;

/// What came of a part in a stage or at a checkpoint.
pub(super) fn said(said: &Said) -> (Glyph, Tone, String) {
    let done = |what: String| (Glyph::Done, Tone::Good, what);
    let fields = |missing: &[String], what: &str| match missing {
        [] => done(what.to_owned()),
        missing => {
            let missing = printable::line(&missing.join(", "));
            (Glyph::Attention, Tone::Warn, format!("{what} without {missing}"))
        }
    };
    match said {
        Said::Position(position) => fields(&position.missing_fields, "answered"),
        Said::Synthesis(synthesis) => fields(&synthesis.missing_fields, "synthesis"),
        Said::Decision(decision) => {
            let choice = printable::line(&decision.decision.to_string());
            done(format!("decided for {choice}, confidence {}", decision.confidence.as_str()))
        }
        Said::Answers { answers } => done(draw::count(answers.len(), "answer")),
        Said::Validation(validation) if validation.agrees_with_majority => {
            done("agrees with the majority".to_owned())
        }
        Said::Validation(_) => (Glyph::Attention, Tone::Warn, "does not agree with the majority".to_owned()),
    }
}

pub(super) fn started(look: Look, plan: &StagePlan) -> String {
    let what = match &plan.subject {
        Subject::Stage { .. } => "Stage",
        Subject::Checkpoint { .. } => "Checkpoint",
    };
    let name = look.paint(Tone::Strong, &printable::line(&plan.stage));
    let names = |agents: &mut dyn Iterator<Item = &Agent>| draw::names(agents.map(|agent| &agent.name));
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
pub(super) fn judged(look: Look, verdict: &StageVerdict) -> String {
    let (glyph, tone) = match verdict.status {
        StageStatus::Ok => (Glyph::Done, Tone::Good),
        StageStatus::Conflict | StageStatus::Degraded => (Glyph::Attention, Tone::Warn),
    };
    let missing = match verdict.missing_agents.len() {
        0 => String::new(),
        missing => format!("no answer of {}", draw::count(missing, "agent")),
    };
    look.facts(&[
        format!("{} {}", look.paint(tone, look.glyph(glyph)), look.paint(Tone::Strong, verdict.status.as_str())),
        draw::count(verdict.agreements.len(), "agreement"),
        draw::count(verdict.conflicts.len(), "conflict"),
        missing,
        if verdict.required_fields_ok { String::new() } else { "required fields are absent".to_owned() },
    ])
}

/// Who decided the conflicts, and how.
pub(super) fn decided(look: Look, decision: &Decision, by: &Settler) -> String {
    let choice = look.paint(Tone::Strong, &printable::line(&decision.decision.to_string()));
    format!("{} Decided by {}: {choice}", look.paint(Tone::Good, look.glyph(Glyph::Done)), draw::settler(by))
}

/// The answer to a question.
pub(super) fn resolved(look: Look, resolution: &Resolution) -> String {
    let line = format!(
        "{} Question {}: {} ({})",
        look.paint(Tone::Good, look.glyph(Glyph::Done)),
        look.paint(Tone::Strong, &printable::line(&resolution.question)),
        printable::line(&resolution.answer),
        draw::settler(&resolution.by)
    );
    look.cut(&line, look.width.max(60))
}
